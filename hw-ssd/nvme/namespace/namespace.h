/* SPDX-License-Identifier: GPL-2.0-or-later */
/* namespace.h - the table of namespaces, and where their blocks are. */
#ifndef VSSD_NVME_NAMESPACE_H
#define VSSD_NVME_NAMESPACE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_NAMESPACE
#error "hw-ssd/nvme/namespace is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

static inline bool nvme_is_attached(const NvmeCtrl *ctrl,
                                    const NvmeNamespace *ns)
{
    return ns->attached >> ctrl->index & 1;
}

/* The namespace, if it is attached to the controller. */
static inline const NvmeNamespace *nvme_ns_find(const NvmeCtrl *ctrl,
                                                uint32_t nsid)
{
    uint32_t i = nsid - 1;

    const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

    /* A host that enables only the NVM Command Set finds none of key-value
     * pairs. */
    return i < ctrl->sub->namespaces.n && nvme_is_attached(ctrl, ns) &&
                   !((ns->kv || ns->zone_size) &&
                     NVME_CC_CSS(ctrl->regs.cc) == 0)
               ? ns
               : NULL;
}

/* Once the controller knows its drive and its configuration; n: NN. */
void nvme_namespaces_init(NvmeCtrl *ctrl, uint32_t n);
void nvme_namespaces_free(NvmeCtrl *ctrl);

/* The status of a command for an NSID without an attached namespace, or for
 * FFFFFFFFh where it does not take that (Base 2.1, Common Command Format). */
uint16_t nvme_ns_missing(const NvmeCtrl *ctrl, uint32_t nsid);

/* The same of Identify, by its CNS; 0: the structure is all zeroes. */
uint16_t nvme_ns_identify_missing(const NvmeCtrl *ctrl, const NvmeSqe *sqe);

/* Is there one, attached or not?  NULL: there is none. */
const NvmeNamespace *nvme_ns_existing(const NvmeCtrl *ctrl, uint32_t nsid);

/* To this controller, or not; to these, as bits. */
void nvme_ns_attach(const NvmeCtrl *ctrl, const NvmeNamespace *ns, bool on);
void nvme_ns_set_attached(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                          uint32_t ctrls);

/* Features 84h and 05h of it. */
void nvme_ns_protect(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                     NvmeProtect state);
void nvme_ns_recover(NvmeCtrl *ctrl, const NvmeNamespace *ns, uint32_t value);

/* A command of it has ended. */
void nvme_ns_count_command(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                           NvmeWork work, uint64_t bytes, bool ok);

/* Of key-value pairs: its index; there may be such namespaces. */
void nvme_ns_set_index(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                       struct NvmeKv *index);
void nvme_ns_allow_kv(NvmeCtrl *ctrl);

/* Could there be one? */
static inline bool nvme_ns_valid(const NvmeCtrl *ctrl, uint32_t nsid)
{
    return nsid - 1 < ctrl->sub->namespaces.n;
}

/* A LBA format: the protection is without type, first and extended, which are
 * of a namespace. */
typedef struct NvmeFormat {
    uint32_t block_bytes;
    NvmeProtection protection;
} NvmeFormat;

/* LBA format i; false: there is no such format. */
bool nvme_ns_get_format(const NvmeCtrl *ctrl, unsigned i, NvmeFormat *format);

/* Its bytes of a logical block; 0: there is none. */
uint32_t nvme_ns_format(const NvmeCtrl *ctrl, unsigned i);

/* The first one with such blocks, and meta_bytes, guard64 and qualified of
 * `like`; -1: none has them. */
int nvme_ns_find_format(const NvmeCtrl *ctrl, uint32_t block_bytes,
                        const NvmeProtection *like);

/*
 * May a namespace of the format have extended blocks (FLBAS bit 4), and this
 * protection (DPS)?  Status code.
 */
uint16_t nvme_ns_check_protection(const NvmeCtrl *ctrl, unsigned format,
                                  bool extended, uint8_t dps);

/* Granules that so many blocks of a format take; UINT64_MAX: more than the
 * drive has.  Granules that are free, or dirty. */
uint64_t nvme_ns_granules(const NvmeCtrl *ctrl, uint64_t nblocks,
                          unsigned format);
uint32_t nvme_ns_count(const NvmeCtrl *ctrl, uint16_t owner);
uint64_t nvme_ns_granule_bytes(const NvmeCtrl *ctrl);

/* Make one, not attached, in free granules, of which there must be enough; or,
 * without namespaces=, the one that has the whole drive. */
const NvmeNamespace *nvme_ns_create(NvmeCtrl *ctrl, uint32_t nsid,
                                    const NvmeNsForm *form);
const NvmeNamespace *nvme_ns_create_only(NvmeCtrl *ctrl,
                                         const NvmeNsForm *form);
/* Its granules are dirty from now on; hints about them are forgotten. */
void nvme_ns_delete(NvmeCtrl *ctrl, const NvmeNamespace *ns);
/* It has no blocks, and is attached to nobody; it keeps its granules.  And
 * back: so many blocks of the drive, in format 0, with its EUI-64 and UUID, or
 * new ones. */
void nvme_ns_take_out(NvmeCtrl *ctrl, const NvmeNamespace *ns);
void nvme_ns_put_in(NvmeCtrl *ctrl, const NvmeNamespace *ns, uint64_t nblocks,
                    bool new_identity);

/* nvme_preloaded(): free granules of these blocks of the drive are dirty. */
void nvme_ns_preloaded(NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks);
/* All granules of one owner have another. */
void nvme_ns_regrant(NvmeCtrl *ctrl, uint16_t from, uint16_t to);

/* It keeps its place in the drive. */
void nvme_ns_reformat(NvmeCtrl *ctrl, const NvmeNamespace *ns, unsigned format,
                      bool extended, uint8_t dps);

/* Of one that is loaded (ns-state.c): its format, without protection
 * information, and with separate metadata; that; its blocks are the granules of
 * nsid, in their order. */
void nvme_ns_set_format(const NvmeCtrl *ctrl, NvmeNamespace *ns,
                        unsigned format);
void nvme_ns_set_protection(NvmeNamespace *ns, bool extended, uint8_t dps);
void nvme_ns_adopt(NvmeCtrl *ctrl, NvmeNamespace *ns);

/* With dsm_hints: blocks of the drive, from the beginning of the namespace on,
 * will be written that often; see ssd_expect_writes(). */
void nvme_ns_expect_writes(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                           uint64_t first, uint64_t nblocks, SsdWriteRate rate);

/* Its blocks are those of the drive's n zones, in its blocks; it has granules
 * no more (nvme_zones_give()). */
void nvme_ns_set_zones(NvmeCtrl *ctrl, const NvmeNamespace *ns, uint64_t n,
                       uint64_t size, uint64_t capacity);

/* The format of a zoned namespace: blocks are mapping units. */
int nvme_ns_zoned_format(const NvmeCtrl *ctrl);

/* Is the range in the namespace? */
static inline bool nvme_ns_has(const NvmeNamespace *ns, uint64_t lba,
                               uint64_t nblocks)
{
    return lba <= ns->nblocks && nblocks <= ns->nblocks - lba;
}

/*
 * Blocks of a namespace, counted in the drive's blocks from its beginning: a
 * range is in the drive in one piece or more.  How many blocks the first piece
 * has; *lba: the drive's address of it.
 */
uint64_t nvme_ns_find_piece(const NvmeNamespace *ns, uint64_t first,
                            uint64_t nblocks, uint64_t *lba);

static inline uint64_t nvme_ns_piece(const NvmeNamespace *ns, uint64_t first,
                                     uint64_t nblocks, uint64_t *lba)
{
    if (first + nblocks <= ns->run) {
        *lba = ns->base + first;
        return nblocks;
    }
    return nvme_ns_find_piece(ns, first, nblocks, lba);
}

/* How often nvme_ns_piece() has to be called for a range. */
unsigned nvme_ns_pieces(const NvmeNamespace *ns, uint64_t first,
                        uint64_t nblocks);

/* The block of the namespace, which may be NULL or gone, at an address of the
 * drive; 0: it is not in the namespace. */
uint64_t nvme_ns_from_drive(const NvmeNamespace *ns, uint64_t lba);

/* Whose it is; NULL: of none. */
const NvmeNamespace *nvme_ns_of_drive(const NvmeCtrl *ctrl, uint64_t lba);

#endif
