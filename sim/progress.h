/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - a line on the terminal that says how far a long stage is.
 *
 * The line appears after two seconds and only if stderr is a terminal.  Whoever
 * does the work counts; whoever starts it begins and ends the stage.
 */
#ifndef VSSD_SIM_PROGRESS_H
#define VSSD_SIM_PROGRESS_H

#include <stdint.h>

typedef struct Progress {
    const char *stage;
    const char *things; /* that are counted */
    uint64_t n;
    uint64_t total;   /* expected; 0: unknown */
    uint64_t next;    /* the n at which the clock is read again */
    int64_t begun_us; /* wall clock */
    int64_t shown_us; /* 0: no line is on the terminal */
} Progress;

/* Count from 0.  The strings must outlive the stage. */
void progress_begin(Progress *p, const char *stage, const char *things);

/* So many more will be counted, as far as is known.  p NULL: nobody wants to
 * know. */
static inline void progress_expect(Progress *p, uint64_t n)
{
    if (p) {
        p->total += n;
    }
}

/* The line after so many seconds, above 0: count, rate, and the time that is
 * left if a total was expected.  The caller frees it. */
char *progress_text(const Progress *p, double seconds);

/* Remove the line. */
void progress_end(Progress *p);

void progress_show(Progress *p); /* of progress_add() */

/* So many more are done.  p NULL: nobody wants to know. */
static inline void progress_add(Progress *p, uint64_t n)
{
    if (p && (p->n += n) >= p->next) {
        progress_show(p);
    }
}

#endif
