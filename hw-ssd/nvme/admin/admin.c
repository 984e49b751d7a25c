/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * admin.c - the table of admin commands, and those that manage queues.
 *
 * Identify, features, logs, events and directives have files of their own.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "memory/cmb.h"
#include "admin/commands.h"
#include "placement/directives.h"
#include "health/events.h"
#include "admin/firmware.h"
#include "erase/format.h"
#include "admin/nvme-features.h"
#include "admin/identify.h"
#include "health/keep-alive.h"
#include "admin/lba-status.h"
#include "admin/log-pages.h"
#include "admin/ns-admin.h"
#include "queue/queue.h"
#include "queue/request.h"
#include "erase/sanitize.h"
#include "health/self-test.h"
#include "queue/steps.h"
#include "admin/virtualization.h"

/* ---- queues ------------------------------------------------------------- */

static uint16_t check_new_queue(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                bool taken, uint32_t entry_shift,
                                uint32_t want_shift)
{
    uint16_t qid = sqe->dw[10] & 0xffff;
    uint32_t size = (sqe->dw[10] >> 16) + 1;

    if (qid == 0 || qid > ctrl->cfg.n_queues || taken) {
        return NVME_SC_QID_INVALID;
    }
    if (size < 2 || size > ctrl->cfg.queue_size || entry_shift != want_shift) {
        return NVME_SC_QUEUE_SIZE;
    }
    if (!(sqe->dw[11] & 1)) {
        return NVME_SC_INVALID_FIELD; /* CAP.CQR: must be contiguous */
    }
    if (nvme_sqe_prp1(sqe) & ((1ULL << ctrl->regs.page_bits) - 1)) {
        return NVME_SC_PRP_OFFSET;
    }
    return 0;
}

/* The last check is of the memory. */
static uint16_t open_cq(NvmeCtrl *ctrl, uint16_t qid, const NvmeSqe *sqe,
                        uint16_t vector)
{
    uint32_t size = (sqe->dw[10] >> 16) + 1;
    bool in_cmb;
    uint16_t status =
        nvme_cmb_check_queue(ctrl, nvme_sqe_prp1(sqe),
                             (uint64_t)size * NVME_CQE_BYTES, true, &in_cmb);

    if (!status) {
        nvme_cq_open(ctrl, qid, nvme_sqe_prp1(sqe), size, vector,
                     sqe->dw[11] & 2, in_cmb);
    }
    return status;
}

static uint16_t open_sq(NvmeCtrl *ctrl, uint16_t qid, const NvmeSqe *sqe,
                        uint16_t cqid)
{
    uint32_t size = (sqe->dw[10] >> 16) + 1;
    bool in_cmb;
    uint16_t status =
        nvme_cmb_check_queue(ctrl, nvme_sqe_prp1(sqe),
                             (uint64_t)size * NVME_SQE_BYTES, false, &in_cmb);

    if (!status) {
        nvme_sq_open(ctrl, qid, cqid, nvme_sqe_prp1(sqe), size,
                     sqe->dw[11] >> 1 & 3, in_cmb);
    }
    return status;
}

static uint16_t admin_create_cq(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t qid = sqe->dw[10] & 0xffff;
    uint16_t vector = sqe->dw[11] >> 16;
    bool taken = qid < NVME_MAX_QUEUES && ctrl->queues.cq[qid].live;
    uint16_t status = check_new_queue(
        ctrl, sqe, taken, NVME_CC_IOCQES(ctrl->regs.cc), NVME_CQE_SHIFT);

    if (status) {
        return status;
    }
    if (vector >= ctrl->cfg.n_vectors ||
        (vector && !ctrl->machine->msix_enabled(ctrl->opaque))) {
        return NVME_SC_INTERRUPT_VECTOR;
    }
    return open_cq(ctrl, qid, sqe, vector);
}

static uint16_t admin_create_sq(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t qid = sqe->dw[10] & 0xffff;
    uint16_t cqid = sqe->dw[11] >> 16;
    bool taken = qid < NVME_MAX_QUEUES && ctrl->queues.sq[qid].live;
    uint16_t status = check_new_queue(
        ctrl, sqe, taken, NVME_CC_IOSQES(ctrl->regs.cc), NVME_SQE_SHIFT);

    if (status) {
        return status;
    }
    if (cqid == 0 || cqid > ctrl->cfg.n_queues) {
        return NVME_SC_QID_INVALID;
    }
    if (!ctrl->queues.cq[cqid].live) {
        return NVME_SC_CQ_INVALID;
    }
    return open_sq(ctrl, qid, sqe, cqid);
}

static uint16_t admin_delete_sq(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t qid = sqe->dw[10] & 0xffff;

    if (qid == 0 || qid >= NVME_MAX_QUEUES || !ctrl->queues.sq[qid].live) {
        return NVME_SC_QID_INVALID;
    }
    nvme_sq_delete(ctrl, qid, req);
    return 0;
}

static uint16_t admin_delete_cq(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t qid = sqe->dw[10] & 0xffff;

    if (qid == 0 || qid >= NVME_MAX_QUEUES || !ctrl->queues.cq[qid].live) {
        return NVME_SC_QID_INVALID;
    }
    if (ctrl->queues.cq[qid].nsqs) {
        return NVME_SC_QUEUE_DELETION;
    }
    nvme_cq_close(ctrl, qid);
    return 0;
}

/* ---- others ------------------------------------------------------------- */

/* Dword 0 of the completion: bit 0 is set if nothing was aborted. */
static uint16_t admin_abort(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    uint16_t sqid = sqe->dw[10] & 0xffff;
    uint16_t cid = sqe->dw[10] >> 16;
    const NvmeSq *sq = sqid < NVME_MAX_QUEUES ? &ctrl->queues.sq[sqid] : NULL;

    req->dw0 = 1;
    if (!sq || !sq->live) {
        return 0;
    }
    for (NvmeRequest *r = sq->list.sq_next; r != &sq->list; r = r->sq_next) {
        if (r == req || r->cid != cid || r->posted) {
            continue;
        }
        if (r->waiting) {
            req->dw0 = nvme_event_abort(ctrl, r) ? 0 : 1;
        } else {
            req->dw0 = nvme_request_abort(ctrl, r) ? 0 : 1;
        }
        break;
    }
    return 0;
}

static uint16_t admin_doorbell_buffer(NvmeCtrl *ctrl, NvmeRequest *req,
                                      const NvmeSqe *sqe)
{
    uint64_t db = nvme_sqe_prp1(sqe);
    uint64_t ei = nvme_sqe_prp2(sqe);
    uint64_t mask = (1ULL << ctrl->regs.page_bits) - 1;
    uint32_t probe;

    if (db & mask || ei & mask) {
        return NVME_SC_PRP_OFFSET;
    }
    if (db == ei) {
        return NVME_SC_INVALID_FIELD;
    }
    if (nvme_dma_read(ctrl, db, &probe, sizeof(probe)) ||
        nvme_dma_read(ctrl, ei, &probe, sizeof(probe))) {
        return NVME_SC_DATA_TRANSFER;
    }
    nvme_shadow_config(ctrl, db, ei);
    return 0;
}

static const NvmeCommand admin_commands[] = {
    {.opcode = NVME_ADM_DELETE_SQ,
     .name = "Delete I/O Submission Queue",
     .run = admin_delete_sq,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "outstanding commands end as aborted"},
    {.opcode = NVME_ADM_CREATE_SQ,
     .name = "Create I/O Submission Queue",
     .run = admin_create_sq,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "contiguous; any completion queue; priority class, used with "
             "weighted round robin"},
    {.opcode = NVME_ADM_GET_LOG_PAGE,
     .name = "Get Log Page",
     .run = nvme_get_log_page,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "offset, 32-bit length, Retain Asynchronous Event"},
    {.opcode = NVME_ADM_DELETE_CQ,
     .name = "Delete I/O Completion Queue",
     .run = admin_delete_cq,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = ""},
    {.opcode = NVME_ADM_CREATE_CQ,
     .name = "Create I/O Completion Queue",
     .run = admin_create_cq,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "contiguous; any interrupt vector"},
    {.opcode = NVME_ADM_IDENTIFY,
     .name = "Identify",
     .run = nvme_identify,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = ""},
    {.opcode = NVME_ADM_ABORT,
     .name = "Abort",
     .run = admin_abort,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "I/O commands that the drive has not begun, and event requests"},
    {.opcode = NVME_ADM_SET_FEATURES,
     .name = "Set Features",
     .run = nvme_set_features,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "saved values are kept without power"},
    {.opcode = NVME_ADM_GET_FEATURES,
     .name = "Get Features",
     .run = nvme_get_features,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "current, default, saved, capabilities"},
    {.opcode = NVME_ADM_ASYNC_EVENT,
     .name = "Asynchronous Event Request",
     .run = nvme_async_event,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "error events, SMART events, notices; 4 outstanding"},
    {.opcode = NVME_ADM_FIRMWARE_COMMIT,
     .name = "Firmware Commit",
     .run = nvme_firmware_commit,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_CONTROLLER |
                NVME_EFFECT_SCOPE_SUBSYSTEM,
     .help = "slots of the property fw_slots; activation at once, or with a "
             "reset; no boot partitions"},
    {.opcode = NVME_ADM_FIRMWARE_DOWNLOAD,
     .name = "Firmware Image Download",
     .run = nvme_firmware_download,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "images of up to 1 MiB ([firmware.md](firmware.md))"},
    {.opcode = NVME_ADM_SELF_TEST,
     .name = "Device Self-test",
     .run = nvme_self_test,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "short, extended, abort; reads the media in the background"},
    {.opcode = NVME_ADM_KEEP_ALIVE,
     .name = "Keep Alive",
     .run = nvme_keep_alive,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "restarts the timer of feature 0Fh"},
    {.opcode = NVME_ADM_NS_MANAGEMENT,
     .name = "Namespace Management",
     .run = nvme_ns_management,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_NS_LIST |
                NVME_ONLY_MANAGED,
     .help = "with namespaces=: Create, Delete; one at a time; not thin"},
    {.opcode = NVME_ADM_NS_ATTACHMENT,
     .name = "Namespace Attachment",
     .run = nvme_ns_attachment,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_NS_LIST |
                NVME_ONLY_MANAGED,
     .help = "with namespaces=: Attach, Detach; of a list of controllers"},
    {.opcode = NVME_ADM_DIRECTIVE_SEND,
     .name = "Directive Send",
     .run = nvme_directive_send,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_DIRECTIVES,
     .help =
         "with streams.max or fdp.ruhs: Enable; Streams: Release Identifier, "
         "Release Resources"},
    {.opcode = NVME_ADM_DIRECTIVE_RECEIVE,
     .name = "Directive Receive",
     .run = nvme_directive_receive,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_DIRECTIVES,
     .help = "with streams.max or fdp.ruhs: Return Parameters; Streams: Get "
             "Status, "
             "Allocate Resources"},
    {.opcode = NVME_ADM_VIRTUALIZATION,
     .name = "Virtualization Management",
     .run = nvme_virtualization_management,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_SCOPE_SUBSYSTEM |
                NVME_ONLY_PRIMARY,
     .help = "with sriov_vfs=, of the primary controller: Primary Controller "
             "Flexible Allocation; Secondary Controller Offline, Assign, "
             "Online"},
    {.opcode = NVME_ADM_DOORBELL_BUFFER,
     .name = "Doorbell Buffer Config",
     .run = admin_doorbell_buffer,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "before or after the creation of queues"},
    {.opcode = NVME_ADM_FORMAT,
     .name = "Format NVM",
     .run = nvme_format,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA |
                NVME_EFFECT_CHANGES_NS | NVME_EFFECT_ALONE_NS |
                NVME_EFFECT_SCOPE_NS | NVME_NO_ZONES,
     .help = "one namespace, or all that are attached; formats of the "
             "namespace; User Data Erase erases the blocks of the array, "
             "Cryptographic Erase ([sanitize.md](sanitize.md))"},
    {.opcode = NVME_ADM_SANITIZE,
     .name = "Sanitize",
     .run = nvme_sanitize,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA |
                NVME_EFFECT_ALONE | NVME_EFFECT_SCOPE_SUBSYSTEM | NVME_NO_ZONES,
     .help = "Block Erase, Overwrite, Crypto Erase, Exit Failure Mode "
             "([sanitize.md](sanitize.md))"},
    {.opcode = NVME_ADM_GET_LBA_STATUS,
     .name = "Get LBA Status",
     .run = nvme_get_lba_status,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_SCOPE_NS,
     .help = "blocks of failed reads and of Write Uncorrectable, the last 64 "
             "ranges; a scan reads the range inside the drive; one at a time"},
};

const NvmeCommandTable nvme_admin_commands = {admin_commands,
                                              G_N_ELEMENTS(admin_commands)};
