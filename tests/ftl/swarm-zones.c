/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swarm-zones.c - the host of a random zoned drive: write pointers, streams and
 * Zone Random Write Areas, by the rules that the controller keeps
 * (hw-ssd/nvme/zone/zones.c).
 */
#include "swarm-zones.h"

#include "ssd-internal.h"

#define NO_ZONE UINT32_MAX

typedef enum ZoneState {
    ZONE_EMPTY,
    ZONE_ACTIVE,
    ZONE_FULL,
} ZoneState;

typedef struct Zone {
    ZoneState state;
    bool resetting; /* its reset may still run */
} Zone;

/* An active zone. Its stream is its place in the table. */
typedef struct Active {
    uint32_t zone; /* NO_ZONE: none */
    uint64_t wp;   /* in units */
    bool area;
} Active;

struct ZoneHost {
    Ref *ref;
    SsdLayout l; /* Ref.ssd may be replaced by a copy */
    SsdZones z;
    Zone *zone;
    Active *active;
    uint32_t n_active, n_areas;
};

ZoneHost *zone_host_new(Ref *ref)
{
    ZoneHost *h;

    if (ref->info->zones.n == 0) {
        return NULL;
    }
    h = g_new0(ZoneHost, 1);
    h->ref = ref;
    h->l = ref->ssd->l;
    h->z = ref->info->zones;
    h->zone = g_new0(Zone, ref->info->zones.n);
    h->n_active = ref->info->zones.max_active;
    h->active = g_new(Active, h->n_active);
    for (uint32_t i = 0; i < h->n_active; i++) {
        h->active[i] = (Active){.zone = NO_ZONE};
    }
    return h;
}

void zone_host_free(ZoneHost *h)
{
    if (h) {
        g_free(h->zone);
        g_free(h->active);
        g_free(h);
    }
}

/* n units from offset on. */
static void submit(ZoneHost *h, SsdOp op, uint32_t zone, uint64_t offset,
                   uint64_t n, uint32_t stream, bool fua)
{
    uint32_t ub = h->ref->unit_blocks;

    h->ref->stream = (uint16_t)stream;
    h->ref->erase = op == SSD_OP_TRIM;
    h->ref->close = op == SSD_OP_FLUSH;
    ref_do(h->ref, op, (zone * h->l.zone_units + offset) * ub, (uint32_t)n * ub,
           fua);
    h->ref->stream = 0;
    h->ref->erase = h->ref->close = false;
}

/* The host writes to it when the reset has ended. */
static void reset(ZoneHost *h, uint32_t zone, uint32_t stream)
{
    ref_drain(h->ref);
    submit(h, SSD_OP_TRIM, zone, 0, h->l.zone_units, stream, false);
    h->zone[zone].resetting = true;
}

static void await_reset(ZoneHost *h, uint32_t zone)
{
    if (h->zone[zone].resetting) {
        ref_drain(h->ref);
        h->zone[zone].resetting = false;
    }
}

static void give_area(ZoneHost *h, Active *a)
{
    h->n_areas -= a->area;
    a->area = false;
}

/* The write pointer moves on; what is before it may leave the buffer. */
static void commit(ZoneHost *h, Active *a, uint64_t end)
{
    uint32_t ub = h->ref->unit_blocks;
    uint64_t at = a->zone * h->l.zone_units + a->wp;

    ref_drain(h->ref);
    if (end > a->wp && !h->ref->stopped) {
        ssd_zone_commit(h->ref->ssd, h->ref->now_ns - h->ref->base_ns, at * ub,
                        (end - a->wp) * ub, (uint32_t)(a - h->active));
    }
    a->wp = end;
}

/* Its stream is another zone's from now on: at once, if its blocks are full. */
static void end_zone(ZoneHost *h, Active *a)
{
    bool filled = a->wp == h->l.zone_units && !a->area;

    if (a->area) {
        commit(h, a, h->l.zone_units);
    }
    if (!filled || !h->z.whole) {
        ref_drain(h->ref);
        submit(h, SSD_OP_FLUSH, a->zone, 0, 0, (uint32_t)(a - h->active),
               false);
        ref_drain(h->ref);
    }
    give_area(h, a);
    h->zone[a->zone].state = ZONE_FULL;
    a->zone = NO_ZONE;
}

/* An empty zone, or one that is reset for that. */
static void begin_zone(ZoneHost *h, Prng *r, Active *a)
{
    uint32_t i = (uint32_t)prng_below(r, h->z.n);

    for (uint32_t k = 0; k < h->z.n && h->zone[i].state == ZONE_ACTIVE; k++) {
        i = (i + 1) % h->z.n;
    }
    if (h->zone[i].state == ZONE_ACTIVE) {
        return;
    }
    if (h->zone[i].state == ZONE_FULL) {
        reset(h, i, UINT16_MAX);
    }
    await_reset(h, i);
    h->zone[i].state = ZONE_ACTIVE;
    *a = (Active){
        .zone = i,
        .area = h->n_areas < h->z.max_zrwa && prng_below(r, 2),
    };
    h->n_areas += a->area;
}

/* Anywhere in the area; now and then it moves. */
static void write_area(ZoneHost *h, Prng *r, Active *a, uint64_t n, bool fua)
{
    uint64_t room = MIN(h->l.zrwa_units, h->l.zone_units - a->wp);
    uint64_t offset = prng_below(r, room);

    n = MIN(n, room - offset);
    submit(h, SSD_OP_WRITE, a->zone, a->wp + offset, n, h->l.held_stream, fua);
    if (prng_below(r, 3) == 0) {
        uint64_t most = room / h->l.zrwa_granule;
        uint64_t by = h->l.zrwa_granule * (1 + prng_below(r, MAX(most, 1)));

        commit(h, a, MIN(a->wp + by, h->l.zone_units));
    }
}

static void write_zone(ZoneHost *h, Prng *r, Active *a, uint64_t n, bool fua)
{
    await_reset(h, a->zone);
    if (a->area) {
        write_area(h, r, a, n, fua);
    } else {
        n = MIN(n, h->l.zone_units - a->wp);
        submit(h, SSD_OP_WRITE, a->zone, a->wp, n, (uint32_t)(a - h->active),
               fua);
        a->wp += n;
    }
    if (a->wp == h->l.zone_units) {
        end_zone(h, a);
    }
}

void zone_host_write(ZoneHost *h, Prng *r, uint32_t most_units, bool fua)
{
    Active *a = &h->active[prng_below(r, h->n_active)];
    uint64_t most = MAX(most_units, h->l.zone_units / 16);
    uint64_t n = 1 + prng_below(r, most);
    uint64_t how = prng_below(r, 200);

    if (a->zone == NO_ZONE) {
        begin_zone(h, r, a);
    }
    if (a->zone == NO_ZONE) {
        return; /* all of them are active */
    }
    if (how == 0) {
        await_reset(h, a->zone);
        end_zone(h, a);
    } else if (how == 1) {
        reset(h, a->zone, (uint32_t)(a - h->active));
        give_area(h, a);
        a->wp = 0;
    } else {
        write_zone(h, r, a, n, fua);
    }
}

/* As far as there is data. */
static uint64_t end_of_data(const ZoneHost *h, const Active *a)
{
    uint64_t base = a->zone * h->l.zone_units;
    uint64_t end = a->wp;

    while (end > 0 &&
           !ssd_mapped(h->ref->ssd, (base + end - 1) * h->ref->unit_blocks,
                       NULL)) {
        end--;
    }
    return end;
}

void zone_host_torn(ZoneHost *h)
{
    ref_drain(h->ref);
    for (uint32_t i = 0; i < h->n_active; i++) {
        Active *a = &h->active[i];
        uint64_t end;

        if (a->zone == NO_ZONE || a->area) {
            continue; /* the pointer of an area is that of its commits */
        }
        end = end_of_data(h, a);
        h->zone[a->zone].resetting |= end == 0 && a->wp > 0;
        a->wp = end;
    }
    for (uint32_t i = 0; i < h->z.n; i++) {
        uint32_t stream = UINT16_MAX;

        for (uint32_t k = 0; k < h->n_active; k++) {
            stream = h->active[k].zone == i ? k : stream;
        }
        if (h->zone[i].resetting) {
            reset(h, i, stream);
        }
    }
}
