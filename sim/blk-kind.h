/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blk-kind.h - what a request of Linux's block layer is, for the formats that
 * name it as the kernel does.
 */
#ifndef VSSD_SIM_BLK_KIND_H
#define VSSD_SIM_BLK_KIND_H

#include "trace.h"

/* What a record of the action that counts is.  BLK_LEFT_*: left out. */
typedef enum BlkKind {
    BLK_READS,
    BLK_WRITES,
    BLK_TRIM,
    BLK_FLUSHES,
    BLK_LEFT_ZONES,
    BLK_LEFT_COMMANDS,
    BLK_LEFT_UNKNOWN,
} BlkKind;

typedef struct BlkRequest {
    BlkKind kind;
    bool flush; /* before it */
    bool fua;
} BlkRequest;

/* Requests that the device did not take, which it is sent again: the newest. */
#define BLK_REQUEUED 64

typedef struct BlkRequeued {
    struct {
        bool waits;
        uint64_t device;
        uint64_t sector;
        uint64_t nbytes;
    } request[BLK_REQUEUED];
    unsigned n;    /* that wait */
    unsigned next; /* place of the next one */
} BlkRequeued;

/* Count the record as left out; trace_left_out. */
const char *blk_leave(TraceRecord *out, TraceLeft left);

/* NULL, trace_left_out, or the fault. */
const char *blk_to_record(const BlkRequest *is, uint64_t sector,
                          uint64_t nbytes, TraceRecord *out);

/* The letters RWBS, which *s is moved behind. */
BlkRequest blk_kind(const char **s);

/* A field of a line that is an operation, in any case: a word of op_from_text()
 * or the letters RWBS.  NULL, trace_left_out, or the fault, which is given. */
const char *blk_word(const char *text, size_t len, const char *fault,
                     TraceRecord *out);

/* For records of blk_word(), when all is known: a flush before nothing is a
 * flush alone. */
static inline void blk_complete(TraceRecord *out)
{
    if (out->flush_before && out->nbytes == 0) {
        out->flush_before = false;
        out->op = SSD_OP_FLUSH;
    }
}

/* "8,16" as one number, spaces before it allowed. */
bool blk_device(const char **s, uint64_t *device);

void blk_requeue(BlkRequeued *q, uint64_t device, uint64_t sector,
                 uint64_t nbytes);

/* It was sent before, and has been counted then. */
bool blk_sent_again(BlkRequeued *q, uint64_t device, uint64_t sector,
                    uint64_t nbytes);

#endif
