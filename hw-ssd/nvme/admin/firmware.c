/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firmware.c - Firmware Image Download and Firmware Commit, the slots (Base
 * 2.0, Firmware Update Process; log page 03h).
 *
 * An image has a head and any content (nvme-firmware.h).  A commit checks it,
 * and a slot keeps the fields of the head.  Pieces that were downloaded are
 * dropped by a reset, so that a power cut leaves a slot as it was, or with the
 * whole image.
 *
 * Knows images; the content of an image changes nothing but the revision.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "admin/firmware.h"
#include "nvme-firmware.h"
#include "health/persistent-events.h"
#include "memory/prp.h"
#include "registers/registers.h"
#include "queue/steps.h"

#include "simtime.h"

enum {
    REPLACE = 0,
    REPLACE_ACTIVATE = 1, /* with the next reset */
    ACTIVATE = 2,         /* the same, of a slot */
    ACTIVATE_NOW = 3,
};

/* ---- slots --------------------------------------------------------------- */

static NvmeFwSlot *slot_of(NvmeCtrl *ctrl, unsigned n)
{
    return &ctrl->sub->firmware_store.slot[n - 1];
}

static bool is_empty(const NvmeCtrl *ctrl, unsigned n)
{
    return !ctrl->sub->firmware_store.slot[n - 1].revision[0];
}

static bool is_read_only(const NvmeCtrl *ctrl, unsigned n)
{
    return n == 1 && !ctrl->cfg.firmware_slot1_writable;
}

void nvme_firmware_init(NvmeCtrl *ctrl)
{
    NvmeFirmware *f = &ctrl->sub->firmware_store;

    memset(f->slot[0].revision, ' ', sizeof(f->slot[0].revision));
    memcpy(f->slot[0].revision, ctrl->cfg.firmware, strlen(ctrl->cfg.firmware));
    f->active = 1;
}

const char *nvme_firmware_revision(const NvmeCtrl *ctrl)
{
    return ctrl->sub->firmware_store.slot[ctrl->sub->firmware_store.active - 1]
        .revision;
}

/* ---- download ------------------------------------------------------------ */

static bool has_unit(const NvmeFirmware *f, uint32_t unit)
{
    return f->have[unit / 64] >> (unit % 64) & 1;
}

static void forget_download(NvmeFirmware *f)
{
    f->bytes = 0;
    f->short_piece = 0;
    memset(f->have, 0, sizeof(f->have));
}

static uint16_t check_piece(const NvmeFirmware *f, uint64_t at, uint64_t bytes)
{
    bool is_short = bytes % NVME_FW_UNIT;

    if (at % NVME_FW_UNIT || at + bytes > NVME_FW_BYTES) {
        return NVME_SC_INVALID_FIELD;
    }
    for (uint64_t u = at / NVME_FW_UNIT; u * NVME_FW_UNIT < at + bytes; u++) {
        if (has_unit(f, (uint32_t)u)) {
            return NVME_SC_OVERLAPPING_RANGE;
        }
    }
    /* Only the last piece may be shorter. */
    if ((is_short && at < f->bytes) || (f->short_piece && at > f->bytes)) {
        return NVME_SC_INVALID_FIELD;
    }
    return 0;
}

uint16_t nvme_firmware_download(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    NvmeFirmware *f = &ctrl->sub->firmware_store;
    uint64_t bytes = ((uint64_t)sqe->dw[10] + 1) * 4;
    uint64_t at = (uint64_t)sqe->dw[11] * 4;
    uint16_t status;

    if (bytes > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    status = check_piece(f, at, bytes);
    if (!status) {
        status =
            nvme_from_host(ctrl, sqe, ctrl->sub->firmware_image + at, bytes);
    }
    if (!status) {
        for (uint64_t u = at / NVME_FW_UNIT; u * NVME_FW_UNIT < at + bytes;
             u++) {
            f->have[u / 64] |= 1ULL << (u % 64);
        }
        f->bytes = MAX(f->bytes, (uint32_t)(at + bytes));
        f->short_piece |= bytes % NVME_FW_UNIT != 0;
    }
    return status;
}

/* ---- images -------------------------------------------------------------- */

/* CRC-32 of IEEE 802.3, 3.2.9, Frame Check Sequence field. */
static uint32_t crc32_of(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (unsigned k = 0; k < 8; k++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
        }
    }
    return ~crc;
}

static bool is_complete(const NvmeFirmware *f)
{
    for (uint32_t u = 0; u * NVME_FW_UNIT < f->bytes; u++) {
        if (!has_unit(f, u)) {
            return false;
        }
    }
    return f->bytes >= sizeof(VssdFirmwareHead);
}

static bool revision_ok(const char *revision)
{
    for (unsigned i = 0; i < 8; i++) {
        if (revision[i] < 0x20 || revision[i] > 0x7e) {
            return false;
        }
    }
    return revision[0] != ' ';
}

/* Of the image that was downloaded; what follows it to the end is padding. */
static bool read_head(const NvmeCtrl *ctrl, NvmeFwSlot *slot)
{
    const NvmeFirmware *f = &ctrl->sub->firmware_store;
    VssdFirmwareHead head;
    uint32_t bytes;

    if (!is_complete(f)) {
        return false;
    }
    memcpy(&head, ctrl->sub->firmware_image, sizeof(head));
    bytes = nvme_le32(head.bytes);
    slot->flags = nvme_le32(head.flags);
    slot->crc = nvme_le32(head.crc);
    memcpy(slot->revision, head.revision, sizeof(slot->revision));
    return memcmp(head.magic, VSSD_FIRMWARE_MAGIC, sizeof(head.magic)) == 0 &&
           bytes >= sizeof(head) && bytes <= f->bytes &&
           !(slot->flags & ~VSSD_FIRMWARE_FLAGS) &&
           revision_ok(slot->revision) &&
           slot->crc == crc32_of(ctrl->sub->firmware_image + sizeof(head),
                                 bytes - sizeof(head));
}

/* ---- activation ---------------------------------------------------------- */

static NvmeReset reset_of(const NvmeFwSlot *slot)
{
    if (slot->flags & VSSD_FIRMWARE_SUBSYSTEM_RESET) {
        return NVME_RESET_SUBSYSTEM;
    }
    return slot->flags & VSSD_FIRMWARE_CONVENTIONAL_RESET
               ? NVME_RESET_CONVENTIONAL
               : NVME_RESET_CONTROLLER;
}

/* The commit has succeeded; the host has to know if an ordinary reset will not
 * be enough. */
static uint16_t activate_later(NvmeCtrl *ctrl, unsigned n)
{
    static const uint16_t status[] = {
        [NVME_RESET_CONTROLLER] = 0,
        [NVME_RESET_CONVENTIONAL] = NVME_SC_FW_CONVENTIONAL_RESET,
        [NVME_RESET_SUBSYSTEM] = NVME_SC_FW_SUBSYSTEM_RESET,
    };
    NvmeFirmware *f = &ctrl->sub->firmware_store;

    f->next = (uint8_t)n;
    f->by = (uint8_t)reset_of(slot_of(ctrl, n));
    return status[f->by];
}

static void activate(NvmeCtrl *ctrl)
{
    NvmeFirmware *f = &ctrl->sub->firmware_store;

    f->active = f->next;
    f->next = 0;
}

static uint16_t activate_now(NvmeCtrl *ctrl, NvmeRequest *req, unsigned n)
{
    NvmeFwSlot *slot = slot_of(ctrl, n);
    uint16_t status;

    if (slot->flags & VSSD_FIRMWARE_PROHIBITED) {
        return NVME_SC_FW_PROHIBITED;
    }
    status = activate_later(ctrl, n);
    if (status || slot->flags & VSSD_FIRMWARE_RESET) {
        return status ? status : NVME_SC_FW_RESET;
    }
    nvme_notice_all(ctrl->sub, NVME_NOTICE_FIRMWARE);
    if (!ctrl->cfg.firmware_activation_ms) {
        activate(ctrl);
        return 0;
    }
    req->pending++;
    ctrl->sub->activation = req;
    nvme_upkeep_wake(ctrl->sub);
    ctrl->sub->activation_ns =
        ctrl->sub->now_ns + ctrl->cfg.firmware_activation_ms * NS_PER_MS;
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_csts_set(c, NVME_CSTS_PP);
    }
    return 0;
}

static void end_activation(NvmeCtrl *ctrl)
{
    NvmeRequest *req = ctrl->sub->activation;

    ctrl->sub->activation = NULL;
    ctrl->sub->activation_ns = SSD_TIME_NEVER;
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_csts_clear(c, NVME_CSTS_PP);
    }
    activate(ctrl);
    nvme_request_part_done(req->ctrl, req);
}

/* A controller that is held is brought to rest: it does not wait. */
bool nvme_firmware_look(NvmeCtrl *ctrl)
{
    if (!ctrl->sub->activation ||
        (!ctrl->sub->held && ctrl->sub->now_ns < ctrl->sub->activation_ns)) {
        return false;
    }
    end_activation(ctrl);
    return true;
}

void nvme_firmware_reset(NvmeCtrl *ctrl, NvmeReset kind)
{
    NvmeFirmware *f = &ctrl->sub->firmware_store;

    if (ctrl->sub->activation) {
        end_activation(ctrl);
    }
    if (f->next && kind >= f->by) {
        activate(ctrl);
    }
    forget_download(f);
}

/* ---- commit -------------------------------------------------------------- */

/* The first one that may be written and does not run. */
static unsigned choose_slot(const NvmeCtrl *ctrl)
{
    for (unsigned n = 1; n <= ctrl->cfg.firmware_slots; n++) {
        if (!is_read_only(ctrl, n) && n != ctrl->sub->firmware_store.active) {
            return n;
        }
    }
    return is_read_only(ctrl, 1) ? 0 : 1;
}

static uint16_t replace(NvmeCtrl *ctrl, unsigned *n)
{
    NvmeFirmware *f = &ctrl->sub->firmware_store;
    NvmeFwSlot slot;
    bool good;

    *n = *n ? *n : choose_slot(ctrl);
    if (*n == 0 || is_read_only(ctrl, *n)) {
        return NVME_SC_FW_SLOT;
    }
    good = read_head(ctrl, &slot);
    forget_download(f);
    if (!good) {
        return NVME_SC_FW_IMAGE;
    }
    if (f->next == *n) {
        f->next = 0; /* its image has gone */
    }
    *slot_of(ctrl, *n) = slot;
    return 0;
}

static uint16_t commit(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    NvmeFirmware *f = &ctrl->sub->firmware_store;
    unsigned action = sqe->dw[10] >> 3 & 7;
    unsigned n = sqe->dw[10] & 7;
    uint16_t status = 0;

    if (action > ACTIVATE_NOW) {
        return NVME_SC_INVALID_FIELD; /* boot partitions */
    }
    if (n > ctrl->cfg.firmware_slots || (n == 0 && action == ACTIVATE)) {
        return NVME_SC_FW_SLOT;
    }
    if (action <= REPLACE_ACTIVATE || (action == ACTIVATE_NOW && f->bytes)) {
        status = replace(ctrl, &n);
    }
    if (status || action == REPLACE) {
        return status;
    }
    if (n == 0) {
        return NVME_SC_FW_SLOT;
    }
    if (is_empty(ctrl, n)) {
        return NVME_SC_FW_IMAGE;
    }
    return action == ACTIVATE_NOW ? activate_now(ctrl, req, n)
                                  : activate_later(ctrl, n);
}

uint16_t nvme_firmware_commit(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    NvmePelFirmware event = {
        .action = sqe->dw[10] >> 3 & 7,
        .slot = sqe->dw[10] & 7,
    };
    uint16_t status;

    memcpy(event.old_revision, nvme_firmware_revision(ctrl), 8);
    status = commit(ctrl, req, sqe);
    if (event.slot >= 1 && event.slot <= ctrl->cfg.firmware_slots) {
        memcpy(event.new_revision, slot_of(ctrl, event.slot)->revision, 8);
    }
    event.sct = status >> 8;
    event.sc = status & 0xff;
    nvme_persistent_event(ctrl, NVME_PEL_FIRMWARE, &event, sizeof(event));
    return status;
}

/* ---- reports ------------------------------------------------------------- */

void nvme_identify_firmware(const NvmeCtrl *ctrl, NvmeIdController *id)
{
    unsigned ms = ctrl->cfg.firmware_activation_ms;

    memcpy(id->fr, nvme_firmware_revision(ctrl), sizeof(id->fr));
    /* Slots, slot 1 read only, activation without a reset. */
    id->frmw = (uint8_t)(ctrl->cfg.firmware_slots << 1 | is_read_only(ctrl, 1) |
                         1 << 4);
    id->fwug = NVME_FW_UNIT / 4096;
    id->mtfa = nvme_le16((uint16_t)((ms + 99) / 100));
}

void nvme_fill_firmware_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *page)
{
    const NvmeFirmware *f = &ctrl->sub->firmware_store;
    NvmeFirmwareLog *log = page;

    log->afi = (uint8_t)(f->active | f->next << 4);
    for (unsigned n = 0; n < ctrl->cfg.firmware_slots; n++) {
        memcpy(log->frs[n], f->slot[n].revision, sizeof(log->frs[n]));
    }
}

bool nvme_firmware_ok(const NvmeCtrl *ctrl)
{
    const NvmeFirmware *f = &ctrl->sub->firmware_store;
    unsigned slots = ctrl->cfg.firmware_slots;

    for (unsigned n = 0; n < NVME_FW_SLOTS; n++) {
        const NvmeFwSlot *s = &f->slot[n];

        if (s->revision[0] && (n >= slots || !revision_ok(s->revision) ||
                               s->flags & ~VSSD_FIRMWARE_FLAGS)) {
            return false;
        }
    }
    return f->active >= 1 && f->active <= slots && !is_empty(ctrl, f->active) &&
           f->next <= slots && (!f->next || !is_empty(ctrl, f->next)) &&
           f->by <= NVME_RESET_SUBSYSTEM && f->bytes <= NVME_FW_BYTES;
}
