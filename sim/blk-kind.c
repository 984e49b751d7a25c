/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blk-kind.c - letters and numbers of Linux's block layer as requests.
 *
 * Tables name every letter: what is no request of the device is left out and
 * counted.
 */
#include "blk-kind.h"

#include <string.h>

#include "fields.h"

const char *blk_leave(TraceRecord *out, TraceLeft left)
{
    out->left = left;
    return trace_left_out;
}

static const SsdOp ops[] = {
    [BLK_READS] = SSD_OP_READ,
    [BLK_WRITES] = SSD_OP_WRITE,
    [BLK_TRIM] = SSD_OP_TRIM,
    [BLK_FLUSHES] = SSD_OP_FLUSH,
};

static const TraceLeft left[] = {
    [BLK_LEFT_ZONES] = TRACE_LEFT_ZONES,
    [BLK_LEFT_COMMANDS] = TRACE_LEFT_COMMANDS,
    [BLK_LEFT_UNKNOWN] = TRACE_LEFT_UNKNOWN,
};

const char *blk_to_record(const BlkRequest *is, uint64_t sector,
                          uint64_t nbytes, TraceRecord *out)
{
    if (is->kind >= BLK_LEFT_ZONES) {
        return blk_leave(out, left[is->kind]);
    }
    if (is->kind == BLK_FLUSHES || (is->flush && nbytes == 0)) {
        out->op = SSD_OP_FLUSH;
        return NULL;
    }
    if (nbytes == 0) {
        return blk_leave(out, TRACE_LEFT_EMPTY);
    }
    if (sector > UINT64_MAX / TRACE_SECTOR_BYTES || nbytes > UINT32_MAX) {
        return "sector or sectors are too large";
    }
    out->op = ops[is->kind];
    out->flush_before = is->flush;
    out->fua = is->fua;
    out->offset = sector * TRACE_SECTOR_BYTES;
    out->nbytes = nbytes;
    return NULL;
}

void blk_requeue(BlkRequeued *q, uint64_t device, uint64_t sector,
                 uint64_t nbytes)
{
    q->n += !q->request[q->next].waits;
    q->request[q->next].waits = true;
    q->request[q->next].device = device;
    q->request[q->next].sector = sector;
    q->request[q->next].nbytes = nbytes;
    q->next = (q->next + 1) % BLK_REQUEUED;
}

bool blk_sent_again(BlkRequeued *q, uint64_t device, uint64_t sector,
                    uint64_t nbytes)
{
    for (unsigned i = 0; q->n && i < BLK_REQUEUED; i++) {
        if (q->request[i].waits && q->request[i].device == device &&
            q->request[i].sector == sector && q->request[i].nbytes == nbytes) {
            q->request[i].waits = false;
            q->n--;
            return true;
        }
    }
    return false;
}

bool blk_device(const char **s, uint64_t *device)
{
    uint64_t major, minor;

    field_space(s);
    if (!field_u64(s, &major) || !field_char(s, ',') || !field_u64(s, &minor) ||
        major >= 1 << 12 || minor >= 1 << 20) {
        return false;
    }
    *device = major << 20 | minor;
    return true;
}

/*
 * RWBS, of blkparse and of the kernel's own events: [F] operation flags.  An F
 * before the operation is a flush before it, one behind it FUA.  Without an
 * operation the F is a flush alone.  A longer operation before a shorter one.
 */
static const struct {
    const char *letters;
    BlkKind kind;
} operations[] = {
    {"ZRA", BLK_LEFT_ZONES}, /* all zones: it names no range */
    {"ZR", BLK_TRIM},        /* the zone's data is dropped */
    {"ZA", BLK_WRITES},      /* append, at the address that it names */
    {"ZO", BLK_LEFT_ZONES},  /* open, close, finish */
    {"ZC", BLK_LEFT_ZONES},   {"ZF", BLK_LEFT_ZONES},
    {"WZ", BLK_TRIM}, /* write zeroes: a drive deallocates */
    {"DE", BLK_TRIM}, /* secure erase */
    {"D", BLK_TRIM},          {"R", BLK_READS},
    {"W", BLK_WRITES},        {"F", BLK_FLUSHES}, /* behind another F */
    {"N", BLK_LEFT_COMMANDS},                     /* none */
};

static const struct {
    char letter;
    bool fua;
} flags[] = {
    {'F', true},  {'B', true},  /* a barrier, of old kernels */
    {'A', false}, {'S', false}, /* read ahead; somebody waits */
    {'M', false}, {'U', false}, /* metadata; atomic */
};

static BlkKind take_operation(const char **s)
{
    for (size_t i = 0; i < G_N_ELEMENTS(operations); i++) {
        size_t n = strlen(operations[i].letters);

        if (strncmp(*s, operations[i].letters, n) == 0) {
            *s += n;
            return operations[i].kind;
        }
    }
    return BLK_LEFT_UNKNOWN;
}

static bool take_flag(char letter, bool *fua)
{
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
        if (flags[i].letter == letter) {
            *fua |= flags[i].fua;
            return true;
        }
    }
    return false;
}

BlkRequest blk_kind(const char **s)
{
    BlkRequest is = {0};
    const char *end = field_word_end(*s);

    if (**s == 'F') {
        is.flush = true;
        (*s)++;
    }
    is.kind = take_operation(s);
    if (is.flush &&
        (is.kind == BLK_LEFT_UNKNOWN || is.kind == BLK_LEFT_COMMANDS)) {
        is.kind = BLK_FLUSHES; /* F, FN */
    }
    while (*s < end && take_flag(**s, &is.fua)) {
        (*s)++;
    }
    if (*s < end) {
        is = (BlkRequest){.kind = BLK_LEFT_UNKNOWN};
        *s = end;
    }
    return is;
}

const char *blk_word(const char *text, size_t len, const char *fault,
                     TraceRecord *out)
{
    g_autofree char *letters = NULL;
    const char *s;
    BlkRequest is;

    if (G_LIKELY(op_from_text(text, len, &out->op))) {
        return NULL;
    }
    letters = g_ascii_strup(text, (gssize)len);
    s = letters;
    is = blk_kind(&s);
    if (is.kind == BLK_LEFT_UNKNOWN || *s) {
        return fault;
    }
    if (is.kind > BLK_FLUSHES) {
        return blk_leave(out, left[is.kind]);
    }
    out->op = ops[is.kind];
    out->flush_before = is.flush && is.kind != BLK_FLUSHES;
    out->fua = is.fua;
    return NULL;
}
