/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zones.c - zones: their states, write pointers and limits (NVM Express Zoned
 * Namespace Command Set 1.1, section 2.1.1).
 *
 * Knows what the host may do with a zone; which zones are open, active or have
 * a stream of the drive is in zone-table.h.  Knows nothing of commands.  A
 * write moves the pointer when it is executed.  After one that ends without
 * effect, or with the power, the pointer goes back to the end of the data that
 * the drive has. The drive counts zones by their capacity: it has no blocks
 * behind it.  A block of the namespace is a mapping unit, so no unit is written
 * in parts.
 *
 * With a Zone Random Write Area the pointer moves by commits: of the host, and
 * those that a write behind the area makes.  Blocks that are not committed stay
 * in the drive's buffer.
 *
 * A zone whose data is to leave the drive (a reset), or whose stream is to end
 * (a finish), takes no writes until that is done.
 */
#include "nvme-internal.h"
#include "namespace/namespace.h"
#include "zone/zones.h"

#include "options.h"
#include "simtime.h"

static NvmeZone *zone_at(NvmeCtrl *ctrl, uint32_t i)
{
    return &ctrl->sub->zones.zone[i];
}

/* ---- streams and states -------------------------------------------------- */

static void give_stream(NvmeCtrl *ctrl, NvmeZone *zone)
{
    zone_give_stream(&ctrl->sub->zones.table, &zone->base);
}

/* From now on the zone is in a state whose time has limits. */
static void begin_limits(NvmeCtrl *ctrl, NvmeZone *zone)
{
    NvmeZones *z = &ctrl->sub->zones;

    zone->advice = 0;
    zone->since_ns = (int64_t)ctrl->sub->now_ns;
    z->due_ns = MIN(z->due_ns, nvme_zone_due_ns(z, zone));
    if (z->due_ns != SSD_TIME_NEVER) {
        nvme_upkeep_wake(ctrl->sub);
    }
}

/* Another zone may be closed for this one.  It stays active, so its limits and
 * its ZRWA stay as they are. */
static void set_state(NvmeCtrl *ctrl, NvmeZone *zone, ZoneState state)
{
    NvmeZones *z = &ctrl->sub->zones;
    unsigned old = zone->base.state;

    zone_set_state(&z->table, &zone->base, state);
    if (zone_is_active(state) ? !zone_is_active(old) : state != old) {
        begin_limits(ctrl, zone);
    }
    if (!zone_is_active(state) && zone->zrwa) {
        zone->zrwa = false;
        z->n_zrwa--;
    }
}

/* Are there resources for the zone to be open, or only active? */
static uint16_t check_resources(const NvmeCtrl *ctrl, const NvmeZone *zone,
                                bool open)
{
    static const uint16_t status[] = {
        [ZONE_LACKS_ACTIVE] = NVME_SC_TOO_MANY_ACTIVE,
        [ZONE_LACKS_STREAM] = NVME_SC_TOO_MANY_ACTIVE,
        [ZONE_LACKS_OPEN] = NVME_SC_TOO_MANY_OPEN,
    };

    return status[zone_lacks(&ctrl->sub->zones.table, &zone->base, open)];
}

/* A job of the drive for the zone has to be started, unless a command has. */
static void want_job(NvmeCtrl *ctrl, uint32_t i, bool has_one)
{
    zone_at(ctrl, i)->job = has_one;
    ctrl->sub->zones.work |= !has_one;
}

/* ---- Zone Random Write Areas --------------------------------------------- */

/* Where blocks begin that may stay in the drive's buffer. */
static uint64_t end_of_committed(const NvmeCtrl *ctrl, const NvmeZone *zone)
{
    return zone->zrwa ? zone->wp : ctrl->sub->zones.capacity;
}

/*
 * The drive may program all that is committed.  Writes that it has not ended
 * may still come to its buffer: they call again.  A zone that has failed has no
 * stream any more; any other takes its blocks.
 */
static void commit(NvmeCtrl *ctrl, uint32_t i)
{
    const NvmeZones *z = &ctrl->sub->zones;
    NvmeZone *zone = zone_at(ctrl, i);
    uint64_t end = end_of_committed(ctrl, zone);
    uint64_t base = i * z->capacity;

    if (!zone->holds || zone->resetting || !ctrl->sub->powered ||
        !ssd_powered(ctrl->ssd)) {
        return;
    }
    if (zone->held < end) {
        ssd_zone_commit(
            ctrl->ssd, ctrl->sub->now_ns, (base + zone->held) << z->drive_shift,
            (end - zone->held) << z->drive_shift,
            zone->base.stream == ZONE_NO_STREAM ? 0 : zone->base.stream);
    }
    if (zone->writes == 0) {
        zone->held = end;
        zone->holds = zone->zrwa;
    }
}

uint16_t nvme_zone_open_zrwa(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZones *z = &ctrl->sub->zones;
    NvmeZone *zone = zone_at(ctrl, i);
    uint16_t status;

    if (!z->zrwa) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!zone->zrwa &&
        (zone->wp % z->zrwa_granule || z->n_zrwa == z->max_zrwa)) {
        return NVME_SC_ZONE_NO_ZRWA;
    }
    status = nvme_zone_open(ctrl, i);
    if (!status && !zone->zrwa) {
        zone->zrwa = true;
        zone->held = zone->wp;
        z->n_zrwa++;
    }
    return status;
}

/* In the area, or up to its size beyond it. */
static uint16_t check_in_area(const NvmeZones *z, const NvmeZone *zone,
                              uint64_t offset, uint32_t nblocks)
{
    if (offset < zone->wp || offset + nblocks > zone->wp + 2 * z->zrwa) {
        return NVME_SC_ZONE_INVALID_WRITE;
    }
    return offset + nblocks > z->capacity ? NVME_SC_ZONE_BOUNDARY : 0;
}

/* The last block is in the area: granules before it are committed. */
static void move_area(const NvmeZones *z, NvmeZone *zone, uint64_t end)
{
    uint64_t beyond = end - MIN(end, zone->wp + z->zrwa);
    uint64_t granules = (beyond + z->zrwa_granule - 1) / z->zrwa_granule;

    zone->wp = MIN(zone->wp + granules * z->zrwa_granule, z->capacity);
}

/* ---- reads --------------------------------------------------------------- */

uint16_t nvme_zone_check_read(const NvmeCtrl *ctrl, uint64_t lba,
                              uint64_t nblocks)
{
    uint32_t i = nvme_zone_of(ctrl, lba);

    if (nvme_zone_of(ctrl, lba + nblocks - 1) != i) {
        return NVME_SC_ZONE_BOUNDARY;
    }
    return ctrl->sub->zones.zone[i].base.state == ZONE_OFFLINE
               ? NVME_SC_ZONE_OFFLINE
               : 0;
}

uint64_t nvme_zone_backed(const NvmeCtrl *ctrl, uint64_t first,
                          uint64_t nblocks)
{
    uint64_t offset = first % ctrl->sub->zones.size;

    return offset >= ctrl->sub->zones.capacity
               ? 0
               : MIN(nblocks, ctrl->sub->zones.capacity - offset);
}

/* ---- writes -------------------------------------------------------------- */

static uint16_t check_state(const NvmeZone *zone)
{
    switch (zone->base.state) {
    case ZONE_FULL:
        return NVME_SC_ZONE_FULL;
    case ZONE_READ_ONLY:
        return NVME_SC_ZONE_READ_ONLY;
    case ZONE_OFFLINE:
        return NVME_SC_ZONE_OFFLINE;
    default:
        return zone->resetting ? NVME_SC_ZONE_INVALID_WRITE : 0;
    }
}

uint16_t nvme_zone_check_write(NvmeCtrl *ctrl, NvmeRequest *req, bool append)
{
    const NvmeZones *z = &ctrl->sub->zones;
    uint32_t i = nvme_zone_of(ctrl, req->lba);
    const NvmeZone *zone = &z->zone[i];
    uint64_t offset = req->lba % z->size;
    uint16_t status;

    if (append && offset) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!append && offset + req->nblocks > z->size) {
        return NVME_SC_ZONE_BOUNDARY;
    }
    status = check_state(zone);
    if (!status && zone->zrwa) {
        status = append ? NVME_SC_ZONE_INVALID_OP
                        : check_in_area(z, zone, offset, req->nblocks);
        return status ? status : check_resources(ctrl, zone, true);
    }
    if (!status && !append && offset != zone->wp) {
        status = NVME_SC_ZONE_INVALID_WRITE;
    }
    if (!status && zone->wp + req->nblocks > z->capacity) {
        status = NVME_SC_ZONE_BOUNDARY;
    }
    if (!status) {
        status = check_resources(ctrl, zone, true);
    }
    if (!status && append) {
        req->lba += zone->wp;
        req->dw0 = (uint32_t)req->lba;
        req->dw1 = req->lba >> 32;
    }
    return status;
}

/* The last block is written.  The zone's stream is another one's from now on,
 * if its blocks are full, too. */
static void fill_zone(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZone *zone = zone_at(ctrl, i);

    set_state(ctrl, zone, ZONE_FULL);
    if (ctrl->sub->zones.whole && !zone->holds) {
        give_stream(ctrl, zone);
    } else {
        zone->finishing = true;
        want_job(ctrl, i, false);
    }
}

void nvme_zone_write(NvmeCtrl *ctrl, NvmeRequest *req)
{
    uint32_t i = nvme_zone_of(ctrl, req->lba);
    NvmeZone *zone = zone_at(ctrl, i);

    set_state(ctrl, zone, ZONE_IMPLICIT);
    req->stream = zone->zrwa ? ctrl->sub->zones.held_stream : zone->base.stream;
    zone->holds |= zone->zrwa;
    if (zone->writes == 0) {
        zone->settled = zone->wp;
    }
    for (unsigned k = 0; k < req->nsteps; k++) {
        if (req->steps[k].op == SSD_OP_WRITE) {
            req->steps[k].zone = i + 1;
            zone->writes++;
        }
    }
    if (zone->zrwa) {
        move_area(&ctrl->sub->zones, zone,
                  req->lba % ctrl->sub->zones.size + req->nblocks);
    } else {
        zone->wp += req->nblocks;
    }
    if (zone->wp == ctrl->sub->zones.capacity) {
        fill_zone(ctrl, i);
    }
}

uint16_t nvme_zone_commit(NvmeCtrl *ctrl, uint32_t i, uint64_t last)
{
    NvmeZones *z = &ctrl->sub->zones;
    NvmeZone *zone = zone_at(ctrl, i);
    uint64_t end = last + 1;
    uint16_t status;

    if (!zone->zrwa) {
        return NVME_SC_INVALID_FIELD;
    }
    if (last < zone->wp || end > MIN(zone->wp + z->zrwa, z->capacity)) {
        return NVME_SC_ZONE_BOUNDARY;
    }
    if ((end - zone->wp) % z->zrwa_granule && end != z->capacity) {
        return NVME_SC_INVALID_FIELD;
    }
    status = check_resources(ctrl, zone, true);
    if (status) {
        return status;
    }
    set_state(ctrl, zone, ZONE_IMPLICIT);
    zone->wp = end;
    if (zone->wp == z->capacity) {
        zone->holds = true; /* its blocks may have no data */
        fill_zone(ctrl, i);
    }
    commit(ctrl, i);
    return 0;
}

/* ---- transitions --------------------------------------------------------- */

uint16_t nvme_zone_open(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZone *zone = zone_at(ctrl, i);
    uint16_t status;

    if ((zone->base.state != ZONE_EMPTY && !zone_is_active(zone->base.state)) ||
        zone->resetting) {
        return NVME_SC_ZONE_TRANSITION;
    }
    status = check_resources(ctrl, zone, true);
    if (!status) {
        set_state(ctrl, zone, ZONE_EXPLICIT);
    }
    return status;
}

uint16_t nvme_zone_close(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZone *zone = zone_at(ctrl, i);

    if (!zone_is_active(zone->base.state)) {
        return NVME_SC_ZONE_TRANSITION;
    }
    /* Also without data: only a reset leads back to Empty (ZNS 2.1.1.3). */
    if (zone_is_open(zone->base.state)) {
        set_state(ctrl, zone, ZONE_CLOSED);
    }
    return 0;
}

uint16_t nvme_zone_offline(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZone *zone = zone_at(ctrl, i);

    if (zone->base.state == ZONE_READ_ONLY) {
        set_state(ctrl, zone, ZONE_OFFLINE);
    }
    return zone->base.state == ZONE_OFFLINE ? 0 : NVME_SC_ZONE_TRANSITION;
}

/* Its data leaves the buffer, padded; *stream: of a job for that.  A command
 * starts it, or the controller. */
static void finish(NvmeCtrl *ctrl, uint32_t i, uint16_t *stream, bool command)
{
    NvmeZone *zone = zone_at(ctrl, i);

    set_state(ctrl, zone, ZONE_FULL);
    if (zone->wp > 0 || zone->holds) {
        commit(ctrl, i);
        *stream = zone->base.stream;
        zone->finishing = true;
        want_job(ctrl, i, command);
    } else {
        give_stream(ctrl, zone);
    }
}

uint16_t nvme_zone_finish(NvmeCtrl *ctrl, uint32_t i, uint16_t *stream)
{
    NvmeZone *zone = zone_at(ctrl, i);

    *stream = ZONE_NO_STREAM;
    if (zone->base.state == ZONE_FULL) {
        return 0;
    }
    if ((zone->base.state != ZONE_EMPTY && !zone_is_active(zone->base.state)) ||
        zone->resetting) {
        return NVME_SC_ZONE_TRANSITION;
    }
    finish(ctrl, i, stream, true);
    return 0;
}

uint16_t nvme_zone_reset(NvmeCtrl *ctrl, uint32_t i, uint16_t *stream,
                         bool *any)
{
    NvmeZone *zone = zone_at(ctrl, i);

    *any = false;
    if (zone->base.state == ZONE_EMPTY && !zone->resetting &&
        !ctrl->sub->zones.records) {
        return 0;
    }
    if ((zone->base.state != ZONE_EMPTY && zone->base.state != ZONE_FULL &&
         !zone_is_active(zone->base.state)) ||
        zone->resetting || zone->finishing) {
        return NVME_SC_ZONE_TRANSITION;
    }
    *any = true;
    *stream = zone->base.stream;
    set_state(ctrl, zone, ZONE_EMPTY);
    zone->wp = 0;
    zone->described = false;
    zone->resetting = true;
    want_job(ctrl, i, true);
    return 0;
}

uint16_t nvme_zone_describe(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZone *zone = zone_at(ctrl, i);
    uint16_t status;

    if (zone->base.state != ZONE_EMPTY || zone->resetting) {
        return NVME_SC_ZONE_TRANSITION;
    }
    status = check_resources(ctrl, zone, false);
    if (!status) {
        zone->described = true;
        set_state(ctrl, zone, ZONE_CLOSED);
    }
    return status;
}

/* ---- limits of time ------------------------------------------------------ */

/* How long it may be as it is, in seconds; 0: for ever. */
static uint64_t next_limit(const NvmeZones *z, const NvmeZone *zone)
{
    if (zone->base.state == ZONE_FULL) {
        return zone->advice & NVME_ZONE_SHOULD_RESET ? 0 : z->reset_s;
    }
    if (!zone_is_active(zone->base.state)) {
        return 0;
    }
    if (!(zone->advice & NVME_ZONE_SHOULD_FINISH)) {
        return z->finish_s;
    }
    return z->finish_limit_s ? (uint64_t)z->finish_s + z->finish_limit_s : 0;
}

uint64_t nvme_zone_due_ns(const NvmeZones *z, const NvmeZone *zone)
{
    uint64_t limit = next_limit(z, zone);
    int64_t end = zone->since_ns + (int64_t)(limit * NS_PER_S);

    return limit ? ((uint64_t)MAX(end, 0) + NS_PER_S - 1) / NS_PER_S * NS_PER_S
                 : SSD_TIME_NEVER;
}

static void tell_change(NvmeCtrl *ctrl, NvmeZone *zone)
{
    zone->changed = UINT32_MAX; /* on every controller */
    ctrl->sub->zones.report = true;
}

void nvme_zone_overdue(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZones *z = &ctrl->sub->zones;
    NvmeZone *zone = zone_at(ctrl, i);
    uint16_t stream;

    g_assert(next_limit(z, zone));
    if (zone->base.state == ZONE_FULL) {
        zone->advice |= NVME_ZONE_SHOULD_RESET;
    } else if (zone->advice & NVME_ZONE_SHOULD_FINISH) {
        finish(ctrl, i, &stream, false);
        zone->advice |= NVME_ZONE_FINISHED;
    } else {
        zone->advice |= NVME_ZONE_SHOULD_FINISH;
    }
    tell_change(ctrl, zone);
}

/* ---- what the drive has done --------------------------------------------- */

/* The end of the data that the drive has, of blocks not settled. */
static uint64_t end_of_data(const NvmeCtrl *ctrl, uint32_t i)
{
    const NvmeZone *zone = &ctrl->sub->zones.zone[i];
    uint64_t base = i * ctrl->sub->zones.capacity;
    unsigned shift = ctrl->sub->zones.drive_shift;
    uint64_t end = zone->wp;

    while (end > zone->settled &&
           !ssd_mapped(ctrl->ssd, (base + end - 1) << shift, NULL)) {
        end--;
    }
    return end;
}

/*
 * Writes that were torn, or never begun, are over: the write pointer is behind
 * the last block with data.  A zone that they had filled is closed again, if
 * there are resources.
 */
static void find_write_pointer(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZone *zone = zone_at(ctrl, i);
    bool filled =
        zone->base.state == ZONE_FULL && zone->wp == ctrl->sub->zones.capacity;
    uint64_t end;

    zone->torn = false;
    if (zone->zrwa || zone->holds) { /* the pointer is that of the commits */
        return;
    }
    if (zone->resetting || (!filled && !zone_is_active(zone->base.state))) {
        return;
    }
    end = end_of_data(ctrl, i);
    if (filled && (end == zone->wp || zone->finishing ||
                   check_resources(ctrl, zone, false))) {
        return;
    }
    zone->wp = end;
    if (filled) {
        set_state(ctrl, zone, ZONE_CLOSED);
    }
    if (end == 0 && !zone->described) { /* pages may have been given to it */
        set_state(ctrl, zone, ZONE_EMPTY);
        zone->resetting = true;
        want_job(ctrl, i, false);
    }
}

static void fail_zone(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZone *zone = zone_at(ctrl, i);

    if (zone->base.state != ZONE_READ_ONLY &&
        zone->base.state != ZONE_OFFLINE) {
        set_state(ctrl, zone, ZONE_READ_ONLY);
        tell_change(ctrl, zone);
    }
    commit(ctrl, i);
    if (!zone->finishing && !zone->resetting) {
        give_stream(ctrl, zone);
    }
}

static void write_end(NvmeCtrl *ctrl, uint32_t i, NvmeStepEnd how)
{
    NvmeZone *zone = zone_at(ctrl, i);

    g_assert(zone->writes > 0);
    zone->writes--;
    zone->torn |= how != NVME_STEP_DONE;
    if (how == NVME_STEP_FAILED) {
        fail_zone(ctrl, i);
    }
    if (zone->writes == 0 && zone->torn && ctrl->sub->powered &&
        ssd_powered(ctrl->ssd)) {
        find_write_pointer(ctrl, i);
    }
    commit(ctrl, i);
}

/* Of a reset or a finish. */
static void job_end(NvmeCtrl *ctrl, uint32_t i, bool reset, NvmeStepEnd how)
{
    NvmeZone *zone = zone_at(ctrl, i);

    zone->job = false;
    zone->finishing &= how == NVME_STEP_DROPPED;
    if (how == NVME_STEP_DROPPED || (zone->resetting && !reset)) {
        ctrl->sub->zones.work = true; /* it is still to be done */
        return;
    }
    zone->holds &= !zone->resetting;
    zone->resetting = false;
    if (how == NVME_STEP_FAILED) {
        fail_zone(ctrl, i);
        if (!ctrl->sub->namespaces.zoned) { /* nobody may see what is left */
            set_state(ctrl, zone, ZONE_OFFLINE);
        }
    }
    if (!zone_is_active(zone->base.state)) {
        give_stream(ctrl, zone);
    }
}

bool nvme_zone_step_may_go(const NvmeCtrl *ctrl, const NvmeStep *step)
{
    return step->op == SSD_OP_WRITE ||
           ctrl->sub->zones.zone[step->zone - 1].writes == 0;
}

void nvme_zone_step_end(NvmeCtrl *ctrl, const NvmeStep *step, NvmeStepEnd how)
{
    if (step->op == SSD_OP_WRITE) {
        write_end(ctrl, step->zone - 1, how);
    } else {
        job_end(ctrl, step->zone - 1, step->erase, how);
    }
}

/* Has the zone never had anything, since it was reset? */
static bool is_blank(const NvmeZone *zone)
{
    return zone->base.state == ZONE_EMPTY && !zone->holds && !zone->job &&
           zone->base.stream == ZONE_NO_STREAM && !zone->writes;
}

void nvme_zones_give(NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    const NvmeZones *z = &ctrl->sub->zones;

    nvme_ns_set_zones(ctrl, ns, z->n, z->size, z->capacity);
}

void nvme_zones_drop(NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->zones.n; i++) {
        NvmeZone *zone = zone_at(ctrl, i);

        zone->changed = 0;
        if (is_blank(zone)) {
            continue;
        }
        if (zone->base.state != ZONE_READ_ONLY &&
            zone->base.state != ZONE_OFFLINE) {
            set_state(ctrl, zone, ZONE_EMPTY);
            zone->wp = 0;
            zone->described = false;
        }
        zone->resetting = true;
        want_job(ctrl, i, zone->job);
    }
}

bool nvme_zones_are_busy(const NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->zones.n; i++) {
        const NvmeZone *zone = &ctrl->sub->zones.zone[i];

        if (zone->resetting || zone->finishing || zone->writes) {
            return true;
        }
    }
    return false;
}

bool nvme_zones_next_job(NvmeCtrl *ctrl, uint32_t *i)
{
    for (; *i < ctrl->sub->zones.n; ++*i) {
        const NvmeZone *zone = zone_at(ctrl, *i);

        if ((zone->resetting || zone->finishing) && !zone->job) {
            return true;
        }
    }
    ctrl->sub->zones.work = false;
    return false;
}

/* ---- power --------------------------------------------------------------- */

/* Initial states (ZNS 2.1.1.3): without data and extension there is nothing
 * that keeps a zone active. */
void nvme_zones_close_all(NvmeCtrl *ctrl)
{
    NvmeZones *z = &ctrl->sub->zones;

    for (uint32_t i = 0; i < z->n; i++) {
        NvmeZone *zone = &z->zone[i];

        if (!zone_is_active(zone->base.state)) {
            continue;
        }
        if (zone->wp > 0 || zone->described || zone->zrwa) {
            set_state(ctrl, zone, ZONE_CLOSED);
        } else {
            set_state(ctrl, zone, ZONE_EMPTY);
            give_stream(ctrl, zone);
        }
    }
}

void nvme_zones_power_on(NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->zones.n; i++) {
        NvmeZone *zone = zone_at(ctrl, i);

        if (zone->torn && zone->writes == 0) {
            find_write_pointer(ctrl, i);
        }
        commit(ctrl, i);
    }
    nvme_zones_close_all(ctrl);
    ctrl->sub->zones.work = ctrl->sub->zones.n > 0;
    nvme_zones_look_again(ctrl->sub);
}

void nvme_zones_look_again(NvmeSubsys *sub)
{
    NvmeZones *z = &sub->zones;

    if (z->finish_s || z->reset_s) {
        z->due_ns = 0;
        nvme_upkeep_wake(sub);
    }
}

/* ---- life ---------------------------------------------------------------- */

/* Blocks of a zoned namespace are mapping units, and the formats of a drive
 * have its own blocks, and those of 4 KiB.  An image has all zones, and what is
 * left of it is the space behind them. */
static bool check_both(const NvmeCtrl *ctrl, GError **error)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    uint64_t zones = info->zones.n * info->zones.capacity;

    if (info->unit_bytes != 4096 && ctrl->unit_blocks != 1) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "zones.conventional: needs ftl.unit=4096 or of a logical "
                    "block, %u",
                    info->block_bytes);
        return false;
    }
    if (ctrl->cfg.nblocks < zones + ctrl->unit_blocks) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "zones.conventional: the image has %" G_GUINT64_FORMAT
                    " blocks, the zones alone take %" G_GUINT64_FORMAT,
                    ctrl->cfg.nblocks, zones);
        return false;
    }
    return true;
}

bool nvme_zones_init(NvmeCtrl *ctrl, GError **error)
{
    const SsdZones *info = &ssd_info(ctrl->ssd)->zones;
    NvmeZones *z = &ctrl->sub->zones;

    if (info->n == 0) {
        return true;
    }
    if (info->conventional && !check_both(ctrl, error)) {
        return false;
    }
    if (ctrl->cfg.nblocks < info->capacity) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "zones.enabled=on: the namespace has %" G_GUINT64_FORMAT
                    " blocks, a zone has %" G_GUINT64_FORMAT,
                    ctrl->cfg.nblocks, info->capacity);
        return false;
    }
    *z = (NvmeZones){
        .n = info->conventional
                 ? info->n
                 : (uint32_t)(ctrl->cfg.nblocks / info->capacity),
        .end = info->conventional ? info->n * info->capacity : 0,
        .table.max_open = info->max_open,
        .table.max_active = info->max_active,
        .table.n_streams = ssd_info(ctrl->ssd)->host_streams,
        .extension_bytes = info->extension,
        .size = info->size / ctrl->unit_blocks,
        .capacity = info->capacity / ctrl->unit_blocks,
        .drive_shift = (uint32_t)g_bit_nth_lsf(ctrl->unit_blocks, -1),
        .append_bytes = info->append_bytes,
        .whole = info->whole,
        .records = info->records,
        .zrwa = info->zrwa / ctrl->unit_blocks,
        .zrwa_granule = info->zrwa_granule / ctrl->unit_blocks,
        .max_zrwa = info->max_zrwa,
        .held_stream = (uint16_t)info->held_stream,
        .finish_s = info->finish_s,
        .finish_limit_s = info->finish_limit_s,
        .reset_s = info->reset_s,
        .due_ns = SSD_TIME_NEVER,
    };
    z->zone = g_new0(NvmeZone, z->n);
    z->extension = g_malloc0((size_t)z->n * z->extension_bytes);
    for (uint32_t i = 0; i < z->n; i++) {
        z->zone[i].base = ZONE_NEW;
    }
    return true;
}

void nvme_zones_free(NvmeCtrl *ctrl)
{
    g_free(ctrl->sub->zones.zone);
    g_free(ctrl->sub->zones.extension);
}
