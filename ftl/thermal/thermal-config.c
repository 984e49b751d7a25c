/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thermal-config.c - the options of temperature and power states: read, check.
 *
 * Knows the text of power.states; knows nothing of a running drive.
 */
#include "thermal/thermal.h"

#include "options.h"

#define MOST_MW 100000
#define MOST_US 10000000

#define fail(error, ...)  opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)
#define wrong(error, ...) opt_fail(error, OPT_ERROR_VALUE, __VA_ARGS__)

/* A whole number up to most, which all of text is. */
static bool read_number(const char *text, uint64_t most, uint32_t *to)
{
    guint64 v;

    if (!text || !g_ascii_string_to_unsigned(text, 10, 0, most, &v, NULL)) {
        return false;
    }
    *to = (uint32_t)v;
    return true;
}

static bool read_state(const char *text, SsdPowerState *to)
{
    g_auto(GStrv) part = g_strsplit(text, ":", -1);
    unsigned n = g_strv_length(part);

    *to = (SsdPowerState){.idle = n == 4};
    return (n == 3 || (n == 4 && g_strcmp0(part[3], "idle") == 0)) &&
           read_number(part[0], MOST_MW, &to->mw) &&
           read_number(part[1], MOST_US, &to->entry_us) &&
           read_number(part[2], MOST_US, &to->exit_us) && to->mw > 0;
}

bool thermal_states(const char *text, SsdPowerState *to, uint32_t *n,
                    GError **error)
{
    g_auto(GStrv) rows = g_strsplit(text ? text : "", "/", -1);

    *n = 0;
    for (char **r = rows; *r; r++, ++*n) {
        if (*n == SSD_POWER_STATES) {
            return wrong(error, "power.states=%.80s: allowed 1..%u states",
                         text, SSD_POWER_STATES);
        }
        if (!read_state(*r, &to[*n])) {
            return wrong(error,
                         "power.states=%.80s: allowed "
                         "mW:entry_us:exit_us or mW:entry_us:exit_us:idle, "
                         "1..%u mW and 0..%u us (state %u)",
                         text, MOST_MW, MOST_US, *n);
        }
        if (*n > 0 && to[*n].mw > to[*n - 1].mw) {
            return wrong(error,
                         "power.states=%.80s: state %u must not take "
                         "more than state %u",
                         text, *n, *n - 1);
        }
    }
    return (*n == 0 || !to[0].idle) ||
           wrong(error, "power.states=%.80s: state 0 must not be idle", text);
}

static bool check_limits(const SsdConfig *cfg, GError **error)
{
    if (cfg->warning_c >= cfg->critical_c) {
        return fail(error,
                    "thermal.warning=%u: must be below "
                    "thermal.critical=%u",
                    cfg->warning_c, cfg->critical_c);
    }
    if (cfg->throttle1_c && cfg->throttle2_c &&
        cfg->throttle1_c >= cfg->throttle2_c) {
        return fail(error,
                    "thermal.throttle_1=%u: must be below "
                    "thermal.throttle_2=%u",
                    cfg->throttle1_c, cfg->throttle2_c);
    }
    return true;
}

/* Throttling is a share of the link's rate. */
static bool check_throttle(const SsdConfig *cfg, GError **error)
{
    const struct {
        const char *key;
        uint32_t value;
    } rows[] = {
        {"thermal.throttle_1", cfg->throttle1_c},
        {"thermal.throttle_2", cfg->throttle2_c},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (rows[i].value && cfg->resistance < 0.001) {
            return fail(error,
                        "%s=%u: needs thermal.resistance of 0.001 or "
                        "more, without which nothing gets warm",
                        rows[i].key, rows[i].value);
        }
        if (rows[i].value && !cfg->link_mb_s && !cfg->pcie_gen) {
            return fail(error,
                        "%s=%u: needs host.link_mb_s or host.pcie_gen, "
                        "a share of whose rate is left",
                        rows[i].key, rows[i].value);
        }
    }
    return true;
}

static bool check_states(const SsdConfig *cfg, GError **error)
{
    SsdPowerState table[SSD_POWER_STATES];
    uint32_t n;
    bool idle = false;

    if (!thermal_states(cfg->power_states, table, &n, error)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        idle |= table[i].idle;
    }
    return !cfg->idle_after_ps || idle ||
           fail(error,
                "power.idle_after=%lluns: needs an idle state in "
                "power.states",
                cfg->idle_after_ps / PS_PER_NS);
}

bool thermal_check(const SsdConfig *cfg, GError **error)
{
    if (cfg->resistance >= 0.001 && cfg->capacitance < 0.001) {
        return fail(error,
                    "thermal.capacitance=%g: must be 0.001 or more with "
                    "thermal.resistance=%g",
                    cfg->capacitance, cfg->resistance);
    }
    return check_limits(cfg, error) && check_throttle(cfg, error) &&
           check_states(cfg, error);
}
