/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sg.c - the pieces of guest memory of one command, and moving bytes to and
 * from them.
 *
 * Knows addresses; where they come from is the business of prp.c and sgl.c.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "memory/sg.h"

void nvme_sg_init(NvmeSg *sg)
{
    sg->seg = sg->small;
    sg->n = 0;
    sg->idx = 0;
    sg->done = 0;
    sg->in_drive = false;
    sg->has_list = false;
    sg->list_in_cmb = false;
}

void nvme_sg_free(NvmeCtrl *ctrl, NvmeSg *sg)
{
    if (sg->seg != sg->small) {
        g_ptr_array_add(ctrl->sub->requests.sg_pool, sg->seg);
    }
    nvme_sg_init(sg);
}

static void sg_grow(NvmeCtrl *ctrl, NvmeSg *sg)
{
    NvmeSeg *large = NULL;

    if (ctrl->sub->requests.sg_pool->len) {
        large = g_ptr_array_steal_index_fast(
            ctrl->sub->requests.sg_pool, ctrl->sub->requests.sg_pool->len - 1);
    } else {
        large = g_new(NvmeSeg, NVME_SG_LARGE);
    }
    memcpy(large, sg->small, sizeof(sg->small));
    sg->seg = large;
}

void nvme_sg_add(NvmeCtrl *ctrl, NvmeSg *sg, uint64_t addr, uint32_t len)
{
    NvmeSeg *last = sg->n ? &sg->seg[sg->n - 1] : NULL;

    if (last && last->addr + last->len == addr && addr != 0 &&
        last->addr != NVME_SG_NOWHERE) {
        last->len += len;
        return;
    }
    if (sg->n == NVME_SG_SMALL && sg->seg == sg->small) {
        sg_grow(ctrl, sg);
    }
    g_assert(sg->n < NVME_SG_LARGE);
    sg->seg[sg->n++] = (NvmeSeg){.addr = addr, .len = len};
}

/* The piece at the cursor, at most len bytes; the cursor moves past it. */
static size_t sg_piece(NvmeSg *sg, size_t len, uint64_t *addr)
{
    NvmeSeg *seg = &sg->seg[sg->idx];
    size_t n = MIN(len, seg->len - sg->done);

    g_assert(sg->idx < sg->n);
    *addr = seg->addr == NVME_SG_NOWHERE ? seg->addr : seg->addr + sg->done;
    sg->done += n;
    if (sg->done == seg->len) {
        sg->idx++;
        sg->done = 0;
    }
    return n;
}

uint16_t nvme_sg_read(NvmeCtrl *ctrl, NvmeSg *sg, void *buf, size_t len)
{
    uint8_t *to = buf;

    ctrl->sub->run_bytes += len;
    while (len) {
        uint64_t addr;
        size_t n = sg_piece(sg, len, &addr);

        if (nvme_dma_read(ctrl, addr, to, n)) {
            return NVME_SC_DATA_TRANSFER;
        }
        to += n;
        len -= n;
    }
    return 0;
}

uint16_t nvme_sg_write(NvmeCtrl *ctrl, NvmeSg *sg, const void *buf, size_t len)
{
    const uint8_t *from = buf;

    ctrl->sub->run_bytes += len;
    while (len) {
        uint64_t addr;
        size_t n = sg_piece(sg, len, &addr);

        if (addr != NVME_SG_NOWHERE && nvme_dma_write(ctrl, addr, from, n)) {
            return NVME_SC_DATA_TRANSFER;
        }
        from += n;
        len -= n;
    }
    return 0;
}
