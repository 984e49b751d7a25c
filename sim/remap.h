/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remap.h - lay several address spaces out side by side, whole or without the
 * parts that are never touched.
 *
 * Two passes: note every request, then close the layout, then map.  Order
 * within a space is kept and a request stays in one piece.
 */
#ifndef VSSD_SIM_REMAP_H
#define VSSD_SIM_REMAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Remap Remap;

/* chunk_bytes: the granularity of parts that are left out; 0: none is. */
Remap *remap_new(uint32_t chunk_bytes);
void remap_free(Remap *r);

/* space < 1 << 28; offset + nbytes < 1 << 63. */
void remap_note(Remap *r, uint32_t space, uint64_t offset, uint64_t nbytes);

/* No remap_note() after this. */
void remap_close(Remap *r);

/* Of a request that was noted. */
uint64_t remap_offset(Remap *r, uint32_t space, uint64_t offset);

/* Bytes of the whole layout. */
uint64_t remap_bytes(const Remap *r);

#endif
