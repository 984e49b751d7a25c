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

/* ---- realize ------------------------------------------------------------ */

static void propagate(Error **errp, GError *error)
{
    g_autofree char *message = printable(error->message);

    error_setg(errp, "vssd: %s", message);
    g_error_free(error);
}

static bool choose_block_size(VssdDev *s, Error **errp)
{
    BlockConf *conf = &s->prop.conf;

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
    if (!s->prop.conf.blk) {
        error_setg(errp, "vssd: drive=ID is missing: give the block node that "
                         "holds the data");
        return false;
    }
    if (!blk_is_inserted(s->prop.conf.blk)) {
        error_setg(errp, "vssd: drive '%s' has no medium",
                   blk_name(s->prop.conf.blk));
        return false;
    }
    if (!blk_supports_write_perm(s->prop.conf.blk)) {
        error_setg(errp, "vssd: the image is read-only: open it read-write, or "
                         "give it a temporary overlay (snapshot=on)");
        return false;
    }
    if (!choose_block_size(s, errp)) {
        return false;
    }
    /* Not resizable: block_resize is refused while the device has the node. */
    return blkconf_apply_backend_options(&s->prop.conf, false, false, errp) &&
           vssd_nodes_open(s, errp);
}

static SsdConfig *read_config(VssdDev *s, Error **errp)
{
    SsdConfig *cfg;
    GError *error = NULL;

    if (!s->prop.profile) {
        error_setg(errp, "vssd: profile=FILE is missing: give the description "
                         "of the drive (*.ini)");
        return NULL;
    }
    cfg = ssd_config_new();
    if (!ssd_config_load(cfg, s->prop.profile, &error) ||
        (s->prop.options && !ssd_config_set(cfg, s->prop.options, &error)) ||
        !ssd_config_set_block_bytes(cfg, s->prop.conf.logical_block_size,
                                    &error)) {
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
    int64_t image_bytes = blk_getlength(s->prop.conf.blk);

    if (s->store.images.n > 1) { /* each has its own */
        *nblocks = info->nblocks;
        return true;
    }
    if (image_bytes < 0) {
        error_setg_errno(errp, -image_bytes, "vssd: the image has no size");
        return false;
    }
    *nblocks =
        nvme_image_blocks(image_bytes, info->block_bytes, s->prop.opt.metadata);
    if (*nblocks == 0) {
        error_setg(
            errp,
            "vssd: the image is smaller than one block of %" PRIu32 " bytes%s",
            info->block_bytes, s->prop.opt.metadata ? " and its metadata" : "");
        return false;
    }
    if (*nblocks > info->nblocks) {
        error_setg(errp,
                   "vssd: the image has %" PRId64 " bytes, the drive of "
                   "profile '%s' only %" PRIu64 ": take a larger profile "
                   "or set nand.blocks higher",
                   image_bytes, s->prop.profile,
                   info->nblocks * info->block_bytes);
        return false;
    }
    return true;
}

static bool attach_controller(VssdDev *s, uint64_t nblocks, Error **errp)
{
    g_autofree char *seed = NULL;
    GError *error = NULL;
    NvmeConfig own;

    if (s->store.images.n > 1 && !s->prop.opt.namespaces) {
        s->prop.opt.namespaces = vssd_nodes_namespaces(s, errp);
        if (!s->prop.opt.namespaces) {
            return false;
        }
    }

    g_free(s->prop.faults);
    s->prop.faults = ssd_config_get(s->cfg, "faults");
    seed = ssd_config_get(s->cfg, "seed");
    own = nvme_options_config(&s->prop.opt);
    own.serial_by_default = s->serial_by_default;
    own.cntlid = s->cntlid;
    own.pci_vid = VSSD_PCI_VENDOR_ID;
    own.pci_ssvid = VSSD_PCI_VENDOR_ID;
    own.write_through = !blk_enable_write_cache(s->prop.conf.blk);
    own.nblocks = nblocks;
    own.faults = s->prop.faults;
    own.fault_seed = seed ? g_ascii_strtoull(seed, NULL, 10) : 0;
    own.namespaces_fixed = s->store.images.n > 1;
    own.cmb = s->nvme_cfg.cmb;
    own.pmr = s->nvme_cfg.pmr;
    own.pmr_bytes = s->nvme_cfg.pmr_bytes;
    own.secondaries = s->prop.sriov_vfs;
    own.vq_flexible = s->prop.sriov_vq_flexible;
    own.vi_flexible = s->prop.sriov_vi_flexible;
    own.vq_per_secondary = s->prop.sriov_vq_per_vf;
    own.vi_per_secondary = s->prop.sriov_vi_per_vf;
    s->nvme_cfg = own;
    if (!nvme_attach(s->ctrl, s->ssd, &s->nvme_cfg, &error) ||
        !vssd_state_load_kept(s, &error)) {
        propagate(errp, error);
        return false;
    }
    vssd_nodes_refill(s);
    if (!vssd_nodes_place(s, s->ctrl, &error)) {
        propagate(errp, error);
        return false;
    }
    return true;
}

/* A file of the drive has no lock. */
static void warn_of_lock(const char *line)
{
    g_autofree char *shown = printable(line);

    warn_report("vssd: %s", shown);
}

/*
 * The model and its controller; on failure the caller tears down.  Where
 * another QEMU has the drive, and the image, this one is a place for it:
 * nothing that is in the image or the state file counts.
 */
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
        !vssd_live_open(s, errp) ||
        (!s->incoming && !vssd_store_preload(s, nblocks, &data_bytes, errp))) {
        return false;
    }
    vssd_state_set_clock(s);
    trace_vssd_realize(s, s->prop.profile, nblocks, data_bytes);
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
    g_clear_pointer(&s->prop.faults, g_free);
    vssd_files_unlock(s);
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
    s->serial_by_default = !s->prop.opt.serial;
    if (s->prop.opt.serial) {
        return;
    }
    g_strdelimit(slots, ":", '-');
    s->prop.opt.serial = strlen(slots) <= 15
                             ? g_strdup_printf("vssd-%s", slots)
                             : g_strdup_printf("vssd-%.15s", sum);
}

static bool check_properties(VssdDev *s, Error **errp)
{
    GError *error = NULL;

    if (!nvme_options_ok(&s->prop.opt, s->prop.pmr, &error)) {
        propagate(errp, error);
        return false;
    }
    if (s->prop.doorbell_threads > VSSD_MAX_DOORBELL_THREADS) {
        error_setg(errp, "vssd: doorbell_threads=%u: allowed 0..%u",
                   s->prop.doorbell_threads, VSSD_MAX_DOORBELL_THREADS);
        return false;
    }
    if (s->prop.poll_max_us > 1000) {
        error_setg(errp, "vssd: poll_max_us=%" PRIu32 ": allowed 0..1000",
                   s->prop.poll_max_us);
        return false;
    }
    if (s->prop.iothread && s->prop.poll_max_us != VSSD_POLL_MAX_US) {
        error_setg(errp, "vssd: poll_max_us= does not go with iothread=: set "
                         "poll-max-ns of the iothread object");
        return false;
    }
    if (s->prop.spin_cpu > 100) {
        error_setg(errp, "vssd: spin_cpu=%u: allowed 0..100", s->prop.spin_cpu);
        return false;
    }
    if (s->prop.irq_hold_us > VSSD_HOLD_MAX_US &&
        s->prop.irq_hold_us != VSSD_HOLD_AUTO) {
        error_setg(errp, "vssd: irq_hold_us=%" PRIu32 ": allowed 0..%u",
                   s->prop.irq_hold_us, VSSD_HOLD_MAX_US);
        return false;
    }
    if (!s->prop.opt.num_vectors) {
        s->prop.opt.num_vectors = s->prop.opt.num_queues + 1;
    }
    choose_identity(s);
    return true;
}

/* Whatever realize has made, in reverse order; the serving has ended. */
static void tear_down(VssdDev *s)
{
    vssd_migration_stop(s);
    vssd_function_take_back(&s->fn);
    vssd_serve_leave(s);
    destroy_model(s);
    vssd_memory_stop(s);
    qemu_mutex_destroy(&s->serve.lock);
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
    qemu_mutex_init(&s->serve.lock);
    vssd_clock_begin(s, 0);
    if (!check_properties(s, errp) || !vssd_sriov_check(s, errp) ||
        !open_drive(s, errp) || !vssd_memory_init(s, errp) ||
        !create_model(s, errp) || !init_function(s, errp) ||
        !vssd_serve_choose(s, errp) || !vssd_migration_init(s, errp)) {
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
    vssd_live_init(s);
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
    vssd_live_stop(s);
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

#define PROPERTY(kind, ctype, name, least, most, start, ...)                   \
    PROPERTY_##kind(name, start)
#define PROPERTY_STRING(name, start)                                           \
    DEFINE_PROP_STRING(#name, VssdDev, prop.opt.name),
#define PROPERTY_BOOL(name, start)                                             \
    DEFINE_PROP_BOOL(#name, VssdDev, prop.opt.name, start),
#define PROPERTY_U32(name, start)                                              \
    DEFINE_PROP_UINT32(#name, VssdDev, prop.opt.name, start),
#define PROPERTY_U64(name, start)                                              \
    DEFINE_PROP_UINT64(#name, VssdDev, prop.opt.name, start),
#define PROPERTY_SIZE(name, start)                                             \
    DEFINE_PROP_SIZE(#name, VssdDev, prop.opt.name, start),

/* With those of nvme-options.h. */
static const Property vssd_properties[] = {
    DEFINE_PROP_DRIVE_IOTHREAD("drive", VssdDev, prop.conf.blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive2", VssdDev, prop.more[0].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive3", VssdDev, prop.more[1].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive4", VssdDev, prop.more[2].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive5", VssdDev, prop.more[3].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive6", VssdDev, prop.more[4].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive7", VssdDev, prop.more[5].blk),
    DEFINE_PROP_DRIVE_IOTHREAD("drive8", VssdDev, prop.more[6].blk),
    DEFINE_BLOCK_PROPERTIES_BASE(VssdDev, prop.conf),
    DEFINE_BLOCK_ERROR_PROPERTIES(VssdDev, prop.conf),
    DEFINE_PROP_STRING("profile", VssdDev, prop.profile),
    DEFINE_PROP_STRING("options", VssdDev, prop.options),
    DEFINE_PROP_LINK("iothread", VssdDev, prop.iothread, TYPE_IOTHREAD,
                     IOThread *),
    DEFINE_PROP_UINT8("spin_cpu", VssdDev, prop.spin_cpu, 100),
    DEFINE_PROP_UINT32("irq_hold_us", VssdDev, prop.irq_hold_us,
                       VSSD_HOLD_AUTO),
    DEFINE_PROP_ON_OFF_AUTO("ioeventfd", VssdDev, prop.ioeventfd,
                            ON_OFF_AUTO_AUTO),
    DEFINE_PROP_ON_OFF_AUTO("irqfd", VssdDev, prop.irqfd, ON_OFF_AUTO_AUTO),
    DEFINE_PROP_UINT8("doorbell_threads", VssdDev, prop.doorbell_threads, 0),
    DEFINE_PROP_UINT32("poll_max_us", VssdDev, prop.poll_max_us,
                       VSSD_POLL_MAX_US),
    DEFINE_PROP_UINT16("sriov_vfs", VssdDev, prop.sriov_vfs, 0),
    DEFINE_PROP_UINT16("sriov_vq_flexible", VssdDev, prop.sriov_vq_flexible, 0),
    DEFINE_PROP_UINT16("sriov_vi_flexible", VssdDev, prop.sriov_vi_flexible, 0),
    DEFINE_PROP_UINT16("sriov_vq_per_vf", VssdDev, prop.sriov_vq_per_vf, 0),
    DEFINE_PROP_UINT16("sriov_vi_per_vf", VssdDev, prop.sriov_vi_per_vf, 0),
    DEFINE_PROP_LINK("pmr", VssdDev, prop.pmr, TYPE_MEMORY_BACKEND,
                     HostMemoryBackend *),
    NVME_OPTIONS(PROPERTY) NVME_ATOMIC_OPTIONS(PROPERTY)};

static void vssd_instance_init(Object *obj)
{
    VssdDev *s = VSSD(obj);

    device_add_bootindex_property(obj, &s->prop.conf.bootindex, "bootindex",
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
    vssd_swap_class_init(klass);
    vssd_running_class_init(klass);
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
