/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ref.c - the reference model; see ref.h. */
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER     UINT64_MAX
#define COARSE_NS 333000

#define FAIL(...) g_error(__VA_ARGS__)
#define F64       G_GUINT64_FORMAT

/* ---- set-up -------------------------------------------------------------- */

static const char small_drive[] =
    "nand.channels=2;nand.chips=1;nand.dies=1;nand.planes=1;nand.blocks=24;"
    "nand.pages=8;nand.page_size=16KiB;nand.read=50us;nand.program=500us;"
    "nand.erase=3ms;nand.command=200ns;nand.bus_mt_s=400;ftl.unit=4KiB;"
    "ftl.op_percent=60%;buffer.size=128KiB;buffer.access=500ns;"
    "host.firmware=3us;host.link_mb_s=4096;host.queue_depth=64";

SsdConfig *ref_config(const char *options)
{
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    ssd_config_set(cfg, small_drive, &error);
    g_assert_no_error(error);
    ssd_config_set(cfg, options, &error);
    g_assert_no_error(error);
    return cfg;
}

Ssd *ref_drive(SsdConfig *cfg)
{
    GError *error = NULL;
    Ssd *ssd;

    ssd_config_set_block_bytes(cfg, 4096, &error);
    g_assert_no_error(error);
    ssd = ssd_create(cfg, NULL, NULL, &error);
    g_assert_no_error(error);
    ssd_config_free(cfg);
    return ssd;
}

static uint64_t owed_key(const Ref *r, uint64_t lpn, uint64_t version)
{
    return version * r->n_units + lpn;
}

/* true: it was owed. */
static bool settle(Ref *r, uint64_t lpn, uint64_t version)
{
    uint64_t key = owed_key(r, lpn, version);

    return g_hash_table_remove(r->owed, &key);
}

static void owe(Ref *r, uint64_t lpn, uint64_t version)
{
    uint64_t key = owed_key(r, lpn, version);

    g_hash_table_add(r->owed, g_memdup2(&key, sizeof(key)));
}

/* Within one instant it counts whether the host had fetched the completion. */
static bool over(const RefOp *y, const RefOp *x)
{
    return x->complete_ns < y->submit_ns ||
           (x->complete_ns == y->submit_ns && x->seen_seq < y->submit_seq);
}

static RefOp *op_at(Ref *r, uint64_t lpn, unsigned i)
{
    return &g_array_index(r->ops[lpn], RefOp, i);
}

/* Drop the operations that y replaces: they can never be read again. */
static void prune(Ref *r, uint64_t lpn, RefOp y)
{
    for (unsigned i = r->ops[lpn]->len; i-- > 0;) {
        if (over(&y, op_at(r, lpn, i))) {
            g_array_remove_index(r->ops[lpn], i);
        }
    }
}

static RefOp *find_write(Ref *r, uint64_t lpn, uint64_t version)
{
    for (unsigned i = 0; i < r->ops[lpn]->len; i++) {
        RefOp *op = op_at(r, lpn, i);

        if (!op->unmapped && op->version == version) {
            return op;
        }
    }
    return NULL;
}

/* ---- reports of the drive ------------------------------------------------ */

static void on_programmed(void *opaque, uint64_t lpn, uint64_t version)
{
    Ref *r = opaque;
    RefOp *op;

    if (r->bug == REF_BUG_LOST_REPORT && prng_below(&r->bug_rng, 50) == 0) {
        return;
    }
    if (r->reports) {
        g_string_append_printf(r->reports, "p%" F64 ",%" F64 " ", lpn, version);
    }
    if (!settle(r, lpn, version)) {
        FAIL("programmed(%" F64 ", %" F64 "): not a write that is owed", lpn,
             version);
    }
    if (version <= r->in_nand[lpn]) {
        FAIL("programmed(%" F64 ", %" F64 ") after version %" F64, lpn, version,
             r->in_nand[lpn]);
    }
    r->n_programmed++;
    r->in_nand[lpn] = version;
    op = find_write(r, lpn, version);
    if (op) {
        prune(r, lpn, *op);
    }
}

static void on_superseded(void *opaque, uint64_t lpn, uint64_t version)
{
    Ref *r = opaque;

    if (r->reports) {
        g_string_append_printf(r->reports, "s%" F64 ",%" F64 " ", lpn, version);
    }
    if (!settle(r, lpn, version)) {
        FAIL("superseded(%" F64 ", %" F64 "): not a write that is owed", lpn,
             version);
    }
    r->n_superseded++;
}

static const SsdHostOps host_ops = {
    .programmed = on_programmed,
    .superseded = on_superseded,
};

const char *ref_trace;

Ref *ref_new(SsdConfig *cfg, bool preload)
{
    Ref *r = g_new0(Ref, 1);
    GError *error = NULL;
    g_autofree char *complete_at = ssd_config_get(cfg, "host.complete_at");
    g_autofree char *recovery = ssd_config_get(cfg, "ftl.recovery");

    r->ssd = ssd_create(cfg, &host_ops, r, &error);
    g_assert_no_error(error);
    ssd_config_free(cfg);
    if (ref_trace) {
        ssd_trace_open(r->ssd, ref_trace, "reference", &error);
        g_assert_no_error(error);
    }
    r->info = ssd_info(r->ssd);
    r->unit_blocks = r->info->unit_bytes / r->info->block_bytes;
    r->n_units = r->info->nblocks / r->unit_blocks;
    r->always_durable = strcmp(complete_at, "program") == 0 ||
                        r->info->keeps_buffer;
    r->trims_durable = strcmp(recovery, "capacitors") == 0;
    r->ops = g_new(GArray *, r->n_units);
    r->in_nand = g_new0(uint64_t, r->n_units);
    r->flight = g_new0(RefFlight, r->info->queue_depth);
    r->owed = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    r->n_streams = 1;
    prng_seed(&r->poll_rng, 1, 77);
    prng_seed(&r->stream_rng, 1, 79);
    prng_seed(&r->bug_rng, 1, 78);
    prng_seed(&r->replace_rng, 1, 80);
    prng_seed(&r->recovery_rng, 1, 81);
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        RefOp first = {.unmapped = !preload, .durable = true};

        r->ops[lpn] = g_array_new(false, false, sizeof(RefOp));
        g_array_append_val(r->ops[lpn], first);
    }
    if (preload) {
        int ret = ssd_preload(r->ssd, 0, r->info->nblocks);

        g_assert_cmpint(ret, ==, 0);
    }
    return r;
}

void ref_free(Ref *r)
{
    ssd_destroy(r->ssd);
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        g_array_free(r->ops[lpn], true);
    }
    g_free(r->ops);
    g_free(r->in_nand);
    g_free(r->flight);
    g_hash_table_destroy(r->owed);
    if (r->log) {
        g_array_free(r->log, true);
    }
    if (r->reports) {
        g_string_free(r->reports, true);
    }
    g_free(r);
}

/* ---- copies -------------------------------------------------------------- */

static Ssd *save_and_load(Ref *r, GError **error)
{
    char *bytes = NULL;
    size_t n;
    FILE *f = open_memstream(&bytes, &n);
    Ssd *copy;
    bool ok = ssd_save(r->ssd, f, error);

    fclose(f);
    g_assert_true(ok);
    f = fmemopen(bytes, n, "rb");
    copy = ssd_load(r->ssd->cfg, &host_ops, r, f, error);
    fclose(f);
    free(bytes);
    return copy;
}

/* The present, by the drive's clock. */
static uint64_t drive_ns(const Ref *r)
{
    return r->now_ns - r->base_ns;
}

/* An instant of the drive's clock, or SSD_TIME_NEVER. */
static uint64_t from_drive(const Ref *r, uint64_t ns)
{
    return ns == SSD_TIME_NEVER ? ns : ns + r->base_ns;
}

static void set_clock_back(Ref *r)
{
    uint64_t most_ns = ssd_rebase_most_ns(r->ssd);
    uint64_t by_ns = prng_below(&r->replace_rng, most_ns + 1);
    bool ok = ssd_rebase(r->ssd, by_ns);

    g_assert_true(ok || r->ssd->inspect.recording);
    g_assert_false(ssd_rebase(r->ssd, ssd_rebase_most_ns(r->ssd) + 1));
    if (ok) {
        r->base_ns += by_ns;
        r->n_rebased += by_ns > 0;
    }
}

static void maybe_replace(Ref *r)
{
    GError *error = NULL;
    Ssd *copy;

    if (prng_below(&r->replace_rng, 1000) >= r->replace_permille) {
        return;
    }
    if (prng_below(&r->replace_rng, 2)) {
        set_clock_back(r);
    }
    if (ssd_at_rest(r->ssd)) {
        copy = save_and_load(r, &error);
        r->n_loaded++;
    } else {
        copy = ssd_clone(r->ssd, &host_ops, r, &error);
        r->n_cloned++;
    }
    g_assert_no_error(error);
    ssd_destroy(r->ssd);
    r->ssd = copy;
    r->info = ssd_info(copy);
}

/* ---- which units a command changes --------------------------------------- */

/* Writes change every unit they touch, trims those that are inside. */
static void units_of(const Ref *r, const SsdCmd *c, uint64_t *first,
                     uint64_t *end)
{
    uint64_t ub = r->unit_blocks;

    *first = 0;
    *end = 0;
    if (c->op == SSD_OP_WRITE) {
        *first = c->lba / ub;
        *end = (c->lba + c->nblocks + ub - 1) / ub;
    } else if (c->op == SSD_OP_TRIM) {
        *first = (c->lba + ub - 1) / ub;
        *end = (c->lba + c->nblocks) / ub;
    }
}

static void note_submit(Ref *r, const SsdCmd *c)
{
    RefOp op = {
        .version = c->version,
        .unmapped = c->op == SSD_OP_TRIM,
        .submit_ns = r->now_ns,
        .submit_seq = r->seq,
        .complete_ns = NEVER,
    };
    uint64_t first, end;

    units_of(r, c, &first, &end);
    for (uint64_t lpn = first; lpn < end; lpn++) {
        g_array_append_val(r->ops[lpn], op);
        if (c->op == SSD_OP_WRITE) {
            owe(r, lpn, c->version);
        }
    }
}

static RefOp *op_of(Ref *r, uint64_t lpn, uint64_t version, unsigned *index)
{
    for (unsigned i = 0; i < r->ops[lpn]->len; i++) {
        if (op_at(r, lpn, i)->version == version &&
            op_at(r, lpn, i)->complete_ns == NEVER) {
            *index = i;
            return op_at(r, lpn, i);
        }
    }
    return NULL;
}

static void note_ended(Ref *r, const SsdCmd *c, const SsdCompletion *done)
{
    uint64_t first, end;

    units_of(r, c, &first, &end);
    for (uint64_t lpn = first; lpn < end; lpn++) {
        unsigned i;
        RefOp *op = op_of(r, lpn, c->version, &i);

        if (done->status == SSD_STATUS_ABORTED ||
            done->status == SSD_STATUS_READ_ONLY) {
            g_assert_true(op || c->op == SSD_OP_TRIM);
            if (c->op == SSD_OP_WRITE && !settle(r, lpn, c->version)) {
                FAIL("aborted write of unit %" F64 " was reported", lpn);
            }
            if (op) {
                g_array_remove_index(r->ops[lpn], i);
            }
        } else if (op && done->status == SSD_STATUS_OK) {
            op->complete_ns = done->complete_ns;
            op->seen_seq = ++r->seq;
            if (c->op == SSD_OP_TRIM ? r->trims_durable
                                     : c->fua || r->always_durable) {
                op->durable = true;
                prune(r, lpn, *op);
            }
        }
    }
}

/* Every write that had completed when the flush was submitted is durable. */
static void note_flushed(Ref *r, const RefFlight *flush)
{
    const RefOp barrier = {
        .submit_ns = flush->submit_ns,
        .submit_seq = flush->submit_seq,
    };

    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        for (unsigned i = 0; i < r->ops[lpn]->len; i++) {
            RefOp *op = op_at(r, lpn, i);
            uint64_t key = owed_key(r, lpn, op->version);

            if (!over(&barrier, op)) {
                continue;
            }
            op->durable = true;
            if (!op->unmapped && g_hash_table_contains(r->owed, &key)) {
                FAIL("unit %" F64 " version %" F64
                     " is still in the buffer after a flush",
                     lpn, op->version);
            }
        }
    }
}

/* A write that completes as durable is reported first, or a newer one is. */
static void check_durable_write(Ref *r, const SsdCmd *c)
{
    uint64_t first, end;

    units_of(r, c, &first, &end);
    for (uint64_t lpn = first; lpn < end; lpn++) {
        uint64_t key = owed_key(r, lpn, c->version);

        if (g_hash_table_contains(r->owed, &key)) {
            FAIL("unit %" F64 " version %" F64
                 " completed as durable but was not reported",
                 lpn, c->version);
        }
    }
}

/* ---- submission --------------------------------------------------------- */

static void plant(Ref *r, SsdCmd *c)
{
    bool now_and_then = prng_below(&r->bug_rng, 40) == 0;

    switch (r->bug) {
    case REF_BUG_WRONG_UNIT:
        if (c->op == SSD_OP_WRITE && now_and_then && c->lba >= r->unit_blocks) {
            c->lba -= r->unit_blocks;
        }
        break;
    case REF_BUG_LOST_TRIM:
        if (c->op == SSD_OP_TRIM && now_and_then) {
            c->op = SSD_OP_READ;
        }
        break;
    case REF_BUG_LOST_FLUSH:
        if (c->op == SSD_OP_FLUSH) {
            c->op = SSD_OP_READ;
            c->nblocks = 1;
        }
        break;
    case REF_BUG_LOST_FUA:
        c->fua = false;
        break;
    default:
        break;
    }
}

static uint64_t free_tag(const Ref *r)
{
    uint64_t tag = 0;

    while (tag < r->info->queue_depth && r->flight[tag].used) {
        tag++;
    }
    return tag;
}

/* Streams change no data: the reference knows nothing of them. */
static void draw_stream(Ref *r, SsdCmd *c)
{
    c->stream = r->stream;
    c->close = c->op == SSD_OP_FLUSH && r->close;
    c->inside = r->inside;
    if (r->n_streams > 1) {
        c->stream = (uint16_t)prng_below(&r->stream_rng, r->n_streams);
        c->close = c->op == SSD_OP_FLUSH && prng_below(&r->stream_rng, 4) == 0;
        if (prng_below(&r->stream_rng, 200) == 0 && ssd_powered(r->ssd)) {
            ssd_stream_close(r->ssd, drive_ns(r), c->stream);
        }
    }
}

int ref_submit(Ref *r, SsdOp op, uint64_t lba, uint32_t nblocks, bool fua)
{
    SsdCmd c = {
        .op = op,
        .lba = lba,
        .nblocks = nblocks,
        .fua = fua,
        .in_cmb = r->in_cmb,
        .version = r->version + 1,
        .tag = free_tag(r),
    };
    SsdCmd sent = c;
    int ret;

    if (c.tag == r->info->queue_depth) {
        return -EBUSY; /* as far as we know: not fetched yet */
    }
    maybe_replace(r);
    draw_stream(r, &sent);
    sent.erase = r->erase && op == SSD_OP_TRIM;
    c.close = sent.close;
    plant(r, &sent);
    ret = ssd_submit(r->ssd, drive_ns(r), &sent);
    if (ret == -ENODEV && r->faults) {
        r->stopped = true; /* a rule cut the power */
    }
    if (ret == 0) {
        r->version++;
        r->flight[c.tag] = (RefFlight){.used = true,
                                       .cmd = c,
                                       .submit_ns = r->now_ns,
                                       .submit_seq = ++r->seq};
        r->n_flying++;
        note_submit(r, &c);
    }
    return ret;
}

/* ---- completions --------------------------------------------------------- */

static void check_cost(const SsdCompletion *c)
{
    const uint64_t *part = (const uint64_t *)&c->cost;
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof(c->cost) / sizeof(*part); i++) {
        sum += part[i];
    }
    if (sum != c->complete_ns - c->submit_ns) {
        FAIL("tag %" F64 ": latency %" F64 ", its parts sum to %" F64, c->tag,
             c->complete_ns - c->submit_ns, sum);
    }
}

static void complete(Ref *r, const SsdCompletion *c)
{
    RefFlight *f = &r->flight[c->tag];

    if (c->tag >= r->info->queue_depth || !f->used) {
        FAIL("completion of tag %" F64 ", which is not in flight", c->tag);
    }
    if (c->submit_ns != f->submit_ns || c->complete_ns < c->submit_ns ||
        c->complete_ns > r->now_ns || c->complete_ns < r->last_complete_ns) {
        FAIL("tag %" F64 " submitted at %" F64 " (it says %" F64
             "), complete at %" F64 ", last %" F64 ", now %" F64,
             c->tag, f->submit_ns, c->submit_ns, c->complete_ns,
             r->last_complete_ns, r->now_ns);
    }
    check_cost(c);
    if (c->status != (f->aborted ? SSD_STATUS_ABORTED : SSD_STATUS_OK) &&
        c->status != SSD_STATUS_POWER_LOSS && !r->faults) {
        FAIL("tag %" F64 ": status %d", c->tag, (int)c->status);
    }
    r->last_complete_ns = c->complete_ns;
    f->used = false;
    r->n_flying--;
    r->n_completed[f->cmd.op]++;
    note_ended(r, &f->cmd, c);
    if (c->status != SSD_STATUS_OK) {
        return;
    }
    if ((f->cmd.op == SSD_OP_FLUSH && !f->cmd.close) ||
        f->cmd.op == SSD_OP_SHUTDOWN) {
        note_flushed(r, f);
    }
    if (f->cmd.op == SSD_OP_WRITE && (f->cmd.fua || r->always_durable)) {
        check_durable_write(r, &f->cmd);
    }
}

void ref_collect(Ref *r)
{
    SsdCompletion done[7];
    GError *error = NULL;
    size_t n;

    do {
        n = ssd_advance(r->ssd, drive_ns(r), done, G_N_ELEMENTS(done));
        for (size_t i = 0; i < n; i++) {
            done[i].submit_ns += r->base_ns;
            done[i].complete_ns += r->base_ns;
            if (r->bug == REF_BUG_LATE) {
                done[i].cost.firmware_ns++;
            }
            if (r->log) {
                g_array_append_val(r->log, done[i]);
            }
            complete(r, &done[i]);
        }
    } while (n == G_N_ELEMENTS(done));
    if (!ssd_check_wakes(r->ssd, &error)) {
        FAIL("at %" F64 ": %s", r->now_ns, error->message);
    }
}

/* Move to an instant, or to where the run is to stop; false: it stops. */
static bool go_to(Ref *r, uint64_t ns)
{
    if (r->stop_ns && ns >= r->stop_ns) {
        r->now_ns = r->stop_ns;
        r->stopped = true;
        return false;
    }
    r->now_ns = ns;
    if (r->instants) {
        g_array_append_val(r->instants, ns);
    }
    return true;
}

/* The next instant at which this style of polling looks, at most end_ns. */
static uint64_t next_look(Ref *r, uint64_t end_ns)
{
    uint64_t next_ns;

    switch (r->polling) {
    case REF_POLL_EXACT:
        next_ns = from_drive(r, ssd_next_event_ns(r->ssd));
        break;
    case REF_POLL_EVENTS:
        next_ns =
            eventq_next_ps(&r->ssd->events) == SIM_NEVER
                ? end_ns
                : from_drive(r, sim_ceil_ns(eventq_next_ps(&r->ssd->events)));
        break;
    case REF_POLL_COARSE:
        next_ns = (r->now_ns / COARSE_NS + 1) * COARSE_NS;
        break;
    case REF_POLL_RANDOM:
        next_ns = r->now_ns + prng_below(&r->poll_rng, 200000);
        break;
    default:
        next_ns = end_ns;
        break;
    }
    return CLAMP(next_ns, r->now_ns, end_ns);
}

void ref_pass(Ref *r, uint64_t ns)
{
    uint64_t end_ns = r->now_ns + ns;

    while (r->now_ns < end_ns && !r->stopped) {
        if (!go_to(r, next_look(r, end_ns))) {
            return;
        }
        if (r->polling != REF_POLL_NEVER) {
            ref_collect(r);
        }
    }
}

/* Until a command completes, or the run stops. */
static void wait_one(Ref *r)
{
    uint32_t n = r->n_flying;

    g_assert_cmpuint(n, >, 0);
    ref_collect(r);
    while (r->n_flying == n) {
        uint64_t next_ns = from_drive(r, ssd_next_event_ns(r->ssd));

        if (next_ns == SSD_TIME_NEVER) {
            FAIL("%u commands are in flight and nothing will happen", n);
        }
        if (r->now_ns > 1000 * NS_PER_S * 1000) {
            FAIL("%u commands do not complete", n);
        }
        if (!go_to(r, MAX(r->now_ns, next_ns))) {
            return;
        }
        ref_collect(r);
    }
}

void ref_do(Ref *r, SsdOp op, uint64_t lba, uint32_t nblocks, bool fua)
{
    int ret = -EBUSY;

    while (!r->stopped &&
           (ret = ref_submit(r, op, lba, nblocks, fua)) == -EBUSY) {
        wait_one(r);
    }
    g_assert_true(ret == 0 || r->stopped);
}

void ref_drain(Ref *r)
{
    ref_collect(r);
    while (r->n_flying > 0 && !r->stopped) {
        wait_one(r);
    }
}

SsdCompletion ref_one(Ref *r, SsdOp op, uint64_t lba, uint32_t nblocks,
                      bool fua)
{
    g_autoptr(GArray) log = g_array_new(false, false, sizeof(SsdCompletion));
    GArray *old = r->log;

    g_assert_cmpuint(r->n_flying, ==, 0);
    r->log = log;
    ref_do(r, op, lba, nblocks, fua);
    ref_drain(r);
    r->log = old;
    g_assert_cmpuint(log->len, ==, 1);
    return g_array_index(log, SsdCompletion, 0);
}

bool ref_abort_one(Ref *r, Prng *rng)
{
    uint64_t tag = prng_below(rng, r->info->queue_depth);

    if (!r->flight[tag].used || r->flight[tag].aborted) {
        return false;
    }
    if (!ssd_abort(r->ssd, drive_ns(r), tag)) {
        return false;
    }
    r->flight[tag].aborted = true;
    return true;
}

/* ---- verification -------------------------------------------------------- */

static G_GNUC_NORETURN void wrong_unit(Ref *r, uint64_t lpn, bool mapped,
                                       uint64_t version, const char *why)
{
    g_autoptr(GString) s = g_string_new(NULL);

    for (unsigned i = 0; i < r->ops[lpn]->len; i++) {
        const RefOp *op = op_at(r, lpn, i);

        g_string_append_printf(
            s,
            "\n  %s version %" F64 ", submitted %" F64 ", complete %" F64 "%s",
            op->unmapped ? "trim" : "write", op->version, op->submit_ns,
            op->complete_ns, op->durable ? ", durable" : "");
    }
    FAIL("unit %" F64 " is %s, version %" F64 " (in NAND %" F64 ") at %" F64
         ": %s%s",
         lpn, mapped ? "mapped" : "unmapped", version, r->in_nand[lpn],
         r->now_ns, why, s->str);
}

/* May op be the contents of the unit?  After a cut only durable ones are over.
 */
static bool allowed(Ref *r, uint64_t lpn, const RefOp *op, bool after_cut)
{
    for (unsigned i = 0; i < r->ops[lpn]->len; i++) {
        const RefOp *y = op_at(r, lpn, i);

        if (over(y, op) && y->complete_ns != NEVER &&
            (y->durable || !after_cut)) {
            return false;
        }
    }
    return true;
}

/* The operation that the unit shows; aborts if it may not show it. */
static const RefOp *check_unit(Ref *r, uint64_t lpn, bool after_cut)
{
    uint64_t version;
    bool mapped = ssd_mapped(r->ssd, lpn * r->unit_blocks, &version);
    bool known = false;

    for (unsigned i = 0; i < r->ops[lpn]->len; i++) {
        const RefOp *op = op_at(r, lpn, i);

        if (op->unmapped == mapped || (mapped && op->version != version)) {
            continue;
        }
        known = true;
        if (allowed(r, lpn, op, after_cut)) {
            return op;
        }
    }
    wrong_unit(r, lpn, mapped, version,
               known ? "it was overwritten" : "nobody wrote that");
}

void ref_verify(Ref *r)
{
    GError *error = NULL;

    if (!ssd_check(r->ssd, &error)) {
        FAIL("ssd_check at %" F64 ": %s", r->now_ns, error->message);
    }
    ref_collect(r);
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        check_unit(r, lpn, false);
    }
}

void ref_finish(Ref *r)
{
    uint32_t n_streams = r->n_streams;

    ref_drain(r);
    ref_verify(r);
    r->n_streams = 1; /* all of them: no flush of one */
    ref_do(r, SSD_OP_FLUSH, 0, 0, false);
    r->n_streams = n_streams;
    ref_drain(r);
    ref_verify(r);
    if (g_hash_table_size(r->owed) != 0 && !ssd_read_only(r->ssd)) {
        FAIL("%u units of writes were never reported",
             g_hash_table_size(r->owed));
    }
}

/* The unit may hold only its present contents from now on: no older version. */
static void settle_unit(Ref *r, uint64_t lpn)
{
    RefOp found = *check_unit(r, lpn, true);

    if (!found.unmapped && found.version != r->in_nand[lpn]) {
        wrong_unit(r, lpn, true, found.version,
                   "not what was last reported as programmed");
    }
    found.durable = true;
    found.submit_ns = r->now_ns;
    found.complete_ns = r->now_ns;
    found.submit_seq = found.seen_seq = ++r->seq;
    g_array_set_size(r->ops[lpn], 0);
    g_array_append_val(r->ops[lpn], found);
}

/* Time passes until the drive is ready; in recovery the power may go again. */
static void wait_ready(Ref *r)
{
    if (r->recovery_cuts == 0 && prng_below(&r->recovery_rng, 4) == 0) {
        r->recovery_cuts = 1 + (unsigned)prng_below(&r->recovery_rng, 300);
    }
    while (!ssd_ready(r->ssd)) {
        uint64_t next_ns = from_drive(r, ssd_next_event_ns(r->ssd));
        GError *error = NULL;

        if (!ssd_powered(r->ssd)) {
            r->now_ns++;
            ssd_power_on(r->ssd, drive_ns(r));
            continue;
        }
        g_assert_cmpuint(next_ns, !=, SSD_TIME_NEVER);
        r->now_ns = MAX(r->now_ns, next_ns);
        ref_collect(r);
        r->recovery_looks++;
        if (r->recovery_cuts > 0 && --r->recovery_cuts == 0) {
            ssd_power_cut(r->ssd, drive_ns(r));
            if (!ssd_check(r->ssd, &error)) {
                FAIL("ssd_check, cut in recovery: %s", error->message);
            }
        }
    }
    r->recovery_cuts = 0;
}

void ref_power_cycle(Ref *r)
{
    GError *error = NULL;
    SsdCmd any = {.op = SSD_OP_FLUSH};

    ssd_power_cut(r->ssd, drive_ns(r));
    ref_collect(r);
    maybe_replace(r);
    if (r->n_flying > 0) {
        FAIL("%u commands did not end with the power", r->n_flying);
    }
    g_assert_cmpint(ssd_submit(r->ssd, drive_ns(r), &any), ==, -ENODEV);
    if (!ssd_check(r->ssd, &error)) {
        FAIL("ssd_check without power: %s", error->message);
    }
    r->now_ns += 1000;
    ssd_power_on(r->ssd, drive_ns(r));
    g_hash_table_remove_all(r->owed);
    wait_ready(r);
    if (!ssd_check(r->ssd, &error)) {
        FAIL("ssd_check after power on: %s", error->message);
    }
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        settle_unit(r, lpn);
    }
}

/* ---- scripted faults ----------------------------------------------------- */

char *ref_faults_file(const char *text)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("vssd-faults-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return g_steal_pointer(&path);
}
