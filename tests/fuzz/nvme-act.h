/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-act.h - the actions of an input (FUZZ_OPS of nvme-input.h), and
 * the fields that actions have in common.
 */
#ifndef VSSD_TESTS_NVME_ACT_H
#define VSSD_TESTS_NVME_ACT_H

#include "nvme-guest.h"

#define FUZZ_DECLARE(name, fn) void act_##fn(Guest *g, const FuzzAction *x);
FUZZ_OPS(FUZZ_DECLARE)
#undef FUZZ_DECLARE

/* Of a drive with secondary controllers: an action of ADMIN. */
void act_secondaries(Guest *g, const FuzzAction *x);

/* An I/O queue of the action, ready if the guest is honest; 0: none. */
unsigned act_io_queue(Guest *g, unsigned k);

static inline unsigned byte_of(uint32_t v, unsigned i)
{
    return v >> (8 * i) & 0xff;
}

static inline uint32_t nsid_of(uint32_t k)
{
    static const uint32_t nsid[] = { 1, 0, NVME_NSID_ALL, 2 };

    return nsid[k & 3];
}

/* Addresses that matter. */
static inline uint64_t address(unsigned k, unsigned offset)
{
    static const uint64_t base[] = {
        HOST_DATA, HOST_DATA + GUEST_SLOT_BYTES, HOST_LISTS, HOST_LISTS + 4064,
        HOST_ADMIN_SQ, HOST_ADMIN_CQ, HOST_SHADOW_DB, HOST_SHADOW_EI,
        HOST_QUEUES, HOST_QUEUES + 0x20000, HOST_QUEUES + 0x30000,
        HOST_RAM_BYTES - 4096, HOST_RAM_BYTES, 0, 0xfffffffffffff000ULL,
        1ULL << 63,
    };

    return base[k % G_N_ELEMENTS(base)] + offset;
}

#endif
