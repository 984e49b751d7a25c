/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.c - the events of a timeline, one by one: their tracks, instants and
 * numbers, the window, the ring; and what a test of the file
 * (tests/scripts/test_timeline.py) cannot reach: power cuts, a clock that is
 * set back, an operation log beside it.
 *
 * Times are those of ref-times.h.
 */
#include <glib/gstdio.h>

#include "inspect/timeline.h"
#include "ref-times.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define EVENT_SLICE_BEGIN 1
#define EVENT_SLICE_END   2
#define EVENT_INSTANT     3
#define EVENT_COUNTER     4

/* ---- a reader of the wire format ----------------------------------------- */

typedef struct Field {
    uint64_t number;
    uint64_t value; /* of a varint; else 0 */
    GString bytes;  /* of a message; not owned */
} Field;

static uint64_t varint(GString *from)
{
    uint64_t v = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t)*from->str;

        g_assert_cmpuint(from->len, >, 0);
        from->str++;
        from->len--;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return v;
        }
    }
}

static bool next(GString *from, Field *f)
{
    uint64_t key;

    if (!from->len) {
        return false;
    }
    key = varint(from);
    *f = (Field){.number = key >> 3};
    if ((key & 7) == 0) {
        f->value = varint(from);
        return true;
    }
    g_assert_cmpuint(key & 7, ==, 2);
    f->bytes.len = varint(from);
    f->bytes.str = from->str;
    g_assert_cmpuint(f->bytes.len, <=, from->len);
    from->str += f->bytes.len;
    from->len -= f->bytes.len;
    return true;
}

typedef struct Events {
    unsigned n[TIMELINE_N_NAMES]; /* by name: slices and instants */
    uint64_t first_ns[TIMELINE_N_NAMES];
    uint64_t last_ns;
} Events;

static void add_event(Events *all, GString event, uint64_t at_ns)
{
    uint64_t type = 0, name = 0;
    Field f;

    while (next(&event, &f)) {
        type = f.number == 9 ? f.value : type;
        name = f.number == 10 ? f.value : name;
    }
    all->last_ns = MAX(all->last_ns, at_ns);
    if (type == EVENT_SLICE_BEGIN || type == EVENT_INSTANT) {
        g_assert_cmpuint(name, >=, 1);
        g_assert_cmpuint(name, <=, TIMELINE_N_NAMES);
        if (all->n[name - 1]++ == 0) {
            all->first_ns[name - 1] = at_ns;
        }
    }
}

static void add_packet(Events *all, GString packet)
{
    GString event = {.str = NULL};
    uint64_t at_ns = 0;
    Field f;

    while (next(&packet, &f)) {
        at_ns = f.number == 8 ? f.value : at_ns;
        event = f.number == 11 ? f.bytes : event;
    }
    if (event.str) {
        add_event(all, event, at_ns);
    }
}

static Events read_events(const char *path)
{
    g_autofree char *text = NULL;
    Events all = {.last_ns = 0};
    GString file = {.str = NULL};
    Field f;

    g_assert_true(g_file_get_contents(path, &text, &file.len, NULL));
    file.str = text;
    while (next(&file, &f)) {
        g_assert_cmpuint(f.number, ==, 1);
        add_packet(&all, f.bytes);
    }
    return all;
}

/* ---- all that is in a file ----------------------------------------------- */

#define MOST_TRACKS 64
#define NO_ARG      UINT64_MAX

/* A slice, an instant, or a counter's value (arg[0]). */
typedef struct Item {
    uint64_t type;
    uint64_t track; /* uuid */
    uint64_t name, category;
    uint64_t from_ns, to_ns;
    uint64_t arg[TIMELINE_N_ARGS];
} Item;

typedef struct Story {
    GArray *item; /* Item */
    char *track[MOST_TRACKS];
    uint64_t parent[MOST_TRACKS];
} Story;

static void add_note(Item *e, GString note)
{
    uint64_t name = 0, value = 0;
    Field f;

    while (next(&note, &f)) {
        name = f.number == 1 ? f.value : name;
        value = f.number == 3 ? f.value : value;
    }
    if (name <= TIMELINE_N_ARGS) {
        e->arg[name - 1] = value;
    }
}

static void add_item(Story *s, GString event, uint64_t at_ns)
{
    Item e = {.from_ns = at_ns, .to_ns = at_ns};
    Field f;

    memset(e.arg, 0xff, sizeof(e.arg));
    while (next(&event, &f)) {
        e.category = f.number == 3 ? f.value - 1 : e.category;
        e.type = f.number == 9 ? f.value : e.type;
        e.name = f.number == 10 ? f.value - 1 : e.name;
        e.track = f.number == 11 ? f.value : e.track;
        if (f.number == 4) {
            add_note(&e, f.bytes);
        } else if (f.number == 30) {
            e.arg[0] = f.value;
        }
    }
    if (e.type == EVENT_SLICE_END) { /* right behind its begin */
        g_array_index(s->item, Item, s->item->len - 1).to_ns = at_ns;
    } else {
        g_array_append_val(s->item, e);
    }
}

static void add_track(Story *s, GString track)
{
    uint64_t uuid = 0, parent = 0;
    char *name = NULL;
    Field f;

    while (next(&track, &f)) {
        uuid = f.number == 1 ? f.value : uuid;
        parent = f.number == 5 ? f.value : parent;
        name = f.number == 2 ? g_strndup(f.bytes.str, f.bytes.len) : name;
    }
    g_assert_cmpuint(uuid, <, MOST_TRACKS);
    s->track[uuid] = name;
    s->parent[uuid] = parent;
}

static Story read_story(const char *path)
{
    Story s = {.item = g_array_new(FALSE, FALSE, sizeof(Item))};
    g_autofree char *text = NULL;
    GString file = {.str = NULL};
    Field packet, f;

    g_assert_true(g_file_get_contents(path, &text, &file.len, NULL));
    file.str = text;
    while (next(&file, &packet)) {
        uint64_t at_ns = 0;

        while (next(&packet.bytes, &f)) {
            at_ns = f.number == 8 ? f.value : at_ns;
            if (f.number == 11) {
                add_item(&s, f.bytes, at_ns);
            } else if (f.number == 60) {
                add_track(&s, f.bytes);
            }
        }
    }
    return s;
}

static void story_free(Story *s)
{
    g_array_unref(s->item);
    for (unsigned i = 0; i < MOST_TRACKS; i++) {
        g_free(s->track[i]);
    }
}

static const char *group_of(const Story *s, const Item *e)
{
    uint64_t uuid = e->track;

    while (s->parent[uuid]) {
        uuid = s->parent[uuid];
    }
    return s->track[uuid];
}

/* The k-th of that name, or of the counter's; NULL: there are fewer. */
static const Item *item(const Story *s, uint64_t name, unsigned k)
{
    for (unsigned i = 0; i < s->item->len; i++) {
        const Item *e = &g_array_index(s->item, Item, i);

        if (e->type != EVENT_COUNTER && e->name == name && k-- == 0) {
            return e;
        }
    }
    return NULL;
}

static const Item *counted(const Story *s, const char *group, unsigned k)
{
    for (unsigned i = 0; i < s->item->len; i++) {
        const Item *e = &g_array_index(s->item, Item, i);

        if (e->type == EVENT_COUNTER &&
            g_str_equal(s->track[e->track], group) && k-- == 0) {
            return e;
        }
    }
    return NULL;
}

static unsigned n_items(const Story *s, uint64_t name)
{
    unsigned n = 0;

    while (item(s, name, n)) {
        n++;
    }
    return n;
}

/* The number at the end of a track's name. */
static unsigned number_of(const Story *s, const Item *e)
{
    return (unsigned)atoi(strrchr(s->track[e->track], ' ') + 1);
}

/* ---- a drive ------------------------------------------------------------- */

typedef struct Fixture {
    Ssd *ssd;
    uint64_t now_ns;
    char *path;
} Fixture;

static void programmed(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps host = {.programmed = programmed,
                                .superseded = programmed};

static SsdTimelineOptions all_options(void)
{
    SsdTimelineOptions o = {.queue_of = NULL};

    opt_set_defaults(&o, ssd_timeline_options, SSD_TIMELINE_OPTIONS);
    return o;
}

static void set_up(Fixture *f, gconstpointer data)
{
    SsdTimelineOptions o = all_options();
    int fd = g_file_open_tmp("timeline-XXXXXX", &f->path, NULL);
    SsdConfig *cfg = ref_config(data ? data : "ftl.op_percent=200%");

    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    f->ssd = ssd_create(cfg, &host, NULL, NULL);
    ssd_config_free(cfg);
    g_assert_nonnull(f->ssd);
    g_assert_true(ssd_timeline_open(f->ssd, f->path, &o, NULL));
}

static void tear_down(Fixture *f, gconstpointer data)
{
    ssd_destroy(f->ssd);
    g_remove(f->path);
    g_free(f->path);
}

static void finish(Fixture *f)
{
    SsdCompletion done;

    while (ssd_next_event_ns(f->ssd) != SSD_TIME_NEVER) {
        f->now_ns = MAX(f->now_ns, ssd_next_event_ns(f->ssd));
        if (ssd_advance(f->ssd, f->now_ns, &done, 1)) {
            return;
        }
    }
    g_assert_not_reached();
}

static void put(Fixture *f, SsdOp op, uint64_t version)
{
    SsdCmd cmd = {.tag = 1, .op = op, .version = version, .nblocks = 8};

    g_assert_cmpint(ssd_submit(f->ssd, f->now_ns, &cmd), ==, 0);
}

static void test_power(Fixture *f, gconstpointer data)
{
    Events e;

    put(f, SSD_OP_WRITE, 1);
    f->now_ns += 1;
    ssd_power_cut(f->ssd, f->now_ns);
    f->now_ns += 1000000;
    ssd_power_on(f->ssd, f->now_ns);
    g_assert_true(ssd_timeline_close(f->ssd, NULL));
    e = read_events(f->path);
    g_assert_cmpuint(e.n[TIMELINE_NAME_WRITE], ==, 1);
    g_assert_cmpuint(e.n[TIMELINE_NAME_POWER_CUT], ==, 1);
    g_assert_cmpuint(e.n[TIMELINE_NAME_POWER_ON], ==, 1);
    g_assert_cmpuint(e.first_ns[TIMELINE_NAME_POWER_ON], ==, 1000001);
    g_assert_true(ssd_timeline_close(f->ssd, NULL)); /* there is none */
}

/* Instants of the file go on when those of the drive do not. */
static void test_rebase(Fixture *f, gconstpointer data)
{
    uint64_t by_ns;
    Events e;

    put(f, SSD_OP_WRITE, 1);
    finish(f);
    f->now_ns += 5000000000;
    put(f, SSD_OP_FLUSH, 0);
    finish(f);
    by_ns = ssd_rebase_most_ns(f->ssd);
    g_assert_cmpuint(by_ns, >, 5000000000);
    g_assert_true(ssd_rebase(f->ssd, by_ns));
    f->now_ns -= by_ns;
    f->now_ns += 1000;
    put(f, SSD_OP_READ, 0);
    finish(f);
    g_assert_true(ssd_timeline_close(f->ssd, NULL));
    e = read_events(f->path);
    g_assert_cmpuint(e.n[TIMELINE_NAME_READ], ==, 1);
    g_assert_cmpuint(e.first_ns[TIMELINE_NAME_READ], >,
                     e.first_ns[TIMELINE_NAME_FLUSH]);
    g_assert_cmpuint(e.last_ns, >=, f->now_ns + by_ns - 1);
    g_assert_cmpuint(e.last_ns, <=, f->now_ns + by_ns);
}

static void test_oplog(Fixture *f, gconstpointer data)
{
    SsdTimelineOptions o = all_options();
    g_autofree char *log = g_strconcat(f->path, ".log", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_false(ssd_oplog_open(f->ssd, log, &error));
    g_assert_nonnull(strstr(error->message, "not together with a timeline"));
    g_assert_true(ssd_timeline_close(f->ssd, NULL));
    g_assert_true(ssd_oplog_open(f->ssd, log, NULL));
    g_clear_error(&error);
    g_assert_false(ssd_timeline_open(f->ssd, f->path, &o, &error));
    g_assert_nonnull(strstr(error->message, "with an operation log"));
    g_remove(log);
}

/* A full disk is told. */
static void test_full_disk(Fixture *f, gconstpointer data)
{
    SsdTimelineOptions o = all_options();
    g_autoptr(GError) error = NULL;

    g_assert_true(ssd_timeline_close(f->ssd, NULL));
    g_assert_true(ssd_timeline_open(f->ssd, "/dev/full", &o, NULL));
    put(f, SSD_OP_WRITE, 1);
    finish(f);
    g_assert_false(ssd_timeline_close(f->ssd, &error));
    g_assert_nonnull(strstr(error->message, "timeline /dev/full: No space"));
}

/* ---- events -------------------------------------------------------------- */

/* One command of the unit, to its end; then the drive rests. */
static void once(Fixture *f, SsdOp op, uint64_t unit)
{
    SsdCmd cmd = {
        .tag = 7,
        .op = op,
        .lba = op == SSD_OP_FLUSH ? 0 : unit * UNIT,
        .nblocks = op == SSD_OP_FLUSH ? 0 : UNIT,
        .version = op == SSD_OP_WRITE ? ssd_last_version(f->ssd) + 1 : 0,
    };

    g_assert_cmpint(ssd_submit(f->ssd, f->now_ns, &cmd), ==, 0);
    finish(f);
    f->now_ns += 10000000;
    ssd_advance(f->ssd, f->now_ns, NULL, 0);
}

/* A new timeline, with these options. */
static void again(Fixture *f, const SsdTimelineOptions *o)
{
    g_assert_true(ssd_timeline_close(f->ssd, NULL));
    g_assert_true(ssd_timeline_open(f->ssd, f->path, o, NULL));
}

static Story told(Fixture *f)
{
    g_assert_true(ssd_timeline_close(f->ssd, NULL));
    return read_story(f->path);
}

static void same_slice(const Item *e, uint64_t from_ns, uint64_t ns)
{
    g_assert_nonnull(e);
    g_assert_cmpuint(e->from_ns, ==, from_ns);
    g_assert_cmpuint(e->to_ns - e->from_ns, ==, ns);
}

#define PLANES "nand.planes=2;nand.blocks=16;ftl.op_percent=200%"

/* A page of each plane is written and read: 2 planes of each of 2 channels. */
static void test_operations(Fixture *f, gconstpointer data)
{
    SsdTimelineOptions o = all_options();
    unsigned planes = 0;
    Story s;

    for (uint64_t unit = 0; unit < 16; unit++) {
        once(f, SSD_OP_WRITE, unit);
    }
    once(f, SSD_OP_FLUSH, 0);
    for (uint64_t page = 0; page < 4; page++) {
        again(f, &o);
        once(f, SSD_OP_READ, 4 * page);
        s = told(f);
        same_slice(item(&s, TIMELINE_NAME_READ, 0), 0, F + C + TR + U + L);
        same_slice(item(&s, TIMELINE_NAME_NAND_READ, 0), F + C, TR);
        same_slice(item(&s, TIMELINE_NAME_OUT, 0), F + C + TR, U);
        for (unsigned i = 0; i < s.item->len; i++) {
            const Item *e = &g_array_index(s.item, Item, i);

            if (e->name == TIMELINE_NAME_NAND_READ) {
                planes |= 1U << number_of(&s, e);
                g_assert_cmpstr(group_of(&s, e), ==, "dies");
                g_assert_cmpuint(number_of(&s, item(&s, TIMELINE_NAME_OUT, 0)),
                                 ==, number_of(&s, e) / 2);
                g_assert_cmpuint(
                    e->arg[TIMELINE_ARG_COMMAND], ==,
                    item(&s, TIMELINE_NAME_READ, 0)->arg[TIMELINE_ARG_COMMAND]);
            } else if (e->name == TIMELINE_NAME_OUT ||
                       e->name == TIMELINE_NAME_IN) {
                g_assert_cmpstr(group_of(&s, e), ==, "channels");
            }
        }
        story_free(&s);
    }
    g_assert_cmphex(planes, ==, 0xf);
}

/* The status after a program, and the data before it, are on the channel. */
static void test_program(Fixture *f, gconstpointer data)
{
    const Item *in, *status, *program;
    Story s;

    for (uint64_t unit = 0; unit < 4; unit++) {
        once(f, SSD_OP_WRITE, unit);
    }
    s = told(f);
    in = item(&s, TIMELINE_NAME_IN, 0);
    status = item(&s, TIMELINE_NAME_STATUS, 0);
    program = item(&s, TIMELINE_NAME_NAND_PROGRAM, 0);
    g_assert_true(in && status && program);
    g_assert_cmpuint(program->to_ns, >=, program->from_ns + TPROG);
    g_assert_cmpuint(program->from_ns, >=, in->to_ns);
    g_assert_cmpstr(group_of(&s, in), ==, "channels");
    g_assert_cmpstr(group_of(&s, status), ==, "channels");
    g_assert_cmpuint(status->from_ns, >=, program->to_ns);
    g_assert_cmpuint(n_items(&s, TIMELINE_NAME_GAP), ==, 0);
    story_free(&s);
}

/* A read waits for a program to be suspended. */
static void test_suspend(Fixture *f, gconstpointer data)
{
    SsdTimelineOptions o = all_options();
    Story s;

    for (uint64_t unit = 0; unit < 7; unit++) {
        once(f, SSD_OP_WRITE, unit);
    }
    again(f, &o);
    put(f, SSD_OP_WRITE, ssd_last_version(f->ssd) + 1);
    finish(f);
    f->now_ns += 200000;
    ssd_advance(f->ssd, f->now_ns, NULL, 0);
    once(f, SSD_OP_READ, 1);
    s = told(f);
    g_assert_cmpuint(n_items(&s, TIMELINE_NAME_SUSPEND), ==, 1);
    g_assert_cmpuint(n_items(&s, TIMELINE_NAME_GAP), ==, 0);
    g_assert_cmpstr(group_of(&s, item(&s, TIMELINE_NAME_SUSPEND, 0)), ==,
                    "dies");
    story_free(&s);
}

static uint32_t queue_of(void *opaque, uint64_t tag)
{
    return (uint32_t)tag + *(uint32_t *)opaque;
}

/* The buffer's level stands at the command that changed it, and at the program
 * that emptied it; a level that stays is told once. */
static void test_levels(Fixture *f, gconstpointer data)
{
    uint32_t more = 5;
    SsdTimelineOptions o = all_options();
    Story s;

    o.queue_of = queue_of;
    o.opaque = &more;
    again(f, &o);
    for (uint64_t unit = 0; unit < 4; unit++) {
        once(f, SSD_OP_WRITE, unit);
    }
    once(f, SSD_OP_READ, 100);
    once(f, SSD_OP_READ, 100);
    s = told(f);
    for (uint64_t unit = 0; unit < 4; unit++) {
        const Item *e = counted(&s, "write buffer", (unsigned)unit);
        const Item *c = item(&s, TIMELINE_NAME_WRITE, (unsigned)unit);

        g_assert_cmpuint(e->arg[0], ==, unit + 1);
        g_assert_cmpuint(e->from_ns, ==, c->to_ns);
        g_assert_cmpuint(c->arg[TIMELINE_ARG_LBA], ==, unit * UNIT);
        g_assert_cmpuint(c->arg[TIMELINE_ARG_STATUS], ==, NO_ARG);
        g_assert_cmpuint(number_of(&s, c), ==, 12);
    }
    g_assert_cmpuint(counted(&s, "write buffer", 4)->arg[0], ==, 0);
    g_assert_null(counted(&s, "write buffer", 5));
    story_free(&s);
}

/* A window takes what touches it: an event that is under way at its begin, and
 * one that goes on behind its end; not those outside. */
static void test_window(Fixture *f, gconstpointer data)
{
    static const struct {
        uint64_t from_ns, for_ns;
        unsigned n;
    } window[] = {
        {0, 0, 3},
        {1000, 1, 1},        /* within the first read */
        {1000, 10000000, 2}, /* to the instant of the second */
        {1000, 10000000 - 1000, 1},
        {F + L + 1, 1000, 0}, /* between them */
        {F + L, 1000, 1},
        {10000000 + 1, 0, 2},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(window); i++) {
        SsdTimelineOptions o = all_options();
        Story s;

        o.from_ps = window[i].from_ns * PS_PER_NS;
        o.for_ps = window[i].for_ns * PS_PER_NS;
        again(f, &o);
        for (unsigned k = 0; k < 3; k++) { /* of nothing: F + L each */
            f->now_ns = ssd_now_ns(f->ssd);
            put(f, SSD_OP_READ, 0);
            finish(f);
            f->now_ns += 10000000 - F - L;
            ssd_advance(f->ssd, f->now_ns, NULL, 0);
        }
        s = told(f);
        g_test_message("window %zu", i);
        g_assert_cmpuint(n_items(&s, TIMELINE_NAME_READ), ==, window[i].n);
        story_free(&s);
    }
}

#define RING_BYTES (1ULL << 20)

/* The ring has all its places; what it lost is counted, and stands where the
 * oldest of the others ended. */
static void test_ring(Fixture *f, gconstpointer data)
{
    const unsigned most = RING_BYTES / sizeof(TimelineRecord);
    SsdTimelineOptions o = all_options();
    const Item *lost;
    Story s;

    o.bytes = RING_BYTES;
    once(f, SSD_OP_READ, 0);
    again(f, &o);
    for (unsigned i = 0; i < most + 9; i++) {
        put(f, SSD_OP_READ, 0);
        finish(f);
    }
    s = told(f);
    lost = item(&s, TIMELINE_NAME_DROPPED, 0);
    g_assert_nonnull(lost);
    /* Two counters come at the end of the first read and of the timeline. */
    g_assert_cmpuint(s.item->len, ==, most);
    g_assert_cmpuint(lost->arg[TIMELINE_ARG_EVENTS] + most - 1, ==, most + 11);
    g_assert_cmpuint(lost->from_ns, ==,
                     item(&s, TIMELINE_NAME_READ, 0)->from_ns);
    story_free(&s);
}

static const Item *erase_of(const Story *s, const Item *victim)
{
    for (unsigned k = 0; item(s, TIMELINE_NAME_NAND_ERASE, k); k++) {
        const Item *e = item(s, TIMELINE_NAME_NAND_ERASE, k);

        if (e->arg[TIMELINE_ARG_BLOCK] == victim->arg[TIMELINE_ARG_BLOCK] &&
            e->to_ns <= victim->to_ns && e->from_ns > victim->from_ns) {
            return e;
        }
    }
    return NULL;
}

#define TIGHT                                                                  \
    "nand.blocks=20;nand.pages=4;ftl.op_percent=120%;buffer.size=64KiB"

static void overwrite(Fixture *f, unsigned n, uint64_t seed)
{
    uint64_t units = ssd_info(f->ssd)->nblocks / UNIT;
    Prng rng;

    prng_seed(&rng, seed, 1);
    for (unsigned i = 0; i < n; i++) {
        once(f, SSD_OP_WRITE, prng_below(&rng, units));
    }
}

/* A victim's slice goes from its choice to the end of its erase. */
static void test_victims(Fixture *f, gconstpointer data)
{
    unsigned with_units = 0;
    Story s;
    unsigned n;

    overwrite(f, 900, 1);
    s = told(f);
    n = n_items(&s, TIMELINE_NAME_BLOCK);
    g_assert_cmpuint(n, >, 20);
    g_assert_cmpuint(n, ==, n_items(&s, TIMELINE_NAME_NAND_ERASE));
    for (unsigned k = 0; k < n; k++) {
        const Item *e = item(&s, TIMELINE_NAME_BLOCK, k);
        const Item *erase = erase_of(&s, e);

        g_assert_nonnull(erase);
        g_assert_cmpuint(e->to_ns - erase->to_ns, <=, C);
        g_assert_cmpuint(e->category, ==, NAND_CAUSE_GC);
        g_assert_cmpuint(number_of(&s, e), ==, number_of(&s, erase));
        with_units += e->arg[TIMELINE_ARG_VALID] > 0;
    }
    g_assert_cmpuint(with_units, >, 0);
    g_assert_nonnull(counted(&s, "free blocks", n)); /* as operations begin */
    story_free(&s);
}

/* The clock is set back by less than the timeline's begin. */
static void test_rebase_before(Fixture *f, gconstpointer data)
{
    SsdTimelineOptions o = all_options();
    uint64_t by_ns;
    Story s;

    g_assert_true(ssd_timeline_close(f->ssd, NULL));
    f->now_ns += 5000000000;
    once(f, SSD_OP_READ, 0);
    g_assert_true(ssd_timeline_open(f->ssd, f->path, &o, NULL));
    by_ns = ssd_rebase_most_ns(f->ssd) / 2;
    g_assert_true(ssd_rebase(f->ssd, by_ns));
    f->now_ns += 1000;
    f->now_ns -= by_ns;
    once(f, SSD_OP_READ, 0);
    s = told(f);
    same_slice(item(&s, TIMELINE_NAME_READ, 0), 1000, F + L);
    story_free(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD_ON(name, options, function)                                        \
    g_test_add("/timeline/" name, Fixture, options, set_up, function, tear_down)
#define ADD(name, function) ADD_ON(name, NULL, function)
    ADD("power", test_power);
    ADD("rebase", test_rebase);
    ADD("oplog", test_oplog);
    ADD("full-disk", test_full_disk);
    ADD_ON("operations", PLANES, test_operations);
    ADD_ON("program",
           "ftl.op_percent=200%;nand.interface=nv-ddr3;nand.status_poll=on",
           test_program);
    ADD_ON("suspend", "nand.channels=1;ftl.op_percent=200%;nand.suspend=both",
           test_suspend);
    ADD("levels", test_levels);
    ADD("window", test_window);
    ADD("ring", test_ring);
    ADD_ON("victims", TIGHT, test_victims);
    ADD("rebase/before", test_rebase_before);
    return g_test_run();
}
