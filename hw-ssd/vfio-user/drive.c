/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.c - the model and its controller: made of a profile, loaded from a
 * state file, saved there at the end.
 *
 * The state file is the one of the in-tree device: either reads the other's
 * (docs/state.md).  Knows how the parts are put together; knows nothing of PCI
 * or of messages.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server.h"
#include "ssd-save.h"
#include "ssd-setup.h"

/* In modelled time; a drive that collects every victim needs a few seconds. */
#define SETTLE_MOST_NS (1000 * NS_PER_S)

/* How long the end of the process may take to free trimmed ranges. */
#define FINISH_MS 1000

#define AGE_BATCH 1024

/* ---- the machine of the controller --------------------------------------- */

static void machine_msix(void *opaque, unsigned vector)
{
    vfio_irq_note_msix(opaque, vector);
}

static void machine_pin(void *opaque, bool level)
{
    vfio_irq_note_pin(opaque, level);
}

static bool machine_msix_enabled(void *opaque)
{
    return vfio_pci_msix_enabled(opaque);
}

static const NvmeMachine machine = {
    .dma_read = vfio_memory_read,
    .dma_write = vfio_memory_write,
    .msix = machine_msix,
    .pin = machine_pin,
    .msix_enabled = machine_msix_enabled,
    .power_lost = vfio_power_lost,
    .unplug = vfio_power_unplug,
    .bar_address = vfio_bars_address,
    .bar_show = vfio_bars_show,
    .pmr_sync = vfio_bars_sync,
};

/* ---- configuration ------------------------------------------------------- */

static bool read_config(Server *s, GError **error)
{
    s->cfg = ssd_config_new();
    if (!ssd_config_load(s->cfg, s->opt->profile, error) ||
        !ssd_config_set_block_bytes(s->cfg, s->opt->block, error)) {
        return false;
    }
    for (char **one = s->opt->set; one && *one; one++) {
        if (!ssd_config_set(s->cfg, *one, error)) {
            g_prefix_error(error, "--set ");
            return false;
        }
    }
    return true;
}

/* Of one image for all: rounded down to whole blocks. */
static bool blocks_of_one(Server *s, uint64_t *nblocks, GError **error)
{
    const SsdInfo *info = ssd_info(s->ssd);
    uint64_t bytes = s->images.place[0].bytes;
    uint32_t metadata = s->opt->drive.metadata;

    *nblocks = nvme_image_blocks(bytes, info->block_bytes, metadata);
    if (!*nblocks) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "--image %s: it is smaller than one block of %u bytes%s",
                    s->opt->images[0], info->block_bytes,
                    metadata ? " and its metadata" : "");
        return false;
    }
    if (*nblocks > info->nblocks) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "--image %s: it has %" G_GUINT64_FORMAT " bytes, the drive "
                    "of the profile only %" G_GUINT64_FORMAT ": take a larger "
                    "profile or set nand.blocks higher",
                    s->opt->images[0], bytes,
                    info->nblocks * info->block_bytes);
        return false;
    }
    s->images.place[0].bytes = UINT64_MAX; /* the metadata is there, too */
    return true;
}

/* Blocks that the namespaces have together. */
static bool namespace_blocks(Server *s, uint64_t *nblocks, GError **error)
{
    const SsdInfo *info = ssd_info(s->ssd);

    if (s->images.n == 1) {
        return blocks_of_one(s, nblocks, error);
    }
    for (unsigned i = 0; i < s->images.n; i++) {
        if (s->images.place[i].bytes < info->block_bytes) {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                        "--image %s: it is smaller than one block of %u bytes",
                        s->opt->images[i], info->block_bytes);
            return false;
        }
    }
    s->namespaces = nvme_images_namespaces(&s->images, info->block_bytes);
    *nblocks = info->nblocks;
    return true;
}

static bool attach(Server *s, uint64_t nblocks, GError **error)
{
    g_autofree char *seed = ssd_config_get(s->cfg, "seed");

    s->faults = ssd_config_get(s->cfg, "faults");
    s->nvme_cfg.cmb = s->function[0].cmb.mem;
    s->nvme_cfg.pmr = s->function[0].pmr.mem;
    s->nvme_cfg.controllers = MAX(s->nvme_cfg.controllers, s->n_functions);
    s->nvme_cfg.serial_by_default = !s->nvme_cfg.serial;
    if (!s->nvme_cfg.serial) {
        s->nvme_cfg.serial = "vssd-server";
    }
    s->nvme_cfg.cntlid = 1;
    s->nvme_cfg.pci_vid = PCI_VENDOR;
    s->nvme_cfg.pci_ssvid = PCI_VENDOR;
    s->nvme_cfg.nblocks = nblocks;
    s->nvme_cfg.faults = s->faults;
    s->nvme_cfg.fault_seed = seed ? g_ascii_strtoull(seed, NULL, 10) : 0;
    if (s->namespaces) {
        s->nvme_cfg.namespaces = s->namespaces;
        s->nvme_cfg.namespaces_fixed = true;
    }
    return nvme_attach(s->ctrl, s->ssd, &s->nvme_cfg, error);
}

/* ---- state --------------------------------------------------------------- */

static bool has_state(const Server *s)
{
    return s->opt->drive.state &&
           g_file_test(s->opt->drive.state, G_FILE_TEST_EXISTS);
}

/* Before it is read: nobody else may change it until it is saved. */
static bool lock_state(Server *s, GError **error)
{
    if (!s->opt->drive.state ||
        filelock_take(s->opt->drive.state, &s->state_lock, error)) {
        return true;
    }
    g_prefix_error(error, "--state ");
    return false;
}

static Ssd *load(Server *s, GError **error)
{
    Ssd *ssd = ssd_load_file_with(s->cfg, nvme_host_ops(), s->ctrl,
                                  s->opt->drive.state, &s->state_end, error);

    if (ssd && !ssd_powered(ssd)) {
        ssd_power_on(ssd, ssd_now_ns(ssd));
    }
    return ssd;
}

static bool load_kept(Server *s, GError **error)
{
    FILE *file;
    bool namespaces, ok;

    if (!s->state_end) {
        return true;
    }
    file = fopen(s->opt->drive.state, "rbe");
    if (!file || fseeko(file, s->state_end, SEEK_SET) != 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "state file %s: it cannot be read: %s", s->opt->drive.state,
                    g_strerror(errno));
        ok = false;
    } else {
        ok = nvme_load_kept(s->ctrl, file, &namespaces, error);
        if (!ok) {
            g_prefix_error(error, "state file %s: ", s->opt->drive.state);
        } else if (!namespaces) {
            nvme_preloaded(s->ctrl, 0, s->nvme_cfg.nblocks);
        }
    }
    if (file) {
        fclose(file);
    }
    return ok;
}

static bool save_kept(void *opaque, FILE *out, GError **error)
{
    return nvme_save_kept(opaque, out, error);
}

static bool save(Server *s, GError **error)
{
    SsdCompletion done[16];

    if (ssd_powered(s->ssd)) {
        ssd_power_cut(s->ssd, s->now_ns);
    }
    while (ssd_advance(s->ssd, s->now_ns, done, G_N_ELEMENTS(done)) > 0) {
    }
    return !s->opt->drive.state ||
           ssd_save_file_with(s->ssd, s->opt->drive.state,
                              nvme_has_kept(s->ctrl) ? save_kept : NULL,
                              s->ctrl, error);
}

/* ---- data that is in the image ------------------------------------------- */

static int age(Ssd *ssd, const uint64_t *lpn, uint64_t n)
{
    int ret = n > 0 ? ssd_age(ssd, lpn, n) : 0;

    if (ret == -EBUSY && ssd_rest(ssd, 10 * NS_PER_S)) {
        ret = ssd_age(ssd, lpn, n);
    }
    return ret;
}

/* A drive that is not new may hold them already; the others were written to the
 * image without the drive. */
static int hold_data(Ssd *ssd, uint64_t first, uint64_t n)
{
    const SsdInfo *info = ssd_info(ssd);
    uint64_t per_unit = info->unit_bytes / info->block_bytes;
    uint64_t lpn[AGE_BATCH];
    unsigned k = 0;
    int ret = 0;

    if (ssd_last_version(ssd) == 0 && ssd_now_ns(ssd) == 0) {
        return ssd_preload(ssd, first, n);
    }
    for (uint64_t u = first / per_unit;
         u <= (first + n - 1) / per_unit && ret == 0; u++) {
        if (!ssd_mapped(ssd, u * per_unit, NULL)) {
            lpn[k++] = u;
        }
        if (k == AGE_BATCH) {
            ret = age(ssd, lpn, k);
            k = 0;
        }
    }
    return ret < 0 ? ret : age(ssd, lpn, k);
}

/* Of one image, which has blocks first..end-1 of the drive. */
static bool preload_image(Server *s, unsigned i, uint64_t first, uint64_t end,
                          GError **error)
{
    uint32_t block = ssd_info(s->ssd)->block_bytes;
    GError *fault = NULL;
    uint64_t at = 0, bytes;

    while (vfio_image_next_data(s, i, &at, &bytes, &fault)) {
        uint64_t begin = first + at / block;
        uint64_t stop = MIN(first + (at + bytes + block - 1) / block, end);
        int ret;

        if (begin >= end) {
            break;
        }
        ret = hold_data(s->ssd, begin, stop - begin);
        if (ret < 0) {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                        "--image %s: the drive has no room for its data: %s",
                        s->opt->images[i], g_strerror(-ret));
            return false;
        }
        nvme_preloaded(s->ctrl, begin, stop - begin);
        at += bytes;
    }
    if (fault) {
        g_propagate_error(error, fault);
    }
    return !fault;
}

static bool preload(Server *s, uint64_t nblocks, GError **error)
{
    uint32_t block = ssd_info(s->ssd)->block_bytes;

    for (unsigned i = 0; i < s->images.n; i++) {
        const NvmePlace *p = &s->images.place[i];
        uint64_t first = p->start / block;

        if (!preload_image(s, i, first,
                           first + MIN(nblocks - first, p->bytes / block),
                           error)) {
            return false;
        }
    }
    return true;
}

/* ---- life ---------------------------------------------------------------- */

/* One for each socket; they are numbered from 1. */
static bool add_controllers(Server *s, GError **error)
{
    for (unsigned i = 1; i < s->n_functions; i++) {
        Function *f = &s->function[i];

        f->ctrl = nvme_add_controller(s->ctrl, &machine, f, i + 1, error);
        if (!f->ctrl) {
            return false;
        }
    }
    return true;
}

bool vfio_drive_create(Server *s, GError **error)
{
    uint64_t nblocks;

    if (!read_config(s, error) || !lock_state(s, error) ||
        !vfio_bars_open(s, error)) {
        return false;
    }
    s->ctrl = nvme_new(&machine, &vfio_image_store, &s->function[0]);
    s->function[0].ctrl = s->ctrl;
    s->ssd = has_state(s) ? load(s, error)
                          : ssd_create(s->cfg, nvme_host_ops(), s->ctrl, error);
    if (!s->ssd || !namespace_blocks(s, &nblocks, error) ||
        !attach(s, nblocks, error) || !load_kept(s, error) ||
        !nvme_images_place(&s->images, s->ctrl, ssd_info(s->ssd)->block_bytes,
                           error) ||
        !vfio_metadata_open(s, nblocks, error) || !vfio_files_open(s, error) ||
        !preload(s, nblocks, error) || !add_controllers(s, error)) {
        return false;
    }
    s->now_ns = ssd_now_ns(s->ssd);
    for (unsigned i = 0; i < s->n_functions; i++) {
        vfio_pci_reset(&s->function[i]);
    }
    return true;
}

void vfio_drive_destroy(Server *s)
{
    for (unsigned i = 1; i < s->n_functions; i++) {
        if (s->function[i].ctrl) {
            nvme_remove_controller(s->function[i].ctrl);
        }
    }
    if (s->ctrl) {
        nvme_free(s->ctrl);
    }
    if (s->ssd) {
        ssd_destroy(s->ssd);
    }
    if (s->cfg) {
        ssd_config_free(s->cfg);
    }
    g_free(s->faults);
    g_free(s->namespaces);
    vfio_bars_close(s);
    filelock_release(s->state_lock);
}

/* Commands in flight end, in modelled time. */
static void settle(Server *s)
{
    uint64_t end_ns = s->now_ns + SETTLE_MOST_NS;

    while (nvme_settle(s->ctrl, &s->now_ns, end_ns) == NVME_SETTLE_STORE) {
        vfio_image_wait(s, -1);
        vfio_image_reap(s);
    }
}

static void drain(Server *s)
{
    while (nvme_store_in_flight(s->ctrl)) {
        vfio_image_wait(s, -1);
        vfio_image_reap(s);
        nvme_run(s->ctrl, s->now_ns);
    }
}

/* Free what the guest has trimmed, as far as there is time. */
static bool free_trimmed(Server *s)
{
    gint64 end_us = g_get_monotonic_time() + FINISH_MS * 1000;

    while (nvme_housekeep(s->ctrl)) {
        if (g_get_monotonic_time() > end_us) {
            return false;
        }
        vfio_image_wait(s, 10);
        vfio_image_reap(s);
        nvme_run(s->ctrl, s->now_ns);
    }
    return true;
}

bool vfio_drive_finish(Server *s, GError **error)
{
    g_autoptr(GError) fault = NULL;
    bool kept, logged;

    vfio_now(s);
    s->stopped = true;
    nvme_hold(s->ctrl, true);
    if (nvme_powered(s->ctrl)) {
        settle(s);
        vfio_irq_deliver_all(s);
        nvme_retry(s->ctrl);
        nvme_run(s->ctrl, s->now_ns);
        drain(s);
        if (!free_trimmed(s)) {
            vfio_say("there was no time to free all that the guest has "
                     "trimmed: the image still holds data there");
        }
    }
    logged = vfio_files_close(s);
    if (nvme_powered(s->ctrl)) {
        nvme_power_cut(s->ctrl, s->now_ns);
    }
    nvme_run(s->ctrl, s->now_ns);
    drain(s);
    kept = vfio_image_kept(s, nvme_refused_bytes(s->ctrl), error);
    if (!save(s, &fault)) {
        vfio_say(fault->message);
        return false;
    }
    return kept && logged;
}
