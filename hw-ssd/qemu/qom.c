/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qom.c - the beginning and the end of a QOM property of the drive.
 *
 * Knows the lock and visitors; knows no property.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qobject/qjson.h"
#include "qobject/qobject.h"

#include "vssd.h"

bool vssd_lock_for(VssdDev *s, const char *what, Error **errp)
{
    if (!DEVICE(s)->realized) {
        error_setg(errp, "vssd: no %s before the device is realized", what);
        return false;
    }
    if (!vssd_lock(s)) {
        error_setg(errp, "vssd: the drive is busy");
        return false;
    }
    return true;
}

void vssd_visit_json(const char *text, Visitor *v, const char *name,
                     Error **errp)
{
    QObject *found = qobject_from_json(text, errp);

    if (found) {
        visit_type_any(v, name, &found, errp);
        qobject_unref(found);
    }
}
