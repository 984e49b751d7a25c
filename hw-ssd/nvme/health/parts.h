/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of health/: events, the Persistent Event log, Device
 * Self-test. */
#ifndef VSSD_NVME_HEALTH_PARTS_H
#define VSSD_NVME_HEALTH_PARTS_H

#include "nvme-defs.h"
#include "rooms.h"

/* ---- events.c ------------------------------------------------------------ */

#define NVME_AERL 4 /* Async Event Requests outstanding */

/* Types of asynchronous events (5.2); index of members of NvmeEvents. */
enum {
    NVME_EVENT_ERROR = 0,
    NVME_EVENT_SMART = 1,
    NVME_EVENT_TYPES = 2,
};
enum {
    NVME_EVENT_BAD_DOORBELL = 0,
    NVME_EVENT_BAD_DOORBELL_VALUE = 1,
    NVME_EVENT_SMART_RELIABILITY = 0,
    NVME_EVENT_SMART_TEMPERATURE = 1,
    NVME_EVENT_SMART_SPARE = 2,
};

/* Asynchronous events of type Notice: index of members of NvmeNotices. */
enum {
    NVME_NOTICE_FIRMWARE,
    NVME_NOTICE_TELEMETRY,
    NVME_NOTICE_LATENCY,
    NVME_NOTICE_NAMESPACES, /* Namespace Attribute Changed */
    NVME_NOTICE_SANITIZED,  /* these two: of I/O command sets, not notices */
    NVME_NOTICE_DEALLOCATED,
    NVME_NOTICE_LBA_STATUS,
    NVME_NOTICE_ZONES,       /* Zone Descriptor Changed */
    NVME_NOTICE_RESERVATION, /* Reservation Log Page Available */
    NVME_N_NOTICES,
};

/* Critical warnings of the SMART log. */
#define NVME_WARN_SPARE       0x01
#define NVME_WARN_TEMPERATURE 0x02
#define NVME_WARN_RELIABILITY 0x04
#define NVME_WARN_READ_ONLY   0x08

/* Available spare below this share is worth a warning, in %. */
#define NVME_SPARE_THRESHOLD 10

/* Asynchronous events. */
typedef struct NvmeEvents {
    NvmeRequest *aer[NVME_AERL];
    unsigned naer;
    bool pending[NVME_EVENT_TYPES];
    bool masked[NVME_EVENT_TYPES];
    uint8_t info[NVME_EVENT_TYPES];
    uint8_t warned;  /* critical warnings that events were sent for */
    uint64_t health; /* state at the last nvme_look_at_health() */
} NvmeEvents;

/* Notices: each is masked for itself. */
typedef struct NvmeNotices {
    bool pending[NVME_N_NOTICES];
    bool masked[NVME_N_NOTICES];
} NvmeNotices;

/* ---- self-test.c --------------------------------------------------------- */

typedef struct NvmeSelfTest {
    uint8_t code;    /* of the test that runs; 0: none */
    uint8_t segment; /* the first that failed, or 0 */
    uint8_t reserved[6];
    uint32_t nsid;     /* of the command */
    uint32_t bad_nsid; /* and lba: the first block that cannot be read */
    uint64_t lba;
    uint64_t next; /* read, of n */
    uint64_t n;
    uint64_t next_ns;   /* when the next one is due */
    uint64_t n_results; /* since the beginning */
    NvmeSelfTestResult result[NVME_DST_RESULTS];
} NvmeSelfTest;

/* ---- persistent-events.c ------------------------------------------------- */

/* Of its events: the oldest ones are dropped first. */
#define NVME_PEL_BYTES  (32U << 10)
#define NVME_PEL_HEADER 512

typedef struct NvmePersistentEvents {
    uint32_t bytes; /* of the events that it has */
    uint32_t n;
    uint32_t context_bytes; /* of the reporting context; 0: there is none */
    uint16_t generation;    /* counts contexts */
    uint8_t warned;         /* critical warnings that were reported */
    uint8_t reserved;
    uint64_t media_errors; /* that were reported, as the next one */
    uint64_t health;
} NvmePersistentEvents;

#endif
