/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * durable-log.c - a file of all that becomes durable, and of I/O commands.
 *
 * From it, the content of the drive after a power cut at any instant can be
 * made (docs/durable-log-format.md).  Knows the format only.  A write error is
 * told when the log ends.
 */
#include "queue/durable-log.h"
#include "filelock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SIGNATURE    "vssdDUR1"
#define BUFFER_BYTES (1 << 20)

typedef enum RecordType {
    RECORD_DATA = 1,
    RECORD_ZEROES,
    RECORD_START,
    RECORD_END,
} RecordType;

#define START_FUA 1

/* In the file, little-endian. */
typedef struct Record {
    uint64_t at_ns;
    uint64_t lba;
    uint64_t nblocks;
    uint8_t type;
    uint8_t opcode;
    uint16_t status; /* START: START_FUA */
    uint16_t sqid;
    uint16_t cid;
} Record;

struct NvmeDurableLog {
    FILE *file;
    FileLock *lock;
    char *path;
    int err; /* errno of the first write that failed, or 0 */
    uint32_t block_bytes;
    uint64_t last_ns[2]; /* of a change, of a command */
};

static void put(NvmeDurableLog *log, const void *data, size_t bytes)
{
    if (bytes && fwrite(data, bytes, 1, log->file) != 1 && !log->err) {
        log->err = errno;
    }
}

/* The instants of changes never decrease, nor do those of commands.  Changes
 * have the model's instants, which may be earlier than those at which the
 * controller has seen the commands of before. */
static void put_record(NvmeDurableLog *log, uint64_t now_ns, Record r)
{
    uint64_t *last_ns = &log->last_ns[r.type >= RECORD_START];

    *last_ns = MAX(*last_ns, now_ns);
    r = (Record){
        .at_ns = GUINT64_TO_LE(*last_ns),
        .lba = GUINT64_TO_LE(r.lba),
        .nblocks = GUINT64_TO_LE(r.nblocks),
        .type = r.type,
        .opcode = r.opcode,
        .status = GUINT16_TO_LE(r.status),
        .sqid = GUINT16_TO_LE(r.sqid),
        .cid = GUINT16_TO_LE(r.cid),
    };
    put(log, &r, sizeof(r));
}

static void put_header(NvmeDurableLog *log, uint64_t nblocks)
{
    struct {
        char signature[8];
        uint32_t block_bytes;
        uint32_t zero;
        uint64_t nblocks;
        uint64_t zeroes;
    } h = {
        .block_bytes = GUINT32_TO_LE(log->block_bytes),
        .nblocks = GUINT64_TO_LE(nblocks),
    };

    G_STATIC_ASSERT(sizeof(h) == 32 && sizeof(Record) == 32);
    memcpy(h.signature, SIGNATURE, sizeof(h.signature));
    put(log, &h, sizeof(h));
}

NvmeDurableLog *nvme_durable_log_new(const char *path, uint32_t block_bytes,
                                     uint64_t nblocks, GError **error)
{
    FileLock *lock;
    FILE *file = filelock_open(path, &lock, error);
    NvmeDurableLog *log;

    if (!file) {
        g_prefix_error(error, "durable_log=");
        return NULL;
    }
    log = g_new0(NvmeDurableLog, 1);
    log->file = file;
    log->lock = lock;
    log->path = g_strdup(path);
    log->block_bytes = block_bytes;
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    put_header(log, nblocks);
    return log;
}

bool nvme_durable_log_free(NvmeDurableLog *log, GError **error)
{
    bool ok;

    if (fclose(log->file) != 0 && !log->err) {
        log->err = errno;
    }
    filelock_release(log->lock);
    ok = !log->err;
    if (!ok) {
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(log->err),
                    "durable_log=%s: %s", log->path, g_strerror(log->err));
    }
    g_free(log->path);
    g_free(log);
    return ok;
}

void nvme_durable_log_data(NvmeDurableLog *log, uint64_t now_ns, uint64_t lba,
                           uint64_t nblocks, const uint8_t *data)
{
    put_record(log, now_ns,
               (Record){.type = data ? RECORD_DATA : RECORD_ZEROES,
                        .lba = lba,
                        .nblocks = nblocks});
    if (data) {
        put(log, data, (size_t)nblocks * log->block_bytes);
    }
}

void nvme_durable_log_command(NvmeDurableLog *log, uint64_t now_ns,
                              const NvmeTrace *t)
{
    if (t->admin) {
        return;
    }
    put_record(log, now_ns,
               (Record){.type = t->end ? RECORD_END : RECORD_START,
                        .lba = t->lba,
                        .nblocks = t->nblocks,
                        .opcode = t->opcode,
                        .status = t->end   ? t->status
                                  : t->fua ? START_FUA
                                           : 0,
                        .sqid = t->sqid,
                        .cid = t->cid});
}
