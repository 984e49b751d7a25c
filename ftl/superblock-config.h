/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superblock-config.h - the options of superblocks: their checks, and the sizes
 * that they name; private to ftl/.
 */
#ifndef VSSD_FTL_SUPERBLOCK_CONFIG_H
#define VSSD_FTL_SUPERBLOCK_CONFIG_H

#include "ssd-config.h"

/* Planes of a superblock, and of a row that is programmed as a whole; 1: each
 * block, each page is by itself. */
uint32_t superblock_width(const SsdConfig *cfg);
uint32_t superblock_row(const SsdConfig *cfg);

/* Dies of a superblock, one of which holds parity in each row; 0: none does. */
uint32_t superblock_parity_dies(const SsdConfig *cfg);

/* Can the options of superblocks be combined?  false: *error is one line. */
bool superblock_config_check(const SsdConfig *cfg, GError **error);

#endif
