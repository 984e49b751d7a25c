/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ns-config.c - the namespaces of a new drive, from text.
 *
 * Knows the grammar; namespace.c makes the namespaces.
 */
#include "nvme-internal.h"
#include "namespace.h"
#include "ns-config.h"

#include <inttypes.h>

#include "options.h"

const char nvme_namespaces_help[] =
    "a number of equal ones (0..256), or a size for each (8G;4G;rest), with "
    ":512 or :4096 for the bytes of a block";

static bool refuse(const NvmeCtrl *ctrl, GError **error, const char *why)
{
    g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, "namespaces=%s: %s",
                ctrl->cfg.namespaces, why);
    return false;
}

/* "8G" up to *end.  UINT64_MAX: it is too large, or no number. */
static uint64_t parse_bytes(const char *text, char **end)
{
    static const char suffixes[] = "KMGT";
    uint64_t v = g_ascii_strtoull(text, end, 10);
    const char *suffix = **end ? strchr(suffixes, **end) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;

    if (!g_ascii_isdigit(*text) || v > UINT64_MAX >> shift) {
        return UINT64_MAX;
    }
    *end += suffix != NULL;
    return v << shift;
}

/* ":4096", or nothing, up to the end.  false: anything else. */
static bool parse_format(const NvmeCtrl *ctrl, const char *text,
                         unsigned *format)
{
    *format = 0;
    if (!*text) {
        return true;
    }
    for (unsigned i = 0; nvme_ns_format(ctrl, i); i++) {
        g_autofree char *name =
            g_strdup_printf(":%" PRIu32, nvme_ns_format(ctrl, i));

        if (strcmp(text, name) == 0) {
            *format = i;
            return true;
        }
    }
    return false;
}

static bool add(NvmeCtrl *ctrl, uint32_t nsid, uint64_t bytes, unsigned format,
                GError **error)
{
    uint32_t block_bytes = nvme_ns_format(ctrl, format);
    uint64_t nblocks = bytes / block_bytes;
    g_autofree char *why = NULL;

    if (nsid > ctrl->namespaces.n) {
        return refuse(ctrl, error, "allowed are at most 256");
    }
    if (!nblocks || bytes % block_bytes) {
        return refuse(ctrl, error, "each has one or more whole blocks");
    }
    if (nvme_ns_granules(ctrl, nblocks, format) >
        nvme_ns_count(ctrl, NVME_GRANULE_FREE)) {
        why = g_strdup_printf(
            "the drive has %" PRIu64 " bytes, in pieces of %" PRIu64
            " that belong to one namespace each",
            ctrl->namespaces.n_granules * nvme_ns_granule_bytes(ctrl),
            nvme_ns_granule_bytes(ctrl));
        return refuse(ctrl, error, why);
    }
    nvme_ns_create(ctrl, nsid, nblocks, format)->attached = true;
    return true;
}

/* 8G:4096 or rest. */
static bool add_one(NvmeCtrl *ctrl, uint32_t nsid, const char *text,
                    GError **error)
{
    uint64_t bytes;
    unsigned format;
    char *end;

    if (g_str_has_prefix(text, "rest")) {
        bytes = nvme_ns_count(ctrl, NVME_GRANULE_FREE) *
                nvme_ns_granule_bytes(ctrl);
        end = (char *)text + strlen("rest");
    } else {
        bytes = parse_bytes(text, &end);
    }
    if (bytes == UINT64_MAX || !parse_format(ctrl, end, &format)) {
        g_autofree char *why = g_strdup_printf(
            "allowed are %s%s", nvme_namespaces_help,
            nvme_ns_format(ctrl, 1) ? ""
                                    : "; this drive has one size of blocks");

        return refuse(ctrl, error, why);
    }
    return add(ctrl, nsid, bytes, format, error);
}

/* true: the text is a number of equal namespaces, which are *n. */
static bool parse_number(const char *text, uint64_t *n, const char **rest)
{
    char *end;

    *n = g_ascii_strtoull(text, &end, 10);
    *rest = end;
    return g_ascii_isdigit(*text) && (*end == ':' || !*end);
}

static bool add_equal(NvmeCtrl *ctrl, uint64_t n, unsigned format,
                      GError **error)
{
    const NvmeNamespaces *all = &ctrl->namespaces;

    if (n > all->n || n > all->n_granules) {
        g_autofree char *why = g_strdup_printf("allowed 0..%" PRIu32,
                                               MIN(all->n, all->n_granules));

        return refuse(ctrl, error, why);
    }
    for (uint64_t i = 0; i < n; i++) {
        if (!add(ctrl, (uint32_t)i + 1,
                 all->n_granules / n * nvme_ns_granule_bytes(ctrl), format,
                 error)) {
            return false;
        }
    }
    return true;
}

static void make_the_only_one(NvmeCtrl *ctrl)
{
    NvmeNamespace *ns = &ctrl->namespaces.table[0];

    ns->exists = true;
    ns->attached = true;
    ns->nblocks = ctrl->cfg.nblocks;
    ns->eui64 = ctrl->cfg.eui64;
    ns->run = UINT64_MAX;
    nvme_ns_set_format(ctrl, ns, 0);
    nvme_ns_set_zones(ctrl, ns);
}

bool nvme_ns_configure(NvmeCtrl *ctrl, GError **error)
{
    const char *text = ctrl->cfg.namespaces;
    g_auto(GStrv) part = NULL;
    unsigned format;
    const char *rest;
    uint64_t n;

    if (!text) {
        make_the_only_one(ctrl);
        return true;
    }
    if (!ctrl->namespaces.n_granules) {
        return refuse(ctrl, error, "the drive is smaller than a mapping unit");
    }
    if (parse_number(text, &n, &rest) && parse_format(ctrl, rest, &format)) {
        return add_equal(ctrl, n, format, error);
    }
    part = g_strsplit(text, ";", -1);
    for (uint32_t i = 0; part[i] || i == 0; i++) {
        if (!add_one(ctrl, i + 1, part[i] ? part[i] : "", error)) {
            return false;
        }
    }
    return true;
}
