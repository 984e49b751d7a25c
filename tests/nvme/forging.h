/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forging.h - saved controllers with bytes of nobody's, for tests. */
#ifndef VSSD_TESTS_NVME_FORGING_H
#define VSSD_TESTS_NVME_FORGING_H

#include "host.h"
#include "state.h"

/* Up to three bytes from there on; the checksum is right again. */
static inline void forge(GByteArray *bytes, size_t from, Prng *rng)
{
    size_t end = bytes->len - 8;
    uint64_t sum;

    for (uint64_t k = prng_below(rng, 3) + 1; k > 0; k--) {
        uint64_t at = from + prng_below(rng, end - from);

        bytes->data[at] = (uint8_t)prng_u64(rng);
    }
    sum = state_sum(bytes->data, end);
    memcpy(bytes->data + end, &sum, sizeof(sum));
}

/* The memory and the queues of a host become those of another one. */
static inline void copy_host(Host *to, const Host *from)
{
    memcpy(to->ram, from->ram, HOST_RAM_BYTES);
    memcpy(to->q, from->q, sizeof(to->q));
    memcpy(to->cq, from->cq, sizeof(to->cq));
    to->next_cid = from->next_cid;
}

#endif
