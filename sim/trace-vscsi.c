/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-vscsi.c - CloudPhysics' traces of VMware's vscsiStats, versions 1 and
 * 2, as libCacheSim distributes them.
 *
 * Records of one size, little-endian: SCSI commands with an address in sectors
 * of 512 bytes, a size in bytes, and microseconds.  The high byte of `version`
 * is 1 or 2.
 */
#include <string.h>

#include "blk-kind.h"
#include "simtime.h"

/* Where the members of a record are.  Version 1 begins with a serial number and
 * ends with the time; version 2 begins with the command, and has the response
 * time behind. */
typedef struct Layout {
    uint8_t number; /* of the version */
    uint8_t record_bytes;
    uint8_t command; /* 16 bits */
    uint8_t version; /* 16 bits */
    uint8_t nbytes;  /* 32 bits */
    uint8_t sector;  /* 64 bits */
    uint8_t time_us; /* 64 bits */
} Layout;

static const Layout layouts[] = {
    {2, 40, 0, 2, 8, 16, 24},
    {1, 32, 12, 14, 4, 16, 24},
};

#define MAX_RECORD_BYTES 40

/* Records of the head that must be of the version. */
#define SAMPLE_RECORDS 8

/* SCSI operation codes; others are counted as commands. */
static const struct {
    uint8_t code;
    BlkKind kind;
} commands[] = {
    {0x08, BLK_READS},   {0x28, BLK_READS},   /* READ(6), (10) */
    {0xa8, BLK_READS},   {0x88, BLK_READS},   /* (12), (16) */
    {0x0a, BLK_WRITES},  {0x2a, BLK_WRITES},  /* WRITE(6), (10) */
    {0xaa, BLK_WRITES},  {0x8a, BLK_WRITES},  /* (12), (16) */
    {0x2e, BLK_WRITES},  {0xae, BLK_WRITES},  /* WRITE AND VERIFY(10), (12) */
    {0x8e, BLK_WRITES},                       /* (16) */
    {0x35, BLK_FLUSHES}, {0x91, BLK_FLUSHES}, /* SYNCHRONIZE CACHE */
};

typedef struct VscsiState {
    const Layout *layout; /* NULL: the head is of neither version */
} VscsiState;

static uint16_t get16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return GUINT16_FROM_LE(v);
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return GUINT32_FROM_LE(v);
}

static uint64_t get64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return GUINT64_FROM_LE(v);
}

static bool is_record(const Layout *l, const uint8_t *record)
{
    return get16(record + l->version) >> 8 == l->number &&
           get16(record + l->command) <= UINT8_MAX;
}

static const Layout *find_layout(const char *head, size_t n)
{
    for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++) {
        const Layout *l = &layouts[i];
        size_t n_records = MIN(n / l->record_bytes, SAMPLE_RECORDS);
        size_t good = 0;

        while (good < n_records &&
               is_record(l, (const uint8_t *)head + good * l->record_bytes)) {
            good++;
        }
        if (n_records > 0 && good == n_records) {
            return l;
        }
    }
    return NULL;
}

static const char *take_record(const Layout *l, const uint8_t *record,
                               TraceRecord *out)
{
    BlkRequest is = {.kind = BLK_LEFT_COMMANDS};
    uint64_t time_us = get64(record + l->time_us);

    if (!is_record(l, record)) {
        return "a record of another version, or with no SCSI command";
    }
    if (time_us > UINT64_MAX / NS_PER_US) {
        return "the time is too large";
    }
    out->at_ns = time_us * NS_PER_US;
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (commands[i].code == get16(record + l->command)) {
            is.kind = commands[i].kind;
        }
    }
    return blk_to_record(&is, get64(record + l->sector),
                         get32(record + l->nbytes), out);
}

static InputRead vscsi_read(void *opaque, Input *in, TraceRecord *out,
                            const char **reason, GError **error)
{
    VscsiState *state = opaque;
    uint8_t record[MAX_RECORD_BYTES];
    InputRead got;

    if (!state->layout) {
        *reason = "not records of vscsiStats, version 1 or 2";
        return INPUT_BAD;
    }
    got = input_bytes(in, record, state->layout->record_bytes, error);
    if (got == INPUT_OK) {
        *reason = take_record(state->layout, record, out);
    } else if (got == INPUT_BAD) {
        *reason = "the file ends within a record";
    }
    return got;
}

static bool vscsi_detect(const char *head, size_t n)
{
    return find_layout(head, n) != NULL;
}

static void vscsi_begin(void *opaque, const TraceOptions *o, const char *head,
                        size_t n)
{
    VscsiState *state = opaque;

    state->layout = find_layout(head, n);
}

const TraceFormat trace_vscsi = {
    .name = "vscsi",
    .help = "CloudPhysics' records of vscsiStats, binary, version 1 or 2",
    .state_bytes = sizeof(VscsiState),
    .read = vscsi_read,
    .detect = vscsi_detect,
    .begin = vscsi_begin,
    .units = {NS_PER_US, TRACE_SECTOR_BYTES, 1},
};
