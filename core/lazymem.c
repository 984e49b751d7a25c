/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lazymem.c - anonymous mappings without reserved swap.
 *
 * The address sanitizer knows nothing of mappings.  In a build that has it,
 * small tables come from the heap, page aligned too, so that an access beyond
 * their end is found.
 */
#include "lazymem.h"
#include "invariant.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>
#include <glib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#define HEAP_BYTES 65536 /* tables up to this */
#else
#define HEAP_BYTES 0
#endif
#define ALIGNMENT 4096
#define LAZY_WALK_LEAST (1U << 20) /* smaller memory is read at once */

static size_t lazy_total; /* bytes that are allocated; relaxed atomics */

static size_t total(size_t n, size_t size)
{
    invariant(size > 0 && n < SIZE_MAX / size);
    return n * size > 0 ? n * size : 1;
}

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void *from_heap(size_t bytes)
{
    void *p = NULL;

    if (posix_memalign(&p, ALIGNMENT, bytes) != 0) {
        return NULL;
    }
    return memset(p, 0, bytes);
}

void *lazy_alloc(size_t n, size_t size)
{
    size_t bytes = total(n, size);
    void *p = bytes <= HEAP_BYTES ? from_heap(bytes) : map(bytes);

    if (!p) {
        g_error("no address space for %zu bytes", bytes);
    }
    __atomic_fetch_add(&lazy_total, bytes, __ATOMIC_RELAXED);
    return p;
}

void lazy_dense(void *p, size_t n, size_t size)
{
#ifdef MADV_HUGEPAGE
    /* A hint: a system without large pages, or with none left, goes on. */
    if (total(n, size) > HEAP_BYTES) {
        madvise(p, total(n, size), MADV_HUGEPAGE);
    }
#endif
}

void lazy_spread(void *p, size_t n, size_t size)
{
    if (total(n, size) <= LAZY_SPREAD_MOST) {
        lazy_dense(p, n, size);
    }
}

void lazy_free(void *p, size_t n, size_t size)
{
    size_t bytes = total(n, size);

    if (!p) {
        return;
    }
    invariant(lazy_bytes() >= bytes);
    __atomic_fetch_sub(&lazy_total, bytes, __ATOMIC_RELAXED);
    if (bytes <= HEAP_BYTES) {
        free(p);
    } else {
        munmap(p, bytes);
    }
}

void lazy_clear(void *p, size_t n, size_t size)
{
    size_t bytes = total(n, size);

    /* Private anonymous memory reads as zeroes after this (madvise(2)). */
    if (p && (bytes <= HEAP_BYTES ||
              madvise(p, bytes, MADV_DONTNEED) != 0)) {
        memset(p, 0, bytes);
    }
}

/* ---- what was touched ---------------------------------------------------- */

/* Bits of an entry of pagemap (Documentation/admin-guide/mm/pagemap.rst of
 * Linux): the page is in memory, or swapped out. */
#define PAGE_IS_THERE (3ULL << 62)

/* PAGEMAP_SCAN and its argument, of the same document; headers older than
 * Linux 6.7 have neither. */
typedef struct ScanArg {
    uint64_t size, flags;
    uint64_t start, end, walk_end;
    uint64_t vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask;
    uint64_t return_mask;
} ScanArg;

#define SCAN            _IOWR('f', 16, ScanArg)
#define SCAN_IS_PRESENT (1ULL << 3)
#define SCAN_IS_SWAPPED (1ULL << 4)
#define SCAN_IS_ZEROES  (1ULL << 5) /* it was read, and never written */

void lazy_walk_begin(LazyWalk *w, const void *p, size_t bytes)
{
    w->base = (uintptr_t)p;
    w->bytes = bytes;
    w->n = 0;
    w->first = 0;
    w->known = 0;
    w->at = 0;
    w->scans = true;
    w->fd = sysconf(_SC_PAGESIZE) == ALIGNMENT && bytes > LAZY_WALK_LEAST
                ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)
                : -1;
}

void lazy_walk_end(LazyWalk *w)
{
    if (w->fd >= 0) {
        close(w->fd);
    }
}

/* Does it know about the page? */
static bool known(LazyWalk *w, uint64_t page)
{
    ssize_t got;

    if (page - w->first < w->n) {
        return true;
    }
    got =
        pread(w->fd, w->map, sizeof(w->map), (off_t)(page * sizeof(w->map[0])));
    w->first = page;
    w->n = got > 0 ? (size_t)got / sizeof(w->map[0]) : 0;
    return w->n > 0;
}

/* The ranges from the address on, as many as there is room for; false: this
 * system does not list them. */
static bool scan(LazyWalk *w, uint64_t address)
{
    ScanArg arg = {
        .size = sizeof(arg),
        .start = address / ALIGNMENT * ALIGNMENT,
        .end = (w->base + w->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
        .vec = (uintptr_t)w->range,
        .vec_len = LAZY_WALK_RANGES,
        .category_inverted = SCAN_IS_ZEROES,
        .category_mask = SCAN_IS_ZEROES,
        .category_anyof_mask = SCAN_IS_PRESENT | SCAN_IS_SWAPPED,
    };
    int n = ioctl(w->fd, SCAN, &arg);

    if (n < 0 || arg.walk_end <= address) {
        w->n = 0;
        return false;
    }
    w->first = arg.start;
    w->known = arg.walk_end;
    w->n = (size_t)n;
    w->at = 0;
    return true;
}

/* The first touched address from the given one on, of those that are known; or
 * where these end. */
static uint64_t next_in_ranges(LazyWalk *w, uint64_t address)
{
    if (w->at > 0 && w->range[w->at - 1].to > address) {
        w->at = 0; /* the walk went back */
    }
    while (w->at < w->n && w->range[w->at].to <= address) {
        w->at++;
    }
    return w->at < w->n ? MAX(address, w->range[w->at].from) : w->known;
}

/* The same over all of the memory up to end; *done: this is the answer. */
static size_t scan_until(LazyWalk *w, size_t from, size_t end, bool *done)
{
    *done = true;
    while (from < end) {
        uint64_t address = w->base + from;
        uint64_t next;

        if ((address < w->first || address >= w->known) && !scan(w, address)) {
            w->scans = false;
            *done = false;
            return from;
        }
        next = next_in_ranges(w, address);
        from = (size_t)(next - w->base);
        if (next < w->known) {
            break;
        }
    }
    return MIN(from, end);
}

size_t lazy_walk_until(LazyWalk *w, size_t from, size_t end)
{
    bool done = false;

    if (w->fd >= 0 && w->scans) {
        from = scan_until(w, from, end, &done);
    }
    if (done) {
        return from;
    }
    while (w->fd >= 0 && from < end) {
        uint64_t page = (w->base + from) / ALIGNMENT;

        if (!known(w, page) || w->map[page - w->first] & PAGE_IS_THERE) {
            return from;
        }
        from = (size_t)((page + 1) * ALIGNMENT - w->base);
    }
    return MIN(from, end);
}

size_t lazy_bytes(void)
{
    return __atomic_load_n(&lazy_total, __ATOMIC_RELAXED);
}
