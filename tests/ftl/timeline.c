/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.c - what a test of the file (tests/scripts/test_timeline.py) cannot
 * reach: power cuts, a clock that is set back, an operation log beside it.
 */
#include <glib/gstdio.h>

#include "inspect/timeline.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define EVENT_SLICE_BEGIN 1
#define EVENT_INSTANT     3

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
    SsdConfig *cfg = ref_config("ftl.op_percent=200%");

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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function)                                                    \
    g_test_add("/timeline/" name, Fixture, NULL, set_up, function, tear_down)
    ADD("power", test_power);
    ADD("rebase", test_rebase);
    ADD("oplog", test_oplog);
    ADD("full-disk", test_full_disk);
    return g_test_run();
}
