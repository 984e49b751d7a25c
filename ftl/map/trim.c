/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trim.c - TRIM: in bounded steps, however large the range and the drive.
 *
 * Knows which parts of the map may hold something, and which of them a TRIM
 * that has begun is still to unmap.  map.c unmaps a single unit.
 *
 * The map is looked at in groups of units (SsdConfig.trim_group_shift).  A bit
 * for each says that it may hold something (group_used), so ranges that hold
 * nothing take no time.  A TRIM unmaps the units before the first and after the
 * last whole group at once, and marks the whole groups that hold something
 * (trim_left).  Those are unmapped some at a time, by events; the TRIM ends
 * with the last.
 *
 * To whoever looks, the TRIM has taken effect at its beginning: a command that
 * needs a unit of a marked group has that group unmapped first (trim_before()),
 * and nothing that is written later is trimmed.
 */
#include "bitmap.h"
#include "commands.h"
#include "inspect/oplog.h"
#include "lazymem.h"
#include "map/map.h"
#include "map/reset.h"
#include "ssd-internal.h"
#include "wake.h"

/* ---- groups -------------------------------------------------------------- */

static uint64_t group_units(const Ssd *ssd)
{
    return 1ULL << ssd->l2p.group_shift;
}

static uint32_t n_groups(const Ssd *ssd)
{
    return (uint32_t)((ssd->l.user_units + group_units(ssd) - 1) >>
                      ssd->l2p.group_shift);
}

uint32_t trim_words(const Ssd *ssd)
{
    return (uint32_t)bitmap_words(n_groups(ssd));
}

void trim_init(Ssd *ssd)
{
    invariant(!ssd->l2p.group_used);
    ssd->l2p.group_shift = ssd->cfg->trim_group_shift;
    ssd->l2p.group_used = lazy_new(uint64_t, trim_words(ssd));
    ssd->map->trim_left = lazy_new(uint64_t, trim_words(ssd));
    ssd->map->trims = IFIFO_EMPTY;
}

void trim_destroy(Ssd *ssd)
{
    lazy_free(ssd->l2p.group_used, trim_words(ssd),
              sizeof(*ssd->l2p.group_used));
    lazy_free(ssd->map->trim_left, trim_words(ssd),
              sizeof(*ssd->map->trim_left));
}

void trim_power_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    lazy_clear(ssd->map->trim_left, trim_words(ssd),
               sizeof(*ssd->map->trim_left));
    ssd->map->n_trim_left = 0;
    ssd->map->trims = IFIFO_EMPTY;
}

static uint64_t end_of_group(const Ssd *ssd, uint32_t group)
{
    invariant(group < n_groups(ssd));
    return MIN((group + 1ULL) << ssd->l2p.group_shift, ssd->l.user_units);
}

/* The first marked group from `group` on, or end. */
static uint32_t next_left(const Ssd *ssd, uint32_t group, uint32_t end)
{
    return (uint32_t)bitmap_next(ssd->map->trim_left, group, end);
}

/* ---- range of a TRIM ---------------------------------------------------- */

/* The units wholly inside the range. */
static void units_of(const Ssd *ssd, const SsdCmd *r, uint64_t *first,
                     uint64_t *end)
{
    uint64_t blocks = 1ULL << ssd->block_shift;

    *first = (r->lba + blocks - 1) >> ssd->block_shift;
    *end = MAX((r->lba + r->nblocks) >> ssd->block_shift, *first);
}

/* The groups wholly inside it; the last one of the drive may be short. */
static void groups_of(const Ssd *ssd, const SsdCmd *r, uint32_t *first,
                      uint32_t *end)
{
    uint64_t lpn;
    uint64_t lpn_end;

    units_of(ssd, r, &lpn, &lpn_end);
    *first = (uint32_t)((lpn + group_units(ssd) - 1) >> ssd->l2p.group_shift);
    *end = lpn_end == ssd->l.user_units
               ? n_groups(ssd)
               : (uint32_t)(lpn_end >> ssd->l2p.group_shift);
    *end = MAX(*end, *first);
    invariant(*end <= n_groups(ssd));
}

/* ---- units --------------------------------------------------------------- */

static void log_units(Ssd *ssd, uint32_t cmd, uint64_t first, uint64_t end)
{
    invariant(cmd < ssd->commands.n_cmds);
    if (first < end) {
        oplog_add(ssd->inspect.log, OPLOG_TRIM, 0, first, ssd->now_ps,
                  ssd->commands.cmd[cmd].serial, end - first - 1);
    }
}

static void trim_units(Ssd *ssd, uint64_t first, uint64_t end)
{
    for (uint64_t lpn = first; lpn < end; lpn++) {
        map_trim(ssd, lpn);
    }
}

/* A TRIM under way that covers the group; for the log. */
static uint32_t whose(const Ssd *ssd, uint32_t group)
{
    uint32_t cmd = ssd->map->trims.head;

    for (; cmd != NONE; cmd = ssd->commands.cmd[cmd].next) {
        uint32_t first;
        uint32_t end;

        groups_of(ssd, &ssd->commands.cmd[cmd].req, &first, &end);
        if (group >= first && group < end) {
            return cmd;
        }
    }
    g_assert_not_reached();
}

/* Unmap a marked group.  A unit that is being programmed keeps its entry for a
 * while. */
static void settle(Ssd *ssd, uint32_t group)
{
    uint64_t first = (uint64_t)group << ssd->l2p.group_shift;
    uint64_t end = end_of_group(ssd, group);
    bool used = false;

    invariant(bitmap_test(ssd->map->trim_left, group));
    if (ssd->inspect.log) {
        log_units(ssd, whose(ssd, group), first, end);
    }
    bitmap_clear(ssd->map->trim_left, group);
    invariant(ssd->map->n_trim_left > 0);
    ssd->map->n_trim_left--;
    trim_units(ssd, first, end);
    for (uint64_t lpn = first; lpn < end && !used; lpn++) {
        used = l2p_get(&ssd->l2p, lpn) != 0;
    }
    if (!used) {
        bitmap_clear(ssd->l2p.group_used, group);
    }
}

void trim_settle(Ssd *ssd, uint64_t first, uint64_t last)
{
    uint32_t end = (uint32_t)(last >> ssd->l2p.group_shift) + 1;
    uint32_t group = (uint32_t)(first >> ssd->l2p.group_shift);

    group = next_left(ssd, group, end);
    if (group == end) {
        return;
    }
    for (; group < end; group = next_left(ssd, group + 1, end)) {
        settle(ssd, group);
    }
    map_changes_end(ssd);
}

/* ---- the command --------------------------------------------------------- */

/* Mark the whole groups that hold something; how many are to be unmapped. */
static uint32_t mark(Ssd *ssd, uint32_t cmd)
{
    uint32_t first;
    uint32_t end;
    uint32_t left = 0;

    invariant(cmd < ssd->commands.n_cmds);
    groups_of(ssd, &ssd->commands.cmd[cmd].req, &first, &end);
    for (uint32_t g = first; g < end; g = (g / BITMAP_WORD + 1) * BITMAP_WORD) {
        uint64_t range = bitmap_word_mask(g, end);
        uint64_t *word = &ssd->map->trim_left[g / BITMAP_WORD];
        uint64_t marked = ssd->l2p.group_used[g / BITMAP_WORD] & range & ~*word;

        *word |= marked;
        ssd->map->n_trim_left += (uint32_t)__builtin_popcountll(marked);
        left += (uint32_t)__builtin_popcountll(*word & range);
    }
    return left;
}

/* Log groups that are not marked: they held nothing. */
static void log_empty(Ssd *ssd, uint32_t cmd)
{
    uint32_t first;
    uint32_t end;

    invariant(cmd < ssd->commands.n_cmds);
    groups_of(ssd, &ssd->commands.cmd[cmd].req, &first, &end);
    while (ssd->inspect.log && first < end) {
        uint32_t next = next_left(ssd, first, end);

        if (next > first) {
            log_units(ssd, cmd, (uint64_t)first << ssd->l2p.group_shift,
                      end_of_group(ssd, next - 1));
        }
        first = MAX(next, first + 1);
    }
}

/* Units of the command that belong to no whole group. */
static void trim_now(Ssd *ssd, uint32_t cmd, uint64_t first, uint64_t end)
{
    log_units(ssd, cmd, first, end);
    trim_units(ssd, first, end);
}

/* The units before the first whole group (all, if there is none), and those
 * behind the last one. */
static void trim_ends(Ssd *ssd, uint32_t cmd, bool head)
{
    const SsdCmd *r = &ssd->commands.cmd[cmd].req;
    uint64_t first;
    uint64_t end;
    uint32_t group;
    uint32_t group_end;

    invariant(cmd < ssd->commands.n_cmds);
    units_of(ssd, r, &first, &end);
    groups_of(ssd, r, &group, &group_end);
    if (group == group_end) {
        trim_now(ssd, cmd, first, head ? end : first);
    } else if (head) {
        trim_now(ssd, cmd, first, (uint64_t)group << ssd->l2p.group_shift);
    } else {
        first = MIN((uint64_t)group_end << ssd->l2p.group_shift, end);
        trim_now(ssd, cmd, first, end);
    }
}

/* Unmap groups of the command, up to that many; how many. */
static uint32_t trim_goes_on(Ssd *ssd, uint32_t cmd, uint32_t most)
{
    uint32_t group;
    uint32_t end;
    uint32_t n = 0;

    invariant(cmd < ssd->commands.n_cmds);
    groups_of(ssd, &ssd->commands.cmd[cmd].req, &group, &end);
    group = MAX(group, (uint32_t)ssd->commands.cmd[cmd].next_lpn);
    while (n < most && (group = next_left(ssd, group, end)) < end) {
        settle(ssd, group++);
        n++;
    }
    invariant(n <= most);
    ssd->commands.cmd[cmd].next_lpn = group;
    return n;
}

static bool is_done(const Ssd *ssd, uint32_t cmd)
{
    uint32_t group;
    uint32_t end;

    invariant(cmd < ssd->commands.n_cmds);
    groups_of(ssd, &ssd->commands.cmd[cmd].req, &group, &end);
    group = MAX(group, (uint32_t)ssd->commands.cmd[cmd].next_lpn);
    return next_left(ssd, group, end) == end;
}

static void finish(Ssd *ssd, uint32_t cmd)
{
    invariant(is_done(ssd, cmd));
    invariant(cmd < ssd->commands.n_cmds);
    map_changes_end(ssd);
    cmd_account(ssd, &ssd->commands.cmd[cmd], COST_firmware);
    if (!ssd->commands.cmd[cmd].req.erase || !reset_unmapped(ssd, cmd)) {
        cmd_finish(ssd, cmd, SSD_STATUS_OK);
    }
}

/* Room has become free. */
static void use_room(Ssd *ssd)
{
    map_changes_end(ssd);
    ssd_wake(ssd, WORK_HOST, 0);
    ssd_wake(ssd, WORK_BUFFER, 0);
}

/* Of a zone the drive forgets one entry, however many units it has. */
static void wait_for_step(Ssd *ssd, uint32_t cmd)
{
    bool free = ssd->l.n_zones > 0 &&
                (ssd->commands.cmd[cmd].req.erase || ssd->l.plain_units == 0);
    uint64_t units = free ? 0 : ssd->cfg->trim_step * group_units(ssd);

    eventq_push(&ssd->events, ssd->now_ps + units * ssd->cfg->t_trim_unit_ps,
                SSD_EVENT_TRIM, 0);
}

void trim_start(Ssd *ssd, uint32_t cmd)
{
    uint32_t left;

    invariant(ssd->commands.cmd[cmd].req.op == SSD_OP_TRIM);
    invariant(cmd < ssd->commands.n_cmds);
    ssd->commands.cmd[cmd].next_lpn = 0;
    if (ssd->commands.cmd[cmd].req.erase) {
        uint64_t first;
        uint64_t end;

        units_of(ssd, &ssd->commands.cmd[cmd].req, &first, &end);
        reset_begin(ssd, cmd, first, end);
    }
    trim_ends(ssd, cmd, true);
    left = mark(ssd, cmd);
    log_empty(ssd, cmd);
    if (left > ssd->cfg->trim_step) {
        if (ssd->map->trims.head == NONE) {
            wait_for_step(ssd, cmd);
        }
        fifo_push(ssd, &ssd->map->trims, cmd);
        trim_ends(ssd, cmd, false);
    } else {
        fifo_push_front(ssd, &ssd->map->trims, cmd); /* for whose() */
        trim_goes_on(ssd, cmd, left);
        fifo_pop(ssd, &ssd->map->trims);
        trim_ends(ssd, cmd, false);
        finish(ssd, cmd);
    }
    use_room(ssd);
}

void trim_event(Ssd *ssd)
{
    uint32_t most = ssd->cfg->trim_step;

    invariant(ssd->map->trims.head != NONE);
    while (ssd->map->trims.head != NONE) {
        uint32_t cmd = ssd->map->trims.head;

        most -= trim_goes_on(ssd, cmd, most);
        if (!is_done(ssd, cmd)) {
            wait_for_step(ssd, cmd);
            break;
        }
        fifo_pop(ssd, &ssd->map->trims);
        finish(ssd, cmd);
    }
    use_room(ssd);
}

/* ---- checks -------------------------------------------------------------- */

/* A mapped unit of a group that is said to hold nothing, or NO_UNIT. */
static uint64_t forgotten_unit(const Ssd *ssd)
{
    const NumTable *t = &ssd->l2p.entry;
    uint64_t found = NO_UNIT;
    LazyWalk w;

    numtable_walk(t, &w);
    for (uint64_t lpn = numtable_next(t, &w, 0);
         lpn < ssd->l.user_units && found == NO_UNIT;
         lpn = numtable_next(t, &w, lpn + 1)) {
        if (l2p_get(&ssd->l2p, lpn) &&
            !bitmap_test(ssd->l2p.group_used, lpn >> ssd->l2p.group_shift)) {
            found = lpn;
        }
    }
    lazy_walk_end(&w);
    return found;
}

bool trim_check(const Ssd *ssd, GError **error)
{
    uint32_t left = 0;
    uint64_t lpn;

    for (uint32_t w = 0; w < trim_words(ssd); w++) {
        left += (uint32_t)__builtin_popcountll(ssd->map->trim_left[w]);
    }
    if (left != ssd->map->n_trim_left ||
        (left > 0 && ssd->map->trims.head == NONE) ||
        next_left(ssd, n_groups(ssd), trim_words(ssd) * 64) <
            trim_words(ssd) * 64) {
        return opt_fail(error, OPT_ERROR_VALUE, "%u groups of the map are to be "
                        "trimmed, counted %u", ssd->map->n_trim_left, left);
    }
    lpn = forgotten_unit(ssd);
    return lpn == NO_UNIT || opt_fail(error, OPT_ERROR_VALUE,
                                      "unit %" PRIu64 " is mapped, its "
                                      "group is said to be empty",
                                      lpn);
}
