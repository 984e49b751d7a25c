/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz.h - interface of a fuzz target for libFuzzer and replay.c. */
#ifndef VSSD_TESTS_FUZZ_H
#define VSSD_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Take one input; returns 0, or aborts when something is wrong. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* True: every check after every input.  False, for libFuzzer: those that take
 * long after one input in four, which the bytes of the input choose. */
extern bool fuzz_all_checks;

/* NULL, or the name of something that no input has reached so far.  A corpus
 * must reach everything. */
const char *fuzz_unreached(void);

#endif
