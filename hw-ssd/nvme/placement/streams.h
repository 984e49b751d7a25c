/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.h - streams of hosts: which are open, and who has resources (Base
 * 2.2, section 8.1.8.3, Streams).
 */
#ifndef VSSD_NVME_STREAMS_H
#define VSSD_NVME_STREAMS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_PLACEMENT
#error "hw-ssd/nvme/placement is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Once the controller knows its drive. */
void nvme_streams_init(NvmeCtrl *ctrl);

/* The host of the controller; never NULL: one that has nothing is all zeroes.
 */
const NvmeStreamHost *nvme_streams_host(const NvmeCtrl *ctrl);

static inline bool nvme_streams_enabled(const NvmeCtrl *ctrl)
{
    return ctrl->sub->streams.max && nvme_streams_host(ctrl)->enabled;
}

/* For the controller's host, through all of its controllers.  Off: nothing is
 * open or allocated. */
void nvme_streams_enable(NvmeCtrl *ctrl, bool on);

/*
 * A Controller Level Reset, or the controller leaves, or its Host Identifier is
 * about to change: its host is disabled, and nothing of it is open or
 * allocated, unless another controller that is enabled has the same host.
 */
void nvme_streams_reset(NvmeCtrl *ctrl);

/* The same for all hosts. */
void nvme_streams_reset_all(NvmeSubsys *sub);

/* The drive's stream of an identifier > 0 of the controller's host, which has
 * streams enabled.  It is open from now on; 0: other hosts have all. */
uint16_t nvme_stream_use(NvmeCtrl *ctrl, uint16_t id);

/* The host's open identifier that follows the last one; 0 is before the first.
 * There must be one. */
uint16_t nvme_streams_next(const NvmeCtrl *ctrl, uint16_t last);

/* Resources for the host alone, at most n, and as many as there are; it has
 * none.  How many. */
unsigned nvme_streams_allocate(NvmeCtrl *ctrl, unsigned n);
void nvme_stream_release(NvmeCtrl *ctrl, uint16_t id);
void nvme_streams_release(NvmeCtrl *ctrl); /* all that are for it alone */

/* Resources that are for no host alone, and how many of them are in use. */
unsigned nvme_streams_shared(const NvmeStreams *s);
unsigned nvme_streams_shared_open(const NvmeStreams *s);

/* Of a stream that was loaded: own is what the drive had before. */
bool nvme_streams_ok(const NvmeStreams *s, const NvmeStreams *own);

#endif
