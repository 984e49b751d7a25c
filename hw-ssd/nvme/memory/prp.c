/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prp.c - Physical Region Page entries and lists: from PRP1 and PRP2 to pieces
 * of guest memory; and the data of a command, by PRPs or by an SGL.
 *
 * Every PRP entry is read once.  A list cannot be endless: each of its pages
 * but the first must start at offset 0 and so carries entries that the
 * transfer needs.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "memory/cmb.h"
#include "memory/prp.h"
#include "memory/sgl.h"

/* The rest of a transfer, from the list at addr. */
static uint16_t map_list(NvmeCtrl *ctrl, NvmeSg *sg, uint64_t addr,
                         uint64_t bytes)
{
    uint64_t page = 1ULL << ctrl->regs.page_bits;
    uint64_t entry[512];

    if (addr & 7) {
        return NVME_SC_PRP_OFFSET;
    }
    for (;;) {
        uint64_t slots = (page - (addr & (page - 1))) / 8;
        uint64_t need = (bytes + page - 1) >> ctrl->regs.page_bits;
        bool chained = need > slots;
        uint64_t left = chained ? slots : need;

        while (left) {
            uint64_t n = MIN(left, G_N_ELEMENTS(entry));

            uint16_t status = nvme_cmb_check_list(ctrl, sg, addr, n * 8);

            if (status) {
                return status;
            }
            if (nvme_dma_read(ctrl, addr, entry, n * 8)) {
                return NVME_SC_DATA_TRANSFER;
            }
            addr += n * 8;
            left -= n;
            for (uint64_t i = 0; i < n; i++) {
                uint64_t prp = GUINT64_FROM_LE(entry[i]);

                if (prp & (page - 1)) {
                    return NVME_SC_PRP_OFFSET;
                }
                if (chained && !left && i == n - 1) {
                    addr = prp;
                    break;
                }
                nvme_sg_add(ctrl, sg, prp, MIN(bytes, page));
                bytes -= MIN(bytes, page);
            }
        }
        if (!chained) {
            return 0;
        }
    }
}

static uint16_t map_prps(NvmeCtrl *ctrl, NvmeSg *sg, uint64_t prp1,
                         uint64_t prp2, uint64_t bytes)
{
    uint64_t page = 1ULL << ctrl->regs.page_bits;
    uint64_t first = MIN(bytes, page - (prp1 & (page - 1)));

    if (prp1 & 3) {
        return NVME_SC_PRP_OFFSET;
    }
    nvme_sg_add(ctrl, sg, prp1, first);
    bytes -= first;
    if (!bytes) {
        return 0;
    }
    if (bytes > page) {
        return map_list(ctrl, sg, prp2, bytes);
    }
    if (prp2 & (page - 1)) {
        return NVME_SC_PRP_OFFSET;
    }
    nvme_sg_add(ctrl, sg, prp2, bytes);
    return 0;
}

uint16_t nvme_map(NvmeCtrl *ctrl, NvmeSg *sg, const NvmeSqe *sqe,
                  uint64_t bytes, bool to_host)
{
    uint16_t status;

    if (G_UNLIKELY(sqe->dw[0] & NVME_PSDT_BITS)) {
        status = nvme_sgl_map(ctrl, sg, sqe, bytes, to_host);
    } else {
        status =
            map_prps(ctrl, sg, nvme_sqe_prp1(sqe), nvme_sqe_prp2(sqe), bytes);
    }
    if (G_UNLIKELY(ctrl->windows_on) && !status) {
        status = nvme_cmb_check_data(ctrl, sg, to_host);
    }
    return status;
}

uint16_t nvme_to_host(NvmeCtrl *ctrl, const NvmeSqe *sqe, const void *buf,
                      size_t len)
{
    NvmeSg sg;
    uint16_t status;

    nvme_sg_init(&sg);
    status = nvme_map(ctrl, &sg, sqe, len, true);
    if (!status) {
        status = nvme_sg_write(ctrl, &sg, buf, len);
    }
    nvme_sg_free(ctrl, &sg);
    return status;
}

uint16_t nvme_to_host_padded(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             const void *buf, size_t len, uint64_t wanted)
{
    size_t n = (size_t)MIN(wanted, len);
    uint8_t *out;
    uint16_t status;

    if (wanted > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    out = payload_buf_get(ctrl->payload, (size_t)wanted);
    memcpy(out, buf, n);
    memset(out + n, 0, (size_t)wanted - n);
    status = nvme_to_host(ctrl, sqe, out, (size_t)wanted);
    payload_buf_put(ctrl->payload, out, (size_t)wanted);
    return status;
}

uint16_t nvme_from_host(NvmeCtrl *ctrl, const NvmeSqe *sqe, void *buf,
                        size_t len)
{
    NvmeSg sg;
    uint16_t status;

    nvme_sg_init(&sg);
    status = nvme_map(ctrl, &sg, sqe, len, false);
    if (!status) {
        status = nvme_sg_read(ctrl, &sg, buf, len);
    }
    nvme_sg_free(ctrl, &sg);
    return status;
}
