/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config-report.c - the options of a drive as a table, as text, and those that
 * differ from their defaults as JSON.
 */
#include "outside-config.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-setup.h"

static void document_rows(GString *out, const OptDesc *table, size_t n,
                          bool common)
{
    for (size_t i = 0; i < n; i++) {
        g_autofree char *range = opt_range(&table[i]);

        if (table[i].common != common) {
            continue;
        }
        g_string_append_printf(out, "| `%s` | %s | %s | %s |\n", table[i].key,
                               table[i].def ? table[i].def : "0", range,
                               table[i].help);
    }
}

static void document_table(GString *out, const char *title, bool common)
{
    g_string_append_printf(out,
                           "## %s\n\n"
                           "| option | default | allowed | meaning |\n"
                           "|---|---|---|---|\n",
                           title);
    document_rows(out, ssd_options, ssd_n_options, common);
    document_rows(out, nand_options, nand_n_options, common);
}

void ssd_config_document(GString *out)
{
    document_table(out, "Common options", true);
    g_string_append_c(out, '\n');
    document_table(out, "Expert options", false);
}

static char *value_of(const void *base, const OptDesc *table, const OptDesc *d)
{
    return table == ssd_options ? outside_get(base, d) : opt_get(base, d);
}

static void print_table(GString *out, const void *base, const OptDesc *table,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        g_autofree char *value = value_of(base, table, &table[i]);

        g_string_append(out, table[i].key);
        g_string_append_c(out, '=');
        g_string_append(out, value);
        g_string_append_c(out, '\n');
    }
}

void ssd_config_print(const SsdConfig *cfg, GString *out)
{
    print_table(out, cfg, ssd_options, ssd_n_options);
    print_table(out, &cfg->nand, nand_options, nand_n_options);
}

/* ---- JSON ---------------------------------------------------------------- */

static void write_option(const void *base, const OptDesc *d, const char *value,
                         JsonWriter *w)
{
    const uint8_t *at = (const uint8_t *)base + d->offset;

    switch (d->type) {
    case OPT_U32:
        if (opt_name_of(d, *(const uint32_t *)at)) {
            json_string(w, d->key, value);
        } else {
            json_u64(w, d->key, *(const uint32_t *)at);
        }
        break;
    case OPT_U64:
        json_u64(w, d->key, *(const uint64_t *)at);
        break;
    case OPT_DOUBLE:
        json_double(w, d->key, *(const double *)at);
        break;
    case OPT_BOOL:
        json_bool(w, d->key, *(const bool *)at);
        break;
    default:
        json_string(w, d->key, value);
    }
}

static void write_changed(const void *base, const void *defaults,
                          const OptDesc *table, size_t n, JsonWriter *w)
{
    for (size_t i = 0; i < n; i++) {
        g_autofree char *value = value_of(base, table, &table[i]);
        g_autofree char *def = opt_get(defaults, &table[i]);

        if (g_strcmp0(value, def) != 0) {
            write_option(base, &table[i], value, w);
        }
    }
}

void ssd_options_json(const Ssd *ssd, JsonWriter *w)
{
    SsdConfig *defaults = ssd_config_new();

    write_changed(ssd->cfg, defaults, ssd_options, ssd_n_options, w);
    write_changed(&ssd->cfg->nand, &defaults->nand, nand_options,
                  nand_n_options, w);
    ssd_config_free(defaults);
}
