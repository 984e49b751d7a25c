/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window.h - memory of the drive at addresses of the host: the controller
 * memory buffer and the persistent memory region.
 */
#ifndef VSSD_NVME_WINDOW_H
#define VSSD_NVME_WINDOW_H

#include "rooms.h"
#if NVME_ROOM < ROOM_MEMORY
#error "hw-ssd/nvme/memory is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Where a range of host addresses is: all in one window, or in none; else, for
 * an address that the controller cannot use, NVME_AT_EDGE. */
NvmeAt nvme_window_find(const NvmeCtrl *ctrl, uint64_t addr, uint64_t bytes);

/* The controller uses the window at `base` from now on; or not at all, as also
 * if it would end beyond the last address. */
void nvme_window_open(NvmeCtrl *ctrl, NvmeAt which, uint64_t base);
void nvme_window_close(NvmeCtrl *ctrl, NvmeAt which);

/* May the host reach the memory at its BAR? */
void nvme_window_show(NvmeCtrl *ctrl, NvmeAt which, bool on);

/* Its content becomes zeroes. */
void nvme_window_clear(NvmeCtrl *ctrl, NvmeAt which);

#endif
