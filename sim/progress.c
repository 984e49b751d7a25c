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
        fprintf(stderr, "\r%60s\r", "");
        p->shown_us = 0;
    }
}

void progress_show(Progress *p)
{
    int64_t now_us = wall_us();

    p->next = p->n + EVERY;
    if (now_us - p->begun_us > AFTER_US && now_us - p->shown_us > EVERY_US) {
        p->shown_us = now_us;
        fprintf(stderr, "\r%s: %.1f million %s, %.0f s", p->stage,
                (double)p->n / 1e6, p->things,
                (double)(now_us - p->begun_us) / G_USEC_PER_SEC);
    }
}
