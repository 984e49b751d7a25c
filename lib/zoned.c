/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zoned.c - zones for hosts without NVMe; see zoned.h.
 *
 * Knows the rules of zones and their streams; knows nothing of time.
 */
#include "zoned.h"

#include "options.h"
#include "state.h"

#include <inttypes.h>
#include <string.h>

#define SIGNATURE "vssdZNH\0"
#define NO_STREAM UINT16_MAX

typedef struct Zone {
    uint64_t wp;     /* blocks from its start */
    uint64_t opened; /* order of implicit opens */
    uint32_t writes; /* in flight */
    uint16_t stream; /* or NO_STREAM */
    uint8_t state;   /* ZoneState */
    bool busy;       /* a reset or a finish is in flight */
} Zone;

struct Zoned {
    uint32_t n;
    uint32_t n_streams;
    uint32_t max_active;
    uint32_t max_open;
    uint64_t capacity; /* blocks */
    uint64_t opens;    /* implicit ones, ever */
    uint32_t n_active;
    uint32_t n_open;
    bool taken[64]; /* by stream */
    Zone zone[];
};

static size_t bytes_of(uint32_t n)
{
    return sizeof(Zoned) + n * sizeof(Zone);
}

static const char *other_kind(const SsdZones *z)
{
    return z->zrwa           ? "zones.zrwa=0"
           : z->conventional ? "zones.conventional=0"
           : !z->whole       ? "zones.capacity of whole blocks of each plane"
                             : NULL;
}

Zoned *zoned_new(const SsdInfo *info, GError **error)
{
    const SsdZones *from = &info->zones;
    const char *need = other_kind(from);
    Zoned *z;

    if (from->n == 0) {
        return NULL;
    }
    if (need) {
        opt_fail(error, OPT_ERROR_COMBINATION,
                 "zones.enabled=on: without NVMe it needs %s (docs/zones.md)",
                 need);
        return NULL;
    }
    z = g_malloc0(bytes_of(from->n));
    z->n = from->n;
    z->n_streams = MIN(info->host_streams, G_N_ELEMENTS(z->taken));
    z->max_active = from->max_active;
    z->max_open = from->max_open;
    z->capacity = from->capacity;
    for (uint32_t i = 0; i < z->n; i++) {
        z->zone[i].stream = NO_STREAM;
    }
    return z;
}

Zoned *zoned_copy(const Zoned *z)
{
    return z ? g_memdup2(z, bytes_of(z->n)) : NULL;
}

void zoned_free(Zoned *z)
{
    g_free(z);
}

uint32_t zoned_count(const Zoned *z)
{
    return z->n;
}

uint32_t zoned_at(const Zoned *z, uint64_t lba)
{
    return (uint32_t)MIN(lba / z->capacity, z->n);
}

ZoneInfo zoned_zone(const Zoned *z, uint32_t i)
{
    return (ZoneInfo){
        .state = z->zone[i].state,
        .start = i * z->capacity,
        .capacity = z->capacity,
        .written = z->zone[i].wp,
    };
}

/* ---- states -------------------------------------------------------------- */

static bool is_open(unsigned state)
{
    return state == ZONE_IMPLICITLY_OPEN || state == ZONE_EXPLICITLY_OPEN;
}

static bool is_active(unsigned state)
{
    return is_open(state) || state == ZONE_CLOSED;
}

static uint16_t free_stream(const Zoned *z)
{
    for (uint32_t i = 0; i < z->n_streams; i++) {
        if (!z->taken[i]) {
            return (uint16_t)i;
        }
    }
    return NO_STREAM;
}

static uint16_t stream_of(const Zoned *z, uint32_t i)
{
    return z->zone[i].stream == NO_STREAM ? free_stream(z) : z->zone[i].stream;
}

static void give_stream(Zoned *z, uint32_t i)
{
    if (z->zone[i].stream != NO_STREAM) {
        z->taken[z->zone[i].stream] = false;
        z->zone[i].stream = NO_STREAM;
    }
}

static void set_state(Zoned *z, uint32_t i, ZoneState state)
{
    Zone *zone = &z->zone[i];

    z->n_open += is_open(state) - is_open(zone->state);
    z->n_active += is_active(state) - is_active(zone->state);
    if (is_active(state) && zone->stream == NO_STREAM) {
        zone->stream = free_stream(z);
        z->taken[zone->stream] = true;
    }
    if (state == ZONE_IMPLICITLY_OPEN && zone->state != state) {
        zone->opened = ++z->opens;
    }
    zone->state = (uint8_t)state;
}

/* The one that would be closed for another: opened implicitly, and first. */
static uint32_t oldest_implicit(const Zoned *z)
{
    uint32_t best = z->n;

    for (uint32_t i = 0; i < z->n; i++) {
        if (z->zone[i].state == ZONE_IMPLICITLY_OPEN &&
            (best == z->n || z->zone[i].opened < z->zone[best].opened)) {
            best = i;
        }
    }
    return best;
}

static void open_zone(Zoned *z, uint32_t i, ZoneState state)
{
    if (!is_open(z->zone[i].state) && z->n_open == z->max_open) {
        set_state(z, oldest_implicit(z), ZONE_CLOSED);
    }
    set_state(z, i, state);
}

/* ---- the rules ----------------------------------------------------------- */

static ZoneGo refuse(char *why, uint32_t i, const char *text, uint32_t limit,
                     const char *key)
{
    if (key) {
        g_snprintf(why, ZONE_WHY_BYTES, "zone %u: %s (%s=%u)", i, text, key,
                   limit);
    } else {
        g_snprintf(why, ZONE_WHY_BYTES, "zone %u: %s", i, text);
    }
    return ZONE_REFUSED;
}

/* May the zone become open? */
static ZoneGo ask_open(const Zoned *z, uint32_t i, char *why)
{
    unsigned state = z->zone[i].state;

    if (!is_active(state) && z->n_active == z->max_active) {
        return refuse(why, i, "too many zones are active", z->max_active,
                      "zones.max_active");
    }
    if (!is_active(state) && free_stream(z) == NO_STREAM) {
        return ZONE_WAITS; /* for a zone that is being finished */
    }
    if (!is_open(state) && z->n_open == z->max_open &&
        oldest_implicit(z) == z->n) {
        return refuse(why, i, "too many zones are open", z->max_open,
                      "zones.max_open");
    }
    return ZONE_GOES;
}

static ZoneGo ask_write(const Zoned *z, uint32_t i, bool append, SsdCmd *cmd,
                        char *why)
{
    const Zone *zone = &z->zone[i];
    uint64_t at = i * z->capacity + zone->wp;
    ZoneGo go;

    if (zone->busy) {
        return ZONE_WAITS;
    }
    if (zone->state == ZONE_FULL) {
        return refuse(why, i, "is full", 0, NULL);
    }
    if (!append && cmd->lba != at) {
        g_snprintf(why, ZONE_WHY_BYTES,
                   "zone %u: a write at block %" PRIu64
                   ", the write pointer is at %" PRIu64,
                   i, cmd->lba, at);
        return ZONE_REFUSED;
    }
    if (cmd->nblocks > z->capacity - zone->wp) {
        return refuse(why, i, "a write that leaves the zone", 0, NULL);
    }
    go = ask_open(z, i, why);
    cmd->lba = at;
    cmd->append = append;
    cmd->stream = stream_of(z, i);
    return go;
}

static bool is_at_work(const Zone *zone)
{
    return zone->busy || zone->writes > 0;
}

/* The drive looks at neither; lba says which zone it is of. */
static void to_flush(SsdCmd *cmd)
{
    cmd->op = SSD_OP_FLUSH;
    cmd->nblocks = 0;
}

/* The end of a zone: its stream ends, and the drive may pad the rest. */
static ZoneGo ask_finish(const Zoned *z, uint32_t i, SsdCmd *cmd)
{
    const Zone *zone = &z->zone[i];

    if (is_at_work(zone)) {
        return ZONE_WAITS;
    }
    to_flush(cmd);
    if (is_active(zone->state) && zone->wp > 0) {
        cmd->close = true;
        cmd->stream = zone->stream;
        cmd->nblocks = (uint32_t)(z->capacity - zone->wp);
    }
    return ZONE_GOES;
}

static ZoneGo ask_reset(const Zoned *z, uint32_t i, SsdCmd *cmd)
{
    const Zone *zone = &z->zone[i];

    if (is_at_work(zone)) {
        return ZONE_WAITS;
    }
    cmd->op = SSD_OP_TRIM;
    cmd->erase = true;
    cmd->stream = zone->stream;
    cmd->lba = i * z->capacity;
    cmd->nblocks = (uint32_t)z->capacity;
    return ZONE_GOES;
}

/* They are done at once, in the time of a command. */
static ZoneGo ask_state(const Zoned *z, uint32_t i, ZoneAct act, SsdCmd *cmd,
                        char *why)
{
    unsigned state = z->zone[i].state;

    to_flush(cmd);
    if (z->zone[i].busy) {
        return ZONE_WAITS;
    }
    if (state == ZONE_FULL) {
        return refuse(why, i, "is full", 0, NULL);
    }
    if (act == ZONE_CLOSE) {
        return is_active(state) ? ZONE_GOES
                                : refuse(why, i, "is not open", 0, NULL);
    }
    return ask_open(z, i, why);
}

ZoneGo zoned_ask(const Zoned *z, ZoneAct act, SsdCmd *cmd, char *why)
{
    uint32_t i = zoned_at(z, cmd->lba);

    if (act == ZONE_PLAIN && cmd->op != SSD_OP_WRITE) {
        return ZONE_GOES;
    }
    if (i == z->n) {
        return refuse(why, i, "there is no such zone", 0, NULL);
    }
    switch (act) {
    case ZONE_PLAIN:
    case ZONE_APPEND:
        return ask_write(z, i, act == ZONE_APPEND, cmd, why);
    case ZONE_RESET:
        return ask_reset(z, i, cmd);
    case ZONE_FINISH:
        return ask_finish(z, i, cmd);
    default:
        return ask_state(z, i, act, cmd, why);
    }
}

/* ---- commands in flight -------------------------------------------------- */

static void wrote(Zoned *z, uint32_t i, uint32_t nblocks)
{
    Zone *zone = &z->zone[i];

    open_zone(z, i,
              zone->state == ZONE_EXPLICITLY_OPEN ? ZONE_EXPLICITLY_OPEN
                                                  : ZONE_IMPLICITLY_OPEN);
    zone->wp += nblocks;
    zone->writes++;
    if (zone->wp == z->capacity) { /* its blocks are full, too */
        set_state(z, i, ZONE_FULL);
        give_stream(z, i);
    }
}

/* Bits of a number beside the zone's. */
enum {
    OF_WRITE = 1,
    OF_JOB = 2, /* of a reset or a finish */
};

static uint32_t number(uint32_t i, unsigned what)
{
    return i << 2 | what;
}

/* A zone that is full, or empty again, keeps its stream up to the end of the
 * job: blocks of it may be open. */
static uint32_t begin_job(Zoned *z, uint32_t i, ZoneState state)
{
    z->zone[i].busy = true;
    set_state(z, i, state);
    return number(i, OF_JOB);
}

uint32_t zoned_given(Zoned *z, ZoneAct act, const SsdCmd *cmd)
{
    uint32_t i = zoned_at(z, cmd->lba);

    switch (act) {
    case ZONE_PLAIN:
        if (cmd->op != SSD_OP_WRITE) {
            return 0;
        }
        /* fall through */
    case ZONE_APPEND:
        wrote(z, i, cmd->nblocks);
        return number(i, OF_WRITE);
    case ZONE_RESET:
        z->zone[i].wp = 0;
        return begin_job(z, i, ZONE_EMPTY);
    case ZONE_FINISH:
        return begin_job(z, i, ZONE_FULL);
    case ZONE_CLOSE:
        set_state(z, i, ZONE_CLOSED);
        return 0;
    default:
        open_zone(z, i, ZONE_EXPLICITLY_OPEN);
        return 0;
    }
}

void zoned_ended(Zoned *z, uint32_t number)
{
    uint32_t i = number >> 2;

    if (number & OF_WRITE) {
        z->zone[i].writes--;
    } else if (number & OF_JOB) {
        z->zone[i].busy = false;
        give_stream(z, i);
    }
}

bool zoned_preload(Zoned *z, uint64_t lba, uint64_t nblocks)
{
    if (lba % z->capacity || nblocks % z->capacity) {
        return false;
    }
    for (uint64_t i = lba / z->capacity; i < (lba + nblocks) / z->capacity;
         i++) {
        z->zone[i].wp = z->capacity;
        z->zone[i].state = ZONE_FULL;
    }
    return true;
}

/* ---- saving -------------------------------------------------------------- */

/* Of a zone that is not empty. */
typedef struct Record {
    uint64_t zone;
    uint64_t state;
    uint64_t wp;
    uint64_t opened;
    uint64_t stream; /* or NO_STREAM */
} Record;

typedef struct Head {
    uint64_t n;
    uint64_t capacity;
    uint64_t opens;
    uint64_t records;
} Head;

bool zoned_save(const Zoned *z, FILE *out, GError **error)
{
    Head head = {z->n, z->capacity, z->opens, 0};
    State s;

    for (uint32_t i = 0; i < z->n; i++) {
        head.records += z->zone[i].state != ZONE_EMPTY;
    }
    state_begin(&s, out, false);
    state_signature(&s, SIGNATURE, "");
    state_record(&s, &head, sizeof(head));
    for (uint32_t i = 0; i < z->n; i++) {
        const Zone *zone = &z->zone[i];
        Record r = {i, zone->state, zone->wp, zone->opened, zone->stream};

        if (zone->state != ZONE_EMPTY) {
            state_record(&s, &r, sizeof(r));
        }
    }
    return state_end(&s, error);
}

/* The stream may be forged. */
static bool record_ok(const Zoned *z, const Record *r)
{
    bool streams = r->stream < z->n_streams && !z->taken[r->stream];

    return r->zone < z->n && z->zone[r->zone].state == ZONE_EMPTY &&
           r->state > ZONE_EMPTY && r->state <= ZONE_FULL &&
           r->wp <= z->capacity && r->opened <= z->opens &&
           (is_active((unsigned)r->state) ? streams && r->wp < z->capacity
                                          : r->stream == NO_STREAM);
}

static bool load_records(State *s, Zoned *z, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        Record r;

        if (!state_record(s, &r, sizeof(r))) {
            return false;
        }
        if (!record_ok(z, &r)) {
            return state_fail(s, "it is damaged: a zone");
        }
        z->zone[r.zone] = (Zone){
            .wp = r.wp,
            .opened = r.opened,
            .stream = (uint16_t)r.stream,
            .state = (uint8_t)r.state,
        };
        z->n_open += is_open((unsigned)r.state);
        z->n_active += is_active((unsigned)r.state);
        if (r.stream != NO_STREAM) {
            z->taken[r.stream] = true;
        }
    }
    return (z->n_open <= z->max_open && z->n_active <= z->max_active) ||
           state_fail(s, "it is damaged: more zones are open than may be");
}

bool zoned_load(Zoned *z, FILE *in, GError **error)
{
    Head head;
    State s;

    state_begin(&s, in, true);
    if (state_signature(&s, SIGNATURE,
                        "it has no zones of libvssd or vssd-sim "
                        "behind the drive") &&
        state_record(&s, &head, sizeof(head))) {
        if (head.n != z->n || head.capacity != z->capacity ||
            head.records > z->n) {
            state_fail(&s, "it is damaged: the zones, or they are of a drive "
                           "of another size");
        } else {
            z->opens = head.opens;
            load_records(&s, z, head.records);
        }
    }
    return state_end(&s, error);
}
