/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress.c - the clock and the terminal of progress.h. */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>
#include <glib.h>

#include "walltime.h"

#define AFTER_US (2 * G_USEC_PER_SEC)
#define EVERY_US (G_USEC_PER_SEC / 2)
#define EVERY    (1U << 16)

void progress_begin(Progress *p, const char *stage, const char *things)
{
    *p = (Progress){
        .stage = stage,
        .things = things,
        .next = isatty(STDERR_FILENO) ? EVERY : UINT64_MAX,
        .begun_us = wall_us(),
    };
}

void progress_end(Progress *p)
{
    if (p->shown_us) {
        fprintf(stderr, "\r\033[K");
        p->shown_us = 0;
    }
}

/* " 42 %, 13 s left", if the total is known. */
static char *rest_of(const Progress *p, double seconds)
{
    if (p->total <= p->n) {
        return g_strdup("");
    }
    return g_strdup_printf(", %.0f %%, %.0f s left",
                           100.0 * (double)p->n / (double)p->total,
                           seconds * (double)(p->total - p->n) / (double)p->n);
}

char *progress_text(const Progress *p, double seconds)
{
    g_autofree char *rest = rest_of(p, seconds);

    return g_strdup_printf("%s: %.1f million %s, %.3g million/s, %.0f s%s",
                           p->stage, (double)p->n / 1e6, p->things,
                           (double)p->n / 1e6 / seconds, seconds, rest);
}

void progress_show(Progress *p)
{
    int64_t now_us = wall_us();

    p->next = p->n + EVERY;
    if (now_us - p->begun_us > AFTER_US && now_us - p->shown_us > EVERY_US) {
        g_autofree char *text =
            progress_text(p, (double)(now_us - p->begun_us) / G_USEC_PER_SEC);

        p->shown_us = now_us;
        fprintf(stderr, "\r%s\033[K", text);
    }
}
