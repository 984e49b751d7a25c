/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.c - memory of the guest, as far as the client has shared it.
 *
 * A client may map a file that is shorter than it says, or make it shorter
 * later; an access then raises SIGBUS.  A transfer in which that happens ends
 * with -EFAULT.  Knows ranges and bytes; knows no messages.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "server.h"

/* Of the thread that copies; NULL: an access of another kind, which ends the
 * process. */
static __thread sigjmp_buf *volatile copying;

static void on_sigbus(int number)
{
    if (copying) {
        siglongjmp(*copying, 1);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void vfio_memory_init(void)
{
    struct sigaction action = {
        .sa_handler = on_sigbus,
        .sa_flags = SA_NODEFER,
    };

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static int copy(void *to, const void *from, size_t n)
{
    sigjmp_buf end;

    if (sigsetjmp(end, 0)) {
        copying = NULL;
        return -EFAULT;
    }
    copying = &end;
    memcpy(to, from, n);
    copying = NULL;
    return 0;
}

static bool holds(const MemoryRange *r, uint64_t addr)
{
    return addr >= r->start && addr - r->start < r->bytes;
}

static const MemoryRange *find(Function *f, uint64_t addr)
{
    for (unsigned i = 0; i < f->n_ranges; i++) {
        unsigned k = (f->last_range + i) % f->n_ranges;

        if (holds(&f->range[k], addr)) {
            f->last_range = k;
            return &f->range[k];
        }
    }
    return NULL;
}

/* A transfer may cross from one range into the next. */
static int transfer(Function *f, uint64_t addr, uint8_t *buf, size_t len,
                    bool write)
{
    while (len) {
        const MemoryRange *r = find(f, addr);
        uint64_t offset;
        size_t n;
        int ret;

        if (!r || !r->vaddr || !(write ? r->writable : r->readable)) {
            return -EFAULT;
        }
        offset = addr - r->start;
        n = MIN(len, r->bytes - offset);
        ret = write ? copy(r->vaddr + offset, buf, n)
                    : copy(buf, r->vaddr + offset, n);
        if (ret < 0) {
            return ret;
        }
        addr += n;
        buf += n;
        len -= n;
    }
    return 0;
}

static int count_refused(Function *f, int ret)
{
    f->dma_refused += ret < 0;
    return ret;
}

int vfio_memory_read(void *function, uint64_t addr, void *buf, size_t len)
{
    Function *f = function;

    return count_refused(f, vfio_pci_is_master(f)
                                ? transfer(f, addr, buf, len, false)
                                : -EFAULT);
}

int vfio_memory_write(void *function, uint64_t addr, const void *buf,
                      size_t len)
{
    Function *f = function;

    return count_refused(f, vfio_pci_is_master(f)
                                ? transfer(f, addr, (uint8_t *)buf, len, true)
                                : -EFAULT);
}

bool vfio_memory_is_mapped(const Function *f, uint64_t start, uint64_t bytes)
{
    for (unsigned i = 0; i < f->n_ranges; i++) {
        const MemoryRange *r = &f->range[i];

        if (start < r->start + r->bytes && r->start < start + bytes) {
            return true;
        }
    }
    return false;
}

void vfio_memory_map(Function *f, const MemoryRange *range)
{
    g_assert(f->n_ranges < MAX_RANGES); /* the library refuses more */
    f->range[f->n_ranges++] = *range;
}

void vfio_memory_unmap(Function *f, uint64_t start, uint64_t bytes)
{
    for (unsigned i = 0; i < f->n_ranges; i++) {
        if (f->range[i].start == start && f->range[i].bytes == bytes) {
            f->range[i] = f->range[--f->n_ranges];
            f->last_range = 0;
            return;
        }
    }
}
