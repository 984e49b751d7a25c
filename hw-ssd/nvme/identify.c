/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identify.c - the Identify data structures (clause 5.15).
 *
 * One function fills each structure; one table names them.  Offsets are those
 * of the figures in the standard.
 */
#include "nvme-internal.h"
#include "identify.h"
#include "prp.h"

#define IDENTIFY_BYTES 4096
#define CSI_NVM 0

typedef struct Identify {
    uint8_t cns;
    const char *name;
    uint16_t (*fill)(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint8_t *d);
    bool csi; /* the host names a command set; there is 0, the NVM one */
} Identify;

static void put_text(uint8_t *p, size_t n, const char *s)
{
    memset(p, ' ', n);
    memcpy(p, s, MIN(n, strlen(s)));
}

/* The name that hosts make up for controllers of before 1.2.1; unique as long
 * as serial numbers are. */
static void put_subnqn(const NvmeCtrl *ctrl, uint8_t *p)
{
    g_autofree char *nqn = g_strdup_printf(
        "nqn.2014.08.org.nvmexpress:%04x%04x%-20s%-40s", ctrl->cfg.pci_vid,
        ctrl->cfg.pci_ssvid, ctrl->cfg.serial, ctrl->cfg.model);

    memcpy(p, nqn, strlen(nqn));
}

static uint16_t fill_controller(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                uint8_t *d)
{
    put_le16(d + 0, ctrl->cfg.pci_vid);
    put_le16(d + 2, ctrl->cfg.pci_ssvid);
    put_text(d + 4, 20, ctrl->cfg.serial);
    put_text(d + 24, 40, ctrl->cfg.model);
    put_text(d + 64, 8, ctrl->cfg.firmware);
    d[72] = 5;                  /* RAB: 32 commands; as Arbitration */
    d[73] = ctrl->cfg.eui64 >> 40; /* IEEE OUI, least significant first */
    d[74] = ctrl->cfg.eui64 >> 48;
    d[75] = ctrl->cfg.eui64 >> 56;
    d[77] = ctrl->cfg.mdts;
    put_le16(d + 78, ctrl->cfg.cntlid);
    put_le32(d + 80, NVME_VERSION_1_4);
    put_le32(d + 84, 10000000); /* RTD3R: 10 s at most, in us */
    put_le32(d + 88, NVME_SHUTDOWN_MS * 1000); /* RTD3E */
    put_le32(d + 92, 0);        /* OAES: no notices */
    /* CTRATT: 128-bit host identifier, endurance groups, FDP. */
    put_le32(d + 96, 1 | (nvme_has_fdp(ctrl) ? 1U << 4 | 1U << 19 : 0));
    d[111] = 1;                 /* CNTRLTYPE: I/O controller */
    /* OACS: Doorbell Buffer Config, Directives. */
    put_le16(d + 256, 1 << 8 | (nvme_has_directives(ctrl) ? 1 << 5 : 0));
    d[258] = NVME_ACL - 1;
    d[259] = NVME_AERL - 1;
    d[260] = 1 << 1 | 1;        /* FRMW: one slot, read only */
    d[261] = 1 << 1 | 1 << 2;   /* LPA: effects log, offset and length */
    d[262] = NVME_ERROR_ENTRIES - 1; /* ELPE */
    d[263] = 0;                 /* NPSS: one power state */
    put_le16(d + 266, NVME_WCTEMP_K);
    put_le16(d + 268, NVME_CCTEMP_K);
    put_le16(d + 340, nvme_has_fdp(ctrl)); /* ENDGIDMAX */
    d[512] = NVME_SQE_SHIFT << 4 | NVME_SQE_SHIFT; /* SQES */
    d[513] = NVME_CQE_SHIFT << 4 | NVME_CQE_SHIFT; /* CQES */
    put_le32(d + 516, 1);       /* NN */
    /* ONCS: Compare, Dataset Management, Write Zeroes, Save/Select field,
     * Timestamp. */
    put_le16(d + 520, 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6);
    /* VWC: present unless power-loss protection keeps it from being volatile;
     * Flush takes FFFFFFFFh. */
    d[525] = 3 << 1 | !ssd_info(ctrl->ssd)->keeps_buffer;
    put_le16(d + 526, ctrl->unit_blocks - 1); /* AWUN */
    put_le16(d + 528, 0);       /* AWUPF: one block; see NAWUPF and NABSPF */
    put_subnqn(ctrl, d + 768);
    put_le16(d + 2048, 800);    /* PSD0: MP, 8 W in 0.01 W */
    put_le32(d + 2052, 0);      /* ENLAT, EXLAT */
    return 0;
}

static bool is_nsid_list(uint32_t nsid)
{
    return nsid < NVME_NSID_ALL - 1;
}

static void put_formats(const NvmeCtrl *ctrl, uint8_t *d)
{
    unsigned unit = ctrl->unit_blocks - 1;
    unsigned page = ssd_info(ctrl->ssd)->page_bytes / ctrl->block_bytes - 1;

    d[24] = 1 << 1 | 1 << 4; /* NSFEAT: NAWUPF and others; NPWG and others */
    d[25] = 0;               /* NLBAF: one format */
    d[33] = 1 << 3 | 1;      /* DLFEAT: deallocated blocks read as zeroes,
                                Write Zeroes takes the deallocate bit */
    put_le16(d + 34, unit);  /* NAWUN */
    put_le16(d + 36, unit);  /* NAWUPF, within the boundaries below */
    put_le16(d + 42, 0);     /* NABO */
    put_le16(d + 44, unit);  /* NABSPF: a mapping unit is torn by nothing */
    put_le16(d + 64, unit);  /* NPWG */
    put_le16(d + 66, unit);  /* NPWA */
    put_le16(d + 68, unit);  /* NPDG: whole units are deallocated */
    put_le16(d + 70, unit);  /* NPDA */
    put_le16(d + 72, MAX(page, unit)); /* NOWS */
    d[128 + 2] = ctrl->block_shift;    /* LBAF0: LBADS */
}

static void put_be64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        p[i] = v >> (56 - 8 * i);
    }
}

static uint16_t fill_namespace(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                               uint8_t *d)
{
    if (!nvme_is_io_nsid(sqe->dw[1])) {
        return NVME_SC_INVALID_NSID;
    }
    put_le64(d + 0, ctrl->cfg.nblocks);  /* NSZE */
    put_le64(d + 8, ctrl->cfg.nblocks);  /* NCAP */
    put_le64(d + 16, ctrl->cfg.nblocks); /* NUSE: not thin */
    put_formats(ctrl, d);
    put_le16(d + 102, nvme_has_fdp(ctrl)); /* ENDGID */
    if (ctrl->cfg.eui64) {
        put_be64(d + 120, ctrl->cfg.eui64);
    }
    return 0;
}

static uint16_t fill_ns_list(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             uint8_t *d)
{
    if (!is_nsid_list(sqe->dw[1])) {
        return NVME_SC_INVALID_NSID;
    }
    put_le32(d, sqe->dw[1] < 1 ? 1 : 0);
    return 0;
}

/* A UUID that is the same whenever serial and model are (RFC 4122, by name). */
static void make_uuid(const NvmeCtrl *ctrl, uint8_t *uuid)
{
    g_autofree char *name =
        g_strdup_printf("vssd:%s:%s", ctrl->cfg.model, ctrl->cfg.serial);
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
                                    uint8_t *d)
{
    if (!nvme_is_io_nsid(sqe->dw[1])) {
        return NVME_SC_INVALID_NSID;
    }
    if (ctrl->cfg.eui64) {
        d[0] = 1; /* NIDT: EUI-64 */
        d[1] = 8; /* NIDL */
        put_be64(d + 4, ctrl->cfg.eui64);
        d += 12;
    }
    d[0] = 3; /* UUID */
    d[1] = 16;
    make_uuid(ctrl, d + 4);
    return 0;
}

/* Controllers of a namespace (12h) or of the subsystem (13h), from CNTID on. */
static uint16_t fill_controllers(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                 uint8_t *d)
{
    uint16_t from = sqe->dw[10] >> 16;

    if ((sqe->dw[10] & 0xff) == 0x12 && !nvme_is_io_nsid(sqe->dw[1])) {
        return NVME_SC_INVALID_NSID;
    }
    if (from <= ctrl->cfg.cntlid) {
        put_le16(d, 1);
        put_le16(d + 2, ctrl->cfg.cntlid);
    }
    return 0;
}

/* From the identifier in CDW11 on. */
static uint16_t fill_endurance_groups(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                      uint8_t *d)
{
    if (!nvme_has_fdp(ctrl)) {
        return NVME_SC_INVALID_FIELD;
    }
    if ((sqe->dw[11] & 0xffff) <= 1) {
        put_le16(d, 1);
        put_le16(d + 2, 1);
    }
    return 0;
}

/*
 * Of the NVM command set (1.1, 4.1.5), figures of Base 2.x, which Linux asks for
 * whatever VS says.  The controller: no limits besides MDTS.  VSL, WZSL and WUSL are
 * 0, and so are DMRL, DMRSL and DMSL: 256 ranges of any size are taken.
 */
static uint16_t fill_nvm_controller(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                    uint8_t *d)
{
    return 0;
}

/* The namespace: no protection information, so no formats and tags of it. */
static uint16_t fill_nvm_namespace(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                   uint8_t *d)
{
    return nvme_is_io_nsid(sqe->dw[1]) ? 0 : NVME_SC_INVALID_NSID;
}

/* What namespaces of all command sets have. */
static uint16_t fill_independent(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                 uint8_t *d)
{
    if (!nvme_is_io_nsid(sqe->dw[1])) {
        return NVME_SC_INVALID_NSID;
    }
    put_le16(d + 12, nvme_has_fdp(ctrl)); /* ENDGID */
    d[14] = 1;                            /* NSTAT: ready */
    return 0;
}

static const Identify identify_table[] = {
    { 0x00, "Identify Namespace", fill_namespace, false },
    { 0x01, "Identify Controller", fill_controller, false },
    { 0x02, "Active Namespace ID list", fill_ns_list, false },
    { 0x03, "Namespace Identification Descriptors", fill_ns_descriptors, false },
    { 0x05, "Identify Namespace, NVM command set", fill_nvm_namespace, true },
    { 0x06, "Identify Controller, NVM command set", fill_nvm_controller, true },
    { 0x07, "Active Namespace ID list, NVM command set", fill_ns_list, true },
    { 0x08, "Identify Namespace, of any command set", fill_independent, false },
    { 0x10, "Allocated Namespace ID list", fill_ns_list, false },
    { 0x11, "Identify Namespace, allocated", fill_namespace, false },
    { 0x12, "Controllers attached to a namespace", fill_controllers, false },
    { 0x13, "Controllers of the subsystem", fill_controllers, false },
    { 0x19, "Endurance Group list (with fdp.ruhs)", fill_endurance_groups, false },
};

uint16_t nvme_identify(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint8_t data[IDENTIFY_BYTES] = { 0 };
    uint8_t cns = sqe->dw[10] & 0xff;

    for (unsigned i = 0; i < G_N_ELEMENTS(identify_table); i++) {
        const Identify *what = &identify_table[i];
        uint16_t status;

        if (what->cns != cns) {
            continue;
        }
        if (what->csi && sqe->dw[11] >> 24 != CSI_NVM) {
            return NVME_SC_INVALID_FIELD;
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
}
