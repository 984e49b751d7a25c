/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option-number.c - the number of an option of the command line, in a range. */
#include "option-number.h"

#include <inttypes.h>
#include <string.h>

#include "fields.h"
#include "request.h"

#define OR_EMPTY(text) ((text) ? (text) : "")

/* A bound as a user would type it. */
static void put_bound(GString *out, const OptionNumber *d, uint64_t v)
{
    uint64_t scale = MAX(d->scale, 1);
    size_t end;

    g_string_append_printf(out, "%s%" PRIu64, OR_EMPTY(d->prefix), v / scale);
    if (v % scale) {
        /* The digits behind those of 1. */
        g_autofree char *fraction =
            g_strdup_printf("%" PRIu64, scale + v % scale);

        end = strlen(fraction);
        while (fraction[end - 1] == '0') {
            end--;
        }
        g_string_append_c(out, '.');
        g_string_append_len(out, fraction + 1, (gssize)end - 1);
    }
    g_string_append(out, OR_EMPTY(d->suffix));
}

/* more: what else there is to say, or "". */
static bool refuse(const OptionNumber *d, const char *text, const char *more,
                   GError **error)
{
    g_autoptr(GString) range = g_string_new(NULL);

    put_bound(range, d, d->min);
    g_string_append(range, "..");
    put_bound(range, d, d->max);
    if (d->unit) {
        g_string_append_printf(range, " %s", d->unit);
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "--%s=%s: allowed %s%s",
                d->option, d->value ? d->value : text, range->str, more);
    return false;
}

static bool out_of_range(const OptionNumber *d, const char *text, bool below,
                         GError **error)
{
    g_autoptr(GString) more = g_string_new(NULL);

    g_string_append_printf(more, ", it is %s ", below ? "below" : "above");
    put_bound(more, d, below ? d->min : d->max);
    return refuse(d, text, more->str, error);
}

/* rest: what follows the number, if the text begins with one. */
static bool no_number(const OptionNumber *d, const char *text, bool begins,
                      const char *rest, GError **error)
{
    g_autofree char *more = NULL;

    if (!begins && *text && text[strspn(text, "0123456789")] == '\0') {
        return out_of_range(d, text, false, error); /* 2^64 or more */
    }
    if (text[0] == '-' && g_ascii_isdigit(text[1])) {
        return out_of_range(d, text, true, error);
    }
    if (begins && g_ascii_isalpha(*rest)) {
        more = g_strdup_printf(", without '%s'", rest);
    }
    return refuse(d, text, OR_EMPTY(more), error);
}

bool option_number(const OptionNumber *d, const char *text, uint64_t *out,
                   GError **error)
{
    g_autofree char *given = field_line(text);
    g_autofree char *plain = field_plain(given); /* 1e-3 */
    const char *line = plain ? plain : given;
    size_t prefix = strlen(OR_EMPTY(d->prefix));
    const char *s = line;
    uint64_t v;
    bool begins;

    if (g_ascii_strncasecmp(s, OR_EMPTY(d->prefix), prefix) == 0) {
        s += prefix;
    }
    begins = d->scale ? field_time(&s, d->scale, &v) : field_u64(&s, &v);
    if (!begins || strcmp(s, OR_EMPTY(d->suffix)) != 0) {
        return no_number(d, text, begins, s, error);
    }
    if (v < d->min || v > d->max) {
        return out_of_range(d, text, v < d->min, error);
    }
    *out = v;
    return true;
}
