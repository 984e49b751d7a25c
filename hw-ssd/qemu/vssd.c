/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd.c - the drive, with its first controller: properties, life and death.
 *
 * Knows the block node's size and permissions, and how the parts are put
 * together and taken apart; knows nothing of NVMe, of PCI or of time.
 */
#include "qemu/osdep.h"
#include "block/block.h"
#include "hw/pci/pci.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/module.h"
#include "system/block-backend.h"
#include "system/runstate.h"
#include "system/system.h"
#include "trace.h"

#include "compat.h"
#include "printable.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "vssd.h"

/* ---- exit status --------------------------------------------------------- */

static bool is_failure;

void vssd_end_as_failure(void)
{
    is_failure = true;
}

/*
 * A destructor runs after all that is registered by atexit(): the block layer
 * has ended then, and all exit notifiers, where drives are saved.
 */
static void __attribute__((destructor)) choose_status(void)
{
    if (is_failure) {
        fflush(NULL);
        _exit(EXIT_FAILURE);
    }
}

/* ---- realize ------------------------------------------------------------ */

static void propagate(Error **errp, GError *error)
{
    g_autofree char *message = printable(error->message);

    error_setg(errp, "vssd: %s", message);
    g_error_free(error);
}

static bool choose_block_size(VssdDev *s, Error **errp)
{
    BlockConf *conf = &s->conf;

    if (conf->logical_block_size && !conf->physical_block_size) {
        conf->physical_block_size = conf->logical_block_size;
    }
    if (!blkconf_blocksizes(conf, errp)) {
        return false;
    }
    if (conf->logical_block_size != 512 && conf->logical_block_size != 4096) {
        error_setg(errp, "vssd: logical_block_size=%" PRIu32
                         ": allowed 512, 4096", conf->logical_block_size);
        return false;
    }
    return true;
}

static bool open_drive(VssdDev *s, Error **errp)
{
    if (!s->conf.blk) {
        error_setg(errp, "vssd: drive=ID is missing: give the block node that "
                         "holds the data");
        return false;
    }
    if (!blk_is_inserted(s->conf.blk)) {
        error_setg(errp, "vssd: drive '%s' has no medium",
                   blk_name(s->conf.blk));
        return false;
    }
    if (!blk_supports_write_perm(s->conf.blk)) {
        error_setg(errp, "vssd: the image is read-only: open it read-write, or "
                         "give it a temporary overlay (snapshot=on)");
        return false;
    }
    if (!choose_block_size(s, errp)) {
        return false;
    }
    /* Not resizable: block_resize is refused while the device has the node. */
    return blkconf_apply_backend_options(&s->conf, false, false, errp) &&
           vssd_nodes_open(s, errp);
}

static SsdConfig *read_config(VssdDev *s, Error **errp)
{
    SsdConfig *cfg;
    GError *error = NULL;

    if (!s->profile) {
        error_setg(errp, "vssd: profile=FILE is missing: give the description "
                         "of the drive (*.ini)");
        return NULL;
    }
    cfg = ssd_config_new();
    if (!ssd_config_load(cfg, s->profile, &error) ||
        (s->options && !ssd_config_set(cfg, s->options, &error)) ||
        !ssd_config_set_block_bytes(cfg, s->conf.logical_block_size, &error)) {
        propagate(errp, error);
        ssd_config_free(cfg);
        return NULL;
    }
    return cfg;
}

/* The namespaces have the image, rounded down to whole blocks. */
static bool namespace_blocks(VssdDev *s, uint64_t *nblocks, Error **errp)
{
    const SsdInfo *info = ssd_info(s->ssd);
    int64_t image_bytes = blk_getlength(s->conf.blk);

    if (s->n_nodes > 1) { /* each has its own */
        *nblocks = info->nblocks;
        return true;
    }
    if (image_bytes < 0) {
        error_setg_errno(errp, -image_bytes, "vssd: the image has no size");
        return false;
    }
    *nblocks =
        vssd_metadata_blocks(image_bytes, info->block_bytes, s->metadata);
    if (*nblocks == 0) {
        error_setg(errp,
                   "vssd: the image is smaller than one block of %" PRIu32
                   " bytes%s",
                   info->block_bytes, s->metadata ? " and its metadata" : "");
        return false;
    }
    if (*nblocks > info->nblocks) {
        error_setg(errp, "vssd: the image has %" PRId64 " bytes, the drive of "
                         "profile '%s' only %" PRIu64 ": take a larger profile "
                         "or set nand.blocks higher", image_bytes, s->profile,
                   info->nblocks * info->block_bytes);
        return false;
    }
    return true;
}

static bool is_text(const char *text, const char *wanted)
{
    return text && strcmp(text, wanted) == 0;
}

static bool attach_controller(VssdDev *s, uint64_t nblocks, Error **errp)
{
    g_autofree char *seed = NULL;
    GError *error = NULL;

    if (s->n_nodes > 1 && !s->namespaces) {
        s->namespaces = vssd_nodes_namespaces(s, errp);
        if (!s->namespaces) {
            return false;
        }
    }

    g_free(s->faults);
    s->faults = ssd_config_get(s->cfg, "faults");
    seed = ssd_config_get(s->cfg, "seed");
    s->nvme_cfg = (NvmeConfig){
        .serial = s->serial,
        .serial_by_default = s->serial_by_default,
        .cntlid = s->cntlid,
        .model = s->model,
        .firmware = "vssd0.1",
        .pci_vid = VSSD_PCI_VENDOR_ID,
        .pci_ssvid = VSSD_PCI_VENDOR_ID,
        .n_queues = s->num_queues,
        .n_vectors = s->num_vectors,
        .queue_size = s->queue_size,
        .mdts = s->mdts,
        .eui64 = s->eui64,
        .write_through = !blk_enable_write_cache(s->conf.blk),
        .nblocks = nblocks,
        .faults = s->faults,
        .fault_seed = seed ? g_ascii_strtoull(seed, NULL, 10) : 0,
        .namespaces = s->namespaces,
        .namespaces_fixed = s->n_nodes > 1,
        .backlog = s->backlog,
        .kv_cache = s->kv_cache,
        .firmware_slots = s->fw_slots,
        .firmware_slot1_writable = !s->fw_slot1_read_only,
        .firmware_activation_ms = s->fw_activation_ms,
        .sgl = s->sgl,
        .cmb = s->nvme_cfg.cmb,
        .cmb_bytes = s->nvme_cfg.cmb_bytes,
        .cmb_uses = s->cmb_uses,
        .cmb_legacy = s->legacy_cmb,
        .pmr = s->nvme_cfg.pmr,
        .pmr_bytes = s->nvme_cfg.pmr_bytes,
        .metadata = s->metadata,
        .pi = s->pi,
        .pi_first = is_text(s->pi_at, "first"),
        .metadata_extended = is_text(s->metadata_at, "extended"),
        .pi_guard = s->pi_guard,
        .pi_storage_bits = s->pi_sts,
        .no_nodas = !s->sanitize_nodas,
        .dsm_hints = s->dsm_hints,
        .controllers = s->controllers,
        .secondaries = s->sriov_vfs,
        .vq_flexible = s->sriov_vq_flexible,
        .vi_flexible = s->sriov_vi_flexible,
        .vq_per_secondary = s->sriov_vq_per_vf,
        .vi_per_secondary = s->sriov_vi_per_vf,
    };
    if (!nvme_attach(s->ctrl, s->ssd, &s->nvme_cfg, &error) ||
        !vssd_state_load_kept(s, &error) ||
        !vssd_nodes_place(s, s->ctrl, &error)) {
        propagate(errp, error);
        return false;
    }
    return true;
}

NvmeCtrl *vssd_new_controller(VssdDev *s)
{
    return nvme_new(&vssd_machine, &vssd_store, &s->fn);
}

/*
 * The model and its controller; on failure the caller tears down.  Where another
 * QEMU has the drive, and the image, this one is a place for it: nothing that is
 * in the image or the state file counts.
 */
/* The drive goes on without the policy. */
static void warn_of_policy(void *opaque, const char *line)
{
    warn_report("vssd: %s", line);
}

/* A file of the drive has no lock. */
static void warn_of_lock(const char *line)
{
    g_autofree char *shown = printable(line);

    warn_report("vssd: %s", shown);
}

void vssd_watch_policies(VssdDev *s)
{
    ssd_on_policy_fault(s->ssd, warn_of_policy, s);
}

static bool create_model(VssdDev *s, Error **errp)
{
    GError *error = NULL;
    uint64_t nblocks, data_bytes = 0;

    s->incoming = runstate_check(RUN_STATE_INMIGRATE);
    s->cfg = read_config(s, errp);
    if (!s->cfg) {
        return false;
    }
    s->ctrl = vssd_new_controller(s);
    if (!s->incoming && !vssd_files_lock(s, &error)) {
        propagate(errp, error);
        return false;
    }
    s->ssd = vssd_state_exists(s) && !s->incoming
                 ? vssd_state_load(s, s->cfg, &error)
                 : ssd_create(s->cfg, nvme_host_ops(), s->ctrl, &error);
    if (!s->ssd) {
        propagate(errp, error);
        return false;
    }
    vssd_watch_policies(s);
    if (!vssd_recording_begin(s, errp) ||
        !namespace_blocks(s, &nblocks, errp) ||
        !attach_controller(s, nblocks, errp) ||
        !vssd_metadata_open(s, nblocks, errp) || !vssd_oplog_open(s, errp) ||
        !vssd_timeline_open(s, errp) || !vssd_durable_open(s, errp) ||
        (!s->incoming && !vssd_store_preload(s, nblocks, &data_bytes, errp))) {
        return false;
    }
    vssd_state_set_clock(s);
    trace_vssd_realize(s, s->profile, nblocks, data_bytes);
    return true;
}

static void destroy_model(VssdDev *s)
{
    vssd_recording_end(s);
    if (s->ctrl) {
        nvme_free(s->ctrl);
        s->ctrl = NULL;
    }
    if (s->ssd) {
        ssd_destroy(s->ssd);
        s->ssd = NULL;
    }
    if (s->cfg) {
        ssd_config_free(s->cfg);
        s->cfg = NULL;
    }
    g_clear_pointer(&s->faults, g_free);
    vssd_files_unlock(s);
}

/* Where the drive is served. */
static bool choose_thread(VssdDev *s, Error **errp)
{
    s->icount = icount_enabled();
    if (s->icount) {
        if (s->iothread) {
            error_setg(errp, "vssd: iothread= does not go with -icount, which "
                             "serves the drive in virtual time");
            return false;
        }
        s->ctx = qemu_get_aio_context();
    } else if (s->iothread) {
        object_ref(OBJECT(s->iothread));
        s->ctx = iothread_get_aio_context(s->iothread);
    } else {
        g_autofree char *id = g_strdup_printf("vssd-%p", s);

        s->own_iothread = iothread_create(id, errp);
        if (!s->own_iothread) {
            return false;
        }
        s->ctx = iothread_get_aio_context(s->own_iothread);
        aio_context_set_poll_params(s->ctx, s->poll_max_us * (int64_t)SCALE_US,
                                    0, 0, &error_abort);
    }
    return vssd_nodes_set_context(s, s->ctx, errp) && vssd_kick_init(s, errp);
}

static void leave_thread(VssdDev *s)
{
    if (!s->ctx) {
        return;
    }
    vssd_kick_stop(s);
    vssd_nodes_set_context(s, qemu_get_aio_context(), NULL);
    if (s->own_iothread) {
        iothread_destroy(s->own_iothread);
        s->own_iothread = NULL;
    } else if (s->iothread) {
        object_unref(OBJECT(s->iothread));
    }
    s->ctx = NULL;
}

/*
 * The place of the slot distinguishes two drives of a machine:
 * it is the same at each start, and where the machine moves to.  The path has
 * the slots on the way, 0000:00:03.0:00.0, and no bus numbers, which are the
 * guest's.
 */
static void choose_identity(VssdDev *s)
{
    g_autofree char *path = vssd_function_path(&s->fn);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256,
                                                         path, -1);
    g_autofree char *slots =
        g_strdup(g_str_has_prefix(path, "0000:00:") ? path + 8 : path);

    s->cntlid = vssd_function_cntlid(&s->fn);
    s->serial_by_default = !s->serial;
    if (s->serial) {
        return;
    }
    g_strdelimit(slots, ":", '-');
    s->serial = strlen(slots) <= 15 ? g_strdup_printf("vssd-%s", slots)
                                    : g_strdup_printf("vssd-%.15s", sum);
}

static bool check_choice(const char *name, const char *value, const char *a,
                         const char *b, Error **errp)
{
    if (!value || strcmp(value, a) == 0 || strcmp(value, b) == 0) {
        return true;
    }
    error_setg(errp, "vssd: %s=%s: allowed %s, %s", name, value, a, b);
    return false;
}

static bool check_properties(VssdDev *s, Error **errp)
{
    if (s->num_queues < 1 || s->num_queues > VSSD_MAX_VECTORS - 1) {
        error_setg(errp, "vssd: num_queues=%u: allowed 1..%u", s->num_queues,
                   VSSD_MAX_VECTORS - 1);
        return false;
    }
    if (s->state && (s->oplog || s->trace_path)) {
        error_setg(errp, "vssd: %s= does not go with state=: it must tell all "
                         "from the beginning",
                   s->oplog ? "oplog" : "trace");
        return false;
    }
    if (s->trace_path && (s->cmb_bytes || s->pmr)) {
        error_setg(errp,
                   "vssd: trace= does not go with %s=: a trace does not "
                   "say where the parts of a command are",
                   s->cmb_bytes ? "cmb" : "pmr");
        return false;
    }
    if (!check_choice("pi_at", s->pi_at, "first", "last", errp) ||
        !check_choice("metadata_at", s->metadata_at, "separate", "extended",
                      errp)) {
        return false;
    }
    if (s->metadata && s->trace_path) {
        error_setg(errp, "vssd: trace= does not go with metadata=: a trace "
                         "knows no metadata");
        return false;
    }
    if (s->doorbell_threads > VSSD_MAX_DOORBELL_THREADS) {
        error_setg(errp, "vssd: doorbell_threads=%u: allowed 0..%u",
                   s->doorbell_threads, VSSD_MAX_DOORBELL_THREADS);
        return false;
    }
    if (s->poll_max_us > 1000) {
        error_setg(errp, "vssd: poll_max_us=%" PRIu32 ": allowed 0..1000",
                   s->poll_max_us);
        return false;
    }
    if (s->iothread && s->poll_max_us != VSSD_POLL_MAX_US) {
        error_setg(errp, "vssd: poll_max_us= does not go with iothread=: set "
                         "poll-max-ns of the iothread object");
        return false;
    }
    if (s->spin_cpu > 100) {
        error_setg(errp, "vssd: spin_cpu=%u: allowed 0..100", s->spin_cpu);
        return false;
    }
    if (s->irq_hold_us > VSSD_HOLD_MAX_US && s->irq_hold_us != VSSD_HOLD_AUTO) {
        error_setg(errp, "vssd: irq_hold_us=%" PRIu32 ": allowed 0..%u",
                   s->irq_hold_us, VSSD_HOLD_MAX_US);
        return false;
    }
    if (!s->num_vectors) {
        s->num_vectors = s->num_queues + 1;
    }
    if (s->num_vectors > VSSD_MAX_VECTORS) {
        error_setg(errp, "vssd: num_vectors=%u: allowed 1..%u", s->num_vectors,
                   VSSD_MAX_VECTORS);
        return false;
    }
    choose_identity(s);
    if (!s->model) {
        s->model = g_strdup("vssd virtual SSD");
    }
    return true;
}

/* Whatever realize has made, in reverse order; the serving has ended. */
static void tear_down(VssdDev *s)
{
    vssd_migration_stop(s);
    vssd_function_take_back(&s->fn);
    leave_thread(s);
    destroy_model(s);
    vssd_memory_stop(s);
    qemu_mutex_destroy(&s->lock);
}

static bool init_function(VssdDev *s, Error **errp)
{
    if (!vssd_irqfd_init(s, errp)) {
        return false;
    }
    s->fn.n_vectors = vssd_sriov_most_vectors(s);
    return vssd_function_init(&s->fn, errp);
}

static void vssd_realize(PCIDevice *pci, Error **errp)
{
    VssdDev *s = VSSD(pci);

    s->fn.drive = s;
    QTAILQ_INIT(&s->functions);
    qemu_mutex_init(&s->lock);
    s->epoch_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    s->now_ns = 0;
    if (!check_properties(s, errp) || !vssd_sriov_check(s, errp) ||
        !vssd_durable_check(s, errp) || !open_drive(s, errp) ||
        !vssd_memory_init(s, errp) || !create_model(s, errp) ||
        !init_function(s, errp) || !choose_thread(s, errp) ||
        !vssd_migration_init(s, errp)) {
        tear_down(s);
        return;
    }
    vssd_function_join(&s->fn, s->ctrl);
    if (!vssd_sriov_init(s, errp)) {
        tear_down(s);
        return;
    }
    vssd_memory_add_bars(s);
    vssd_store_init(s);
    vssd_irq_init(s);
    vssd_power_init(s);
    vssd_faults_init(s);
    vssd_oplog_init(s);
    vssd_durable_init(s);
    vssd_timeline_init(s);
    vssd_serve_init(s);
    vssd_files_init(s); /* ends after the state */
    vssd_state_init(s);
}

/* The further controllers of a drive that the guest has removed. */
static void strand_others(VssdDev *s)
{
    VssdFunction *f;

    while ((f = QTAILQ_NEXT(&s->fn, next))) {
        vssd_function_strand(f);
    }
}

/* VssdFunctionClass.end */
static void vssd_end(VssdFunction *f)
{
    VssdDev *s = f->drive;

    strand_others(s);
    vssd_serve_stop(s);
    vssd_state_stop(s);
    vssd_files_stop(s);
    vssd_timeline_stop(s);
    vssd_oplog_stop(s);
    vssd_durable_stop(s);
    vssd_faults_stop(s);
    vssd_power_stop(s);
    vssd_irq_stop(s);
    vssd_store_stop(s);
    vssd_function_part(f);
    tear_down(s);
}

static void vssd_exit(PCIDevice *pci)
{
    vssd_migration_stop(VSSD(pci));
    vssd_sriov_stop(VSSD(pci));
    vssd_function_exit(pci);
}

/* ---- class -------------------------------------------------------------- */

static const Property vssd_properties[] = {
    DEFINE_PROP_DRIVE_IOTHREAD("drive", VssdDev, conf.blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive2", VssdDev, more[0].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive3", VssdDev, more[1].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive4", VssdDev, more[2].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive5", VssdDev, more[3].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive6", VssdDev, more[4].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive7", VssdDev, more[5].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive8", VssdDev, more[6].blk),
    DEFINE_BLOCK_PROPERTIES_BASE(VssdDev, conf),
    DEFINE_BLOCK_ERROR_PROPERTIES(VssdDev, conf),
    DEFINE_PROP_STRING("profile", VssdDev, profile),
    DEFINE_PROP_STRING("options", VssdDev, options),
    DEFINE_PROP_STRING("state", VssdDev, state),
    DEFINE_PROP_STRING("oplog", VssdDev, oplog),
    DEFINE_PROP_STRING("timeline", VssdDev, timeline),
    DEFINE_PROP_STRING("timeline_from", VssdDev, timeline_option[0]),
    DEFINE_PROP_STRING("timeline_for", VssdDev, timeline_option[1]),
    DEFINE_PROP_STRING("timeline_size", VssdDev, timeline_option[2]),
    DEFINE_PROP_STRING("serial", VssdDev, serial),
    DEFINE_PROP_STRING("model", VssdDev, model),
    DEFINE_PROP_LINK("iothread", VssdDev, iothread, TYPE_IOTHREAD, IOThread *),
    DEFINE_PROP_UINT16("num_queues", VssdDev, num_queues, 16),
    DEFINE_PROP_UINT16("num_vectors", VssdDev, num_vectors, 0),
    DEFINE_PROP_UINT32("queue_size", VssdDev, queue_size, 1024),
    DEFINE_PROP_UINT8("mdts", VssdDev, mdts, 7),
    DEFINE_PROP_UINT64("eui64", VssdDev, eui64, 0),
    DEFINE_PROP_UINT8("spin_cpu", VssdDev, spin_cpu, 100),
    DEFINE_PROP_UINT32("irq_hold_us", VssdDev, irq_hold_us, VSSD_HOLD_AUTO),
    DEFINE_PROP_ON_OFF_AUTO("ioeventfd", VssdDev, ioeventfd, ON_OFF_AUTO_AUTO),
    DEFINE_PROP_ON_OFF_AUTO("irqfd", VssdDev, irqfd, ON_OFF_AUTO_AUTO),
    DEFINE_PROP_UINT8("doorbell_threads", VssdDev, doorbell_threads, 0),
    DEFINE_PROP_UINT32("poll_max_us", VssdDev, poll_max_us, VSSD_POLL_MAX_US),
    DEFINE_PROP_BOOL("sgl", VssdDev, sgl, false),
    DEFINE_PROP_UINT16("metadata", VssdDev, metadata, 0),
    DEFINE_PROP_UINT8("pi", VssdDev, pi, 0),
    DEFINE_PROP_STRING("pi_at", VssdDev, pi_at),
    DEFINE_PROP_STRING("metadata_at", VssdDev, metadata_at),
    DEFINE_PROP_UINT8("pi_guard", VssdDev, pi_guard, 16),
    DEFINE_PROP_UINT8("pi_sts", VssdDev, pi_sts, 0),
    DEFINE_PROP_SIZE("backlog", VssdDev, backlog, NVME_BACKLOG),
    DEFINE_PROP_SIZE("kv_cache", VssdDev, kv_cache, NVME_KV_CACHE),
    DEFINE_PROP_UINT8("fw_slots", VssdDev, fw_slots, 3),
    DEFINE_PROP_BOOL("fw_slot1_read_only", VssdDev, fw_slot1_read_only, true),
    DEFINE_PROP_UINT32("fw_activation_ms", VssdDev, fw_activation_ms, 0),
    DEFINE_PROP_BOOL("dsm_hints", VssdDev, dsm_hints, false),
    DEFINE_PROP_BOOL("sanitize_nodas", VssdDev, sanitize_nodas, true),
    DEFINE_PROP_UINT16("sriov_vfs", VssdDev, sriov_vfs, 0),
    DEFINE_PROP_UINT16("sriov_vq_flexible", VssdDev, sriov_vq_flexible, 0),
    DEFINE_PROP_UINT16("sriov_vi_flexible", VssdDev, sriov_vi_flexible, 0),
    DEFINE_PROP_UINT16("sriov_vq_per_vf", VssdDev, sriov_vq_per_vf, 0),
    DEFINE_PROP_UINT16("sriov_vi_per_vf", VssdDev, sriov_vi_per_vf, 0),
    DEFINE_PROP_STRING("namespaces", VssdDev, namespaces),
    DEFINE_PROP_UINT16("controllers", VssdDev, controllers, 1),
    DEFINE_PROP_UINT32("power_return_ms", VssdDev, power_return_ms, 1000),
    DEFINE_PROP_STRING("trace", VssdDev, trace_path),
    DEFINE_PROP_STRING("durable_log", VssdDev, durable_log),
    DEFINE_PROP_SIZE("cmb", VssdDev, cmb_bytes, 0),
    DEFINE_PROP_STRING("cmb_uses", VssdDev, cmb_uses),
    DEFINE_PROP_BOOL("legacy_cmb", VssdDev, legacy_cmb, false),
    DEFINE_PROP_LINK("pmr", VssdDev, pmr, TYPE_MEMORY_BACKEND,
                     HostMemoryBackend *),
};

static void vssd_instance_init(Object *obj)
{
    VssdDev *s = VSSD(obj);

    device_add_bootindex_property(obj, &s->conf.bootindex, "bootindex",
                                  "/namespace@1,0", DEVICE(obj));
}

static void vssd_class_init(ObjectClass *klass, VssdClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = vssd_realize;
    pc->exit = vssd_exit;
    VSSD_FUNCTION_CLASS(klass)->end = vssd_end;

    dc->desc = "modelled NVMe SSD";
    dc->vmsd = &vssd_vmstate;
    device_class_set_props(dc, vssd_properties);
    vssd_stats_class_init(klass);
    vssd_power_class_init(klass);
    vssd_faults_class_init(klass);
    filelock_warn_by(warn_of_lock);
}

static const TypeInfo vssd_type = {
    .name = TYPE_VSSD,
    .parent = TYPE_VSSD_FUNCTION,
    .instance_size = sizeof(VssdDev),
    .instance_init = vssd_instance_init,
    .class_init = vssd_class_init,
};

static void vssd_register(void)
{
    type_register_static(&vssd_type);
}

type_init(vssd_register)
