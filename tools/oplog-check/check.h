/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.h - shared by the files of vssd-oplog-check: the format's names, and
 * the tables.
 *
 *   oplog-check.c      the file: header, records in turn, the result
 *   check-tables.c     tables of the drive's size: memory where it is touched
 *   check-ops.c        records of operations
 *   check-units.c      records of commands, units and power cuts
 *   check-medium.c     contents of each page; place of each logical unit
 *   check-resources.c  who holds each channel, plane and unit
 *   check-report.c     a broken rule, with the history
 */
#ifndef VSSD_CHECK_H
#define VSSD_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define NONE          UINT64_MAX
#define RECORD_BYTES  40
#define HEADER_BYTES  136
#define MOST_UNITS    (1ULL << 40)
#define CHUNK_UNITS   2048 /* logical units touched or trimmed at a time */
#define HISTORY (1U << 17) /* records looked through when a rule is broken */
#define HISTORY_LINES 40
#define BUCKETS (1U << 16)
#define FAILED_COPIES 65536

enum {
    SUBMIT = 1,
    SPAN,
    DONE,
    CMD,
    CMD_DONE,
    BUFFER,
    PLACE,
    LOOKUP,
    TRIM,
    PRELOAD,
    PRELOAD_PAGE,
    POWER_CUT,
    END,
    TAKE_BACK,
    RESTORE,
    LOST_PAGE,
    N_TYPES
};
enum { READ, PROGRAM, ERASE, COPYBACK, N_KINDS };
enum { IN = 1, STATUS, OUT, CELL, GAP, SUSPEND, ECC, N_SPANS };
enum { CMD_READ, CMD_WRITE, CMD_TRIM, CMD_FLUSH, CMD_SHUTDOWN, N_CMDS };
enum { UNMAPPED, BUFFERED, IN_NAND, CACHED };
enum { LOCK_DIE, LOCK_PLANE, LOCK_CHIP };
enum {
    FLAG_CACHE = 1,
    FLAG_SUSPEND = 2,
    FLAG_MULTI = 4,
    FLAG_INDEPENDENT = 8,
    FLAG_AT_PROGRAM = 16,
    FLAG_NO_DRAIN = 32,
    FLAG_KEEPS = 64,
    FLAG_ASYNC = 128,
    FLAG_MODES = 256 /* blocks enter and leave SLC mode */
};
enum {
    ERASED,
    WRITTEN_TO,
    HOLDS,
    TORN,
    DESTROYED /* by a torn program of its word line */
}; /* a page */

typedef struct Record {
    uint8_t type, a;
    uint16_t b;
    uint32_t bytes; /* of a SUBMIT */
    uint64_t at, x, y, c;
} Record;

typedef struct Header {
    uint32_t channels, chips, dies, planes, blocks, pages, page_bytes;
    uint32_t unit_bytes, block_bytes, pages_per_program, lock, flags;
    uint32_t mt_s, width;
    uint64_t ps_per_byte, read_ps, prog_ps, erase_ps, user_units;
    uint64_t meta_units;            /* of the drive's own, after the user's */
    uint32_t slc_blocks, slc_pages; /* the first blocks of each plane */
    uint32_t paired; /* pages of a word line, or 0: none are lost */
} Header;

/* A unit that a program puts into its page. */
typedef struct Placed {
    uint64_t lpn, ppu;
    uint64_t from; /* a copy: where it was; else NONE */
    uint32_t gen;  /* of the unit in the buffer */
    uint16_t stream;
    uint64_t no;   /* of the record */
} Placed;

/* Data of a physical unit, if its page HOLDS any: copies of one
 * generation of a logical unit are alike. */
typedef struct Content {
    uint64_t lpn; /* + 1; 0: nothing */
    uint32_t gen;
    uint16_t stream;
} Content;

typedef struct Op {
    struct Op *next;
    uint64_t id, submitted;
    uint64_t no;
    uint64_t page, from, owner, group;
    uint32_t bytes;
    uint8_t kind;
    bool holds; /* its unit */
    uint32_t n_span[N_SPANS];
    uint64_t cell_ps;
    Placed *placed;
    uint32_t n_placed;
} Op;

typedef struct Cmd {
    struct Cmd *next;
    uint64_t serial, lba, submitted;
    uint64_t no; /* of the record */
    uint32_t nblocks;
    uint8_t op;
    bool fua;
    bool close; /* a flush of the stream alone */
    uint16_t stream;
    uint64_t units; /* entered or looked up so far */
    uint64_t in_nand;
    uint64_t bytes; /* of NAND reads for it */
    uint32_t reads; /* in flight */
} Cmd;

typedef struct Block {
    uint32_t low, high; /* the next program goes to a page from low to high */
    uint32_t programs;  /* in flight */
    uint32_t live;      /* units that the map needs */
    uint32_t cell_page; /* the last program in the array, + 1 */
    uint32_t stream;    /* of the host's data, + 1; 0: nothing yet */
    bool erasing;       /* or to be erased again */
    bool erase_running;
    bool slc; /* its last first page was programmed in SLC mode */
} Block;

/* The last holder of a resource. */
typedef struct Held {
    uint64_t end;       /* of the last group */
    uint64_t other_end; /* of the groups before it */
    uint64_t group;
} Held;

typedef struct Unit {
    Held cell;
    uint64_t holder; /* group */
    uint32_t n_holders;
    uint64_t released;
    uint32_t n_readers; /* FLAG_ASYNC: planes whose reads hold it */
    uint64_t read_until, readers_left; /* in the array; at all */
} Unit;

/* A logical unit.  Generations distinguish its data in the buffer. */
typedef struct Lpn {
    uint64_t ppu;    /* + 1; 0: not in NAND */
    uint32_t gen;    /* entered the buffer */
    uint32_t placed; /* generation that a page was given */
    uint32_t clean;  /* generation that is durable, or dropped */
    uint32_t serial; /* of the command of gen */
    uint32_t failed; /* generation whose program failed, to be placed again */
    uint16_t stream; /* of gen */
    bool dropped;    /* trimmed meanwhile: it will be stale */
    bool kept;       /* was in the buffer when the power went */
    bool seen;       /* written or read since the power came: may be cached */
    uint64_t trim_no;
} Lpn;

/* CHUNK_UNITS logical units.  Until one of them is touched, all are as new, but
 * for a TRIM of all of them. */
typedef struct Chunk {
    uint64_t trim_no; /* of its record */
    bool touched;
} Chunk;

/* Buffered units in the order in which they came. */
typedef struct Entered {
    uint64_t no;
    uint64_t lpn;
    uint32_t gen;
} Entered;

typedef struct Check {
    FILE *file;
    Header h;
    uint32_t planes, units, planes_per_unit, planes_per_channel;
    uint32_t units_per_page, blocks_per_unit; /* host blocks per unit */
    uint64_t pages, ppus;

    Block *block;
    uint8_t *page;
    Content *content;
    Unit *unit;
    Held *plane;
    Unit *reads; /* of each plane, with FLAG_ASYNC */
    uint64_t *channel_end;
    Lpn *lpn; /* of a unit that has been touched; others: unit_at() */
    Chunk *chunk;
    uint64_t *touched; /* chunks */
    uint64_t n_touched, max_touched;
    Op *op[BUCKETS];
    Cmd *cmd[BUCKETS];
    uint64_t n_cmds; /* in flight */

    Placed *pending; /* placed, program not yet submitted */
    uint32_t n_pending, max_pending;
    uint64_t failed[FAILED_COPIES]; /* where the units came from */
    uint32_t n_failed;
    Entered *fifo;
    uint64_t fifo_head, fifo_tail, fifo_size;

    Record *ring;
    Record r;    /* the present record */
    uint64_t no; /* its number, from 1 */
    uint64_t now;
    bool ended;

    uint64_t n_ops[N_KINDS], n_done_cmds, entered, rewritten, trimmed, placed;
    uint64_t copied, padded, meta, cuts;
    uint64_t n_kept; /* units that must still be restored */
} Check;

extern Check k;

/* ---- check-report.c ------------------------------------------------------ */

uint32_t block_of(uint64_t page);
uint64_t first_page(uint32_t block);
uint32_t page_in_block(uint64_t page);
uint32_t pages_of(uint64_t page); /* of its block */
uint32_t programs(const Op *op);  /* pages that it programs */

/* A rule is broken: name it, show the record and the history of the page's
 * block (or NONE) and of the command (or 0), and end with status 1. */
void broken(uint64_t page, uint64_t serial, const char *rule,
            const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

/* The log cannot be judged: status 2. */
void unreadable(const char *what) __attribute__((noreturn));
void *take(uint64_t n, size_t bytes);

/* ---- check-tables.c ------------------------------------------------------ */

/* Zeroes that take memory where they are touched; they stay to the end. */
void *take_table(uint64_t n, size_t bytes);

/* The unit's record, for any use. */
Lpn *unit_at(uint64_t lpn);

/* Units first..last are unmapped by this record. */
void trim_units(uint64_t first, uint64_t last);

/* Has each of the units first..end - 1 been unmapped after the record no?  Else
 * *missing is one that was not. */
bool all_trimmed(uint64_t first, uint64_t end, uint64_t no, uint64_t *missing);

/* For each unit that was touched, in any order. */
void each_touched(void (*fn)(Lpn *l));

/* ---- operations and commands in flight: check-report.c ------------------- */

/* Operations and commands in flight, by number; _place: where it is linked,
 * _find: it must be there. */
Op **op_place(uint64_t id);
Op *op_find(uint64_t id);
void op_drop(uint64_t id);
Cmd **cmd_place(uint64_t serial);
Cmd *cmd_find(uint64_t serial);

/* ---- check-medium.c ------------------------------------------------------ */

void set_pages(uint64_t first, uint32_t n, uint8_t state);
void medium_read(const Op *op, uint64_t page);
void medium_program(const Op *op, uint32_t n);
void medium_erase(const Op *op);
void medium_erased(const Op *op);
Lpn *lpn_of(uint64_t lpn);   /* a unit of the user */
Lpn *any_unit(uint64_t lpn); /* or of the drive's own */
bool is_buffered(const Lpn *l);
void map_set(Lpn *l, uint64_t ppu_plus_1);
void unit_programmed(const Placed *p);
void unit_failed(const Placed *p);
bool copied_again(uint64_t ppu);

/* ---- check-resources.c --------------------------------------------------- */

uint32_t plane_of(uint64_t page);
void hold_bus(const Op *op, uint64_t from);
void hold_array(const Op *op, uint64_t from);
void hold_unit(Op *op, uint64_t from);
void let_go(Op *op);

/* ---- check-ops.c --------------------------------------------------------- */

void check_page(uint64_t page);
void on_submit(const Record *r);
void on_span(const Record *r);
void on_done(const Record *r);

/* ---- check-units.c ------------------------------------------------------- */

void on_cmd(const Record *r);
void on_cmd_done(const Record *r);
void on_buffer(const Record *r);
void on_place(const Record *r);
void on_lookup(const Record *r);
void on_trim(const Record *r);
void on_take_back(const Record *r);
void on_restore(const Record *r);
void on_preload(const Record *r);
void on_preload_page(const Record *r);
void on_power_cut(void);
void on_lost_page(const Record *r);

#endif
