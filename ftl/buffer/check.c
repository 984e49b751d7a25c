/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.c - the members of buffer/ (Component.check).
 */
#include "buffer/buf-order.h"
#include "buffer/buffer-policy.h"
#include "buffer/life.h"
#include "buffer/slots.h"
#include "check.h"
#include "commands.h"
#include "media/spare.h"
#include "placement/placement.h"

/* Sums over the slots. */
typedef struct SlotCount {
    uint32_t in_state[N_SLOT_STATES];
    uint32_t must, victims, unsafe, listed, evicting, released, early;
    uint32_t *unsafe_of; /* by stream */
    uint32_t *left;      /* by number of the epoch, masked */
} SlotCount;

static void count_slot(const Ssd *ssd, const Slot *s, SlotCount *n)
{
    n->in_state[s->state]++;
    if (s->state == SLOT_FREE) {
        return;
    }
    n->must += s->state == SLOT_DIRTY && slot_must(ssd, s);
    n->victims += s->state == SLOT_DIRTY && slot_only_victim(ssd, s);
    if (state_is_unsafe(s->state)) {
        n->unsafe++;
        n->unsafe_of[s->stream]++;
        n->left[s->epoch & ssd->buffer->epoch_mask]++;
    }
    n->listed += s->listed;
    n->evicting += s->evict && !s->released;
    n->released += s->released;
    n->early += s->early;
}

/* ---- slots --------------------------------------------------------------- */

/* Of a drive at rest: no command waits for the slot, no other slot. */
static bool slot_rests(const Slot *s)
{
    return (s->state == SLOT_CLEAN || s->state == SLOT_DIRTY) &&
           s->waiters == NONE && s->older == NONE && s->newer == NONE &&
           !s->released && !s->dead;
}

static bool check_slot(const Ssd *ssd, uint32_t i, bool at_rest, GError **error)
{
    const Buffer *b = ssd->buffer;
    const Slot *s = &b->slot[i];

    if (s->state == SLOT_FREE) {
        CHECK(!s->listed, "slot %u is free, and in a list", i);
        return true;
    }
    CHECK(!state_is_unsafe(s->state) ||
              s->epoch - b->first_epoch <= b->cur_epoch - b->first_epoch,
          "slot %u: barrier %u", i, s->epoch);
    CHECK(!at_rest || slot_rests(s), "slot %u: work in state %d", i, s->state);
    CHECK(map_is_buffered(l2p_get(&ssd->l2p, s->lpn)),
          "slot %u of lpn %" PRIu64 " is lost", i, s->lpn);
    CHECK((s->state == SLOT_BLOCKED) == (s->older != NONE),
          "slot %u in state %d, older %u", i, s->state, s->older);
    CHECK(s->state != SLOT_CLEAN || (s->old_entry && s->waiters == NONE &&
                                     map_slot(l2p_get(&ssd->l2p, s->lpn)) == i),
          "slot %u is clean, copy in NAND %" PRIu64 ", waiters %u", i,
          s->old_entry, s->waiters);
    CHECK(s->state != SLOT_CLEAN || !ssd->media->spare_version ||
              s->version == unit_version(ssd, s->old_entry - 1),
          "slot %u is clean, but not as the copy in NAND", i);
    CHECK(!buffer_caches(ssd->buffer) || s->listed || s->evict ||
              s->newer != NONE || s->dead,
          "slot %u in state %d is in no list", i, s->state);
    return true;
}

/* Room, and the free slots; as slots say. */
static bool check_room(const Ssd *ssd, const SlotCount *n, GError **error)
{
    const Buffer *b = ssd->buffer;
    uint32_t n_free = n->in_state[SLOT_FREE];
    uint32_t listed = 0;

    for (uint32_t f = b->free_slot; f != NONE; f = b->slot[f].next) {
        CHECK(b->slot[f].state == SLOT_FREE && listed++ < n_free,
              "slot %u in the list of free ones", f);
    }
    CHECK(listed == n_free &&
              ssd->l.n_slots + n->released - (b->n_slot_records - n_free) ==
                  b->n_free_slots,
          "%u free slots of %u, %u listed, %u released, room for %u counted",
          n_free, b->n_slot_records, listed, n->released, b->n_free_slots);
    CHECK(n->in_state[SLOT_DIRTY] == b->n_dirty && n->must == b->n_must,
          "%u dirty slots, %u counted; %u must go, %u counted",
          n->in_state[SLOT_DIRTY], b->n_dirty, n->must, b->n_must);
    return true;
}

/* ---- lists of the policy ------------------------------------------------- */

/* Through next and prev. */
static bool check_policy_list(const Ssd *ssd, uint32_t list, GError **error)
{
    const SlotList *l = &ssd->buffer->list[list];
    uint32_t prev = NONE;
    uint32_t i = l->n > 0 ? l->head : NONE;

    for (uint32_t k = 0; k < l->n; k++) {
        CHECK(i < ssd->buffer->n_slot_records &&
                  ssd->buffer->slot[i].state != SLOT_FREE &&
                  ssd->buffer->slot[i].listed &&
                  ssd->buffer->slot[i].prev == prev &&
                  ssd->buffer->slot[i].list == list,
              "slot %u in list %u of the buffer", i, list);
        prev = i;
        i = ssd->buffer->slot[i].next;
    }
    CHECK(i == NONE && (l->n == 0 || l->tail == prev),
          "the end of list %u of the buffer", list);
    return true;
}

static bool check_cache(const Ssd *ssd, const SlotCount *n, GError **error)
{
    const Buffer *b = ssd->buffer;
    uint32_t promised = 0;
    uint32_t listed = 0;

    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        if (ssd->commands.cmd[i].phase == CMD_RUNNING) {
            promised += ssd->commands.cmd[i].promised;
        }
    }
    for (uint32_t i = 0; i < b->n_lists; i++) {
        if (!check_policy_list(ssd, i, error)) {
            return false;
        }
        listed += b->list[i].n;
    }
    CHECK(n->victims == b->n_victims, "%u dirty victims, %u counted",
          n->victims, b->n_victims);
    CHECK(promised == b->n_promised && n->evicting == b->n_evicting &&
              n->released == b->n_released && n->early == b->early.busy,
          "%u promised, %u counted; %u victims, %u counted; %u released, %u "
          "counted; %u flushed early, %u counted",
          promised, b->n_promised, n->evicting, b->n_evicting, n->released,
          b->n_released, n->early, b->early.busy);
    CHECK(listed == n->listed && listed == b->n_listed,
          "the policy lists %u slots of %u, %u counted", listed, n->listed,
          b->n_listed);
    CHECK(cache_fits((Ssd *)ssd), "the policy of the buffer knows other slots");
    return true;
}

/* ---- streams ------------------------------------------------------------- */

/* DIRTY slots, through after and before, that all are, or all are not, due. */
static bool check_stream_list(const Ssd *ssd, uint32_t stream,
                              const SlotList *l, bool must, GError **error)
{
    uint32_t before = NONE;
    uint32_t i = l->head;

    for (uint32_t k = 0; k < l->n; k++) {
        const Slot *s;

        CHECK(i < ssd->buffer->n_slot_records, "slot %u of stream %u", i,
              stream);
        s = &ssd->buffer->slot[i];
        CHECK(s->state == SLOT_DIRTY && s->before == before &&
                  s->stream == stream && slot_must(ssd, s) == must,
              "slot %u in a list of stream %u: due %d", i, stream, must);
        before = i;
        i = s->after;
    }
    CHECK(i == NONE && l->tail == before,
          "the end of a list of stream %u: due %d", stream, must);
    return true;
}

/* Queues of each stream; units of separate streams are separate. */
static bool check_streams(const Ssd *ssd, const SlotCount *slots,
                          GError **error)
{
    const Buffer *b = ssd->buffer;
    uint32_t n = 0;

    for (uint32_t k = 0; k < ssd->l.n_streams; k++) {
        const Stream *st = stream_at(ssd, k);
        uint32_t dirty = st->queue.due.n + st->queue.fresh.n;

        if (!check_stream_list(ssd, k, &st->queue.due, true, error) ||
            !check_stream_list(ssd, k, &st->queue.fresh, false, error)) {
            return false;
        }
        n += dirty;
        CHECK((b->dirty_streams >> k & 1) == (dirty > 0),
              "stream %u: %u dirty slots, but the bit says %d", k, dirty,
              (int)(b->dirty_streams >> k & 1));
        CHECK(st->queue.n_unsafe == slots->unsafe_of[k] &&
                  st->queue.n_victims <= st->queue.due.n &&
                  st->queue.n_dealt <= st->queue.fresh.n,
              "stream %u: %u dirty units, %u counted, of %u due %u victims", k,
              slots->unsafe_of[k], st->queue.n_unsafe, st->queue.due.n,
              st->queue.n_victims);
    }
    CHECK(n == b->n_dirty, "%u dirty slots in streams, %u counted", n,
          b->n_dirty);
    return true;
}

/* ---- barriers ------------------------------------------------------------ */

/* Before slots are counted by epoch. */
static bool epochs_ok(const Buffer *b)
{
    return (b->epoch_mask & (b->epoch_mask + 1)) == 0 && b->epoch_mask >= 1 &&
           b->cur_epoch - b->first_epoch <= b->epoch_mask;
}

static bool check_barriers(const Ssd *ssd, const SlotCount *n, bool at_rest,
                           GError **error)
{
    const Buffer *b = ssd->buffer;

    for (uint32_t e = b->first_epoch; e != b->cur_epoch + 1; e++) {
        const Epoch *epoch = &b->epoch[e & b->epoch_mask];

        CHECK(epoch->left == n->left[e & b->epoch_mask],
              "barrier %u waits for %u slots of %u that are not safe", e,
              epoch->left, n->left[e & b->epoch_mask]);
        CHECK(!at_rest || epoch->cmd == NONE, "a command waits for barrier %u",
              e);
    }
    CHECK(n->unsafe == b->n_unsafe, "%u slots are not safe, %u counted",
          n->unsafe, b->n_unsafe);
    return true;
}

/* ---- the component ------------------------------------------------------- */

static bool check_all(const Ssd *ssd, SlotCount *n, bool at_rest,
                      GError **error)
{
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        if (!check_slot(ssd, i, at_rest, error)) {
            return false;
        }
        count_slot(ssd, &ssd->buffer->slot[i], n);
    }
    return check_room(ssd, n, error) && check_cache(ssd, n, error) &&
           check_streams(ssd, n, error) &&
           check_barriers(ssd, n, at_rest, error);
}

static bool check_kept(const Ssd *ssd, GError **error)
{
    g_autofree uint8_t *seen = g_malloc0(ssd->l.user_units / 8 + 1);

    CHECK(!ssd->buffer->n_kept || !ssd->powered, "what the buffer kept");
    for (uint32_t i = 0; i < ssd->buffer->n_kept; i++) {
        const Slot *s = &ssd->buffer->kept[i];

        CHECK(!(seen[s->lpn / 8] >> (s->lpn % 8) & 1), "what the buffer kept");
        seen[s->lpn / 8] |= (uint8_t)(1U << (s->lpn % 8));
    }
    return true;
}

static bool check_rest(const Ssd *ssd, GError **error)
{
    const Buffer *b = ssd->buffer;

    CHECK(b->waiting.head == NONE && b->redo.head == NONE &&
              b->closing.head == NONE && b->n_promised == 0,
          "commands are in flight");
    CHECK_POOL(b->free_waiter, b->n_waiters, b->waiter, true);
    return true;
}

bool buffer_check(const Ssd *ssd, bool at_rest, GError **error)
{
    const Buffer *b = ssd->buffer;
    g_autofree uint32_t *unsafe_of = g_new0(uint32_t, ssd->l.n_streams);
    g_autofree uint32_t *left = NULL;
    SlotCount n = {.unsafe_of = unsafe_of};

    CHECK(epochs_ok(b), "flush barriers");
    CHECK(b->last_version < 1ULL << 48, "the version");
    CHECK(events_of(ssd, SSD_EVENT_FLUSH_TICK) == b->tick_armed,
          "the event of the flush");
    n.left = left = g_new0(uint32_t, (size_t)b->epoch_mask + 1);
    return check_all(ssd, &n, at_rest, error) && check_kept(ssd, error) &&
           (!at_rest || check_rest(ssd, error));
}
