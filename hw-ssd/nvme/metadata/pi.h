/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pi.h - protection information of one logical block (NVM Command Set
 * Specification 1.0, End-to-end Data Protection).
 */
#ifndef VSSD_NVME_PI_H
#define VSSD_NVME_PI_H

#include "rooms.h"
#if NVME_ROOM < ROOM_METADATA
#error "hw-ssd/nvme/metadata is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Bytes of it, 0 without; and where it is in the metadata. */
unsigned nvme_pi_bytes(const NvmeProtection *p);
unsigned nvme_pi_offset(const NvmeProtection *p);

/* The bits of the reference tag in the storage and reference space. */
uint64_t nvme_pi_ref_mask(const NvmeProtection *p);

/* Divide the storage and reference space into its two tags. */
void nvme_pi_set_space(const NvmeProtection *p, uint64_t space,
                       NvmePiTags *tags);

/* Write it into the metadata of a block. */
void nvme_pi_make(const NvmeProtection *p, const uint8_t *block,
                  uint32_t block_bytes, uint8_t *meta, const NvmePiTags *tags);

/* Compare it with what it should be, as tags->check says.  Status code. */
uint16_t nvme_pi_check(const NvmeProtection *p, const uint8_t *block,
                       uint32_t block_bytes, const uint8_t *meta,
                       const NvmePiTags *tags);

/* From the tags of a block to those of the next one. */
void nvme_pi_next(const NvmeProtection *p, NvmePiTags *tags);

/*
 * The payload has protection information with all bits inverted: where a
 * block was never written, or is deallocated, zeroes become FFh, as DLFEAT
 * says.  There and back.
 */
void nvme_pi_invert(const NvmeProtection *p, uint8_t *meta);

#endif
