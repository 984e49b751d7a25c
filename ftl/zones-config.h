/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zones-config.h - the options of zones (zones.enabled): their checks, and the
 * sizes that follow from them; private to ftl/.
 */
#ifndef VSSD_FTL_ZONES_CONFIG_H
#define VSSD_FTL_ZONES_CONFIG_H

#include "ssd-config.h"

/* SsdLayout.busy_blocks: blocks of a plane beside those of zones. */
uint32_t zones_busy_blocks(const SsdConfig *cfg);

/* Can the options be combined with zones?  true without zones. */
bool zones_check(const SsdConfig *cfg, GError **error);

/*
 * With zones.enabled, from the sizes of blocks, pages and the buffer: the zones
 * that fit into so many blocks of each plane and into the user capacity of
 * ftl.op_percent or ftl.capacity, which is l->user_units, beside
 * zones.conventional.  l->user_units becomes that of both, l->share_units a
 * plane's part of it.  false: not one zone fits.
 */
bool zones_layout(const SsdConfig *cfg, SsdLayout *l, uint32_t blocks,
                  GError **error);

/* Streams of the drive: a zone that becomes full, and whose last pages are
 * still to be programmed, keeps its own while the next one has another.  With
 * zones.conventional one more, l->plain_stream.  With zones.zrwa the last one
 * is that of units which are not committed. */
uint32_t zones_streams(SsdLayout *l);

void zones_info(const SsdConfig *cfg, const SsdLayout *l, SsdZones *zones);

#endif
