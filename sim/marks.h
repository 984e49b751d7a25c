/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.h - instants of a run to go back to.
 *
 * A mark is a process.  The run forks at the mark: the child goes on, the
 * parent waits, with the drive, the player and the source of requests as they
 * were.  To go back the child ends, and the parent forks another one.  So what
 * follows is exactly what followed before, and a mark takes the memory that has
 * changed since.  The first process stays to the end, with the exit status of
 * the run.
 */
#ifndef VSSD_SIM_MARKS_H
#define VSSD_SIM_MARKS_H

#include <stdbool.h>
#include <glib.h>

#define MARKS_MOST 8

typedef struct Marks Marks;

typedef struct MarksOps {
    void (*waits)(
        void *opaque); /* of the parent: it does nothing from now on */
    void (*ended)(void *opaque); /* of the parent: the run has ended */
} MarksOps;

Marks *marks_new(const MarksOps *ops, void *opaque);
void marks_free(Marks *m);

/* Marks that there are: 1 to this one. */
unsigned marks_n(const Marks *m);

/*
 * Mark this instant.  Returns in a new process, once now and once for each time
 * that the run comes back: *again.  Files that are read go back, too.  false:
 * there are MARKS_MOST, or no process can be had; *error is one line.
 */
bool marks_make(Marks *m, bool *again, GError **error);

/* Go back to a mark, 1..marks_n(): this process ends.  Later marks end, too. */
G_NORETURN void marks_go_back(Marks *m, unsigned mark);

#endif
