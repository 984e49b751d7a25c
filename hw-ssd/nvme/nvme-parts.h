/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-parts.h - the state of single parts of the controller and its subsystem:
 * logs, features, namespaces, placement, zones and others.  Each is of the
 * files that its section names; nvme-internal.h puts them together.
 */
#ifndef VSSD_NVME_PARTS_H
#define VSSD_NVME_PARTS_H

#include "hist.h"
#include "nvme-defs.h"
#include "nvme.h"
#include "payload/payload.h"
#include "ssd-power.h"
#include "ssd-window.h"

typedef struct NvmeSubsys NvmeSubsys;
typedef struct NvmeNamespace NvmeNamespace;
typedef struct NvmeRequest NvmeRequest;
typedef struct NvmeCtrl NvmeCtrl;

#define NVME_AERL          4 /* Async Event Requests outstanding */
#define NVME_ERROR_ENTRIES 64

/* ---- logs and events ---------------------------------------------------- */

typedef struct NvmeErrorEntry {
    uint64_t count;
    uint16_t sqid;
    uint16_t cid;
    uint16_t status; /* as in the completion, phase bit 0 */
    uint16_t location;
    uint32_t nsid;
    uint64_t lba;
} NvmeErrorEntry;

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

/* ---- self-test.c -------------------------------------------------------- */

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

/* ---- firmware.c --------------------------------------------------------- */

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

/* ---- erase-job.c --------------------------------------------------------- */

typedef enum NvmeErasePhase {
    NVME_ERASE_NONE,
    NVME_ERASE_DRAIN,
    NVME_ERASE_TRIM,
    NVME_ERASE_COMMIT,
    NVME_ERASE_PURGE,
    NVME_ERASE_FILL,
    NVME_ERASE_SETTLE,
    NVME_ERASE_ENDED,
    NVME_ERASE_PHASES,
} NvmeErasePhase;

#define NVME_ERASE_MOST_PASSES 16

/* Kept without power. */
typedef struct NvmeEraseJob {
    uint8_t phase;     /* NvmeErasePhase */
    uint8_t sanitize;  /* of all; else Format NVM */
    uint8_t purges;    /* every block that holds something is erased */
    uint8_t passes;    /* of an overwrite */
    uint8_t pass;      /* so many are done */
    uint8_t inverts;   /* the pattern, in every second pass */
    uint8_t keeps;     /* the pattern stays */
    uint8_t format;    /* Format NVM: the LBA format at the end */
    uint16_t status;   /* ENDED */
    uint16_t progress; /* the highest so far, of 65536 */
    uint32_t nsid;
    uint32_t pattern;
    uint32_t dw10; /* of the command */
    uint64_t next; /* FILL: the drive's block */
} NvmeEraseJob;

/* Callbacks of erase-job.c to the rooms above it.  works: a room has something
 * under way that the job waits for.  forget: the data of a namespace goes, and
 * what is in memory with it. */
typedef struct NvmeEraseClient {
    bool (*works)(const NvmeSubsys *sub);
    void (*forget)(NvmeSubsys *sub, const NvmeNamespace *ns);
} NvmeEraseClient;

/* ---- sanitize.c ---------------------------------------------------------- */

/* Sanitize Status, bits 2:0. */
enum {
    NVME_SANITIZE_NEVER,
    NVME_SANITIZE_DONE,
    NVME_SANITIZE_RUNS,
    NVME_SANITIZE_FAILED,
    NVME_SANITIZE_DEALLOCATED, /* though the host wanted it not */
};

/* Failure mode. */
enum {
    NVME_SANITIZE_FINE,
    NVME_SANITIZE_RESTRICTED,
    NVME_SANITIZE_UNRESTRICTED,
};

/* Kept without power. */
typedef struct NvmeSanitize {
    uint8_t status;
    uint8_t failure;
    uint8_t passes; /* completed, of an overwrite */
    uint8_t reserved;
    uint32_t dw10;          /* of the last command */
    uint64_t clean_version; /* NvmeSubsys.next_version at the last success */
} NvmeSanitize;

/* ---- lba-track.c, lba-status.c ------------------------------------------- */

#define NVME_LBA_RANGES 64

typedef struct NvmeLbaRange {
    uint64_t lba; /* of the drive */
    uint64_t end;
} NvmeLbaRange;

typedef struct NvmeLbaTrack {
    uint32_t n;
    uint16_t generation;
    uint8_t fresh; /* the host has not been told of all */
    uint8_t reserved;
    uint64_t told_ns; /* 0: never */
    NvmeLbaRange range[NVME_LBA_RANGES];
} NvmeLbaTrack;

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

/* ---- telemetry.c -------------------------------------------------------- */

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

/* ---- persistent-events.c ------------------------------------------------ */

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

/* ---- host-memory.c ------------------------------------------------------ */

typedef struct NvmeHostMemory {
    bool on;
    uint32_t pages;   /* of CC.MPS */
    uint64_t list;    /* of pieces, in the host's memory */
    uint32_t entries; /* of the list */
} NvmeHostMemory;

/* ---- placement (directives.c, fdp.c) ------------------------------------ */

#define NVME_MAX_STREAMS 63
#define NVME_MAX_RUHS    64

/* An open stream; the drive's stream is its index + 1. */
typedef struct NvmeStream {
    uint16_t id;   /* the host's; 0: not open */
    uint16_t host; /* index of NvmeStreams.host */
    uint32_t reserved;
    uint64_t used; /* NvmeStreams.clock at the last write */
} NvmeStream;

/* A host that has enabled streams, or has resources of them. */
typedef struct NvmeStreamHost {
    uint8_t id[16]; /* Host Identifier; 0h: of one controller alone: */
    uint16_t cntlid;
    uint8_t there;      /* flag; all else is 0 without */
    uint8_t enabled;    /* flag */
    uint32_t allocated; /* for it alone */
    uint32_t open;
    uint32_t reserved;
} NvmeStreamHost;

#define NVME_STREAM_HOSTS 32 /* as many as there are controllers */

typedef struct NvmeStreams {
    uint64_t max; /* 0: the drive has none, or has FDP */
    uint64_t clock;
    NvmeStream stream[NVME_MAX_STREAMS];
    NvmeStreamHost host[NVME_STREAM_HOSTS];
} NvmeStreams;

#define NVME_FDP_EVENTS 63 /* of the log, which has a header of that size */

/* For the host, or of the controller: each kind has its log. */
enum { NVME_FDP_CONTROLLER_LOG, NVME_FDP_HOST_LOG, NVME_FDP_LOGS };

typedef struct NvmeFdpEvent {
    uint8_t type;
    bool has_handle; /* pid and ruh are known */
    uint16_t pid;
    uint16_t ruh;
    NvmeTimestamp timestamp;
    uint16_t nblocks_moved; /* Media Reallocated: FFFFh: so many or more */
    uint64_t lba; /* Media Reallocated: one of them, the drive's address; else
                     the namespace, 0: the first */
} NvmeFdpEvent;

typedef struct NvmeFdpLog {
    NvmeFdpEvent event[NVME_FDP_EVENTS];
    uint64_t nevents; /* since the beginning */
} NvmeFdpLog;

/* Placement handles of a namespace, and their reclaim unit handles. */
typedef struct NvmeFdpList {
    uint8_t n;
    uint8_t of_controller; /* flag: the host gave no list */
    uint8_t off;           /* flag: Data Placement is disabled */
    uint8_t handle[NVME_MAX_RUHS];
} NvmeFdpList;

typedef struct NvmeFdp {
    unsigned ruhs;                 /* 0: the drive has no FDP */
    uint8_t wanted[NVME_MAX_RUHS]; /* events: bits by place in their table */
    NvmeFdpLog log[NVME_FDP_LOGS];
} NvmeFdp;

#define NVME_MAX_NAMESPACES 256

/* Of a drive with FDP, in addition (fdp-handles.c). */
typedef struct NvmeFdpUnits {
    uint8_t disabled; /* flag: by feature 1Dh */
    uint8_t config;   /* the enabled one */
    /* By stream: when its reclaim unit was written first. */
    uint64_t began_ns[NVME_MAX_RUHS];
    NvmeFdpList list[NVME_MAX_NAMESPACES]; /* by NSID - 1 */
    NvmeFdpList wanted; /* of the namespace that Create makes */
} NvmeFdpUnits;

/* ---- namespaces (namespace.c) -------------------------------------------- */

/* Of a logical block of a namespace (NVM Command Set 1.0, Metadata Region and
 * End-to-end Data Protection). */
typedef struct NvmeProtection {
    uint16_t meta_bytes;  /* 0: none */
    bool guard64;         /* 64b guard; else 16b */
    bool qualified;       /* its kind of guard is named by QPIF; else by PIF */
    uint8_t storage_bits; /* STS, of the storage and reference space */
    uint8_t type;         /* of protection information, 1..3; 0: none */
    bool first;    /* in the first bytes of the metadata; else the last */
    bool extended; /* the metadata follows its block; else MPTR */
} NvmeProtection;

/* All of the drive is one NVM set, of one endurance group. */
#define NVME_ONLY_SET   1
#define NVME_ONLY_GROUP 1

/* States of feature 84h (Base 1.4, 5.21.1.28). */
typedef enum NvmeProtect {
    NVME_PROTECT_NONE,
    NVME_PROTECT_ON,
    NVME_PROTECT_POWER_CYCLE, /* until the next power cycle */
    NVME_PROTECT_PERMANENT,
    NVME_N_PROTECTS,
} NvmeProtect;

/* Successful commands of a namespace, by NvmeWork. */
typedef struct NvmeNsCounts {
    uint64_t commands[NVME_N_WORKS];
    uint64_t bytes[NVME_N_WORKS];
    uint64_t failed; /* commands of all kinds */
} NvmeNsCounts;

struct NvmeNamespace {
    uint32_t nsid;
    bool exists;
    uint32_t attached; /* to controllers, by index; 0 without exists */
    bool shared;       /* NMIC bit 0, as the host wanted it */
    uint8_t format;
    uint8_t protect;      /* NvmeProtect */
    uint32_t block_bytes; /* of a logical block: the LBA format */
    uint32_t block_shift;
    uint32_t drive_shift; /* a block is 1 << drive_shift blocks of the drive */
    NvmeProtection protection;
    uint64_t nblocks;        /* NSZE */
    uint64_t serial;         /* no other namespace of the drive has or had it */
    uint64_t eui64;          /* 0: none */
    uint32_t error_recovery; /* feature 05h */
    uint64_t base;           /* the drive's address of its first block */
    uint64_t run; /* so many of the drive's blocks follow each other there */
    uint32_t *granule; /* of the drive; NULL: all is one run */
    uint32_t n_granules;
    uint32_t granule_blocks; /* of the drive, in a granule */
    uint64_t granule_base;   /* the drive's address of the first granule */
    uint64_t zone_size; /* as the following, in the drive's blocks; 0: it is not
                           zoned */
    uint64_t zone_capacity; /* of them, those that the drive has */
    bool kv;                /* of key-value pairs */
    struct NvmeKv *index;   /* its own; NULL: not yet needed */
    NvmeNsCounts count;
};

/* Owner of a granule: an NSID, or one of these. */
#define NVME_GRANULE_FREE  0
#define NVME_GRANULE_DIRTY 0xffff /* its namespace is gone, its data is not */

/*
 * The namespaces of the subsystem.  The drive's blocks are divided into
 * granules of equal size; a namespace owns whole ones.
 */
typedef struct NvmeNamespaces {
    NvmeNamespace *table; /* by NSID - 1 */
    uint32_t n;           /* NN: the greatest NSID */
    bool managed;         /* by the host; else there is one, without granules */
    bool any_kv;          /* the drive has the Key Value Command Set */
    uint32_t granule_blocks;
    uint32_t n_granules;
    uint64_t base;  /* the drive's address of the first one */
    uint32_t zoned; /* NSID of the one that has the zones; 0: none has */
    uint16_t *owner;
    uint64_t created;       /* how many were, ever */
    NvmeRequest *job;       /* creates or deletes; NULL: none does */
    bool draining;          /* it waits for commands of deleted namespaces */
    uint64_t wanted_blocks; /* what it is to create */
    uint8_t wanted_format;
    bool wanted_extended;
    uint8_t wanted_dps;
    bool wanted_shared;
    bool wanted_kv;
    bool wanted_zoned;
} NvmeNamespaces;

/* ---- memory of the drive (window.c, cmb.c, pmr.c) ------------------------ */

/* Where an address of the host leads to; index of NvmeCtrl.window. */
typedef enum NvmeAt {
    NVME_AT_HOST,
    NVME_AT_CMB,
    NVME_AT_PMR,
    NVME_AT_EDGE, /* across the border of one */
} NvmeAt;

typedef struct NvmeWindow {
    uint8_t *mem; /* the machine's; NULL: the drive has none */
    uint64_t bytes;
    uint64_t base; /* the host's address of it */
    bool on;       /* the controller uses it at that address */
    bool follows;  /* the address is that of the BAR, wherever it is */
    uint8_t bar;
} NvmeWindow;

typedef struct NvmeCmb {
    uint64_t msc;  /* CMBMSC */
    uint64_t uses; /* bits of CMBSZ */
} NvmeCmb;

typedef struct NvmePmr {
    uint64_t msc; /* PMRMSCU and PMRMSCL */
    uint32_t ctl;
    uint32_t failed; /* 1: writes may not be persistent */
} NvmePmr;

/* ---- predictable latency (latency.c) ------------------------------------- */

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

/* ---- zones (zones.c) ----------------------------------------------------- */

/* Zone states (Zoned Namespace Command Set 1.1, section 2.1.1.3). */
typedef enum NvmeZoneState {
    NVME_ZONE_EMPTY = 0x1,
    NVME_ZONE_IMPLICIT = 0x2, /* open */
    NVME_ZONE_EXPLICIT = 0x3,
    NVME_ZONE_CLOSED = 0x4,
    NVME_ZONE_READ_ONLY = 0xd,
    NVME_ZONE_FULL = 0xe,
    NVME_ZONE_OFFLINE = 0xf,
} NvmeZoneState;

/* What the controller says of a zone: bits of the Zone Attributes (ZNS 1.1,
 * Figure 37). */
enum {
    NVME_ZONE_FINISHED = 0x1,      /* Zone Finished by Controller */
    NVME_ZONE_SHOULD_FINISH = 0x2, /* Finish Zone Recommended */
    NVME_ZONE_SHOULD_RESET = 0x4,  /* Reset Zone Recommended */
};

typedef struct NvmeZone {
    uint64_t wp;      /* blocks from the start of the zone */
    uint64_t settled; /* writes, torn: blocks before this one have their data */
    uint64_t opened;  /* order of implicit opens */
    uint32_t writes;  /* steps that the drive has, or will get */
    uint16_t stream;  /* of the drive: NVME_ZONE_NO_STREAM: it has none */
    uint8_t state;    /* NvmeZoneState */
    bool described;   /* it has a descriptor extension */
    bool torn;        /* a write did not come to its end: wp is to be found */
    bool resetting;   /* its blocks are to be trimmed, or being trimmed */
    bool finishing;   /* its stream is to be closed, or being closed */
    bool job;         /* one of the two is under way */
    bool zrwa;        /* it has a Zone Random Write Area, from wp on */
    bool holds;       /* the drive may hold blocks of it: from this one on: */
    uint32_t
        changed; /* listed in log page BFh of these controllers, by index */
    uint64_t held;
    int64_t since_ns; /* it is active since then, or full; may be before the
                         clock's 0 */
    uint8_t advice;   /* of these: NVME_ZONE_FINISHED */
} NvmeZone;

typedef struct NvmeZones {
    NvmeZone *zone;
    uint8_t *extension; /* extension_bytes for each zone */
    uint32_t n;         /* 0: the drive has none */
    uint32_t owner[64]; /* by stream: the zone that has it, + 1, or 0 */
    uint32_t n_open;    /* implicitly and explicitly */
    uint32_t n_active;
    uint32_t max_open;
    uint32_t max_active;
    uint32_t n_streams;
    uint32_t extension_bytes;
    uint64_t size; /* blocks of the namespace from a zone to the next one */
    uint64_t capacity;
    uint32_t drive_shift;  /* such a block is 1 << drive_shift of the drive's */
    uint64_t append_bytes; /* 0: as other commands */
    uint64_t opens;        /* ever */
    uint64_t zrwa;         /* blocks of a Zone Random Write Area, or 0 */
    uint64_t zrwa_granule;
    uint32_t max_zrwa;
    uint32_t n_zrwa;
    uint16_t held_stream; /* of the drive, of its blocks */
    uint64_t end; /* with zones.conventional: the drive's address of the space
                     behind them; else 0 */
    bool whole;   /* SsdZones.whole */
    uint32_t finish_s, finish_limit_s, reset_s; /* as SsdZones has them */
    uint64_t due_ns; /* no limit of a zone ends before; or SSD_TIME_NEVER */
    bool work;       /* a zone may have a job */
    bool report;     /* a zone has changed by itself */
} NvmeZones;

/* ---- reservations (reservation.c) ---------------------------------------- */

/* Hosts that may be registered with a namespace. */
#define NVME_MAX_REGISTRANTS 64

typedef struct NvmeRegistrant {
    uint8_t host_id[16]; /* 0h: of the controller alone */
    uint64_t key;
    uint16_t cntlid; /* of the controller that it has registered with */
    uint8_t used;    /* flags */
    uint8_t holds;   /* never with a type of all registrants: all do */
    uint8_t reserved[4];
} NvmeRegistrant;

/* Of a namespace; kept without power if ptpl is set. */
typedef struct NvmeReservation {
    uint32_t generation;
    uint8_t type; /* NVME_RESERVATION_... */
    uint8_t ptpl; /* flag: Persist Through Power Loss */
    uint8_t reserved[2];
    NvmeRegistrant registrant[NVME_MAX_REGISTRANTS];
} NvmeReservation;

#define NVME_RESERVATION_ENTRIES 64

typedef struct NvmeReservationEntry {
    uint64_t count;
    uint32_t nsid;
    uint8_t type;
    uint8_t reserved[3];
} NvmeReservationEntry;

/* Notifications that the host has not read, the oldest first. */
typedef struct NvmeReservationLog {
    uint64_t count; /* of the newest; 0: there was none */
    uint32_t n;
    uint8_t mask[NVME_MAX_NAMESPACES]; /* feature 82h, by NSID - 1 */
    uint8_t reserved[4];
    NvmeReservationEntry entry[NVME_RESERVATION_ENTRIES];
} NvmeReservationLog;

/* ---- secondary controllers (secondary.c) --------------------------------- */

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
