/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option-number.h - the number of an option of the command line, in a range.
 */
#ifndef VSSD_SIM_OPTION_NUMBER_H
#define VSSD_SIM_OPTION_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

typedef struct OptionNumber {
    const char *option; /* "from" of --from */
    const char *value; /* of the option, where the number is a part of it; NULL:
                          the number is all */
    uint64_t min, max;
    uint64_t scale;     /* a power of ten: the number times this is stored; 0:
                           whole numbers only */
    const char *prefix; /* that the number may have, "D"; or NULL */
    const char *suffix; /* that it must have, "%"; or NULL */
    const char *unit;   /* in words, for the error: "seconds"; or NULL */
} OptionNumber;

/* false: *error is one line that names the range, and the bound that was broken
 * or the unit that there is not; *out is as it was. */
bool option_number(const OptionNumber *d, const char *text, uint64_t *out,
                   GError **error);

#endif
