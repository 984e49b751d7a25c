/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superpage.h - dirty units that wait until they fill a superpage
 * (superpage.c).
 */
#ifndef VSSD_FTL_BUFFER_SUPERPAGE_H
#define VSSD_FTL_BUFFER_SUPERPAGE_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* SSD_EVENT_ROW_WAIT of the stream has come. */
void superpage_wait_event(Ssd *ssd, uint32_t stream);

/* ---- for write.c --------------------------------------------------------- */

/* Programs have been sent, as far as there are planes: what is left waits. With
 * Buffer.row_wait. */
void superpage_look(Ssd *ssd);

/* So many pages of a row of the stream have been sent. */
void superpage_sent(Ssd *ssd, uint32_t stream, uint32_t pages);

#endif
