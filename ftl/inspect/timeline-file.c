/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline-file.c - records of the timeline as a Perfetto trace.
 *
 * Knows which tracks there are, and how events become packets (perfetto.h).
 * Slices of one track must not overlap: each goes to the first lane of its
 * track that is free, and a lane is a Perfetto track of its own, with the same
 * name.
 */
#include "inspect/timeline.h"
#include "perfetto.h"
#include "ssd-internal.h"

#include <stdlib.h>

/* Numbers of names; parts of the latency come after the other arguments. */
#define NAME_OF(i)     ((uint32_t)(i) + 1)
#define ARG_OF_COST(i) NAME_OF(TIMELINE_N_ARGS + (i))

typedef struct Writer {
    FILE *file;
    uint64_t n_tracks; /* uuids that are used */
    uint64_t group;    /* uuid; of the kind */
    uint64_t parent;   /* of the tracks: the group, or a die */
    uint32_t die;
    uint32_t planes_per_die;
    char name[PERFETTO_MAX_NAME]; /* of the track */
    GArray *lane;                 /* uint64_t: end of its last slice */
    GArray *uuid;                 /* uint64_t, by lane */
} Writer;

static const struct {
    const char *group, *track, *unit;
} titles[] = {
#define TITLES(upper, group, track, unit) {group, track, unit},
    TIMELINE_KINDS(TITLES)
#undef TITLES
};

/* ---- names --------------------------------------------------------------- */

static const char *const cause_names[] = {
#define CAUSE_NAME(upper, lower) #lower,
    NAND_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
};

static const char *const event_names[] = {
#define EVENT_NAME(upper, text) text,
    TIMELINE_NAMES(EVENT_NAME)
#undef EVENT_NAME
};

static const char *const arg_names[] = {
#define ARG_NAME(upper, text) text,
    TIMELINE_ARGS(ARG_NAME)
#undef ARG_NAME
#define COST_NAME(name, help) #name "_ns",
        SSD_COSTS(COST_NAME)
#undef COST_NAME
};

static void write_names(FILE *file, PerfettoNames kind, const char *const *name,
                        unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        perfetto_name(file, kind, NAME_OF(i), name[i]);
    }
}

/* ---- tracks -------------------------------------------------------------- */

static uint64_t add_track(Writer *w, uint64_t parent, uint32_t rank,
                          const char *name, const char *unit)
{
    const PerfettoTrack track = {
        .uuid = ++w->n_tracks,
        .parent = parent,
        .rank = rank,
        .name = name,
        .unit = unit,
    };

    perfetto_track(w->file, &track);
    return track.uuid;
}

/* Queues of a controller have its ID in the upper half. */
static void name_track(Writer *w, const TimelineRecord *r)
{
    const char *title = titles[r->kind].track;

    if (r->kind == TIMELINE_QUEUE && r->track >> 16) {
        g_snprintf(w->name, sizeof(w->name), "controller %u %s %u",
                   r->track >> 16, title, r->track & 0xffff);
    } else {
        g_snprintf(w->name, sizeof(w->name), "%s %u", title, r->track);
    }
}

static void begin_kind(Writer *w, const TimelineRecord *r)
{
    const char *unit = titles[r->kind].unit;

    w->group = add_track(w, 0, r->kind, titles[r->kind].group, unit);
    w->parent = w->group;
    w->die = UINT32_MAX;
}

static void begin_track(Writer *w, const TimelineRecord *r)
{
    uint32_t die = r->track / w->planes_per_die;

    g_array_set_size(w->lane, 0);
    g_array_set_size(w->uuid, 0);
    name_track(w, r);
    if (r->kind == TIMELINE_PLANE && die != w->die) {
        g_autofree char *name = g_strdup_printf("die %u", die);

        w->die = die;
        w->parent = add_track(w, w->group, die, name, NULL);
    }
}

/* The first lane that is free. */
static uint64_t lane_of(Writer *w, const TimelineRecord *r)
{
    unsigned i = 0;
    uint64_t uuid;

    while (i < w->lane->len &&
           g_array_index(w->lane, uint64_t, i) > r->from_ns) {
        i++;
    }
    if (i == w->lane->len) {
        uuid = add_track(w, w->parent, r->track, w->name, NULL);
        g_array_append_val(w->lane, r->to_ns);
        g_array_append_val(w->uuid, uuid);
    }
    g_array_index(w->lane, uint64_t, i) = r->to_ns;
    return g_array_index(w->uuid, uint64_t, i);
}

/* ---- events -------------------------------------------------------------- */

static void add(PerfettoEvent *e, uint32_t name, uint64_t value)
{
    invariant(e->n_args < PERFETTO_MAX_ARGS);
    e->arg[e->n_args++] = (PerfettoArg){.name = name, .value = value};
}

static void add_arg(PerfettoEvent *e, TimelineArg arg, uint64_t value)
{
    add(e, NAME_OF(arg), value);
}

static void add_command(PerfettoEvent *e, const TimelineRecord *r)
{
    bool has_range =
        r->name != TIMELINE_NAME_FLUSH && r->name != TIMELINE_NAME_SHUTDOWN;

    add_arg(e, TIMELINE_ARG_COMMAND, r->serial);
    if (has_range) {
        add_arg(e, TIMELINE_ARG_LBA, r->value);
        add_arg(e, TIMELINE_ARG_BLOCKS, r->number);
    }
    if (r->status) {
        add_arg(e, TIMELINE_ARG_STATUS, r->status);
    }
    for (unsigned i = 0; i < N_COSTS; i++) {
        if (r->cost_ns[i]) {
            add(e, ARG_OF_COST(i), r->cost_ns[i]);
        }
    }
}

static void add_operation(PerfettoEvent *e, const TimelineRecord *r)
{
    add_arg(e, TIMELINE_ARG_OPERATION, r->id);
    add_arg(e, TIMELINE_ARG_BLOCK, r->number);
    add_arg(e, TIMELINE_ARG_PAGE, r->value);
    if (r->serial) {
        add_arg(e, TIMELINE_ARG_COMMAND, r->serial);
    }
}

static void write_slice(Writer *w, const TimelineRecord *r)
{
    PerfettoEvent e = {
        .track = lane_of(w, r),
        .category = NAME_OF(r->category),
        .name = NAME_OF(r->name),
    };

    if (r->kind == TIMELINE_QUEUE) {
        add_command(&e, r);
    } else if (r->kind == TIMELINE_GC) {
        add_arg(&e, TIMELINE_ARG_BLOCK, r->number);
        add_arg(&e, TIMELINE_ARG_VALID, r->value);
    } else {
        add_operation(&e, r);
    }
    perfetto_slice(w->file, &e, r->from_ns, r->to_ns);
}

static void write_instant(Writer *w, const TimelineRecord *r)
{
    PerfettoEvent e = {.track = w->group, .name = NAME_OF(r->name)};

    if (r->kind == TIMELINE_LOSS) {
        add_arg(&e, TIMELINE_ARG_EVENTS, r->value);
    }
    perfetto_instant(w->file, &e, r->from_ns);
}

static void write_record(Writer *w, const TimelineRecord *r)
{
    switch ((TimelineKind)r->kind) {
    case TIMELINE_POWER:
    case TIMELINE_LOSS:
        write_instant(w, r);
        break;
    case TIMELINE_FREE:
    case TIMELINE_BUFFER:
        perfetto_count(w->file, w->group, r->from_ns, r->value);
        break;
    default:
        write_slice(w, r);
    }
}

/* ---- order --------------------------------------------------------------- */

#define COMPARE(x, y)                                                          \
    if ((x) != (y)) {                                                          \
        return (x) < (y) ? -1 : 1;                                             \
    }

/* By track, then by time.  What remains equal differs in nothing else. */
static int by_track(const void *one, const void *other)
{
    const TimelineRecord *a = one;
    const TimelineRecord *b = other;

    COMPARE(a->kind, b->kind);
    COMPARE(a->track, b->track);
    COMPARE(a->from_ns, b->from_ns);
    COMPARE(a->to_ns, b->to_ns);
    COMPARE(a->id, b->id);
    COMPARE(a->serial, b->serial);
    COMPARE(a->name, b->name);
    COMPARE(a->value, b->value);
    return 0;
}

void timeline_write(FILE *file, TimelineRecord *record, size_t n,
                    uint32_t planes_per_die)
{
    Writer w = {
        .file = file,
        .planes_per_die = planes_per_die,
        .lane = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
        .uuid = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
    };

    qsort(record, n, sizeof(*record), by_track);
    perfetto_begin(file);
    write_names(file, PERFETTO_CATEGORY, cause_names,
                G_N_ELEMENTS(cause_names));
    write_names(file, PERFETTO_EVENT, event_names, G_N_ELEMENTS(event_names));
    write_names(file, PERFETTO_ARG, arg_names, G_N_ELEMENTS(arg_names));
    for (size_t i = 0; i < n; i++) {
        const TimelineRecord *r = &record[i];

        if (i == 0 || r->kind != r[-1].kind) {
            begin_kind(&w, r);
        }
        if (i == 0 || r->kind != r[-1].kind || r->track != r[-1].track) {
            begin_track(&w, r);
        }
        write_record(&w, r);
    }
    g_array_unref(w.lane);
    g_array_unref(w.uuid);
}
