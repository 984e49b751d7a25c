/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window.c - memory of the drive at addresses of the host.
 *
 * The host chooses the address by a register (CMBMSC, PMRMSC), or, with the
 * scheme before NVMe 1.4, by the BAR.  While the controller uses a window, an
 * address in it means the drive's memory, and nothing goes to the machine.
 *
 * Knows addresses; cmb.c and pmr.c know the registers and the rules.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "memory/window.h"

#include <errno.h>

/* The window's present base; UINT64_MAX: nowhere. */
static uint64_t base_of(const NvmeCtrl *ctrl, const NvmeWindow *w)
{
    return w->follows ? ctrl->machine->bar_address(ctrl->opaque, w->bar)
                      : w->base;
}

NvmeAt nvme_window_find(const NvmeCtrl *ctrl, uint64_t addr, uint64_t bytes)
{
    for (unsigned i = NVME_AT_CMB; i < NVME_AT_EDGE; i++) {
        const NvmeWindow *w = &ctrl->window[i];
        uint64_t base = w->on ? base_of(ctrl, w) : UINT64_MAX;

        if (base == UINT64_MAX) {
            continue;
        }
        if (addr >= base && addr - base < w->bytes) {
            return bytes <= w->bytes - (addr - base) ? (NvmeAt)i : NVME_AT_EDGE;
        }
        if (addr < base && bytes > base - addr) {
            return NVME_AT_EDGE;
        }
    }
    return NVME_AT_HOST;
}

/* In the window, or UINT64_MAX.  The host may move a BAR at any time. */
static uint64_t safe_offset(const NvmeCtrl *ctrl, const NvmeWindow *w,
                            uint64_t addr, size_t len)
{
    uint64_t at = addr - base_of(ctrl, w);

    return at <= w->bytes && len <= w->bytes - at ? at : UINT64_MAX;
}

int nvme_window_read(NvmeCtrl *ctrl, uint64_t addr, void *buf, size_t len)
{
    NvmeAt where = nvme_window_find(ctrl, addr, len);
    uint64_t at;

    if (where == NVME_AT_HOST) {
        return ctrl->machine->dma_read(ctrl->opaque, addr, buf, len);
    }
    if (where == NVME_AT_EDGE) {
        return -EFAULT;
    }
    at = safe_offset(ctrl, &ctrl->window[where], addr, len);
    if (at == UINT64_MAX) {
        return -EFAULT;
    }
    memcpy(buf, ctrl->window[where].mem + at, len);
    return 0;
}

static void tell_written(NvmeCtrl *ctrl, const NvmeWindow *w, uint64_t at,
                         uint64_t len)
{
    if (ctrl->machine->bar_written) {
        ctrl->machine->bar_written(ctrl->opaque, w->bar, at, len);
    }
}

int nvme_window_write(NvmeCtrl *ctrl, uint64_t addr, const void *buf,
                      size_t len)
{
    NvmeAt where = nvme_window_find(ctrl, addr, len);
    uint64_t at;

    if (where == NVME_AT_HOST) {
        return ctrl->machine->dma_write(ctrl->opaque, addr, buf, len);
    }
    if (where == NVME_AT_EDGE) {
        return -EFAULT;
    }
    at = safe_offset(ctrl, &ctrl->window[where], addr, len);
    if (at == UINT64_MAX) {
        return -EFAULT;
    }
    memcpy(ctrl->window[where].mem + at, buf, len);
    tell_written(ctrl, &ctrl->window[where], at, len);
    return 0;
}

static void count_windows(NvmeCtrl *ctrl)
{
    ctrl->windows_on =
        ctrl->window[NVME_AT_CMB].on || ctrl->window[NVME_AT_PMR].on;
}

void nvme_window_open(NvmeCtrl *ctrl, NvmeAt which, uint64_t base)
{
    NvmeWindow *w = &ctrl->window[which];

    w->on = w->follows || base <= UINT64_MAX - w->bytes;
    w->base = base;
    count_windows(ctrl);
}

void nvme_window_close(NvmeCtrl *ctrl, NvmeAt which)
{
    ctrl->window[which].on = false;
    count_windows(ctrl);
}

void nvme_window_show(NvmeCtrl *ctrl, NvmeAt which, bool on)
{
    if (ctrl->machine->bar_show) {
        ctrl->machine->bar_show(ctrl->opaque, ctrl->window[which].bar, on);
    }
}

void nvme_window_clear(NvmeCtrl *ctrl, NvmeAt which)
{
    NvmeWindow *w = &ctrl->window[which];

    memset(w->mem, 0, w->bytes);
    tell_written(ctrl, w, 0, w->bytes);
}
