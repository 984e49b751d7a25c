/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * printable.c - text of others in a message for a terminal.
 *
 * A name in a state file, a line of a trace or an argument may hold sequences
 * that a terminal obeys.
 */
#include "printable.h"

#include <glib.h>
#include <string.h>

/* The bytes of the first character that may be shown; 0: it may not. */
static size_t shown_bytes(const char *text)
{
    gunichar c = g_utf8_get_char_validated(text, -1);

    if (c == (gunichar)-1 || c == (gunichar)-2 ||
        (c != '\t' && g_unichar_iscntrl(c))) {
        return 0;
    }
    return (size_t)(g_utf8_next_char(text) - text);
}

char *printable(const char *text)
{
    GString *out = g_string_sized_new(strlen(text));

    while (*text) {
        size_t n = shown_bytes(text);

        if (n) {
            g_string_append_len(out, text, (gssize)n);
            text += n;
        } else {
            g_string_append_printf(out, "\\x%02x", (unsigned char)*text++);
        }
    }
    return g_string_free(out, FALSE);
}
