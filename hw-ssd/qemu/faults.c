/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults.c - scripted faults at run time, and those that take the drive away
 * (docs/faults.md).
 *
 *   qom-set  PATH fault-add RULE     one rule about commands, interrupts or
 *                                    controllers
 *   qom-get  PATH faults             the rules and their counts
 *   qom-set  PATH fault-remove ID    one of them
 *
 * A link that fails leaves the drive its power.  Its function answers all ones
 * and takes no writes, and a hot-plug slot reports the change of the link's
 * state.  When the link is back the function is as after a reset (PCI Express
 * Base Specification 6.0, 6.6.1, Conventional Reset).
 *
 * Knows properties, threads and functions; power.c knows slots and power, and
 * the controller knows rules.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "trace.h"

#include "json.h"
#include "vssd.h"

/* ---- the drive goes ------------------------------------------------------ */

/* The rest waits for a bottom half, without the lock. */
void vssd_faults_unplug(void *opaque, bool removed, uint64_t for_ns)
{
    VssdFunction *f = opaque;
    VssdDev *s = f->drive;

    g_assert(vssd_has_lock(s));
    if (removed) {
        s->power.remove_asked = true;
        s->power.remove_ns = for_ns;
    } else {
        f->link_asked = true;
        s->power.link_ns = for_ns;
    }
    qemu_bh_schedule(s->power.fault_bh);
}

/* Commands in flight end without a completion. */
static void take_link(VssdFunction *f)
{
    VssdDev *s = f->drive;

    g_assert(bql_locked());
    g_assert(vssd_has_lock(s));
    trace_vssd_link(f, "down");
    qatomic_set(&f->link_down, true);
    if (nvme_powered(f->ctrl)) {
        nvme_reset(f->ctrl, vssd_now(s));
    }
}

/* What was asked for, each once. */
static void fault_bh(void *opaque)
{
    VssdDev *s = opaque;
    bool removed, link = false;
    uint64_t remove_ns;
    VssdFunction *f;

    g_assert(bql_locked());
    if (!vssd_lock(s)) {
        qemu_bh_schedule(
            s->power.fault_bh); /* an event loop in the drive's work */
        return;
    }
    removed = s->power.remove_asked;
    remove_ns = s->power.remove_ns;
    s->power.remove_asked = false;
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        if (f->link_asked && !qatomic_read(&f->off_bus)) {
            take_link(f);
            link = true;
        }
        f->link_asked = false;
    }
    vssd_unlock(s);
    if (link) {
        vssd_power_links_lost(s, s->power.link_ns);
    }
    if (removed) {
        vssd_power_remove(s, remove_ns);
    }
}

/* ---- properties ---------------------------------------------------------- */

static bool faults_begin(VssdDev *s, Error **errp)
{
    return vssd_lock_for(s, "faults", errp);
}

/* A rule may act at once. */
static void faults_end(VssdDev *s, GError *error, Error **errp)
{
    vssd_run_later(s);
    vssd_unlock(s);
    if (error) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
    }
}

static void fault_add(Object *obj, const char *rule, Error **errp)
{
    VssdDev *s = VSSD(obj);
    GError *error = NULL;

    if (faults_begin(s, errp)) {
        nvme_fault_add(s->ctrl, vssd_now(s), rule, &error);
        faults_end(s, error, errp);
    }
}

static void fault_remove(Object *obj, Visitor *v, const char *name,
                         void *opaque, Error **errp)
{
    VssdDev *s = VSSD(obj);
    GError *error = NULL;
    uint32_t id;

    if (visit_type_uint32(v, name, &id, errp) && faults_begin(s, errp)) {
        nvme_fault_remove(s->ctrl, id, &error);
        faults_end(s, error, errp);
    }
}

static void faults_get(Object *obj, Visitor *v, const char *name, void *opaque,
                       Error **errp)
{
    VssdDev *s = VSSD(obj);
    g_autoptr(GString) text = g_string_new(NULL);
    JsonWriter w = {.out = text};

    if (!faults_begin(s, errp)) {
        return;
    }
    nvme_faults_json(s->ctrl, &w, NULL);
    vssd_unlock(s);
    vssd_visit_json(text->str, v, name, errp);
}

/* ---- life ---------------------------------------------------------------- */

void vssd_faults_init(VssdDev *s)
{
    s->power.fault_bh = qemu_bh_new(fault_bh, s); /* not guarded: see serve.c */
}

void vssd_faults_stop(VssdDev *s)
{
    g_assert(bql_locked());
    qemu_bh_delete(s->power.fault_bh);
    s->power.fault_bh = NULL;
}

void vssd_faults_class_init(ObjectClass *klass)
{
    object_class_property_add_str(klass, "fault-add", NULL, fault_add);
    object_class_property_set_description(
        klass, "fault-add", "add one rule of scripted faults, docs/faults.md");
    object_class_property_add(klass, "fault-remove", "uint32", NULL,
                              fault_remove, NULL, NULL);
    object_class_property_set_description(klass, "fault-remove",
                                          "remove the rule of this number");
    object_class_property_add(klass, "faults", "any", faults_get, NULL, NULL,
                              NULL);
    object_class_property_set_description(
        klass, "faults", "rules of scripted faults and their counts");
}
