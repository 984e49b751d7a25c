/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power.c - the drive's power, as the machine sees it go and come back.
 *
 *   qom-set  PATH power-cut MODE   running, reset or stop; docs/power.md
 *   qom-set  PATH powered BOOL     off; or on again, once the slot is off
 *
 * A drive without power answers all ones, in its registers and in configuration
 * space, and takes no writes.  In a hot-plug slot its absence is reported, as
 * by a drive that is pulled out; its return likewise.  Power comes back by
 * itself after power_return_ms, or with a reset of the machine, or when told.
 *
 * slot.c knows slots; the controller and the model know the effect of a cut on
 * data.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci.h"
#include "qapi/error.h"
#include "system/runstate.h"
#include "trace.h"

#include "vssd.h"

/* A guest that has not yet taken leave of the drive is asked again so often. */
#define RETURN_RETRY_MS 100

/* ---- it goes ------------------------------------------------------------ */

static void show_absence(VssdFunction *f)
{
    PCIDevice *port = vssd_slot_of(f);

    g_assert(bql_locked());
    /* In a slot that the guest has switched off it was not to be seen. */
    if (port && qatomic_read(&f->drive->power.off) && PCI_DEVICE(f)->enabled) {
        vssd_slot_set_present(f, port, false);
    }
}

static void show_in_slot(VssdFunction *f)
{
    PCIDevice *port;

    if (qatomic_read(&f->off_bus)) {
        return;
    }
    show_absence(f);
    port = vssd_slot_of(f);
    if (port) {
        vssd_slot_notify(port);
    }
}

/* A notification may unplug functions; they go when all slots are done. */
static void power_bh(void *opaque)
{
    VssdDev *s = opaque;
    VssdFunction *f;

    g_assert(bql_locked());
    s->power.showing = true;
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        show_in_slot(f);
    }
    s->power.showing = false;
}

static void notify_bh(void *opaque)
{
    PCIDevice *port = opaque;

    vssd_slot_notify(port);
    object_unref(OBJECT(port));
}

void vssd_power_show_gone(VssdFunction *f)
{
    PCIDevice *port = vssd_slot_of(f);

    g_assert(bql_locked());
    if (port && PCI_DEVICE(f)->enabled) {
        vssd_slot_set_present(f, port, false);
        aio_bh_schedule_oneshot(qemu_get_aio_context(), notify_bh,
                                object_ref(OBJECT(port)));
    }
}

void vssd_power_lost(VssdFunction *f)
{
    VssdDev *s = f->drive;
    int64_t now_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    g_assert(vssd_has_lock(s));
    trace_vssd_power(f, "lost");
    vssd_event_power(f, false);
    qatomic_set(&s->power.off, true);
    if (s->prop.opt.power_return_ms) {
        timer_mod_ns(s->power.timer,
                     now_ns + (int64_t)s->prop.opt.power_return_ms * SCALE_MS);
    }
    if (bql_locked()) {
        show_absence(f);
    } else {
        qemu_bh_schedule(s->power.bh);
    }
}

/* ---- it comes back ------------------------------------------------------ */

/* With a reset that finds the power off. */
void vssd_power_restore(VssdDev *s)
{
    VssdFunction *f;

    g_assert(bql_locked());
    g_assert(vssd_has_lock(s));
    trace_vssd_power(s, "on");
    vssd_event_power(&s->fn, true);
    timer_del(s->power.timer);
    qatomic_set(&s->power.off, false);
    nvme_power_on(s->ctrl, vssd_now(s));
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        PCIDevice *port = vssd_slot_of(f);

        if (port) {
            vssd_slot_set_present(f, port, true);
        }
    }
}

static void come_back_at(VssdFunction *f)
{
    PCIDevice *pci = PCI_DEVICE(f);
    PCIDevice *port = vssd_slot_of(f);

    if (qatomic_read(&f->off_bus) || qatomic_read(&f->link_down)) {
        return; /* it comes back with its link */
    }
    if (pci->enabled) {
        pci_device_reset(pci); /* the first one switches the drive on */
    } else if (port) {         /* the guest switches the slot on */
        vssd_slot_set_present(f, port, true);
    }
}

/* The machine finds a drive that has just been switched on. */
static void come_back(VssdDev *s)
{
    VssdFunction *f;

    QTAILQ_FOREACH(f, &s->functions, next)
    {
        come_back_at(f);
    }
}

/* Does the guest listen to the slot of a function? */
static bool anybody_listens(VssdDev *s)
{
    VssdFunction *f;

    QTAILQ_FOREACH(f, &s->functions, next)
    {
        PCIDevice *port = vssd_slot_of(f);

        if (port && vssd_slot_is_heard(port)) {
            return true;
        }
    }
    return false;
}

/*
 * A guest that has just switched the slot off looks at presence once more.  If
 * it finds the drive then, Linux switches the slot on, and drops the change of
 * presence that comes afterwards, but not the button: it takes the drive out.
 * So slots that the guest listens to have to be ready twice, RETURN_RETRY_MS
 * apart.
 */
static bool slots_stay_ready(VssdDev *s)
{
    bool before = s->power.slots_were_ready;
    VssdFunction *f;

    s->power.slots_were_ready = true;
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        PCIDevice *port = vssd_slot_of(f);

        s->power.slots_were_ready &= !port || vssd_slot_is_ready(port);
    }
    return s->power.slots_were_ready && (before || !anybody_listens(s));
}

static void return_cb(void *opaque)
{
    VssdDev *s = opaque;

    g_assert(bql_locked());
    if (qatomic_read(&s->fn.off_bus) || !qatomic_read(&s->power.off)) {
        return;
    }
    if (!slots_stay_ready(s)) {
        timer_mod_ns(s->power.timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                                         RETURN_RETRY_MS * SCALE_MS);
        return;
    }
    s->power.slots_were_ready = false;
    come_back(s);
}

static void cut(VssdDev *s)
{
    if (vssd_lock(s)) {
        nvme_power_cut(s->ctrl, vssd_now(s));
        vssd_unlock(s);
    }
}

/* ---- it is pulled out, or a link fails ----------------------------------- */

void vssd_power_loaded(VssdDev *s)
{
    g_assert(vssd_has_lock(s));
    qatomic_set(&s->power.off, !nvme_powered(s->ctrl));
}

void vssd_power_stays(VssdDev *s)
{
    timer_del(s->power.timer);
}

void vssd_power_remove(VssdDev *s, uint64_t for_ns)
{
    g_assert(bql_locked());
    cut(s);
    if (for_ns) {
        timer_mod_ns(s->power.timer,
                     qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + (int64_t)for_ns);
    } else {
        timer_del(s->power.timer);
    }
}

void vssd_power_links_lost(VssdDev *s, uint64_t for_ns)
{
    VssdFunction *f;

    g_assert(bql_locked());
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        if (qatomic_read(&f->link_down) && PCI_DEVICE(f)->enabled) {
            vssd_slot_show_link(f, false);
        }
    }
    if (for_ns) {
        timer_mod_ns(s->power.link_timer,
                     qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + (int64_t)for_ns);
    }
}

static bool links_back(VssdDev *s)
{
    VssdFunction *f;

    if (!slots_stay_ready(s)) {
        return false;
    }
    s->power.slots_were_ready = false;
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        if (qatomic_read(&f->link_down)) {
            trace_vssd_link(f, "up");
            qatomic_set(&f->link_down, false);
            come_back_at(f);
            vssd_slot_show_link(f, true);
        }
    }
    return true;
}

static void link_cb(void *opaque)
{
    VssdDev *s = opaque;

    g_assert(bql_locked());
    if (!links_back(s)) {
        timer_mod_ns(s->power.link_timer,
                     qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                         RETURN_RETRY_MS * SCALE_MS);
    }
}

static void ask_links_back(VssdDev *s)
{
    VssdFunction *f;
    bool down = false;

    QTAILQ_FOREACH(f, &s->functions, next)
    {
        down |= qatomic_read(&f->link_down);
    }
    if (down) {
        link_cb(s);
    }
}

/* ---- properties --------------------------------------------------------- */

static bool may_switch(VssdDev *s, Error **errp)
{
    if (!DEVICE(s)->realized) {
        error_setg(errp, "vssd: no power before the device is realized");
        return false;
    }
    return true;
}

static bool powered_get(Object *obj, Error **errp)
{
    return !qatomic_read(&VSSD(obj)->power.off);
}

static void powered_set(Object *obj, bool on, Error **errp)
{
    VssdDev *s = VSSD(obj);

    if (!may_switch(s, errp)) {
        return;
    }
    if (on) {
        ask_links_back(s);
        s->power.slots_were_ready = false;
        return_cb(s); /* now, or as soon as the guest is ready for it */
        return;
    }
    if (powered_get(obj, NULL)) {
        cut(s);
    }
    timer_del(s->power.timer); /* it stays off */
}

static void power_cut_set(Object *obj, const char *mode, Error **errp)
{
    VssdDev *s = VSSD(obj);

    if (!may_switch(s, errp)) {
        return;
    }
    if (g_str_equal(mode, "running")) {
        cut(s);
    } else if (g_str_equal(mode, "reset")) {
        cut(s);
        timer_del(s->power.timer);
        qemu_system_reset_request(SHUTDOWN_CAUSE_HOST_QMP_SYSTEM_RESET);
    } else if (g_str_equal(mode, "stop")) {
        cut(s);
        timer_del(s->power.timer);
        qemu_system_shutdown_request(SHUTDOWN_CAUSE_HOST_UI);
    } else {
        error_setg(errp, "vssd: power-cut=%s: allowed running, reset, stop",
                   mode);
    }
}

/* ---- life --------------------------------------------------------------- */

void vssd_power_init(VssdDev *s)
{
    s->power.bh = qemu_bh_new(power_bh, s); /* not guarded: see serve.c */
    s->power.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, return_cb, s);
    s->power.link_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, link_cb, s);
}

void vssd_power_stop(VssdDev *s)
{
    g_assert(bql_locked());
    timer_free(s->power.timer);
    s->power.timer = NULL;
    timer_free(s->power.link_timer);
    s->power.link_timer = NULL;
    qemu_bh_delete(s->power.bh);
    s->power.bh = NULL;
}

void vssd_power_class_init(ObjectClass *klass)
{
    object_class_property_add_bool(klass, "powered", powered_get, powered_set);
    object_class_property_set_description(
        klass, "powered", "has the drive power; set to false or true: cut it, "
                          "switch the drive on");
    object_class_property_add_str(klass, "power-cut", NULL, power_cut_set);
    object_class_property_set_description(
        klass, "power-cut", "cut the power and let the machine go on, reset it "
                            "or stop it: running, reset, stop");
}
