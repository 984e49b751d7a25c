/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * running.c - options that change while the drive runs, and the gate.
 *
 * Knows which options may change (OptDesc.running), and that all of them must
 * fit together.  What follows from an option is its component's business
 * (Component.options_changed).
 */
#include "component.h"
#include "settle.h"
#include "ssd-config.h"
#include "ssd-internal.h"
#include "ssd-running.h"
#include "ssd-setup.h"

#define refuse(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

void ssd_set_gate(Ssd *ssd, SsdGateFn *pass, void *opaque)
{
    ssd->inspect.gate.pass = pass;
    ssd->inspect.gate.opaque = opaque;
}

/* ---- options ------------------------------------------------------------- */

static const OptDesc *find_option(const char *key)
{
    const OptDesc *d = opt_find(nand_options, nand_n_options, key);

    return d ? d : opt_find(ssd_options, ssd_n_options, key);
}

static bool is_known(const char *key, GError **error)
{
    return find_option(key) ||
           opt_fail(error, OPT_ERROR_UNKNOWN,
                    "%s: no such option (docs/options.md lists them)", key);
}

/* Does the drive let anything change now? */
static bool may_change(const Ssd *ssd, const char *key, GError **error)
{
    if (!is_known(key, error)) {
        return false;
    }
    if (!find_option(key)->running) {
        return refuse(error,
                      "%s: does not change while the drive runs; set it at "
                      "the start (docs/watch.md lists those that do)",
                      key);
    }
    if (!ssd_ready(ssd)) {
        return refuse(error, "%s: the drive is off, or recovers", key);
    }
    return (!ssd->inspect.log && !ssd->inspect.recording) ||
           refuse(error,
                  "%s: an operation log or a trace is being written, which "
                  "names the options once",
                  key);
}

static bool set_in(SsdConfig *cfg, const char *key, const char *value,
                   GError **error)
{
    bool is_nand = opt_find(nand_options, nand_n_options, key) != NULL;

    return opt_set(is_nand ? (void *)&cfg->nand : (void *)cfg, find_option(key),
                   value, error);
}

/* Does the value go together with the other options? */
static bool fits(const Ssd *ssd, const char *key, const char *value,
                 GError **error)
{
    SsdConfig *cfg = ssd_config_copy(ssd->cfg);
    bool ok = set_in(cfg, key, value, error) && ssd_config_check(cfg, error);

    ssd_config_free(cfg);
    return ok;
}

bool ssd_set_option(Ssd *ssd, const char *key, const char *value,
                    GError **error)
{
    SsdConfig *before;

    invariant(ssd->work.any == 0);
    if (!may_change(ssd, key, error) || !fits(ssd, key, value, error)) {
        return false;
    }
    before = ssd_config_copy(ssd->cfg);
    set_in(ssd->cfg, key, value, NULL);
    ssd_layout(ssd->cfg, &ssd->l, NULL); /* but for marks, as it was */
    components_options_changed(ssd, before);
    ssd_config_free(before);
    ssd_settle(ssd);
    return true;
}

char *ssd_get_option(const Ssd *ssd, const char *key, GError **error)
{
    return is_known(key, error) ? ssd_config_get(ssd->cfg, key) : NULL;
}

static void table_json(const void *base, const OptDesc *table, size_t n,
                       JsonWriter *w)
{
    for (size_t i = 0; i < n; i++) {
        g_autofree char *value = NULL;
        g_autofree char *range = NULL;

        if (!table[i].running) {
            continue;
        }
        value = opt_get(base, &table[i]);
        range = opt_range(&table[i]);
        json_open(w, table[i].key, '{');
        json_string(w, "value", value);
        json_string(w, "range", range);
        json_string(w, "help", table[i].help);
        json_close(w, '}');
    }
}

void ssd_running_options_json(const Ssd *ssd, JsonWriter *w, const char *name)
{
    json_open(w, name, '{');
    table_json(&ssd->cfg->nand, nand_options, nand_n_options, w);
    table_json(ssd->cfg, ssd_options, ssd_n_options, w);
    json_close(w, '}');
}
