/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oplog.h - everything that a drive does, as a file of records.
 *
 * docs/oplog-format.md describes the format.  vssd-oplog-check reads it and
 * shares no code with the model.  A drive without a log pays one branch at each
 * place.
 */
#ifndef VSSD_FTL_OPLOG_H
#define VSSD_FTL_OPLOG_H

#include "nand.h"
#include "ssd.h"

#define OPLOG_SIGNATURE    "vssdLOG1"
#define OPLOG_HEADER_BYTES 136
#define OPLOG_RECORD_BYTES 40
#define OPLOG_SLC          128 /* in a submit record, with the kind */

typedef enum OplogType {
    OPLOG_SUBMIT = 1,   /* an operation is queued */
    OPLOG_SPAN,         /* it has held something for a while */
    OPLOG_DONE,         /* it has ended */
    OPLOG_CMD,          /* a host command is submitted */
    OPLOG_CMD_DONE,     /* it has completed */
    OPLOG_BUFFER,       /* a unit of a WRITE has entered the buffer */
    OPLOG_PLACE,        /* a unit will be in the page submitted next */
    OPLOG_LOOKUP,       /* a unit of a READ: where it was found */
    OPLOG_TRIM,         /* units are unmapped */
    OPLOG_PRELOAD,      /* a unit was there from the beginning */
    OPLOG_PRELOAD_PAGE, /* a page was programmed from the beginning */
    OPLOG_POWER_CUT,
    OPLOG_END,
    OPLOG_TAKE_BACK, /* after a power cut: a copy's original is current again */
    OPLOG_RESTORE,   /* power is back: the buffer still has this unit */
    OPLOG_LOST_PAGE, /* in the power cut: a torn program destroyed the page */
    OPLOG_N_TYPES,
} OplogType;

/* In this order, and little-endian, in the file. */
typedef struct OplogRecord {
    uint8_t type;
    uint8_t a;
    uint16_t b;
    uint32_t bytes; /* submit */
    uint64_t at_ps;
    uint64_t x;
    uint64_t y; /* submit: the source page of a copyback, or the command that a
                   read is for (0: none) */
    uint64_t c;
} OplogRecord;

G_STATIC_ASSERT(sizeof(OplogRecord) == OPLOG_RECORD_BYTES);

typedef enum OplogWhere {
    OPLOG_UNMAPPED,
    OPLOG_IN_BUFFER,
    OPLOG_IN_NAND,
    OPLOG_CACHED, /* in NAND, and the same in the buffer */
} OplogWhere;

/* Reports of ftl/ to the log; oplog_add() does nothing without one, nor does
 * oplog_unit(), for a unit of a stream. */
typedef struct Oplog Oplog;

void oplog_write(Oplog *log, const OplogRecord *r);

/* The command that an operation, a read, is for; NONE: it is for none. */
uint32_t oplog_command(const Ssd *ssd, const NandOp *op);

/* Its serial; 0: none. */
uint64_t oplog_owner(const Ssd *ssd, const NandOp *op);

/* The pages that the medium has lost, after a power cut. */
void oplog_lost_pages(Oplog *log);

static inline void oplog_unit(Oplog *log, OplogType type, unsigned a,
                              unsigned stream, uint64_t c, uint64_t at_ps,
                              uint64_t x, uint64_t y)
{
    if (G_UNLIKELY(log)) {
        OplogRecord r = {
            .type = (uint8_t)type,
            .a = (uint8_t)a,
            .b = (uint16_t)stream,
            .c = c,
            .at_ps = at_ps,
            .x = x,
            .y = y,
        };

        oplog_write(log, &r);
    }
}

static inline void oplog_add(Oplog *log, OplogType type, unsigned a, uint64_t c,
                             uint64_t at_ps, uint64_t x, uint64_t y)
{
    oplog_unit(log, type, a, 0, c, at_ps, x, y);
}

#endif
