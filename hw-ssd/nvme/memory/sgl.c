/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sgl.c - scatter gather lists (Base 1.4, Scatter Gather List): data block, bit
 * bucket, segment and last segment descriptors, with addresses.
 *
 * Every descriptor is read once, up to the last byte of the transfer; a list
 * may describe more than that.  Each descriptor counts, so a list that leads to
 * itself ends soon.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "memory/cmb.h"
#include "memory/sg.h"
#include "memory/sgl.h"

#define AT_ONCE 64 /* descriptors of one DMA read */

typedef struct Walk {
    NvmeCtrl *ctrl;
    NvmeSg *sg;
    uint64_t bytes; /* still to be described */
    unsigned room;  /* descriptors that the list may still have */
    bool to_host;
} Walk;

static unsigned type_of(const NvmeSglDescriptor *d)
{
    return d->id >> 4;
}

static bool is_segment(const NvmeSglDescriptor *d)
{
    return type_of(d) == NVME_SGL_SEGMENT || type_of(d) == NVME_SGL_LAST;
}

/* A descriptor of data. */
static uint16_t take_data(Walk *w, const NvmeSglDescriptor *d)
{
    uint64_t addr = nvme_le64(d->addr);
    uint32_t len = (uint32_t)MIN(nvme_le32(d->length), w->bytes);

    if (d->id & 0xf) {
        return NVME_SC_SGL_TYPE; /* a subtype other than an address */
    }
    switch (type_of(d)) {
    case NVME_SGL_DATA:
        if (addr + len < addr) {
            return NVME_SC_DATA_TRANSFER;
        }
        break;
    case NVME_SGL_BUCKET: /* of data from the host: nothing */
        addr = NVME_SG_NOWHERE;
        len = w->to_host ? len : 0;
        break;
    default:
        return NVME_SC_SGL_TYPE;
    }
    if (len) {
        nvme_sg_add(w->ctrl, w->sg, addr, len);
        w->bytes -= len;
    }
    return 0;
}

/*
 * The descriptors of a segment.  One that leads to another segment is the last;
 * it goes to *d, which is else not a segment any more.  Statuses are those of
 * Base 2.1, Generic Command Status Values, 0Dh and 0Eh.
 */
static uint16_t take_segment(Walk *w, NvmeSglDescriptor *d)
{
    bool last_segment = type_of(d) == NVME_SGL_LAST;
    uint64_t addr = nvme_le64(d->addr);
    uint32_t bytes = nvme_le32(d->length);
    uint32_t left = bytes / sizeof(*d);

    if (d->id & 0xf) {
        return NVME_SC_SGL_TYPE;
    }
    if (!left || bytes % sizeof(*d) || addr & 7) {
        return NVME_SC_SGL_SEGMENT;
    }
    d->id = 0;
    while (left && w->bytes) {
        NvmeSglDescriptor piece[AT_ONCE];
        unsigned n = MIN(left, AT_ONCE);
        uint16_t status;

        if (n > w->room) {
            return NVME_SC_SGL_COUNT;
        }
        w->room -= n;
        status = nvme_cmb_check_list(w->ctrl, w->sg, addr, n * sizeof(*d));
        if (status) {
            return status;
        }
        if (nvme_dma_read(w->ctrl, addr, piece, n * sizeof(*d))) {
            return NVME_SC_DATA_TRANSFER;
        }
        addr += n * sizeof(*d);
        left -= n;
        for (unsigned i = 0; i < n && w->bytes; i++) {
            if (!is_segment(&piece[i])) {
                status = take_data(w, &piece[i]);
            } else if (last_segment) {
                status = NVME_SC_SGL_SEGMENT;
            } else if (left || i < n - 1) {
                status = NVME_SC_SGL_COUNT;
            } else {
                *d = piece[i];
            }
            if (status) {
                return status;
            }
        }
    }
    return 0;
}

/* From its first descriptor on. */
static uint16_t map(NvmeCtrl *ctrl, NvmeSg *sg, NvmeSglDescriptor d,
                    uint64_t bytes, bool to_host)
{
    Walk w = {
        .ctrl = ctrl,
        .sg = sg,
        .bytes = bytes,
        .room = NVME_SGL_DESCRIPTORS,
        .to_host = to_host,
    };
    uint16_t status = is_segment(&d) ? 0 : take_data(&w, &d);

    while (!status && w.bytes && is_segment(&d)) {
        status = take_segment(&w, &d);
    }
    return !status && w.bytes ? NVME_SC_SGL_LENGTH : status;
}

uint16_t nvme_sgl_map(NvmeCtrl *ctrl, NvmeSg *sg, const NvmeSqe *sqe,
                      uint64_t bytes, bool to_host)
{
    NvmeSglDescriptor d = {
        .addr = nvme_le64(nvme_sqe_prp1(sqe)),
        .length = nvme_le32(sqe->dw[NVME_SQE_DW(prp2)]),
        .id = sqe->dw[NVME_SQE_DW(prp2) + 1] >> 24,
    };

    return map(ctrl, sg, d, bytes, to_host);
}

uint16_t nvme_sgl_map_metadata(NvmeCtrl *ctrl, NvmeSg *sg, uint64_t addr,
                               uint64_t bytes, bool to_host)
{
    NvmeSglDescriptor d;
    uint16_t status;

    if (nvme_dma_read(ctrl, addr, &d, sizeof(d))) {
        return NVME_SC_DATA_TRANSFER;
    }
    status = map(ctrl, sg, d, bytes, to_host);
    return status == NVME_SC_SGL_LENGTH ? NVME_SC_SGL_META_LENGTH : status;
}
