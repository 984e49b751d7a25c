/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-sample.c - the first lines of a trace, and what a parser says of a line
 * that is no request.
 */
#include "trace.h"

#include <string.h>

#include "fields.h"

/* Lines of the head that are tried when the format is not given; comments and
 * empty lines do not count. */
#define SAMPLE_LINES 32

const char trace_skip[] = "no request";
const char trace_left_out[] = "left out";

GPtrArray *trace_sample(const char *head)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    const char *end;

    for (; lines->len < SAMPLE_LINES && *head; head = end + 1) {
        g_autofree char *text = NULL;

        end = strchr(head, '\n');
        if (!end && lines->len) {
            break; /* it may be cut off by the end of the head */
        }
        text = end ? g_strndup(head, (size_t)(end - head)) : g_strdup(head);
        g_strchomp(text);
        if (!trace_is_blank(text)) {
            char *plain = field_plain(text);

            g_ptr_array_add(lines, plain ? plain : field_line(text));
        }
        if (!end) {
            break;
        }
    }
    return lines;
}

char *trace_first_line(const char *head)
{
    g_autoptr(GPtrArray) lines = trace_sample(head);

    return lines->len ? field_line(lines->pdata[0]) : NULL;
}
