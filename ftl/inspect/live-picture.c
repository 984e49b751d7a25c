/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live-picture.c - what a picture of a drive shows: its sections, their layout
 * as JSON, and their values now.
 *
 * The names and meanings of sections are those of docs/live-format.md.
 */
#include "inspect/inspect.h"
#include "inspect/live-blocks.h"
#include "inspect/live-values.h"
#include "inspect/live.h"
#include "journal/journal.h"
#include "placement/placement.h"
#include "power/power.h"
#include "ssd-internal.h"
#include "ssd-report.h"

#include <string.h>

/* Latencies: each bin has 4 buckets of a Hist, so 16 are a power of two; the
 * last one has all from 2^36 ns (69 s) on. */
#define BIN_BUCKETS   4U
#define LAST_BIN_BITS 36
#define N_BINS                                                                 \
    (((LAST_BIN_BITS - HIST_SUB_BITS + 1) << HIST_SUB_BITS) / BIN_BUCKETS + 1)

typedef enum LiveType {
    TYPE_U8,
    TYPE_U16,
    TYPE_U32,
    TYPE_U64,
    TYPE_F64,
} LiveType;

typedef enum LiveKind {
    KIND_STATE,
    KIND_COUNTER,
    KIND_GAUGE,
} LiveKind;

/*
 * X(upper, name, type, kind, unit, count, word)
 *     count: elements, of a LivePicture *p; 0: this drive has no such section.
 *     word: the name of element i, or of value i of a state; NULL past the
 *     last.
 */
#define LIVE_SECTIONS(X)                                                       \
    X(SIM_NS, "sim_ns", U64, GAUGE, "ns", 1, no_word)                          \
    X(HOST_NS, "host_ns", U64, GAUGE, "ns", 1, no_word)                        \
    X(DRIVE_STATE, "drive.state", U8, STATE, "", 1, drive_word)                \
    X(COUNTER, "counter", U64, COUNTER, "", live_values_n(p->counters),        \
      counter_word)                                                            \
    X(GAUGE, "gauge", F64, GAUGE, "", live_values_n(p->gauges), gauge_word)    \
    X(DIE_STATE, "die.state", U8, STATE, "", p->ssd->geo->n_dies, die_word)    \
    X(DIE_CAUSE, "die.cause", U8, STATE, "", p->ssd->geo->n_dies, cause_word)  \
    X(DIE_WAITING, "die.waiting", U16, GAUGE, "operations",                    \
      p->ssd->geo->n_dies, no_word)                                            \
    X(DIE_BUSY, "die.busy_ns", U64, COUNTER, "ns", p->ssd->geo->n_dies,        \
      no_word)                                                                 \
    X(CHANNEL_STATE, "channel.state", U8, STATE, "", p->ssd->geo->n_channels,  \
      channel_word)                                                            \
    X(CHANNEL_BUSY, "channel.busy_ns", U64, COUNTER, "ns",                     \
      p->ssd->geo->n_channels, no_word)                                        \
    X(CELL_STATE, "superblock.state", U8, STATE, "", live_n_cells(p->cells),   \
      cell_word)                                                               \
    X(CELL_VALID, "superblock.valid", U8, GAUGE, "1/255",                      \
      live_n_cells(p->cells), no_word)                                         \
    X(CELL_AGE, "superblock.age", U32, GAUGE, "pages", live_n_cells(p->cells), \
      no_word)                                                                 \
    X(CELL_ERASES, "superblock.erases", U32, GAUGE, "erases",                  \
      live_n_cells(p->cells), no_word)                                         \
    X(QUEUE_DEPTH, "queue.depth", U16, GAUGE, "commands", n_queues(p),         \
      no_word)                                                                 \
    X(LATENCY_READ, "latency.read", U64, COUNTER, "commands", N_BINS, no_word) \
    X(LATENCY_WRITE, "latency.write", U64, COUNTER, "commands", N_BINS,        \
      no_word)                                                                 \
    X(STREAM_UNITS, "stream.units", U64, COUNTER, "units",                     \
      p->ssd->l.n_streams, stream_word)                                        \
    X(STREAM_HOST, "stream.host_bytes", U64, COUNTER, "bytes",                 \
      p->ssd->l.n_streams, stream_word)                                        \
    X(STREAM_NAND, "stream.nand_bytes", U64, COUNTER, "bytes",                 \
      p->ssd->l.n_streams, stream_word)                                        \
    X(SLOW_COUNT, "slow.count", U64, COUNTER, "commands", 1, no_word)          \
    X(SLOW_START, "slow.start_ns", U64, GAUGE, "ns", LIVE_SLOW_KEPT, no_word)  \
    X(SLOW_LATENCY, "slow.latency_ns", U64, GAUGE, "ns", LIVE_SLOW_KEPT,       \
      no_word)                                                                 \
    X(SLOW_OP, "slow.op", U8, STATE, "", LIVE_SLOW_KEPT, op_word)              \
    X(SLOW_UNIT, "slow.unit", U64, GAUGE, "units", LIVE_SLOW_KEPT, no_word)    \
    X(SLOW_BYTES, "slow.bytes", U32, GAUGE, "bytes", LIVE_SLOW_KEPT, no_word)  \
    X(SLOW_COST, "slow.cost", U32, GAUGE, "ns", LIVE_SLOW_KEPT *N_COSTS,       \
      cost_word)                                                               \
    X(SLOW_DIE, "slow.die", U16, GAUGE, "", LIVE_SLOW_KEPT, no_word)           \
    X(SLOW_WAITED, "slow.waited_for", U8, STATE, "", LIVE_SLOW_KEPT, wait_word)

typedef enum SectionIndex {
#define SECTION_ENUM(upper, ...) SECTION_##upper,
    LIVE_SECTIONS(SECTION_ENUM)
#undef SECTION_ENUM
        N_SECTIONS,
} SectionIndex;

struct LivePicture {
    const Ssd *ssd;
    const SsdLiveHost *front;
    LiveValues *counters, *gauges;
    LiveCells *cells;
    uint32_t count[N_SECTIONS]; /* elements */
    size_t offset[N_SECTIONS];  /* in the picture */
    size_t bytes;
    uint8_t *at;
};

/* Where a section is; its type is the caller's business. */
#define SECTION(p, ctype, upper)                                               \
    ((ctype *)(void *)((p)->at + (p)->offset[SECTION_##upper]))

static uint32_t n_queues(const LivePicture *p)
{
    return MAX(p->front->n_queues, 1);
}

/* ---- words --------------------------------------------------------------- */

typedef const char *Word(const LivePicture *p, uint32_t i, char *room);

#define ROOM_BYTES 32

static const char *no_word(const LivePicture *p, uint32_t i, char *room)
{
    (void)p, (void)i, (void)room;
    return NULL;
}

#define WORDS(function, ...)                                                   \
    static const char *function(const LivePicture *p, uint32_t i, char *room)  \
    {                                                                          \
        static const char *const words[] = {__VA_ARGS__};                      \
                                                                               \
        (void)p, (void)room;                                                   \
        return i < G_N_ELEMENTS(words) ? words[i] : NULL;                      \
    }

typedef enum DriveState {
    DRIVE_OFF,
    DRIVE_RECOVERS,
    DRIVE_READY,
} DriveState;

typedef enum DieState {
    DIE_IDLE,
    DIE_READS,
    DIE_PROGRAMS,
    DIE_ERASES,
    DIE_SUSPENDED,
} DieState;

#define NAME_OF_CAUSE(upper, lower) #lower,
#define NAME_OF_COST(name, help)    #name,
WORDS(drive_word, "off", "recovering", "ready")
WORDS(die_word, "idle", "read", "program", "erase", "suspended")
WORDS(channel_word, "idle", "in", "status", "out")
WORDS(cell_word, "free", "open", "full", "victim", "bad")
WORDS(op_word, "read", "write", "trim", "flush", "shutdown")
WORDS(cause_word, NAND_CAUSES(NAME_OF_CAUSE))
WORDS(cost_word, SSD_COSTS(NAME_OF_COST))

static const char *wait_word(const LivePicture *p, uint32_t i, char *room)
{
    (void)p, (void)room;
    return live_wait_name(i);
}

static const char *counter_word(const LivePicture *p, uint32_t i, char *room)
{
    (void)room;
    return live_values_path(p->counters, i);
}

static const char *gauge_word(const LivePicture *p, uint32_t i, char *room)
{
    (void)room;
    return live_values_path(p->gauges, i);
}

/* With FDP: "group 0 handle 1". */
static const char *stream_word(const LivePicture *p, uint32_t i, char *room)
{
    const SsdLayout *l = &p->ssd->l;

    if (i >= l->n_streams) {
        return NULL;
    }
    if (p->ssd->info.ruhs) {
        g_snprintf(room, ROOM_BYTES, "group %u handle %u", i / l->n_handles,
                   i % l->n_handles);
    } else {
        g_snprintf(room, ROOM_BYTES, "stream %u", i);
    }
    return room;
}

/* ---- the table of sections ----------------------------------------------- */

static const struct {
    const char *name;
    LiveType type;
    LiveKind kind;
    const char *unit;
    Word *word;
} sections[] = {
#define SECTION_ROW(upper, name, type, kind, unit, count, word)                \
    {name, TYPE_##type, KIND_##kind, unit, word},
    LIVE_SECTIONS(SECTION_ROW)
#undef SECTION_ROW
};

static void place_sections(LivePicture *p)
{
    static const uint8_t bytes_of[] = {
        [TYPE_U8] = 1,  [TYPE_U16] = 2, [TYPE_U32] = 4,
        [TYPE_U64] = 8, [TYPE_F64] = 8,
    };
    const uint32_t count[] = {
#define SECTION_COUNT(upper, name, type, kind, unit, count, word) count,
        LIVE_SECTIONS(SECTION_COUNT)
#undef SECTION_COUNT
    };

    for (unsigned i = 0; i < N_SECTIONS; i++) {
        p->count[i] = count[i];
        p->offset[i] = p->bytes;
        p->bytes += (size_t)count[i] * bytes_of[sections[i].type];
        p->bytes = (p->bytes + 7) / 8 * 8;
    }
}

LivePicture *live_picture_new(const Ssd *ssd, const SsdLiveHost *host)
{
    LivePicture *p = g_new0(LivePicture, 1);

    p->ssd = ssd;
    p->front = host;
    p->counters = live_values_new(ssd, host, true);
    p->gauges = live_values_new(ssd, host, false);
    p->cells = live_cells_new(ssd);
    place_sections(p);
    p->at = g_malloc0(p->bytes);
    return p;
}

void live_picture_free(LivePicture *p)
{
    live_cells_free(p->cells);
    live_values_free(p->gauges);
    live_values_free(p->counters);
    g_free(p->at);
    g_free(p);
}

size_t live_picture_bytes(const LivePicture *p)
{
    return p->bytes;
}

const void *live_picture_at(const LivePicture *p)
{
    return p->at;
}

/* ---- the layout ---------------------------------------------------------- */

/* In free blocks of all planes. */
static void marks_json(const SsdLayout *l, JsonWriter *w)
{
    json_open(w, "gc_marks", '{');
    json_u64(w, "low", (uint64_t)l->gc_low_blocks * l->n_planes);
    json_u64(w, "high", (uint64_t)l->gc_high_blocks * l->n_planes);
    json_u64(w, "soft", (uint64_t)l->gc_soft_blocks * l->n_planes);
    json_close(w, '}');
}

static void drive_json(const LivePicture *p, JsonWriter *w)
{
    const Ssd *ssd = p->ssd;
    const NandGeometry *g = ssd->geo;
    const SsdInfo *i = &ssd->info;

    json_open(w, "drive", '{');
    json_string(w, "profile", ssd->cfg->profile ? ssd->cfg->profile : "");
    json_string(w, "name", p->front->name ? p->front->name : "");
    json_u64(w, "seed", ssd->cfg->seed);
    json_u64(w, "channels", g->n_channels);
    json_u64(w, "dies", g->n_dies);
    json_u64(w, "planes_per_die", g->planes_per_die);
    json_u64(w, "dies_per_channel", g->dies_per_channel);
    json_u64(w, "blocks", g->n_blocks);
    json_u64(w, "unit_bytes", i->unit_bytes);
    json_u64(w, "capacity_bytes", i->nblocks * i->block_bytes);
    json_u64(w, "superblocks", live_n_superblocks(ssd));
    json_u64(w, "superblocks_per_cell", live_cell_superblocks(p->cells));
    json_u64(w, "superblock_units",
             (uint64_t)ssd->l.set_planes * ssd->l.units_per_block);
    json_u64(w, "buffer_units", ssd->l.n_slots);
    json_u64(w, "queues", n_queues(p));
    marks_json(&ssd->l, w);
    json_close(w, '}');
}

static void words_json(const LivePicture *p, unsigned i, JsonWriter *w)
{
    char room[ROOM_BYTES];
    const char *word = sections[i].word(p, 0, room);

    if (!word) {
        return;
    }
    json_open(w, "words", '[');
    for (uint32_t j = 0; word; word = sections[i].word(p, ++j, room)) {
        json_string(w, NULL, word);
    }
    json_close(w, ']');
}

/* The least latency of each bin. */
static void edges_json(JsonWriter *w)
{
    json_open(w, "edges_ns", '[');
    for (unsigned bin = 0, b = 0; bin < N_BINS; bin++, b += BIN_BUCKETS) {
        unsigned power = b >> HIST_SUB_BITS;
        uint64_t sub = b & ((1U << HIST_SUB_BITS) - 1);

        json_u64(w, NULL,
                 power ? ((1ULL << HIST_SUB_BITS) + sub) << (power - 1) : sub);
    }
    json_close(w, ']');
}

static void section_json(const LivePicture *p, unsigned i, JsonWriter *w)
{
    static const char *const types[] = {"u8", "u16", "u32", "u64", "f64"};
    static const char *const kinds[] = {"state", "counter", "gauge"};

    json_open(w, NULL, '{');
    json_string(w, "name", sections[i].name);
    json_string(w, "type", types[sections[i].type]);
    json_string(w, "kind", kinds[sections[i].kind]);
    json_string(w, "unit", sections[i].unit);
    json_u64(w, "count", p->count[i]);
    json_u64(w, "offset", p->offset[i]);
    words_json(p, i, w);
    if (i == SECTION_LATENCY_READ || i == SECTION_LATENCY_WRITE) {
        edges_json(w);
    }
    if (i >= SECTION_CELL_STATE && i <= SECTION_CELL_ERASES) {
        json_u64(w, "refresh_pictures", live_cell_rounds(p->cells));
    }
    json_close(w, '}');
}

void live_picture_layout(const LivePicture *p, GString *out)
{
    JsonWriter w = {.out = out};

    json_open(&w, NULL, '{');
    json_string(&w, "schema", "vssd-live 1");
    drive_json(p, &w);
    json_open(&w, "sections", '[');
    for (unsigned i = 0; i < N_SECTIONS; i++) {
        if (p->count[i]) {
            section_json(p, i, &w);
        }
    }
    json_close(&w, ']');
    json_close(&w, '}');
}

/* ---- the array ----------------------------------------------------------- */

static DieState state_of(const NandOp *op, NandDoing doing)
{
    return doing == NAND_RESTS      ? DIE_SUSPENDED
           : op->kind == NAND_READ  ? DIE_READS
           : op->kind == NAND_ERASE ? DIE_ERASES
                                    : DIE_PROGRAMS;
}

/* Which of a die's operations shows: one that is suspended, then the one in the
 * array, then one on the channel or waiting for that. */
static unsigned rank_of(NandDoing doing)
{
    static const uint8_t rank[] = {
        [NAND_HOLDS] = 1,
        [NAND_TRANSFERS] = 1,
        [NAND_WORKS] = 2,
        [NAND_RESTS] = 3,
    };

    return rank[doing];
}

typedef struct ArrayLook {
    const LivePicture *p;
    uint8_t *rank; /* by die: of what it shows */
} ArrayLook;

static void see_op(void *opaque, const NandOp *op, NandDoing doing)
{
    const ArrayLook *look = opaque;
    const LivePicture *p = look->p;

    if (doing == NAND_WAITS) {
        uint16_t *waiting = &SECTION(p, uint16_t, DIE_WAITING)[op->die];

        *waiting = (uint16_t)MIN(*waiting + 1, UINT16_MAX);
    } else if (doing != NAND_DECODES && rank_of(doing) > look->rank[op->die]) {
        look->rank[op->die] = (uint8_t)rank_of(doing);
        SECTION(p, uint8_t, DIE_STATE)[op->die] = (uint8_t)state_of(op, doing);
        SECTION(p, uint8_t, DIE_CAUSE)[op->die] = (uint8_t)op->cause;
    }
    if (doing == NAND_TRANSFERS) {
        SECTION(p, uint8_t, CHANNEL_STATE)
        [op->channel] = (uint8_t)nand_transfer(op);
    }
}

static void fill_array(const LivePicture *p, const DriveStats *now)
{
    const NandGeometry *g = p->ssd->geo;
    g_autofree uint8_t *rank = g_new0(uint8_t, g->n_dies);
    ArrayLook look = {p, rank};

    memset(SECTION(p, uint8_t, DIE_STATE), DIE_IDLE, g->n_dies);
    memset(SECTION(p, uint8_t, DIE_CAUSE), 0, g->n_dies);
    memset(SECTION(p, uint16_t, DIE_WAITING), 0, g->n_dies * sizeof(uint16_t));
    memset(SECTION(p, uint8_t, CHANNEL_STATE), 0, g->n_channels);
    nand_each_op(p->ssd->nand, see_op, &look);
    for (uint32_t i = 0; i < g->n_dies; i++) {
        SECTION(p, uint64_t, DIE_BUSY)
        [i] = (uint64_t)(now->busy.die[i] / PS_PER_NS);
    }
    for (uint32_t i = 0; i < g->n_channels; i++) {
        SECTION(p, uint64_t, CHANNEL_BUSY)
        [i] = (uint64_t)(now->busy.channel[i] / PS_PER_NS);
    }
}

/* ---- the rest ------------------------------------------------------------ */

static DriveState drive_state(const Ssd *ssd)
{
    return !ssd->powered    ? DRIVE_OFF
           : ssd_ready(ssd) ? DRIVE_READY
                            : DRIVE_RECOVERS;
}

static void fill_cells(const LivePicture *p, bool whole)
{
    LiveCellRows rows = {
        .state = SECTION(p, uint8_t, CELL_STATE),
        .valid = SECTION(p, uint8_t, CELL_VALID),
        .age = SECTION(p, uint32_t, CELL_AGE),
        .erases = SECTION(p, uint32_t, CELL_ERASES),
    };

    if (whole) {
        live_cells_all(p->cells, &rows);
    } else {
        live_cells_next(p->cells, &rows);
    }
}

static void fill_queues(const LivePicture *p)
{
    uint16_t *depth = SECTION(p, uint16_t, QUEUE_DEPTH);

    if (p->front->n_queues) {
        p->front->queue_depths(p->front->opaque, depth);
    } else {
        *depth = (uint16_t)MIN(p->ssd->commands.running, UINT16_MAX);
    }
}

static void fill_latency(const Hist *h, uint64_t *bin)
{
    memset(bin, 0, N_BINS * sizeof(*bin));
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        bin[MIN(i / BIN_BUCKETS, N_BINS - 1)] += h->bucket[i];
    }
}

static void fill_streams(const LivePicture *p)
{
    for (uint32_t i = 0; i < p->ssd->l.n_streams; i++) {
        SsdStreamCounters c = stream_since(p->ssd, i);

        SECTION(p, uint64_t, STREAM_UNITS)[i] = c.host_units;
        SECTION(p, uint64_t, STREAM_HOST)[i] = c.host_bytes_written;
        SECTION(p, uint64_t, STREAM_NAND)[i] = c.nand_bytes_written;
    }
}

static void fill_slow(const LivePicture *p, LiveSlow *slow)
{
    *SECTION(p, uint64_t, SLOW_COUNT) = live_slow_take(slow);
    for (unsigned i = 0; i < LIVE_SLOW_KEPT; i++) {
        const LiveSlowCmd *c = live_slow_at(slow, i);

        SECTION(p, uint64_t, SLOW_START)[i] = c->start_ns;
        SECTION(p, uint64_t, SLOW_LATENCY)[i] = c->latency_ns;
        SECTION(p, uint8_t, SLOW_OP)[i] = c->op;
        SECTION(p, uint64_t, SLOW_UNIT)[i] = c->unit;
        SECTION(p, uint32_t, SLOW_BYTES)[i] = c->bytes;
        SECTION(p, uint16_t, SLOW_DIE)[i] = c->die;
        SECTION(p, uint8_t, SLOW_WAITED)[i] = c->waited_for;
        memcpy(&SECTION(p, uint32_t, SLOW_COST)[i * N_COSTS], c->cost_ns,
               sizeof(c->cost_ns));
    }
}

void live_picture_make(LivePicture *p, LiveSlow *slow, uint64_t sim_ns,
                       uint64_t host_ns, bool whole)
{
    const Hist *latency = p->ssd->inspect.latency;
    DriveStats now;

    drive_stats_init_brief(&now, p->ssd);
    *SECTION(p, uint64_t, SIM_NS) = sim_ns;
    *SECTION(p, uint64_t, HOST_NS) = host_ns;
    *SECTION(p, uint8_t, DRIVE_STATE) = (uint8_t)drive_state(p->ssd);
    live_values_u64(p->counters, &now, SECTION(p, uint64_t, COUNTER));
    live_values_f64(p->gauges, &now, SECTION(p, double, GAUGE));
    fill_array(p, &now);
    fill_cells(p, whole);
    fill_queues(p);
    fill_latency(&latency[SSD_OP_READ], SECTION(p, uint64_t, LATENCY_READ));
    fill_latency(&latency[SSD_OP_WRITE], SECTION(p, uint64_t, LATENCY_WRITE));
    fill_streams(p);
    fill_slow(p, slow);
    drive_stats_clear(&now);
}
