/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windows.c - one trace in windows that are played side by side.
 *
 * Knows requests, processes and how results are added; knows nothing about what
 * happens in the drive.
 */
#include "windows.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pass.h"
#include "request.h"
#include "ssd-report.h"
#include "ssd-sums.h"
#include "walltime.h"

/* What the process of a window tells, before the members of the drive. */
typedef struct Part {
    uint64_t n_outside;
    uint64_t cpu_ns;
    uint64_t peak_rss_bytes;
    uint64_t host_bytes, nand_bytes;
    WindowsSeam seam;
    PlayerResult result;
} Part;

/* A window that is being played. */
typedef struct Playing {
    pid_t pid; /* 0: none */
    FILE *file;
    uint64_t number;
} Playing;

/* Of a window, once it has been played. */
typedef struct Played {
    uint64_t begin_ns; /* arrival of its first request, since the run's start */
    SteadyMark mark;   /* of it alone */
} Played;

typedef struct Run {
    Windows *w;
    Array *array;
    const PlayerConfig *player;
    const RequestSource *source;
    Player *blocks; /* for player_blocks() */
    Pass *pass;
    Request *request; /* overlap, window, overlap: n of them */
    uint64_t n;
    uint64_t n_before; /* of these, of the overlap before the window */
    uint64_t n_own;
    bool source_ended;
    Playing *playing; /* of cfg.jobs */
    GArray *played;   /* Played, by number */
} Run;

/* ---- values -------------------------------------------------------------- */

static double excess(double a, double of)
{
    return of > 0 ? a / of - 1 : 0;
}

double windows_mean_error(const Windows *w)
{
    return excess(hist_mean(&w->seam.overlap), hist_mean(&w->seam.end));
}

double windows_quantile_error(const Windows *w, uint32_t ppm)
{
    return excess((double)hist_quantile(&w->seam.overlap, ppm),
                  (double)hist_quantile(&w->seam.end, ppm));
}

double windows_pass_share(const Windows *w)
{
    double n = (double)w->result.n_requests;
    double whole = (double)w->play_cpu_ns * n / (n + (double)w->n_outside);

    return whole > 0 ? (double)w->pass_cpu_ns / whole : 0;
}

void windows_free(Windows *w)
{
    if (w) {
        stat_sums_free(w->drive);
        g_free(w);
    }
}

/* ---- the process of a window --------------------------------------------- */

typedef struct Child {
    const Run *run;
    uint64_t at; /* next request */
    uint64_t base_ns;
    uint64_t n_left; /* of the window, that have not ended */
    StatSums *drive;
    Part part;
} Child;

static Child *child; /* a process plays one window */

/* Requests behind the last one of the window are needed as long as it waits. */
static bool window_has_ended(void)
{
    return child->n_left == 0;
}

static uint8_t place_of(const Run *run, uint64_t i)
{
    uint64_t half = run->w->cfg.overlap / 2;
    uint64_t end = run->n_before + run->n_own;

    if (i < run->n_before) {
        return WINDOW_OUTSIDE | (i >= run->n_before - half ? WINDOW_SEAM : 0);
    }
    if (i >= end) {
        return WINDOW_OUTSIDE;
    }
    return run->n > end && i >= end - half ? WINDOW_SEAM : 0;
}

static RequestNext child_next(void *opaque, Request *req, GError **error)
{
    Child *c = opaque;

    (void)error;
    if (c->at == c->run->n) {
        return REQUEST_END;
    }
    *req = c->run->request[c->at];
    req->at_ns -= c->base_ns;
    req->window = place_of(c->run, c->at++);
    return REQUEST_OK;
}

/* The whole trace has been looked at, so no message needs it. */
static char *child_where(void *opaque)
{
    (void)opaque;
    return g_strdup("a window");
}

static void child_done(void *opaque, const PlayerDone *d)
{
    Child *c = opaque;
    bool outside = d->req->window & WINDOW_OUTSIDE;
    WindowsSeam *seam = &c->part.seam;

    if (d->req->window & WINDOW_SEAM) {
        hist_add(outside ? &seam->overlap : &seam->end,
                 d->completion->complete_ns - d->req->at_ns);
    }
    c->part.n_outside += outside;
    c->n_left -= !outside;
}

static void child_gather(void *opaque)
{
    Child *c = opaque;
    SsdWritten w;

    array_get_written(c->run->array, &w);
    c->part.host_bytes = w.host_bytes;
    c->part.nand_bytes = w.nand_bytes;
    c->drive = stat_sums_new();
    ssd_stats_gather(array_drive(c->run->array, 0), c->drive);
}

static bool child_play(Child *c, GError **error)
{
    const Run *run = c->run;
    Ssd *ssd = array_drive(run->array, 0);
    RequestSource source = {
        .next = child_next, .where = child_where, .opaque = c};
    PlayerConfig cfg = {
        .wrap = run->player->wrap,
        .done = child_done,
        .window_ends = child_gather,
        .done_opaque = c,
        .stopped = window_has_ended,
    };
    Player *p = player_new_array(run->array, &cfg);

    if (!player_run(p, &source, error)) {
        return false;
    }
    if (!c->drive) {
        child_gather(c);
    }
    c->part.result = *player_result(p);
    c->part.cpu_ns = cpu_ns() - c->part.cpu_ns;
    c->part.peak_rss_bytes = peak_rss_bytes();
    if (ssd_read_only(ssd)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                    "the drive is read-only: %" G_GUINT64_FORMAT
                    " requests failed",
                    c->part.result.n_errors);
        return false;
    }
    return true;
}

/* The length of a message that follows, 0 without; or the results. */
static void child_tell(const Child *c, const GError *error, FILE *out)
{
    uint32_t n = error ? (uint32_t)strlen(error->message) : 0;
    bool ok = fwrite(&n, sizeof(n), 1, out) == 1;

    if (n) {
        ok = ok && fwrite(error->message, n, 1, out) == 1;
    } else {
        ok = ok && fwrite(&c->part, sizeof(c->part), 1, out) == 1 &&
             stat_sums_write(c->drive, out);
    }
    _exit(ok && fflush(out) == 0 ? 0 : 1);
}

/* Does not return.  The parent ends it when a signal comes. */
static void child_main(const Run *run, FILE *out, pid_t parent)
{
    g_autoptr(GError) error = NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    child = g_new0(Child, 1);
    child->run = run;
    child->n_left = run->n_own;
    child->base_ns = run->n_before ? run->request[0].at_ns : 0;
    child->part.cpu_ns = cpu_ns();
    hist_init(&child->part.seam.end);
    hist_init(&child->part.seam.overlap);
    child_play(child, &error);
    child_tell(child, error, out);
}

/* ---- adding results ------------------------------------------------------ */

static void add_result(PlayerResult *to, const PlayerResult *from)
{
#define ADD_COUNTER(id, path, unit, help) to->id += from->id;
#define NO_COUNTER(...)
    RUN_STATS(ADD_COUNTER, NO_COUNTER)
#undef ADD_COUNTER
#undef NO_COUNTER
    for (unsigned i = 0; i < PLAYER_N_STATUS; i++) {
        to->n_status[i] += from->n_status[i];
    }
    for (unsigned i = 0; i < SSD_N_OPS; i++) {
        to->bytes[i] += from->bytes[i];
        hist_merge(&to->latency[i], &from->latency[i]);
    }
}

static SteadyMark mark_of(const Part *part)
{
    SteadyMark m = {
        .n_requests = part->result.n_requests,
        .sim_ns = part->result.sim_ns,
        .written_bytes = part->result.bytes[SSD_OP_WRITE],
        .host_bytes = part->host_bytes,
        .nand_bytes = part->nand_bytes,
    };

    for (unsigned i = 0; i < SSD_N_OPS; i++) {
        m.latency_ns += (double)part->result.latency[i].sum;
    }
    return m;
}

/* Windows end in any order. */
static bool add_part(Run *run, const Playing *k, const Part *part,
                     const StatSums *drive)
{
    Windows *w = run->w;
    Played *played = &g_array_index(run->played, Played, k->number);
    uint64_t end_ns = played->begin_ns + part->result.sim_ns;

    add_result(&w->result, &part->result);
    w->result.sim_ns = MAX(w->result.sim_ns, end_ns);
    w->n_outside += part->n_outside;
    w->play_cpu_ns += part->cpu_ns;
    w->peak_rss_bytes = MAX(w->peak_rss_bytes, part->peak_rss_bytes);
    w->host_bytes += part->host_bytes;
    w->nand_bytes += part->nand_bytes;
    hist_merge(&w->seam.end, &part->seam.end);
    hist_merge(&w->seam.overlap, &part->seam.overlap);
    played->mark = mark_of(part);
    w->n++;
    return stat_sums_add(w->drive, drive, k->number + 1 == run->played->len);
}

static bool window_failed(const Playing *k, const char *why, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                "window %" G_GUINT64_FORMAT ": %s", k->number + 1, why);
    return false;
}

static bool take_message(const Playing *k, uint32_t n, GError **error)
{
    g_autofree char *message = g_malloc0((size_t)n + 1);

    return window_failed(k,
                         fread(message, n, 1, k->file) == 1
                             ? message
                             : "its process told no result",
                         error);
}

static bool take_part(Run *run, const Playing *k, GError **error)
{
    g_autofree Part *part = g_new(Part, 1);
    g_autoptr(StatSums) drive = NULL;
    uint32_t n;

    rewind(k->file);
    if (fread(&n, sizeof(n), 1, k->file) != 1) {
        return window_failed(k, "its process told no result", error);
    }
    if (n) {
        return take_message(k, n, error);
    }
    if (fread(part, sizeof(*part), 1, k->file) == 1) {
        drive = stat_sums_read(k->file);
    }
    return (drive && add_part(run, k, part, drive)) ||
           window_failed(k, "its result is incomplete", error);
}

/* ---- processes ----------------------------------------------------------- */

static bool is_stopped(const Run *run)
{
    return run->player->stopped && run->player->stopped();
}

static bool stopped(const Run *run, GError **error)
{
    if (is_stopped(run)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                    "stopped before all windows were played: there are no "
                    "results");
    }
    return is_stopped(run);
}

static Playing *find_playing(const Run *run, pid_t pid)
{
    for (unsigned i = 0; i < run->w->cfg.jobs; i++) {
        if (run->playing[i].pid == pid) {
            return &run->playing[i];
        }
    }
    return NULL;
}

static bool take_ended(Run *run, Playing *k, int status, GError **error)
{
    bool ok;

    if (WIFSIGNALED(status)) {
        g_autofree char *why = g_strdup_printf(
            "its process was ended by signal %d", WTERMSIG(status));

        ok = window_failed(k, why, error);
    } else {
        ok = WEXITSTATUS(status) == 0
                 ? take_part(run, k, error)
                 : window_failed(k, "its process could not tell its result",
                                 error);
    }
    g_clear_pointer(&k->file, fclose);
    k->pid = 0;
    return ok;
}

/* Wait for one of the windows. */
static bool wait_for_one(Run *run, GError **error)
{
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    Playing *k = pid > 0 ? find_playing(run, pid) : NULL;

    if (stopped(run, error)) {
        return false;
    }
    return !k || take_ended(run, k, status, error);
}

static bool some_play(const Run *run)
{
    for (unsigned i = 0; i < run->w->cfg.jobs; i++) {
        if (run->playing[i].pid > 0) {
            return true;
        }
    }
    return false;
}

static void end_processes(Run *run)
{
    for (unsigned i = 0; i < run->w->cfg.jobs; i++) {
        Playing *k = &run->playing[i];

        if (k->pid > 0) {
            kill(k->pid, SIGKILL);
            while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR) {
            }
        }
        g_clear_pointer(&k->file, fclose);
    }
}

static bool cannot_start(GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                "cannot start the process of a window: %s", g_strerror(errno));
    return false;
}

/* Play the window that stands in run->request. */
static bool start_window(Run *run, GError **error)
{
    Played played = {.begin_ns = run->request[run->n_before].at_ns};
    pid_t parent = getpid();
    Playing *k;

    while (!(k = find_playing(run, 0))) {
        if (!wait_for_one(run, error)) {
            return false;
        }
    }
    k->file = tmpfile();
    if (!k->file) {
        return cannot_start(error);
    }
    k->number = run->played->len;
    g_array_append_val(run->played, played);
    k->pid = fork();
    if (k->pid == 0) {
        child_main(run, k->file, parent);
    }
    if (k->pid < 0) {
        k->pid = 0;
        return cannot_start(error);
    }
    return true;
}

/* ---- the pass ------------------------------------------------------------ */

static bool of_one_stream(const Request *r, GError **error)
{
    if (r->stream) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--window: the trace writes to stream %u, and the pass "
                    "without time knows only stream 0 (--stream-map=0,0...)",
                    r->stream);
    }
    return r->stream == 0;
}

/* Is the next request read?  false with *error: it is wrong. */
static bool read_request(Run *run, Request *r, GError **error)
{
    const RequestSource *s = run->source;
    SsdCmd cmd;

    switch (s->next(s->opaque, r, error)) {
    case REQUEST_ERROR:
        return false;
    case REQUEST_OK:
        if (!s->runtime_ns || r->at_ns < s->runtime_ns) {
            return of_one_stream(r, error) &&
                   player_blocks(run->blocks, s, r, &cmd, error);
        }
        /* fall through */
    default:
        run->source_ended = true;
        return true;
    }
}

/* Read a window, and an overlap behind it.  false: *error. */
static bool read_window(Run *run, GError **error)
{
    const WindowsConfig *cfg = &run->w->cfg;
    uint64_t most = run->n_before + cfg->requests + cfg->overlap;

    while (run->n < most && !run->source_ended) {
        if (!read_request(run, &run->request[run->n], error)) {
            return false;
        }
        run->n += !run->source_ended;
    }
    run->n_own = MIN(run->n - run->n_before, cfg->requests);
    return true;
}

/* To where the overlap of the next window begins. */
static bool pass_on(Run *run, GError **error)
{
    uint64_t end = run->n_before + run->n_own;
    uint64_t before = MIN(end, run->w->cfg.overlap);
    uint64_t first = end - before;

    for (uint64_t i = 0; i < first; i++) {
        const Request *r = &run->request[i];
        SsdCmd cmd;

        if (pass_needs(r->op) &&
            (!player_blocks(run->blocks, run->source, r, &cmd, error) ||
             !pass_take(run->pass, &cmd, error))) {
            return false;
        }
    }
    progress_add(run->player->progress, first);
    run->n -= first;
    run->n_before = before;
    memmove(run->request, run->request + first, run->n * sizeof(Request));
    return pass_end(run->pass, error);
}

/* Without a window after the last request. */
static bool start_windows(Run *run, GError **error)
{
    bool more = true;

    while (more) {
        if (!read_window(run, error) || stopped(run, error)) {
            return false;
        }
        more = run->n > run->n_before + run->n_own;
        if ((run->n_own && !start_window(run, error)) ||
            (more && !pass_on(run, error))) {
            return false;
        }
    }
    return true;
}

static bool play_windows(Run *run, GError **error)
{
    if (!start_windows(run, error)) {
        return false;
    }
    run->w->pass_cpu_ns = cpu_ns() - run->w->pass_cpu_ns;
    while (some_play(run)) {
        if (!wait_for_one(run, error)) {
            return false;
        }
    }
    return true;
}

/* The windows are the rounds of the run. */
static void make_rounds(const Run *run)
{
    Rounds *rounds = &run->w->result.rounds;
    SteadyMark now = {.n_requests = 0};

    rounds_begin(rounds, run->w->cfg.requests, UINT64_MAX, &now);
    for (guint i = 0; i < run->played->len; i++) {
        const Played *p = &g_array_index(run->played, Played, i);
        bool whole = p->mark.n_requests == run->w->cfg.requests;

        now.n_requests += p->mark.n_requests;
        now.sim_ns = p->begin_ns + p->mark.sim_ns;
        now.written_bytes += p->mark.written_bytes;
        now.host_bytes += p->mark.host_bytes;
        now.nand_bytes += p->mark.nand_bytes;
        now.latency_ns += p->mark.latency_ns;
        if (whole && rounds_due(rounds, now.n_requests, now.written_bytes)) {
            rounds_end(rounds, &now);
        }
    }
}

Windows *windows_play(const WindowsConfig *cfg, Array *array,
                      const PlayerConfig *player, const RequestSource *source,
                      GError **error)
{
    Windows *w = g_new0(Windows, 1);
    Run run = {
        .w = w,
        .array = array,
        .player = player,
        .source = source,
        .blocks = player_new_array(array, player),
        .pass = pass_new(array_drive(array, 0)),
        .request = g_new(Request, cfg->requests + 2 * cfg->overlap),
        .playing = g_new0(Playing, cfg->jobs),
        .played = g_array_new(FALSE, TRUE, sizeof(Played)),
    };
    bool ok;

    w->cfg = *cfg;
    w->drive = stat_sums_new();
    hist_init(&w->seam.end);
    hist_init(&w->seam.overlap);
    for (unsigned i = 0; i < SSD_N_OPS; i++) {
        hist_init(&w->result.latency[i]);
    }
    w->pass_cpu_ns = cpu_ns();
    ok = play_windows(&run, error);
    end_processes(&run);
    make_rounds(&run);
    player_free(run.blocks);
    pass_free(run.pass);
    g_free(run.request);
    g_free(run.playing);
    g_array_free(run.played, TRUE);
    if (!ok) {
        g_clear_pointer(&w, windows_free);
    }
    return w;
}
