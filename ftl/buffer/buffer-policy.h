/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer-policy.h - the policy of the buffer: one const struct in one file
 * for each policy; policy.c lists them, docs/adding.md explains how to add one.
 */
#ifndef VSSD_FTL_BUFFER_POLICY_H
#define VSSD_FTL_BUFFER_POLICY_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"

/*
 * Two kinds.  A write buffer (caches is false) holds only data on its way to
 * NAND, in order of arrival, and evicts units as soon as they fill a page; it
 * needs no functions.  A cache gets every slot that it may evict, whatever its
 * state, and chooses a victim when there is no room; written units stay,
 * clean.  Everything must be done in time that does not grow
 * with the buffer.
 */
struct BufferPolicy {
    const char *name;
    const char *help;
    bool caches;
    bool write_through; /* a write completes when it is in NAND */
    bool writes_only;   /* of a cache: data that is read is not kept */
    uint32_t overhead;  /* bytes of DRAM that it needs for each slot */

    /* Required of a cache.  A slot comes (slot_is_clean() says which kind); is
     * written again; leaves; the victim, which is then removed (NONE:
     * there is none). */
    void (*insert)(Ssd *ssd, uint32_t slot);
    void (*write_hit)(Ssd *ssd, uint32_t slot);
    void (*remove)(Ssd *ssd, uint32_t slot);
    uint32_t (*victim)(Ssd *ssd);

    /* Required of a cache.  The slot is read; goes to NAND without being given
     * up, and counts as clean from now on; to takes the place of from (a newer
     * version of the same unit; write_hit follows). */
    void (*read_hit)(Ssd *ssd, uint32_t slot);
    void (*cleaned)(Ssd *ssd, uint32_t slot);
    void (*replace)(Ssd *ssd, uint32_t from, uint32_t to);

    /* Optional.  Another slot that leaves with the victim that was of lpn, or
     * NONE: there is none left. */
    uint32_t (*in_group)(Ssd *ssd, uint64_t lpn);

    /* Optional.  A DIRTY slot to be flushed while the drive is idle, or NONE;
     * it may move slots among its lists.  A batch of them is on its way. */
    uint32_t (*early)(Ssd *ssd);
    void (*early_sent)(Ssd *ssd);

    /* Optional.  The buffer is empty (also after a power cut); the drive ends. */
    void (*init)(Ssd *ssd);
    void (*destroy)(Ssd *ssd);

    /* Required with Buffer.policy_data: the rows of its struct; save it, or
     * load it into the tables of init (core/state.h); can a drive at rest use
     * the loaded data, whose slots have been looked at? */
    const StateStruct *rows;
    bool (*state)(Ssd *ssd, State *s);
    bool (*sound)(const Ssd *ssd);
};

/* The policy of the configuration, from outside or of the list. */
const BufferPolicy *buffer_choose_policy(const Ssd *ssd);

extern const BufferPolicy *const buffer_policies[];
extern const BufferPolicy buf_fifo;
extern const BufferPolicy buf_none;
extern const BufferPolicy buf_lru;
extern const BufferPolicy buf_cflru;
extern const BufferPolicy buf_cflru_ef;
extern const BufferPolicy buf_cflru_ef_sc;
extern const BufferPolicy buf_fab;
extern const BufferPolicy buf_bplru;
extern const BufferPolicy buf_ccf_lru;
extern const BufferPolicy buf_prlru;
extern const BufferPolicy buf_clock_dnv;

#endif
