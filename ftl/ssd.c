/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd.c - the drive as a whole: create, the event loop, and the calls of
 * ssd.h.
 *
 * Knows every event and hands it to the file it belongs to.  Nothing else in
 * the model moves time on.
 */
#include <errno.h>

#include "buffer/buffer-policy.h"
#include "buffer/flush.h"
#include "buffer/life.h"
#include "buffer/reads.h"
#include "buffer/write-rows.h"
#include "component.h"
#include "controller/controller.h"
#include "drive.h"
#include "fdp-config.h"
#include "gc/gc.h"
#include "gc/hold.h"
#include "gc/purge.h"
#include "host/ahead.h"
#include "host/host.h"
#include "inspect/recording.h"
#include "journal/counters.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "placement/placement.h"
#include "placement/streams.h"
#include "power/power.h"
#include "settle.h"
#include "ssd-internal.h"
#include "ssd-power.h"
#include "ssd-purge.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "thermal/thermal.h"
#include "wake.h"
#include "zones-config.h"

/* ---- events -------------------------------------------------------------- */

/* State without a wake-up: those that wait for it check after each event. */
static void look_again(Ssd *ssd)
{
    if (ssd->placement->alloc_waits_for != NONE) {
        alloc_look_again(ssd);
        ssd_settle(ssd);
    }
    if (media_may_fail(ssd) && failure_looks_for_way(ssd)) {
        ssd_settle(ssd);
        failure_give_up(ssd);
        ssd_settle(ssd);
    }
    if (ssd->media->cut_due) {
        power_lost(ssd);
    }
    if (ssd->commands.running == 0 && ssd->buffer->policy->early) {
        buffer_idle(ssd);
        ssd_settle(ssd);
    }
}

/* Has one of those something to check? */
static inline bool must_look_again(const Ssd *ssd)
{
    return ssd->placement->alloc_waits_for != NONE || media_may_fail(ssd) ||
           ssd->media->cut_due ||
           (ssd->commands.running == 0 && ssd->buffer->policy->early);
}

/* A page that was read for a copy has been through the controller. */
static void copy_ready(Ssd *ssd, uint32_t copy)
{
    NandOp op = copy_take(ssd, copy);

    ssd->copies->read_done(ssd, &op);
}

static void dispatch(Ssd *ssd, const Event *e)
{
    switch (event_kind(e)) {
    case SSD_EVENT_CMD_START:
        host_start(ssd, event_index(e));
        break;
    case SSD_EVENT_CMD_DATA:
        host_data(ssd, event_index(e));
        break;
    case SSD_EVENT_CMD_DONE:
        host_done(ssd, event_index(e));
        break;
    case SSD_EVENT_FLUSH_TICK:
        write_flush_tick(ssd);
        break;
    case SSD_EVENT_FAULT:
        ssd->media->cut_due = true;
        break;
    case SSD_EVENT_BACKGROUND:
        background_event(ssd, event_index(e));
        break;
    case SSD_EVENT_RECOVERED:
        recovery_event(ssd, event_index(e));
        break;
    case SSD_EVENT_TRIM:
        trim_event(ssd);
        break;
    case SSD_EVENT_RESET:
        trim_start(ssd, event_index(e));
        break;
    case SSD_EVENT_ROW_WAIT:
        if (event_index(e) < ssd->l.n_streams) {
            write_rows_wait_event(ssd, event_index(e));
        } else {
            gc_row_wait_event(ssd, event_index(e) - ssd->l.n_streams);
        }
        break;
    case SSD_EVENT_CMD_FETCHED:
        host_fetched(ssd, event_index(e));
        break;
    case SSD_EVENT_CMD_MAPPED:
        host_mapped(ssd, event_index(e));
        break;
    case SSD_EVENT_CMD_END:
        host_end(ssd, event_index(e));
        break;
    case SSD_EVENT_CMD_HMB:
        ssd->map->policy->fetched(ssd, event_index(e));
        break;
    case SSD_EVENT_COUNTERS:
        counters_event(ssd);
        break;
    case SSD_EVENT_COPY:
        copy_ready(ssd, event_index(e));
        break;
    default:
        nand_event(ssd->nand, e);
    }
    if (ssd->work.any) {
        ssd_settle(ssd);
    }
    if (G_UNLIKELY(must_look_again(ssd))) {
        look_again(ssd);
    }
}

static inline void run_next(Ssd *ssd)
{
    Event e = eventq_pop(&ssd->events);

    ssd->now_ps = e.at_ps;
    thermal_advance(ssd);
    dispatch(ssd, &e);
}

static void ask_gate(Ssd *ssd)
{
    const Gate *gate = &ssd->inspect.gate;
    const SsdMoment next = {
        .at_ns = eventq_next_ps(&ssd->events) / PS_PER_NS,
        .commands = ssd->inspect.latency[SSD_N_OPS].n,
        .victims = ssd->inspect.count.gc_victims,
        .power_cuts = gate->power_cuts,
    };

    gate->pass(gate->opaque, &next);
}

/* Before the calls below: the same through the gate, event by event.  An option
 * that changes there may take the event away. */
static void run_gated(Ssd *ssd, uint64_t until_ps,
                      bool (*must_go_on)(const Ssd *ssd))
{
    while (eventq_next_ps(&ssd->events) <= until_ps && must_go_on(ssd)) {
        ask_gate(ssd);
        if (eventq_next_ps(&ssd->events) <= until_ps) {
            run_next(ssd);
        }
    }
}

static bool always(const Ssd *ssd)
{
    (void)ssd;
    return true;
}

static void run_due(Ssd *ssd, uint64_t until_ps)
{
    if (G_UNLIKELY(ssd->inspect.gate.pass)) {
        run_gated(ssd, until_ps, always);
        return;
    }
    do {
        run_next(ssd);
    } while (eventq_next_ps(&ssd->events) <= until_ps);
}

void ssd_run(Ssd *ssd, uint64_t now_ns)
{
    uint64_t until_ps = now_ns * PS_PER_NS;

    invariant(now_ns < SIM_MAX_NS && until_ps >= ssd->now_ps);
    /* Each call that marks work settles it; none is left. */
    invariant(ssd->work.any == 0);
    if (eventq_next_ps(&ssd->events) <= until_ps) {
        run_due(ssd, until_ps);
    }
    ssd->now_ps = until_ps;
}

uint64_t ssd_next_event_ns(const Ssd *ssd)
{
    uint64_t next_ns;

    if (ssd->host->done.head != NONE) {
        return sim_ceil_ns(ssd->commands.cmd[ssd->host->done.head].complete_ps);
    }
    if (eventq_next_ps(&ssd->events) == SIM_NEVER) {
        return SSD_TIME_NEVER;
    }
    next_ns = sim_ceil_ns(eventq_next_ps(&ssd->events));
    if (ssd->commands.running == 0 && !ssd->power->recovery.on) {
        /* Background work returns nothing; look after it once in a while. */
        next_ns = MAX(next_ns, ssd->now_ps / PS_PER_NS + NS_PER_MS);
    }
    return next_ns;
}

/* Is there nothing to fetch, and will there be? */
static bool must_wait(const Ssd *ssd)
{
    return ssd->host->done.head == NONE && ssd->commands.running > 0 &&
           ssd->powered;
}

uint64_t ssd_wait(Ssd *ssd, uint64_t until_ns)
{
    uint64_t until_ps = MIN(until_ns, SIM_LAST_NS) * PS_PER_NS;
    uint64_t now_ns;

    if (!must_wait(ssd) || eventq_next_ps(&ssd->events) > until_ps) {
        return ssd_next_event_ns(ssd);
    }
    invariant(ssd->work.any == 0);
    if (G_UNLIKELY(ssd->inspect.gate.pass)) {
        run_gated(ssd, until_ps, must_wait);
    } else {
        do {
            run_next(ssd);
        } while (must_wait(ssd) && eventq_next_ps(&ssd->events) <= until_ps);
    }
    now_ns = sim_ceil_ns(ssd->now_ps);
    ssd_run(ssd, now_ns);
    return now_ns;
}

void ssd_hint(const Ssd *ssd, uint64_t lba, SsdHint hint)
{
    uint64_t lpn = lba >> ssd->block_shift;
    uint64_t entry;

    if (hint == SSD_HINT_COMES) {
        numtable_prefetch(&ssd->l2p.entry, lpn);
        return;
    }
    entry = l2p_get(&ssd->l2p, lpn);
    if (entry == 0 || map_is_buffered(entry)) {
        return;
    }
    numtable_prefetch(&ssd->media->spare_lpn, entry - 1);
    if (hint == SSD_HINT_READS) {
        nand_hint_read(ssd->nand, ppu_page(ssd, entry - 1));
    } else {
        __builtin_prefetch(&ssd->media->valid[(entry - 1) / 64], 1);
        __builtin_prefetch(block_at(ssd, ppu_block(ssd, entry - 1)), 1);
    }
}

/* ---- create and destroy -------------------------------------------------- */

static size_t valid_words(const Ssd *ssd)
{
    return bitmap_words(ssd->l.raw_units);
}

void ssd_expect_full(Ssd *ssd)
{
    numtable_dense(&ssd->l2p.entry);
    numtable_dense(&ssd->media->spare_lpn);
    lazy_dense(ssd->media->valid, valid_words(ssd), sizeof(*ssd->media->valid));
    lazy_dense(ssd->media->block, ssd->geo->n_blocks,
               sizeof(*ssd->media->block));
}

/* Bytes of the tables by block. */
static uint64_t blocks_memory(const Ssd *ssd)
{
    return (uint64_t)ssd->geo->n_blocks *
           (sizeof(*ssd->media->block) +
            (ssd->gc->history ? sizeof(*ssd->gc->history) : 0));
}

static void init_info(Ssd *ssd)
{
    const SsdConfig *cfg = ssd->cfg;
    SsdInfo *info = &ssd->info;

    info->block_bytes = cfg->block_bytes;
    info->unit_bytes = (uint32_t)cfg->unit_bytes;
    info->nblocks = ssd->l.user_units << ssd->block_shift;
    info->page_bytes = cfg->nand.page_bytes;
    info->raw_bytes = ssd->l.raw_units * cfg->unit_bytes;
    info->erase_bytes = cfg->nand.page_bytes * cfg->nand.pages;
    info->nstreams = ssd->l.n_streams;
    info->host_streams = fdp_own_streams(cfg)
                             ? 1
                             : ssd->l.n_streams - (ssd->l.zrwa_units > 0) -
                                   (ssd->l.plain_units > 0);
    info->hint_bytes = ssd->placement->rate
                           ? cfg->unit_bytes << ssd->placement->rate_shift
                           : 0;
    info->ruhs = cfg->ruhs;
    info->groups = ssd->l.n_groups;
    info->initial = fdp_initial(cfg);
    info->isolated = info->initial == 0;
    info->ru_limit_s = (uint32_t)(cfg->ru_limit_ps / (NS_PER_S * PS_PER_NS));
    info->closes_open = cfg->close_open;
    info->program_bytes =
        ((uint64_t)ssd->l.units_per_program << ssd->unit_shift) *
        MAX(ssd->l.row_pages, 1);
    info->reclaim_bytes = fdp_ru_bytes(cfg, &ssd->l);
    info->queue_depth = cfg->queue_depth;
    info->namespaces =
        cfg->namespaces && *cfg->namespaces ? cfg->namespaces : NULL;
    info->keeps_buffer = cfg->plp;
    info->atomic_bytes = MAX(cfg->unit_bytes, cfg->atomic_bytes);
    zones_info(cfg, &ssd->l, &info->zones);
    info->longest_recovery_ns = sim_ceil_ns(recovery_longest_ps(ssd));
    info->memory_bytes =
        ssd->l2p.entry.n * numtable_bytes(&ssd->l2p.entry) +
        ssd->l.raw_units * numtable_bytes(&ssd->media->spare_lpn) +
        (ssd->media->spare_version
             ? ssd->l.raw_units * sizeof(*ssd->media->spare_version)
             : 0) +
        saved_memory(ssd) + (ssd->media->spare_stream ? ssd->l.raw_units : 0) +
        valid_words(ssd) * sizeof(*ssd->media->valid) + blocks_memory(ssd) +
        (uint64_t)ssd->buffer->n_slot_records * sizeof(*ssd->buffer->slot) +
        ssd->map->policy_bytes;
    info->preload_bytes = ssd->preloaded.wanted
                              ? preloaded_bytes(ssd) + blocks_memory(ssd)
                              : info->memory_bytes;
    invariant(info->nblocks > 0 && info->reclaim_bytes >= info->program_bytes);
}

static Ssd *new_drive(void)
{
    Drive *d = g_new0(Drive, 1);

    d->ssd.controller = &d->controller;
    d->ssd.media = &d->media;
    d->ssd.journal = &d->journal;
    d->ssd.placement = &d->placement;
    d->ssd.buffer = &d->buffer;
    d->ssd.map = &d->map;
    d->ssd.gc = &d->gc;
    d->ssd.thermal = &d->thermal;
    d->ssd.host = &d->host;
    d->ssd.power = &d->power;
    return &d->ssd;
}

static void free_drive(Ssd *ssd)
{
    ssd_config_free(ssd->cfg);
    g_free(ssd);
}

Ssd *ssd_create(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                GError **error)
{
    Ssd *ssd;

    if (!ssd_config_check(cfg, error)) {
        return NULL;
    }
    ssd = new_drive();
    ssd->cfg = ssd_config_copy(cfg);
    ssd_layout(ssd->cfg, &ssd->l, NULL);
    ssd->client = host;
    ssd->client_opaque = opaque;
    host_set_gate(ssd, &power_gate);
    if (!components_create(ssd, error)) {
        free_drive(ssd);
        return NULL;
    }
    init_info(ssd);
    return ssd;
}

void ssd_destroy(Ssd *ssd)
{
    if (!ssd) {
        return;
    }
    invariant(ssd->work.any == 0);
    components_destroy(ssd);
    free_drive(ssd);
}

void ssd_reset_stats(Ssd *ssd)
{
    components_reset_stats(ssd);
}

bool ssd_powered(const Ssd *ssd)
{
    return ssd->powered;
}

const SsdInfo *ssd_info(const Ssd *ssd)
{
    return &ssd->info;
}

/* ---- the calls of ssd.h that let time pass first ------------------------- */

int ssd_submit(Ssd *ssd, uint64_t now_ns, const SsdCmd *req)
{
    ssd_run(ssd, now_ns);
    return host_submit(ssd, now_ns, req);
}

bool ssd_abort(Ssd *ssd, uint64_t now_ns, uint64_t tag)
{
    ssd_run(ssd, now_ns);
    return host_abort(ssd, now_ns, tag);
}

size_t ssd_advance(Ssd *ssd, uint64_t now_ns, SsdCompletion *done, size_t max)
{
    ssd_run(ssd, now_ns);
    return host_fetch(ssd, done, max);
}

static void record_setting(Ssd *ssd, RecordingSetting what, uint64_t a,
                           uint64_t b, uint64_t c, uint64_t now_ns)
{
    const uint64_t number[] = {a, b, c};

    if (ssd->inspect.recording) {
        recording_setting(ssd->inspect.recording, what, number, now_ns);
    }
}

void ssd_set_power_state(Ssd *ssd, uint64_t now_ns, uint32_t state)
{
    ssd_run(ssd, now_ns);
    record_setting(ssd, RECORDING_POWER_STATE, state, 0, 0, now_ns);
    thermal_set_state(ssd, state);
}

void ssd_set_idle_rules(Ssd *ssd, uint64_t now_ns, const SsdIdleRule *rule)
{
    uint32_t n;

    ssd_run(ssd, now_ns);
    ssd_power_states(ssd, &n);
    for (uint32_t i = 0; rule && i < n; i++) {
        record_setting(ssd, RECORDING_IDLE_RULE, i, rule[i].state,
                       rule[i].after_ns, now_ns);
    }
    if (!rule) {
        record_setting(ssd, RECORDING_OWN_RULES, 0, 0, 0, now_ns);
    }
    thermal_set_rules(ssd, rule);
}

void ssd_set_heat_limits(Ssd *ssd, uint64_t now_ns, const uint32_t kelvin[2])
{
    ssd_run(ssd, now_ns);
    record_setting(ssd, RECORDING_LIMITS, kelvin[0], kelvin[1], 0, now_ns);
    thermal_set_limits(ssd, kelvin);
}

void ssd_set_window(Ssd *ssd, uint64_t now_ns, SsdWindow window)
{
    ssd_run(ssd, now_ns);
    invariant(window == SSD_WINDOW_NONE || ssd->l.window_blocks > 0);
    if (ssd->window != window) {
        record_setting(ssd, RECORDING_WINDOW, window, 0, 0, now_ns);
        hold_set(ssd, window);
        ssd_settle(ssd);
    }
}

uint64_t ssd_host_memory(const Ssd *ssd)
{
    return ssd->map->policy->set_host_memory ? ssd->cfg->hmb_bytes : 0;
}

void ssd_set_host_memory(Ssd *ssd, uint64_t now_ns, uint64_t bytes)
{
    ssd_run(ssd, now_ns);
    if (ssd_host_memory(ssd)) {
        bytes = MIN(bytes, ssd->cfg->hmb_bytes);
        record_setting(ssd, RECORDING_HOST_MEMORY, 0, 0, bytes, now_ns);
        ssd->map->policy->set_host_memory(ssd, bytes);
    }
}

uint32_t ssd_placement_handles(const Ssd *ssd, uint32_t i, uint16_t *handle)
{
    return fdp_handles(ssd->cfg, i, handle);
}

void ssd_stream_close(Ssd *ssd, uint64_t now_ns, uint32_t stream)
{
    ssd_run(ssd, now_ns);
    invariant(stream < ssd->l.n_streams);
    if (ssd->inspect.recording) {
        recording_close(ssd->inspect.recording, stream, now_ns);
    }
    if (ssd->powered) {
        write_disown(ssd, stream);
        stream_end(ssd, stream);
        ssd_settle(ssd);
    }
}

void ssd_zone_commit(Ssd *ssd, uint64_t now_ns, uint64_t lba, uint64_t nblocks,
                     uint32_t stream)
{
    ssd_run(ssd, now_ns);
    invariant(ssd->l.zrwa_units > 0 && stream < ssd->info.host_streams);
    invariant(lba + nblocks <= ssd->info.nblocks);
    if (ssd->powered) {
        write_commit(ssd, lba >> ssd->block_shift,
                     (lba + nblocks) >> ssd->block_shift, stream);
        ssd_settle(ssd);
    }
}

int ssd_expect_reads(Ssd *ssd, uint64_t now_ns, uint64_t lba)
{
    if (lba >= ssd->info.nblocks) {
        return -EINVAL;
    }
    ssd_run(ssd, now_ns);
    if (ssd_ready(ssd)) {
        ahead_expect(ssd, lba);
        ssd_settle(ssd);
    }
    return 0;
}

int ssd_expect_writes(Ssd *ssd, uint64_t now_ns, uint64_t lba, uint64_t nblocks,
                      SsdWriteRate rate)
{
    uint64_t units = (1ULL << ssd->block_shift) - 1;

    if (lba > ssd->info.nblocks || nblocks > ssd->info.nblocks - lba) {
        return -EINVAL;
    }
    ssd_run(ssd, now_ns);
    if (ssd->powered && ssd->placement->rate) {
        bool end = lba + nblocks == ssd->info.nblocks;

        chooser_expect(ssd, (lba + units) >> ssd->block_shift,
                       end ? ssd->l.user_units
                           : (lba + nblocks) >> ssd->block_shift,
                       rate);
    }
    return 0;
}

bool ssd_can_purge(const Ssd *ssd)
{
    return purge_is_possible(ssd);
}

void ssd_purge(Ssd *ssd, uint64_t now_ns)
{
    ssd_run(ssd, now_ns);
    purge_begin(ssd);
    ssd_settle(ssd);
}

void ssd_purge_stop(Ssd *ssd)
{
    purge_stop(ssd);
}

SsdPurge ssd_purge_progress(const Ssd *ssd)
{
    const Purge *p = &ssd->gc->purge;

    return (SsdPurge){
        .on = p->mark != NULL,
        .failed = p->failed || media_cannot_program(ssd),
        .stands = nand_load(ssd->nand) == 0 && controller_at_rest(ssd) &&
                  !gc_row_waits(ssd),
        .total = p->total,
        .left = media_cannot_program(ssd) ? 0 : p->left,
    };
}

uint64_t ssd_purge_ns(const Ssd *ssd)
{
    return purge_estimate_ps(ssd) / PS_PER_NS;
}

uint64_t ssd_fill_ns(const Ssd *ssd)
{
    const NandConfig *n = &ssd->cfg->nand;
    uint64_t bytes = ssd->l.user_units * ssd->cfg->unit_bytes;
    uint64_t pages = bytes / n->page_bytes / ssd->l.n_planes + 1;

    return pages * n->t_prog_ps / PS_PER_NS;
}

bool ssd_is_empty(const Ssd *ssd)
{
    return ssd->l2p.mapped_units == 0;
}

void ssd_power_cut(Ssd *ssd, uint64_t now_ns)
{
    ssd_run(ssd, now_ns);
    power_cut(ssd, now_ns);
}

void ssd_power_on(Ssd *ssd, uint64_t now_ns)
{
    ssd_run(ssd, now_ns);
    power_return(ssd, now_ns);
    ssd_settle(ssd);
}

bool ssd_trace_open(Ssd *ssd, const char *path, const char *name,
                    GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *line = g_strdelimit(g_strdup(name), "\n\r", ' ');

    g_string_append_printf(text, "# %s\n", line);
    ssd_config_print(ssd->cfg, text);
    return recording_open(ssd, path, text, error);
}
