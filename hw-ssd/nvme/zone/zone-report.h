/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zone-report.h - what the host reads about zones. */
#ifndef VSSD_NVME_ZONE_REPORT_H
#define VSSD_NVME_ZONE_REPORT_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ZONE
#error "hw-ssd/nvme/zone is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_zone_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);

/* Identify, CNS 05h, 06h and 0Ah, of the Zoned Namespace Command Set.  Zones
 * have one LBA format; 0Ah of another is an invalid field. */
uint16_t nvme_identify_zoned_namespace(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                       void *data);
uint16_t nvme_identify_zoned_controller(const NvmeCtrl *ctrl,
                                        const NvmeSqe *sqe, void *data);
uint16_t nvme_identify_zoned_format(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                    void *data);

/* Log page BFh. */
bool nvme_has_zones(const NvmeCtrl *ctrl);
void nvme_fill_changed_zones(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             uint64_t i, void *page);
void nvme_clear_changed_zones(NvmeCtrl *ctrl);

/* Bytes of the largest Zone Append. */
uint64_t nvme_zone_append_most(const NvmeCtrl *ctrl);

#endif
