/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outside-config.c - see outside-config.h.
 *
 * With a policy from outside, the option's own number is that of a listed
 * policy of the same abilities: checks of the configuration ask that one.
 */
#include "outside-config.h"
#include "outside.h"
#include "ssd-setup.h"

#include <string.h>

typedef struct Kind {
    size_t offset; /* of the option in SsdConfig */
    const char *(*name_at)(unsigned i);
    const char *like; /* the listed policy; NULL: the first one */
} Kind;

static const Kind kinds[VSSD_POLICY_KINDS] = {
    [VSSD_POLICY_GC] = {offsetof(SsdConfig, gc), ssd_gc_name, "fifo"},
    [VSSD_POLICY_ALLOC] = {offsetof(SsdConfig, alloc), ssd_alloc_name,
                           "static"},
    [VSSD_POLICY_BUFFER] = {offsetof(SsdConfig, buffer), ssd_buffer_name,
                            "lru"},
    [VSSD_POLICY_PLACEMENT] = {offsetof(SsdConfig, placement),
                               ssd_placement_name, NULL},
    [VSSD_POLICY_MAP] = {offsetof(SsdConfig, mapper), ssd_map_name, "dftl"},
};

const char *ssd_placement_name(unsigned i)
{
    return i == 0 ? "host" : NULL;
}

/* The kind of the option; VSSD_POLICY_KINDS: none. */
static unsigned kind_of(const OptDesc *d)
{
    unsigned kind = 0;

    while (kind < VSSD_POLICY_KINDS && kinds[kind].offset != d->offset) {
        kind++;
    }
    return kind;
}

static void put(SsdConfig *cfg, unsigned kind, OutsidePolicy *p)
{
    uint32_t *field = (uint32_t *)((char *)cfg + kinds[kind].offset);
    unsigned i = 0;

    while (kinds[kind].like &&
           strcmp(kinds[kind].name_at(i), kinds[kind].like) != 0) {
        i++;
    }
    *field = i;
    outside_unref(cfg->outside[kind]);
    cfg->outside[kind] = p;
}

static bool has_control(const char *text)
{
    for (; *text; text++) {
        if (g_ascii_iscntrl(*text)) {
            return true;
        }
    }
    return false;
}

bool outside_set(SsdConfig *cfg, const OptDesc *d, const char *value,
                 bool *taken, GError **error)
{
    const char *file = g_str_has_prefix(value, "so:") ? value + 3
                       : strchr(value, '/')           ? value
                                                      : NULL;
    unsigned kind = kind_of(d);
    OutsidePolicy *p;

    *taken = false;
    if (kind == VSSD_POLICY_KINDS) {
        return true;
    }
    if (!file) {
        g_clear_pointer(&cfg->outside[kind], outside_unref);
        return true;
    }
    *taken = true;
    if (has_control(file)) {
        return opt_fail(error, OPT_ERROR_VALUE,
                        "%s: a file's name has a control character", d->key);
    }
    p = outside_load(kind, file, error);
    if (!p) {
        g_prefix_error(error, "%s: ", d->key);
        return false;
    }
    put(cfg, kind, p);
    return true;
}

bool ssd_config_set_policy(SsdConfig *cfg, const VssdPolicy *policy,
                           GError **error)
{
    OutsidePolicy *p = outside_wrap(policy, error);

    if (p) {
        put(cfg, policy->kind, p);
    }
    return p != NULL;
}

char *outside_get(const SsdConfig *cfg, const OptDesc *d)
{
    unsigned kind = kind_of(d);

    return kind < VSSD_POLICY_KINDS && cfg->outside[kind]
               ? g_strdup(cfg->outside[kind]->value)
               : opt_get(cfg, d);
}

uint32_t outside_streams(const SsdConfig *cfg)
{
    const OutsidePolicy *p = cfg->outside[VSSD_POLICY_PLACEMENT];

    return p ? p->policy->placement->streams - 1 : 0;
}

void outside_config_copied(SsdConfig *cfg)
{
    for (unsigned i = 0; i < VSSD_POLICY_KINDS; i++) {
        outside_ref(cfg->outside[i]);
    }
}

void outside_config_clear(SsdConfig *cfg)
{
    for (unsigned i = 0; i < VSSD_POLICY_KINDS; i++) {
        g_clear_pointer(&cfg->outside[i], outside_unref);
    }
}
