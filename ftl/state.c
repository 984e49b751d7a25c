/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.c - a drive as a stream of bytes, and back: save, load, clone.
 *
 * The one place that walks everything a drive consists of.  Each struct that is
 * not plain data has its members listed as rows (core/state.h), all of them: a
 * test finds one that is missing.  Structs in tables (Slot, Block, Cmd...) go
 * as they are and must hold no pointer.
 *
 * A walk takes whatever there is, commands in flight included: that is a clone.
 * A stream that is kept holds a drive at rest (ssd_at_rest()), which a reader
 * can check (state-check.c); docs/state.md has the rule.
 */
#include "ftl.h"
#include "saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state-check.h"

#define MAGIC "VSSDSTAT"
#define OLD_MAGIC "VSSDSTA1" /* had no version */
#define BYTE_ORDER_MARK 0x0102030405060708ULL
#define MOST_TEXT (1U << 20)

/* How many of what there is. */
enum {
    N_MAP_UNITS,
    N_GROUP_WORDS,
    N_RAW_UNITS,
    N_USER_UNITS,
    N_PAGES,
    N_DOUBTS,
    N_SAVED,
    N_SAVED_FLIGHTS,
    N_SAVED_FLYING,
    N_VALID_WORDS,
    N_BLOCKS,
    N_HOT,
    N_LOGICAL_BLOCKS,
    N_LOG_BLOCKS,
    N_PLANES,
    N_PLANE_WORDS,
    N_OPENS,
    N_CHANNELS,
    N_DIES,
    N_SLOTS,
    N_STREAMS,
    N_HISTS,
    N_CORES,
    N_WAITERS,
    N_EPOCHS,
    N_KEPT,
    N_JOBS,
    N_JOB_UNITS,
    N_CMDS,
    N_META_READS,
    N_BUSY,
    N_EVENTS,
    N_COUNTS,
};

#define VALUE(m)    STATE_VALUE_ROW(Ssd, m)
#define KEPT(m)     STATE_KEPT_ROW(Ssd, m)
#define TABLE(m, n) STATE_TABLE_ROW(Ssd, m, n)
#define POOL(m, n)  STATE_POOL_ROW(Ssd, m, n)

static const StateRow ssd_rows[] = {
    KEPT(cfg),
    KEPT(l),
    KEPT(info),
    KEPT(host),
    KEPT(opaque),
    KEPT(gc),
    KEPT(alloc),
    KEPT(buf),
    KEPT(mapper),
    KEPT(events), /* these four have rows of their own */
    KEPT(nand),
    KEPT(geo),
    KEPT(faults),
    KEPT(may_fail),
    VALUE(cut_due),
    VALUE(read_only),
    VALUE(given_up),
    KEPT(free_for_gc),
    VALUE(n_factory_bad),
    VALUE(n_grown_bad),
    VALUE(now_ps),
    KEPT(rebased_ns),
    VALUE(power_on),
    VALUE(submitted),
    VALUE(preload_next),
    VALUE(preload_left),
    KEPT(unit_shift),
    KEPT(block_shift),
    KEPT(page_units_shift),
    KEPT(first_unit_parts),
    KEPT(trim_shift),
    TABLE(map, N_MAP_UNITS),
    TABLE(group_used, N_GROUP_WORDS),
    TABLE(trim_left, N_GROUP_WORDS),
    VALUE(n_trim_left),
    VALUE(trims),
    TABLE(spare_lpn, N_RAW_UNITS),
    TABLE(spare_version, N_RAW_UNITS),
    TABLE(spare_stream, N_RAW_UNITS),
    TABLE(spare_seq, N_PAGES),
    VALUE(prog_seq),
    TABLE(floor, N_USER_UNITS),
    TABLE(saved, N_USER_UNITS),
    TABLE(saved_page, N_SAVED),
    TABLE(saved_flight, N_SAVED_FLIGHTS),
    TABLE(saved_flying, N_SAVED_FLYING),
    TABLE(saved_open, N_PLANES),
    VALUE(saved_low),
    POOL(doubt, N_DOUBTS),
    VALUE(saved_queue),
    VALUE(recovery),
    TABLE(recovery_plane, N_PLANES),
    TABLE(valid, N_VALID_WORDS),
    VALUE(mapped_units),
    POOL(meta_read, N_META_READS),
    VALUE(n_meta_reads),
    VALUE(free_meta_read),
    VALUE(meta_version),
    KEPT(map_data), /* MapPolicy.state */
    KEPT(map_bytes),
    TABLE(data_block, N_LOGICAL_BLOCKS),
    TABLE(log_of, N_LOGICAL_BLOCKS),
    TABLE(log_block, N_LOG_BLOCKS),
    VALUE(merge_stats),
    TABLE(block, N_BLOCKS),
    KEPT(plane), /* has rows of its own */
    KEPT(age_trees), /* worked out anew, and so are the next four */
    KEPT(stripe_means),
    KEPT(wear),
    KEPT(wear_order),
    KEPT(wear_size),
    TABLE(accepting, N_PLANE_WORDS),
    KEPT(stripe_plane),
    KEPT(stripe_pos),
    VALUE(stripe_cursor),
    KEPT(row_first),
    VALUE(alloc_chosen),
    VALUE(alloc_waits_for),
    VALUE(channel_token),
    TABLE(chip_token, N_CHANNELS),
    TABLE(die_token, N_DIES),
    TABLE(plane_token, N_DIES),
    VALUE(alloc_rng),
    VALUE(gc_rng),
    TABLE(hot_count, N_HOT),
    VALUE(hot_writes),
    TABLE(mate, N_BLOCKS),
    TABLE(stripe_serial, N_OPENS),
    TABLE(stripe_block, N_OPENS),
    KEPT(unit_called), /* counted anew, and so is the next */
    KEPT(held_first),
    KEPT(gc_called), /* these two are false, but during a call */
    KEPT(gc_alone),
    VALUE(n_starved),
    VALUE(pump_waits),
    TABLE(slot, N_SLOTS),
    KEPT(n_slot_records),
    VALUE(free_slot),
    VALUE(n_free_slots),
    VALUE(n_released),
    VALUE(n_unsafe),
    VALUE(n_dirty),
    VALUE(n_must),
    TABLE(stream, N_STREAMS),
    VALUE(stream_cursor),
    KEPT(dirty_streams), /* follows from the streams */
    VALUE(mixed_pages),
    VALUE(list),
    KEPT(policy_data), /* BufferPolicy.state */
    VALUE(n_evicting),
    VALUE(n_victims),
    VALUE(n_promised),
    KEPT(dram_unit_ps),
    KEPT(dram_move_ps),
    VALUE(early),
    VALUE(background),
    TABLE(history, N_BLOCKS),
    VALUE(powered_ns),
    VALUE(powered_since_ps),
    VALUE(last_version),
    POOL(waiter, N_WAITERS),
    VALUE(n_waiters),
    VALUE(free_waiter),
    POOL(epoch, N_EPOCHS),
    VALUE(epoch_mask),
    VALUE(first_epoch),
    VALUE(cur_epoch),
    VALUE(tick_armed),
    POOL(kept, N_KEPT),
    VALUE(n_kept),
    POOL(job, N_JOBS),
    POOL(job_unit, N_JOB_UNITS),
    VALUE(n_jobs),
    VALUE(free_job),
    VALUE(redo),
    POOL(cmd, N_CMDS),
    VALUE(n_cmds),
    VALUE(free_cmd),
    VALUE(last_serial),
    VALUE(running),
    VALUE(waiting),
    VALUE(done),
    VALUE(link_in_ps),
    VALUE(link_out_ps),
    VALUE(dram_in_ps),
    VALUE(dram_free_ps),
    TABLE(core_ps, N_CORES),
    KEPT(link_num),
    KEPT(link_den),
    VALUE(stall_ps),
    VALUE(stalled_since_ps),
    TABLE(latency, N_HISTS),
    VALUE(counters),
    VALUE(buffer_stats),
    VALUE(background_stats),
    VALUE(nand_base),
    POOL(busy_base, N_BUSY),
    VALUE(stats_since_ps),
    VALUE(gc_copied_units),
    VALUE(gc_victims),
    VALUE(gc_victim_units),
    VALUE(gc_victim_valid),
    VALUE(gc_stripes),
    VALUE(gc_stripe_blocks),
    VALUE(series),
    VALUE(buffer_series),
    VALUE(padded_units),
    KEPT(log),
    KEPT(age), /* empty, but during ssd_age() */
    KEPT(recording),
};

#undef VALUE
#undef KEPT
#undef TABLE
#undef POOL

enum {
    PLANE_OPEN,
    PLANE_BUCKETS,
    PLANE_STAGED,
    PLANE_CLASSES,
    PLANE_ORIGINS,
    N_PLANE_COUNTS,
};

#define VALUE(m)    STATE_VALUE_ROW(Plane, m)
#define TABLE(m, n) STATE_TABLE_ROW(Plane, m, n)

static const StateRow plane_rows[] = {
    VALUE(free_head),
    VALUE(free_tail),
    VALUE(n_free),
    VALUE(slc_free_head),
    VALUE(slc_free_tail),
    VALUE(n_slc_free),
    VALUE(slc_full_head),
    VALUE(slc_full_tail),
    VALUE(host_programs),
    VALUE(erases),
    VALUE(valid),
    VALUE(meta_valid),
    VALUE(meta_programs),
    VALUE(meta_wait),
    TABLE(open, PLANE_OPEN),
    VALUE(n_host_open),
    VALUE(oldest),
    VALUE(newest),
    VALUE(clock),
    TABLE(bucket, PLANE_BUCKETS),
    VALUE(min_valid),
    TABLE(staged, PLANE_STAGED),
    TABLE(staged_of, PLANE_CLASSES),
    VALUE(gc),
    VALUE(spare_blocks),
    VALUE(slack_units),
    VALUE(gc_low_blocks),
    VALUE(gc_high_blocks),
    VALUE(gc_soft_blocks),
    VALUE(most_erased),
    VALUE(least_erased),
    VALUE(wear_due),
    VALUE(scanned),
    VALUE(n_retiring),
    VALUE(n_folding),
    VALUE(last_gc_block),
    VALUE(accepting),
    VALUE(starved),
    VALUE(logs),
    TABLE(origin, PLANE_ORIGINS),
};

#undef VALUE
#undef TABLE

static const StateRow event_rows[] = {
    STATE_POOL_ROW(EventQueue, heap, N_EVENTS),
    STATE_VALUE_ROW(EventQueue, n),
    STATE_KEPT_ROW(EventQueue, capacity),
    STATE_VALUE_ROW(EventQueue, next_seq),
};

/* Of a script of faults: what has happened so far, not the rules' text. */
enum {
    N_RULES,
    N_FAULT_COUNTS,
};

static const StateRow fault_rows[] = {
    STATE_TABLE_ROW(Faults, rule, N_RULES),
    STATE_VALUE_ROW(Faults, n_rules),
    STATE_KEPT_ROW(Faults, lba_rule),
    STATE_KEPT_ROW(Faults, n_lba_rules),
    STATE_VALUE_ROW(Faults, n_ops),
    STATE_VALUE_ROW(Faults, n_cmds),
};

#define STRUCT(type, rows) {#type, rows, G_N_ELEMENTS(rows), sizeof(type)}

static const StateStruct ssd_struct = STRUCT(Ssd, ssd_rows);
static const StateStruct plane_struct = STRUCT(Plane, plane_rows);
static const StateStruct event_struct = STRUCT(EventQueue, event_rows);
static const StateStruct fault_struct = STRUCT(Faults, fault_rows);

const StateStruct *ssd_state_struct(unsigned i)
{
    static const StateStruct *const own[] = {
        &ssd_struct, &plane_struct, &event_struct, &fault_struct,
        &dftl_struct, &cmt_struct,
    };

    if (i < G_N_ELEMENTS(own)) {
        return own[i];
    }
    i -= G_N_ELEMENTS(own);
    for (const BufferPolicy *const *p = buffer_policies; *p; p++) {
        if ((*p)->rows && i-- == 0) {
            return (*p)->rows;
        }
    }
    return nand_state_struct(i);
}

/* ---- what it was saved with --------------------------------------------------- */

/*
 * Options that say how long things take, and others that leave no mark on what
 * is saved.  A drive may go on with other ones.
 */
static bool may_differ(const char *key)
{
    static const char *const names[] = {
        "seed", "faults", "ftl.gc", "ftl.gc_choices", "ftl.gc_window",
        "ftl.map_prefetch",
        "buffer.word", "buffer.mb_s", "host.pcie_gen", "host.pcie_lanes",
        "host.link_mb_s", "nand.schedule", "nand.history", "nand.bus_mt_s",
        "nand.bus_width", "nand.interface",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(key, names[i]) == 0) {
            return true;
        }
    }
    return ssd_config_is_time(key);
}

static bool same_option(State *s, const SsdConfig *cfg, const char *line)
{
    g_auto(GStrv) part = g_strsplit(line, "=", 2);
    g_autofree char *now = part[0] ? ssd_config_get(cfg, part[0]) : NULL;

    if (!now || !part[1]) {
        return state_fail(s, "it is damaged, or of another version of vssd");
    }
    if (strcmp(now, part[1]) != 0 && !may_differ(part[0])) {
        return state_fail(s, "it was saved with %s, this drive has %s=%s: "
                          "%.40s must be the same",
                          line, part[0], now, part[0]);
    }
    return true;
}

/* An option that came after the stream was written: it was then as the default is,
 * and must be so now. */
static bool new_option(State *s, const SsdConfig *defaults, char **saved,
                       const char *line)
{
    g_auto(GStrv) part = g_strsplit(line, "=", 2);
    g_autofree char *start = g_strconcat(part[0], "=", NULL);
    g_autofree char *value = NULL;

    for (char **l = saved; *l; l++) {
        if (g_str_has_prefix(*l, start)) {
            return true;
        }
    }
    if (s->version == s->newest) {
        return state_fail(s, "it is damaged: it does not say %.40s", part[0]);
    }
    value = ssd_config_get(defaults, part[0]);
    if (!value || strcmp(value, part[1]) == 0 || may_differ(part[0])) {
        return true;
    }
    return state_fail(s, "it was saved before there was %.40s, this drive has "
                      "%.80s: %.40s=%.40s is what it was saved with",
                      part[0], line, part[0], value);
}

/* Every option, as text; and the size of logical blocks. */
static bool walk_config(State *s, const SsdConfig *cfg)
{
    g_autoptr(GString) own = g_string_new(NULL);
    g_autofree char *text = NULL;
    g_auto(GStrv) line = NULL;
    uint64_t block_bytes = cfg->block_bytes;

    ssd_config_print(cfg, own);
    text = s->loading ? NULL : g_strdup(own->str);
    if (!state_text(s, &text, MOST_TEXT) || !state_u64(s, &block_bytes)) {
        return false;
    }
    if (block_bytes != cfg->block_bytes) {
        return state_fail(s, "it was saved with logical blocks of %" PRIu64
                          " bytes, this drive has %u",
                          block_bytes, cfg->block_bytes);
    }
    if (strcmp(text, own->str) == 0) {
        return true;
    }
    line = g_strsplit(text, "\n", -1);
    for (char **l = line; *l; l++) {
        if (**l && !same_option(s, cfg, *l)) {
            return false;
        }
    }
    if (s->loading) {
        SsdConfig *defaults = ssd_config_new();
        g_auto(GStrv) mine = g_strsplit(own->str, "\n", -1);

        for (char **l = mine; *l && !s->error; l++) {
            if (**l) {
                new_option(s, defaults, line, *l);
            }
        }
        ssd_config_free(defaults);
    }
    return !s->error;
}

static bool walk_head(State *s, const SsdConfig *cfg)
{
    char magic[8];
    uint64_t order = BYTE_ORDER_MARK;

    memcpy(magic, MAGIC, sizeof(magic));
    if (!state_bytes(s, magic, sizeof(magic)) || !state_u64(s, &order)) {
        return false;
    }
    if (memcmp(magic, OLD_MAGIC, sizeof(magic)) == 0) {
        return state_fail(s, "it was saved before states had versions; such "
                          "files cannot be loaded any more");
    }
    if (memcmp(magic, MAGIC, sizeof(magic)) != 0) {
        return state_fail(s, "it is no saved drive (vssd-sim --save-state and "
                          "vssd age make one)");
    }
    if (order != BYTE_ORDER_MARK) {
        return state_fail(s, "it was saved on a machine of other byte order");
    }
    return state_version(s) && walk_config(s, cfg);
}

/* ---- the walk -------------------------------------------------------------------- */

static bool walk_planes(State *s, Ssd *ssd)
{
    const uint64_t counts[N_PLANE_COUNTS] = {
        [PLANE_OPEN] = ssd->l.n_open,
        [PLANE_BUCKETS] = ssd->l.units_per_block + 1,
        [PLANE_STAGED] = plane_staged_room(ssd),
        [PLANE_CLASSES] = ssd->l.n_gc_classes,
        [PLANE_ORIGINS] = ssd->l.units_per_block,
    };

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!state_values(s, &plane_struct, &ssd->plane[i]) ||
            !state_tables(s, &plane_struct, &ssd->plane[i], counts)) {
            return false;
        }
    }
    return true;
}

static bool walk_events(State *s, EventQueue *q)
{
    uint64_t counts[N_COUNTS] = {0};

    if (!state_values(s, &event_struct, q)) {
        return false;
    }
    counts[N_EVENTS] = q->n;
    if (!state_tables(s, &event_struct, q, counts)) {
        return false;
    }
    if (s->loading) {
        q->capacity = MAX(q->n, 64);
        q->heap = g_renew(Event, q->heap, q->capacity);
    }
    return true;
}

/* Another script, or none, begins at its beginning. */
static bool walk_faults(State *s, Ssd *ssd, bool *same)
{
    Faults none = {.rule = NULL};
    Faults *f = ssd->faults ? ssd->faults : &none;
    Faults saved = *f;
    uint64_t counts[N_FAULT_COUNTS];
    g_autofree char *text = s->loading ? NULL : g_strdup(ssd->cfg->faults);

    if (!s->loading && !text) {
        text = g_strdup("");
    }
    if (!state_text(s, &text, MOST_TEXT) ||
        !state_values(s, &fault_struct, &saved)) {
        return false;
    }
    *same = strcmp(text, ssd->cfg->faults ? ssd->cfg->faults : "") == 0 &&
            saved.n_rules == f->n_rules;
    counts[N_RULES] = saved.n_rules;
    saved.rule = *same ? f->rule : NULL;
    if (!state_tables(s, &fault_struct, &saved, counts)) {
        return false;
    }
    if (*same) {
        *f = saved;
    }
    return true;
}

static void count(const Ssd *ssd, bool busy, uint64_t *n)
{
    const NandGeometry *g = ssd->geo;

    n[N_MAP_UNITS] = ssd->l.user_units + ssd->l.meta_units;
    n[N_GROUP_WORDS] = trim_words(ssd);
    n[N_RAW_UNITS] = ssd->l.raw_units;
    n[N_USER_UNITS] = ssd->l.user_units;
    n[N_PAGES] = g->n_pages;
    n[N_DOUBTS] = ssd->recovery.n_doubts;
    n[N_SAVED] = ssd->l.n_saved;
    n[N_SAVED_FLIGHTS] = ssd->l.n_saved_flights;
    n[N_SAVED_FLYING] = (uint64_t)ssd->l.n_saved_flights * ssd->l.saved_units;
    n[N_VALID_WORDS] = ssd->l.raw_units / 64 + 1;
    n[N_BLOCKS] = g->n_blocks;
    n[N_HOT] = ssd->l.n_hot;
    n[N_LOGICAL_BLOCKS] = (uint64_t)ssd->l.n_planes * ssd->l.logical_blocks;
    n[N_LOG_BLOCKS] = (uint64_t)ssd->l.n_planes * ssd->l.log_blocks;
    n[N_PLANES] = ssd->l.n_planes;
    n[N_PLANE_WORDS] = ssd->l.n_planes / 64 + 1;
    n[N_OPENS] = (uint64_t)ssd->l.n_planes * ssd->l.n_open;
    n[N_CHANNELS] = g->n_channels;
    n[N_DIES] = g->n_dies;
    n[N_SLOTS] = ssd->n_slot_records;
    n[N_STREAMS] = ssd->l.n_streams + 1;
    n[N_HISTS] = SSD_N_OPS + 1;
    n[N_CORES] = MAX(ssd->cfg->cores, 1);
    n[N_WAITERS] = ssd->n_waiters;
    n[N_EPOCHS] = (uint64_t)ssd->epoch_mask + 1;
    n[N_KEPT] = ssd->n_kept;
    n[N_JOBS] = ssd->n_jobs;
    n[N_JOB_UNITS] = (uint64_t)ssd->n_jobs * ssd->l.units_per_program;
    n[N_CMDS] = ssd->n_cmds;
    n[N_META_READS] = ssd->n_meta_reads;
    n[N_BUSY] = busy ? g->n_channels + g->n_dies + g->n_planes : 0;
}

static bool walk_policy(State *s, Ssd *ssd)
{
    g_assert(!ssd->policy_data == !ssd->buf->state);
    return !ssd->buf->state || ssd->buf->state(ssd, s);
}

/* A reader without versions skips those that there are. */
static bool walk_versions(State *s, const Ssd *ssd)
{
    uint64_t there = ssd->spare_version != NULL;

    return state_u64(s, &there) &&
           (there || !ssd->spare_version ||
            state_fail(s, "it was saved without versions, which this use of the "
                       "drive needs"));
}

static bool walk(State *s, Ssd *ssd)
{
    uint64_t counts[N_COUNTS];
    uint64_t busy = ssd->busy_base != NULL;
    bool same_faults = true;

    if (!walk_head(s, ssd->cfg) || !walk_versions(s, ssd) ||
        !state_values(s, &ssd_struct, ssd) || !state_u64(s, &busy)) {
        return false;
    }
    count(ssd, busy, counts);
    if (!state_tables(s, &ssd_struct, ssd, counts) || !walk_planes(s, ssd) ||
        !walk_policy(s, ssd) ||
        (ssd->mapper->state && !ssd->mapper->state(ssd, s)) ||
        !walk_events(s, &ssd->events) ||
        !walk_faults(s, ssd, &same_faults) || !nand_state(ssd->nand, s)) {
        return false;
    }
    if (s->loading) {
        age_trees_forget(ssd);
        stripe_means_forget(ssd);
        wear_forget(ssd);
        stream_note_slots(ssd);
        unit_count(ssd);
    }
    if (!same_faults) {
        faulty_rearm(ssd);
    }
    return true;
}

/* ---- the calls of ssd.h ------------------------------------------------------------ */

uint64_t ssd_now_ns(const Ssd *ssd)
{
    return ssd->now_ps / PS_PER_NS;
}

uint64_t ssd_last_version(const Ssd *ssd)
{
    return ssd->last_version;
}

static bool jobs_at_rest(const Ssd *ssd)
{
    for (uint32_t j = 0; j < ssd->n_jobs; j++) {
        if (ssd->job[j].active) {
            return false;
        }
    }
    return true;
}

bool ssd_at_rest(const Ssd *ssd)
{
    return ssd->running == 0 && ssd->done.head == NONE &&
           nand_load(ssd->nand) == 0 && jobs_at_rest(ssd) &&
           !ssd->recovery.on && ssd->saved_queue.n_flying == 0 &&
           (!saves(ssd) || ssd->saved_queue.held_head == NONE);
}

bool ssd_rest(Ssd *ssd, uint64_t most_ns)
{
    uint64_t end_ns = ssd_now_ns(ssd) + most_ns;

    while (!ssd_at_rest(ssd)) {
        uint64_t next_ps = eventq_next_ps(&ssd->events);

        if (ssd->done.head != NONE || next_ps == SIM_NEVER ||
            sim_ceil_ns(next_ps) > end_ns) {
            return false;
        }
        ssd_run(ssd, sim_ceil_ns(next_ps));
    }
    return true;
}

bool ssd_save(const Ssd *ssd, FILE *out, GError **error)
{
    State s;

    if (!ssd_at_rest(ssd)) {
        g_set_error_literal(error, STATE_ERROR, 0,
                            ssd->given_up
                                ? "the drive has failed, with data that it "
                                  "cannot program in its buffer"
                                : "commands are in flight");
        return false;
    }
    state_begin(&s, out, false);
    walk(&s, (Ssd *)ssd); /* saving changes nothing */
    return state_end(&s, error);
}

static Ssd *load(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                 FILE *in, GError **error)
{
    Ssd *ssd = ssd_create(cfg, host, opaque, error);
    State s;

    if (!ssd) {
        return NULL;
    }
    state_begin(&s, in, true);
    walk(&s, ssd);
    if (!state_end(&s, error)) {
        ssd_destroy(ssd);
        return NULL;
    }
    return ssd;
}

Ssd *ssd_load(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
              FILE *in, GError **error)
{
    Ssd *ssd = load(cfg, host, opaque, in, error);

    if (ssd && !ssd_state_check(ssd, error)) {
        ssd_destroy(ssd);
        return NULL;
    }
    if (ssd) {
        ssd_rebase_loaded(ssd);
    }
    return ssd;
}

Ssd *ssd_clone(const Ssd *ssd, const SsdHostOps *host, void *opaque,
               GError **error)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&bytes, &n);
    Ssd *copy = NULL;
    State s;
    bool ok;

    g_assert(file);
    state_begin(&s, file, false);
    walk(&s, (Ssd *)ssd);
    ok = state_end(&s, error);
    fclose(file);
    if (ok) {
        file = fmemopen(bytes, n, "rb");
        g_assert(file);
        copy = load(ssd->cfg, host, opaque, file, error);
        fclose(file);
    }
    free(bytes);
    return copy;
}
