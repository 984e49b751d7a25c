/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-state.c - the controller as a stream of bytes, and back.
 *
 * Every member of its structs is listed in rows (core/state.h); a test finds
 * one that is missing.  Only a controller at rest is saved (rest.c).  Further
 * controllers of a subsystem come last, by identifier; they have the rows of
 * the first one.
 *
 * A stream may be forged: each number that is used as an index, a size or a
 * flag is looked at before the controller may use it.  Addresses in guest
 * memory need no check; a guest could have set any.
 */
#include "nvme-internal.h"
#include "cmd-faults.h"
#include "ctrl.h"
#include "erase/erase-job.h"
#include "placement/fdp.h"
#include "placement/fdp-handles.h"
#include "admin/firmware.h"
#include "memory/host-memory.h"
#include "health/keep-alive.h"
#include "admin/latency.h"
#include "namespace/lba-track.h"
#include "namespace/namespace.h"
#include "admin/nvme-features.h"
#include "ns-state.h"
#include "nvme-options.h"
#include "nvme-state.h"
#include "health/persistent-events.h"
#include "queue-state.h"
#include "reservation/reservation.h"
#include "rest.h"
#include "erase/sanitize.h"
#include "admin/secondary.h"
#include "health/self-test.h"
#include "placement/streams.h"
#include "zone/zones.h"

#include <inttypes.h>

#include "simtime.h"
#include "ssd-save.h"
#include "state.h"
#include "admin/telemetry.h"

#define SIGNATURE "vssdNVME"
#define MOST_TEXT 4096

enum {
    N_ONE,
    N_IMAGE,
    N_TELEMETRY,
    N_PEL,
    N_PEL_CONTEXT,
    N_NAMESPACES,
    N_COUNTS,
};

/* A member of the subsystem, or of its first controller. */
#define MEMBER(m)                                                              \
    .name = #m, .offset = offsetof(NvmeSubsys, m),                             \
    .bytes = sizeof(((NvmeSubsys *)0)->m),                                     \
    .align = __alignof__(((NvmeSubsys *)0)->m)
#define VALUE(m) {MEMBER(m), .kind = STATE_VALUE}
#define KEPT(m)  {MEMBER(m), .kind = STATE_UNSAVED}
#define TABLE(m, n)                                                            \
    {MEMBER(m), .kind = STATE_TABLE, .elem = sizeof(*((NvmeSubsys *)0)->m),    \
     .count = (n)}

/* A counter that a row of NVME_STATS makes. */
#define COUNTER(id, path, unit, reset, help) VALUE(count.id),
#define NO_COUNTER(...)

static const StateRow ctrl_rows[] = {
    KEPT(ctrl), /* a subsystem with others is not saved */
    KEPT(n_ctrls),
    KEPT(next_ctrl),
    VALUE(powered),
    KEPT(drive_lost),
    KEPT(held),
    VALUE(now_ns),
    KEPT(more),
    KEPT(run_bytes),
    KEPT(namespaces), /* ns-state.c */
    KEPT(atomic),     /* from the configuration */
    KEPT(ns_job),
    KEPT(ns_wanted),
    KEPT(requests.free),
    KEPT(requests.starved_first),
    KEPT(requests.starved_last),
    KEPT(requests.locks),
    KEPT(requests.slabs),
    KEPT(requests.sg_pool),
    KEPT(slots.slot),
    KEPT(slots.n),
    KEPT(slots.free),
    KEPT(slots.in_use),
    VALUE(next_version),
    VALUE(streams),
    VALUE(fdp),
    TABLE(fdp_units, N_ONE),
    KEPT(zones), /* zone-state.c */
    TABLE(reservations, N_NAMESPACES),
    KEPT(n_reserved),       /* follows from it */
    KEPT(virtualization.n), /* these four: from the configuration */
    KEPT(virtualization.private),
    KEPT(virtualization.flexible),
    KEPT(virtualization.most),
    VALUE(virtualization.primary),
    VALUE(virtualization.wanted),
    KEPT(virtualization.secondary), /* in Place */
    KEPT(kv_all), /* these four: an index is in its namespace */
    KEPT(kv_ready),
    KEPT(kv_ops),
    KEPT(kv_after),
    KEPT(durable_log), /* of this process */
    KEPT(told_read_only),
    KEPT(upkeep.housekeep_ns),
    KEPT(upkeep.retry_ns),
    KEPT(upkeep.retry_wait_ns),
    KEPT(upkeep.idle), /* these two: found out again */
    KEPT(upkeep.quiet),
    VALUE(life.busy_since_ns),
    VALUE(life.busy_ns),
    KEPT(life.n_io),
    VALUE(life.power_on_ns),
    VALUE(life.power_cycles),
    VALUE(life.unsafe_shutdowns),
    VALUE(life.media_errors),
    KEPT(erase_client),
    VALUE(erase),
    KEPT(erase_left), /* no purge runs, at rest */
    KEPT(erase_since_ns),
    KEPT(erase_req), /* these two: NULL, at rest */
    KEPT(format_req),
    VALUE(sanitize),
    VALUE(lba_track),
    VALUE(latency),
    VALUE(pel),
    TABLE(pel_events, N_PEL),
    TABLE(pel_context, N_PEL_CONTEXT),
    KEPT(pel_owner), /* the only one */
    VALUE(telemetry),
    TABLE(telemetry_data, N_TELEMETRY),
    VALUE(firmware_store),
    TABLE(firmware_image, N_IMAGE),
    KEPT(activation), /* none, at rest */
    KEPT(activation_ns),
    KEPT(faults), /* rules are those of the machine's own file */
    KEPT(last_fault),
    KEPT(fault_kelvin),
    TABLE(lateness, N_ONE),
    NVME_STATS(COUNTER, NO_COUNTER)
    /* text about this process */
    KEPT(origin),
    KEPT(live),
    /* the first controller */
    KEPT(first.sub),
    KEPT(first.next), /* by nvme_add_controller() */
    KEPT(first.index),
    KEPT(first.secondary), /* NULL */
    KEPT(first.machine),
    KEPT(first.opaque),
    KEPT(first.queue_client),
    KEPT(first.commands),
    KEPT(first.cfg), /* compared as text, with the three that follow */
    KEPT(first.serial),
    KEPT(first.model),
    KEPT(first.firmware),
    KEPT(first.ssd),
    KEPT(first.payload), /* payload-state.c */
    KEPT(first.block_bytes),
    KEPT(first.block_shift),
    KEPT(first.unit_blocks),
    KEPT(first.max_bytes),
    KEPT(first.windows_on),
    KEPT(first.window), /* from the registers */
    VALUE(first.cmb.msc),
    KEPT(first.cmb.uses),
    VALUE(first.pmr.msc),
    VALUE(first.pmr.ctl),
    VALUE(first.pmr.failed),
    KEPT(first.stuck_mask), /* of a rule */
    KEPT(first.stuck_csts),
    VALUE(first.regs.asq),
    VALUE(first.regs.acq),
    VALUE(first.regs.cc),
    VALUE(first.regs.csts),
    VALUE(first.regs.intms),
    VALUE(first.regs.aqa),
    VALUE(first.regs.page_bits),
    KEPT(first.shutdown_req),
    VALUE(first.pin_level),
    KEPT(first.enabling),
    VALUE(first.shutdown_clean),
    KEPT(first.shutdown_waits), /* not at rest */
    KEPT(first.queues.sq),      /* these two have rows of their own */
    KEPT(first.queues.cq),
    KEPT(first.queues.max_sqid),
    KEPT(first.queues.max_cqid),
    KEPT(first.queues.n_io),
    VALUE(first.queues.next_sq),
    VALUE(first.queues.class_next),
    VALUE(first.queues.credit),
    VALUE(first.queues.shadow_on),
    VALUE(first.queues.shadow_db),
    VALUE(first.queues.shadow_ei),
    VALUE(first.features.value),
    VALUE(first.features.vector_config),
    VALUE(first.features.timestamp_ms),
    VALUE(first.features.timestamp_at_ns),
    VALUE(first.features.timestamp_set),
    VALUE(first.features.host_id),
    VALUE(first.features.host_id_extended),
    VALUE(first.features.apst),
    VALUE(first.features.apst_on),
    VALUE(first.features.apst_set),
    VALUE(first.features.saved),
    VALUE(first.features.is_saved),
    VALUE(first.features.behavior),
    VALUE(first.features.copy_formats),
    KEPT(first.events.aer), /* records */
    KEPT(first.events.naer),
    VALUE(first.events.pending),
    VALUE(first.events.masked),
    VALUE(first.events.info),
    VALUE(first.events.warned),
    KEPT(first.events.health), /* looked at again */
    VALUE(first.notices),
    VALUE(first.reservation_log),
    KEPT(first.changed_ns), /* ns-state.c */
    VALUE(first.error_log.entry),
    VALUE(first.error_log.specific),
    VALUE(first.error_log.n),
    KEPT(first.keep_alive_ns), /* restarts */
    VALUE(first.self_test),
    KEPT(first.self_test_req), /* NULL, at rest */
    KEPT(first.lba_scan),      /* none, at rest */
    VALUE(first.host_memory),
};

#undef MEMBER
#undef VALUE
#undef KEPT
#undef TABLE

static const uint64_t table_counts[N_COUNTS] = {
    [N_ONE] = 1,
    [N_IMAGE] = NVME_FW_BYTES,
    [N_TELEMETRY] = NVME_TELEMETRY_LOGS * NVME_TELEMETRY_BYTES,
    [N_PEL] = NVME_PEL_BYTES,
    [N_NAMESPACES] = NVME_MAX_NAMESPACES,
    [N_PEL_CONTEXT] = NVME_PEL_HEADER + NVME_PEL_BYTES,
};

static const StateStruct ctrl_struct = {
    "NvmeCtrl", ctrl_rows, G_N_ELEMENTS(ctrl_rows), sizeof(NvmeSubsys)};
const StateStruct *nvme_state_struct(unsigned i)
{
    static const StateStruct *const own[] = {
        &ctrl_struct,
        &nvme_cq_struct,
        &nvme_sq_struct,
    };

    return i < G_N_ELEMENTS(own) ? own[i]
                                 : payload_state_struct(i - G_N_ELEMENTS(own));
}

/* ---- configuration of the saved controller ------------------------------ */

static char *memory_text(const NvmeCtrl *ctrl)
{
    const NvmeVirtualization *v = &ctrl->sub->virtualization;
    const NvmeConfig *c = &ctrl->cfg;
    GString *s = g_string_new(NULL);

    if (c->cmb_bytes) {
        g_string_append_printf(s, "\ncmb=%" PRIu64 " uses=%02x%s", c->cmb_bytes,
                               (unsigned)ctrl->cmb.uses,
                               c->cmb_legacy ? " legacy" : "");
    }
    if (nvme_is_multi(ctrl)) {
        g_string_append_printf(s, "\ncontrollers=%u", c->controllers);
    }
    if (c->secondaries) {
        g_string_append_printf(
            s, "\nsriov_vfs=%u vq=%u,%u vi=%u,%u", c->secondaries,
            v->flexible[NVME_RESOURCE_VQ], v->most[NVME_RESOURCE_VQ],
            v->flexible[NVME_RESOURCE_VI], v->most[NVME_RESOURCE_VI]);
    }
    if (c->pmr_bytes) {
        g_string_append_printf(s, "\npmr=%" PRIu64, c->pmr_bytes);
    }
    return g_string_free(s, FALSE);
}

/* The one with the next identifier; last = NULL: with the first. */
static NvmeCtrl *next_further(NvmeSubsys *sub, const NvmeCtrl *last)
{
    NvmeCtrl *found = NULL;

    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (c != &sub->first && (!last || c->cfg.cntlid > last->cfg.cntlid) &&
            (!found || c->cfg.cntlid < found->cfg.cntlid)) {
            found = c;
        }
    }
    return found;
}

static char *further_text(NvmeSubsys *sub)
{
    GString *s = g_string_new(NULL);

    for (NvmeCtrl *c = next_further(sub, NULL); c; c = next_further(sub, c)) {
        g_string_append_printf(
            s, "%s%u", s->len ? "," : "\nfurther_controllers=", c->cfg.cntlid);
    }
    return g_string_free(s, FALSE);
}

static char *config_text(const NvmeCtrl *ctrl)
{
    const unsigned *private = ctrl->sub->virtualization.private;
    const NvmeConfig *c = &ctrl->cfg;
    g_autofree char *further = further_text(ctrl->sub);
    g_autofree char *memory = memory_text(ctrl);
    g_autofree char *metadata =
        c->metadata ? g_strdup_printf("\nmetadata=%u,pi_sts=%u", c->metadata,
                                      c->pi_storage_bits)
                    : g_strdup("");

    return g_strdup_printf(
        "num_queues=%u\nnum_vectors=%u\nqueue_size=%u\nmdts=%u\neui64=%" PRIu64
        "\nblocks=%" PRIu64 "\nserial=%s\nmodel=%s\nfirmware=%s%s%s%s%s",
        private[NVME_RESOURCE_VQ] - 1, private[NVME_RESOURCE_VI], c->queue_size,
        c->mdts, c->eui64, c->nblocks, c->serial, c->model, c->firmware,
        c->sgl ? "\nsgl=on" : "", memory, metadata, further);
}

/* A drive whose serial number nobody chose keeps the one that its guest knows. */
static bool take_serial(NvmeCtrl *ctrl, const char *line)
{
    size_t n = strlen("serial=");

    if (!ctrl->cfg.serial_by_default || strncmp(line, "serial=", n) != 0 ||
        !nvme_serial_ok(line + n, NULL)) {
        return false;
    }
    g_strlcpy(ctrl->serial, line + n, sizeof(ctrl->serial));
    return true;
}

static bool walk_config(State *s, NvmeCtrl *ctrl)
{
    g_autofree char *own = config_text(ctrl);
    g_autofree char *text = s->loading ? NULL : g_strdup(own);
    g_auto(GStrv) mine = g_strsplit(own, "\n", -1);
    g_auto(GStrv) saved = NULL;

    if (!state_text(s, &text, MOST_TEXT)) {
        return false;
    }
    saved = g_strsplit(text, "\n", -1);
    if (g_strv_length(saved) > g_strv_length(mine)) {
        return state_fail(s, "it was saved with %s, this drive has it not",
                          saved[g_strv_length(mine)]);
    }
    for (unsigned i = 0; mine[i]; i++) {
        if (i >= g_strv_length(saved)) {
            return state_fail(s, "it was saved without %s, this drive has it",
                              mine[i]);
        }
        if (strcmp(mine[i], saved[i]) != 0 && !take_serial(ctrl, saved[i])) {
            return state_fail(s, "it was saved with %s, this drive has %s",
                              saved[i], mine[i]);
        }
    }
    return true;
}

static bool walk_head(State *s, NvmeCtrl *ctrl)
{
    return state_signature(s, SIGNATURE, "it is no saved controller") &&
           walk_config(s, ctrl);
}

/* ---- the controller as a whole ------------------------------------------- */

static bool is_flag(const bool *flag)
{
    uint8_t v;

    memcpy(&v, flag, 1);
    return v <= 1;
}

static bool flags_ok(const NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_EVENT_TYPES; i++) {
        if (!is_flag(&ctrl->events.pending[i]) ||
            !is_flag(&ctrl->events.masked[i])) {
            return false;
        }
    }
    for (unsigned i = 0; i < NVME_N_NOTICES; i++) {
        if (!is_flag(&ctrl->notices.pending[i]) ||
            !is_flag(&ctrl->notices.masked[i])) {
            return false;
        }
    }
    return is_flag(&ctrl->sub->powered) && is_flag(&ctrl->pin_level) &&
           is_flag(&ctrl->queues.shadow_on) &&
           is_flag(&ctrl->features.timestamp_set) &&
           is_flag(&ctrl->features.apst_on) &&
           is_flag(&ctrl->features.host_id_extended) &&
           is_flag(&ctrl->features.apst_set) &&
           is_flag(&ctrl->host_memory.on) && is_flag(&ctrl->shutdown_clean);
}

static bool registers_ok(const NvmeCtrl *ctrl)
{
    uint32_t csts = NVME_CSTS_RDY | NVME_CSTS_CFS | NVME_CSTS_SHST_DONE |
                    NVME_CSTS_NSSRO | (nvme_is_multi(ctrl) ? NVME_CSTS_ST : 0);

    return !(ctrl->regs.cc & ~NVME_CC_MASK) && !(ctrl->regs.csts & ~csts) &&
           !(ctrl->regs.aqa & ~0x0fff0fffU) && !(ctrl->regs.asq & 0xfff) &&
           !(ctrl->regs.acq & 0xfff) &&
           ctrl->regs.page_bits >= NVME_PAGE_BITS &&
           ctrl->regs.page_bits <= NVME_PAGE_BITS_MAX &&
           (!(ctrl->regs.csts & NVME_CSTS_RDY) || ctrl->regs.cc & NVME_CC_EN);
}

static bool clocks_ok(const NvmeCtrl *ctrl)
{
    return ctrl->sub->now_ns < SIM_LAST_NS &&
           ctrl->sub->life.busy_since_ns <= ctrl->sub->now_ns &&
           ctrl->sub->life.power_on_ns <= ctrl->sub->now_ns &&
           ctrl->features.timestamp_at_ns <= ctrl->sub->now_ns &&
           ctrl->sub->next_version >= ssd_last_version(ctrl->ssd) &&
           ctrl->sub->next_version < 1ULL << 48;
}

/* What follows from the rows. */
static bool apply_values(State *s, NvmeSubsys *sub)
{
    return nvme_primary_loaded(sub) ||
           state_fail(s, "it is damaged: the flexible resources");
}

static bool check_values(State *s, const NvmeCtrl *ctrl,
                         const NvmeStreams *streams, const NvmeFdp *fdp)
{
    if (!flags_ok(ctrl) || !registers_ok(ctrl) || !clocks_ok(ctrl) ||
        !nvme_streams_ok(&ctrl->sub->streams, streams) ||
        ctrl->sub->fdp.ruhs != fdp->ruhs ||
        !nvme_fdp_logs_ok(&ctrl->sub->fdp) || !nvme_fdp_units_ok(ctrl) ||
        ctrl->queues.next_sq >= NVME_MAX_QUEUES ||
        !nvme_features_saved_ok(ctrl) || !nvme_self_test_ok(ctrl) ||
        !nvme_firmware_ok(ctrl) || !nvme_telemetry_ok(ctrl) ||
        !nvme_pel_ok(ctrl) || !nvme_erase_ok(ctrl) || !nvme_sanitize_ok(ctrl) ||
        !nvme_lba_track_ok(ctrl) || !nvme_latency_ok(ctrl) ||
        !hist_valid(ctrl->sub->lateness)) {
        return state_fail(s, "it is damaged: the controller");
    }
    if (ctrl->sub->powered != ssd_powered(ctrl->ssd)) {
        return state_fail(s, "it is damaged: the power");
    }
    return true;
}

static bool check_reservations(State *s, const NvmeCtrl *ctrl)
{
    if (!nvme_reservations_ok(ctrl)) {
        return state_fail(s, "it is damaged: the reservations");
    }
    nvme_reservations_loaded(ctrl->sub);
    return true;
}

/* ---- further controllers ------------------------------------------------- */

/* The rows of a controller; row: memory for them. */
static StateStruct further_struct(StateRow *row)
{
    size_t base = offsetof(NvmeSubsys, first);
    size_t n = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(ctrl_rows); i++) {
        if (ctrl_rows[i].offset >= base) {
            row[n] = ctrl_rows[i];
            row[n++].offset -= base;
        }
    }
    return (StateStruct){"NvmeCtrl", row, n, sizeof(NvmeCtrl)};
}

typedef struct Place {
    uint64_t cntlid;
    uint64_t has_pel_context;
    uint64_t attached[NVME_MAX_NAMESPACES / 64];
    uint64_t changed[NVME_MAX_NAMESPACES / 64];
    NvmeSecondaryState secondary;
} Place;

static void get_place(const NvmeCtrl *c, Place *p)
{
    const NvmeNamespaces *all = &c->sub->namespaces;

    p->cntlid = c->cfg.cntlid;
    p->has_pel_context = c->sub->pel_owner == c->index;
    for (uint32_t i = 0; i < all->n; i++) {
        p->attached[i / 64] |= (uint64_t)nvme_is_attached(c, &all->table[i])
                               << i % 64;
    }
    memcpy(p->changed, c->changed_ns, sizeof(p->changed));
    nvme_secondary_get(c, &p->secondary);
}

/* false: it cannot be. */
static bool put_place(NvmeCtrl *c, const Place *p)
{
    NvmeNamespaces *all = &c->sub->namespaces;

    if (p->cntlid != c->cfg.cntlid || p->has_pel_context > 1 ||
        !nvme_secondary_put(c, &p->secondary)) {
        return false;
    }
    for (uint32_t i = 0; i < NVME_MAX_NAMESPACES; i++) {
        bool on = p->attached[i / 64] >> i % 64 & 1;

        if (on && (i >= all->n || !all->table[i].exists ||
                   (all->table[i].attached && !all->table[i].shared))) {
            return false;
        }
        if (i < all->n) {
            nvme_ns_attach(c, &all->table[i], on);
        }
    }
    if (p->has_pel_context) {
        c->sub->pel_owner = c->index;
    }
    memcpy(c->changed_ns, p->changed, sizeof(p->changed));
    return true;
}

static bool further_ok(const NvmeCtrl *c)
{
    return flags_ok(c) && registers_ok(c) && clocks_ok(c) &&
           c->queues.next_sq < NVME_MAX_QUEUES && nvme_features_saved_ok(c) &&
           nvme_self_test_ok(c) && !c->host_memory.on;
}

static bool walk_one(State *s, NvmeCtrl *c)
{
    StateRow row[G_N_ELEMENTS(ctrl_rows)];
    StateStruct rows = further_struct(row);
    Place place = {0};

    if (!s->loading) {
        get_place(c, &place);
    }
    if (!state_record(s, &place, sizeof(place))) {
        return false;
    }
    if (s->loading && !put_place(c, &place)) {
        return state_fail(s, "it is damaged: the place of a controller");
    }
    if (!state_values(s, &rows, c)) {
        return false;
    }
    if (s->loading && !further_ok(c)) {
        return state_fail(s, "it is damaged: a further controller");
    }
    return nvme_queues_state(s, c) && nvme_waiting_state(s, c);
}

/* There are as many as the configuration says. */
static bool walk_further(State *s, NvmeSubsys *sub)
{
    for (NvmeCtrl *c = next_further(sub, NULL); c; c = next_further(sub, c)) {
        if (!walk_one(s, c)) {
            return false;
        }
    }
    return true;
}

/* Enough to be freed without signalling anything. */
static void silence(NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        c->pin_level = false;
        for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
            c->queues.cq[i].asserted = false;
        }
    }
}

/* ---- another base for the clock ------------------------------------------ */

static void earlier(uint64_t *ns, uint64_t by_ns)
{
    if (*ns != SSD_TIME_NEVER) {
        *ns -= MIN(*ns, by_ns);
    }
}

/* All instants that the controller knows become earlier, as the drive's have. */
static void set_ctrl_back(NvmeCtrl *ctrl, uint64_t by_ns)
{
    if (ctrl->features.timestamp_at_ns < by_ns) {
        ctrl->features.timestamp_ms +=
            (by_ns - ctrl->features.timestamp_at_ns) / NS_PER_MS;
    }
    earlier(&ctrl->features.timestamp_at_ns, by_ns);
    earlier(&ctrl->keep_alive_ns, by_ns);
    earlier(&ctrl->self_test.next_ns, by_ns);
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        NvmeCq *cq = &ctrl->queues.cq[i];

        earlier(&cq->first_ns, by_ns);
        for (NvmeRequest *r = cq->wait_first; cq->live && r; r = r->next) {
            earlier(&r->complete_ns, by_ns);
        }
    }
}

static void set_back(NvmeSubsys *sub, uint64_t by_ns)
{
    if (sub->life.n_io && sub->life.busy_since_ns < by_ns) {
        sub->life.busy_ns += by_ns - sub->life.busy_since_ns;
    }
    earlier(&sub->life.busy_since_ns, by_ns);
    earlier(&sub->life.power_on_ns, by_ns);
    earlier(&sub->upkeep.housekeep_ns, by_ns);
    earlier(&sub->upkeep.retry_ns, by_ns);
    for (unsigned i = 0; sub->fdp_units && i < NVME_MAX_RUHS; i++) {
        earlier(&sub->fdp_units->began_ns[i], by_ns);
    }
    for (uint32_t i = 0; i < sub->zones.n; i++) {
        sub->zones.zone[i].since_ns -= (int64_t)by_ns;
    }
    nvme_zones_look_again(sub);
    earlier(&sub->lba_track.told_ns, by_ns);
    earlier(&sub->latency.began_ns, by_ns);
    earlier(&sub->erase_since_ns, by_ns);
    earlier(&sub->now_ns, by_ns);
    NVME_FOR_EACH_CTRL(sub, c)
    {
        set_ctrl_back(c, by_ns);
    }
}

/* ---- the calls of nvme.h ------------------------------------------------- */

bool nvme_save(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    State s;

    if (!nvme_at_rest(ctrl)) {
        g_set_error_literal(error, STATE_ERROR, 0, "commands are in flight");
        return false;
    }
    state_begin(&s, out, false);
    if (walk_head(&s, (NvmeCtrl *)ctrl) &&
        state_values(&s, &ctrl_struct, ctrl->sub) &&
        state_tables(&s, &ctrl_struct, ctrl->sub, table_counts) &&
        nvme_queues_state(&s, (NvmeCtrl *)ctrl) &&
        nvme_waiting_state(&s, (NvmeCtrl *)ctrl) &&
        nvme_ns_state(&s, (NvmeCtrl *)ctrl) &&
        payload_state(ctrl->payload, &s)) {
        walk_further(&s, ctrl->sub);
    }
    return state_end(&s, error);
}

bool nvme_load(NvmeCtrl *ctrl, FILE *in, GError **error)
{
    NvmeStreams streams = ctrl->sub->streams;
    NvmeFdp fdp = ctrl->sub->fdp;
    State s;

    g_assert(!ctrl->queues.n_io && !ctrl->queues.sq[0].live &&
             !ctrl->queues.cq[0].live);
    state_begin(&s, in, true);
    if (walk_head(&s, ctrl) && state_values(&s, &ctrl_struct, ctrl->sub) &&
        state_tables(&s, &ctrl_struct, ctrl->sub, table_counts) &&
        apply_values(&s, ctrl->sub) && check_values(&s, ctrl, &streams, &fdp) &&
        nvme_queues_state(&s, ctrl) && nvme_waiting_state(&s, ctrl) &&
        nvme_ns_state(&s, ctrl) && check_reservations(&s, ctrl) &&
        payload_state(ctrl->payload, &s)) {
        walk_further(&s, ctrl->sub);
    }
    if (!state_end(&s, error)) {
        ctrl->sub->streams = streams;
        ctrl->sub->fdp = fdp;
        silence(ctrl->sub);
        return false;
    }
    set_back(ctrl->sub, ssd_rebased_ns(ctrl->ssd));
    ctrl->sub->now_ns = MAX(ctrl->sub->now_ns, ssd_now_ns(ctrl->ssd));
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_keep_alive_start(c);
    }
    if (nvme_has_host_memory(ctrl)) {
        nvme_host_memory_apply(ctrl);
    }
    return true;
}

uint64_t nvme_rebase(NvmeCtrl *ctrl)
{
    uint64_t by_ns = ssd_now_ns(ctrl->ssd);

    by_ns -= MIN(by_ns, SSD_BASE_NS);
    if (by_ns == 0 || !nvme_at_rest(ctrl) || !ssd_rebase(ctrl->ssd, by_ns)) {
        return 0;
    }
    set_back(ctrl->sub, by_ns);
    nvme_faults_rebase(ctrl->sub, by_ns);
    return by_ns;
}
