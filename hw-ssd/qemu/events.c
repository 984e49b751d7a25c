/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.c - events of QMP that the device sends (docs/qemu-device.md).
 *
 * The events are not in QEMU's schema, so query-qmp-schema does not list them.
 * Their rate is bounded here: a rule that fires again and again tells of its
 * 1st, 2nd, 4th, 8th time and so on.
 */
#include "qemu/osdep.h"
#include "qapi/qapi-emit-events.h"
#include "qapi/qmp-event.h"
#include "qobject/qdict.h"
#include "qom/object.h"

#include "vssd.h"

static QDict *data_of(VssdFunction *f)
{
    QDict *data = qdict_new();
    g_autofree char *path = object_get_canonical_path(OBJECT(f));

    if (DEVICE(f)->id) {
        qdict_put_str(data, "device", DEVICE(f)->id);
    }
    qdict_put_str(data, "path", path ? path : "");
    return data;
}

/* Takes data.  QEMU looks the number of an event up for its rate limit alone,
 * and has none for that of RESUME. */
static void emit(const char *name, QDict *data)
{
    QDict *event = qmp_event_build_dict(name);

    qdict_put(event, "data", data);
    qapi_event_emit(QAPI_EVENT_RESUME, event);
    qobject_unref(event);
}

void vssd_event_power(VssdFunction *f, bool on)
{
    QDict *data = data_of(f);

    qdict_put_bool(data, "on", on);
    emit("VSSD_POWER", data);
}

void vssd_event_notify(void *opaque, NvmeTell what, uint64_t number,
                       uint64_t count)
{
    static const struct {
        const char *name;
        const char *number; /* name of the member, or NULL */
    } event[] = {
        [NVME_TELL_READ_ONLY] = {"VSSD_READ_ONLY", NULL},
        [NVME_TELL_FATAL] = {"VSSD_FATAL", "controller"},
        [NVME_TELL_RULE] = {"VSSD_FAULT", "rule"},
        [NVME_TELL_NAMESPACE] = {"VSSD_NAMESPACE", "nsid"},
    };
    QDict *data;

    if (what == NVME_TELL_RULE && (count & (count - 1))) {
        return;
    }
    data = data_of(opaque);
    if (event[what].number) {
        qdict_put_int(data, event[what].number, number);
    }
    if (what == NVME_TELL_RULE) {
        qdict_put_int(data, "fired", count);
    }
    emit(event[what].name, data);
}
