/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nearest.c - which of several names a misspelt one may mean.
 *
 * A mistake is a character that is missing, superfluous or wrong, or two
 * adjacent ones that are exchanged; upper and lower case are the same.  Long
 * names may have three mistakes, short ones one.  scripts/vssd/nearest.py has
 * the same rule.
 */
#include "nearest.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define LONGEST 64 /* of a name; longer ones are never near */

static size_t allowed(size_t len)
{
    return len < 2 || len > LONGEST ? 0 : len < 6 ? 1 : len < 9 ? 2 : 3;
}

static bool same(char a, char b)
{
    return g_ascii_tolower(a) == g_ascii_tolower(b);
}

/* The number of mistakes; both have at most LONGEST characters. */
static size_t mistakes(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][LONGEST + 1]; /* of the prefix of a: before, last, this */
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= nb; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= na; i++) {
        size_t *spare = before;

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            bool equal = same(a[i - 1], b[j - 1]);

            row[j] = MIN(MIN(last[j], row[j - 1]) + 1, last[j - 1] + !equal);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
                same(a[i - 2], b[j - 1])) {
                row[j] = MIN(row[j], before[j - 2] + 1);
            }
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[nb];
}

Nearest nearest_to(const char *given)
{
    return (Nearest){.given = given, .distance = allowed(strlen(given)) + 1};
}

static void take_name(Nearest *n, const char *name, size_t distance)
{
    if (distance < n->distance) {
        n->name = name;
        n->distance = distance;
    }
}

void nearest_try(Nearest *n, const char *name)
{
    size_t given_len = strlen(n->given);
    size_t len = strlen(name);

    if (given_len <= LONGEST && len <= LONGEST) {
        take_name(n, name, mistakes(n->given, given_len, name, len));
    }
}

/* Behind the section, if there is one. */
static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');

    return dot ? dot + 1 : key;
}

void nearest_try_key(Nearest *n, const char *key)
{
    const char *part = last_part(n->given);

    nearest_try(n, key);
    if (*part && g_ascii_strcasecmp(part, last_part(key)) == 0) {
        take_name(n, key, 1);
    }
}

char *nearest_hint(const Nearest *n, const char *before)
{
    return n->name ? g_strdup_printf("; did you mean %s%s?", before, n->name)
                   : g_strdup("");
}
