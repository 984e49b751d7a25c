/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of admin/: what admin commands set and ask for. */
#ifndef VSSD_NVME_ADMIN_PARTS_H
#define VSSD_NVME_ADMIN_PARTS_H

#include "nvme-defs.h"
#include "queue/parts.h"
#include "rooms.h"
#include "ssd-power.h"

/* ---- nvme-features.c ----------------------------------------------------- */

/* Index of NvmeFeatures.value. */
enum {
    NVME_FEAT_ARBITRATION,
    NVME_FEAT_POWER,
    NVME_FEAT_TEMP_OVER,
    NVME_FEAT_TEMP_UNDER,
    NVME_FEAT_ERROR_RECOVERY, /* that was set last; in NvmeNamespace */
    NVME_FEAT_VWC,
    NVME_FEAT_COALESCING,
    NVME_FEAT_ATOMICITY,
    NVME_FEAT_EVENTS,
    NVME_FEAT_HCTM,
    NVME_FEAT_KATO,
    NVME_FEAT_SANITIZE,
    NVME_FEAT_LBA_STATUS,
};
#define NVME_FEATURE_SLOTS  16
#define NVME_FEAT_ELSEWHERE (NVME_FEATURE_SLOTS - 1)

/* Values of features. */
typedef struct NvmeFeatures {
    OF_ROOM_ADMIN uint32_t value[NVME_FEATURE_SLOTS];
    OF_ROOM_ADMIN uint32_t vector_config[NVME_MAX_VECTORS];
    OF_ROOM_HEALTH uint64_t timestamp_ms;
    OF_ROOM_HEALTH uint64_t timestamp_at_ns;
    OF_ROOM_HEALTH bool timestamp_set;
    OF_ROOM_ADMIN uint8_t host_id[16];
    OF_ROOM_ADMIN bool host_id_extended;           /* the host gave 128 bits */
    OF_ROOM_ADMIN uint64_t apst[SSD_POWER_STATES]; /* feature 0Ch */
    OF_ROOM_ADMIN bool apst_on;
    OF_ROOM_ADMIN bool apst_set; /* by the host, on or off */
    OF_ROOM_ADMIN uint32_t saved[NVME_FEATURE_SLOTS]; /* kept without power */
    OF_ROOM_ADMIN uint32_t is_saved;                  /* slots of it, as bits */
    OF_ROOM_ADMIN uint8_t behavior[3]; /* feature 16h: ACRE, ETDAS, LBAFEE */
    OF_ROOM_ADMIN uint16_t
        copy_formats; /* feature 16h, CDFE: enabled formats of Copy */
} NvmeFeatures;

/* ---- firmware.c ---------------------------------------------------------- */

#define NVME_FW_SLOTS 7
#define NVME_FW_BYTES (1U << 20) /* of the largest image */
#define NVME_FW_UNIT  4096       /* FWUG 1 */

typedef struct NvmeFwSlot {
    char revision[8]; /* filled up with spaces; 0: the slot is empty */
    uint32_t flags;   /* of the image */
    uint32_t crc;
} NvmeFwSlot;

/* A reset does what those before it do, and more. */
typedef enum NvmeReset {
    NVME_RESET_CONTROLLER, /* CC.EN */
    NVME_RESET_CONVENTIONAL,
    NVME_RESET_SUBSYSTEM, /* or power */
} NvmeReset;

typedef struct NvmeFirmware {
    NvmeFwSlot slot[NVME_FW_SLOTS];
    uint8_t active; /* slots, from 1 */
    uint8_t next;   /* to be activated; 0: none */
    uint8_t by;     /* NvmeReset: or a higher one */
    uint8_t reserved[5];
    uint32_t bytes;       /* downloaded: the end of the last piece */
    uint32_t short_piece; /* it has not the size of whole units */
    uint64_t have[NVME_FW_BYTES / NVME_FW_UNIT / 64]; /* units, as bits */
} NvmeFirmware;

/* ---- lba-status.c -------------------------------------------------------- */

/* Get LBA Status that reads, in blocks of the drive from the beginning of its
 * namespace. */
typedef struct NvmeLbaScan {
    NvmeRequest *command; /* NULL: none does */
    NvmeRequest *read;    /* in the drive, of n blocks; or NULL */
    uint64_t next;
    uint64_t n;
    uint64_t end;
    uint64_t fine_end; /* up to there by block */
    uint16_t status;
    NvmeSqe sqe; /* of the command */
} NvmeLbaScan;

/* ---- telemetry.c --------------------------------------------------------- */

#define NVME_TELEMETRY_BLOCK 512
#define NVME_TELEMETRY_BYTES (64U << 10) /* of a log, at most */
#define NVME_TELEMETRY_AREAS 3

enum { NVME_TELEMETRY_HOST, NVME_TELEMETRY_OWN, NVME_TELEMETRY_LOGS };

typedef struct NvmeTelemetryLog {
    uint16_t last[NVME_TELEMETRY_AREAS]; /* block of each area */
    uint8_t generation;
    uint8_t available;
    char reason[24];
} NvmeTelemetryLog;

typedef struct NvmeTelemetry {
    NvmeTelemetryLog log[NVME_TELEMETRY_LOGS];
    uint64_t media_errors; /* these three: when it was looked at last */
    uint64_t health;
    uint8_t warned;
    uint8_t reserved[7];
} NvmeTelemetry;

/* ---- latency.c ----------------------------------------------------------- */

typedef struct NvmeLatency {
    uint8_t on;      /* flag: Predictable Latency Mode */
    uint8_t dtwin;   /* flag: the deterministic window; else the other one */
    uint8_t warned;  /* of limits, in this window, as bits */
    uint16_t wanted; /* events */
    uint16_t events; /* that log page 0Ah has */
    uint64_t threshold[3]; /* of reads, writes, ms */
    uint64_t began_ns;     /* the window */
    uint64_t read_bytes;   /* SsdWindowState.read_bytes then */
} NvmeLatency;

/* ---- secondary.c --------------------------------------------------------- */

/* Types of controller resources (RT of Virtualization Management). */
enum { NVME_RESOURCE_VQ, NVME_RESOURCE_VI, NVME_RESOURCES };

typedef struct NvmeSecondary {
    NvmeCtrl *ctrl; /* NULL: it is yet to be added */
    bool there;     /* its virtual function is enabled */
    bool online;
    uint16_t assigned[NVME_RESOURCES];
} NvmeSecondary;

#define NVME_MAX_SECONDARIES 31

typedef struct NvmeVirtualization {
    uint64_t n; /* secondary controllers; 0: the drive has none */
    unsigned private[NVME_RESOURCES]; /* of the primary */
    unsigned flexible[NVME_RESOURCES];
    unsigned most[NVME_RESOURCES];    /* of them, of a secondary */
    unsigned primary[NVME_RESOURCES]; /* of them, of the primary */
    unsigned wanted[NVME_RESOURCES];  /* the same from the next reset on; kept
                                         without power */
    NvmeSecondary secondary[NVME_MAX_SECONDARIES]; /* by virtual function */
} NvmeVirtualization;

#endif
