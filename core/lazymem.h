/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lazymem.h - large tables of zeroes that cost memory where they are touched.
 *
 * A modelled drive of 4 TiB has gigabytes of tables, most of them never
 * touched.  The operating system gives zero pages on first use.
 */
#ifndef VSSD_CORE_LAZYMEM_H
#define VSSD_CORE_LAZYMEM_H

#include <stddef.h>

/* Zeroed memory for n elements of size bytes, page aligned.  Never NULL (no
 * address space left aborts, as g_malloc() does).  Free with lazy_free() and
 * the same n and size. */
void *lazy_alloc(size_t n, size_t size);
void lazy_free(void *p, size_t n, size_t size);

/* Most of the table will be used: it may take memory in larger pieces, of which
 * the processor keeps track more easily.  Changes nothing else. */
void lazy_dense(void *p, size_t n, size_t size);

/* All zeroes again, as if new. */
void lazy_clear(void *p, size_t n, size_t size);

/* Bytes that are allocated now, in this process, touched or not; for tests. */
size_t lazy_bytes(void);

#define lazy_new(type, n) ((type *)lazy_alloc((n), sizeof(type)))

#endif
