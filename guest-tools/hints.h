/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hints.h - the write hints that a program sets itself (F_SET_RW_HINT), when
 * another program decides what they do: refuse them, or set streams instead.
 *
 * A filter of system calls (seccomp(2)) of the program and its children stops
 * fcntl(2) with such a command.  To refuse needs Linux 4.13; to translate, the
 * filter's user notification and pidfd_getfd(2), so Linux 5.6.
 */
#ifndef VSSD_GUEST_HINTS_H
#define VSSD_GUEST_HINTS_H

#include "placement.h"

#include <sys/types.h>

typedef enum HintsUse {
    HINTS_KEEP,      /* the kernel's */
    HINTS_REFUSE,    /* EINVAL, as in a kernel without them */
    HINTS_TRANSLATE, /* hint n + 1 sets stream n; NOT_SET and NONE: none */
} HintsUse;

/* In the program's process, before execve(2): the filter.  link: the program's
 * end of a socket pair, for HINTS_TRANSLATE.  0, or -1 and errno. */
int hints_filter(HintsUse use, int link);

/* In the other process: where the filter's questions come from, a descriptor
 * for poll(2); -1 and errno.  link: the other end. */
int hints_listen(pid_t program, int link);

/* Answer one question there. */
void hints_answer(int listener, Placement how);

#endif
