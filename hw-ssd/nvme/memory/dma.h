/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dma.h - guest memory, which may be memory of the drive. */
#ifndef VSSD_NVME_DMA_H
#define VSSD_NVME_DMA_H

#include "rooms.h"
#if NVME_ROOM < ROOM_MEMORY
#error "hw-ssd/nvme/memory is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* window.c: the memory of the drive, or of the machine. */
int nvme_window_read(NvmeCtrl *ctrl, uint64_t addr, void *buf, size_t len);
int nvme_window_write(NvmeCtrl *ctrl, uint64_t addr, const void *buf,
                      size_t len);

/* As NvmeMachine has them. */
static inline int nvme_dma_read(NvmeCtrl *ctrl, uint64_t addr, void *buf,
                                size_t len)
{
    if (G_UNLIKELY(ctrl->windows_on)) {
        return nvme_window_read(ctrl, addr, buf, len);
    }
    return ctrl->machine->dma_read(ctrl->opaque, addr, buf, len);
}

static inline int nvme_dma_write(NvmeCtrl *ctrl, uint64_t addr, const void *buf,
                                 size_t len)
{
    if (G_UNLIKELY(ctrl->windows_on)) {
        return nvme_window_write(ctrl, addr, buf, len);
    }
    return ctrl->machine->dma_write(ctrl->opaque, addr, buf, len);
}

/*
 * Guest memory is written and read by processors that need not see one order.
 * After an index was read from there, before the entries that it announces are
 * read or overwritten; and before an index or a phase bit announces entries.
 */
static inline void nvme_dma_rmb(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static inline void nvme_dma_wmb(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

#endif
