/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ilist.h - lists of the elements of a table, by index.
 *
 * The links are members of the element (uint32_t), so a list needs no memory of
 * its own, survives a table that moves (g_renew()), and can be saved as it is.
 * The owner says where the links are with ILIST_LINKS() or ILIST_CHAIN(); the
 * compiler folds that into constants.
 *
 *   Ilist    doubly linked, with both ends; IlistN counts its elements, too
 *   ihead_   doubly linked, with a head alone, of half the size
 *   Ififo    singly linked: in at both ends, out at the head
 *   istack_  singly linked, with a head alone
 *   zlist_   doubly linked, empty when all zeroes, for large tables of heads
 *
 * All but zlist_ end in ILIST_NONE.  The owner owns table and links, and sees
 * to it that an element is in at most one list of the same links.  An
 * element that is put in must have an index other than ILIST_NONE; one that is
 * taken out must be in the list.  Both are asserted as far as the adjacent
 * links show it.  Every call takes O(1), except where its comment says
 * otherwise.
 */
#ifndef VSSD_CORE_ILIST_H
#define VSSD_CORE_ILIST_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "invariant.h"

#define ILIST_NONE UINT32_MAX

/* Where the links of a table's elements are; offsets in an element. */
typedef struct IlistLinks {
    char *base;
    size_t stride;
    size_t next, prev;
} IlistLinks;

#define ILIST_LINKS(table, type, next_member, prev_member)                     \
    ((IlistLinks){.base = (char *)(table),                                     \
                  .stride = sizeof(type),                                      \
                  .next = offsetof(type, next_member),                         \
                  .prev = offsetof(type, prev_member)})

/* The same of a singly linked list. */
#define ILIST_CHAIN(table, type, next_member)                                  \
    ILIST_LINKS(table, type, next_member, next_member)

static inline uint32_t *ilist_next(IlistLinks l, uint32_t i)
{
    return (uint32_t *)(l.base + i * l.stride + l.next);
}

static inline uint32_t *ilist_prev(IlistLinks l, uint32_t i)
{
    return (uint32_t *)(l.base + i * l.stride + l.prev);
}

/* ---- doubly linked, with both ends -------------------------------------- */

typedef struct Ilist {
    uint32_t head; /* ILIST_NONE: it is empty, and the tail says nothing */
    uint32_t tail;
} Ilist;

#define ILIST_EMPTY ((Ilist){ILIST_NONE, ILIST_NONE})

static inline bool ilist_is_empty(const Ilist *list)
{
    return list->head == ILIST_NONE;
}

static inline void ilist_push_head(IlistLinks l, Ilist *list, uint32_t i)
{
    invariant(i != ILIST_NONE && i != list->head);
    *ilist_prev(l, i) = ILIST_NONE;
    *ilist_next(l, i) = list->head;
    if (list->head == ILIST_NONE) {
        list->tail = i;
    } else {
        *ilist_prev(l, list->head) = i;
    }
    list->head = i;
}

static inline void ilist_push_tail(IlistLinks l, Ilist *list, uint32_t i)
{
    invariant(i != ILIST_NONE);
    *ilist_next(l, i) = ILIST_NONE;
    if (list->head == ILIST_NONE) {
        *ilist_prev(l, i) = ILIST_NONE;
        list->head = i;
    } else {
        invariant(i != list->tail);
        *ilist_prev(l, i) = list->tail;
        *ilist_next(l, list->tail) = i;
    }
    list->tail = i;
}

/* Its own links keep their values. */
static inline void ilist_remove(IlistLinks l, Ilist *list, uint32_t i)
{
    uint32_t next = *ilist_next(l, i);
    uint32_t prev = *ilist_prev(l, i);

    if (list->head == i) {
        list->head = next;
    } else {
        invariant(prev != ILIST_NONE && *ilist_next(l, prev) == i);
        *ilist_next(l, prev) = next;
    }
    if (list->tail == i) {
        list->tail = prev;
    } else {
        invariant(next != ILIST_NONE && *ilist_prev(l, next) == i);
        *ilist_prev(l, next) = prev;
    }
}

/* `to` takes the place of `from`, which is out of the list then. */
static inline void ilist_replace(IlistLinks l, Ilist *list, uint32_t from,
                                 uint32_t to)
{
    uint32_t next = *ilist_next(l, from);
    uint32_t prev = *ilist_prev(l, from);

    invariant(to != ILIST_NONE && to != from);
    *ilist_next(l, to) = next;
    *ilist_prev(l, to) = prev;
    if (list->head == from) {
        list->head = to;
    } else {
        invariant(prev != ILIST_NONE && *ilist_next(l, prev) == from);
        *ilist_next(l, prev) = to;
    }
    if (list->tail == from) {
        list->tail = to;
    } else {
        invariant(next != ILIST_NONE && *ilist_prev(l, next) == from);
        *ilist_prev(l, next) = to;
    }
}

/* Put all elements of `from` behind those of `list`; `from` is empty then. */
static inline void ilist_append_all(IlistLinks l, Ilist *list, Ilist *from)
{
    if (ilist_is_empty(list)) {
        *list = *from;
    } else if (!ilist_is_empty(from)) {
        *ilist_next(l, list->tail) = from->head;
        *ilist_prev(l, from->head) = list->tail;
        list->tail = from->tail;
    }
    *from = ILIST_EMPTY;
}

/* ---- the same, counted -------------------------------------------------- */

/* n == 0: it is empty, and the ends say nothing; so all zeroes are empty. */
typedef struct IlistN {
    union {
        struct {
            uint32_t head, tail;
        };
        Ilist ends;
    };
    uint32_t n;
} IlistN;

#define ILISTN_EMPTY ((IlistN){.head = ILIST_NONE, .tail = ILIST_NONE, .n = 0})

static inline void ilistn_push_head(IlistLinks l, IlistN *list, uint32_t i)
{
    if (list->n == 0) {
        list->ends = ILIST_EMPTY;
    }
    ilist_push_head(l, &list->ends, i);
    list->n++;
}

static inline void ilistn_push_tail(IlistLinks l, IlistN *list, uint32_t i)
{
    if (list->n == 0) {
        list->ends = ILIST_EMPTY;
    }
    ilist_push_tail(l, &list->ends, i);
    list->n++;
}

static inline void ilistn_remove(IlistLinks l, IlistN *list, uint32_t i)
{
    invariant(list->n > 0);
    ilist_remove(l, &list->ends, i);
    list->n--;
}

static inline void ilistn_append_all(IlistLinks l, IlistN *list, IlistN *from)
{
    ilist_append_all(l, &list->ends, &from->ends);
    list->n += from->n;
    from->n = 0;
}

/* ---- doubly linked, with a head alone (ILIST_NONE: it is empty) --------- */

static inline void ihead_push(IlistLinks l, uint32_t *head, uint32_t i)
{
    invariant(i != ILIST_NONE);
    *ilist_prev(l, i) = ILIST_NONE;
    *ilist_next(l, i) = *head;
    if (*head != ILIST_NONE) {
        *ilist_prev(l, *head) = i;
    }
    *head = i;
}

/* Its own links keep their values. */
static inline void ihead_remove(IlistLinks l, uint32_t *head, uint32_t i)
{
    uint32_t next = *ilist_next(l, i);
    uint32_t prev = *ilist_prev(l, i);

    if (prev == ILIST_NONE) {
        invariant(*head == i);
        *head = next;
    } else {
        invariant(*ilist_next(l, prev) == i);
        *ilist_next(l, prev) = next;
    }
    if (next != ILIST_NONE) {
        *ilist_prev(l, next) = prev;
    }
}

/* ---- singly linked: first in, first out --------------------------------- */

typedef struct Ififo {
    uint32_t head; /* ILIST_NONE: it is empty, and the tail says nothing */
    uint32_t tail;
} Ififo;

#define IFIFO_EMPTY ((Ififo){ILIST_NONE, ILIST_NONE})

static inline bool ififo_is_empty(const Ififo *f)
{
    return f->head == ILIST_NONE;
}

static inline void ififo_push(IlistLinks l, Ififo *f, uint32_t i)
{
    invariant(i != ILIST_NONE);
    *ilist_next(l, i) = ILIST_NONE;
    if (f->head == ILIST_NONE) {
        f->head = i;
    } else {
        invariant(*ilist_next(l, f->tail) == ILIST_NONE);
        *ilist_next(l, f->tail) = i;
    }
    f->tail = i;
}

/* It will be the first one out. */
static inline void ififo_push_front(IlistLinks l, Ififo *f, uint32_t i)
{
    invariant(i != ILIST_NONE);
    *ilist_next(l, i) = f->head;
    if (f->head == ILIST_NONE) {
        f->tail = i;
    }
    f->head = i;
}

/* Take the first one out; ILIST_NONE: it is empty. */
static inline uint32_t ififo_pop(IlistLinks l, Ififo *f)
{
    uint32_t i = f->head;

    if (i != ILIST_NONE) {
        f->head = *ilist_next(l, i);
    }
    return i;
}

/* Take i out, which comes behind `before` (ILIST_NONE: it is the first one). */
static inline void ififo_remove_after(IlistLinks l, Ififo *f, uint32_t before,
                                      uint32_t i)
{
    uint32_t *link = before == ILIST_NONE ? &f->head : ilist_next(l, before);

    invariant(*link == i && i != ILIST_NONE);
    *link = *ilist_next(l, i);
    if (f->tail == i) {
        f->tail = before;
    }
}

/* Take i out; O(n). */
static inline void ififo_remove(IlistLinks l, Ififo *f, uint32_t i)
{
    uint32_t before = ILIST_NONE;

    for (uint32_t k = f->head; k != i; k = *ilist_next(l, k)) {
        invariant(k != ILIST_NONE);
        before = k;
    }
    ififo_remove_after(l, f, before, i);
}

/* ---- singly linked: last in, first out ---------------------------------- */

static inline void istack_push(IlistLinks l, uint32_t *head, uint32_t i)
{
    invariant(i != ILIST_NONE && i != *head);
    *ilist_next(l, i) = *head;
    *head = i;
}

/* Take the first one out; ILIST_NONE: it is empty. */
static inline uint32_t istack_pop(IlistLinks l, uint32_t *head)
{
    uint32_t i = *head;

    if (i != ILIST_NONE) {
        *head = *ilist_next(l, i);
    }
    return i;
}

/* Take out the element that *link names: a head, or the next of an element.
 * *link names the one behind it then. */
static inline uint32_t istack_unlink(IlistLinks l, uint32_t *link)
{
    invariant(*link != ILIST_NONE);
    return istack_pop(l, link);
}

/* The link behind the last element: of an empty list, its head.  O(n). */
static inline uint32_t *istack_end(IlistLinks l, uint32_t *head)
{
    while (*head != ILIST_NONE) {
        head = ilist_next(l, *head);
    }
    return head;
}

/* The list from the last element to the first; returns its head.  O(n). */
static inline uint32_t istack_reverse(IlistLinks l, uint32_t head)
{
    uint32_t result = ILIST_NONE;

    while (head != ILIST_NONE) {
        istack_push(l, &result, istack_pop(l, &head));
    }
    return result;
}

/* ---- doubly linked; all zeroes are empty lists -------------------------- */

/*
 * Heads and links name an element by its index + 1, and ZLIST_NONE ends a list.
 * The first one's prev is the last one, so a head alone leads to both ends.
 * i is an index + 1 in all these calls.
 */
#define ZLIST_NONE 0U

static inline uint32_t *zlist_next(IlistLinks l, uint32_t i)
{
    return ilist_next(l, i - 1);
}

static inline uint32_t *zlist_prev(IlistLinks l, uint32_t i)
{
    return ilist_prev(l, i - 1);
}

static inline void zlist_push_tail(IlistLinks l, uint32_t *head, uint32_t i)
{
    uint32_t last = i;

    invariant(i != ZLIST_NONE);
    *zlist_next(l, i) = ZLIST_NONE;
    if (*head == ZLIST_NONE) {
        *head = i;
    } else {
        last = *zlist_prev(l, *head);
        *zlist_prev(l, *head) = i;
        *zlist_next(l, last) = i;
    }
    *zlist_prev(l, i) = last;
}

/* Put i in front of `at`, which is in the list. */
static inline void zlist_insert(IlistLinks l, uint32_t *head, uint32_t at,
                                uint32_t i)
{
    uint32_t prev = *zlist_prev(l, at);

    invariant(i != ZLIST_NONE && at != ZLIST_NONE && i != at);
    *zlist_prev(l, i) = prev;
    *zlist_next(l, i) = at;
    *zlist_prev(l, at) = i;
    if (*head == at) {
        *head = i;
    } else {
        *zlist_next(l, prev) = i;
    }
}

static inline void zlist_push_head(IlistLinks l, uint32_t *head, uint32_t i)
{
    if (*head == ZLIST_NONE) {
        zlist_push_tail(l, head, i);
    } else {
        zlist_insert(l, head, *head, i);
    }
}

static inline void zlist_remove(IlistLinks l, uint32_t *head, uint32_t i)
{
    uint32_t next = *zlist_next(l, i);
    uint32_t prev = *zlist_prev(l, i);

    invariant(*head != ZLIST_NONE);
    if (next != ZLIST_NONE) {
        *zlist_prev(l, next) = prev;
    } else if (*head != i) {
        invariant(*zlist_prev(l, *head) == i);
        *zlist_prev(l, *head) = prev;
    }
    if (*head == i) {
        *head = next;
    } else {
        invariant(*zlist_next(l, prev) == i);
        *zlist_next(l, prev) = next;
    }
}

#endif
