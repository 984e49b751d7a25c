/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * invariant.h - assertions that are always on, cheap enough for hot paths.
 *
 * As g_assert(), invariant() names file, line, function and expression and
 * aborts, in release builds too.  It passes them in one argument to a function
 * that is never inlined: functions with several invariants stay small enough to
 * be inlined themselves.
 *
 * For conditions that only a fault in the model can break. Errors that a
 * guest, a file or an option can cause are refused with a message.  The
 * expression must have no side effects.
 */
#ifndef VSSD_CORE_INVARIANT_H
#define VSSD_CORE_INVARIANT_H

#include <glib.h>

typedef struct Invariant {
    const char *file, *function, *expression;
    int line;
} Invariant;

void invariant_broken(const Invariant *at)
    __attribute__((noreturn, cold, noinline));

#define invariant(condition)                                                   \
    do {                                                                       \
        if (G_UNLIKELY(!(condition))) {                                        \
            static const Invariant invariant_at_ = {__FILE__, __func__,        \
                                                    #condition, __LINE__};     \
            invariant_broken(&invariant_at_);                                  \
        }                                                                      \
    } while (0)

#endif
