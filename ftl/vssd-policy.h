/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-policy.h - policies from outside: the interface between the drive and a
 * shared object, or functions of libvssd's caller (docs/policies-outside.md).
 *
 * A shared object exports one constant, vssd_policy, of the type VssdPolicy. It
 * links against nothing: the drive gives each call a VssdView, which leads to
 * the functions that the policy may use.  A view is valid during the call.
 *
 * Rules: a policy is a function of the view, of its state and of random().  It
 * reads no clock, starts no thread, and keeps nothing outside of its state: the
 * drive saves and copies the state as bytes, so it has no pointers.  A call
 * that breaks a rule below is the policy's last one.  The drive keeps one line
 * about it, and goes on by a rule of its own.
 *
 * Numbers: planes, blocks, slots, streams and units count from 0.  VSSD_NONE
 * and VSSD_NO_UNIT stand for none.  Functions answer 0, false or VSSD_NONE to a
 * number that does not exist, which also breaks a rule.
 */
#ifndef VSSD_POLICY_H
#define VSSD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A policy of another version is refused. */
#define VSSD_POLICY_ABI 1

#define VSSD_NONE    UINT32_MAX
#define VSSD_NO_UNIT UINT64_MAX

/* Bytes of a policy's state for one drive, at most. */
#define VSSD_POLICY_STATE_MOST 268435456

typedef enum VssdPolicyKind {
    VSSD_POLICY_GC,        /* ftl.gc: the victim of garbage collection */
    VSSD_POLICY_ALLOC,     /* ftl.alloc: the plane for a page of the host */
    VSSD_POLICY_BUFFER,    /* buffer.policy: which unit leaves the cache */
    VSSD_POLICY_PLACEMENT, /* ftl.placement: the stream of a written unit */
    VSSD_POLICY_MAP,       /* ftl.map: which entry leaves the map's cache */
} VssdPolicyKind;

#define VSSD_POLICY_KINDS 5

/* Sizes of the drive; they do not change. */
typedef struct VssdShape {
    size_t size; /* sizeof(VssdShape) of the drive */
    uint64_t seed;
    uint64_t units; /* user capacity in mapping units */
    uint32_t unit_bytes;
    uint32_t planes;
    uint32_t
        blocks; /* of all planes; plane p has those from p * plane_blocks */
    uint32_t plane_blocks;
    uint32_t block_units;   /* units in a block */
    uint32_t data_units;    /* the same without parity */
    uint32_t program_units; /* units that a program writes */
    uint32_t page_units;    /* units in a page */
    uint32_t channels;
    uint32_t chips; /* of a channel */
    uint32_t dies;  /* of a chip */
    uint32_t die_planes;
    uint32_t streams;
    uint32_t slots;        /* units that the buffer holds */
    uint32_t slot_numbers; /* slots are below this; more may be leaving */
    uint32_t map_entries;  /* that the map's cache holds; 0 without */
    uint32_t gc_choices;   /* these five: options of listed policies */
    uint32_t gc_window;
    uint32_t dl_threshold_ppm;
    uint32_t buffer_window_ppm;
    uint32_t buffer_block_units; /* 1 or more */
} VssdShape;

typedef struct VssdView VssdView;

/* ---- victims of garbage collection --------------------------------------- */

/* The candidates are the full blocks of a plane, but for those in SLC mode. */
typedef struct VssdGcView {
    /* The candidate that was filled first; the one filled next; VSSD_NONE. */
    uint32_t (*oldest)(VssdView *v, uint32_t plane);
    uint32_t (*newer)(VssdView *v, uint32_t block);

    /* A candidate with exactly so many valid units, or VSSD_NONE: the one that
     * ftl.gc=greedy takes first. */
    uint32_t (*with_valid)(VssdView *v, uint32_t plane, uint32_t valid);

    /* Valid units of a candidate; with superblock.width the mean of its
     * superblock.
     */
    double (*valid)(VssdView *v, uint32_t block);

    /* Does collecting it give back a program's pages at least? */
    bool (*gains)(VssdView *v, uint32_t block);

    uint32_t (*erases)(VssdView *v, uint32_t block);

    /* Programs of the host in the plane since the block was last written, + 1.
     */
    uint32_t (*age)(VssdView *v, uint32_t block);

    /* The stream of its units; shape->streams: of several. */
    uint32_t (*stream)(VssdView *v, uint32_t block);

    uint32_t (*free_blocks)(VssdView *v, uint32_t plane);

    /* The candidate with the fewest valid units, whether it gains or not; the
     * one that gains and has the highest score(); one at random that gains, or
     * VSSD_NONE after many draws. */
    uint32_t (*least)(VssdView *v, uint32_t plane);
    uint32_t (*best)(VssdView *v, uint32_t plane);
    uint32_t (*draw)(VssdView *v, uint32_t plane);

    /* A candidate counts as filled just now: newer than all others. */
    void (*renew)(VssdView *v, uint32_t block);
} VssdGcView;

typedef struct VssdGcPolicy {
    size_t size; /* sizeof(VssdGcPolicy) */

    /*
     * Required.  The block of the plane to empty.  Rules: it is a candidate; it
     * gains, if any candidate does; VSSD_NONE only if none gains.
     */
    uint32_t (*pick)(VssdView *v, uint32_t plane);

    /* Optional (NULL): for best().  How good a victim of that age, with so many
     * valid units, is; 0: not at all.  Rule: it grows, or stays the same, with
     * age and with fewer valid units. */
    double (*score)(VssdView *v, double age, double valid);
} VssdGcPolicy;

/* ---- planes for pages of the host ---------------------------------------- */

typedef struct VssdAllocView {
    /* Does the plane take a page now? */
    bool (*accepts)(VssdView *v, uint32_t plane);

    /* The order of ftl.stripe: the plane at a position, and the reverse. */
    uint32_t (*stripe_plane)(VssdView *v, uint32_t position);
    uint32_t (*stripe_position)(VssdView *v, uint32_t plane);

    /* The first position at or after this one, and round, whose plane accepts a
     * page; VSSD_NONE: no plane does. */
    uint32_t (*next_accepting)(VssdView *v, uint32_t position);

    /* The plane, if it accepts a page.  VSSD_NONE, if it will once something
     * under way there ends: pick() returns VSSD_NONE then, and is called again.
     * Else the next plane of the stripe that accepts one, or VSSD_NONE. */
    uint32_t (*insist)(VssdView *v, uint32_t plane);

    uint32_t (*die_load)(VssdView *v,
                         uint32_t plane); /* operations of its die */
    bool (*channel_busy)(VssdView *v, uint32_t channel);
    uint32_t (*free_blocks)(VssdView *v, uint32_t plane);
    uint64_t (*valid)(VssdView *v, uint32_t plane); /* units */

    /* The plane of the unit's copy in NAND, or VSSD_NONE. */
    uint32_t (*home)(VssdView *v, uint64_t unit);

    /* The plane of a unit without a copy: in the order of ftl.stripe, by its
     * address. */
    uint32_t (*first_plane)(VssdView *v, uint64_t unit);

    /* insist() with a plane at random; one that it waits for stays chosen until
     * it, or another in its place, is taken. */
    uint32_t (*draw)(VssdView *v);

    /* Millionths of the plane's invalid space that are not in free blocks: 0,
     * GC has nothing to do; 1000000, it is needed now. */
    uint32_t (*gc_indicator)(VssdView *v, uint32_t plane);
    void (*force_gc)(VssdView *v, uint32_t plane); /* of one victim */
} VssdAllocView;

/* Does a policy go round the planes, and each stream so by itself? */
typedef enum VssdAllocRows {
    VSSD_ROWS_NONE,
    VSSD_ROWS_FREE,     /* busy planes are skipped */
    VSSD_ROWS_IN_ORDER, /* busy planes are waited for */
} VssdAllocRows;

typedef struct VssdAllocPolicy {
    size_t size; /* sizeof(VssdAllocPolicy) */

    /* Programs of the host in flight in a plane before it accepts no more
     * pages: 2 are one in the array and one on the bus; 1..64. */
    uint32_t depth;
    bool by_unit; /* pick() needs the unit */

    /* Of listed policies.  VssdAllocRows: of several streams; then pick() is
     * not asked.  Does each page go to one of up to ftl.random_blocks open
     * blocks of its plane, at random? */
    uint32_t rows;
    bool draws_block;

    /*
     * Required.  The plane for the next page; unit is the first one of the
     * page, or VSSD_NO_UNIT without by_unit.  Rules: the plane accepts a page;
     * VSSD_NONE only after insist() has returned it, or if no plane accepts
     * one.
     */
    uint32_t (*pick)(VssdView *v, uint64_t unit);
} VssdAllocPolicy;

/* ---- lists: the buffer, and the cache of the map --------------------------
 */

/* Items are slots of the buffer, or entries of the map's cache.  Each is in one
 * of the lists, the newest at its head; one that comes, at the head of list 0.
 */
#define VSSD_BUFFER_LISTS 4
#define VSSD_MAP_LISTS    2

typedef struct VssdListView {
    /* To the head of the list, from wherever it is. */
    void (*move)(VssdView *v, uint32_t item, uint32_t list);

    uint32_t (*oldest)(VssdView *v, uint32_t list); /* or VSSD_NONE */
    uint32_t (*newer)(VssdView *v, uint32_t item);  /* of the same list */
    uint32_t (*count)(VssdView *v, uint32_t list);

    /* Of an item. */
    uint32_t (*list_of)(VssdView *v, uint32_t item);
    uint64_t (*unit)(VssdView *v, uint32_t item);

    /* Buffer: can it leave without a program?  Map: is it unchanged since it
     * was read or written? */
    bool (*clean)(VssdView *v, uint32_t item);
} VssdListView;

typedef struct VssdBufferPolicy {
    size_t size;         /* sizeof(VssdBufferPolicy) */
    bool writes_only;    /* data that is read is not kept */
    bool write_through;  /* of listed policies without victim(), which are no
                            caches: a write completes when it is in NAND */
    uint32_t slot_bytes; /* of DRAM that it takes beside each unit */

    /* Optional (NULL: VSSD_BUFFER_LISTS).  How many lists it has. */
    uint32_t (*lists)(const VssdShape *shape);

    /* Optional (NULL).  A slot has come; is written again; is read; counts as
     * clean from now on. */
    void (*insert)(VssdView *v, uint32_t slot);
    void (*written)(VssdView *v, uint32_t slot);
    void (*read)(VssdView *v, uint32_t slot);
    void (*cleaned)(VssdView *v, uint32_t slot);

    /* Optional (NULL).  It leaves, and is in no list any more; slot `to` has
     * taken its place in the lists, with a newer version of the unit. */
    void (*removed)(VssdView *v, uint32_t slot);
    void (*replaced)(VssdView *v, uint32_t from, uint32_t to);

    /* Required.  The slot that leaves next.  Rules: it is in a list; VSSD_NONE
     * only if no slot is. */
    uint32_t (*victim)(VssdView *v);

    /* Optional (NULL).  Another slot that leaves with the victim, which was of
     * the unit; VSSD_NONE: there is none left.  Rule: it is in a list. */
    uint32_t (*follows)(VssdView *v, uint64_t unit);

    /* Optional (NULL).  A slot that is not clean, to be written while the drive
     * is idle, or VSSD_NONE; some of them are on their way.  Rule: it is in a
     * list. */
    uint32_t (*early)(VssdView *v);
    void (*early_sent)(VssdView *v);

    /* Optional (NULL).  Does the state, which check() takes, belong to the
     * slots of the lists?  A saved drive for which it does not is refused. */
    bool (*fits)(VssdView *v);
} VssdBufferPolicy;

/* The cache of a map in NAND (DFTL).  Reading and writing translation pages is
 * the drive's work; the policy says which entry leaves memory. */
typedef struct VssdMapPolicy {
    size_t size; /* sizeof(VssdMapPolicy) */

    /* Optional (NULL).  An entry has come; a lookup has found it. */
    void (*insert)(VssdView *v, uint32_t entry);
    void (*used)(VssdView *v, uint32_t entry);

    /* Required.  The entry that leaves a full cache.  Rule: it is in a list. */
    uint32_t (*victim)(VssdView *v);
} VssdMapPolicy;

/* ---- streams ------------------------------------------------------------- */

typedef enum VssdWriteRate {
    VSSD_WRITES_UNKNOWN,
    VSSD_WRITES_SELDOM,
    VSSD_WRITES_OFTEN,
} VssdWriteRate;

typedef struct VssdPlacementView {
    /* Has the unit a copy in buffer or NAND? */
    bool (*mapped)(VssdView *v, uint64_t unit);

    /* The stream of the unit's copy in NAND; VSSD_NONE: it has none. */
    uint32_t (*stream_of)(VssdView *v, uint64_t unit);

    /* Units that the host has written to the stream, and that GC has copied
     * from one block of it to another. */
    uint64_t (*written)(VssdView *v, uint32_t stream);
    uint64_t (*copied)(VssdView *v, uint32_t stream);

    /* What the host says of writes of the unit (Dataset Management). */
    VssdWriteRate (*expected)(VssdView *v, uint64_t unit);
} VssdPlacementView;

typedef struct VssdPlacementPolicy {
    size_t size;      /* sizeof(VssdPlacementPolicy) */
    uint32_t streams; /* of the drive, 2..16; the host names none */

    /* Required.  The stream for a unit that the host writes.  It may be asked
     * again when there was no room.  Rule: below streams. */
    uint32_t (*stream)(VssdView *v, uint64_t unit);

    /* Optional (NULL).  The unit is in the buffer, in that stream. */
    void (*wrote)(VssdView *v, uint64_t unit, uint32_t stream);
} VssdPlacementPolicy;

/* ---- a policy ------------------------------------------------------------ */

struct VssdView {
    size_t size; /* sizeof(VssdView) of the drive */
    const VssdShape *shape;
    void *state;   /* state_bytes() bytes, or NULL */
    void *context; /* VssdPolicy.context */

    /* A whole number below `below`, which is 1 or more; from the drive's seed.
     */
    uint64_t (*random)(VssdView *v, uint64_t below);

    /* The policy cannot go on; why, in one line. */
    void (*fail)(VssdView *v, const char *why);

    /* Of its kind; the others are NULL. */
    const VssdGcView *gc;
    const VssdAllocView *alloc;
    const VssdListView *list;
    const VssdPlacementView *placement;
};

typedef struct VssdPolicy {
    uint32_t abi;     /* VSSD_POLICY_ABI */
    uint32_t kind;    /* VssdPolicyKind */
    size_t size;      /* sizeof(VssdPolicy) */
    const char *name; /* letters, digits and -, at most 40 */
    const char *help; /* one line */
    void *context;    /* for VssdView; NULL in a shared object */

    /* Optional (NULL: none).  Bytes of state for a drive.  They are zeroes when
     * init() is called, which is optional, too. */
    size_t (*state_bytes)(const VssdShape *shape);
    void (*init)(void *state, const VssdShape *shape);

    /* Optional (NULL).  May a state that was loaded be used?  Its bytes may be
     * anything. */
    bool (*check)(const void *state, const VssdShape *shape);

    /* That of its kind. */
    const VssdGcPolicy *gc;
    const VssdAllocPolicy *alloc;
    const VssdBufferPolicy *buffer;
    const VssdPlacementPolicy *placement;
    const VssdMapPolicy *map;
} VssdPolicy;

/* What a shared object exports. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const VssdPolicy vssd_policy;

#endif
