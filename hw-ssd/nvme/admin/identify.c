/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identify.c - the Identify data structures (Base 2.0, Identify command).
 *
 * One function fills each structure, which is zeroed; one table names them.
 */
#include "nvme-internal.h"
#include "placement/directives.h"
#include "data/copy.h"
#include "admin/firmware.h"
#include "erase/format.h"
#include "health/health.h"
#include "memory/host-memory.h"
#include "admin/identify.h"
#include "health/keep-alive.h"
#include "kv/kv.h"
#include "admin/latency.h"
#include "namespace/atomic.h"
#include "namespace/namespace.h"
#include "admin/power-states.h"
#include "memory/prp.h"
#include "reservation/reservation.h"
#include "erase/sanitize.h"
#include "admin/secondary.h"
#include "health/self-test.h"
#include "zone/zone-report.h"
#include "zone/zones.h"

#include <inttypes.h>

#define IDENTIFY_BYTES 4096
/* Persist through power loss, the six types, IEKEY as of revision 1.3. */
#define RESCAP_ALL     0xff

typedef struct Identify {
    uint8_t cns;
    const char *name;
    uint16_t (*fill)(const NvmeCtrl *ctrl, const NvmeSqe *sqe, void *data);
    uint8_t csi;   /* the host names a command set: true, the NVM one; or */
#define OF_ZONED 2 /* the Zoned Namespace one */
#define OF_KV    3 /* the Key Value one */
} Identify;

static void put_text(uint8_t *p, size_t n, const char *s)
{
    memset(p, ' ', n);
    memcpy(p, s, MIN(n, strlen(s)));
}

/* CRDT1..3 in units of 100 ms: where a scripted fault may ask for a delay. */
static const uint16_t retry_delay[] = {1, 10, 50};

static void put_features(const NvmeCtrl *ctrl, NvmeIdController *id)
{
    bool fdp = nvme_has_fdp(ctrl);

    bool managed = ctrl->sub->namespaces.managed;
    /* By MPTR of any alignment, or by an SGL that it points to. */
    uint32_t metadata = ctrl->cfg.metadata ? 1 << 17 | 1 << 19 : 0;

    /* 128-bit host identifier, NVM sets, endurance groups, FDP, granularity of
     * namespaces, Predictable Latency Mode. */
    id->ctratt = nvme_le32(1 | 1U << 2 | 1U << 4 | (fdp ? 1U << 19 : 0) |
                           (managed ? 1U << 7 : 0) |
                           (nvme_has_latency(ctrl) ? 1U << 5 : 0) |
                           (ctrl->cfg.metadata ? 1U << 15 : 0)); /* ELBAS */
    /* Format NVM, Firmware, Device Self-test, Doorbell Buffer Config, Get LBA
     * Status, Directives, Namespace Management, Virtualization Management. */
    id->oacs =
        nvme_le16((ctrl->sub->zones.n > 0 ? 0 : 1 << 1) | 1 << 2 | 1 << 4 |
                  1 << 8 | 1 << 9 | (nvme_has_directives(ctrl) ? 1 << 5 : 0) |
                  (managed && !ctrl->cfg.namespaces_fixed ? 1 << 3 : 0) |
                  (nvme_is_primary(ctrl) ? 1 << 7 : 0));
    id->nwpc = managed ? 7 : 0; /* all states */
    id->acl = NVME_ACL - 1;
    for (unsigned i = 0; ctrl->sub->faults && i < G_N_ELEMENTS(retry_delay);
         i++) {
        id->crdt[i] = nvme_le16(retry_delay[i]);
    }
    id->aerl = NVME_AERL - 1;
    id->edstt = nvme_le16(nvme_self_test_minutes(ctrl));
    id->dsto = 1; /* one test at a time */
    id->kas = nvme_le16(NVME_KAS);
    /* SMART of a namespace, effects log, offset and length, telemetry,
     * persistent events, log pages 00h, 12h and 13h. */
    id->lpa = managed | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5;
    id->elpe = NVME_ERROR_ENTRIES - 1;
    id->nsetidmax = nvme_le16(NVME_ONLY_SET);
    id->endgidmax = nvme_le16(NVME_ONLY_GROUP);
    /* Compare, Write Uncorrectable, Dataset Management, Write Zeroes,
     * Save/Select field, Timestamp, Verify, Copy. */
    id->oncs = nvme_le16(1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 |
                         1 << 7 | 1 << 8);
    /* Not those that write apart from the write pointer. */
    if (ctrl->sub->zones.n > 0 && !nvme_has_both(ctrl)) {
        id->oncs = nvme_le16(1 << 0 | 1 << 4 | 1 << 6 | 1 << 7);
    }
    if (nvme_has_reservations(ctrl)) {
        id->oncs |= nvme_le16(1 << 5);
    }
    id->ocfs = nvme_le16(nvme_copy_formats(ctrl));
    /* No alignment; bit buckets, and lists that describe more than the data. */
    id->sgls = nvme_le32(ctrl->cfg.sgl ? 1 | 1 << 16 | 1 << 18 | metadata : 0);
    id->fna = nvme_format_attributes(ctrl);
    id->sanicap = nvme_le32(nvme_sanitize_capabilities(ctrl));
    id->fuses = nvme_le16(1); /* Compare and Write, of one mapping unit */
    /* Present unless power-loss protection keeps it from being volatile; Flush
     * takes FFFFFFFFh. */
    id->vwc = 3 << 1 | !ssd_info(ctrl->ssd)->keeps_buffer;
}

static void put_capacity(const NvmeCtrl *ctrl, NvmeIdController *id)
{
    uint64_t bytes = nvme_ns_granule_bytes(ctrl);

    if (ctrl->sub->namespaces.managed) {
        uint64_t zones = ctrl->sub->zones.end * ctrl->block_bytes;

        id->tnvmcap =
            nvme_le128(zones + ctrl->sub->namespaces.n_granules * bytes);
        id->unvmcap = nvme_le128((nvme_ns_count(ctrl, NVME_GRANULE_FREE) +
                                  nvme_ns_count(ctrl, NVME_GRANULE_DIRTY)) *
                                     bytes +
                                 (ctrl->sub->namespaces.zoned ? 0 : zones));
    }
}

/* The field of a number of blocks, of which 0 is none. */
static uint16_t blocks_field(uint32_t nblocks)
{
    return nvme_le16((uint16_t)(nblocks ? nblocks - 1 : 0));
}

static uint16_t fill_controller(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                void *data)
{
    NvmeIdController *id = data;

    id->vid = nvme_le16(ctrl->cfg.pci_vid);
    id->ssvid = nvme_le16(ctrl->cfg.pci_ssvid);
    put_text(id->sn, sizeof(id->sn), ctrl->cfg.serial);
    put_text(id->mn, sizeof(id->mn), ctrl->cfg.model);
    id->rab = 5; /* 32 commands; as Arbitration */
    for (unsigned i = 0; i < sizeof(id->ieee); i++) { /* the OUI */
        id->ieee[i] = (uint8_t)(ctrl->cfg.eui64 >> (40 + 8 * i));
    }
    id->mdts = ctrl->cfg.mdts;
    id->cntlid = nvme_le16(ctrl->cfg.cntlid);
    id->ver = nvme_le32(NVME_VERSION_2_0);
    id->rtd3r = nvme_le32(10000000); /* 10 s at most, in us */
    id->rtd3e = nvme_le32(NVME_SHUTDOWN_MS * 1000);
    /* Notices of firmware activation, of telemetry, of LBA status, of
     * namespaces, of predictable latency. */
    id->oaes = nvme_le32(1 << 9 | 1 << 10 | 1 << 13 |
                         (ctrl->sub->namespaces.managed ? 1 << 8 : 0) |
                         (nvme_has_latency(ctrl) ? 1 << 12 : 0) |
                         (ctrl->sub->zones.n > 0 ? 1U << 27 : 0));
    id->cntrltype = 1; /* I/O controller */
    /* Several controllers; this one is of a virtual function. */
    id->cmic =
        (nvme_is_multi(ctrl) ? 1 << 1 : 0) | (ctrl->secondary ? 1 << 2 : 0);
    id->sqes = NVME_SQE_SHIFT << 4 | NVME_SQE_SHIFT;
    id->cqes = NVME_CQE_SHIFT << 4 | NVME_CQE_SHIFT;
    id->nn = nvme_le32(ctrl->sub->namespaces.n);
    id->awun = blocks_field(ctrl->sub->atomic.awun);
    id->awupf = blocks_field(ctrl->sub->atomic.awupf);
    nvme_subnqn(ctrl, id->subnqn);
    id->pels = nvme_le32(1); /* 64 KiB */
    nvme_identify_power(ctrl, id);
    nvme_identify_firmware(ctrl, id);
    nvme_identify_host_memory(ctrl, id);
    put_capacity(ctrl, id);
    put_features(ctrl, id);
    return 0;
}

static bool is_nsid_list(uint32_t nsid)
{
    return nsid < NVME_NSID_ALL - 1;
}

static void put_atomic(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                       NvmeIdNamespace *id)
{
    NvmeAtomicBlocks a = nvme_atomic_of(ctrl, ns);
    unsigned unit = ssd_info(ctrl->ssd)->unit_bytes / ns->block_bytes;

    id->nawun = blocks_field(a.nawun);
    id->nawupf = blocks_field(a.nawupf);
    id->nacwu = blocks_field(unit); /* fused.c */
    id->nabsn = blocks_field(a.nabsn);
    id->nabo = nvme_le16((uint16_t)a.nabo);
    id->nabspf = blocks_field(a.nabspf);
}

static void put_formats(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                        NvmeIdNamespace *id)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    unsigned unit = info->unit_bytes / ns->block_bytes - 1;
    NvmeFormat format;
    unsigned n = 0;
    unsigned page = info->page_bytes / ns->block_bytes - 1;

    /* NAWUPF and others; DULBE; NPWG and others */
    id->nsfeat = 1 << 1 | 1 << 2 | 1 << 4;
    for (; nvme_ns_get_format(ctrl, n, &format); n++) {
        id->lbaf[n].lbads = g_bit_nth_lsf(format.block_bytes, -1);
        id->lbaf[n].ms = nvme_le16(format.protection.meta_bytes);
    }
    id->nlbaf = n - 1;
    id->flbas = ns->format | ns->protection.extended << 4;
    id->mc = ctrl->cfg.metadata ? 3 : 0;     /* extended, separate */
    id->dpc = ctrl->cfg.metadata ? 0x1f : 0; /* types 1 to 3, first, last */
    id->dps = ns->protection.type | ns->protection.first << 3;
    id->dlfeat = 1 << 3 | 1; /* deallocated blocks read as zeroes, Write
                                Zeroes takes the deallocate bit */
    put_atomic(ctrl, ns, id);
    id->npwg = nvme_le16(unit);
    id->npwa = nvme_le16(unit);
    id->npdg = nvme_le16(unit); /* whole units are deallocated */
    id->npda = nvme_le16(unit);
    id->nows = nvme_le16(MAX(page, unit));
    id->mssrl = nvme_le16((uint16_t)nvme_copy_most(ctrl, ns));
    id->mcl = nvme_le32((uint32_t)nvme_copy_most(ctrl, ns));
    id->msrc = NVME_COPY_RANGES - 1;
}

static void put_be64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        p[i] = v >> (56 - 8 * i);
    }
}

static uint16_t fill_namespace(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                               void *data)
{
    const NvmeNamespace *ns = (sqe->dw[10] & 0xff) == 0x11
                                  ? nvme_ns_existing(ctrl, sqe->dw[1])
                                  : nvme_ns_find(ctrl, sqe->dw[1]);
    NvmeIdNamespace *id = data;

    if (sqe->dw[1] == NVME_NSID_ALL && ctrl->sub->namespaces.managed &&
        (sqe->dw[10] & 0xff) == 0x00) {
        NvmeNamespace any = {0}; /* what all namespaces have */

        nvme_ns_set_format(ctrl, &any, 0);
        put_formats(ctrl, &any, id);
        return 0;
    }
    if (!ns) {
        return nvme_ns_identify_missing(ctrl, sqe);
    }
    if (ns->kv) { /* it has no logical blocks */
        return NVME_SC_WRONG_COMMAND_SET;
    }
    id->nsze = nvme_le64(ns->nblocks);
    id->ncap =
        nvme_le64(ns->zone_size ? ctrl->sub->zones.n * ctrl->sub->zones.capacity
                                : ns->nblocks);
    id->nuse = id->ncap; /* not thin */
    put_formats(ctrl, ns, id);
    id->nmic = ns->shared;
    id->rescap = nvme_has_reservations(ctrl) ? RESCAP_ALL : 0;
    id->fpi = nvme_format_progress(ctrl, ns->nsid);
    id->nvmsetid = nvme_le16(NVME_ONLY_SET);
    id->endgid = nvme_le16(NVME_ONLY_GROUP);
    id->nsattr = ns->protect != NVME_PROTECT_NONE;
    id->nvmcap = nvme_le128(ns->zone_size
                                ? ctrl->sub->zones.end * ctrl->block_bytes
                                : ns->n_granules * nvme_ns_granule_bytes(ctrl));
    put_be64(id->eui64, ns->eui64); /* 0: none */
    return 0;
}

static unsigned csi_of(const NvmeNamespace *ns)
{
    return ns->kv ? NVME_CSI_KV : ns->zone_size ? NVME_CSI_ZONED : NVME_CSI_NVM;
}

/* 02h, 10h: of all command sets; 07h, 1Ah: of one. */
static uint16_t fill_ns_list(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             void *data)
{
    unsigned cns = sqe->dw[10] & 0xff;
    bool allocated = cns == 0x10 || cns == 0x1a;
    bool of_set = cns == 0x07 || cns == 0x1a;
    NvmeNamespaceList *list = data;
    unsigned n = 0;

    if (!is_nsid_list(sqe->dw[1])) {
        return NVME_SC_INVALID_NSID;
    }
    for (uint32_t i = sqe->dw[1]; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = allocated ? nvme_ns_existing(ctrl, i + 1)
                                            : nvme_ns_find(ctrl, i + 1);

        if (ns && (!of_set || csi_of(ns) == sqe->dw[11] >> 24)) {
            list->nsid[n++] = nvme_le32(i + 1);
        }
    }
    return 0;
}

/* A UUID that is the same whenever serial and model are (RFC 4122, by name),
 * and of one namespace only. */
static void make_uuid(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                      uint8_t *uuid)
{
    g_autofree char *name =
        ns->serial
            ? g_strdup_printf("vssd:%s:%s:%" PRIu64, ctrl->cfg.model,
                              ctrl->cfg.serial, ns->serial)
            : g_strdup_printf("vssd:%s:%s", ctrl->cfg.model, ctrl->cfg.serial);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    uint8_t digest[20];
    gsize n = sizeof(digest);

    g_checksum_update(sum, (const guchar *)name, -1);
    g_checksum_get_digest(sum, digest, &n);
    memcpy(uuid, digest, 16);
    uuid[6] = (uuid[6] & 0x0f) | 0x50;
    uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

static uint16_t fill_ns_descriptors(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                    void *data)
{
    const NvmeNamespace *ns = nvme_ns_find(ctrl, sqe->dw[1]);
    NvmeNsDescriptor *d = data;

    if (!ns) {
        return nvme_ns_identify_missing(ctrl, sqe);
    }
    if (ns->eui64) {
        d->nidt = NVME_NIDT_EUI64;
        d->nidl = 8;
        put_be64(d->nid, ns->eui64);
        d = (void *)(d->nid + d->nidl);
    }
    d->nidt = NVME_NIDT_UUID;
    d->nidl = 16;
    make_uuid(ctrl, ns, d->nid);
    if (ctrl->sub->zones.n > 0 || ctrl->sub->namespaces.any_kv) {
        d = (void *)(d->nid + d->nidl);
        d->nidt = NVME_NIDT_CSI;
        d->nidl = 1;
        d->nid[0] = (uint8_t)csi_of(ns);
    }
    return 0;
}

/* The lowest identifier from `from` on, of the controllers with these bits. */
static bool next_id(const NvmeCtrl *ctrl, uint32_t ctrls, uint16_t from,
                    uint16_t *id)
{
    bool any = false;

    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (ctrls >> c->index & 1 && c->cfg.cntlid >= from &&
            (!any || c->cfg.cntlid < *id)) {
            *id = c->cfg.cntlid;
            any = true;
        }
    }
    return any;
}

/* Controllers of a namespace (12h) or of the subsystem (13h), from CNTID on. */
static uint16_t fill_controllers(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                 void *data)
{
    bool of_ns = (sqe->dw[10] & 0xff) == 0x12;
    const NvmeNamespace *ns = nvme_ns_existing(ctrl, sqe->dw[1]);
    uint32_t attached_to = of_ns && ns ? ns->attached : UINT32_MAX;
    NvmeIdList *list = data;
    uint16_t from = sqe->dw[10] >> 16;
    uint16_t n = 0;
    uint16_t id = 0;

    if (of_ns && !ns) {
        return nvme_ns_missing(ctrl, sqe->dw[1]);
    }
    while (next_id(ctrl, attached_to, from, &id)) {
        list->id[n++] = nvme_le16(id);
        from = id + 1;
    }
    list->n = nvme_le16(n);
    return 0;
}

/* From the identifier in CDW11 on.  No typical time of a read is reported. */
static uint16_t fill_nvm_sets(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              void *data)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    NvmeNvmSetList *list = data;

    if ((sqe->dw[11] & 0xffff) <= NVME_ONLY_SET) {
        list->n = 1;
        list->set[0] = (NvmeNvmSet){
            .nvmsetid = nvme_le16(NVME_ONLY_SET),
            .endgid = nvme_le16(NVME_ONLY_GROUP),
            .ows = nvme_le32(info->page_bytes),
            .tnvmsetcap = nvme_le128(ctrl->cfg.nblocks * ctrl->block_bytes),
        };
    }
    return 0;
}

/* From the identifier in CDW11 on. */
static uint16_t fill_endurance_groups(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                      void *data)
{
    NvmeIdList *list = data;

    if ((sqe->dw[11] & 0xffff) <= 1) {
        list->n = nvme_le16(1);
        list->id[0] = nvme_le16(1);
    }
    return 0;
}

/*
 * Structures of the NVM Command Set (CNS 05h and 06h; Base 2.0), which Linux
 * reads whatever VS says.  The controller: Verify and Write Uncorrectable have
 * the limit of MDTS, and Write Zeroes of a drive with metadata.  Else WZSL is
 * 0, and so are DMRL, DMRSL and DMSL: Write Zeroes
 * of any size, and 256 ranges of any size, are taken.
 */
static uint16_t fill_nvm_controller(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                    void *data)
{
    NvmeIdNvmController *id = data;

    id->vsl = ctrl->cfg.mdts;
    id->wzsl = ctrl->cfg.metadata ? ctrl->cfg.mdts : 0;
    id->wusl = ctrl->cfg.mdts;
    return 0;
}

/* ELBAF. */
static uint32_t extended_format(const NvmeProtection *p)
{
    if (!p->guard64) {
        return 0;
    }
    return (p->qualified ? NVME_PIF_QUALIFIED | NVME_QPIF_64B : NVME_PIF_64B) |
           p->storage_bits;
}

static void put_extended_formats(const NvmeCtrl *ctrl, NvmeIdNvmNamespace *id)
{
    NvmeFormat format;

    id->pic = ctrl->cfg.metadata ? NVME_PIC_STCRS : 0;
    for (unsigned i = 0; nvme_ns_get_format(ctrl, i, &format); i++) {
        id->elbaf[i] = nvme_le32(extended_format(&format.protection));
        id->pic |= format.protection.qualified ? NVME_PIC_QPIFS : 0;
    }
}

/* The namespace: its storage tag, and the guards of the formats. */
static uint16_t fill_nvm_namespace(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                   void *data)
{
    const NvmeNamespace *ns = (sqe->dw[10] & 0xff) == 0x1b
                                  ? nvme_ns_existing(ctrl, sqe->dw[1])
                                  : nvme_ns_find(ctrl, sqe->dw[1]);
    NvmeIdNvmNamespace *id = data;

    if (!ns) {
        return nvme_ns_identify_missing(ctrl, sqe);
    }
    if (ns->kv) {
        return NVME_SC_INVALID_FIELD;
    }
    id->lbstm = nvme_le64((1ULL << ns->protection.storage_bits) - 1);
    put_extended_formats(ctrl, id);
    return 0;
}

/*
 * What a namespace of the format in CDW11 15:00 would have (CNS 09h and 0Ah;
 * Base 2.0, Identify command).  Fields of one namespace stay 0: its size, its
 * place of metadata, its protection.
 */
static uint16_t fill_format(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            void *data)
{
    unsigned index = sqe->dw[11] & 0xffff;
    NvmeIdNamespace *id = data;
    NvmeNamespace any = {0};
    NvmeFormat format;

    if (!nvme_ns_get_format(ctrl, index, &format)) {
        return NVME_SC_INVALID_FIELD;
    }
    nvme_ns_set_format(ctrl, &any, index);
    put_formats(ctrl, &any, id);
    id->flbas = 0;
    id->dps = 0;
    return 0;
}

static uint16_t fill_nvm_format(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                void *data)
{
    NvmeFormat format;

    if (!nvme_ns_get_format(ctrl, sqe->dw[11] & 0xffff, &format)) {
        return NVME_SC_INVALID_FIELD;
    }
    put_extended_formats(ctrl, data);
    return 0;
}

/* Fields of namespaces of all command sets: of one that is attached (08h), or
 * of any (1Fh), all zeroes where there could be one. */
static uint16_t fill_independent(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                 void *data)
{
    bool allocated = (sqe->dw[10] & 0xff) == 0x1f;
    const NvmeNamespace *ns = allocated ? nvme_ns_existing(ctrl, sqe->dw[1])
                                        : nvme_ns_find(ctrl, sqe->dw[1]);
    NvmeIdIndependent *id = data;

    if (!ns) {
        return nvme_ns_identify_missing(ctrl, sqe);
    }
    id->nmic = ns->shared;
    id->rescap = nvme_has_reservations(ctrl) ? RESCAP_ALL : 0;
    id->fpi = nvme_format_progress(ctrl, sqe->dw[1]);
    id->nsattr = ns->protect != NVME_PROTECT_NONE;
    id->nvmsetid = nvme_le16(NVME_ONLY_SET);
    id->endgid = nvme_le16(NVME_ONLY_GROUP);
    id->nstat = 1; /* ready */
    return 0;
}

/* Both sizes have one granularity, in all formats. */
static uint16_t fill_granularity(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                 void *data)
{
    NvmeGranularityList *list = data;

    if (!ctrl->sub->namespaces.managed) {
        return NVME_SC_INVALID_FIELD;
    }
    list->n = 1 - 1;
    list->granularity[0].nszeg = nvme_le64(nvme_ns_granule_bytes(ctrl));
    list->granularity[0].ncapg = nvme_le64(nvme_ns_granule_bytes(ctrl));
    return 0;
}

/* One combination: the NVM Command Set, with zones and their command set.  Of
 * this controller or, with FFFFh, of the one that processes the command. */
static uint16_t fill_command_sets(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                  void *data)
{
    NvmeIdCommandSets *sets = data;
    uint16_t cntlid = sqe->dw[10] >> 16;

    if (cntlid != 0xffff && !nvme_find_ctrl(ctrl->sub, cntlid)) {
        return NVME_SC_INVALID_FIELD;
    }
    sets->vector[0] =
        nvme_le64(1ULL << NVME_CSI_NVM |
                  (ctrl->sub->zones.n > 0 ? 1ULL << NVME_CSI_ZONED : 0) |
                  (ctrl->sub->namespaces.any_kv ? 1ULL << NVME_CSI_KV : 0));
    return 0;
}

static const Identify identify_table[] = {
    {0x00, "Identify Namespace", fill_namespace, false},
    {0x01, "Identify Controller", fill_controller, false},
    {0x02, "Active Namespace ID list", fill_ns_list, false},
    {0x03, "Namespace Identification Descriptors", fill_ns_descriptors, false},
    {0x04, "NVM Set List", fill_nvm_sets, false},
    {0x05, "Identify Namespace, NVM command set", fill_nvm_namespace, true},
    {0x06, "Identify Controller, NVM command set", fill_nvm_controller, true},
    {0x07, "Active Namespace ID list, NVM command set", fill_ns_list, true},
    {0x05, "Identify Namespace, Zoned Namespace command set",
     nvme_identify_zoned_namespace, OF_ZONED},
    {0x06, "Identify Controller, Zoned Namespace command set",
     nvme_identify_zoned_controller, OF_ZONED},
    {0x07, "Active Namespace ID list, Zoned Namespace command set",
     fill_ns_list, OF_ZONED},
    {0x05, "Identify Namespace, Key Value command set",
     nvme_identify_kv_namespace, OF_KV},
    {0x06, "Identify Controller, Key Value command set",
     nvme_identify_kv_controller, OF_KV},
    {0x07, "Active Namespace ID list, Key Value command set", fill_ns_list,
     OF_KV},
    {0x08, "Identify Namespace, of any command set", fill_independent, false},
    {0x09, "Identify Namespace of an LBA format", fill_format, false},
    {0x0a, "Identify Namespace of an LBA format, NVM command set",
     fill_nvm_format, true},
    {0x0a, "Identify Namespace of a format, Zoned Namespace command set",
     nvme_identify_zoned_format, OF_ZONED},
    {0x0a, "Identify Namespace of a format, Key Value command set",
     nvme_identify_kv_format, OF_KV},
    {0x10, "Allocated Namespace ID list", fill_ns_list, false},
    {0x11, "Identify Namespace, allocated", fill_namespace, false},
    {0x12, "Controllers attached to a namespace", fill_controllers, false},
    {0x13, "Controllers of the subsystem", fill_controllers, false},
    {0x14, "Primary Controller Capabilities (with sriov_vfs=)",
     nvme_identify_primary, false},
    {0x15, "Secondary Controller List (with sriov_vfs=)",
     nvme_identify_secondaries, false},
    {0x16, "Namespace Granularity List (with namespaces=)", fill_granularity,
     false},
    {0x19, "Endurance Group list", fill_endurance_groups, false},
    {0x1a, "Allocated Namespace ID list, NVM command set", fill_ns_list, true},
    {0x1a, "Allocated Namespace ID list, Zoned Namespace command set",
     fill_ns_list, OF_ZONED},
    {0x1a, "Allocated Namespace ID list, Key Value command set", fill_ns_list,
     OF_KV},
    {0x1b, "Identify Namespace, allocated, NVM command set", fill_nvm_namespace,
     true},
    {0x1b, "Identify Namespace, allocated, Zoned Namespace command set",
     nvme_identify_zoned_namespace, OF_ZONED},
    {0x1b, "Identify Namespace, allocated, Key Value command set",
     nvme_identify_kv_namespace, OF_KV},
    {0x1c, "I/O Command Sets", fill_command_sets, false},
    {0x1f, "Identify Namespace, allocated, of any command set",
     fill_independent, false},
};

/* Does the controller have the command set that the host names, and is the row
 * of it? */
static bool is_set_of(const NvmeCtrl *ctrl, unsigned csi, unsigned of)
{
    return of == OF_KV      ? csi == NVME_CSI_KV && ctrl->sub->namespaces.any_kv
           : of == OF_ZONED ? csi == NVME_CSI_ZONED && ctrl->sub->zones.n > 0
                            : csi == NVME_CSI_NVM;
}

uint16_t nvme_identify(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint8_t data[IDENTIFY_BYTES] = {0};
    uint8_t cns = sqe->dw[10] & 0xff;

    for (unsigned i = 0; i < G_N_ELEMENTS(identify_table); i++) {
        const Identify *what = &identify_table[i];
        uint16_t status;

        if (what->cns != cns) {
            continue;
        }
        if (what->csi && !is_set_of(ctrl, sqe->dw[11] >> 24, what->csi)) {
            continue;
        }
        status = what->fill(ctrl, sqe, data);
        return status ? status : nvme_to_host(ctrl, sqe, data, sizeof(data));
    }
    return NVME_SC_INVALID_FIELD;
}

void nvme_document_identify(GString *out)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(identify_table); i++) {
        g_string_append_printf(out, "| %02Xh | %s |\n", identify_table[i].cns,
                               identify_table[i].name);
    }
    g_string_append(out, "\nOther values of CNS are invalid fields. Of 00h to "
                         "1Fh these are 17h (UUIDs of vendors),\n18h "
                         "(domains), 1Dh and 1Eh (exported subsystems, ports), "
                         "and those that are reserved.\n");
}
