/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz.h - what a fuzz target gives to libFuzzer, and to replay.c. */
#ifndef VSSD_TESTS_FUZZ_H
#define VSSD_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Take one input; returns 0, or aborts when something is wrong. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NULL, or the name of something that no input has reached so far.  A corpus
 * must reach everything. */
const char *fuzz_unreached(void);

#endif
