/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regs.c - the controller registers (Base 1.4, section 3.1): enable, reset,
 * shutdown notification.
 *
 * Registers are 4 or 8 bytes wide and accessed as such, aligned; a 64-bit one
 * may be accessed in halves.  Everything else reads as 0 and is not written.
 * A controller without power reads as all ones.
 */
#include "nvme-internal.h"
#include "registers/registers.h"
#include "admin/secondary.h"
#include "memory/cmb.h"
#include "queue/completion.h"
#include "queue/doorbell.h"
#include "admin/firmware.h"
#include "namespace/namespace.h"
#include "health/persistent-events.h"
#include "memory/pmr.h"
#include "kv/kv-index.h"
#include "queue/queue.h"
#include "regs.h"
#include "queue/request.h"
#include "admin/reset.h"
#include "queue/steps.h"
#include "zone/zones.h"

/* CAP.TO, in units of 500 ms: at least this, and more for a drive that looks for
 * its map longer. */
#define CAP_TIMEOUT 60
#define CAP_TIMEOUT_NS 500000000

/* CC.CSS: all command sets that the controller has. */
#define CSS_ALL 6

static uint64_t timeout(const NvmeCtrl *ctrl)
{
    uint64_t longest = ssd_info(ctrl->ssd)->longest_recovery_ns / CAP_TIMEOUT_NS + 1;

    return CLAMP(longest, CAP_TIMEOUT, 255);
}

/* Command sets beside the NVM one. */
static bool has_others(const NvmeCtrl *ctrl)
{
    return ctrl->sub->zones.n > 0 || ctrl->sub->namespaces.any_kv;
}

static uint64_t cap(const NvmeCtrl *ctrl)
{
    return (uint64_t)(ctrl->cfg.queue_size - 1) | /* MQES */
           1ULL << 16 |                           /* CQR */
           1ULL << 17 |                           /* AMS: weighted */
           timeout(ctrl) << 24 |                  /* TO */
           1ULL << 36 |                           /* NSSRS */
           1ULL << 37 |                           /* CSS: NVM command set */
           (has_others(ctrl) ? 1ULL << 43 : 0) |  /* and others */
           nvme_cmb_cap(ctrl) | nvme_pmr_cap(ctrl) |
           (nvme_is_multi(ctrl) ? 3ULL << 46 | 1ULL << 58 : 0) | /* CPS, NSSS */
           1ULL << 59 | /* CRMS: ready with media */
           (uint64_t)(NVME_PAGE_BITS_MAX - NVME_PAGE_BITS) << 52; /* MPSMAX */
}

static uint32_t read_dword(NvmeCtrl *ctrl, uint64_t offset)
{
    if (offset >= NVME_REG_CMBLOC && offset <= NVME_REG_CMBSWTP) {
        return nvme_cmb_reg_read(ctrl, offset);
    }
    if (offset >= NVME_REG_PMRCAP && offset <= NVME_REG_PMRMSCU) {
        return nvme_pmr_reg_read(ctrl, offset);
    }
    switch (offset) {
    case NVME_REG_CAP:
        return (uint32_t)cap(ctrl);
    case NVME_REG_CAP + 4:
        return cap(ctrl) >> 32;
    case NVME_REG_VS:
        return NVME_VERSION_2_0;
    case NVME_REG_INTMS:
    case NVME_REG_INTMC:
        return ctrl->regs.intms;
    case NVME_REG_CC:
        return ctrl->regs.cc;
    case NVME_REG_CSTS:
        return (ctrl->regs.csts & ~ctrl->stuck_mask) |
               (ctrl->stuck_csts & ctrl->stuck_mask);
    case NVME_REG_AQA:
        return ctrl->regs.aqa;
    case NVME_REG_ASQ:
        return (uint32_t)ctrl->regs.asq;
    case NVME_REG_ASQ + 4:
        return ctrl->regs.asq >> 32;
    case NVME_REG_ACQ:
        return (uint32_t)ctrl->regs.acq;
    case NVME_REG_ACQ + 4:
        return ctrl->regs.acq >> 32;
    case NVME_REG_CRTO: /* CRWMT */
        return (uint32_t)timeout(ctrl);
    default:
        return 0;
    }
}

static bool access_ok(uint64_t offset, unsigned size)
{
    return (size == 4 || size == 8) && offset % size == 0 &&
           offset < NVME_REG_SIZE;
}

uint64_t nvme_reg_read(NvmeCtrl *ctrl, uint64_t offset, unsigned size)
{
    uint64_t v;

    if (!access_ok(offset, size)) {
        return 0;
    }
    if (!ctrl->sub->powered) {
        return size == 4 ? UINT32_MAX : UINT64_MAX;
    }
    if (nvme_is_offline(ctrl)) { /* the others are undefined */
        return offset == NVME_REG_CSTS ? NVME_CSTS_CFS : 0;
    }
    v = read_dword(ctrl, offset);
    if (size == 8) {
        v |= (uint64_t)read_dword(ctrl, offset + 4) << 32;
    }
    return v;
}

/* ---- enable ------------------------------------------------------------- */

/* Are the admin queues of the registers possible? */
static bool settings_ok(const NvmeCtrl *ctrl)
{
    uint32_t asqs = ctrl->regs.aqa & 0xfff;
    uint32_t acqs = ctrl->regs.aqa >> 16 & 0xfff;
    uint64_t page = 1ULL << (NVME_CC_MPS(ctrl->regs.cc) + NVME_PAGE_BITS);

    return (NVME_CC_CSS(ctrl->regs.cc) == 0 ||
            (NVME_CC_CSS(ctrl->regs.cc) == CSS_ALL && has_others(ctrl))) &&
           NVME_CC_AMS(ctrl->regs.cc) <= NVME_AMS_WEIGHTED &&
           NVME_CC_MPS(ctrl->regs.cc) <= NVME_PAGE_BITS_MAX - NVME_PAGE_BITS &&
           asqs && acqs && !(ctrl->regs.asq & (page - 1)) &&
           !(ctrl->regs.acq & (page - 1));
}

/* Their memory is looked at once more when it is used. */
static bool queues_ok(const NvmeCtrl *ctrl, bool *sq_in_cmb, bool *cq_in_cmb)
{
    uint32_t asqs = (ctrl->regs.aqa & 0xfff) + 1;
    uint32_t acqs = (ctrl->regs.aqa >> 16 & 0xfff) + 1;

    return !nvme_cmb_check_queue(ctrl, ctrl->regs.asq, asqs * NVME_SQE_BYTES,
                                 false, sq_in_cmb) &&
           !nvme_cmb_check_queue(ctrl, ctrl->regs.acq, acqs * NVME_CQE_BYTES,
                                 true, cq_in_cmb);
}

static void enable(NvmeCtrl *ctrl)
{
    bool sq_in_cmb, cq_in_cmb;

    if (ctrl->regs.csts & NVME_CSTS_ST) {
        return; /* until a reset of the subsystem */
    }
    if (!settings_ok(ctrl) || !queues_ok(ctrl, &sq_in_cmb, &cq_in_cmb)) {
        nvme_set_fatal(ctrl);
        return;
    }
    nvme_regs_enable(ctrl);
    if (ctrl->sub->zones.n > 0 && !ctrl->sub->namespaces.managed) {
        /* of no use to a host that knows the NVM set only */
        nvme_ns_attach(ctrl, &ctrl->sub->namespaces.table[0],
                       NVME_CC_CSS(ctrl->regs.cc) == CSS_ALL);
    }
    nvme_cq_open(ctrl, 0, ctrl->regs.acq, (ctrl->regs.aqa >> 16 & 0xfff) + 1, 0,
                 true, cq_in_cmb);
    nvme_sq_open(ctrl, 0, 0, ctrl->regs.asq, (ctrl->regs.aqa & 0xfff) + 1,
                 NVME_PRIORITY_URGENT, sq_in_cmb);
    ctrl->enabling = true;
    ctrl->shutdown_clean = false;
    nvme_look_ready(ctrl);
}

/* The drive's work on commands before a reset must not take effect after later
 * commands. */
static bool drive_is_clear(const NvmeCtrl *ctrl)
{
    const NvmeRequest *r = ctrl->sub->requests.starved_first;

    while (r && r->ctrl != ctrl) {
        r = r->next;
    }
    for (uint32_t i = 0; !r && i < ctrl->sub->slots.n; i++) {
        const NvmeRequest *busy = ctrl->sub->slots.slot[i].req;

        r = busy && busy->ctrl == ctrl ? busy : NULL;
    }
    return !r;
}

void nvme_look_ready(NvmeCtrl *ctrl)
{
    if (ctrl->enabling && ssd_ready(ctrl->ssd) && drive_is_clear(ctrl)) {
        ctrl->enabling = false;
        nvme_csts_set(ctrl, NVME_CSTS_RDY);
        nvme_pel_ready(ctrl);
    }
}

static void shut_drive_down(NvmeCtrl *ctrl)
{
    NvmeRequest *req = nvme_request_new(ctrl);

    ctrl->shutdown_waits = false;
    ctrl->shutdown_req = req;
    req->shutdown = true;
    req->barrier = true;
    req->pending = 1;
    nvme_add_step(req, SSD_OP_SHUTDOWN, 0, 0);
    nvme_request_start(ctrl, req);
    nvme_request_part_done(ctrl, req);
}

/* NvmeSubsys.kv_after */
static void shut_waiting_down(NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (c->shutdown_waits) {
            shut_drive_down(c);
        }
    }
}

static void begin_shutdown(NvmeCtrl *ctrl)
{
    if (ctrl == &ctrl->sub->first) {
        nvme_secondaries_offline(ctrl->sub);
    }
    nvme_csts_shutdown(ctrl, NVME_CSTS_SHST_BUSY);
    if (nvme_kv_commit_all(ctrl->sub)) {
        ctrl->shutdown_waits = true;
        ctrl->sub->kv_after = shut_waiting_down;
    } else {
        shut_drive_down(ctrl);
    }
}

/* All controllers; only a reset of the subsystem ends it (Base 2.0, NVM
 * Subsystem Shutdown).  An abrupt one loses nothing either. */
static void shut_subsystem_down(NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        nvme_csts_set(c, NVME_CSTS_ST);
        if (!(c->regs.csts & NVME_CSTS_SHST_MASK) && !nvme_is_offline(c)) {
            begin_shutdown(c);
        }
    }
}

static void write_cc(NvmeCtrl *ctrl, uint32_t value)
{
    uint32_t old = ctrl->regs.cc;

    nvme_regs_write(ctrl, NVME_REG_CC, value);
    if (old & NVME_CC_EN && !(value & NVME_CC_EN)) {
        nvme_disable(ctrl);
    } else if (!(old & NVME_CC_EN) && value & NVME_CC_EN) {
        enable(ctrl);
    }
    if (!NVME_CC_SHN(old) && NVME_CC_SHN(value) &&
        !(ctrl->regs.csts & NVME_CSTS_SHST_MASK)) {
        begin_shutdown(ctrl);
    }
}

/* All controllers of the subsystem.  The buffer keeps its data. */
static void subsystem_reset(NvmeCtrl *ctrl)
{
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_reset(c, c->sub->now_ns);
        nvme_csts_set(c, NVME_CSTS_NSSRO);
    }
    nvme_zones_close_all(ctrl);
    nvme_firmware_reset(ctrl, NVME_RESET_SUBSYSTEM);
}

/* ---- writing ------------------------------------------------------------ */

static void write_dword(NvmeCtrl *ctrl, uint64_t offset, uint32_t value)
{
    switch (offset) {
    case NVME_REG_INTMS:
    case NVME_REG_INTMC:
        nvme_regs_write(ctrl, offset, value);
        nvme_update_pin(ctrl);
        break;
    case NVME_REG_CC:
        write_cc(ctrl, value);
        break;
    case NVME_REG_CSTS:
    case NVME_REG_AQA:
    case NVME_REG_ASQ:
    case NVME_REG_ASQ + 4:
    case NVME_REG_ACQ:
    case NVME_REG_ACQ + 4:
        nvme_regs_write(ctrl, offset, value);
        break;
    case NVME_REG_NSSR:
        if (value == NVME_NSSR_VALUE) {
            subsystem_reset(ctrl);
        }
        break;
    case NVME_REG_NSSD:
        if (nvme_is_multi(ctrl) &&
            (value == NVME_NSSD_NORMAL || value == NVME_NSSD_ABRUPT)) {
            shut_subsystem_down(ctrl->sub);
        }
        break;
    case NVME_REG_CMBMSC:
    case NVME_REG_CMBMSC + 4:
        nvme_cmb_reg_write(ctrl, offset, value);
        break;
    case NVME_REG_PMRCTL:
    case NVME_REG_PMRMSCL:
    case NVME_REG_PMRMSCU:
        nvme_pmr_reg_write(ctrl, offset, value);
        break;
    default:
        break;
    }
}

void nvme_reg_write(NvmeCtrl *ctrl, uint64_t now_ns, uint64_t offset,
                    uint64_t value, unsigned size)
{
    if (!access_ok(offset, size) || !ctrl->sub->powered ||
        nvme_is_offline(ctrl)) {
        return;
    }
    ctrl->sub->now_ns = MAX(now_ns, ctrl->sub->now_ns);
    if (G_LIKELY(offset >= NVME_REG_DOORBELLS)) {
        nvme_doorbell(ctrl, offset, (uint32_t)value);
        return;
    }
    write_dword(ctrl, offset, (uint32_t)value);
    if (size == 8) {
        write_dword(ctrl, offset + 4, value >> 32);
    }
}
