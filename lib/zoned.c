/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zoned.c - zones for hosts without NVMe; see zoned.h.
 *
 * Knows write pointers, commands in flight, and what a refusal says; which
 * zones are open, active or have a stream is in zone-table.h.  Knows nothing of
 * time.
 */
#include "zoned.h"

#include "options.h"
#include "state.h"
#include "vssd.h"
#include "zone-table.h"

#include <inttypes.h>
#include <string.h>

#define SIGNATURE "vssdZNH\0"

typedef struct Zone {
    ZoneBase base;
    uint64_t wp;     /* blocks from its start */
    uint32_t writes; /* in flight */
    bool busy;       /* a reset or a finish is in flight */
} Zone;

struct Zoned {
    ZoneTable table;
    uint64_t capacity; /* blocks */
    uint32_t n;
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
    z->capacity = from->capacity;
    z->table.n_streams = info->host_streams;
    z->table.max_active = from->max_active;
    z->table.max_open = from->max_open;
    for (uint32_t i = 0; i < z->n; i++) {
        z->zone[i].base = ZONE_NEW;
    }
    return z;
}

Zoned *zoned_copy(const Zoned *z)
{
    Zoned *copy;

    if (!z) {
        return NULL;
    }
    copy = g_memdup2(z, bytes_of(z->n));
    for (uint32_t i = 0; i < z->n; i++) {
        ZoneBase *zone = &copy->zone[i].base;

        if (zone->stream != ZONE_NO_STREAM) {
            copy->table.owner[zone->stream] = zone;
        }
    }
    return copy;
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

/* States in files are those of vssd.h, which have no gaps. */
static unsigned outer_state(unsigned state)
{
    return state == ZONE_FULL ? VSSD_ZONE_IS_FULL : state - ZONE_EMPTY;
}

ZoneInfo zoned_zone(const Zoned *z, uint32_t i)
{
    return (ZoneInfo){
        .state = outer_state(z->zone[i].base.state),
        .start = i * z->capacity,
        .capacity = z->capacity,
        .written = z->zone[i].wp,
    };
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
    switch (zone_lacks(&z->table, &z->zone[i].base, true)) {
    case ZONE_LACKS_ACTIVE:
        return refuse(why, i, "too many zones are active", z->table.max_active,
                      "zones.max_active");
    case ZONE_LACKS_OPEN:
        return refuse(why, i, "too many zones are open", z->table.max_open,
                      "zones.max_open");
    case ZONE_LACKS_STREAM:
        return ZONE_WAITS; /* for a zone that is being finished */
    default:
        return ZONE_GOES;
    }
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
    if (zone->base.state == ZONE_FULL) {
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
    cmd->stream = zone_stream(&z->table, &zone->base);
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
    if (zone_is_active(zone->base.state) && zone->wp > 0) {
        cmd->close = true;
        cmd->stream = zone->base.stream;
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
    cmd->stream = zone->base.stream;
    cmd->lba = i * z->capacity;
    cmd->nblocks = (uint32_t)z->capacity;
    return ZONE_GOES;
}

/* They are done at once, in the time of a command. */
static ZoneGo ask_state(const Zoned *z, uint32_t i, ZoneAct act, SsdCmd *cmd,
                        char *why)
{
    unsigned state = z->zone[i].base.state;

    to_flush(cmd);
    if (z->zone[i].busy) {
        return ZONE_WAITS;
    }
    if (state == ZONE_FULL) {
        return refuse(why, i, "is full", 0, NULL);
    }
    if (act == ZONE_CLOSE) {
        return zone_is_active(state) ? ZONE_GOES
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

    zone_set_state(&z->table, &zone->base, ZONE_IMPLICIT);
    zone->wp += nblocks;
    zone->writes++;
    if (zone->wp == z->capacity) { /* its blocks are full, too */
        zone_set_state(&z->table, &zone->base, ZONE_FULL);
        zone_give_stream(&z->table, &zone->base);
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
    zone_set_state(&z->table, &z->zone[i].base, state);
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
        zone_set_state(&z->table, &z->zone[i].base, ZONE_CLOSED);
        return 0;
    default:
        zone_set_state(&z->table, &z->zone[i].base, ZONE_EXPLICIT);
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
        zone_give_stream(&z->table, &z->zone[i].base);
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
        z->zone[i].base.state = ZONE_FULL;
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
    uint64_t stream; /* or ZONE_NO_STREAM */
} Record;

typedef struct Head {
    uint64_t n;
    uint64_t capacity;
    uint64_t opens;
    uint64_t records;
} Head;

bool zoned_save(const Zoned *z, FILE *out, GError **error)
{
    Head head = {z->n, z->capacity, z->table.opens, 0};
    State s;

    for (uint32_t i = 0; i < z->n; i++) {
        head.records += z->zone[i].base.state != ZONE_EMPTY;
    }
    state_begin(&s, out, false);
    state_signature(&s, SIGNATURE, "");
    state_record(&s, &head, sizeof(head));
    for (uint32_t i = 0; i < z->n; i++) {
        const Zone *zone = &z->zone[i];
        Record r = {i, outer_state(zone->base.state), zone->wp,
                    zone->base.opened, zone->base.stream};

        if (r.state > 0) {
            state_record(&s, &r, sizeof(r));
        }
    }
    return state_end(&s, error);
}

/* The stream may be forged. */
static bool record_ok(const Zoned *z, const Record *r)
{
    bool full = r->state == VSSD_ZONE_IS_FULL;

    return r->zone < z->n && z->zone[r->zone].base.state == ZONE_EMPTY &&
           r->state > VSSD_ZONE_IS_EMPTY && r->state <= VSSD_ZONE_IS_FULL &&
           r->wp <= z->capacity &&
           (full ? r->stream == ZONE_NO_STREAM : r->wp < z->capacity);
}

static bool load_records(State *s, Zoned *z, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        Record r;

        if (!state_record(s, &r, sizeof(r))) {
            return false;
        }
        if (!record_ok(z, &r) ||
            !zone_load(&z->table, &z->zone[r.zone].base,
                       r.state == VSSD_ZONE_IS_FULL ? ZONE_FULL
                                                    : r.state + ZONE_EMPTY,
                       r.stream, r.opened)) {
            return state_fail(s, "it is damaged: a zone");
        }
        z->zone[r.zone].wp = r.wp;
    }
    return zone_limits_hold(&z->table) ||
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
            z->table.opens = head.opens;
            load_records(&s, z, head.records);
        }
    }
    return state_end(&s, error);
}
