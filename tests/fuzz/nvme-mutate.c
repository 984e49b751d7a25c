/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-mutate.c - how libFuzzer changes inputs of fuzz-nvme: action by action,
 * so that those before and after a change keep their meaning.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <glib.h>

#include "fuzz.h"
#include "nvme-input.h"
#include "prng.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b,
                                 size_t nb, uint8_t *out, size_t max_size,
                                 unsigned seed);

#define HEAD   FUZZ_HEAD_BYTES
#define ACTION FUZZ_ACTION_BYTES

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* g_error() ends in SIGTRAP, of which libFuzzer knows nothing: it would not
 * keep the input. */
static void trapped(int signal)
{
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    signal(SIGTRAP, trapped);
    fuzz_all_checks = false;
    return 0;
}

/* ---- one action ---------------------------------------------------------- */

static uint32_t some_number(Prng *r)
{
    static const uint32_t special[] = { 0, 1, 2, 3, 7, 8, 15, 16, 63, 64, 255,
                                        256, 0x1000, 0xffff, 0x10000,
                                        0x7fffffff, 0x80000000, 0xffffffff };

    switch (prng_below(r, 3)) {
    case 0:
        return special[prng_below(r, G_N_ELEMENTS(special))];
    case 1:
        return (uint32_t)prng_below(r, 256);
    default:
        return (uint32_t)prng_u64(r);
    }
}

/* I/O and time as often as all the rest together. */
static uint8_t some_op(Prng *r)
{
    static const uint8_t usual[] = { FUZZ_IO, FUZZ_IO, FUZZ_BURST, FUZZ_STEPS,
                                     FUZZ_STEPS, FUZZ_STORE_END, FUZZ_POLL,
                                     FUZZ_DSM, FUZZ_FLUSH, FUZZ_STORE };

    return prng_below(r, 2) ? usual[prng_below(r, sizeof(usual))]
                            : (uint8_t)prng_below(r, FUZZ_N_OPS);
}

static void some_action(Prng *r, uint8_t *p)
{
    uint32_t a = some_number(r);
    uint32_t b = some_number(r);

    p[0] = some_op(r);
    p[1] = (uint8_t)prng_u64(r);
    p[2] = (uint8_t)a;
    p[3] = (uint8_t)(a >> 8);
    for (unsigned i = 0; i < 4; i++) {
        p[4 + i] = (uint8_t)(b >> (8 * i));
    }
}

static void change_action(Prng *r, uint8_t *p)
{
    switch (prng_below(r, 4)) {
    case 0:
        p[prng_below(r, ACTION)] = (uint8_t)some_number(r);
        break;
    case 1:
        p[prng_below(r, ACTION)] ^= (uint8_t)(1U << prng_below(r, 8));
        break;
    case 2:
        p[1] = (uint8_t)prng_u64(r);
        break;
    default:
        p[1 + prng_below(r, ACTION - 1)] += prng_below(r, 2) ? 1 : 0xff;
    }
}

/* ---- the list of actions ------------------------------------------------- */

/* n actions at p; there is room for most.  Returns how many there are then. */
static size_t insert(Prng *r, uint8_t *p, size_t n, size_t most)
{
    size_t at = prng_below(r, n + 1);

    if (n == most) {
        return n;
    }
    memmove(p + (at + 1) * ACTION, p + at * ACTION, (n - at) * ACTION);
    some_action(r, p + at * ACTION);
    return n + 1;
}

static size_t remove_some(Prng *r, uint8_t *p, size_t n)
{
    size_t at, k;

    if (n == 0) {
        return 0;
    }
    at = prng_below(r, n);
    k = prng_below(r, MIN(n - at, 8)) + 1;
    memmove(p + at * ACTION, p + (at + k) * ACTION, (n - at - k) * ACTION);
    return n - k;
}

static size_t repeat_some(Prng *r, uint8_t *p, size_t n, size_t most)
{
    uint8_t piece[16 * ACTION];
    size_t from, at, k;

    if (n == 0) {
        return 0;
    }
    from = prng_below(r, n);
    k = prng_below(r, MIN(n - from, 16)) + 1;
    if (n + k > most) {
        return n;
    }
    memcpy(piece, p + from * ACTION, k * ACTION);
    at = prng_below(r, n + 1);
    memmove(p + (at + k) * ACTION, p + at * ACTION, (n - at) * ACTION);
    memcpy(p + at * ACTION, piece, k * ACTION);
    return n + k;
}

static void swap_two(Prng *r, uint8_t *p, size_t n)
{
    uint8_t one[ACTION];
    size_t a, b;

    if (n >= 2) {
        a = prng_below(r, n);
        b = prng_below(r, n);
        memcpy(one, p + a * ACTION, ACTION);
        memmove(p + a * ACTION, p + b * ACTION, ACTION);
        memcpy(p + b * ACTION, one, ACTION);
    }
}

/* A new drive takes as long as ten inputs: mostly host and content change. */
static void change_head(Prng *r, uint8_t *p)
{
    static const uint8_t cheap[] = { HEAD_HOST, HEAD_CONTENT, HEAD_SHAPE };
    uint8_t *byte = p + (prng_below(r, 8) ? cheap[prng_below(r, sizeof(cheap))]
                                          : prng_below(r, HEAD));

    if (byte == p + HEAD_DRIVE) {
        *byte = (uint8_t)prng_below(r, 32);
    } else if (prng_below(r, 2)) {
        *byte ^= (uint8_t)(1U << prng_below(r, 8));
    } else {
        *byte = (uint8_t)prng_u64(r);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    uint8_t *p = data + HEAD;
    size_t n = size > HEAD ? (size - HEAD) / ACTION : 0;
    size_t most;
    Prng r;

    prng_seed(&r, seed, 0xf11);
    if (max_size < HEAD + 2 * ACTION) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    most = MIN((max_size - HEAD) / ACTION, FUZZ_MOST_ACTIONS);
    n = MIN(n, most);
    if (size < HEAD) {
        memset(data + size, 0, HEAD - size);
    }
    for (unsigned k = 1 + (unsigned)prng_below(&r, 4); k > 0; k--) {
        switch (prng_below(&r, 12)) {
        case 0:
            if (prng_below(&r, 2)) {
                change_head(&r, data);
            }
            break;
        case 1: case 2: case 3:
            n = insert(&r, p, n, most);
            break;
        case 4: case 5:
            n = remove_some(&r, p, n);
            break;
        case 6:
            n = repeat_some(&r, p, n, most);
            break;
        case 7:
            swap_two(&r, p, n);
            break;
        case 8: /* with libFuzzer's dictionary of compared values */
            if (n) {
                uint8_t *a = p + prng_below(&r, n) * ACTION;

                LLVMFuzzerMutate(a + 1, ACTION - 1, ACTION - 1);
            }
            break;
        default:
            if (n) {
                change_action(&r, p + prng_below(&r, n) * ACTION);
            }
        }
    }
    return HEAD + n * ACTION;
}

/* The head and the first actions of one, the last of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b,
                                 size_t nb, uint8_t *out, size_t max_size,
                                 unsigned seed)
{
    size_t in_a = na > HEAD ? (na - HEAD) / ACTION : 0;
    size_t in_b = nb > HEAD ? (nb - HEAD) / ACTION : 0;
    size_t first, from, last;
    Prng r;

    prng_seed(&r, seed, 0xf12);
    if (na < HEAD || max_size < HEAD) {
        return 0;
    }
    first = prng_below(&r, in_a + 1);
    from = prng_below(&r, in_b + 1);
    first = MIN(first, (max_size - HEAD) / ACTION);
    last = MIN(in_b - from, (max_size - HEAD) / ACTION - first);
    memcpy(out, a, HEAD + first * ACTION);
    if (last) {
        memcpy(out + HEAD + first * ACTION, b + HEAD + from * ACTION,
               last * ACTION);
    }
    return HEAD + (first + last) * ACTION;
}
