/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci.c - the PCI function: configuration space.
 *
 * Here is whether MSI-X is on, and whether the guest lets the drive write to
 * memory at all; knows nothing of what a write leads to.
 * Registers and capabilities as the in-tree device has them
 * (hw-ssd/qemu/function.c); PCI Express Base Specification 6.0, chapter 7.5.
 */
#include <linux/pci_regs.h>
#include <string.h>

#include "server.h"

#define CAP_MSIX 0x40
#define CAP_PM   0x60
#define CAP_EXP  0x80

#define CLASS_NVME 0x010802

static void put16(uint8_t *p, uint16_t v)
{
    p[0] = v;
    p[1] = v >> 8;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v);
    put16(p + 2, v >> 16);
}

static uint16_t get16(const uint8_t *p)
{
    return p[0] | p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint8_t *capability(Function *f, uint8_t at, uint8_t id, uint8_t next)
{
    f->config[at] = id;
    f->config[at + 1] = next;
    return f->config + at;
}

/* ---- set-up -------------------------------------------------------------- */

/* Of 64 bits; bytes: a power of two, or 0 for none. */
static void set_bar(Function *f, unsigned bar, uint64_t bytes, uint32_t flags)
{
    unsigned at = PCI_BASE_ADDRESS_0 + 4 * bar;

    if (bytes) {
        put32(f->config + at, PCI_BASE_ADDRESS_MEM_TYPE_64 | flags);
        put32(f->wmask + at,
              (uint32_t)~(bytes - 1) & PCI_BASE_ADDRESS_MEM_MASK);
        put32(f->wmask + at + 4, ~(bytes - 1) >> 32);
    }
}

static void set_header(Function *f)
{
    uint8_t *c = f->config;

    put16(c + PCI_VENDOR_ID, PCI_VENDOR);
    put16(c + PCI_DEVICE_ID, PCI_DEVICE);
    put16(c + PCI_SUBSYSTEM_VENDOR_ID, PCI_VENDOR);
    put16(c + PCI_SUBSYSTEM_ID, PCI_DEVICE);
    put16(c + PCI_STATUS, PCI_STATUS_CAP_LIST);
    put32(c + PCI_CLASS_REVISION, CLASS_NVME << 8 | 1);
    c[PCI_CAPABILITY_LIST] = CAP_MSIX;
    c[PCI_INTERRUPT_PIN] = 1;

    put16(f->wmask + PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
                                      PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
                                      PCI_COMMAND_INTX_DISABLE);
    f->wmask[PCI_CACHE_LINE_SIZE] = 0xff;
    f->wmask[PCI_LATENCY_TIMER] = 0xff;
    f->wmask[PCI_INTERRUPT_LINE] = 0xff;
    set_bar(f, 0, BAR0_BYTES, 0);
    set_bar(f, 2, f->cmb.bytes, PCI_BASE_ADDRESS_MEM_PREFETCH);
    set_bar(f, 4, f->pmr.bytes, PCI_BASE_ADDRESS_MEM_PREFETCH);
}

static void set_capabilities(Function *f)
{
    uint8_t *msix = capability(f, CAP_MSIX, PCI_CAP_ID_MSIX, CAP_PM);
    uint8_t *pm = capability(f, CAP_PM, PCI_CAP_ID_PM, CAP_EXP);
    uint8_t *exp = capability(f, CAP_EXP, PCI_CAP_ID_EXP, 0);

    put16(msix + PCI_MSIX_FLAGS, f->drive->nvme_cfg.n_vectors - 1);
    put32(msix + PCI_MSIX_TABLE, MSIX_TABLE);
    put32(msix + PCI_MSIX_PBA, MSIX_PBA);
    put16(f->wmask + CAP_MSIX + PCI_MSIX_FLAGS,
          PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);

    put16(pm + PCI_PM_PMC, 3);
    put16(pm + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
    put16(f->wmask + CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);

    put16(exp + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
    put32(exp + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR);
    put32(exp + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_2_5GB | 1 << 4);
    put16(exp + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_2_5GB | 1 << 4);
    put16(f->wmask + CAP_EXP + PCI_EXP_DEVCTL,
          PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE |
              PCI_EXP_DEVCTL_URRE | PCI_EXP_DEVCTL_PAYLOAD |
              PCI_EXP_DEVCTL_READRQ);
    put16(f->wmask + CAP_EXP + PCI_EXP_LNKCTL,
          PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC);
}

void vfio_pci_reset(Function *f)
{
    memset(f->config, 0, sizeof(f->config));
    memset(f->wmask, 0, sizeof(f->wmask));
    memset(f->pending, 0, sizeof(f->pending));
    f->pin_sent = false;
    f->pin_masked = false;
    set_header(f);
    set_capabilities(f);
}

/* ---- accesses ------------------------------------------------------------ */

void vfio_pci_read(Function *f, uint64_t offset, uint8_t *buf, size_t n)
{
    if (vfio_is_absent(f)) {
        memset(buf, 0xff, n);
    } else {
        memcpy(buf, f->config + offset, n);
    }
}

static bool touches(uint64_t offset, size_t n, unsigned at)
{
    return offset <= at + 1 && offset + n > at;
}

/* The bit to start a function-level reset reads as 0, and is in no mask. */
static bool asks_for_reset(uint64_t offset, const uint8_t *buf, size_t n)
{
    const unsigned at = CAP_EXP + PCI_EXP_DEVCTL + 1;

    return offset <= at && offset + n > at &&
           buf[at - offset] & PCI_EXP_DEVCTL_BCR_FLR >> 8;
}

PciAsks vfio_pci_write(Function *f, uint64_t offset, const uint8_t *buf,
                       size_t n)
{
    if (vfio_is_absent(f)) {
        return PCI_ASKS_NOTHING;
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t mask = f->wmask[offset + i];
        uint8_t *c = &f->config[offset + i];

        *c = (*c & ~mask) | (buf[i] & mask);
    }
    if (asks_for_reset(offset, buf, n)) {
        return PCI_ASKS_RESET;
    }
    return touches(offset, n, PCI_COMMAND) ||
                   touches(offset, n, CAP_MSIX + PCI_MSIX_FLAGS)
               ? PCI_ASKS_INTERRUPTS
               : PCI_ASKS_NOTHING;
}

bool vfio_pci_msix_enabled(const Function *f)
{
    return get16(f->config + CAP_MSIX + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_ENABLE;
}

bool vfio_pci_is_master(const Function *f)
{
    return get16(f->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
}

bool vfio_pci_has_pin(const Function *f)
{
    return !(get16(f->config + PCI_COMMAND) & PCI_COMMAND_INTX_DISABLE) &&
           !vfio_pci_msix_enabled(f);
}

uint64_t vfio_pci_bar_address(const Function *f, unsigned bar)
{
    const uint8_t *c = f->config + PCI_BASE_ADDRESS_0 + 4 * bar;
    uint64_t low = get32(c) & PCI_BASE_ADDRESS_MEM_MASK;

    return get16(f->config + PCI_COMMAND) & PCI_COMMAND_MEMORY
               ? (uint64_t)get32(c + 4) << 32 | (uint32_t)low
               : UINT64_MAX;
}
