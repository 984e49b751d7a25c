/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prp.h - guest memory of a command: from PRPs to pieces, moving bytes. */
#ifndef VSSD_NVME_PRP_H
#define VSSD_NVME_PRP_H

#include "nvme-internal.h"

void nvme_sg_init(NvmeSg *sg);
void nvme_sg_free(NvmeCtrl *ctrl, NvmeSg *sg);

/* Status code; 0: sg describes bytes bytes. */
uint16_t nvme_prp_map(NvmeCtrl *ctrl, NvmeSg *sg, uint64_t prp1, uint64_t prp2,
                      uint64_t bytes);

/* Move the next len bytes.  Status code. */
uint16_t nvme_sg_read(NvmeCtrl *ctrl, NvmeSg *sg, void *buf, size_t len);
uint16_t nvme_sg_write(NvmeCtrl *ctrl, NvmeSg *sg, const void *buf, size_t len);

/* The data of an admin command at once: map, move, forget.  Status code. */
uint16_t nvme_to_host(NvmeCtrl *ctrl, const NvmeSqe *sqe, const void *buf,
                      size_t len);
uint16_t nvme_from_host(NvmeCtrl *ctrl, const NvmeSqe *sqe, void *buf,
                        size_t len);

/* As much of a structure as the host asks for, zeroes beyond its end. */
uint16_t nvme_to_host_padded(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             const void *buf, size_t len, uint64_t wanted);

#endif
