/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hmb.c - see hmb.h. */
#include "map/hmb.h"

void hmb_init(Cmt *h, uint64_t entries)
{
    h->most = 0;
    if (entries > 0) {
        cmt_init(h, (uint32_t)entries);
    }
}

void hmb_destroy(Cmt *h)
{
    if (h->most > 0) {
        cmt_destroy(h);
    }
}

void hmb_clear(Cmt *h)
{
    if (h->most > 0) {
        cmt_clear(h);
    }
}

bool hmb_holds(const Cmt *h, uint64_t lpn)
{
    return h->most > 0 && cmt_find(h, lpn) != CMT_NONE;
}

void hmb_shrink(Cmt *h, uint32_t most)
{
    while (h->most > 0 && cmt_used(h) > most) {
        cmt_remove(h, h->list[0].tail);
    }
}

void hmb_put(Cmt *h, uint64_t lpn, uint32_t most)
{
    if (most == 0 || hmb_holds(h, lpn)) {
        return;
    }
    hmb_shrink(h, most - 1);
    cmt_insert(h, lpn);
}

bool hmb_take(Cmt *h, uint64_t lpn)
{
    if (!hmb_holds(h, lpn)) {
        return false;
    }
    cmt_remove(h, cmt_find(h, lpn));
    return true;
}
