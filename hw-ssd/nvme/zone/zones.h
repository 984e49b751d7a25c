/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zones.h - the table of zones: states, write pointers, limits, streams (NVM
 * Express Zoned Namespace Command Set 1.1, section 2.1.1).
 */
#ifndef VSSD_NVME_ZONES_H
#define VSSD_NVME_ZONES_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ZONE
#error "hw-ssd/nvme/zone is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Once the controller knows its drive and the namespace's size.  false: the
 * namespace is smaller than one zone. */
bool nvme_zones_init(NvmeCtrl *ctrl, GError **error);
void nvme_zones_free(NvmeCtrl *ctrl);

/* Has the drive zones, and a space without any behind them? */
static inline bool nvme_has_both(const NvmeCtrl *ctrl)
{
    return ctrl->sub->zones.end > 0;
}

/* Is the namespace zoned?  With zones and without a space behind them there is
 * no other. */
static inline bool nvme_is_zoned(const NvmeNamespace *ns)
{
    return ns->zone_size > 0;
}

/* Logical block of the start of zone i; the zone of a block of the namespace.
 */
static inline uint64_t nvme_zone_start(const NvmeCtrl *ctrl, uint32_t i)
{
    return i * ctrl->sub->zones.size;
}

static inline uint32_t nvme_zone_of(const NvmeCtrl *ctrl, uint64_t lba)
{
    return (uint32_t)(lba / ctrl->sub->zones.size);
}

/* May a command read the range, which is in the namespace?  Status code. */
uint16_t nvme_zone_check_read(const NvmeCtrl *ctrl, uint64_t lba,
                              uint64_t nblocks);

/* How many blocks of the range, which is of one zone, the drive has: those
 * behind the zone's capacity read as zeroes. */
uint64_t nvme_zone_backed(const NvmeCtrl *ctrl, uint64_t first,
                          uint64_t nblocks);

/*
 * A Write of the range of the request, or a Zone Append to the zone that begins
 * at req->lba, which becomes the block that it writes.  Status code; nothing
 * has changed yet.
 */
uint16_t nvme_zone_check_write(NvmeCtrl *ctrl, NvmeRequest *req, bool append);

/* It will be done: its zone is opened, and the write pointer moves.  The
 * request has its steps, all of them. */
void nvme_zone_write(NvmeCtrl *ctrl, NvmeRequest *req);

/* Transitions that the host asks for.  Status code. */
uint16_t nvme_zone_open(NvmeCtrl *ctrl, uint32_t i);
uint16_t nvme_zone_close(NvmeCtrl *ctrl, uint32_t i);
uint16_t nvme_zone_offline(NvmeCtrl *ctrl, uint32_t i);

/* Open with a Zone Random Write Area; commit it up to the block, which counts
 * from the start of the zone. */
uint16_t nvme_zone_open_zrwa(NvmeCtrl *ctrl, uint32_t i);
uint16_t nvme_zone_commit(NvmeCtrl *ctrl, uint32_t i, uint64_t last);

/* *stream: of its data in the drive, or ZONE_NO_STREAM: there is nothing to
 * close (finish). */
uint16_t nvme_zone_finish(NvmeCtrl *ctrl, uint32_t i, uint16_t *stream);
/* *any: the drive has to trim it (reset). */
uint16_t nvme_zone_reset(NvmeCtrl *ctrl, uint32_t i, uint16_t *stream,
                         bool *any);
/* May zone i get a descriptor extension?  Then it has one, and is closed. */
uint16_t nvme_zone_describe(NvmeCtrl *ctrl, uint32_t i);

/*
 * Limits of time of zones (ZNS 1.1, 5.4 to 5.6; zones.finish_after and the
 * like).  The instant at which the next limit of the zone ends, in whole
 * seconds, or SSD_TIME_NEVER.
 */
uint64_t nvme_zone_due_ns(const NvmeZones *z, const NvmeZone *zone);
/* That instant has come: an attribute is set, or the controller finishes the
 * zone (Zone Active Excursion). */
void nvme_zone_overdue(NvmeCtrl *ctrl, uint32_t i);

/* May the step go to the drive now?  Those that end a zone wait for the writes
 * before them. */
bool nvme_zone_step_may_go(const NvmeCtrl *ctrl, const NvmeStep *step);

/* A step of a zone (NvmeStep.zone) has ended, or never began. */
void nvme_zone_step_end(NvmeCtrl *ctrl, const NvmeStep *step, NvmeStepEnd how);

/* The power is back, and the drive knows its map: write pointers follow what
 * the drive has. */
void nvme_zones_power_on(NvmeCtrl *ctrl);

/* Limits of zones may have ended meanwhile: their clock was set, or the power
 * was off. */
void nvme_zones_look_again(NvmeSubsys *sub);

/* All zones that are open become closed, or empty without data: a power cycle,
 * an NVM Subsystem Reset. */
void nvme_zones_close_all(NvmeCtrl *ctrl);

/* The namespace has the zones. */
void nvme_zones_give(NvmeCtrl *ctrl, const NvmeNamespace *ns);

/* The namespace is gone: its zones become empty, but for those that are read
 * only or offline, and the data of all leaves the drive.  It has until
 * nvme_zones_are_busy() is false; then another namespace may have the zones. */
void nvme_zones_drop(NvmeCtrl *ctrl);
bool nvme_zones_are_busy(const NvmeCtrl *ctrl);

/* A step of the drive that a zone waits for, without a command of the host:
 * the next one from zone *i on.  false: there is none. */
bool nvme_zones_next_job(NvmeCtrl *ctrl, uint32_t *i);

#endif
