/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-memory.c - the Host Memory Buffer (Base 2.0, feature 0Dh), for the map
 * of a drive with ftl.hmb.
 *
 * Knows the host's list of pieces, which it checks; the drive knows the cost of
 * its entries there.  Nothing is written to the host's memory: the model has
 * the entries.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "memory/host-memory.h"
#include "memory/prp.h"

#define ENABLE 0x1U /* EHM */
#define RETURN 0x2U /* MR */

#define PAGE_4K     4096
#define LEAST_PAGES 16   /* HMMIN, if the drive wants that much */
#define MOST_PIECES 1024 /* HMMAXD */

bool nvme_has_host_memory(const NvmeCtrl *ctrl)
{
    return ctrl->index == 0 && ssd_host_memory(ctrl->ssd) > 0;
}

static uint32_t wanted_pages(const NvmeCtrl *ctrl)
{
    uint64_t n = (ssd_host_memory(ctrl->ssd) + PAGE_4K - 1) / PAGE_4K;

    return (uint32_t)MIN(n, UINT32_MAX);
}

void nvme_identify_host_memory(const NvmeCtrl *ctrl, NvmeIdController *id)
{
    uint32_t n = wanted_pages(ctrl);

    id->hmpre = nvme_le32(n);
    id->hmmin = nvme_le32(MIN(n, LEAST_PAGES));
    id->hmmaxd = nvme_le16(n ? MOST_PIECES : 0);
}

/* ---- the list ------------------------------------------------------------ */

static bool piece_ok(const NvmeCtrl *ctrl, const NvmeHostMemoryPiece *p)
{
    uint64_t at = nvme_le64(p->badd);
    uint64_t bytes = (uint64_t)nvme_le32(p->bsize) << ctrl->regs.page_bits;

    return bytes && !(at & ((1ULL << ctrl->regs.page_bits) - 1)) &&
           at + bytes > at;
}

/* Every piece is aligned, and together they are as large as the buffer. */
static uint16_t check_list(NvmeCtrl *ctrl, const NvmeHostMemory *m)
{
    uint64_t pages = 0;

    for (uint32_t i = 0; i < m->entries; i++) {
        NvmeHostMemoryPiece p;

        if (nvme_dma_read(ctrl, m->list + i * sizeof(p), &p, sizeof(p))) {
            return NVME_SC_DATA_TRANSFER;
        }
        if (!piece_ok(ctrl, &p)) {
            return NVME_SC_INVALID_FIELD;
        }
        pages += nvme_le32(p.bsize);
    }
    return pages == m->pages ? 0 : NVME_SC_INVALID_FIELD;
}

/* ---- the feature --------------------------------------------------------- */

static uint64_t bytes_of(const NvmeCtrl *ctrl)
{
    return ctrl->host_memory.on
               ? (uint64_t)ctrl->host_memory.pages << ctrl->regs.page_bits
               : 0;
}

void nvme_host_memory_apply(NvmeCtrl *ctrl)
{
    ssd_set_host_memory(ctrl->ssd, ctrl->sub->now_ns, bytes_of(ctrl));
}

void nvme_host_memory_reset(NvmeCtrl *ctrl)
{
    memset(&ctrl->host_memory, 0, sizeof(ctrl->host_memory));
    if (nvme_has_host_memory(ctrl)) {
        nvme_host_memory_apply(ctrl);
    }
}

uint16_t nvme_host_memory_get(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe, bool current)
{
    NvmeHostMemoryAttributes d = {.hsize = 0};
    const NvmeHostMemory *m = &ctrl->host_memory;

    if (current) {
        req->dw0 = m->on;
        d.hsize = nvme_le32(m->pages);
        d.hmdla = nvme_le64(m->list);
        d.hmdlec = nvme_le32(m->entries);
    }
    return nvme_to_host(ctrl, sqe, &d, sizeof(d));
}

/* Memory that the host returns (MR) holds entries that may be old: the drive
 * begins with none of them. */
uint16_t nvme_host_memory_set(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    NvmeHostMemory m = {
        .on = true,
        .pages = sqe->dw[12],
        .list = nvme_sqe_u64(sqe, 13),
        .entries = sqe->dw[15],
    };
    uint64_t least = (uint64_t)MIN(wanted_pages(ctrl), LEAST_PAGES) * PAGE_4K;
    uint16_t status;

    if (sqe->dw[11] & ~(ENABLE | RETURN)) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!(sqe->dw[11] & ENABLE)) {
        ctrl->host_memory.on = false;
        nvme_host_memory_apply(ctrl);
        return 0;
    }
    if (ctrl->host_memory.on) {
        return NVME_SC_COMMAND_SEQUENCE;
    }
    if (!m.entries || m.entries > MOST_PIECES || m.list & 0xf ||
        (uint64_t)m.pages << ctrl->regs.page_bits < least) {
        return NVME_SC_INVALID_FIELD;
    }
    status = check_list(ctrl, &m);
    if (!status) {
        ctrl->host_memory = m;
        nvme_host_memory_apply(ctrl);
    }
    return status;
}
