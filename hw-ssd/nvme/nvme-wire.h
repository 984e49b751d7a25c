/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-wire.h - data structures of the standard, as they are in guest memory.
 *
 * Packed and little-endian: nvme_le16() and the like convert a member from and
 * to the byte order of the host.  Members have the names of the standard in
 * lower case.  Titles of sections and figures are those of the NVM Express Base
 * Specification 1.4, or of the revision that is named (Base: that
 * specification; NVM Command Set: the NVM Express NVM Command Set
 * Specification).  Numbers of sections change between revisions, so only some
 * are given.  Knows no state.
 */
#ifndef VSSD_NVME_WIRE_H
#define VSSD_NVME_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <glib.h>

#define NVME_PACKED __attribute__((packed))

#define NVME_WIRE_SIZE(type, bytes) \
    _Static_assert(sizeof(type) == (bytes), #type)
#define NVME_WIRE_AT(type, member, offset) \
    _Static_assert(offsetof(type, member) == (offset), #type "." #member)

static inline uint16_t nvme_le16(uint16_t v)
{
    return GUINT16_TO_LE(v);
}

static inline uint32_t nvme_le32(uint32_t v)
{
    return GUINT32_TO_LE(v);
}

static inline uint64_t nvme_le64(uint64_t v)
{
    return GUINT64_TO_LE(v);
}

/* Counters of 128 bits. */
typedef struct NVME_PACKED NvmeLe128 {
    uint64_t low;
    uint64_t high;
} NvmeLe128;

static inline NvmeLe128 nvme_le128(uint64_t v)
{
    return (NvmeLe128){ .low = nvme_le64(v) };
}

/* ---- queues (4.2 Submission, 4.6 Completion Queue Entry) ---------------- */

typedef struct NVME_PACKED NvmeSqEntry {
    uint8_t opcode;
    uint8_t flags; /* FUSE, PSDT */
    uint16_t cid;
    uint32_t nsid;
    uint32_t cdw2;
    uint32_t cdw3;
    uint64_t mptr;
    uint64_t prp1;
    uint64_t prp2;
    uint32_t cdw10[6];
} NvmeSqEntry;

NVME_WIRE_SIZE(NvmeSqEntry, 64);
NVME_WIRE_AT(NvmeSqEntry, prp1, 24);
NVME_WIRE_AT(NvmeSqEntry, cdw10, 40);

typedef struct NVME_PACKED NvmeCqEntry {
    uint32_t dw0;
    uint32_t dw1;
    uint16_t sqhd;
    uint16_t sqid;
    uint16_t cid;
    uint16_t status; /* bit 0: phase */
} NvmeCqEntry;

NVME_WIRE_SIZE(NvmeCqEntry, 16);
NVME_WIRE_AT(NvmeCqEntry, cid, 12);

/* 4.4, Scatter Gather List: a descriptor. */
typedef struct NVME_PACKED NvmeSglDescriptor {
    uint64_t addr;
    uint32_t length;
    uint8_t reserved12[3];
    uint8_t id; /* type in bits 7:4, subtype */
} NvmeSglDescriptor;

NVME_WIRE_SIZE(NvmeSglDescriptor, 16);

enum {
    NVME_SGL_DATA,
    NVME_SGL_BUCKET,
    NVME_SGL_SEGMENT,
    NVME_SGL_LAST,
    NVME_SGL_KEYED,
};

/* ---- Identify (5.15, Identify command) ----------------------------------- */

/* Power State Descriptor Data Structure. */

typedef struct NVME_PACKED NvmePowerState {
    uint16_t mp;
    uint8_t reserved2;
    uint8_t flags;
    uint32_t enlat;
    uint32_t exlat;
    uint8_t rrt; /* these four: 0 is the best */
    uint8_t rrl;
    uint8_t rwt;
    uint8_t rwl;
    uint8_t reserved16[16];
} NvmePowerState;

NVME_WIRE_SIZE(NvmePowerState, 32);
NVME_WIRE_AT(NvmePowerState, enlat, 4);

/* CNS 01h: 5.15.2.2, Identify Controller data structure. */
typedef struct NVME_PACKED NvmeIdController {
    uint16_t vid;
    uint16_t ssvid;
    uint8_t sn[20];
    uint8_t mn[40];
    uint8_t fr[8];
    uint8_t rab;
    uint8_t ieee[3];
    uint8_t cmic;
    uint8_t mdts;
    uint16_t cntlid;
    uint32_t ver;
    uint32_t rtd3r;
    uint32_t rtd3e;
    uint32_t oaes;
    uint32_t ctratt;
    uint16_t rrls;
    uint8_t reserved102[9];
    uint8_t cntrltype;
    uint8_t fguid[16];
    uint16_t crdt[3];
    uint8_t reserved134[122];
    uint16_t oacs;
    uint8_t acl;
    uint8_t aerl;
    uint8_t frmw;
    uint8_t lpa;
    uint8_t elpe;
    uint8_t npss;
    uint8_t avscc;
    uint8_t apsta;
    uint16_t wctemp;
    uint16_t cctemp;
    uint16_t mtfa;
    uint32_t hmpre;
    uint32_t hmmin;
    NvmeLe128 tnvmcap;
    NvmeLe128 unvmcap;
    uint32_t rpmbs;
    uint16_t edstt;
    uint8_t dsto;
    uint8_t fwug;
    uint16_t kas;
    uint16_t hctma;
    uint16_t mntmt;
    uint16_t mxtmt;
    uint32_t sanicap;
    uint32_t hmminds;
    uint16_t hmmaxd;
    uint16_t nsetidmax;
    uint16_t endgidmax;
    uint8_t anatt;
    uint8_t anacap;
    uint32_t anagrpmax;
    uint32_t nanagrpid;
    uint32_t pels;
    uint8_t reserved356[156];
    uint8_t sqes;
    uint8_t cqes;
    uint16_t maxcmd;
    uint32_t nn;
    uint16_t oncs;
    uint16_t fuses;
    uint8_t fna;
    uint8_t vwc;
    uint16_t awun;
    uint16_t awupf;
    uint8_t nvscc;
    uint8_t nwpc;
    uint16_t acwu;
    uint16_t ocfs; /* NVM Command Set 1.0 */
    uint32_t sgls;
    uint32_t mnan;
    uint8_t reserved544[224];
    uint8_t subnqn[256];
    uint8_t reserved1024[1024];
    NvmePowerState psd[32];
    uint8_t vs[1024];
} NvmeIdController;

NVME_WIRE_SIZE(NvmeIdController, 4096);
NVME_WIRE_AT(NvmeIdController, rab, 72);
NVME_WIRE_AT(NvmeIdController, cntlid, 78);
NVME_WIRE_AT(NvmeIdController, ctratt, 96);
NVME_WIRE_AT(NvmeIdController, cntrltype, 111);
NVME_WIRE_AT(NvmeIdController, oacs, 256);
NVME_WIRE_AT(NvmeIdController, wctemp, 266);
NVME_WIRE_AT(NvmeIdController, endgidmax, 340);
NVME_WIRE_AT(NvmeIdController, sqes, 512);
NVME_WIRE_AT(NvmeIdController, oncs, 520);
NVME_WIRE_AT(NvmeIdController, vwc, 525);
NVME_WIRE_AT(NvmeIdController, subnqn, 768);
NVME_WIRE_AT(NvmeIdController, psd, 2048);

typedef struct NVME_PACKED NvmeLbaFormat {
    uint16_t ms;
    uint8_t lbads;
    uint8_t rp;
} NvmeLbaFormat;

/* CNS 00h: Identify Namespace data structure, NVM Command Set Specific. */
typedef struct NVME_PACKED NvmeIdNamespace {
    uint64_t nsze;
    uint64_t ncap;
    uint64_t nuse;
    uint8_t nsfeat;
    uint8_t nlbaf;
    uint8_t flbas;
    uint8_t mc;
    uint8_t dpc;
    uint8_t dps;
    uint8_t nmic;
    uint8_t rescap;
    uint8_t fpi;
    uint8_t dlfeat;
    uint16_t nawun;
    uint16_t nawupf;
    uint16_t nacwu;
    uint16_t nabsn;
    uint16_t nabo;
    uint16_t nabspf;
    uint16_t noiob;
    NvmeLe128 nvmcap;
    uint16_t npwg;
    uint16_t npwa;
    uint16_t npdg;
    uint16_t npda;
    uint16_t nows;
    uint16_t mssrl; /* these three: NVM Command Set 1.0 */
    uint32_t mcl;
    uint8_t msrc;
    uint8_t reserved81[11];
    uint32_t anagrpid;
    uint8_t reserved96[3];
    uint8_t nsattr;
    uint16_t nvmsetid;
    uint16_t endgid;
    uint8_t nguid[16];
    uint8_t eui64[8]; /* big-endian */
    NvmeLbaFormat lbaf[16];
    uint8_t reserved192[192];
    uint8_t vs[3712];
} NvmeIdNamespace;

NVME_WIRE_SIZE(NvmeIdNamespace, 4096);
NVME_WIRE_AT(NvmeIdNamespace, nsfeat, 24);
NVME_WIRE_AT(NvmeIdNamespace, dlfeat, 33);
NVME_WIRE_AT(NvmeIdNamespace, nabspf, 44);
NVME_WIRE_AT(NvmeIdNamespace, npwg, 64);
NVME_WIRE_AT(NvmeIdNamespace, nows, 72);
NVME_WIRE_AT(NvmeIdNamespace, msrc, 80);
NVME_WIRE_AT(NvmeIdNamespace, endgid, 102);
NVME_WIRE_AT(NvmeIdNamespace, eui64, 120);
NVME_WIRE_AT(NvmeIdNamespace, lbaf, 128);
NVME_WIRE_AT(NvmeIdNamespace, vs, 384);

/* CNS 02h, 07h, 10h, Namespace List: ascending, 0 after the last one. */
typedef struct NVME_PACKED NvmeNamespaceList {
    uint32_t nsid[1024];
} NvmeNamespaceList;

NVME_WIRE_SIZE(NvmeNamespaceList, 4096);

/* CNS 03h: 5.15.2.4, Namespace Identification Descriptor list: the head of a
 * descriptor; nidl bytes follow. */
typedef struct NVME_PACKED NvmeNsDescriptor {
    uint8_t nidt;
    uint8_t nidl;
    uint8_t reserved2[2];
    uint8_t nid[];
} NvmeNsDescriptor;

NVME_WIRE_SIZE(NvmeNsDescriptor, 4);

#define NVME_NIDT_EUI64 1
#define NVME_NIDT_UUID  3
#define NVME_NIDT_CSI   4

/* Command Set Identifiers (Base 2.0, I/O Command Sets). */
#define NVME_CSI_NVM   0
#define NVME_CSI_KV    1
#define NVME_CSI_ZONED 2

/* CNS 04h: NVM Set List. */
typedef struct NVME_PACKED NvmeNvmSet {
    uint16_t nvmsetid;
    uint16_t endgid;
    uint8_t reserved4[4];
    uint32_t rr4kt;
    uint32_t ows;
    NvmeLe128 tnvmsetcap;
    NvmeLe128 unvmsetcap;
    uint8_t reserved48[80];
} NvmeNvmSet;

NVME_WIRE_SIZE(NvmeNvmSet, 128);

typedef struct NVME_PACKED NvmeNvmSetList {
    uint8_t n;
    uint8_t reserved1[127];
    NvmeNvmSet set[31];
} NvmeNvmSetList;

NVME_WIRE_SIZE(NvmeNvmSetList, 4096);
/* CNS 16h: 5.15.2.10, Namespace Granularity List. */
typedef struct NVME_PACKED NvmeGranularityList {
    uint32_t attributes;
    uint8_t n; /* 0's based */
    uint8_t reserved5[27];
    struct NVME_PACKED {
        uint64_t nszeg; /* bytes */
        uint64_t ncapg;
    } granularity[16];
} NvmeGranularityList;

NVME_WIRE_SIZE(NvmeGranularityList, 288);
NVME_WIRE_AT(NvmeGranularityList, granularity, 32);

/* CNS 12h and 13h: Controller List.  CNS 19h: Endurance Group List. */
typedef struct NVME_PACKED NvmeIdList {
    uint16_t n;
    uint16_t id[2047];
} NvmeIdList;

NVME_WIRE_SIZE(NvmeIdList, 4096);

/* CNS 14h: Base 2.1, 5.1.13.3.1, Primary Controller Capabilities data
 * structure; its fields of one resource type (VQFRT to VQGRAN, VIFRT to
 * VIGRAN). */
typedef struct NVME_PACKED NvmeIdResources {
    uint32_t total;    /* VQFRT */
    uint32_t assigned; /* VQRFA, to secondary controllers */
    uint16_t primary;  /* VQRFAP */
    uint16_t private;  /* VQPRT */
    uint16_t most;     /* VQFRSM, of a secondary controller */
    uint16_t granularity;
    uint8_t reserved16[16];
} NvmeIdResources;

typedef struct NVME_PACKED NvmeIdPrimary {
    uint16_t cntlid;
    uint16_t portid;
    uint8_t crt; /* bits by resource type */
    uint8_t reserved5[27];
    NvmeIdResources vq;
    NvmeIdResources vi;
    uint8_t reserved96[4000];
} NvmeIdPrimary;

NVME_WIRE_SIZE(NvmeIdPrimary, 4096);
NVME_WIRE_AT(NvmeIdPrimary, vi, 64);

/* CNS 15h: Base 2.1, 5.1.13.3.2, Secondary Controller List. */
typedef struct NVME_PACKED NvmeSecondaryEntry {
    uint16_t scid;
    uint16_t pcid;
    uint8_t scs; /* 1: Online */
    uint8_t reserved5[3];
    uint16_t vfn;
    uint16_t nvq;
    uint16_t nvi;
    uint8_t reserved14[18];
} NvmeSecondaryEntry;

NVME_WIRE_SIZE(NvmeSecondaryEntry, 32);

typedef struct NVME_PACKED NvmeSecondaryList {
    uint8_t n;
    uint8_t reserved1[31];
    NvmeSecondaryEntry entry[127];
} NvmeSecondaryList;

NVME_WIRE_SIZE(NvmeSecondaryList, 4096);

/* CNS 1Ch: Base 2.0, Identify I/O Command Set data structure: combinations. */
typedef struct NVME_PACKED NvmeIdCommandSets {
    uint64_t vector[512]; /* bit by CSI; 0 after the last one */
} NvmeIdCommandSets;

NVME_WIRE_SIZE(NvmeIdCommandSets, 4096);

/* CNS 06h: NVM Command Set 1.0, I/O Command Set specific Identify Controller
 * data structure.  Limits are 2^n pages of 4 KiB; 0: none. */
typedef struct NVME_PACKED NvmeIdNvmController {
    uint8_t vsl;
    uint8_t wzsl;
    uint8_t wusl;
    uint8_t dmrl;
    uint32_t dmrsl;
    uint64_t dmsl;
    uint8_t reserved16[4080];
} NvmeIdNvmController;

NVME_WIRE_SIZE(NvmeIdNvmController, 4096);

/* CNS 05h: NVM Command Set 1.1, I/O Command Set specific Identify Namespace
 * data structure.  elbaf: bits 6:0 storage tag size, 8:7 PI format, 12:9
 * qualified PI format. */
typedef struct NVME_PACKED NvmeIdNvmNamespace {
    uint64_t lbstm;
    uint8_t pic;
    uint8_t reserved9[3];
    uint32_t elbaf[64];
    uint8_t reserved268[3828];
} NvmeIdNvmNamespace;

NVME_WIRE_SIZE(NvmeIdNvmNamespace, 4096);
NVME_WIRE_AT(NvmeIdNvmNamespace, elbaf, 12);

#define NVME_PIC_STCRS     (1 << 2) /* storage tags are checked in reads */
#define NVME_PIC_QPIFS     (1 << 3)
#define NVME_PIF_64B       (2U << 7)
#define NVME_PIF_QUALIFIED (3U << 7)
#define NVME_QPIF_64B      (2U << 9)

/* Protection information with a guard of 16 and of 64 bits (NVM Command Set
 * 1.0, Protection Information Formats); big-endian.  space: storage tag and
 * reference tag. */
typedef struct NVME_PACKED NvmePi16 {
    uint16_t guard;
    uint16_t app;
    uint8_t space[4];
} NvmePi16;

typedef struct NVME_PACKED NvmePi64 {
    uint64_t guard;
    uint16_t app;
    uint8_t space[6];
} NvmePi64;

NVME_WIRE_SIZE(NvmePi16, 8);
NVME_WIRE_SIZE(NvmePi64, 16);

/* CNS 08h: Base 2.0, I/O Command Set Independent Identify Namespace data
 * structure. */
typedef struct NVME_PACKED NvmeIdIndependent {
    uint8_t nsfeat;
    uint8_t nmic;
    uint8_t rescap;
    uint8_t fpi;
    uint32_t anagrpid;
    uint8_t nsattr;
    uint8_t reserved9;
    uint16_t nvmsetid;
    uint16_t endgid;
    uint8_t nstat;
    uint8_t reserved15[4081];
} NvmeIdIndependent;

NVME_WIRE_SIZE(NvmeIdIndependent, 4096);
NVME_WIRE_AT(NvmeIdIndependent, endgid, 12);
NVME_WIRE_AT(NvmeIdIndependent, nstat, 14);

/* Feature 0Eh: 5.21.1.14, Timestamp. */
typedef struct NVME_PACKED NvmeTimestamp {
    uint8_t ms[6];
    uint8_t attributes; /* bits 3:1: origin */
    uint8_t reserved7;
} NvmeTimestamp;

NVME_WIRE_SIZE(NvmeTimestamp, 8);

/* ---- log pages (5.14, Get Log Page command) ------------------------------ */

/* LID 00h: Base 2.0, Supported Log Pages log page: by log page identifier. */
typedef struct NVME_PACKED NvmeSupportedLogs {
    uint32_t lid[256]; /* bit 0: supported */
} NvmeSupportedLogs;

NVME_WIRE_SIZE(NvmeSupportedLogs, 1024);

/* LID 01h, Error Information: an entry. */
typedef struct NVME_PACKED NvmeErrorLogEntry {
    uint64_t count;
    uint16_t sqid;
    uint16_t cid;
    uint16_t status; /* bit 0: phase */
    uint16_t location;
    uint64_t lba;
    uint32_t nsid;
    uint8_t vs;
    uint8_t trtype;
    uint8_t reserved30[2];
    uint64_t cs;
    uint16_t ttype;
    uint8_t reserved42[22];
} NvmeErrorLogEntry;

NVME_WIRE_SIZE(NvmeErrorLogEntry, 64);
NVME_WIRE_AT(NvmeErrorLogEntry, lba, 16);
NVME_WIRE_AT(NvmeErrorLogEntry, nsid, 24);

/* LID 02h, SMART / Health Information. */
typedef struct NVME_PACKED NvmeHealthLog {
    uint8_t critical_warning;
    uint16_t temperature; /* kelvins */
    uint8_t available_spare;
    uint8_t spare_threshold;
    uint8_t percentage_used;
    uint8_t endurance_group_warning;
    uint8_t reserved7[25];
    NvmeLe128 data_units_read; /* of 1000 * 512 bytes */
    NvmeLe128 data_units_written;
    NvmeLe128 host_reads;
    NvmeLe128 host_writes;
    NvmeLe128 busy_minutes;
    NvmeLe128 power_cycles;
    NvmeLe128 power_on_hours;
    NvmeLe128 unsafe_shutdowns;
    NvmeLe128 media_errors;
    NvmeLe128 error_entries;
    uint32_t warning_minutes;
    uint32_t critical_minutes;
    uint16_t sensors[8];
    uint32_t tmt_count[2];
    uint32_t tmt_seconds[2];
    uint8_t reserved232[280];
} NvmeHealthLog;

NVME_WIRE_SIZE(NvmeHealthLog, 512);
NVME_WIRE_AT(NvmeHealthLog, available_spare, 3);
NVME_WIRE_AT(NvmeHealthLog, data_units_read, 32);
NVME_WIRE_AT(NvmeHealthLog, error_entries, 176);
NVME_WIRE_AT(NvmeHealthLog, tmt_count, 216);

/* LID 03h, Firmware Slot Information. */
typedef struct NVME_PACKED NvmeFirmwareLog {
    uint8_t afi;
    uint8_t reserved1[7];
    uint8_t frs[7][8];
    uint8_t reserved64[448];
} NvmeFirmwareLog;

NVME_WIRE_SIZE(NvmeFirmwareLog, 512);
NVME_WIRE_AT(NvmeFirmwareLog, frs, 8);

/* LID 05h, Commands Supported and Effects: by opcode. */
typedef struct NVME_PACKED NvmeEffectsLog {
    uint32_t acs[256];
    uint32_t iocs[256];
    uint8_t reserved2048[2048];
} NvmeEffectsLog;

NVME_WIRE_SIZE(NvmeEffectsLog, 4096);
NVME_WIRE_AT(NvmeEffectsLog, iocs, 1024);

/* LID 06h, Device Self-test: a result, and the page, the newest result first.
 */
typedef struct NVME_PACKED NvmeSelfTestResult {
    uint8_t status;
    uint8_t segment;
    uint8_t valid;
    uint8_t reserved3;
    uint64_t poh;
    uint32_t nsid;
    uint64_t lba;
    uint8_t sct;
    uint8_t sc;
    uint8_t vs[2];
} NvmeSelfTestResult;

NVME_WIRE_SIZE(NvmeSelfTestResult, 28);

#define NVME_DST_RESULTS 20

typedef struct NVME_PACKED NvmeSelfTestLog {
    uint8_t current;
    uint8_t percent;
    uint8_t reserved2[2];
    NvmeSelfTestResult result[NVME_DST_RESULTS];
} NvmeSelfTestLog;

NVME_WIRE_SIZE(NvmeSelfTestLog, 564);

/* LID 07h and 08h: Base 2.0, Telemetry Host-Initiated and Controller-Initiated
 * log pages: the first block. */
typedef struct NVME_PACKED NvmeTelemetryHeader {
    uint8_t lid;
    uint8_t reserved1[4];
    uint8_t ieee[3];
    uint16_t dalb[3]; /* last block of an area */
    uint8_t reserved14[2];
    uint32_t dalb4;
    uint8_t reserved20[361];
    uint8_t host_generation;
    uint8_t available;
    uint8_t generation;
    char reason[128];
} NvmeTelemetryHeader;

NVME_WIRE_SIZE(NvmeTelemetryHeader, 512);
NVME_WIRE_AT(NvmeTelemetryHeader, available, 382);

/* LID 09h: 5.14.1.9, Endurance Group Information. */
typedef struct NVME_PACKED NvmeEnduranceGroupLog {
    uint8_t critical_warning;
    uint8_t reserved1[2];
    uint8_t available_spare;
    uint8_t spare_threshold;
    uint8_t percentage_used;
    uint8_t reserved6[26];
    NvmeLe128 endurance_estimate;
    NvmeLe128 data_units_read; /* of 10^9 bytes, and the following */
    NvmeLe128 data_units_written;
    NvmeLe128 media_units_written;
    NvmeLe128 host_reads;
    NvmeLe128 host_writes;
    NvmeLe128 media_errors;
    NvmeLe128 error_entries;
    NvmeLe128 tegcap;
    NvmeLe128 uegcap;
    uint8_t reserved192[320];
} NvmeEnduranceGroupLog;

NVME_WIRE_SIZE(NvmeEnduranceGroupLog, 512);
NVME_WIRE_AT(NvmeEnduranceGroupLog, available_spare, 3);
NVME_WIRE_AT(NvmeEnduranceGroupLog, data_units_read, 48);
NVME_WIRE_AT(NvmeEnduranceGroupLog, tegcap, 160);

/* FID 13h: Base 2.0, Deterministic Threshold Configuration Data Structure. */
typedef struct NVME_PACKED NvmeLatencyConfig {
    uint16_t events;
    uint8_t reserved2[30];
    uint64_t threshold[3]; /* reads, writes, ms */
    uint8_t reserved56[456];
} NvmeLatencyConfig;

NVME_WIRE_SIZE(NvmeLatencyConfig, 512);
NVME_WIRE_AT(NvmeLatencyConfig, threshold, 32);

/* LID 0Ah: Base 2.0, Predictable Latency Per NVM Set log page. */
typedef struct NVME_PACKED NvmeLatencyLog {
    uint8_t status;
    uint8_t reserved1;
    uint16_t events;
    uint8_t reserved4[28];
    uint64_t typical[3]; /* of DTWIN: reads, writes; at most: ms */
    uint64_t ndwin_high; /* least ms, for all of that */
    uint64_t ndwin_low;  /* and for any window */
    uint8_t reserved72[56];
    uint64_t estimate[3]; /* what is left */
    uint8_t reserved152[360];
} NvmeLatencyLog;

NVME_WIRE_SIZE(NvmeLatencyLog, 512);
NVME_WIRE_AT(NvmeLatencyLog, estimate, 128);

/* LID 0Bh: Base 2.0, Predictable Latency Event Aggregate log page. */
typedef struct NVME_PACKED NvmeLatencyEventsLog {
    uint64_t n;
    uint16_t set[2]; /* in dwords; one of them is used */
} NvmeLatencyEventsLog;

NVME_WIRE_SIZE(NvmeLatencyEventsLog, 12);

/* LID 12h: Base 2.0, Feature Identifiers Supported and Effects log page: by
 * feature identifier. */
typedef struct NVME_PACKED NvmeFeatureEffectsLog {
    uint32_t fid[256];
} NvmeFeatureEffectsLog;

NVME_WIRE_SIZE(NvmeFeatureEffectsLog, 1024);

/* LID 13h: Base 2.0, NVMe-MI Commands Supported and Effects log page: by
 * opcode. */
typedef struct NVME_PACKED NvmeMiEffectsLog {
    uint32_t mi[256];
    uint8_t reserved1024[3072];
} NvmeMiEffectsLog;

NVME_WIRE_SIZE(NvmeMiEffectsLog, 4096);

/* LID 0Dh: Base 2.0, Persistent Event Log: its header, and that of an event. */
typedef struct NVME_PACKED NvmePelHeader {
    uint8_t lid;
    uint8_t reserved1[3];
    uint32_t tnev;
    uint64_t tll;
    uint8_t rv;
    uint8_t reserved17;
    uint16_t lhl; /* of the header, from the next byte on */
    uint64_t timestamp;
    NvmeLe128 poh;
    uint64_t pcc;
    uint16_t vid;
    uint16_t ssvid;
    uint8_t sn[20];
    uint8_t mn[40];
    uint8_t subnqn[256];
    uint16_t generation;
    uint32_t rci;
    uint8_t reserved378[102];
    uint8_t supported[32]; /* bits by type of event */
} NvmePelHeader;

NVME_WIRE_SIZE(NvmePelHeader, 512);
NVME_WIRE_AT(NvmePelHeader, subnqn, 116);
NVME_WIRE_AT(NvmePelHeader, supported, 480);

typedef struct NVME_PACKED NvmePelEvent {
    uint8_t type;
    uint8_t revision;
    uint8_t ehl; /* of this header, less 3 */
    uint8_t ehai;
    uint16_t cntlid;
    NvmeTimestamp timestamp;
    uint16_t pelpid;
    uint8_t reserved16[4];
    uint16_t vsil;
    uint16_t el; /* of the data that follows */
} NvmePelEvent;

NVME_WIRE_SIZE(NvmePelEvent, 24);

/* Data of events. */
typedef struct NVME_PACKED NvmePelFirmware {
    char old_revision[8];
    char new_revision[8];
    uint8_t action;
    uint8_t slot;
    uint8_t sct;
    uint8_t sc;
    uint16_t vendor;
} NvmePelFirmware;

NVME_WIRE_SIZE(NvmePelFirmware, 22);

typedef struct NVME_PACKED NvmePelTimestamp {
    NvmeTimestamp previous;
    uint64_t ms_since_reset;
} NvmePelTimestamp;

typedef struct NVME_PACKED NvmePelReset {
    char revision[8];
    uint16_t cntlid; /* of a list with one controller */
    uint8_t firmware_activation;
    uint8_t in_progress;
    uint8_t reserved12[12];
    uint32_t power_cycle;
    uint64_t power_on_ms;
    NvmeTimestamp timestamp;
} NvmePelReset;

NVME_WIRE_SIZE(NvmePelReset, 44);

typedef struct NVME_PACKED NvmePelHardware {
    uint16_t code;
    uint8_t reserved2[2];
    uint32_t info;
} NvmePelHardware;

/* Fields of Identify Namespace: as the host gave them, or those of the
 * namespace that is deleted. */
typedef struct NVME_PACKED NvmePelNamespace {
    uint32_t cdw10; /* of the Namespace Management command */
    uint8_t reserved4[4];
    uint64_t nsze;
    uint8_t reserved16[8];
    uint64_t ncap;
    uint8_t flbas;
    uint8_t dps;
    uint8_t nmic;
    uint8_t reserved35;
    uint32_t anagrpid;
    uint16_t nvmsetid;
    uint8_t reserved42[2];
    uint32_t nsid;
} NvmePelNamespace;

NVME_WIRE_SIZE(NvmePelNamespace, 48);
NVME_WIRE_AT(NvmePelNamespace, flbas, 32);
NVME_WIRE_AT(NvmePelNamespace, nsid, 44);

typedef struct NVME_PACKED NvmePelThermal {
    uint8_t over; /* kelvins above the threshold */
    uint8_t threshold;
} NvmePelThermal;

typedef struct NVME_PACKED NvmePelFormatStart {
    uint32_t nsid;
    uint8_t fna;
    uint8_t reserved5[3];
    uint32_t cdw10;
} NvmePelFormatStart;

NVME_WIRE_SIZE(NvmePelFormatStart, 12);

typedef struct NVME_PACKED NvmePelFormatEnd {
    uint32_t nsid;
    uint8_t smallest_fpi;
    uint8_t status; /* 0: it has succeeded */
    uint16_t info;
    uint32_t status_field;
} NvmePelFormatEnd;

NVME_WIRE_SIZE(NvmePelFormatEnd, 12);

typedef struct NVME_PACKED NvmePelSanitizeStart {
    uint32_t sanicap;
    uint32_t cdw10;
    uint32_t cdw11;
} NvmePelSanitizeStart;

NVME_WIRE_SIZE(NvmePelSanitizeStart, 12);

typedef struct NVME_PACKED NvmePelSanitizeEnd {
    uint16_t progress;
    uint16_t status;
    uint16_t info;
    uint8_t reserved6[2];
} NvmePelSanitizeEnd;

NVME_WIRE_SIZE(NvmePelSanitizeEnd, 8);

/* LID 0Eh: Base 1.4, LBA Status Information: header, an element for a
 * namespace, and a range of it. */
typedef struct NVME_PACKED NvmeLbaLogHead {
    uint32_t lslplen;
    uint32_t nlslne;
    uint32_t estulb;
    uint8_t reserved12[2];
    uint16_t lsgc;
} NvmeLbaLogHead;

typedef struct NVME_PACKED NvmeLbaLogElement {
    uint32_t neid;
    uint32_t nlrd;
    uint8_t ratype;
    uint8_t reserved9[7];
} NvmeLbaLogElement;

typedef struct NVME_PACKED NvmeLbaLogRange {
    uint64_t rslba;
    uint32_t rnlb;
    uint8_t reserved12[4];
} NvmeLbaLogRange;

NVME_WIRE_SIZE(NvmeLbaLogHead, 16);
NVME_WIRE_SIZE(NvmeLbaLogElement, 16);
NVME_WIRE_SIZE(NvmeLbaLogRange, 16);

/* Get LBA Status: Base 1.4, LBA Status Descriptor List: header, and a
 * descriptor. */
typedef struct NVME_PACKED NvmeLbaStatusHead {
    uint32_t nlsd;
    uint8_t cmpc;
    uint8_t reserved5[3];
} NvmeLbaStatusHead;

typedef struct NVME_PACKED NvmeLbaStatusEntry {
    uint64_t dslba;
    uint32_t nlb;
    uint8_t reserved12;
    uint8_t status;
    uint8_t reserved14[2];
} NvmeLbaStatusEntry;

NVME_WIRE_SIZE(NvmeLbaStatusHead, 8);
NVME_WIRE_SIZE(NvmeLbaStatusEntry, 16);

/* LID 81h: Base 2.0, Sanitize Status log page. */
typedef struct NVME_PACKED NvmeSanitizeLog {
    uint16_t sprog; /* of 65536; FFFFh: none is in progress */
    uint16_t sstat;
    uint32_t scdw10;
    uint32_t overwrite_s; /* these six: FFFFFFFFh is no time */
    uint32_t block_erase_s;
    uint32_t crypto_erase_s;
    uint32_t overwrite_nd_s; /* with additional media modification */
    uint32_t block_erase_nd_s;
    uint32_t crypto_erase_nd_s;
    uint8_t reserved32[480];
} NvmeSanitizeLog;

NVME_WIRE_SIZE(NvmeSanitizeLog, 512);

/* ---- directives (Base 2.2, 8.1.8) ---------------------------------------- */

/* Identify directive, Return Parameters: bits by type of directive. */
typedef struct NVME_PACKED NvmeDirectives {
    uint8_t supported[32];
    uint8_t enabled[32];
    uint8_t persistent[32]; /* Base 2.0 */
    uint8_t reserved96[4000];
} NvmeDirectives;

NVME_WIRE_SIZE(NvmeDirectives, 4096);

/* Streams directive, Return Parameters. */
typedef struct NVME_PACKED NvmeStreamParameters {
    uint16_t msl;
    uint16_t nssa;
    uint16_t nsso;
    uint8_t nssc;
    uint8_t reserved7[9];
    uint32_t sws;
    uint16_t sgs;
    uint16_t nsa;
    uint16_t nso;
    uint8_t reserved26[6];
} NvmeStreamParameters;

NVME_WIRE_SIZE(NvmeStreamParameters, 32);
NVME_WIRE_AT(NvmeStreamParameters, sws, 16);
NVME_WIRE_AT(NvmeStreamParameters, nso, 24);

/* ---- data of I/O commands and features ----------------------------------- */

/* Dataset Management: a range (NVM Command Set 1.1, 3.3.3). */
typedef struct NVME_PACKED NvmeDsmRange {
    uint32_t attributes;
    uint32_t nlb;
    uint64_t slba;
} NvmeDsmRange;

NVME_WIRE_SIZE(NvmeDsmRange, 16);
NVME_WIRE_AT(NvmeDsmRange, slba, 8);

/* Feature 0Dh: Host Memory Buffer: its attributes, and a piece of it. */
typedef struct NVME_PACKED NvmeHostMemoryAttributes {
    uint32_t hsize;
    uint64_t hmdla;
    uint32_t hmdlec;
    uint8_t reserved16[4080];
} NvmeHostMemoryAttributes;

NVME_WIRE_SIZE(NvmeHostMemoryAttributes, 4096);

typedef struct NVME_PACKED NvmeHostMemoryPiece {
    uint64_t badd;
    uint32_t bsize; /* pages of CC.MPS */
    uint32_t reserved12;
} NvmeHostMemoryPiece;

NVME_WIRE_SIZE(NvmeHostMemoryPiece, 16);

/*
 * Copy: Source Range Entries of formats 0h and 2h, 1h and 3h (NVM Command Set
 * 1.0, and 1.1 for the namespace of formats 2h and 3h).
 */
typedef struct NVME_PACKED NvmeCopyRange {
    uint32_t snsid;
    uint32_t reserved4;
    uint64_t slba;
    uint16_t nlb; /* less 1 */
    uint8_t reserved18[4];
    uint16_t sopt;
    uint32_t lbrt; /* expected; these three */
    uint16_t lbat;
    uint16_t lbatm;
} NvmeCopyRange;

NVME_WIRE_SIZE(NvmeCopyRange, 32);
NVME_WIRE_AT(NvmeCopyRange, nlb, 16);
NVME_WIRE_AT(NvmeCopyRange, sopt, 22);

#define NVME_COPY_RANGE_LONG 40 /* of formats 1h and 3h: longer tags */
/* Of such an entry: storage and reference tag, 80 bits, big-endian; the
 * application tag, and its mask. */
#define NVME_COPY_LONG_TAGS  26
#define NVME_COPY_LONG_APP   36

/* Feature 1Eh: Base 2.1, 5.1.25.1.21, Flexible Data Placement Events: a
 * descriptor. */
typedef struct NVME_PACKED NvmeFdpEventSupport {
    uint8_t type;
    uint8_t attributes; /* bit 0: enabled */
} NvmeFdpEventSupport;

NVME_WIRE_SIZE(NvmeFdpEventSupport, 2);

/* ---- Flexible Data Placement (Base 2.1, 8.1.10) ------------------------- */

/* LID 20h: 5.1.12.1.28, FDP Configurations: header, and a configuration with
 * its handles. */
typedef struct NVME_PACKED NvmeFdpConfigsHeader {
    uint16_t n; /* less 1 */
    uint8_t version;
    uint8_t reserved3;
    uint32_t bytes;
    uint8_t reserved8[8];
} NvmeFdpConfigsHeader;

typedef struct NVME_PACKED NvmeFdpConfig {
    uint16_t bytes;
    uint8_t fdpa;
    uint8_t vss;
    uint32_t nrg;
    uint16_t nruh;
    uint16_t maxpids; /* less 1 */
    uint32_t nns;
    uint64_t runs;
    uint32_t erutl;
    uint8_t reserved28[36];
} NvmeFdpConfig;

typedef struct NVME_PACKED NvmeFdpHandle {
    uint8_t ruht;
    uint8_t reserved1[3];
} NvmeFdpHandle;

NVME_WIRE_SIZE(NvmeFdpConfigsHeader, 16);
NVME_WIRE_SIZE(NvmeFdpConfig, 64);
NVME_WIRE_AT(NvmeFdpConfig, nruh, 8);
NVME_WIRE_AT(NvmeFdpConfig, runs, 16);
NVME_WIRE_SIZE(NvmeFdpHandle, 4);

/* LID 21h: 5.1.12.1.29, Reclaim Unit Handle Usage: header, and a handle. */
typedef struct NVME_PACKED NvmeFdpUsageHeader {
    uint16_t nruh;
    uint8_t reserved2[6];
} NvmeFdpUsageHeader;

typedef struct NVME_PACKED NvmeFdpUsage {
    uint8_t ruha;
    uint8_t reserved1[7];
} NvmeFdpUsage;

NVME_WIRE_SIZE(NvmeFdpUsageHeader, 8);
NVME_WIRE_SIZE(NvmeFdpUsage, 8);

/* LID 22h: 5.1.12.1.30, FDP Statistics. */
typedef struct NVME_PACKED NvmeFdpStatistics {
    NvmeLe128 hbmw; /* bytes: host, media, erased */
    NvmeLe128 mbmw;
    NvmeLe128 mbe;
    uint8_t reserved48[16];
} NvmeFdpStatistics;

NVME_WIRE_SIZE(NvmeFdpStatistics, 64);

/* LID 23h: 5.1.12.1.31, FDP Events: header, and an event. */
typedef struct NVME_PACKED NvmeFdpEventsHeader {
    uint32_t n;
    uint8_t reserved4[60];
} NvmeFdpEventsHeader;

typedef struct NVME_PACKED NvmeFdpEventEntry {
    uint8_t type;
    uint8_t flags;
    uint16_t pid;
    NvmeTimestamp timestamp;
    uint32_t nsid;
    struct NVME_PACKED { /* Media Reallocated (NVM Command Set) */
        uint8_t flags;
        uint8_t reserved1;
        uint16_t nlbam;
        uint64_t lba;
        uint8_t reserved12[4];
    } moved;
    uint16_t rgid;
    uint16_t ruhid;
    uint8_t reserved36[4];
    uint8_t vs[24];
} NvmeFdpEventEntry;

NVME_WIRE_SIZE(NvmeFdpEventsHeader, 64);
NVME_WIRE_SIZE(NvmeFdpEventEntry, 64);
NVME_WIRE_AT(NvmeFdpEventEntry, nsid, 12);
NVME_WIRE_AT(NvmeFdpEventEntry, moved.lba, 20);
NVME_WIRE_AT(NvmeFdpEventEntry, ruhid, 34);

/* Attributes of a reclaim unit handle (RUHA). */
enum {
    NVME_RUHA_UNUSED = 0,
    NVME_RUHA_HOST = 1,
    NVME_RUHA_CONTROLLER = 2,
};

/* Namespace Management, Create: the placement handle list in its data
 * (Base 2.1, 5.1.20). */
typedef struct NVME_PACKED NvmeNsHandles {
    uint8_t reserved0[392];
    uint16_t nphndls;
    uint8_t reserved394[118];
    uint16_t phndl[128];
} NvmeNsHandles;

NVME_WIRE_AT(NvmeNsHandles, nphndls, 392);
NVME_WIRE_AT(NvmeNsHandles, phndl, 512);

/* 7.3, I/O Management Receive command: Reclaim Unit Handle Status: header, and
 * a handle. */
typedef struct NVME_PACKED NvmeRuhStatusHeader {
    uint8_t reserved0[14];
    uint16_t nruhsd;
} NvmeRuhStatusHeader;

typedef struct NVME_PACKED NvmeRuhStatus {
    uint16_t pid;
    uint16_t ruhid;
    uint32_t earutr;
    uint64_t ruamw;
    uint8_t reserved16[16];
} NvmeRuhStatus;

NVME_WIRE_SIZE(NvmeRuhStatusHeader, 16);
NVME_WIRE_AT(NvmeRuhStatusHeader, nruhsd, 14);
NVME_WIRE_SIZE(NvmeRuhStatus, 32);
NVME_WIRE_AT(NvmeRuhStatus, ruamw, 8);

/* Reservation Report: its header (24 bytes; 64 with the extended structure),
 * and a registered controller in both forms. */
typedef struct NVME_PACKED NvmeReservationHead {
    uint32_t gen;
    uint8_t rtype;
    uint16_t regctl;
    uint8_t reserved7[2];
    uint8_t ptpls;
    uint8_t reserved10[14];
    uint8_t reserved24[40];
} NvmeReservationHead;

NVME_WIRE_SIZE(NvmeReservationHead, 64);

typedef struct NVME_PACKED NvmeReservationCtrl {
    uint16_t cntlid;
    uint8_t rcsts;
    uint8_t reserved3[5];
    uint64_t hostid;
    uint64_t rkey;
} NvmeReservationCtrl;

NVME_WIRE_SIZE(NvmeReservationCtrl, 24);

typedef struct NVME_PACKED NvmeReservationExt {
    uint16_t cntlid;
    uint8_t rcsts;
    uint8_t reserved3[5];
    uint64_t rkey;
    uint8_t hostid[16];
    uint8_t reserved32[32];
} NvmeReservationExt;

NVME_WIRE_SIZE(NvmeReservationExt, 64);

/* Log page 80h, Reservation Notification. */
typedef struct NVME_PACKED NvmeReservationLogPage {
    uint64_t count;
    uint8_t type;
    uint8_t more; /* others that can be read */
    uint8_t reserved10[2];
    uint32_t nsid;
    uint8_t reserved16[48];
} NvmeReservationLogPage;

NVME_WIRE_SIZE(NvmeReservationLogPage, 64);

#endif
