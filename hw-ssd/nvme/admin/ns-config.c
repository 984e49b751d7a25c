/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ns-config.c - the namespaces of a new drive, from text.
 *
 * Knows the grammar; namespace.c makes the namespaces.
 */
#include "nvme-internal.h"
#include "kv/kv-index.h"
#include "namespace/namespace.h"
#include "admin/ns-config.h"
#include "zone/zones.h"

#include <inttypes.h>

#include "options.h"

const char nvme_namespaces_help[] =
    "a number of equal ones (0..256), or a size for each (8G;4G;rest), with "
    ":512 or :4096 for the bytes of a block, which +8, +16 or +64 of metadata, "
    ":pi=1..3, :guard=64, :qualified, :first and :extended may follow; or with "
    ":kv, of key-value pairs; zoned: that of the zones, with "
    "zones.conventional";

static bool refuse(const NvmeCtrl *ctrl, GError **error, const char *why)
{
    const char *text = ctrl->cfg.namespaces;
    bool is_option = text == ssd_info(ctrl->ssd)->namespaces;

    g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, "%snamespaces=%s: %s",
                is_option ? "host." : "", text, why);
    return false;
}

/* The blocks of both kinds have one size, as file systems over both need it. */
static const char *zoned_and_rest(const NvmeCtrl *ctrl)
{
    return ssd_info(ctrl->ssd)->unit_bytes == 4096 ? "zoned;rest:4096"
                                                   : "zoned;rest";
}

bool nvme_ns_choose(NvmeCtrl *ctrl, GError **error)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);

    if (!ctrl->cfg.namespaces) {
        ctrl->cfg.namespaces = info->namespaces;
    }
    if (!ctrl->cfg.namespaces && info->zones.conventional) {
        ctrl->cfg.namespaces = zoned_and_rest(ctrl);
    }
    return !ctrl->cfg.namespaces || !info->zones.n || info->zones.conventional
               ? true
               : refuse(ctrl, error,
                        "with zones.enabled=on it needs zones.conventional");
}

/* "8G" up to *end, by the rules of options.h.  UINT64_MAX: it is too large, or
 * no size. */
static uint64_t parse_bytes(const char *text, char **end)
{
    const OptDesc size = {.key = "", .type = OPT_SIZE, .max = UINT64_MAX};
    size_t len = strcspn(text, ":");
    g_autofree char *word = g_strndup(text, len);
    uint64_t v;

    *end = (char *)text + len;
    return opt_set(&v, &size, word, NULL) ? v : UINT64_MAX;
}

/* LBA format, and how a namespace uses its metadata. */
/* What NvmeConfig says.  false: the drive has no such format. */
static bool form_of_drive(const NvmeCtrl *ctrl, NvmeNsForm *form)
{
    const NvmeConfig *cfg = &ctrl->cfg;
    /* Format 0: the drive's blocks, or larger ones with zones. */
    NvmeProtection like = {
        .meta_bytes = cfg->metadata,
        .guard64 = cfg->pi_guard == 64,
    };
    int i = nvme_ns_find_format(ctrl, nvme_ns_format(ctrl, 0), &like);

    *form = (NvmeNsForm){
        .format = (unsigned)i,
        .extended = cfg->metadata_extended,
        .dps = cfg->pi | (cfg->pi && cfg->pi_first ? 8 : 0),
    };
    return i >= 0;
}

/* "pi=1", "guard=64", "qualified", "first" or "extended". */
static bool parse_word(const char *word, NvmeNsForm *form, NvmeProtection *like)
{
    if (g_str_has_prefix(word, "pi=") && word[3] >= '0' && word[3] <= '3' &&
        !word[4]) {
        form->dps = (form->dps & 8) | (uint8_t)(word[3] - '0');
    } else if (strcmp(word, "guard=64") == 0) {
        like->guard64 = true;
    } else if (strcmp(word, "qualified") == 0) {
        like->qualified = true;
    } else if (strcmp(word, "first") == 0) {
        form->dps |= 8;
    } else if (strcmp(word, "extended") == 0) {
        form->extended = true;
    } else {
        return false;
    }
    return true;
}

/* ":4096", ":4096+16:pi=1" or nothing, up to the end.  false: anything else, or
 * the drive has no such format. */
static bool parse_form(const NvmeCtrl *ctrl, const char *text, NvmeNsForm *form)
{
    g_auto(GStrv) word = NULL;
    NvmeProtection like = {0};
    uint64_t bytes, meta = 0;
    char *end;
    int i;

    if (!*text) {
        return form_of_drive(ctrl, form);
    }
    if (strcmp(text, ":kv") == 0) {
        *form = (NvmeNsForm){.kv = true};
        return true;
    }
    *form = (NvmeNsForm){0};
    word = g_strsplit(text, ":", -1); /* the first is empty */
    bytes = text[0] == ':' ? g_ascii_strtoull(word[1], &end, 10) : 0;
    if (bytes && *end == '+' && g_ascii_isdigit(end[1])) {
        meta = g_ascii_strtoull(end + 1, &end, 10);
    }
    if (!bytes || *end || !g_ascii_isdigit(word[1][0])) {
        return false;
    }
    for (unsigned k = 2; word[k]; k++) {
        if (!parse_word(word[k], form, &like)) {
            return false;
        }
    }
    like.meta_bytes = (uint16_t)MIN(meta, UINT16_MAX);
    i = nvme_ns_find_format(ctrl, (uint32_t)MIN(bytes, UINT32_MAX), &like);
    form->format = (uint8_t)i;
    return i >= 0 && !nvme_ns_check_protection(ctrl, form->format,
                                               form->extended, form->dps);
}

static bool add(NvmeCtrl *ctrl, uint32_t nsid, uint64_t bytes, NvmeNsForm form,
                GError **error)
{
    unsigned format = form.format;
    uint32_t block_bytes = nvme_ns_format(ctrl, format);
    uint64_t nblocks = bytes / block_bytes;
    g_autofree char *why = NULL;
    const NvmeNamespace *ns;

    if (nsid > ctrl->sub->namespaces.n) {
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
            ctrl->sub->namespaces.n_granules * nvme_ns_granule_bytes(ctrl),
            nvme_ns_granule_bytes(ctrl));
        return refuse(ctrl, error, why);
    }
    if (form.kv &&
        (why = g_strdup(nvme_kv_refuses(ctrl, bytes >> ctrl->block_shift)))) {
        return refuse(ctrl, error, why);
    }
    form.nblocks = nblocks;
    form.shared = nvme_is_multi(ctrl);
    ns = nvme_ns_create(ctrl, nsid, &form);
    nvme_ns_attach(ctrl, ns, true);
    return true;
}

/* With zones.conventional: all zones. */
static bool add_zoned(NvmeCtrl *ctrl, uint32_t nsid, GError **error)
{
    NvmeNsForm form = {.zoned = true, .shared = nvme_is_multi(ctrl)};
    const NvmeNamespace *ns;

    if (!nvme_has_both(ctrl)) {
        return refuse(ctrl, error, "zoned needs zones.conventional");
    }
    if (ctrl->sub->namespaces.zoned) {
        return refuse(ctrl, error, "there is one set of zones");
    }
    form.format = (uint8_t)nvme_ns_zoned_format(ctrl);
    ns = nvme_ns_create(ctrl, nsid, &form);
    nvme_zones_give(ctrl, ns);
    nvme_ns_attach(ctrl, ns, true);
    return true;
}

/* zoned, 8G:4096 or rest. */
static bool add_one(NvmeCtrl *ctrl, uint32_t nsid, const char *text,
                    GError **error)
{
    const NvmeProtection none = {0};
    uint64_t bytes;
    NvmeNsForm form;
    char *end;

    if (strcmp(text, "zoned") == 0) {
        return nsid <= ctrl->sub->namespaces.n
                   ? add_zoned(ctrl, nsid, error)
                   : refuse(ctrl, error, "allowed are at most 256");
    }
    if (g_str_has_prefix(text, "rest")) {
        bytes = nvme_ns_count(ctrl, NVME_GRANULE_FREE) *
                nvme_ns_granule_bytes(ctrl);
        end = (char *)text + strlen("rest");
    } else {
        bytes = parse_bytes(text, &end);
    }
    if (bytes == UINT64_MAX || !parse_form(ctrl, end, &form)) {
        g_autofree char *why =
            g_strdup_printf("allowed are %s%s%s", nvme_namespaces_help,
                            nvme_ns_find_format(ctrl, 4096, &none) > 0
                                ? ""
                                : "; this drive has one size of blocks",
                            ctrl->cfg.metadata ? "" : "; metadata= is 0");

        return refuse(ctrl, error, why);
    }
    return add(ctrl, nsid, bytes, form, error);
}

/* true: the text is a number of equal namespaces, which are *n. */
static bool parse_number(const char *text, uint64_t *n, const char **rest)
{
    char *end;

    *n = g_ascii_strtoull(text, &end, 10);
    *rest = end;
    return g_ascii_isdigit(*text) && (*end == ':' || !*end);
}

static bool add_equal(NvmeCtrl *ctrl, uint64_t n, NvmeNsForm form,
                      GError **error)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;

    if (n > all->n || n > all->n_granules) {
        g_autofree char *why = g_strdup_printf("allowed 0..%" PRIu32,
                                               MIN(all->n, all->n_granules));

        return refuse(ctrl, error, why);
    }
    for (uint64_t i = 0; i < n; i++) {
        if (!add(ctrl, (uint32_t)i + 1,
                 all->n_granules / n * nvme_ns_granule_bytes(ctrl), form,
                 error)) {
            return false;
        }
    }
    return true;
}

static void make_the_only_one(NvmeCtrl *ctrl, NvmeNsForm form)
{
    const NvmeNamespace *ns;

    form.shared = nvme_is_multi(ctrl);
    ns = nvme_ns_create_only(ctrl, &form);
    nvme_ns_attach(ctrl, ns, true);
    if (ctrl->sub->zones.n > 0) {
        nvme_zones_give(ctrl, ns);
    }
}

bool nvme_ns_configure(NvmeCtrl *ctrl, GError **error)
{
    const char *text = ctrl->cfg.namespaces;
    g_auto(GStrv) part = NULL;
    NvmeNsForm form;
    const char *rest;
    uint64_t n;

    if (!form_of_drive(ctrl, &form)) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "pi_guard=64: allowed with logical_block_size=4096 and "
                    "metadata=16, 64");
        return false;
    }
    if (!text) {
        make_the_only_one(ctrl, form);
        return true;
    }
    if (!ctrl->sub->namespaces.n_granules) {
        return refuse(ctrl, error, "the drive is smaller than a mapping unit");
    }
    if (parse_number(text, &n, &rest) && parse_form(ctrl, rest, &form)) {
        if (form.kv && nvme_has_both(ctrl)) {
            return refuse(ctrl, error, nvme_kv_refuses(ctrl, 0));
        }
        if (form.kv) {
            nvme_ns_allow_kv(ctrl); /* with 0:kv, too */
        }
        return add_equal(ctrl, n, form, error);
    }
    part = g_strsplit_set(text, ";/", -1);
    for (uint32_t i = 0; part[i] || i == 0; i++) {
        if (!add_one(ctrl, i + 1, part[i] ? part[i] : "", error)) {
            return false;
        }
    }
    return true;
}
