/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.c - the connection of the virtual machine, by libvfio-user.
 *
 * One client at a time.  Register and doorbell writes come as messages: the
 * protocol's client in QEMU sends them without waiting for an answer, and the
 * process sleeps until one comes.  (A doorbell page that is mapped would have
 * to be polled.)  Guests with shadow doorbells write few of them.
 *
 * Knows messages and regions; guard.c knows which of them are let through, and
 * pci.c and the controller what they mean.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <glib-unix.h>

#include "libvfio-user.h"

#include "server.h"

/* Messages in one go before the loop looks at timers and image I/O. */
#define BATCH 64

/* A message that is not whole is looked at again so often. */
#define PART_MS 5

struct Client {
    guint source; /* of the listening socket, or the connection */
    guint part;   /* source: the rest of a message is yet to come */
    gint64 part_end_us;
    bool written; /* registers: the controller is to run */
};

/* ---- regions ------------------------------------------------------------- */

static void config_written(Function *f, PciAsks asks)
{
    if (asks == PCI_ASKS_RESET) {
        vfio_power_reset(f);
    } else if (asks == PCI_ASKS_INTERRUPTS) {
        vfio_irq_deliver(f);
    }
}

static ssize_t access_config(vfu_ctx_t *ctx, char *buf, size_t n, loff_t offset,
                             bool is_write)
{
    Function *f = vfu_get_private(ctx);

    if (offset < 0 || n > CONFIG_BYTES || offset > (loff_t)(CONFIG_BYTES - n)) {
        errno = EINVAL;
        return -1;
    }
    if (is_write) {
        config_written(f, vfio_pci_write(f, offset, (const uint8_t *)buf, n));
        f->client->written = true;
    } else {
        vfio_pci_read(f, offset, (uint8_t *)buf, n);
    }
    return n;
}

static bool is_register(loff_t offset, size_t n)
{
    return (n == 1 || n == 2 || n == 4 || n == 8) && offset % n == 0 &&
           offset >= 0 && offset < NVME_REG_SIZE;
}

/* The MSI-X table is the virtual machine's; nothing is to be seen of it here.
 */
static ssize_t access_bar0(vfu_ctx_t *ctx, char *buf, size_t n, loff_t offset,
                           bool is_write)
{
    Function *f = vfu_get_private(ctx);
    uint64_t value = 0;

    if (!is_write) {
        memset(buf, vfio_is_absent(f) ? 0xff : 0, n);
    }
    if (!is_register(offset, n) || vfio_is_absent(f)) {
        return n;
    }
    if (is_write) {
        memcpy(&value, buf, n);
        nvme_reg_write(f->ctrl, vfio_now(f->drive), offset,
                       GUINT64_FROM_LE(value), n);
        f->client->written = true;
    } else {
        value = GUINT64_TO_LE(nvme_reg_read(f->ctrl, offset, n));
        memcpy(buf, &value, n);
    }
    return n;
}

static ssize_t access_memory(vfu_ctx_t *ctx, unsigned bar, char *buf, size_t n,
                             loff_t offset, bool is_write)
{
    if (offset < 0) {
        errno = EINVAL;
        return -1;
    }
    vfio_bars_access(vfu_get_private(ctx), bar, offset, buf, n, is_write);
    return n;
}

static ssize_t access_bar2(vfu_ctx_t *ctx, char *buf, size_t n, loff_t offset,
                           bool is_write)
{
    return access_memory(ctx, 2, buf, n, offset, is_write);
}

static ssize_t access_bar4(vfu_ctx_t *ctx, char *buf, size_t n, loff_t offset,
                           bool is_write)
{
    return access_memory(ctx, 4, buf, n, offset, is_write);
}

/* ---- memory -------------------------------------------------------------- */

static void dma_register(vfu_ctx_t *ctx, vfu_dma_info_t *info)
{
    const MemoryRange range = {
        .start = (uintptr_t)info->iova.iov_base,
        .bytes = info->iova.iov_len,
        .vaddr = info->vaddr,
        .readable = info->prot & PROT_READ,
        .writable = info->prot & PROT_WRITE,
    };

    vfio_memory_map(vfu_get_private(ctx), &range);
}

static void dma_unregister(vfu_ctx_t *ctx, vfu_dma_info_t *info)
{
    vfio_memory_unmap(vfu_get_private(ctx), (uintptr_t)info->iova.iov_base,
                      info->iova.iov_len);
}

/* ---- resets, the pin ----------------------------------------------------- */

static int reset(vfu_ctx_t *ctx, vfu_reset_type_t type)
{
    Function *f = vfu_get_private(ctx);

    if (type == VFU_RESET_LOST_CONN) {
        f->attached = false;
        if (!vfio_is_absent(f)) {
            vfio_power_reset(f);
        }
    } else {
        vfio_power_reset(f);
    }
    return 0;
}

static void pin_state(vfu_ctx_t *ctx, uint32_t start, uint32_t count, bool mask)
{
    vfio_irq_mask_pin(vfu_get_private(ctx), mask);
}

/* ---- the connection ------------------------------------------------------ */

static void watch(Function *f);

static void unwatch(Client *c)
{
    if (c->source) {
        g_source_remove(c->source);
        c->source = 0;
    }
    if (c->part) {
        g_source_remove(c->part);
        c->part = 0;
    }
}

static gboolean look_again(gpointer opaque)
{
    Function *f = opaque;

    f->client->part = 0;
    watch(f);
    return G_SOURCE_REMOVE;
}

/* The socket is readable, so it is not asked while the rest is missing. */
static void wait_for_rest(Function *f)
{
    Client *c = f->client;
    gint64 now_us = g_get_monotonic_time();

    if (!c->part_end_us) {
        c->part_end_us = now_us + GUARD_WAIT_MS * 1000;
    }
    if (now_us > c->part_end_us) {
        vfio_guard_shut(vfu_get_poll_fd(f->ctx));
        return;
    }
    c->part = g_timeout_add(PART_MS, look_again, f);
}

/* One message; false: the connection has ended.  The library does not always
 * say so: an answer that it can send in part only ends it, too. */
static bool take_message(Function *f)
{
    Client *c = f->client;
    int fd = vfu_get_poll_fd(f->ctx);

    f->messages++;
    c->part_end_us = 0;
    if (vfu_run_ctx(f->ctx) < 0 && f->attached) {
        vfio_guard_shut(fd);
    }
    return f->attached;
}

static bool take_messages(Function *f)
{
    int fd = vfu_get_poll_fd(f->ctx);

    for (unsigned i = 0; i < BATCH; i++) {
        switch (vfio_guard_look(f, fd)) {
        case GUARD_NOTHING:
            return true;
        case GUARD_PART:
            wait_for_rest(f);
            return true;
        case GUARD_BROKEN:
            f->refused++;
            vfio_guard_shut(fd);
            break;
        case GUARD_REFUSED:
            break;
        case GUARD_READY:
            if (!take_message(f)) {
                return false;
            }
            break;
        }
    }
    return true;
}

static gboolean on_message(gint fd, GIOCondition condition, gpointer opaque)
{
    Function *f = opaque;
    Client *c = f->client;
    bool there = take_messages(f);

    if (c->written || !there) {
        c->written = false;
        vfio_serve_run(f->drive);
    } else {
        vfio_irq_deliver(f); /* for an eventfd that has just come */
    }
    if (there && !c->part) {
        return G_SOURCE_CONTINUE;
    }
    c->source = 0;
    if (!there) {
        c->part_end_us = 0;
        watch(f);
    }
    return G_SOURCE_REMOVE;
}

static gboolean on_connection(gint fd, GIOCondition condition, gpointer opaque)
{
    Function *f = opaque;
    Client *c = f->client;

    if (vfu_attach_ctx(f->ctx) < 0) {
        return G_SOURCE_CONTINUE; /* it has gone, or did not say the version */
    }
    f->attached = true;
    f->clients++;
    c->source = 0;
    watch(f);
    return G_SOURCE_REMOVE;
}

static void watch(Function *f)
{
    Client *c = f->client;

    c->source = g_unix_fd_add(vfu_get_poll_fd(f->ctx), G_IO_IN,
                              f->attached ? on_message : on_connection, f);
}

/* ---- life ---------------------------------------------------------------- */

/* The client may map all of it if it gets the descriptor; -1: it does not. */
static bool set_up_memory(vfu_ctx_t *ctx, int region, const DriveMemory *m,
                          vfu_region_access_cb_t *call, int fd)
{
    struct iovec all = {.iov_len = m->bytes};

    return !m->bytes ||
           vfu_setup_region(ctx, region, m->bytes, call,
                            VFU_REGION_FLAG_RW | VFU_REGION_FLAG_MEM,
                            fd >= 0 ? &all : NULL, fd >= 0, fd, 0) == 0;
}

static bool set_up(Function *f, vfu_ctx_t *ctx)
{
    return vfu_pci_init(ctx, VFU_PCI_TYPE_EXPRESS, 0, 1) == 0 &&
           set_up_memory(ctx, VFU_PCI_DEV_BAR2_REGION_IDX, &f->cmb, access_bar2,
                         f->cmb.fd) &&
           set_up_memory(ctx, VFU_PCI_DEV_BAR4_REGION_IDX, &f->pmr, access_bar4,
                         -1) &&
           vfu_setup_region(ctx, VFU_PCI_DEV_CFG_REGION_IDX, CONFIG_BYTES,
                            access_config,
                            VFU_REGION_FLAG_RW | VFU_REGION_FLAG_ALWAYS_CB,
                            NULL, 0, -1, 0) == 0 &&
           vfu_setup_region(
               ctx, VFU_PCI_DEV_BAR0_REGION_IDX, BAR0_BYTES, access_bar0,
               VFU_REGION_FLAG_RW | VFU_REGION_FLAG_MEM, NULL, 0, -1, 0) == 0 &&
           vfu_setup_device_nr_irqs(ctx, VFU_DEV_INTX_IRQ, 1) == 0 &&
           vfu_setup_device_nr_irqs(ctx, VFU_DEV_MSIX_IRQ,
                                    f->drive->nvme_cfg.n_vectors) == 0 &&
           vfu_setup_irq_state_callback(ctx, VFU_DEV_INTX_IRQ, pin_state) ==
               0 &&
           vfu_setup_device_reset_cb(ctx, reset) == 0 &&
           vfu_setup_device_dma(ctx, dma_register, dma_unregister) == 0 &&
           vfu_realize_ctx(ctx) == 0;
}

bool vfio_client_init(Function *f, GError **error)
{
    Client *c;
    vfu_ctx_t *ctx;

    if (!free_path("--socket", f->socket, error)) {
        return false;
    }
    ctx = vfu_create_ctx(VFU_TRANS_SOCK, f->socket, LIBVFIO_USER_FLAG_ATTACH_NB,
                         f, VFU_DEV_TYPE_PCI);
    if (!ctx || !set_up(f, ctx)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "--socket %s: %s",
                    f->socket, g_strerror(errno));
        vfu_destroy_ctx(ctx);
        return false;
    }
    c = g_new0(Client, 1);
    f->client = c;
    f->ctx = ctx;
    watch(f);
    return true;
}

void vfio_client_free(Function *f)
{
    Client *c = f->client;

    unwatch(c);
    vfu_destroy_ctx(f->ctx);
    f->ctx = NULL;
    f->attached = false;
    unlink(f->socket);
    g_free(c);
    f->client = NULL;
}
