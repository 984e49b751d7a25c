/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers.c - the values of a controller's registers (Base 2.0, Controller
 * Properties).
 *
 * Knows which bits a register has; knows nothing of what a write leads to.
 */
#include "nvme-internal.h"
#include "registers/registers.h"

static void set_half(uint64_t *reg, bool high, uint32_t value)
{
    unsigned shift = high ? 32 : 0;

    *reg = (*reg & ~(0xffffffffULL << shift)) | (uint64_t)value << shift;
    *reg &= ~0xfffULL;
}

void nvme_regs_write(NvmeCtrl *ctrl, uint64_t offset, uint32_t value)
{
    NvmeRegs *regs = &ctrl->regs;
    bool enabled = regs->cc & NVME_CC_EN;

    switch (offset) {
    case NVME_REG_INTMS:
        regs->intms |= value;
        break;
    case NVME_REG_INTMC:
        regs->intms &= ~value;
        break;
    case NVME_REG_CC:
        regs->cc = value & NVME_CC_MASK;
        break;
    case NVME_REG_CSTS:
        regs->csts &= ~(value & NVME_CSTS_NSSRO);
        break;
    case NVME_REG_AQA: /* the three are for a controller that is off */
        regs->aqa = enabled ? regs->aqa : value & 0x0fff0fff;
        break;
    case NVME_REG_ASQ:
    case NVME_REG_ASQ + 4:
        if (!enabled) {
            set_half(&regs->asq, offset & 4, value);
        }
        break;
    case NVME_REG_ACQ:
    case NVME_REG_ACQ + 4:
        if (!enabled) {
            set_half(&regs->acq, offset & 4, value);
        }
        break;
    default:
        g_assert_not_reached();
    }
}

void nvme_regs_enable(NvmeCtrl *ctrl)
{
    ctrl->regs.page_bits = NVME_CC_MPS(ctrl->regs.cc) + NVME_PAGE_BITS;
}

void nvme_regs_disable(NvmeCtrl *ctrl)
{
    ctrl->regs.intms = 0;
    ctrl->regs.page_bits = NVME_PAGE_BITS;
}

void nvme_regs_reset(NvmeCtrl *ctrl)
{
    ctrl->regs.cc = 0;
    ctrl->regs.aqa = 0;
    ctrl->regs.asq = 0;
    ctrl->regs.acq = 0;
}

void nvme_csts_set(NvmeCtrl *ctrl, uint32_t bits)
{
    ctrl->regs.csts |= bits;
}

void nvme_csts_clear(NvmeCtrl *ctrl, uint32_t bits)
{
    ctrl->regs.csts &= ~bits;
}

void nvme_csts_shutdown(NvmeCtrl *ctrl, uint32_t state)
{
    ctrl->regs.csts = (ctrl->regs.csts & ~NVME_CSTS_SHST_MASK) | state;
}

void nvme_set_fatal(NvmeCtrl *ctrl)
{
    if (!(ctrl->regs.csts & NVME_CSTS_CFS)) {
        ctrl->regs.csts |= NVME_CSTS_CFS;
        nvme_notify(ctrl, NVME_TELL_FATAL, ctrl->cfg.cntlid, 1);
    }
}
