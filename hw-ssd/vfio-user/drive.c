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

/* Namespaces that had no image when they were saved (swap.c) have one now. */
static void refill(Server *s)
{
    uint32_t block = ssd_info(s->ssd)->block_bytes;

    for (unsigned i = 0; i < s->images.n; i++) {
        uint64_t has = s->images.place[i].bytes / block;
        uint64_t first, n;

        if (nvme_namespace_place(s->ctrl, i + 1, &first, &n) && !n &&
            has <= nvme_namespace_room(s->ctrl, i + 1)) {
            nvme_namespace_insert(s->ctrl, i + 1, has, false);
        }
    }
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
    if (ok && s->namespaces) {
        refill(s);
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
        !vfio_preload(s, nblocks, error) || !add_controllers(s, error)) {
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

bool vfio_drive_finish(Server *s, GError **error)
{
    g_autoptr(GError) fault = NULL;
    bool kept, logged;

    vfio_rest_begin(s);
    if (nvme_powered(s->ctrl)) {
        nvme_retry(s->ctrl);
        vfio_rest_drain(s);
        if (!vfio_rest_free_trimmed(s)) {
            vfio_say("there was no time to free all that the guest has "
                     "trimmed: the image still holds data there");
        }
    }
    logged = vfio_files_close(s);
    if (nvme_powered(s->ctrl)) {
        nvme_power_cut(s->ctrl, s->now_ns);
    }
    vfio_rest_drain(s);
    kept = vfio_image_kept(s, nvme_refused_bytes(s->ctrl), error);
    if (!save(s, &fault)) {
        vfio_say(fault->message);
        return false;
    }
    return kept && logged;
}
