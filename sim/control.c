/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.c - see control.h.
 *
 * Knows the requests, and when modelled time may pass.  The drive asks before
 * each event (ssd_set_gate()), so the player knows nothing of this, and a run
 * that was paused has the results of one that was not.
 */
#include "control.h"

#include <string.h>

#include "command.h"
#include "control-socket.h"
#include "json.h"
#include "marks.h"
#include "options.h"
#include "request.h"
#include "ssd-running.h"
#include "ssd-save.h"
#include "walltime.h"

#define EVERY       256   /* events between two looks at the clock */
#define SERVE_US    10000 /* between two looks at the socket */
#define PICTURE_US  50000 /* between two pictures of a drive that waits */
#define LEAST_SPEED 1e-9
#define MOST_SPEED  1e6

/* How far a step goes. */
#define STEPS(X)                                                               \
    X(EVENT, "event")                                                          \
    X(COMMAND, "command")                                                      \
    X(GC, "gc")                                                                \
    X(POWER_CUT, "power-cut")

typedef enum Step {
#define STEP_ENUM(upper, word) STEP_##upper,
    STEPS(STEP_ENUM)
#undef STEP_ENUM
        N_STEPS,
} Step;

static const char *const step_words[] = {
#define STEP_WORD(upper, word) word,
    STEPS(STEP_WORD)
#undef STEP_WORD
};

typedef enum Mode {
    GOES,
    STEPS_ON, /* to the end of a step */
    WAITS,
} Mode;

struct SimControl {
    Ssd *ssd;
    SimLive *live;
    ControlSocket *socket;
    Marks *marks;
    const char *no_marks;
    uint64_t mark_ns[MARKS_MOST];

    Mode mode;
    Step step;
    SsdMoment from; /* where the step began */
    SsdMoment next;
    unsigned left;    /* events that pass without a look */
    int64_t serve_us; /* the next look at the socket */

    double speed; /* modelled seconds in a second of the host; 0: no limit */
    uint64_t base_ns; /* modelled time at base_us of the host */
    int64_t base_us;
};

/* ---- answers ------------------------------------------------------------- */

static char *text_of(GString *out)
{
    return g_string_free(out, FALSE);
}

static char *failed(GError *error)
{
    JsonWriter w = {.out = g_string_new(NULL)};

    json_open(&w, NULL, '{');
    json_string(&w, "error", error->message);
    json_close(&w, '}');
    g_error_free(error);
    return text_of(w.out);
}

static char *refused(const char *format, ...) G_GNUC_PRINTF(1, 2);

static char *refused(const char *format, ...)
{
    va_list ap;
    g_autofree char *line = NULL;

    va_start(ap, format);
    line = g_strdup_vprintf(format, ap);
    va_end(ap);
    return failed(g_error_new_literal(SIM_ERROR, SIM_ERROR_DRIVE, line));
}

static void marks_json(const SimControl *c, JsonWriter *w)
{
    json_open(w, "marks_ns", '[');
    for (unsigned i = 0; i < marks_n(c->marks); i++) {
        json_u64(w, NULL, c->mark_ns[i]);
    }
    json_close(w, ']');
    if (c->no_marks) {
        json_string(w, "no_marks", c->no_marks);
    }
}

/* Of the run as it is now. */
static char *state_of(const SimControl *c)
{
    static const char *const words[] = {"runs", "steps", "paused"};
    JsonWriter w = {.out = g_string_new(NULL)};

    json_open(&w, NULL, '{');
    json_string(&w, "state", words[c->mode]);
    json_u64(&w, "sim_ns", ssd_now_ns(c->ssd));
    json_u64(&w, "next_ns", c->next.at_ns);
    json_u64(&w, "commands", c->next.commands);
    json_double(&w, "speed", c->speed);
    marks_json(c, &w);
    json_close(&w, '}');
    return text_of(w.out);
}

/* ---- time ---------------------------------------------------------------- */

static void begin_pace(SimControl *c)
{
    c->base_ns = c->next.at_ns;
    c->base_us = wall_us();
}

static void hold(SimControl *c)
{
    g_autofree char *state = NULL;

    c->mode = WAITS;
    state = state_of(c);
    control_socket_late(c->socket, state);
}

static void let_go(SimControl *c)
{
    g_autofree char *state = NULL;

    c->mode = GOES;
    begin_pace(c);
    state = state_of(c);
    control_socket_late(c->socket, state);
}

static bool is_reached(const SimControl *c)
{
    switch (c->step) {
    case STEP_COMMAND:
        return c->next.commands != c->from.commands;
    case STEP_GC:
        return c->next.victims != c->from.victims;
    case STEP_POWER_CUT:
        return c->next.power_cuts != c->from.power_cuts;
    default:
        return true;
    }
}

/* Statistics were reset: the counts begin again. */
static void note_reset(SimControl *c)
{
    if (c->next.commands < c->from.commands) {
        c->from.commands = c->next.commands;
        c->from.victims = c->next.victims;
    }
}

/* Until the next event is due at this speed. */
static int64_t early_us(const SimControl *c)
{
    double due_us;

    if (c->mode != GOES || c->speed <= 0 || c->next.at_ns < c->base_ns) {
        return 0;
    }
    due_us = (double)(c->next.at_ns - c->base_ns) / (c->speed * 1000);
    return (int64_t)MIN(due_us, 1e15) - (wall_us() - c->base_us);
}

static void serve(SimControl *c, int64_t wait_us)
{
    control_socket_serve(c->socket, wait_us);
    c->serve_us = wall_us() + SERVE_US;
}

/* SsdGateFn. */
static void pass(void *opaque, const SsdMoment *next)
{
    SimControl *c = opaque;

    if (c->left > 0) {
        c->left--;
        return;
    }
    c->next = *next;
    note_reset(c);
    if (c->mode == STEPS_ON && is_reached(c)) {
        hold(c);
    }
    if (wall_us() >= c->serve_us) {
        serve(c, 0);
    }
    while ((c->mode == WAITS || early_us(c) > 0) && !stop_wanted()) {
        sim_live_look(c->live);
        serve(c, c->mode == WAITS ? PICTURE_US : MIN(early_us(c), PICTURE_US));
    }
    c->left = c->mode == GOES && c->speed <= 0 ? EVERY : 0;
}

/* ---- requests ------------------------------------------------------------ */

static char *do_state(SimControl *c, const char *word)
{
    (void)word;
    return state_of(c);
}

static char *do_pause(SimControl *c, const char *word)
{
    (void)word;
    hold(c);
    return NULL; /* hold() has told it */
}

static char *do_go(SimControl *c, const char *word)
{
    (void)word;
    let_go(c);
    return NULL;
}

static char *do_step(SimControl *c, const char *word)
{
    for (unsigned i = 0; i < N_STEPS; i++) {
        if (strcmp(word, step_words[i]) == 0) {
            c->mode = STEPS_ON;
            c->step = (Step)i;
            c->from = c->next;
            return NULL; /* at its end */
        }
    }
    return refused("step %s: allowed event, command, gc, power-cut", word);
}

static char *do_speed(SimControl *c, const char *word)
{
    char *end = NULL;
    double speed = strcmp(word, "max") == 0 ? 0 : g_ascii_strtod(word, &end);

    if (end && (end == word || *end ||
                !(speed >= LEAST_SPEED && speed <= MOST_SPEED))) {
        return refused("speed %s: allowed max, or 1e-9..1e6 modelled seconds "
                       "in a second",
                       word);
    }
    c->speed = speed;
    begin_pace(c);
    return state_of(c);
}

static char *do_mark(SimControl *c, const char *word)
{
    GError *error = NULL;
    bool again;

    (void)word;
    if (c->no_marks) {
        return refused("mark: not with %s, whose file the run writes as it "
                       "goes",
                       c->no_marks);
    }
    if (marks_n(c->marks) < MARKS_MOST) {
        c->mark_ns[marks_n(c->marks)] = ssd_now_ns(c->ssd);
    }
    if (!marks_make(c->marks, &again, &error)) {
        return failed(error);
    }
    if (again) {
        ssd_live_resume(c->ssd);
        c->mode = WAITS;
    }
    begin_pace(c);
    return state_of(c); /* to nobody, if the run came back */
}

static char *do_back(SimControl *c, const char *word)
{
    char *end;
    uint64_t mark = g_ascii_strtoull(word, &end, 10);

    if (!g_ascii_isdigit(*word) || *end || mark < 1 ||
        mark > marks_n(c->marks)) {
        return marks_n(c->marks) > 0
                   ? refused("back %s: allowed 1..%u", word, marks_n(c->marks))
                   : refused("back %s: there is no mark (mark makes one)",
                             word);
    }
    control_socket_late(c->socket, "{\"state\":\"goes back\"}");
    marks_go_back(c->marks, (unsigned)mark);
}

static char *value_of(const SimControl *c, const char *key)
{
    JsonWriter w = {.out = g_string_new(NULL)};
    GError *error = NULL;
    g_autofree char *value = ssd_get_option(c->ssd, key, &error);

    if (!value) {
        g_string_free(w.out, TRUE);
        return failed(error);
    }
    json_open(&w, NULL, '{');
    json_string(&w, "key", key);
    json_string(&w, "value", value);
    json_close(&w, '}');
    return text_of(w.out);
}

static char *do_get(SimControl *c, const char *word)
{
    return value_of(c, word);
}

static char *do_set(SimControl *c, const char *word)
{
    g_auto(GStrv) part = g_strsplit(word, "=", 2);
    GError *error = NULL;

    if (g_strv_length(part) != 2) {
        return refused("set %s: not KEY=VALUE", word);
    }
    return ssd_set_option(c->ssd, part[0], part[1], &error)
               ? value_of(c, part[0])
               : failed(error);
}

static char *do_options(SimControl *c, const char *word)
{
    JsonWriter w = {.out = g_string_new(NULL)};

    (void)word;
    json_open(&w, NULL, '{');
    ssd_running_options_json(c->ssd, &w, "options");
    json_close(&w, '}');
    return text_of(w.out);
}

static const struct {
    const char *verb;
    bool has_word;
    char *(*run)(SimControl *c, const char *word);
} requests[] = {
    {"state", false, do_state}, {"pause", false, do_pause},
    {"go", false, do_go},       {"step", true, do_step},
    {"speed", true, do_speed},  {"mark", false, do_mark},
    {"back", true, do_back},    {"get", true, do_get},
    {"set", true, do_set},      {"options", false, do_options},
};

/* ControlAnswer. */
static char *answer(void *opaque, char *line)
{
    SimControl *c = opaque;
    char *word = strchr(g_strstrip(line), ' ');

    if (!g_utf8_validate(line, -1, NULL)) {
        return refused("a request is text in UTF-8");
    }
    if (word) {
        *word++ = '\0';
        word = g_strstrip(word);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(requests); i++) {
        if (strcmp(line, requests[i].verb) != 0) {
            continue;
        }
        if (requests[i].has_word != (word && *word)) {
            return refused("%s: takes %s", line,
                           requests[i].has_word ? "a word" : "no word");
        }
        return requests[i].run(c, word);
    }
    return refused("%s: no such request; there are state, pause, go, step, "
                   "speed, mark, back, get, set, options",
                   line);
}

/* ---- begin and end ------------------------------------------------------- */

static void mark_waits(void *opaque)
{
    SimControl *c = opaque;

    control_socket_drop(c->socket);
}

static void run_ended(void *opaque)
{
    SimControl *c = opaque;

    ssd_live_release(c->ssd);
    output_release();
}

static const MarksOps marks_ops = {.waits = mark_waits, .ended = run_ended};

SimControl *sim_control_new(SimLive *live, const char *path,
                            const char *no_marks, GError **error)
{
    SimControl *c = g_new0(SimControl, 1);

    c->socket = control_socket_new(path, answer, c, error);
    if (!c->socket) {
        g_free(c);
        return NULL;
    }
    c->ssd = live->ssd;
    c->live = live;
    c->no_marks = no_marks;
    c->marks = marks_new(&marks_ops, c);
    ssd_set_gate(c->ssd, pass, c);
    return c;
}

void sim_control_end(SimControl *c)
{
    if (c) {
        ssd_set_gate(c->ssd, NULL, NULL);
        control_socket_late(c->socket, "{\"state\":\"ended\"}");
        control_socket_free(c->socket);
        marks_free(c->marks);
        g_free(c);
    }
}
