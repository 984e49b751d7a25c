/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone-state.c - the table of zones as a stream of bytes, and back.
 *
 * Empty zones that need nothing are left out.  A write that has not ended
 * leaves its zone torn: the power went with it.  A stream may be forged: all is
 * checked before the controller may use it.
 */
#include "nvme-internal.h"
#include "zone/zone-state.h"
#include "zone/zones.h"

#include "simtime.h"
#include "ssd-save.h"

typedef struct Head {
    uint64_t n; /* zones */
    uint64_t size;
    uint64_t capacity;
    uint64_t extension_bytes;
    uint64_t records;
    uint64_t opens;
} Head;

typedef struct Record {
    uint64_t zone;
    uint64_t state;
    uint64_t wp;
    uint64_t settled;
    uint64_t opened;
    uint64_t stream;
    uint64_t described; /* this and the following: flags */
    uint64_t torn;
    uint64_t resetting;
    uint64_t finishing;
    uint64_t zrwa; /* as the next, a flag of a drive with such areas */
    uint64_t holds;
    uint64_t advice;  /* NvmeZone.advice */
    uint64_t age_s;   /* since NvmeZone.since_ns, of a drive with limits */
    uint64_t changed; /* by controller */
} Record;

/*
 * Record.changed: a bit for each controller, the first one's and then those of
 * the others by identifier, as they follow in the stream.  Controllers that
 * come later have nothing to read.
 */
static unsigned rank_of(const NvmeCtrl *ctrl)
{
    unsigned rank = 1;

    if (ctrl == &ctrl->sub->first) {
        return 0;
    }
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        rank += c != &ctrl->sub->first && c->cfg.cntlid < ctrl->cfg.cntlid;
    }
    return rank;
}

static uint64_t changed_by_rank(NvmeSubsys *sub, uint32_t by_index)
{
    uint64_t mask = 0;

    NVME_FOR_EACH_CTRL(sub, c)
    {
        mask |= (uint64_t)(by_index >> c->index & 1) << rank_of(c);
    }
    return mask;
}

static uint32_t changed_by_index(NvmeSubsys *sub, uint64_t by_rank)
{
    uint32_t mask = 0;

    NVME_FOR_EACH_CTRL(sub, c)
    {
        mask |= (uint32_t)(by_rank >> rank_of(c) & 1) << c->index;
    }
    return mask;
}

static bool is_plain(const NvmeZone *z)
{
    return z->base.state == ZONE_EMPTY && !z->holds &&
           z->base.stream == ZONE_NO_STREAM && !z->described && !z->resetting &&
           !z->changed;
}

static bool has_limits(const NvmeZones *z)
{
    return z->finish_s || z->reset_s;
}

static uint64_t age_of(const NvmeCtrl *ctrl, const NvmeZone *zone)
{
    int64_t ns = (int64_t)ctrl->sub->now_ns - zone->since_ns;

    return has_limits(&ctrl->sub->zones)
               ? MIN((uint64_t)MAX(ns, 0) / NS_PER_S, UINT32_MAX)
               : 0;
}

static bool save_one(State *s, NvmeCtrl *ctrl, uint32_t i)
{
    const NvmeZone *z = &ctrl->sub->zones.zone[i];
    size_t n = ctrl->sub->zones.extension_bytes;
    Record r = {
        .zone = i,
        .state = z->base.state,
        .wp = z->wp,
        .settled = z->settled,
        .opened = z->base.opened,
        .stream = z->base.stream,
        .described = z->described,
        .torn = z->torn || z->writes > 0,
        .resetting = z->resetting,
        .finishing = z->finishing,
        .zrwa = z->zrwa,
        .holds = z->holds,
        .advice = z->advice,
        .age_s = age_of(ctrl, z),
        .changed = changed_by_rank(ctrl->sub, z->changed),
    };

    return state_record(s, &r, sizeof(r)) &&
           (!z->described ||
            state_bytes(s, ctrl->sub->zones.extension + i * n, n));
}

static bool save_all(State *s, NvmeCtrl *ctrl)
{
    NvmeZones *z = &ctrl->sub->zones;
    Head head = {
        .n = z->n,
        .size = z->size,
        .capacity = z->capacity,
        .extension_bytes = z->extension_bytes,
        .opens = z->table.opens,
    };

    for (uint32_t i = 0; i < z->n; i++) {
        head.records += !is_plain(&z->zone[i]);
    }
    if (!state_record(s, &head, sizeof(head))) {
        return false;
    }
    for (uint32_t i = 0; i < z->n; i++) {
        if (!is_plain(&z->zone[i]) && !save_one(s, ctrl, i)) {
            return false;
        }
    }
    return true;
}

/* ---- loading ------------------------------------------------------------- */

/* A stream is of an active zone, or of one with a job; a finish has one. */
static bool stream_ok(const Record *r)
{
    return r->stream == ZONE_NO_STREAM
               ? !r->finishing
               : zone_is_active(r->state) || r->finishing || r->resetting;
}

static bool record_ok(const NvmeZones *z, const Record *r)
{
    return r->zone < z->n && is_plain(&z->zone[r->zone]) &&
           r->wp <= z->capacity && r->settled <= z->capacity && stream_ok(r) &&
           r->described <= 1 && (!r->described || z->extension_bytes) &&
           r->torn <= 1 && r->resetting <= 1 && r->finishing <= 1 &&
           !(r->changed >> NVME_MAX_CTRLS) &&
           (r->state != ZONE_EMPTY || r->wp == 0) &&
           (!zone_is_active(r->state) || r->wp < z->capacity);
}

/* An area belongs to an active zone of a drive that has them. */
static bool area_ok(const NvmeZones *z, const Record *r)
{
    return r->zrwa <= 1 && r->holds <= 1 &&
           (z->zrwa || !(r->zrwa | r->holds)) &&
           (!r->zrwa || zone_is_active(r->state));
}

/* Attributes belong to a state, and to a limit that the drive has. */
static bool advice_ok(const NvmeZones *z, uint64_t advice, uint64_t state)
{
    bool full = state == ZONE_FULL;
    unsigned may =
        (z->finish_limit_s && full ? NVME_ZONE_FINISHED : 0) |
        (z->reset_s && full ? NVME_ZONE_SHOULD_RESET : 0) |
        (z->finish_s && zone_is_active(state) ? NVME_ZONE_SHOULD_FINISH : 0);

    return !(advice & ~(uint64_t)may);
}

static bool load_one(State *s, NvmeCtrl *ctrl)
{
    NvmeZones *z = &ctrl->sub->zones;
    size_t n = z->extension_bytes;
    Record r;

    if (!state_record(s, &r, sizeof(r))) {
        return false;
    }
    if (!record_ok(z, &r) || !area_ok(z, &r) ||
        !advice_ok(z, r.advice, r.state) ||
        r.age_s > (has_limits(z) ? UINT32_MAX : 0) ||
        !zone_load(&z->table, &z->zone[r.zone].base, r.state, r.stream,
                   r.opened)) {
        return state_fail(s, "it is damaged: a zone");
    }
    z->zone[r.zone] = (NvmeZone){
        .base = z->zone[r.zone].base,
        .wp = r.wp,
        .settled = MIN(r.settled, r.wp),
        .described = r.described,
        .torn = r.torn,
        .resetting = r.resetting,
        .finishing = r.finishing,
        .changed = changed_by_index(ctrl->sub, r.changed),
        .zrwa = r.zrwa,
        .holds = r.holds,
        .advice = (uint8_t)r.advice,
        .since_ns =
            (int64_t)ssd_now_ns(ctrl->ssd) - (int64_t)(r.age_s * NS_PER_S),
    };
    z->n_zrwa += z->zone[r.zone].zrwa;
    return !r.described || state_bytes(s, z->extension + r.zone * n, n);
}

static void forget_all(NvmeZones *z)
{
    for (uint32_t i = 0; i < z->n; i++) {
        z->zone[i] = (NvmeZone){.base = ZONE_NEW};
    }
    zone_forget_all(&z->table);
    z->n_zrwa = 0;
}

static bool load_all(State *s, NvmeCtrl *ctrl)
{
    NvmeZones *z = &ctrl->sub->zones;
    Head head;

    if (!state_record(s, &head, sizeof(head))) {
        return false;
    }
    if (head.n != z->n || head.size != z->size ||
        head.capacity != z->capacity ||
        head.extension_bytes != z->extension_bytes || head.records > z->n) {
        return state_fail(s, "it is damaged: the zones, or they are of a drive "
                             "of another size");
    }
    forget_all(z);
    z->table.opens = head.opens;
    z->work = true;
    nvme_zones_look_again(ctrl->sub);
    for (uint64_t i = 0; i < head.records; i++) {
        if (!load_one(s, ctrl)) {
            return false;
        }
    }
    return (zone_limits_hold(&z->table) && z->n_zrwa <= z->max_zrwa) ||
           state_fail(s, "it is damaged: more zones are open than may be");
}

bool nvme_zones_state(State *s, NvmeCtrl *ctrl)
{
    if (ctrl->sub->zones.n == 0) {
        return true;
    }
    return s->loading ? load_all(s, ctrl) : save_all(s, ctrl);
}
