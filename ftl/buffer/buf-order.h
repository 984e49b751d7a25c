/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-order.h - the order of the slots of a cache, which a policy keeps: a
 * listed one, or one from outside.
 *
 * A slot comes (cache_insert()), is listed, and leaves; of one that is not
 * listed no other function is called.
 */
#ifndef VSSD_FTL_BUF_ORDER_H
#define VSSD_FTL_BUF_ORDER_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* The policy of the drive: that from outside, or else the listed one; and its
 * lists.  Then: the buffer is empty. */
void cache_init(Ssd *ssd, const VssdPolicy *listed);
void cache_forget(Ssd *ssd);

void cache_insert(Ssd *ssd, uint32_t slot);
void cache_remove(Ssd *ssd, uint32_t slot);
/* A newer version of the same unit takes the slot's place. */
void cache_replace(Ssd *ssd, uint32_t from, uint32_t to);

void cache_written(Ssd *ssd, uint32_t slot);
void cache_read(Ssd *ssd, uint32_t slot);
void cache_cleaned(Ssd *ssd, uint32_t slot);

/* The slot that leaves next; one that leaves with it, which was of the unit;
 * one to be written while the drive is idle; or NONE. */
uint32_t cache_victim(Ssd *ssd);
uint32_t cache_follower(Ssd *ssd, uint64_t lpn);
uint32_t cache_early(Ssd *ssd);
void cache_early_sent(Ssd *ssd);

/* Does the policy's state belong to the slots that are listed? */
bool cache_fits(Ssd *ssd);

#endif
