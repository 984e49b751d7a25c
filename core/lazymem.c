/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lazymem.c - anonymous mappings without reserved swap. */
#include "lazymem.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <glib.h>

static size_t total(size_t n, size_t size)
{
    g_assert(size > 0 && n < SIZE_MAX / size);
    return n * size > 0 ? n * size : 1;
}

void *lazy_alloc(size_t n, size_t size)
{
    void *p = mmap(NULL, total(n, size), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED) {
        g_error("no address space for %zu bytes", total(n, size));
    }
    return p;
}

void lazy_dense(void *p, size_t n, size_t size)
{
#ifdef MADV_HUGEPAGE
    /* A hint: a system without large pages, or with none left, goes on. */
    madvise(p, total(n, size), MADV_HUGEPAGE);
#endif
}

void lazy_free(void *p, size_t n, size_t size)
{
    if (p) {
        munmap(p, total(n, size));
    }
}

void lazy_clear(void *p, size_t n, size_t size)
{
    /* Private anonymous memory reads as zeroes after this (madvise(2)). */
    if (p && madvise(p, total(n, size), MADV_DONTNEED) != 0) {
        memset(p, 0, total(n, size));
    }
}
