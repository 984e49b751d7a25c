/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pi.c - protection information of one logical block: guard, application tag,
 * storage tag and reference tag (NVM Command Set Specification 1.0, Protection
 * Information Formats, and Control of Protection Information Checking).
 *
 * Knows bytes and tags; knows nothing of commands.
 */
#include "nvme-internal.h"
#include "metadata/pi.h"

#include "crc.h"

/* One in numbers, whatever its format. */
typedef struct Pi {
    uint64_t guard;
    uint16_t app;
    uint64_t space; /* storage and reference tag */
} Pi;

static unsigned space_bits(const NvmeProtection *p)
{
    return p->guard64 ? 48 : 32;
}

static uint64_t low_bits(unsigned n)
{
    return (1ULL << n) - 1;
}

unsigned nvme_pi_bytes(const NvmeProtection *p)
{
    if (!p->type) {
        return 0;
    }
    return p->guard64 ? sizeof(NvmePi64) : sizeof(NvmePi16);
}

unsigned nvme_pi_offset(const NvmeProtection *p)
{
    return p->first ? 0 : p->meta_bytes - nvme_pi_bytes(p);
}

uint64_t nvme_pi_ref_mask(const NvmeProtection *p)
{
    return low_bits(space_bits(p) - p->storage_bits);
}

void nvme_pi_set_space(const NvmeProtection *p, uint64_t space,
                       NvmePiTags *tags)
{
    space &= low_bits(space_bits(p));
    tags->ref = space & nvme_pi_ref_mask(p);
    tags->storage = space >> (space_bits(p) - p->storage_bits);
}

static uint64_t get_be(const uint8_t *b, unsigned n)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < n; i++) {
        v = v << 8 | b[i];
    }
    return v;
}

static void put_be(uint8_t *b, unsigned n, uint64_t v)
{
    for (unsigned i = n; i-- > 0; v >>= 8) {
        b[i] = (uint8_t)v;
    }
}

static Pi get(const NvmeProtection *p, const uint8_t *meta)
{
    const uint8_t *b = meta + nvme_pi_offset(p);
    unsigned guard = p->guard64 ? 8 : 2;

    return (Pi){
        .guard = get_be(b, guard),
        .app = (uint16_t)get_be(b + guard, 2),
        .space = get_be(b + guard + 2, space_bits(p) / 8),
    };
}

static void put(const NvmeProtection *p, uint8_t *meta, Pi pi)
{
    uint8_t *b = meta + nvme_pi_offset(p);
    unsigned guard = p->guard64 ? 8 : 2;

    put_be(b, guard, pi.guard);
    put_be(b + guard, 2, pi.app);
    put_be(b + guard + 2, space_bits(p) / 8, pi.space);
}

/* Of the block, and of the metadata before the protection information. */
static uint64_t guard_of(const NvmeProtection *p, const uint8_t *block,
                         uint32_t block_bytes, const uint8_t *meta)
{
    unsigned before = nvme_pi_offset(p);

    return p->guard64
               ? crc64_nvme(crc64_nvme(0, block, block_bytes), meta, before)
               : crc16_t10dif(crc16_t10dif(0, block, block_bytes), meta,
                              before);
}

void nvme_pi_make(const NvmeProtection *p, const uint8_t *block,
                  uint32_t block_bytes, uint8_t *meta, const NvmePiTags *tags)
{
    unsigned shift = space_bits(p) - p->storage_bits;

    put(p, meta,
        (Pi){
            .guard = guard_of(p, block, block_bytes, meta),
            .app = tags->app,
            .space = tags->storage << shift | tags->ref,
        });
}

/* The tags say that nothing is to be checked. */
static bool is_escape(const NvmeProtection *p, const Pi *pi)
{
    return pi->app == 0xffff &&
           (p->type != 3 || pi->space == low_bits(space_bits(p)));
}

uint16_t nvme_pi_check(const NvmeProtection *p, const uint8_t *block,
                       uint32_t block_bytes, const uint8_t *meta,
                       const NvmePiTags *tags)
{
    Pi pi = get(p, meta);
    NvmePiTags have;

    if (is_escape(p, &pi)) {
        return 0;
    }
    nvme_pi_set_space(p, pi.space, &have);
    if (tags->check & NVME_PRCHK_GUARD &&
        pi.guard != guard_of(p, block, block_bytes, meta)) {
        return NVME_SC_GUARD;
    }
    if (tags->check & NVME_PRCHK_APP && (pi.app ^ tags->app) & tags->app_mask) {
        return NVME_SC_APP_TAG;
    }
    if (tags->check & NVME_PRCHK_STORAGE && have.storage != tags->storage) {
        return NVME_SC_STORAGE_TAG;
    }
    return tags->check & NVME_PRCHK_REF && have.ref != tags->ref
               ? NVME_SC_REF_TAG
               : 0;
}

void nvme_pi_next(const NvmeProtection *p, NvmePiTags *tags)
{
    if (p->type != 3) {
        tags->ref = (tags->ref + 1) & nvme_pi_ref_mask(p);
    }
}

void nvme_pi_invert(const NvmeProtection *p, uint8_t *meta)
{
    uint8_t *b = meta + nvme_pi_offset(p);

    for (unsigned i = 0; i < nvme_pi_bytes(p); i++) {
        b[i] = (uint8_t)~b[i];
    }
}
