/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-options.c - the table of nvme-options.h: defaults, ranges, and options
 * that exclude each other.
 *
 * Knows names and values; what a value leads to is the controller's business.
 */
#include "nvme-options.h"

#include <string.h>

static bool nvme_text_ok(const char *name, const char *text, const char *a,
                         const char *b, GError **error)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 ||
           opt_fail(error, OPT_ERROR_VALUE, "%s=%s: allowed %s, %s", name, text,
                    a, b);
}

bool nvme_pi_at_ok(const char *text, GError **error)
{
    return nvme_text_ok("pi_at", text, "first", "last", error);
}

bool nvme_metadata_at_ok(const char *text, GError **error)
{
    return nvme_text_ok("metadata_at", text, "separate", "extended", error);
}

#define ROW(kind, ctype, name, least, most, start, ...)                        \
    OPT_ROW(NvmeOptions, kind, ctype, name, #name, least, most, NULL, NULL,    \
            __VA_ARGS__)

const OptDesc nvme_options[] = {NVME_OPTIONS(ROW) NVME_ATOMIC_OPTIONS(ROW)};
const unsigned nvme_n_options = G_N_ELEMENTS(nvme_options);

void nvme_options_init(NvmeOptions *o)
{
#define DEFAULT(kind, ctype, name, least, most, start, ...) .name = (start),
    *o = (NvmeOptions){NVME_OPTIONS(DEFAULT) NVME_ATOMIC_OPTIONS(DEFAULT)};
#undef DEFAULT
}

/* A value that came past opt_set(), as QEMU's properties do. */
static bool in_range(const NvmeOptions *o, const OptDesc *d, GError **error)
{
    const void *field = (const char *)o + d->offset;
    NvmeOptions copy = *o;
    g_autofree char *text = NULL;
    bool ok;

    if (d->type == OPT_STRING) {
        const char *value = *(char *const *)field;

        return !value || !d->check || d->check(value, error);
    }
    text = opt_get(o, d);
    ok = opt_set(&copy, d, text, error);
    return ok;
}

static bool excludes(const char *a, bool has_a, const char *b, bool has_b,
                     const char *why, GError **error)
{
    return !has_a || !has_b ||
           opt_fail(error, OPT_ERROR_COMBINATION,
                    "%s= does not go with %s=: %s", a, b, why);
}

static bool files_agree(const NvmeOptions *o, bool has_pmr, GError **error)
{
    static const char all[] = "it must tell all from the beginning";
    static const char parts[] =
        "a trace does not say where the parts of a command are";

    return excludes("oplog", o->oplog, "state", o->state, all, error) &&
           excludes("trace", o->trace, "state", o->state, all, error) &&
           excludes("durable_log", o->durable_log, "state", o->state, all,
                    error) &&
           excludes("durable_log", o->durable_log, "metadata", o->metadata,
                    "it has no metadata", error) &&
           excludes("trace", o->trace, "cmb", o->cmb, parts, error) &&
           excludes("trace", o->trace, "pmr", has_pmr, parts, error) &&
           excludes("trace", o->trace, "metadata", o->metadata,
                    "a trace knows no metadata", error);
}

bool nvme_options_ok(const NvmeOptions *o, bool has_pmr, GError **error)
{
    for (unsigned i = 0; i < nvme_n_options; i++) {
        if (!in_range(o, &nvme_options[i], error)) {
            return false;
        }
    }
    return files_agree(o, has_pmr, error);
}

/* NvmeConfig has each value + 1; what is not given is 0. */
static uint32_t atomic_value(uint32_t given)
{
    return given == NVME_ATOMIC_DEFAULT ? 0 : given + 1;
}

static NvmeAtomic atomic_config(const NvmeAtomic *given)
{
    return (NvmeAtomic){
        .awun = atomic_value(given->awun),
        .awupf = atomic_value(given->awupf),
        .nawun = atomic_value(given->nawun),
        .nawupf = atomic_value(given->nawupf),
        .nabsn = atomic_value(given->nabsn),
        .nabspf = atomic_value(given->nabspf),
        .nabo = atomic_value(given->nabo),
        .dn = given->dn,
    };
}

NvmeConfig nvme_options_config(const NvmeOptions *o)
{
    return (NvmeConfig){
        .serial = o->serial,
        .model = o->model ? o->model : "vssd virtual SSD",
        .firmware = "vssd0.1",
        .n_queues = o->num_queues,
        .n_vectors = o->num_vectors ? o->num_vectors : o->num_queues + 1,
        .queue_size = o->queue_size,
        .mdts = o->mdts,
        .eui64 = o->eui64,
        .firmware_slots = o->fw_slots,
        .firmware_slot1_writable = !o->fw_slot1_read_only,
        .firmware_activation_ms = o->fw_activation_ms,
        .sgl = o->sgl,
        .cmb_bytes = o->cmb,
        .cmb_uses = o->cmb_uses,
        .cmb_legacy = o->legacy_cmb,
        .metadata = o->metadata,
        .pi = o->pi,
        .pi_first = o->pi_at && strcmp(o->pi_at, "first") == 0,
        .metadata_extended =
            o->metadata_at && strcmp(o->metadata_at, "extended") == 0,
        .pi_guard = o->pi_guard,
        .pi_storage_bits = o->pi_sts,
        .atomic = atomic_config(&o->atomic),
        .dsm_hints = o->dsm_hints,
        .no_nodas = !o->sanitize_nodas,
        .namespaces = o->namespaces,
        .kv_cache = o->kv_cache,
        .backlog = o->backlog,
        .controllers = o->controllers,
    };
}

bool nvme_options_timeline(const NvmeOptions *o, SsdTimelineOptions *t,
                           GError **error)
{
    const char *const values[SSD_TIMELINE_OPTIONS] = {
        o->timeline_from, o->timeline_for, o->timeline_size};

    opt_set_defaults(t, ssd_timeline_options, SSD_TIMELINE_OPTIONS);
    for (unsigned i = 0; i < SSD_TIMELINE_OPTIONS; i++) {
        const OptDesc *d = &ssd_timeline_options[i];

        if (values[i] && !o->timeline) {
            return opt_fail(error, OPT_ERROR_COMBINATION,
                            "%s=%s: needs timeline=", d->key, values[i]);
        }
        if (values[i] && !opt_set(t, d, values[i], error)) {
            return false;
        }
    }
    return true;
}
