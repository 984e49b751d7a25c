/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * life.h - the buffer at power-on and power-off, and at the end of a stream.
 *
 * For ssd.c and power/.
 */
#ifndef VSSD_FTL_BUFFER_LIFE_H
#define VSSD_FTL_BUFFER_LIFE_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* When the drive is made: who hears of units. */
void buffer_set_client(Ssd *ssd, const BufferClient *client);

/* Empty, with the policy's lists. */
void buffer_create(Ssd *ssd);

/* The power has gone: with buffer.plp, keep the newest version of every
 * unit; it is back. */
void buffer_keep(Ssd *ssd);
void buffer_restore(Ssd *ssd);

/* The stream ends.  Its units belong to none from now on, rather than to the
 * next stream of that number. */
void write_disown(Ssd *ssd, uint32_t stream);

/* ---- check.c ------------------------------------------------------------- */

/* Component.check. */
bool buffer_check(const Ssd *ssd, bool at_rest, GError **error);

#endif
