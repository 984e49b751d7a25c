/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.c - statistics as QOM properties, and for query-blockstats.
 *
 *   qom-get  PATH stats                one JSON object, docs/results.md
 *   qom-get  PATH stats-text           the same as text, at a fraction of the
 *                                      cost: no object of QMP for each member
 *   qom-get  PATH histograms           latencies, as a log of HdrHistogram
 *   qom-set  PATH reset-stats true     forget latencies and counters
 *
 * The model and the controller write JSON text; "stats" makes QMP objects of
 * it. query-blockstats counts the guest's commands, as with other disks; their
 * requests at the block node are in the statistics above.
 */
#include "qemu/osdep.h"
#include "block/accounting.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qobject/qobject.h"
#include "qobject/qjson.h"
#include "system/block-backend.h"

#include "json.h"
#include "ssd-report.h"
#include "vssd.h"

void vssd_account(VssdDev *s, const NvmeTrace *t)
{
    g_assert(vssd_has_lock(s));
    static const enum BlockAcctType type_of[] = {
        [NVME_WORK_NONE] = BLOCK_ACCT_NONE,
        [NVME_WORK_READ] = BLOCK_ACCT_READ,
        [NVME_WORK_WRITE] = BLOCK_ACCT_WRITE,
        [NVME_WORK_FLUSH] = BLOCK_ACCT_FLUSH,
        [NVME_WORK_TRIM] = BLOCK_ACCT_UNMAP,
    };
    unsigned i = t->nsid - 1 < s->store.images.n ? t->nsid - 1 : 0;
    BlockAcctStats *stats = blk_get_stats(s->store.blk[i]);
    enum BlockAcctType type = type_of[t->work];
    BlockAcctCookie cookie;

    if (type == BLOCK_ACCT_NONE) {
        return;
    }
    if (t->refused) {
        block_acct_invalid(stats, type);
        return;
    }
    block_acct_start(stats, &cookie, t->bytes, type);
    cookie.start_time_ns -= s->clock.now_ns - t->fetch_ns;
    if (t->status) {
        block_acct_failed(stats, &cookie);
    } else {
        block_acct_done(stats, &cookie);
    }
}

static char *get_stats_text(Object *obj, Error **errp)
{
    VssdDev *s = VSSD(obj);
    g_autoptr(GString) text = g_string_sized_new(16384);
    JsonWriter w = {.out = text};

    if (!vssd_lock_for(s, "statistics", errp)) {
        return NULL;
    }
    nvme_drive_stats_json(s->ctrl, &w);
    vssd_unlock(s);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void get_stats(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    g_autofree char *text = get_stats_text(obj, errp);

    if (text) {
        vssd_visit_json(text, v, name, errp);
    }
}

static char *get_histograms(Object *obj, Error **errp)
{
    VssdDev *s = VSSD(obj);
    g_autoptr(GString) out = g_string_new(NULL);

    if (!vssd_lock_for(s, "histograms", errp)) {
        return NULL;
    }
    ssd_latency_log(s->ssd, out);
    vssd_unlock(s);
    return g_strdup(out->str);
}

static void reset_stats(Object *obj, bool value, Error **errp)
{
    VssdDev *s = VSSD(obj);

    if (!DEVICE(s)->realized) {
        error_setg(errp, "vssd: no statistics before the device is realized");
        return;
    }
    if (value && vssd_lock(s)) {
        ssd_reset_stats(s->ssd);
        nvme_reset_stats(s->ctrl);
        vssd_unlock(s);
    }
}

void vssd_stats_class_init(ObjectClass *klass)
{
    object_class_property_add(klass, "stats", "any", get_stats, NULL, NULL,
                              NULL);
    object_class_property_set_description(klass, "stats",
                                          "statistics of the drive");
    object_class_property_add_str(klass, "stats-text", get_stats_text, NULL);
    object_class_property_set_description(
        klass, "stats-text", "statistics of the drive, as JSON text");
    object_class_property_add_str(klass, "histograms", get_histograms, NULL);
    object_class_property_set_description(
        klass, "histograms", "latencies, as a log of HdrHistogram");
    object_class_property_add_bool(klass, "reset-stats", NULL, reset_stats);
    object_class_property_set_description(
        klass, "reset-stats", "set to true: forget latencies and counters");
}
