/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swarm.c - random drives under random hosts, each from one seed.
 *
 *   test-swarm [--seed N] [--runs N] [--commands N] [--bug NAME] [--file FILE]
 *              [--copies] [--dftl] [--parity] [--logs] [--zones]
 *              [--trace FILE]
 *
 * One seed picks geometry (tiny: full in a moment), times, policies, the mix of
 * commands, aborts, power cuts and the style of polling.  The line that repeats
 * a run is printed before it starts.  --file replays the seeds of a file, one a
 * line.  --bug plants a bug between the reference model and the drive: with
 * --seed that run shows how it is found; without, each seed runs in a process
 * of its own, and at least a quarter of them must find it.  --copies runs each
 * seed twice, once with copies that take the place of the drive now and then:
 * clones, and drives saved and loaded; all that is seen must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "media/media-internal.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-window.h"
#include "swarm-drive.h"
#include "swarm-zones.h"

static const char *const bug_names[REF_N_BUGS] = {
    [REF_BUG_NONE] = "none",           [REF_BUG_WRONG_UNIT] = "wrong-unit",
    [REF_BUG_LOST_TRIM] = "lost-trim", [REF_BUG_LOST_FLUSH] = "lost-flush",
    [REF_BUG_LOST_FUA] = "lost-fua",   [REF_BUG_LOST_REPORT] = "lost-report",
    [REF_BUG_LATE] = "late",
};

typedef struct Mix {
    unsigned read, write, trim, flush; /* weights */
    unsigned fua_percent;
    unsigned abort_percent;
    unsigned cut_permille;
    unsigned hot_percent; /* of commands, on a tenth of the drive */
    unsigned idle_percent;
    uint64_t max_think_ns;
    uint64_t max_idle_ns;
    uint32_t max_blocks;
    bool whole_units;
} Mix;

static gint64 opt_seed = -1;
static int opt_runs = 40;
static int opt_commands = 6000;
static char *opt_bug;
static char *opt_file;
static gboolean opt_copies;
static char *opt_trace;
static gboolean opt_logs;
static gboolean opt_dftl;
static gboolean opt_parity;
static gboolean opt_zones;
static char *opt_options;

static unsigned n_with_set; /* drives that had the options of --set */

/* ---- the host ------------------------------------------------------------ */

static void draw_mix(Prng *r, const Ref *ref, Mix *m)
{
    uint64_t sizes[] = {1, ref->unit_blocks, 4 * ref->unit_blocks,
                        64 * ref->unit_blocks};

    m->read = (unsigned)prng_below(r, 40);
    m->write = 20 + (unsigned)prng_below(r, 60);
    m->trim = (unsigned)prng_below(r, 3) * 8;
    m->flush = (unsigned)prng_below(r, 3) * 3;
    m->fua_percent = (unsigned)ONE_OF(r, 0, 0, 5, 50);
    m->abort_percent = (unsigned)ONE_OF(r, 0, 0, 3);
    m->cut_permille = (unsigned)ONE_OF(r, 0, 2, 10);
    m->hot_percent = (unsigned)ONE_OF(r, 0, 50, 90);
    m->idle_percent = (unsigned)ONE_OF(r, 0, 1, 5);
    m->max_think_ns = ONE_OF(r, 1, 3000, 100000);
    m->max_idle_ns = ONE_OF(r, 1000000, 50000000);
    m->max_blocks = (uint32_t)one_of(r, sizes, G_N_ELEMENTS(sizes));
    m->whole_units = prng_below(r, 2);
    m->max_blocks = (uint32_t)MIN(m->max_blocks, ref->info->nblocks);
}

static SsdOp draw_op(Prng *r, const Mix *m)
{
    uint64_t x = prng_below(r, m->read + m->write + m->trim + m->flush);

    if (x < m->read) {
        return SSD_OP_READ;
    }
    x -= m->read;
    if (x < m->write) {
        return SSD_OP_WRITE;
    }
    x -= m->write;
    if (x < m->trim) {
        return SSD_OP_TRIM;
    }
    return prng_below(r, 20) ? SSD_OP_FLUSH : SSD_OP_SHUTDOWN;
}

static void one_command(Ref *ref, ZoneHost *zones, Prng *r, const Mix *m)
{
    uint32_t ub = ref->unit_blocks;
    uint32_t n = 1 + (uint32_t)prng_below(r, m->max_blocks);
    uint64_t first = 0;
    uint64_t all = ref->info->nblocks;
    SsdOp op = draw_op(r, m);
    uint64_t space, lba;

    if (zones && (op == SSD_OP_WRITE || op == SSD_OP_TRIM)) {
        all = ref->info->zones.conventional;
        first = ref->info->nblocks - all;
        if (all == 0 || prng_below(r, 2)) {
            zone_host_write(zones, r, (n + ub - 1) / ub,
                            prng_below(r, 100) < m->fua_percent);
            return;
        }
        n = (uint32_t)MIN(n, all);
    }
    space = all;
    if (prng_below(r, 100) < m->hot_percent) {
        space = MAX(space / 10, n);
    }
    if (op == SSD_OP_TRIM) {
        n = (uint32_t)MIN(n * 4ULL, all);
    }
    lba = first + prng_below(r, MAX(space, n) - n + 1);
    if (m->whole_units) {
        lba -= lba % ub;
        n = (n + ub - 1) / ub * ub;
    }
    ref_do(ref, op, lba, n, prng_below(r, 100) < m->fua_percent);
}

static void pass_time(Ref *ref, Prng *r, const Mix *m)
{
    if (prng_below(r, 100) < m->idle_percent) {
        ref_pass(ref, prng_below(r, m->max_idle_ns));
    } else if (prng_below(r, 2)) {
        ref_pass(ref, prng_below(r, m->max_think_ns));
    }
}

/* Now and then the host sets a power state, idle rules or thermal limits. */
static void set_power(Ref *ref, Prng *r)
{
    const uint32_t limits[] = {300 + (uint32_t)prng_below(r, 20),
                               320 + (uint32_t)prng_below(r, 20)};
    SsdIdleRule rule[SSD_POWER_STATES] = {{0}};
    uint64_t now_ns = ref->now_ns - ref->base_ns;
    uint32_t n;

    ssd_power_states(ref->ssd, &n);
    if (n == 0 || prng_below(r, 200)) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        rule[i].state = (uint32_t)prng_below(r, n);
        rule[i].after_ns = prng_below(r, 3) * 50000;
    }
    switch (prng_below(r, 4)) {
    case 0:
        ssd_set_power_state(ref->ssd, now_ns, rule[0].state);
        break;
    case 1:
        ssd_set_idle_rules(ref->ssd, now_ns, rule);
        break;
    case 2:
        ssd_set_idle_rules(ref->ssd, now_ns, NULL);
        break;
    default:
        ssd_set_heat_limits(ref->ssd, now_ns, limits);
    }
}

/* Now and then a window of predictable latency begins. */
static void set_window(Ref *ref, Prng *r)
{
    if (ref->ssd->l.window_blocks > 0 && prng_below(r, 100) == 0) {
        ssd_set_window(ref->ssd, ref->now_ns - ref->base_ns,
                       (SsdWindow)prng_below(r, SSD_N_WINDOWS));
    }
}

static void play(Ref *ref, Prng *r, uint64_t seed)
{
    ZoneHost *zones = zone_host_new(ref);
    Prng abort_rng, power_rng, window_rng;
    Mix m;

    draw_mix(r, ref, &m);
    prng_seed(&abort_rng, seed, DRAW_ABORT);
    prng_seed(&power_rng, seed, DRAW_POWER);
    prng_seed(&window_rng, seed, DRAW_WINDOW);
    for (int i = 0; i < opt_commands; i++) {
        bool torn = false;

        one_command(ref, zones, r, &m);
        if (prng_below(r, 100) < m.abort_percent) {
            torn = ref_abort_one(ref, &abort_rng);
        }
        set_power(ref, &power_rng);
        set_window(ref, &window_rng);
        pass_time(ref, r, &m);
        if (prng_below(r, 1000) < m.cut_permille) {
            ref_power_cycle(ref);
            torn = true;
        }
        if (zones && torn) {
            zone_host_torn(zones);
        }
        if (i % 97 == 0) {
            ref_verify(ref);
        }
    }
    ref_finish(ref);
    ref_power_cycle(ref);
    ref_finish(ref);
    zone_host_free(zones);
}

/* Everything that a host sees of a run. */
typedef struct Seen {
    GArray *log;
    GString *reports;
    GString *stats;
    uint64_t n_cloned, n_loaded, n_rebased;
} Seen;

static void keep(Ref *ref, Seen *seen)
{
    JsonWriter w = {.out = g_string_new(NULL)};

    ssd_stats_json(ref->ssd, &w, NULL);
    *seen = (Seen){
        .log = g_steal_pointer(&ref->log),
        .reports = g_steal_pointer(&ref->reports),
        .stats = w.out,
        .n_cloned = ref->n_cloned,
        .n_loaded = ref->n_loaded,
        .n_rebased = ref->n_rebased,
    };
}

static void forget(Seen *seen)
{
    g_array_free(seen->log, true);
    g_string_free(seen->reports, true);
    g_string_free(seen->stats, true);
}

/* A drive dies of blocks that go bad, and of nothing else. */
static void check_life(const Ref *ref)
{
    SsdCounters c;

    ssd_get_counters(ref->ssd, &c);
    if (c.read_only && c.grown_bad_blocks == 0) {
        g_error("read-only, and no block has gone bad");
    }
}

/* A policy from outside has kept its rules. */
static void check_policies(const Ref *ref)
{
    g_autofree char *fault = ssd_policy_fault(ref->ssd);

    if (fault) {
        fprintf(stderr, "%s\n", fault);
        exit(EXIT_FAILURE);
    }
}

/* seen: NULL, or the data to fill in, with copies as often as permille says. */
static void run_and_see(uint64_t seed, RefBug bug, unsigned copies_permille,
                        Seen *seen)
{
    SsdConfig *cfg;
    Draws draws;
    Ref *ref;
    bool verbose = opt_seed >= 0;
    bool preload;

    printf("# test-swarm --seed %" PRIu64 " --commands %d --bug %s%s%s%s%s%s\n",
           seed, opt_commands, bug_names[bug],
           opt_logs   ? " --logs"
           : opt_dftl ? " --dftl"
                      : "",
           opt_parity ? " --parity" : "", opt_zones ? " --zones" : "",
           opt_options ? " --set " : "", opt_options ? opt_options : "");
    fflush(stdout);
    draws = (Draws){
        .seed = seed,
        .only_dftl = opt_dftl,
        .only_logs = opt_logs,
        .only_parity = opt_parity,
        .only_zones = opt_zones,
        .no_zones = ref_trace != NULL,
        .bug = opt_bug != NULL,
        .set = opt_options,
    };
    draws_seed(&draws);
    cfg = draw_config(&draws, verbose);
    n_with_set += draws.has_set;
    preload = prng_below(&draws.drive, 2);
    ref = ref_new(cfg, preload && !cfg->zoned);
    ref->n_streams = ref->info->zones.n ? 1 : ref->info->host_streams;
    ref->faults = ref->ssd->cfg->nand.errors || ref->ssd->media->may_fail ||
                  ref->ssd->cfg->nand.paired_pages;
    ref->bug = bug;
    ref->replace_permille = copies_permille;
    ref->recovery_rng = draws.recovery;
    if (seen) {
        ref->log = g_array_new(false, false, sizeof(SsdCompletion));
        ref->reports = g_string_new(NULL);
    }
    ref->polling = (RefPolling)prng_below(&draws.drive, REF_N_POLLINGS);
    play(ref, &draws.host, seed);
    check_life(ref);
    check_policies(ref);
    if (verbose) {
        SsdCounters c;

        ssd_get_counters(ref->ssd, &c);
        fprintf(stderr,
                "# %" PRIu64 " units, polling %d: %" PRIu64 " writes, %" PRIu64
                " programs, %" PRIu64 " erases, waf %.2f\n",
                ref->n_units, ref->polling, ref->n_completed[SSD_OP_WRITE],
                c.nand_programs, c.nand_erases, c.waf);
    }
    if (seen) {
        keep(ref, seen);
    }
    ref_free(ref);
}

/* Member by member: the bytes between them may have any value. */
static void same_log(const GArray *a, const GArray *b)
{
    g_assert_cmpuint(a->len, ==, b->len);
    for (unsigned i = 0; i < a->len; i++) {
        const SsdCompletion *x = &g_array_index(a, SsdCompletion, i);
        const SsdCompletion *y = &g_array_index(b, SsdCompletion, i);

        g_assert_cmpuint(x->tag, ==, y->tag);
        g_assert_cmpuint(x->submit_ns, ==, y->submit_ns);
        g_assert_cmpuint(x->complete_ns, ==, y->complete_ns);
        g_assert_cmpint(x->status, ==, y->status);
        g_assert_cmpuint(x->bad_lba, ==, y->bad_lba);
        g_assert_cmpmem(&x->cost, sizeof(x->cost), &y->cost, sizeof(y->cost));
    }
}

static uint64_t n_copies, n_rebased; /* in all runs */

static void run_with_copies(uint64_t seed, RefBug bug)
{
    Seen plain, copied;

    run_and_see(seed, bug, 0, &plain);
    run_and_see(seed, bug, 5, &copied);
    printf("# %" PRIu64 " times cloned, %" PRIu64 " times saved and loaded, "
           "%" PRIu64 " times set back\n",
           copied.n_cloned, copied.n_loaded, copied.n_rebased);
    n_copies += copied.n_cloned + copied.n_loaded;
    n_rebased += copied.n_rebased;
    same_log(plain.log, copied.log);
    g_assert_cmpstr(plain.reports->str, ==, copied.reports->str);
    g_assert_cmpstr(plain.stats->str, ==, copied.stats->str);
    forget(&plain);
    forget(&copied);
}

static void run(uint64_t seed, RefBug bug)
{
    if (opt_copies) {
        run_with_copies(seed, bug);
    } else {
        run_and_see(seed, bug, 0, NULL);
    }
}

/* ---- the command --------------------------------------------------------- */

static void replay(const char *path)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    GError *error = NULL;

    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    lines = g_strsplit(text, "\n", -1);
    for (char **l = lines; *l; l++) {
        if (g_ascii_isdigit(**l)) {
            run(g_ascii_strtoull(*l, NULL, 10), REF_BUG_NONE);
        }
    }
}

static RefBug find_bug(void)
{
    for (int i = 0; opt_bug && i < REF_N_BUGS; i++) {
        if (strcmp(bug_names[i], opt_bug) == 0) {
            return i;
        }
    }
    if (opt_bug) {
        g_error("--bug=%s: no such bug", opt_bug);
    }
    return REF_BUG_NONE;
}

/* true: a process of its own ran the seed and failed. */
static bool finds(uint64_t seed, RefBug bug)
{
    int status;
    pid_t child = fork();

    g_assert_cmpint(child, >=, 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) {
            _exit(EXIT_SUCCESS); /* counts as not found */
        }
        run(seed, bug);
        _exit(EXIT_SUCCESS);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS;
}

static int canary(RefBug bug)
{
    int found = 0;

    for (int i = 1; i <= opt_runs; i++) {
        found += finds((uint64_t)i, bug);
    }
    printf("# %s: %d of %d seeds found it\n", bug_names[bug], found, opt_runs);
    return found * 4 >= opt_runs ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"seed", 0, 0, G_OPTION_ARG_INT64, &opt_seed, "run this one", "N"},
        {"runs", 0, 0, G_OPTION_ARG_INT, &opt_runs, "run seeds 1..N", "N"},
        {"commands", 0, 0, G_OPTION_ARG_INT, &opt_commands, "per run", "N"},
        {"bug", 0, 0, G_OPTION_ARG_STRING, &opt_bug, "plant a bug", "NAME"},
        {"file", 0, 0, G_OPTION_ARG_FILENAME, &opt_file, "replay", "FILE"},
        {"copies", 0, 0, G_OPTION_ARG_NONE, &opt_copies,
         "and again with copies of the drive", NULL},
        {"logs", 0, 0, G_OPTION_ARG_NONE, &opt_logs,
         "each drive has a log-block map", NULL},
        {"dftl", 0, 0, G_OPTION_ARG_NONE, &opt_dftl,
         "each drive has its map in NAND", NULL},
        {"parity", 0, 0, G_OPTION_ARG_NONE, &opt_parity,
         "each drive has parity across dies, if it can", NULL},
        {"zones", 0, 0, G_OPTION_ARG_NONE, &opt_zones,
         "each drive has zones, if it can", NULL},
        {"set", 0, 0, G_OPTION_ARG_STRING, &opt_options,
         "options of each drive that can have them", "KEY=VALUE;..."},
        {"trace", 0, 0, G_OPTION_ARG_FILENAME, &opt_trace,
         "write a trace of the run (docs/traces.md)", "FILE"},
        {.long_name = NULL},
    };
    GOptionContext *ctx = g_option_context_new(NULL);
    GError *error = NULL;
    RefBug bug;

    g_option_context_add_main_entries(ctx, entries, NULL);
    g_option_context_parse(ctx, &argc, &argv, &error);
    g_assert_no_error(error);
    g_option_context_free(ctx);
    ref_trace = opt_trace;
    bug = find_bug();
    /* A failure aborts; a core file of each would help nobody. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (opt_seed >= 0) {
        run((uint64_t)opt_seed, bug);
        return EXIT_SUCCESS;
    }
    if (bug != REF_BUG_NONE) {
        return canary(bug);
    }
    if (opt_file) {
        replay(opt_file);
    }
    for (int i = 1; i <= opt_runs; i++) {
        run((uint64_t)i, REF_BUG_NONE);
    }
    if (opt_options) {
        printf("# %u runs with %s\n", n_with_set, opt_options);
        g_assert_cmpuint(n_with_set, >, 0);
    }
    g_assert_true(!opt_copies || (n_copies > 0 && (opt_logs || n_rebased > 0)));
    return EXIT_SUCCESS;
}
