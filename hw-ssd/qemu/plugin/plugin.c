/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.c - the device in a shared object that QEMU loads: with -plugin, or
 * before the emulator as a preloaded library.
 *
 * -plugin is QEMU's switch for shared objects that look at a guest's
 * instructions (docs/devel/tcg-plugins.rst there).  QEMU compares the API
 * version, and calls qemu_plugin_install() before it makes vCPUs and devices.
 * This one looks at nothing; it registers the types and trace events of the
 * device, as if they had been linked in.
 *
 * Such an object has the structures of one version of QEMU, as that was
 * configured.  So the version, and the structures that the device derives from,
 * embeds or writes, are compared before anything is registered.
 */
#include "qemu/osdep.h"
#include "block/accounting.h"
#include "hw/pci/pci_device.h"
#include "hw/pci/pci_ids.h"
#include "qapi/qapi-commands-control.h"
#include "qapi/qapi-types-control.h"
#include "qemu/error-report.h"
#include "qemu/event_notifier.h"
#include "qemu/iov.h"
#include "qemu/module.h"
#include "qemu/option.h"
#include "qemu/qemu-plugin.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "trace/control.h"

#include "compat.h"

#define UNTOUCHED 0xa5
#define ROOM      (16 * KiB) /* more than any of the structures */

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* What the constructors of the device's files hand over. */
static struct {
    void (*init)(void);
    module_init_type type;
} inits[16];
static unsigned n_inits;

/*
 * In place of QEMU's function of the name without vssd_, for the files of the
 * device (meson.build).
 */
void vssd_register_module_init(void (*init)(void), module_init_type type)
{
    g_assert(n_inits < G_N_ELEMENTS(inits));
    inits[n_inits].init = init;
    inits[n_inits++].type = type;
}

static void run_inits(module_init_type type)
{
    for (unsigned i = 0; i < n_inits; i++) {
        if (inits[i].type == type) {
            inits[i].init();
        }
    }
}

/* error_report() needs monitors, which are not there for a preloaded object. */
static void G_GNUC_PRINTF(1, 2) report(const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    g_printerr("%s: vssd-qemu.so%s\n", g_get_prgname(), text);
}

static bool same_version(void)
{
    g_autoptr(VersionInfo) info = qmp_query_version(NULL);

    if (info->qemu->major == QEMU_VERSION_MAJOR &&
        info->qemu->minor == QEMU_VERSION_MINOR &&
        info->qemu->micro == QEMU_VERSION_MICRO) {
        return true;
    }
    report(" is for QEMU %s, and this is %" PRId64 ".%" PRId64 ".%" PRId64
           " %s",
           QEMU_VERSION, info->qemu->major, info->qemu->minor,
           info->qemu->micro, info->package);
    return false;
}

static bool differs(const char *structure)
{
    report(": %s has another layout in this QEMU, which is configured in"
           " another way: build it for this one",
           structure);
    return false;
}

/* Bytes from the start of `room` to the last that was touched. */
static size_t touched(const uint8_t *room)
{
    size_t n = ROOM;

    while (n && room[n - 1] == UNTOUCHED) {
        n--;
    }
    return n;
}

/*
 * Structures that QEMU's functions initialise: each function below does that in
 * `room`, and tells whether members are where they are expected.
 */
static void no_timer(void *opaque)
{
}

static bool timer_is_same(void *room)
{
    QEMUTimer *timer = room;

    timer_init_full(timer, NULL, QEMU_CLOCK_REALTIME, SCALE_NS, 0, no_timer,
                    room);
    timer_deinit(timer);
    return timer->cb == no_timer && timer->opaque == room &&
           timer->scale == SCALE_NS;
}

static bool iovec_is_same(void *room)
{
    QEMUIOVector *iov = room;
    bool same;

    qemu_iovec_init(iov, 3);
    same = iov->niov == 0 && iov->nalloc == 3 && iov->size == 0;
    qemu_iovec_destroy(iov);
    return same;
}

static bool event_is_same(void *room)
{
    EventNotifier *event = room;
    bool same = event_notifier_init(event, 0) == 0 && event->initialized;

    event_notifier_cleanup(event);
    return same;
}

static bool mutex_is_same(void *room)
{
    QemuMutex *mutex = room;
    bool same;

    qemu_mutex_init(mutex);
    same = mutex->initialized;
    qemu_mutex_destroy(mutex);
    return same;
}

static const struct {
    const char *name;
    size_t end; /* of the last member */
    bool (*is_same)(void *room);
} structures[] = {
    {"QEMUTimer", endof(QEMUTimer, scale), timer_is_same},
    {"QEMUIOVector", endof(QEMUIOVector, size), iovec_is_same},
    {"EventNotifier", endof(EventNotifier, initialized), event_is_same},
    {"QemuMutex", endof(QemuMutex, initialized), mutex_is_same},
};

static bool same_structures(void)
{
    g_autofree uint8_t *room = g_malloc(ROOM);

    for (unsigned i = 0; i < G_N_ELEMENTS(structures); i++) {
        memset(room, UNTOUCHED, ROOM);
        if (!structures[i].is_same(room) ||
            touched(room) != structures[i].end) {
            return differs(structures[i].name);
        }
    }
    return true;
}

/*
 * The size of an instance of `type` in this QEMU, which clears as much before
 * it initialises an object.
 */
static size_t instance_size(const char *type)
{
    g_autofree uint8_t *room = g_malloc(ROOM);
    size_t size;

    memset(room, UNTOUCHED, ROOM);
    object_initialize(room, ROOM, type);
    size = touched(room);
    object_unref(OBJECT(room));
    return size;
}

static void init_probe_class(ObjectClass *klass, VssdClassData data)
{
    DEVICE_CLASS(klass)->user_creatable = false;
}

static bool same_objects(void)
{
    static InterfaceInfo express[] = {{INTERFACE_PCIE_DEVICE}, {}};
    /* pci-device is abstract; this has its size. */
    static const TypeInfo probe = {
        .name = "vssd-size-of-pci-device",
        .parent = TYPE_PCI_DEVICE,
        .class_init = init_probe_class,
        .interfaces = express,
    };

    type_register_static(&probe);
    if (instance_size(probe.name) != sizeof(PCIDevice)) {
        return differs("PCIDevice");
    }
    if (instance_size(TYPE_MEMORY_REGION) != sizeof(MemoryRegion)) {
        return differs("MemoryRegion");
    }
    return true;
}

/* Members of a class, of the port that every machine with PCI Express has. */
static bool same_class(void)
{
    ObjectClass *port = object_class_by_name("pcie-root-port");
    const PCIDeviceClass *pc = port ? PCI_DEVICE_CLASS(port) : NULL;

    if (pc && (pc->vendor_id != PCI_VENDOR_ID_REDHAT ||
               pc->device_id != PCI_DEVICE_ID_REDHAT_PCIE_RP)) {
        return differs("PCIDeviceClass");
    }
    return true;
}

/*
 * The patterns of -trace, which QEMU has applied before there were our events.
 * They are not kept anywhere but on the command line.
 */
static void trace_as_asked(void)
{
    g_autofree char *line = NULL;
    size_t bytes;

    if (!g_file_get_contents("/proc/self/cmdline", &line, &bytes, NULL)) {
        return;
    }
    for (const char *arg = line; arg < line + bytes; arg += strlen(arg) + 1) {
        if (g_str_equal(arg, "-trace") || g_str_equal(arg, "--trace")) {
            const char *value = arg + strlen(arg) + 1;
            g_auto(GStrv) parts = g_strsplit(value, ",", 2);
            const char *pattern = parts[0];

            pattern += g_str_has_prefix(pattern, "enable=") ? 7 : 0;
            if (g_str_has_prefix(pattern, "vssd_")) {
                trace_enable_events(pattern);
            }
        }
    }
}

/* Register types and trace events, if they are for this emulator. */
static bool register_device(void)
{
    static enum { NOT_COMPARED, FITS, REFUSED } emulator;

    if (emulator == NOT_COMPARED) {
        emulator = same_version() && same_objects() && same_class() &&
                           same_structures()
                       ? FITS
                       : REFUSED;
        if (emulator == FITS) {
            run_inits(MODULE_INIT_TRACE);
            run_inits(MODULE_INIT_QOM);
        }
    }
    return emulator == FITS;
}

static void register_preloaded(void)
{
    register_device();
}

#undef register_module_init
void register_module_init(void (*init)(void),
                          module_init_type type); /* QEMU's */

/*
 * A preloaded object is there before QEMU looks for what to initialise.  What
 * QEMU calls for migration follows its own types, which are compared, and
 * comes before its options.
 */
static void __attribute__((constructor(65535))) hand_on(void)
{
    if (!object_class_by_name(TYPE_PCI_DEVICE)) {
        register_module_init(register_preloaded, MODULE_INIT_MIGRATION);
    } /* else QEMU runs: qemu_plugin_install() follows */
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info, int argc,
                                           char **argv)
{
    if (argc) {
        error_report("vssd-qemu.so has no argument %s", argv[0]);
        return 1;
    }
    if (!register_device()) {
        return 1;
    }
    trace_as_asked();
    return 0;
}
