/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-defs.h - numbers of the standard: registers, opcodes, status codes.
 *
 * From the NVM Express Base Specification 1.4, or the revision that is named.
 * Knows no state.
 */
#ifndef VSSD_NVME_DEFS_H
#define VSSD_NVME_DEFS_H

#include <stdint.h>
#include <string.h>
#include <glib.h>

#include "nvme-wire.h"

#define NVME_VERSION_2_0 0x00020000

/* 3.1, Register Definition. */
enum {
    NVME_REG_CAP = 0x00,
    NVME_REG_VS = 0x08,
    NVME_REG_INTMS = 0x0c,
    NVME_REG_INTMC = 0x10,
    NVME_REG_CC = 0x14,
    NVME_REG_CSTS = 0x1c,
    NVME_REG_NSSR = 0x20,
    NVME_REG_AQA = 0x24,
    NVME_REG_ASQ = 0x28,
    NVME_REG_ACQ = 0x30,
    NVME_REG_CMBLOC = 0x38,
    NVME_REG_CMBSZ = 0x3c,
    NVME_REG_CMBMSC = 0x50, /* 64 bits */
    NVME_REG_CMBSTS = 0x58,
    NVME_REG_CMBSWTP = 0x60,
    NVME_REG_NSSD = 0x64, /* Base 2.0, NVM Subsystem Shutdown */
    NVME_REG_CRTO = 0x68,
    NVME_REG_PMRCAP = 0xe00,
    NVME_REG_PMRCTL = 0xe04,
    NVME_REG_PMRSTS = 0xe08,
    NVME_REG_PMREBS = 0xe0c,
    NVME_REG_PMRSWTP = 0xe10,
    NVME_REG_PMRMSCL = 0xe14,
    NVME_REG_PMRMSCU = 0xe18,
    NVME_REG_DOORBELLS = 0x1000,
};

#define NVME_CC_EN 0x1U
#define NVME_CC_CSS(cc) ((cc) >> 4 & 0x7)
#define NVME_CC_MPS(cc) ((cc) >> 7 & 0xf)
#define NVME_CC_AMS(cc) ((cc) >> 11 & 0x7)
#define NVME_AMS_WEIGHTED  1 /* round robin with urgent priority class */
#define NVME_CC_SHN(cc) ((cc) >> 14 & 0x3)
#define NVME_CC_IOSQES(cc) ((cc) >> 16 & 0xf)
#define NVME_CC_IOCQES(cc) ((cc) >> 20 & 0xf)
#define NVME_CC_MASK 0x00fffff1U

/* Error Recovery, CDW11 (NVM Command Set 1.0, 4.1.3.1). */
#define NVME_DULBE (1U << 16)

#define NVME_CSTS_RDY 0x1U
#define NVME_CSTS_CFS 0x2U
#define NVME_CSTS_SHST_MASK 0xcU
#define NVME_CSTS_ST        0x40U /* the shutdown is of the NVM subsystem */
#define NVME_NSSD_NORMAL    0x4e726d6cU /* "Nrml" */
#define NVME_NSSD_ABRUPT    0x41627074U /* "Abpt" */
#define NVME_CSTS_SHST_BUSY 0x4U
#define NVME_CSTS_SHST_DONE 0x8U
#define NVME_CSTS_NSSRO     0x10U
#define NVME_CSTS_PP        0x20U

/* CMBSZ: what may be in the controller memory buffer. */
#define NVME_CMB_SQS   0x01U
#define NVME_CMB_CQS   0x02U
#define NVME_CMB_LISTS 0x04U
#define NVME_CMB_RDS   0x08U /* data of reads */
#define NVME_CMB_WDS   0x10U
#define NVME_CMB_ALL   0x1fU

#define NVME_NSSR_VALUE 0x4e564d65U /* "NVMe" */

#define NVME_SQE_BYTES sizeof(NvmeSqEntry)
#define NVME_CQE_BYTES sizeof(NvmeCqEntry)
#define NVME_SQE_SHIFT 6
#define NVME_CQE_SHIFT 4
#define NVME_PAGE_BITS 12 /* CAP.MPSMIN */
#define NVME_PAGE_BITS_MAX 16 /* CAP.MPSMAX */
#define NVME_NSID_ALL 0xffffffffU

enum {
    NVME_ADM_DELETE_SQ = 0x00,
    NVME_ADM_CREATE_SQ = 0x01,
    NVME_ADM_GET_LOG_PAGE = 0x02,
    NVME_ADM_DELETE_CQ = 0x04,
    NVME_ADM_CREATE_CQ = 0x05,
    NVME_ADM_IDENTIFY = 0x06,
    NVME_ADM_ABORT = 0x08,
    NVME_ADM_SET_FEATURES = 0x09,
    NVME_ADM_GET_FEATURES = 0x0a,
    NVME_ADM_ASYNC_EVENT = 0x0c,
    NVME_ADM_FIRMWARE_COMMIT = 0x10,
    NVME_ADM_FIRMWARE_DOWNLOAD = 0x11,
    NVME_ADM_SELF_TEST = 0x14,
    NVME_ADM_KEEP_ALIVE = 0x18,
    NVME_ADM_VIRTUALIZATION = 0x1c,
    NVME_ADM_NS_MANAGEMENT = 0x0d,
    NVME_ADM_NS_ATTACHMENT = 0x15,
    NVME_ADM_DIRECTIVE_SEND = 0x19,
    NVME_ADM_DIRECTIVE_RECEIVE = 0x1a,
    NVME_ADM_DOORBELL_BUFFER = 0x7c,
    NVME_ADM_FORMAT = 0x80,
    NVME_ADM_SANITIZE = 0x84,
    NVME_ADM_GET_LBA_STATUS = 0x86,
};

enum {
    NVME_IO_FLUSH = 0x00,
    NVME_IO_WRITE = 0x01,
    NVME_IO_READ = 0x02,
    NVME_IO_WRITE_UNCORRECTABLE = 0x04,
    NVME_IO_COMPARE = 0x05,
    NVME_IO_WRITE_ZEROES = 0x08,
    NVME_IO_DSM = 0x09,
    NVME_IO_VERIFY = 0x0c,
    NVME_IO_RESERVATION_REGISTER = 0x0d,
    NVME_IO_RESERVATION_REPORT = 0x0e,
    NVME_IO_RESERVATION_ACQUIRE = 0x11,
    NVME_IO_RESERVATION_RELEASE = 0x15,
    NVME_IO_MGMT_RECEIVE = 0x12,
    NVME_IO_CANCEL = 0x18,
    NVME_IO_COPY = 0x19,
    NVME_IO_MGMT_SEND = 0x1d,
    NVME_KV_STORE = 0x01, /* Key Value Command Set 1.0, 3.2 */
    NVME_KV_RETRIEVE = 0x02,
    NVME_KV_LIST = 0x06,
    NVME_KV_DELETE = 0x10,
    NVME_KV_EXIST = 0x14,
    NVME_IO_ZONE_SEND = 0x79, /* Zoned Namespace Command Set 1.1, 3.4 */
    NVME_IO_ZONE_RECEIVE = 0x7a,
    NVME_IO_ZONE_APPEND = 0x7d,
};

/* Directive types, and operations of each; Base 2.2, 8.1.8, Directives. */
enum {
    NVME_DIR_IDENTIFY = 0,
    NVME_DIR_STREAMS = 1,
    NVME_DIR_PLACEMENT = 2,

    NVME_DIR_RECEIVE_PARAMETERS = 1, /* of either type */
    NVME_DIR_SEND_ENABLE = 1,        /* Identify */
    NVME_DIR_RECEIVE_STATUS = 2,     /* Streams, and the following */
    NVME_DIR_RECEIVE_ALLOCATE = 3,
    NVME_DIR_SEND_RELEASE_ID = 1,
    NVME_DIR_SEND_RELEASE = 2,
};

/*
 * Status Field of a completion queue entry, without the phase tag: code in
 * bits 7:0, type in 10:8, More in 13, Do Not Retry in 14.
 */
enum {
    NVME_SC_SUCCESS = 0x000,
    NVME_SC_INVALID_OPCODE = 0x001,
    NVME_SC_INVALID_FIELD = 0x002,
    NVME_SC_DATA_TRANSFER = 0x004,
    NVME_SC_POWER_LOSS = 0x005,
    NVME_SC_INTERNAL = 0x006,
    NVME_SC_ABORT_REQUESTED = 0x007,
    NVME_SC_ABORT_SQ_DELETED = 0x008,
    NVME_SC_FAILED_FUSED = 0x009,
    NVME_SC_MISSING_FUSED = 0x00a,
    NVME_SC_INVALID_NSID = 0x00b,
    NVME_SC_COMMAND_SEQUENCE = 0x00c,
    NVME_SC_SGL_SEGMENT = 0x00d,
    NVME_SC_SGL_COUNT = 0x00e,
    NVME_SC_SGL_LENGTH = 0x00f,
    NVME_SC_SGL_META_LENGTH = 0x010,
    NVME_SC_SGL_TYPE = 0x011,
    NVME_SC_INVALID_CMB = 0x012,
    NVME_SC_PRP_OFFSET = 0x013,
    NVME_SC_ATOMIC_UNIT = 0x014,
    NVME_SC_HOST_ID_FORMAT = 0x018, /* Host Identifier Inconsistent Format */
    NVME_SC_PREEMPT_ABORT = 0x01b,
    NVME_SC_KEEP_ALIVE_EXPIRED = 0x019,
    NVME_SC_KEEP_ALIVE_INVALID = 0x01a,
    NVME_SC_RESERVATION_CONFLICT = 0x083,
    NVME_SC_SANITIZE_FAILED = 0x01c,
    NVME_SC_SANITIZE_IN_PROGRESS = 0x01d,
    NVME_SC_NS_PROTECTED = 0x020,
    NVME_SC_FDP_DISABLED = 0x029,
    NVME_SC_PLACEMENT_LIST = 0x02a, /* Invalid Placement Handle List */
    NVME_SC_LBA_RANGE = 0x080,
    NVME_SC_CAPACITY_EXCEEDED = 0x081,
    NVME_SC_FORMAT_IN_PROGRESS = 0x084,
    NVME_SC_INVALID_VALUE_SIZE = 0x085, /* these five: KV Command Set */
    NVME_SC_INVALID_KEY_SIZE = 0x086,
    NVME_SC_KEY_NOT_THERE = 0x087,  /* KV Key Does Not Exist */
    NVME_SC_KV_UNRECOVERED = 0x088, /* Unrecovered Error */
    NVME_SC_KEY_EXISTS = 0x089,

    NVME_SC_CQ_INVALID = 0x100,
    NVME_SC_QID_INVALID = 0x101,
    NVME_SC_QUEUE_SIZE = 0x102,
    NVME_SC_AER_LIMIT = 0x105,
    NVME_SC_INTERRUPT_VECTOR = 0x108,
    NVME_SC_FW_SLOT = 0x106,
    NVME_SC_FW_IMAGE = 0x107,
    NVME_SC_INVALID_LOG_PAGE = 0x109,
    NVME_SC_FW_CONVENTIONAL_RESET = 0x10b,
    NVME_SC_INVALID_FORMAT = 0x10a,
    NVME_SC_QUEUE_DELETION = 0x10c,
    NVME_SC_FEATURE_NOT_SAVEABLE = 0x10d,
    NVME_SC_FEATURE_NOT_CHANGEABLE = 0x10e,
    NVME_SC_FEATURE_NOT_NS = 0x10f,
    NVME_SC_FW_SUBSYSTEM_RESET = 0x110,
    NVME_SC_FW_RESET = 0x111,
    NVME_SC_FW_PROHIBITED = 0x113,
    NVME_SC_OVERLAPPING_RANGE = 0x114,
    NVME_SC_SELF_TEST = 0x11d,
    NVME_SC_NS_CAPACITY = 0x115,
    NVME_SC_NS_UNAVAILABLE = 0x116,
    NVME_SC_NS_ATTACHED = 0x118,
    NVME_SC_NS_PRIVATE = 0x119,
    NVME_SC_NS_NOT_ATTACHED = 0x11a,
    NVME_SC_NS_THIN = 0x11b,
    NVME_SC_CONTROLLER_LIST = 0x11c,
    NVME_SC_CONTROLLER_ID = 0x11f,
    NVME_SC_SECONDARY_STATE = 0x120,
    NVME_SC_RESOURCE_COUNT = 0x121, /* Invalid Number of Controller Resources */
    NVME_SC_RESOURCE_ID = 0x122,
    NVME_SC_SANITIZE_PMR = 0x123, /* Prohibited While PMR is Enabled */
    NVME_SC_COMMAND_SET = 0x129,
    NVME_SC_COMMAND_SETS = 0x12b,      /* Combination Rejected */
    NVME_SC_WRONG_COMMAND_SET = 0x12c, /* Invalid I/O Command Set */
    NVME_SC_INVALID_PI = 0x181,
    NVME_SC_READ_ONLY = 0x182,
    NVME_SC_COMMAND_SIZE = 0x183,
    NVME_SC_INVALID_CID = 0x184,
    NVME_SC_INCOMPATIBLE_NS = 0x185,
    NVME_SC_OVERLAPPING_IO = 0x187,

    /* Zoned Namespace Command Set 1.1, 3.2. */
    NVME_SC_ZONE_INVALID_OP = 0x1b6,
    NVME_SC_ZONE_NO_ZRWA = 0x1b7, /* Insufficient ZRWA Resources */
    NVME_SC_ZONE_BOUNDARY = 0x1b8,
    NVME_SC_ZONE_FULL = 0x1b9,
    NVME_SC_ZONE_READ_ONLY = 0x1ba,
    NVME_SC_ZONE_OFFLINE = 0x1bb,
    NVME_SC_ZONE_INVALID_WRITE = 0x1bc,
    NVME_SC_TOO_MANY_ACTIVE = 0x1bd,
    NVME_SC_TOO_MANY_OPEN = 0x1be,
    NVME_SC_ZONE_TRANSITION = 0x1bf,

    NVME_SC_WRITE_FAULT = 0x280,
    NVME_SC_UNRECOVERED_READ = 0x281,
    NVME_SC_GUARD = 0x282,
    NVME_SC_APP_TAG = 0x283,
    NVME_SC_REF_TAG = 0x284,
    NVME_SC_COMPARE_FAILURE = 0x285,
    NVME_SC_UNWRITTEN = 0x287, /* Deallocated or Unwritten Logical Block */
    NVME_SC_STORAGE_TAG = 0x288,

    NVME_SC_CODE_MASK = 0x7ff,
    NVME_SC_CRD = 0x1800,
    NVME_SC_MORE = 0x2000,
    NVME_SC_DNR = 0x4000,
};

/* PRINFO (NVM Command Set 1.0): PRACT, PRCHK; and the check of the storage tag,
 * which has a bit of its own. */
#define NVME_PRACT         0x8
#define NVME_PRCHK_GUARD   0x4
#define NVME_PRCHK_APP     0x2
#define NVME_PRCHK_REF     0x1
#define NVME_PRCHK_STORAGE 0x10

/* Log page identifiers that others than the table know. */
#define NVME_LOG_LATENCY     0x0a
#define NVME_LOG_LBA_STATUS  0x0e
#define NVME_LOG_SANITIZE    0x81
#define NVME_LOG_RESERVATION 0x80

/* Reservation types (RTYPE). */
enum {
    NVME_RESERVATION_NONE,
    NVME_RESERVATION_WE,   /* Write Exclusive */
    NVME_RESERVATION_EA,   /* Exclusive Access */
    NVME_RESERVATION_WERO, /* Write Exclusive, Registrants Only */
    NVME_RESERVATION_EARO,
    NVME_RESERVATION_WEAR, /* Write Exclusive, All Registrants */
    NVME_RESERVATION_EAAR,
};

/* A NvmeSqEntry as dwords in the byte order of the host. */
typedef struct NvmeSqe {
    uint32_t dw[16];
} NvmeSqe;

_Static_assert(sizeof(NvmeSqe) == sizeof(NvmeSqEntry), "NvmeSqe");

static inline uint8_t nvme_sqe_opcode(const NvmeSqe *sqe)
{
    return sqe->dw[0] & 0xff;
}

/* FUSE, bits 9:8 of dword 0. */
#define NVME_FUSE_BITS 0x300
#define NVME_PSDT_BITS 0xc000

enum { NVME_FUSE_NONE, NVME_FUSE_FIRST, NVME_FUSE_SECOND };

/* PSDT: 0 PRPs; 1, 2 an SGL, and metadata by address or by an SGL. */
static inline unsigned nvme_sqe_psdt(const NvmeSqe *sqe)
{
    return sqe->dw[0] >> 14;
}

static inline unsigned nvme_sqe_fuse(const NvmeSqe *sqe)
{
    return sqe->dw[0] >> 8 & 3;
}

static inline uint16_t nvme_sqe_cid(const NvmeSqe *sqe)
{
    return sqe->dw[0] >> 16;
}

static inline uint64_t nvme_sqe_u64(const NvmeSqe *sqe, unsigned dw)
{
    return sqe->dw[dw] | (uint64_t)sqe->dw[dw + 1] << 32;
}

#define NVME_SQE_DW(member) (offsetof(NvmeSqEntry, member) / 4)

#define nvme_sqe_mptr(sqe) nvme_sqe_u64(sqe, NVME_SQE_DW(mptr))
#define nvme_sqe_prp1(sqe) nvme_sqe_u64(sqe, NVME_SQE_DW(prp1))
#define nvme_sqe_prp2(sqe) nvme_sqe_u64(sqe, NVME_SQE_DW(prp2))
#define nvme_sqe_slba(sqe) nvme_sqe_u64(sqe, NVME_SQE_DW(cdw10))

/* Little-endian fields of structures in guest memory. */
static inline void put_le16(uint8_t *p, uint16_t v)
{
    v = GUINT16_TO_LE(v);
    memcpy(p, &v, sizeof(v));
}

static inline void put_le32(uint8_t *p, uint32_t v)
{
    v = GUINT32_TO_LE(v);
    memcpy(p, &v, sizeof(v));
}

static inline void put_le64(uint8_t *p, uint64_t v)
{
    v = GUINT64_TO_LE(v);
    memcpy(p, &v, sizeof(v));
}

static inline uint16_t get_le16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return GUINT16_FROM_LE(v);
}

static inline uint32_t get_le32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return GUINT32_FROM_LE(v);
}

static inline uint64_t get_le64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return GUINT64_FROM_LE(v);
}

#endif
