/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * running.c - options that change while the machine runs (ssd-running.h).
 *
 *   qom-set  PATH set-option KEY=VALUE
 *   qom-get  PATH running-options       those that may, with value and range
 *
 * Knows properties and the lock; the drive knows options.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"

#include "json.h"
#include "ssd-running.h"
#include "vssd.h"

static void set_option(Object *obj, const char *text, Error **errp)
{
    VssdDev *s = VSSD(obj);
    g_auto(GStrv) part = g_strsplit(text, "=", 2);
    g_autoptr(GError) error = NULL;

    if (g_strv_length(part) != 2) {
        error_setg(errp, "vssd: set-option=%s: not KEY=VALUE", text);
        return;
    }
    if (!vssd_lock_for(s, "options", errp)) {
        return;
    }
    if (!ssd_set_option(s->ssd, part[0], part[1], &error)) {
        error_setg(errp, "vssd: %s", error->message);
    }
    vssd_run_later(s);
    vssd_unlock(s);
}

static void get_options(Object *obj, Visitor *v, const char *name, void *opaque,
                        Error **errp)
{
    VssdDev *s = VSSD(obj);
    g_autoptr(GString) text = g_string_new(NULL);
    JsonWriter w = {.out = text};

    if (!vssd_lock_for(s, "options", errp)) {
        return;
    }
    ssd_running_options_json(s->ssd, &w, NULL);
    vssd_unlock(s);
    vssd_visit_json(text->str, v, name, errp);
}

void vssd_running_class_init(ObjectClass *klass)
{
    object_class_property_add_str(klass, "set-option", NULL, set_option);
    object_class_property_set_description(
        klass, "set-option", "KEY=VALUE: the option has this value now");
    object_class_property_add(klass, "running-options", "any", get_options,
                              NULL, NULL, NULL);
    object_class_property_set_description(klass, "running-options",
                                          "options that set-option may change");
}
