/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-input.h - the inputs of fuzz-nvme: a head that chooses the drive, its
 * content and its host, then actions.  Head and action take 8 bytes each, so
 * that a mutator keeps the rest in place.
 */
#ifndef VSSD_TESTS_NVME_INPUT_H
#define VSSD_TESTS_NVME_INPUT_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_HEAD_BYTES 8
#define FUZZ_ACTION_BYTES 8
#define FUZZ_MOST_ACTIONS 400

/* The head: one byte each. */
enum {
    HEAD_DRIVE,   /* row of the table of drives, nvme-drives.c */
    HEAD_POLICY,  /* GC 2:0, allocation 5:3, wear levelling 7:6 */
    HEAD_BUFFER,  /* policy 3:0, and FUZZ_BUFFER_... */
    HEAD_ARRAY,   /* schedule 1:0, suspend 3:2, and FUZZ_ARRAY_... */
    HEAD_MEDIA,   /* what fails 2:0, scripted faults 6:3 */
    HEAD_HOST,    /* FUZZ_HOST_... */
    HEAD_CONTENT, /* data of the drive and the store at the start 2:0; with
                     several namespaces 3; with protection information 4;
                     with secondary controllers 5, or for several
                     controllers 6 */
    HEAD_SHAPE,   /* mdts 1:0, queues 3:2, namespace size 5:4, write-through 6,
                     small backlog 7 */
};

#define FUZZ_BUFFER_LARGE    0x10
#define FUZZ_BUFFER_INTERVAL 0x20
#define FUZZ_BUFFER_EARLY    0x40
#define FUZZ_BUFFER_GROUP    0x80

#define FUZZ_ARRAY_PLANE_LOCK 0x10
#define FUZZ_ARRAY_CACHE      0x20
#define FUZZ_ARRAY_ONFI       0x40
#define FUZZ_ARRAY_SLOW_LINK  0x80

#define FUZZ_HOST_LARGE_BLOCKS 0x01 /* 4096 bytes, where the drive can */
#define FUZZ_HOST_PIN          0x02
#define FUZZ_HOST_HONEST       0x04 /* a driver that keeps the rules: what it
                                       wrote is checked */
#define FUZZ_HOST_SHADOW       0x08 /* honest: uses shadow doorbells */
#define FUZZ_HOST_SLOW         0x10 /* the store is, at the start */
#define FUZZ_HOST_OPLOG        0x20
#define FUZZ_HOST_TRACE        0x40
#define FUZZ_HOST_COLD         0x80 /* not enabled at the start */

/* An action; a byte, a byte, 16 and 32 bits, little-endian. */
typedef struct FuzzAction {
    uint8_t op; /* FuzzOp, modulo FUZZ_N_OPS */
    uint8_t k;
    uint16_t a;
    uint32_t b;
} FuzzAction;

/* Comments give the meaning of k, a and b.  "-": not by an honest host. */
#define FUZZ_OPS(X)                                                            \
    X(RUN, run)             /* nvme_run() until it has no more to do */        \
    X(STEPS, steps)         /* k: how many events */                           \
    X(SLEEP, sleep)         /* a << (k & 31) ns */                             \
    X(IDLE, idle)           /* - the same, and the controller is left alone */ \
    X(POLL, poll)           /* completions of queue k; a: at most */           \
    X(IO, io)               /* k: opcode, queue, FUA, scattered; a: LBA;       \
                               b: blocks, directive, its value */              \
    X(BURST, burst)         /* as IO, a >> 12 more of them, one doorbell */    \
    X(DSM, dsm)             /* k: ranges; a: LBA; b: blocks, stride,           \
                               attributes, queue */                            \
    X(FLUSH, flush)         /* k: queue */                                     \
    X(IDENTIFY, identify)   /* k: CNS; a: CDW10 31:16; b: NSID, CDW11 */       \
    X(LOG, log)             /* k: page, flags; a: NUMD; b: offset */           \
    X(GET, get_feature)     /* k: feature, select; a: NSID; b: CDW11 */        \
    X(SET, set_feature)     /* k: feature, save; a: NSID, data; b: CDW11 */    \
    X(ABORT, abort)         /* k: of those in flight; - a: any */              \
    X(EVENT, event)         /* Asynchronous Event Request */                   \
    X(DIRECTIVE, directive) /* k: operation; a: its value; b: CDW12; with k 7  \
                               and several namespaces: one of these */         \
    X(MANAGE, manage)       /* I/O Management; k: kind; a: NUMD; b: handles */ \
    X(SHADOW, shadow)       /* Doorbell Buffer Config; k: - bad ones */        \
    X(CREATE, create)       /* k: queue, completion queue; a: size, vector */  \
    X(DELETE, delete)       /* k: queue and kind */                            \
    X(PATCH, patch)         /* - the next command: dword k, how; b: value */   \
    X(RAW, raw)             /* - k: opcode, a: queue, NSID; b: CDW10 */        \
    X(DOORBELL, doorbell)   /* - k: which; b: value */                         \
    X(WRITE_REG, write_reg) /* - k: which, width; b: value */                  \
    X(ANY_REG, any_reg)     /* - a: offset; k: width; b: value */              \
    X(MEMORY, memory)       /* - k: where; a: offset; b: value */              \
    X(STORE_END, store_end) /* k: how; a: which; b: how many */                \
    X(STORE, store)         /* k: what fails, whether it is slow */            \
    X(BRING_UP, bring_up)   /* k: page size, - what is wrong; a: sizes */      \
    X(DISABLE, disable)     /* CC.EN = 0 */                                    \
    X(SHUTDOWN, shutdown)   /* CC.SHN */                                       \
    X(RESET, reset)         /* of the function */                              \
    X(POWER, power)         /* k: off, on */                                   \
    X(MASK, mask)           /* INTMS, INTMC; b: bits */                        \
    X(HOLD, hold)           /* k: on, off */                                   \
    X(RELOAD, reload)       /* save and load; k: - what is forged; a: where */ \
    X(LOOK, look)           /* k: statistics, documents, a clone, a check */   \
    X(ADMIN, admin)         /* other admin commands; k: which, a, b: CDW10 */  \
    X(VERIFY, verify)       /* k: queue; a: LBA; b: blocks */                  \
    X(MARK, mark)           /* Write Uncorrectable: k: queue; a: LBA; b: n */  \
    X(COPY, copy)           /* k: queue, ranges; a: LBA; b: source, blocks */  \
    X(FUSE, fuse)           /* k: queue, same data; a: LBA; b: blocks */       \
    X(CANCEL, cancel)       /* k: queue, action; a: of those in flight */      \
    X(PEER, peer)           /* - another controller; k: what, opcode; a: NSID; \
                               b: CDW10, CC */                                 \
    X(RESERVE, reserve)     /* - k: opcode, NSID, who; a: keys; b: CDW10 */    \
    X(KEY, key)             /* - k: opcode, queue, key length; a: the key;     \
                               b: bytes, options */

#define FUZZ_ENUM(name, fn) FUZZ_##name,
typedef enum FuzzOp { FUZZ_OPS(FUZZ_ENUM) FUZZ_N_OPS } FuzzOp;
#undef FUZZ_ENUM

/* IO: k 3:0, index of this table; then queue 5:4, FUA 6, scattered 7. */
enum {
    FUZZ_IO_READ,
    FUZZ_IO_WRITE,
    FUZZ_IO_COMPARE,
    FUZZ_IO_ZEROES,
    FUZZ_IO_SAME, /* a Compare with equal data: honest */
    FUZZ_IO_KINDS,
};

/* How many drives nvme-drives.c has, beside those that came later. */
unsigned fuzz_n_drives(void);

#endif
