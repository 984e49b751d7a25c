/* SPDX-License-Identifier: GPL-2.0-or-later */
/* self-test.h - Device Self-test. */
#ifndef VSSD_NVME_SELF_TEST_H
#define VSSD_NVME_SELF_TEST_H

#include "rooms.h"
#if NVME_ROOM < ROOM_HEALTH
#error "hw-ssd/nvme/health is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Results of a test, bits 3:0 of Device Self-test Status. */
enum {
    NVME_DST_PASSED = 0x0,
    NVME_DST_ABORTED = 0x1,
    NVME_DST_RESET = 0x2,
    NVME_DST_NS_REMOVED = 0x3,
    NVME_DST_FORMAT = 0x4,
    NVME_DST_FAILED = 0x7,
    NVME_DST_SANITIZE = 0x9,
    NVME_DST_UNUSED = 0xf,
};

/* Device Self-test command. */
uint16_t nvme_self_test(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* End the test that runs, if one does, with this result. */
void nvme_self_test_end(NvmeCtrl *ctrl, uint8_t result);

/* A reset ends a short test; an extended one goes on when the controller is
 * ready again. */
void nvme_self_test_reset(NvmeCtrl *ctrl);

/* Go on, if it is time; true: the drive has got a read.  And when it will be.
 */
bool nvme_self_test_look(NvmeCtrl *ctrl);
uint64_t nvme_self_test_ns(const NvmeCtrl *ctrl);

/* EDSTT: minutes that an extended test takes, of an idle drive. */
uint16_t nvme_self_test_minutes(const NvmeCtrl *ctrl);

/* Of a stream that was loaded. */
bool nvme_self_test_ok(const NvmeCtrl *ctrl);

/* Log page 06h. */
void nvme_fill_self_test_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             uint64_t i, void *page);

#endif
