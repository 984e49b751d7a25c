/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bitmap.h - bits of an array of 64-bit words: bit i is bit i % 64 of word
 * i / 64.
 *
 * The owner has the array, of bitmap_words(n) words, and keeps i below n; with
 * that many words, bit n itself can be read as well, and is 0.
 */
#ifndef VSSD_CORE_BITMAP_H
#define VSSD_CORE_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITMAP_WORD 64

static inline size_t bitmap_words(uint64_t n)
{
    return (size_t)(n / BITMAP_WORD + 1);
}

static inline bool bitmap_test(const uint64_t *map, uint64_t i)
{
    return map[i / BITMAP_WORD] >> (i % BITMAP_WORD) & 1;
}

static inline void bitmap_set(uint64_t *map, uint64_t i)
{
    map[i / BITMAP_WORD] |= 1ULL << (i % BITMAP_WORD);
}

static inline void bitmap_clear(uint64_t *map, uint64_t i)
{
    map[i / BITMAP_WORD] &= ~(1ULL << (i % BITMAP_WORD));
}

static inline void bitmap_put(uint64_t *map, uint64_t i, bool bit)
{
    if (bit) {
        bitmap_set(map, i);
    } else {
        bitmap_clear(map, i);
    }
}

/* The first bit from `from` on that is set and below n; n: there is none.
 * O(n / 64). */
static inline uint64_t bitmap_next(const uint64_t *map, uint64_t from,
                                   uint64_t n)
{
    while (from < n) {
        uint64_t bits = map[from / BITMAP_WORD] >> (from % BITMAP_WORD);

        if (bits) {
            from += (uint64_t)__builtin_ctzll(bits);
            return from < n ? from : n;
        }
        from = (from / BITMAP_WORD + 1) * BITMAP_WORD;
    }
    return n;
}

/* How many bits in [from, end) are set.  O(n / 64). */
static inline uint64_t bitmap_count(const uint64_t *map, uint64_t from,
                                    uint64_t end)
{
    uint64_t n = 0;

    while (from < end) {
        uint64_t next = (from / BITMAP_WORD + 1) * BITMAP_WORD;
        uint64_t bits = map[from / BITMAP_WORD] >> (from % BITMAP_WORD);

        if (next > end) {
            bits &= (1ULL << (end - from)) - 1;
        }
        n += (uint64_t)__builtin_popcountll(bits);
        from = next;
    }
    return n;
}

/* Those bits that are in [from, end), of the word that holds `from`. */
static inline uint64_t bitmap_word_mask(uint64_t from, uint64_t end)
{
    uint64_t mask = UINT64_MAX << (from % BITMAP_WORD);

    if (end - from / BITMAP_WORD * BITMAP_WORD < BITMAP_WORD) {
        mask &= (1ULL << (end % BITMAP_WORD)) - 1;
    }
    return mask;
}

#endif
