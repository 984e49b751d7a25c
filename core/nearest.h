/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nearest.h - which of several names a misspelt one may mean.
 */
#ifndef VSSD_CORE_NEAREST_H
#define VSSD_CORE_NEAREST_H

#include <stddef.h>

typedef struct Nearest {
    const char *given;
    const char *name; /* the best so far; NULL: none is near */
    size_t distance;  /* its number of mistakes; without a name: one too many */
} Nearest;

/* Begin to look for a name.  The strings must live as long as the struct. */
Nearest nearest_to(const char *given);

/* Look at one that exists; of equally near ones the first counts. */
void nearest_try(Nearest *n, const char *name);

/* The same for "section.name", which also is near with another section. */
void nearest_try_key(Nearest *n, const char *key);

/* "; did you mean NAME?", or "" where none is near; before: what is to stand in
 * front of the name.  Free it with g_free(). */
char *nearest_hint(const Nearest *n, const char *before);

#endif
