/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lazymem.h - large tables of zeroes that cost memory where they are touched.
 *
 * A modelled drive of 4 TiB has gigabytes of tables, most of them never
 * touched.  The operating system gives zero pages on first use.
 */
#ifndef VSSD_CORE_LAZYMEM_H
#define VSSD_CORE_LAZYMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for n elements of size bytes, page aligned.  Never NULL (no
 * address space left aborts, as g_malloc() does).  Free with lazy_free() and
 * the same n and size. */
void *lazy_alloc(size_t n, size_t size);
void lazy_free(void *p, size_t n, size_t size);

/* Most of the table will be used: it may take memory in larger pieces, of which
 * the processor keeps track more easily.  Changes nothing else. */
void lazy_dense(void *p, size_t n, size_t size);

/* Accesses are spread over all of the table.  As lazy_dense() if it is small,
 * so that this costs at most LAZY_SPREAD_MOST bytes more of memory. */
#define LAZY_SPREAD_MOST (64UL << 20)
void lazy_spread(void *p, size_t n, size_t size);

/* All zeroes again, as if new. */
void lazy_clear(void *p, size_t n, size_t size);

/*
 * The parts of memory that were ever touched, in pages: for a walk over a large
 * table that takes time in proportion to them.  What is passed over is zero.
 * Linux before 6.7 tells page by page, so that the walk takes some time for the
 * others, too.  Where the system does not say what was touched, everything
 * counts as such.  Memory that is touched behind the place of the walk may be
 * passed over.
 */
#define LAZY_WALK_PAGES  4096
#define LAZY_WALK_RANGES 1024

/* Addresses of pages; as Linux has it (struct page_region). */
typedef struct LazyRange {
    uint64_t from, to;
    uint64_t kinds;
} LazyRange;

typedef struct LazyWalk {
    uintptr_t base; /* of the memory */
    size_t bytes;
    int fd;         /* /proc/self/pagemap, or -1 */
    bool scans;     /* it lists ranges; else it tells page by page */
    uint64_t first; /* page, or with scans address, from which on it is known
                       what was touched */
    uint64_t known; /* scans: up to this address */
    size_t n;       /* pages of map[], or ranges */
    size_t at;      /* the range that was looked at last */
    union {
        uint64_t map[LAZY_WALK_PAGES];
        LazyRange range[LAZY_WALK_RANGES];
    };
} LazyWalk;

void lazy_walk_begin(LazyWalk *w, const void *p, size_t bytes);
void lazy_walk_end(LazyWalk *w);

/* The first offset in [from, end) that was touched; end: none was. */
size_t lazy_walk_until(LazyWalk *w, size_t from, size_t end);

/* The same up to the end of the memory. */
static inline size_t lazy_walk_next(LazyWalk *w, size_t from)
{
    return lazy_walk_until(w, from, w->bytes);
}

/* The same of a table whose elements have size bytes: the first index from i on
 * whose element may be other than zeroes; the number of elements: none is. */
static inline uint64_t lazy_walk_index(LazyWalk *w, uint64_t i, size_t size)
{
    return lazy_walk_next(w, i * size) / size;
}

/* Bytes that are allocated now, in this process, touched or not; for tests. */
size_t lazy_bytes(void);

#define lazy_new(type, n) ((type *)lazy_alloc((n), sizeof(type)))

#endif
