/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmt-order.h - the order of the entries in the cache of dftl.c, which a policy
 * keeps: cmt_slru, or one from outside.
 */
#ifndef VSSD_FTL_CMT_ORDER_H
#define VSSD_FTL_CMT_ORDER_H

#include "layers.h"
#if FTL_LAYER != FTL_MAP && FTL_LAYER != FTL_ALL
#error "private to ftl/map: docs/architecture.md"
#endif

#include "ssd-internal.h"
#include "vssd-policy.h"

/* The tables of dftl.c have been made; the cache has been emptied. */
void order_init(Ssd *ssd);
void order_forget(Ssd *ssd);

/* An entry has come; a lookup has found it; the one that leaves. */
void order_insert(Ssd *ssd, uint32_t entry);
void order_used(Ssd *ssd, uint32_t entry);
uint32_t order_victim(Ssd *ssd);

extern const VssdPolicy cmt_slru;

#endif
