/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid-plan.c - reads and writes of a stripe, for each kind of operation.
 *
 * A write is looked at in segments: ranges of the chunks in which the same
 * roles are written.  Each has the update that reads the fewest chunks.
 */
#include "raid-plan.h"

#define ROLE(i) (1ULL << (i))

static const char *const update_names[] = {
#define RAID_UPDATE_NAME(upper, name, help) name,
    RAID_UPDATES(RAID_UPDATE_NAME)
#undef RAID_UPDATE_NAME
};

const char *raid_update_name(unsigned update)
{
    return update_names[update];
}

/* The least n bits. */
static uint64_t first_roles(uint32_t n)
{
    return n == 64 ? UINT64_MAX : ROLE(n) - 1;
}

static uint64_t data_roles(const RaidLayout *l)
{
    return first_roles(l->n_data);
}

static uint64_t all_roles(const RaidLayout *l)
{
    return first_roles(l->width);
}

static uint32_t count_roles(uint64_t roles)
{
    return (uint32_t)__builtin_popcountll(roles);
}

void raid_plan_init(RaidPlan *p)
{
    *p = (RaidPlan){.reads = g_array_new(FALSE, FALSE, sizeof(RaidPart)),
                    .writes = g_array_new(FALSE, FALSE, sizeof(RaidPart))};
}

void raid_plan_clear(RaidPlan *p)
{
    g_array_unref(p->reads);
    g_array_unref(p->writes);
}

static void plan_begin(RaidPlan *p)
{
    g_array_set_size(p->reads, 0);
    g_array_set_size(p->writes, 0);
    p->update = RAID_UPDATE_NONE;
    p->lost = p->rebuilt = false;
}

static void lose(RaidPlan *p)
{
    plan_begin(p);
    p->lost = true;
}

/* A range, joined with one of the same role that ends where it begins. */
static void add(GArray *parts, uint32_t role, uint32_t first, uint32_t n)
{
    RaidPart part = {role, first, n};

    for (unsigned i = parts->len; i-- > 0;) {
        RaidPart *last = &g_array_index(parts, RaidPart, i);

        if (last->role == role && last->first + last->n == first) {
            last->n += n;
            return;
        }
    }
    g_array_append_val(parts, part);
}

static void add_all(GArray *parts, uint64_t roles, uint32_t first, uint32_t n)
{
    for (; roles; roles &= roles - 1) {
        add(parts, (uint32_t)__builtin_ctzll(roles), first, n);
    }
}

/* Any n_data chunks give all others: data first, so that the most of it needs
 * no computation.  false: there are not so many. */
static bool sources(const RaidLayout *l, uint64_t readable, uint64_t *roles)
{
    *roles = 0;
    for (uint32_t i = 0; i < l->width && count_roles(*roles) < l->n_data; i++) {
        *roles |= readable & ROLE(i);
    }
    return count_roles(*roles) == l->n_data;
}

/* ---- segments ------------------------------------------------------------ */

/* A contiguous range of a stripe's data covers three segments at most. */
typedef struct Segment {
    uint64_t roles; /* data chunks that the range covers there */
    uint32_t first, n;
} Segment;

static unsigned segments(const RaidLayout *l, uint64_t first, uint64_t n,
                         Segment seg[3])
{
    uint32_t chunk = l->chunk_blocks;
    uint32_t from = (uint32_t)(first / chunk);
    uint32_t to = (uint32_t)((first + n - 1) / chunk);
    uint32_t head = (uint32_t)(first % chunk); /* of `from` on */
    uint32_t tail =
        (uint32_t)((first + n - 1) % chunk) + 1; /* of `to`, before */
    uint32_t edge[4] = {0, MIN(head, tail), MAX(head, tail), chunk};
    unsigned n_seg = 0;

    for (unsigned i = 0; i < 3; i++) {
        Segment s = {0, edge[i], edge[i + 1] - edge[i]};

        for (uint32_t role = from; s.n > 0 && role <= to; role++) {
            if ((role > from || s.first >= head) &&
                (role < to || s.first < tail)) {
                s.roles |= ROLE(role);
            }
        }
        if (s.roles) {
            seg[n_seg++] = s;
        }
    }
    return n_seg;
}

/* ---- operations ---------------------------------------------------------- */

/* Of copies one chunk is as good as another. */
static uint64_t copy_to_read(const RaidChunks *c, const RaidLayout *l)
{
    uint64_t readable = c->readable & all_roles(l);

    if (readable & ROLE(c->prefer)) {
        return ROLE(c->prefer);
    }
    return readable & (~readable + 1);
}

static bool read_segment(const RaidLayout *l, const RaidChunks *c,
                         const Segment *s, RaidPlan *p)
{
    uint64_t missing = s->roles & ~c->readable;
    uint64_t from = s->roles;

    if (l->copies) {
        from = copy_to_read(c, l);
        missing = all_roles(l) & ~c->readable;
    } else if (missing) {
        if (!sources(l, c->readable, &from)) {
            return false;
        }
        from |= s->roles & c->readable;
    }
    if (!from) {
        return false;
    }
    p->rebuilt |= missing != 0 && !l->copies;
    add_all(p->reads, from, s->first, s->n);
    add_all(p->writes, missing & c->writable, s->first, s->n);
    return true;
}

void raid_plan_read(const RaidLayout *l, const RaidChunks *c, uint64_t first,
                    uint64_t n, RaidPlan *p)
{
    Segment seg[3];
    unsigned n_seg = segments(l, first, n, seg);

    plan_begin(p);
    for (unsigned i = 0; i < n_seg; i++) {
        if (!read_segment(l, c, &seg[i], p)) {
            lose(p);
            return;
        }
    }
}

/*
 * The roles to read before a write of s, and the kind of update.
 *
 *   read-modify  the old values of what is written, parity included; parity
 *                that is lost does not matter
 *   reconstruct  all data that is not written
 *   degraded     neither can be had: enough chunks for all data
 */
static bool choose(const RaidLayout *l, const RaidChunks *c, const Segment *s,
                   uint64_t *reads, RaidUpdate *update)
{
    uint64_t parity = all_roles(l) & ~data_roles(l) & c->writable;
    uint64_t stays = data_roles(l) & ~s->roles;
    uint64_t old = s->roles | parity;
    bool can_modify = (old & ~c->readable) == 0;
    bool can_reconstruct = (stays & ~c->readable) == 0;

    *reads = 0;
    *update = RAID_UPDATE_NONE;
    if (!parity) {
        return (s->roles & ~c->writable) == 0;
    }
    if (!stays) {
        *update = RAID_UPDATE_FULL;
    } else if (can_reconstruct &&
               (!can_modify || count_roles(stays) <= count_roles(old))) {
        *update = RAID_UPDATE_RECONSTRUCT;
        *reads = stays;
    } else if (can_modify) {
        *update = RAID_UPDATE_MODIFY;
        *reads = old;
    } else {
        *update = RAID_UPDATE_DEGRADED;
        return sources(l, c->readable, reads);
    }
    return true;
}

static bool write_segment(const RaidLayout *l, const RaidChunks *c,
                          const Segment *s, RaidPlan *p)
{
    uint64_t written =
        l->copies ? all_roles(l) : s->roles | (all_roles(l) & ~data_roles(l));
    uint64_t reads = 0;
    RaidUpdate update = RAID_UPDATE_NONE;

    if (!l->copies && l->n_data < l->width &&
        !choose(l, c, s, &reads, &update)) {
        return false;
    }
    written &= c->writable;
    if (!written || (l->n_data == l->width && written != s->roles)) {
        return false;
    }
    p->update = MAX(p->update, update);
    add_all(p->reads, reads, s->first, s->n);
    add_all(p->writes, written, s->first, s->n);
    return true;
}

void raid_plan_write(const RaidLayout *l, const RaidChunks *c, uint64_t first,
                     uint64_t n, RaidPlan *p)
{
    Segment seg[3];
    unsigned n_seg = segments(l, first, n, seg);

    plan_begin(p);
    if (!l->copies && raid_layout_parities(l) > 0 &&
        count_roles(all_roles(l) & ~c->writable) > raid_layout_parities(l)) {
        lose(p); /* it could not be read again */
        return;
    }
    for (unsigned i = 0; i < n_seg; i++) {
        if (!write_segment(l, c, &seg[i], p)) {
            lose(p);
            return;
        }
    }
}

void raid_plan_trim(const RaidLayout *l, const RaidChunks *c, uint64_t first,
                    uint64_t n, RaidPlan *p)
{
    uint64_t all = (uint64_t)l->n_data * l->chunk_blocks;

    plan_begin(p);
    if (l->copies) {
        add_all(p->writes, all_roles(l) & c->writable, (uint32_t)first,
                (uint32_t)n);
    } else if (first == 0 && n == all) {
        add_all(p->writes, all_roles(l) & c->writable, 0, l->chunk_blocks);
    }
}

void raid_plan_rebuild(const RaidLayout *l, const RaidChunks *c, uint32_t role,
                       RaidPlan *p)
{
    uint64_t from;

    plan_begin(p);
    if (l->copies) {
        from = copy_to_read(c, l);
    } else if (!sources(l, c->readable & ~ROLE(role), &from)) {
        from = 0;
    }
    if (!from) {
        lose(p);
        return;
    }
    add_all(p->reads, from, 0, l->chunk_blocks);
    add(p->writes, role, 0, l->chunk_blocks);
}
