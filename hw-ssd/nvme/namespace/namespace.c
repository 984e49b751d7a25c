/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * namespace.c - the table of namespaces, and where their blocks are in the
 * drive.
 *
 * A namespace owns granules of the drive.  They ascend: one that is made takes
 * a run of free granules that is long enough, or else the first free ones.  So
 * the table of owners says all.  Nothing is moved when a namespace goes.
 *
 * Knows sizes and addresses; knows nothing of commands.
 */
#include "nvme-internal.h"
#include "namespace/namespace.h"

/* A drive has at most twice as many. */
#define GRANULES       4096
#define METADATA_ALIGN 4096

static uint64_t metadata_base(uint64_t nblocks, uint32_t block_bytes)
{
    return (nblocks * block_bytes + METADATA_ALIGN - 1) / METADATA_ALIGN *
           METADATA_ALIGN;
}

uint64_t nvme_store_bytes(uint64_t nblocks, uint32_t block_bytes,
                          uint16_t metadata)
{
    return metadata ? metadata_base(nblocks, block_bytes) + nblocks * metadata
                    : nblocks * block_bytes;
}

void nvme_namespaces_init(NvmeCtrl *ctrl, uint32_t n)
{
    const SsdZones *zones = &ssd_info(ctrl->ssd)->zones;
    NvmeNamespaces *all = &ctrl->sub->namespaces;
    uint64_t nblocks;

    if (ctrl->cfg.metadata) {
        payload_set_metadata(
            ctrl->payload, ctrl->cfg.metadata,
            metadata_base(ctrl->cfg.nblocks, ctrl->block_bytes));
    }
    all->n = n;
    all->managed = ctrl->cfg.namespaces != NULL;
    all->base = zones->conventional ? zones->n * zones->capacity : 0;
    all->table = g_new0(NvmeNamespace, n);
    for (uint32_t i = 0; i < n; i++) {
        all->table[i].nsid = i + 1;
    }
    all->granule_blocks = ctrl->unit_blocks;
    if (!all->managed) {
        return;
    }
    nblocks = ctrl->cfg.nblocks - all->base;
    while (nblocks / all->granule_blocks > 2 * GRANULES) {
        all->granule_blocks *= 2;
    }
    all->n_granules = (uint32_t)(nblocks / all->granule_blocks);
    all->owner = g_new0(uint16_t, all->n_granules);
}

void nvme_namespaces_free(NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        g_free(ctrl->sub->namespaces.table[i].granule);
    }
    g_free(ctrl->sub->namespaces.table);
    g_free(ctrl->sub->namespaces.owner);
    ctrl->sub->namespaces = (NvmeNamespaces){0};
}

/* Base 1.4, 6.1.5: an NSID that is not active is an invalid field. */
uint16_t nvme_ns_missing(const NvmeCtrl *ctrl, uint32_t nsid)
{
    return nvme_ns_valid(ctrl, nsid) || nsid == NVME_NSID_ALL
               ? NVME_SC_INVALID_FIELD
               : NVME_SC_INVALID_NSID;
}

uint16_t nvme_ns_identify_missing(const NvmeCtrl *ctrl, const NvmeSqe *sqe)
{
    /* Zeroes where there could be a namespace.  FFFFFFFFh is an invalid
     * namespace for these, and not an invalid field. */
    static const uint8_t zeroes[] = {0x00, 0x05, 0x11, 0x1b, 0x1f};
    static const uint8_t invalid[] = {0x00, 0x03, 0x11, 0x1b, 0x1f};
    uint8_t cns = sqe->dw[10] & 0xff;

    if (memchr(zeroes, cns, sizeof(zeroes)) &&
        nvme_ns_valid(ctrl, sqe->dw[1])) {
        return 0;
    }
    return sqe->dw[1] == NVME_NSID_ALL && memchr(invalid, cns, sizeof(invalid))
               ? NVME_SC_INVALID_NSID
               : nvme_ns_missing(ctrl, sqe->dw[1]);
}

const NvmeNamespace *nvme_ns_existing(const NvmeCtrl *ctrl, uint32_t nsid)
{
    return nvme_ns_valid(ctrl, nsid) &&
                   ctrl->sub->namespaces.table[nsid - 1].exists
               ? &ctrl->sub->namespaces.table[nsid - 1]
               : NULL;
}

/* ---- members ------------------------------------------------------------- */

static NvmeNamespace *own(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    return &ctrl->sub->namespaces.table[ns->nsid - 1];
}

void nvme_ns_attach(const NvmeCtrl *ctrl, const NvmeNamespace *ns, bool on)
{
    own(ctrl, ns)->attached =
        (ns->attached & ~(1U << ctrl->index)) | (uint32_t)on << ctrl->index;
}

void nvme_ns_set_attached(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                          uint32_t ctrls)
{
    own(ctrl, ns)->attached = ctrls;
}

void nvme_ns_protect(NvmeCtrl *ctrl, const NvmeNamespace *ns, NvmeProtect state)
{
    own(ctrl, ns)->protect = (uint8_t)state;
}

void nvme_ns_recover(NvmeCtrl *ctrl, const NvmeNamespace *ns, uint32_t value)
{
    own(ctrl, ns)->error_recovery = value;
}

void nvme_ns_count_command(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                           NvmeWork work, uint64_t bytes, bool ok)
{
    NvmeNsCounts *count = &own(ctrl, ns)->count;

    if (ok) {
        count->commands[work]++;
        count->bytes[work] += bytes;
    } else {
        count->failed++;
    }
}

void nvme_ns_set_index(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                       struct NvmeKv *index)
{
    own(ctrl, ns)->index = index;
}

void nvme_ns_allow_kv(NvmeCtrl *ctrl)
{
    ctrl->sub->namespaces.any_kv = true;
}

bool nvme_namespace_place(const NvmeCtrl *ctrl, uint32_t nsid, uint64_t *first,
                          uint64_t *nblocks)
{
    const NvmeNamespace *ns = nvme_ns_existing(ctrl, nsid);

    if (!ns || ns->run < ns->nblocks << ns->drive_shift) {
        return false;
    }
    *first = ns->base;
    *nblocks = ns->nblocks << ns->drive_shift;
    return true;
}

/* ---- sizes --------------------------------------------------------------- */

/* Size i of a logical block; 0: there is none. */
static uint32_t block_size(const NvmeCtrl *ctrl, unsigned i)
{
    const SsdZones *zones = &ssd_info(ctrl->ssd)->zones;

    if (zones->n > 0 && !zones->conventional) {
        return i == 0 ? ssd_info(ctrl->ssd)->unit_bytes : 0;
    }
    if (i == 0) {
        return ctrl->block_bytes;
    }
    return i == 1 && ctrl->sub->namespaces.managed &&
                   ctrl->block_bytes < 4096 &&
                   ssd_info(ctrl->ssd)->unit_bytes % 4096 == 0
               ? 4096
               : 0;
}

static bool fits(const NvmeCtrl *ctrl, uint32_t block_bytes,
                 const NvmeProtection *p)
{
    return p->meta_bytes <=
               ctrl->cfg.metadata * (block_bytes / ctrl->block_bytes) &&
           (!p->guard64 || block_bytes == 4096);
}

/* Metadata of formats.  Those of a qualified format (NVM Command Set 1.1,
 * Extended LBA Format data structure) have a storage tag always. */
static const NvmeProtection with_metadata[] = {
    {.meta_bytes = 8},
    {.meta_bytes = 16},
    {.meta_bytes = 64},
    {.meta_bytes = 16, .guard64 = true},
    {.meta_bytes = 64, .guard64 = true},
};
static const NvmeProtection with_qualified[] = {
    {.meta_bytes = 16, .guard64 = true, .qualified = true},
    {.meta_bytes = 64, .guard64 = true, .qualified = true},
};
#define QUALIFIED_STORAGE_BITS 16 /* without pi_sts */

static uint8_t storage_bits(const NvmeCtrl *ctrl, const NvmeProtection *p)
{
    if (!p->guard64) {
        return 0;
    }
    return p->qualified && !ctrl->cfg.pi_storage_bits
               ? QUALIFIED_STORAGE_BITS
               : ctrl->cfg.pi_storage_bits;
}

/* The format that has number *i among each size of block with each entry of
 * `with` that fits.  false: there are fewer, and *i is less by their number. */
static bool nth_format(const NvmeCtrl *ctrl, const NvmeProtection *with,
                       unsigned n_with, unsigned *i, NvmeFormat *format)
{
    uint32_t bytes;

    for (unsigned k = 0; (bytes = block_size(ctrl, k)); k++) {
        for (unsigned m = 0; m < n_with; m++) {
            if (fits(ctrl, bytes, &with[m]) && (*i)-- == 0) {
                *format = (NvmeFormat){bytes, with[m]};
                format->protection.storage_bits = storage_bits(ctrl, &with[m]);
                return true;
            }
        }
    }
    return false;
}

/* The sizes without metadata; then, if the drive has it, each size with each
 * metadata that fits; then the qualified ones, so that others keep numbers. */
bool nvme_ns_get_format(const NvmeCtrl *ctrl, unsigned i, NvmeFormat *format)
{
    static const NvmeProtection none[] = {{.meta_bytes = 0}};

    *format = (NvmeFormat){0};
    return nth_format(ctrl, none, G_N_ELEMENTS(none), &i, format) ||
           nth_format(ctrl, with_metadata, G_N_ELEMENTS(with_metadata), &i,
                      format) ||
           nth_format(ctrl, with_qualified, G_N_ELEMENTS(with_qualified), &i,
                      format);
}

uint32_t nvme_ns_format(const NvmeCtrl *ctrl, unsigned i)
{
    NvmeFormat format;

    return nvme_ns_get_format(ctrl, i, &format) ? format.block_bytes : 0;
}

int nvme_ns_find_format(const NvmeCtrl *ctrl, uint32_t block_bytes,
                        const NvmeProtection *like)
{
    NvmeFormat f;

    for (unsigned i = 0; nvme_ns_get_format(ctrl, i, &f); i++) {
        const NvmeProtection *p = &f.protection;

        if (f.block_bytes == block_bytes && p->meta_bytes == like->meta_bytes &&
            p->guard64 == like->guard64 && p->qualified == like->qualified) {
            return (int)i;
        }
    }
    return -1;
}

uint64_t nvme_ns_granules(const NvmeCtrl *ctrl, uint64_t nblocks,
                          unsigned format)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;
    uint64_t per_block = nvme_ns_format(ctrl, format) / ctrl->block_bytes;

    if (nblocks > (uint64_t)all->n_granules * all->granule_blocks / per_block) {
        return UINT64_MAX;
    }
    return (nblocks * per_block + all->granule_blocks - 1) /
           all->granule_blocks;
}

uint32_t nvme_ns_count(const NvmeCtrl *ctrl, uint16_t owner)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ctrl->sub->namespaces.n_granules; i++) {
        n += ctrl->sub->namespaces.owner[i] == owner;
    }
    return n;
}

uint64_t nvme_ns_granule_bytes(const NvmeCtrl *ctrl)
{
    return (uint64_t)ctrl->sub->namespaces.granule_blocks * ctrl->block_bytes;
}

/* ---- life ---------------------------------------------------------------- */

void nvme_ns_set_format(const NvmeCtrl *ctrl, NvmeNamespace *ns,
                        unsigned format)
{
    NvmeFormat f;

    nvme_ns_get_format(ctrl, format, &f);
    ns->format = (uint8_t)format;
    ns->block_bytes = f.block_bytes;
    ns->protection = f.protection;
    ns->block_shift = g_bit_nth_lsf(ns->block_bytes, -1);
    ns->drive_shift = ns->block_shift - ctrl->block_shift;
}

void nvme_ns_set_zones(NvmeCtrl *ctrl, const NvmeNamespace *zoned, uint64_t n,
                       uint64_t size, uint64_t capacity)
{
    NvmeNamespace *ns = own(ctrl, zoned);

    ns->zone_size = size << ns->drive_shift;
    ns->zone_capacity = capacity << ns->drive_shift;
    ns->nblocks = n * size;
    ns->run = 0;
    ctrl->sub->namespaces.zoned = ns->nsid;
}

int nvme_ns_zoned_format(const NvmeCtrl *ctrl)
{
    const NvmeProtection none = {0};

    return nvme_ns_find_format(ctrl, ssd_info(ctrl->ssd)->unit_bytes, &none);
}

/* DPS: type in bits 2:0, and bit 3, in the first bytes. */
uint16_t nvme_ns_check_protection(const NvmeCtrl *ctrl, unsigned format,
                                  bool extended, uint8_t dps)
{
    unsigned type = dps & 7;
    NvmeFormat f;

    if (!nvme_ns_get_format(ctrl, format, &f) ||
        (extended && !f.protection.meta_bytes)) {
        return NVME_SC_INVALID_FORMAT;
    }
    if (type > 3 || dps >> 4) { /* reserved */
        return NVME_SC_INVALID_FIELD;
    }
    return dps && !f.protection.meta_bytes ? NVME_SC_INVALID_FORMAT : 0;
}

void nvme_ns_set_protection(NvmeNamespace *ns, bool extended, uint8_t dps)
{
    ns->protection.extended = extended;
    ns->protection.type = dps & 7;
    ns->protection.first = ns->protection.type && dps & 8;
}

/* The first run of so many free granules; n_granules: there is none. */
static uint32_t find_run(const NvmeNamespaces *all, uint64_t need)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < all->n_granules; i++) {
        n = all->owner[i] == NVME_GRANULE_FREE ? n + 1 : 0;
        if (n == need) {
            return (uint32_t)(i + 1 - need);
        }
    }
    return all->n_granules;
}

void nvme_ns_adopt(NvmeCtrl *ctrl, NvmeNamespace *ns)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;
    uint32_t n = 0;
    uint32_t run = 1;

    ns->granule_blocks = all->granule_blocks;
    ns->granule_base = all->base;
    ns->n_granules = nvme_ns_count(ctrl, (uint16_t)ns->nsid);
    ns->granule = g_new(uint32_t, ns->n_granules);
    for (uint32_t i = 0; i < all->n_granules; i++) {
        if (all->owner[i] == ns->nsid) {
            ns->granule[n++] = i;
        }
    }
    while (run < n && ns->granule[run] == ns->granule[0] + run) {
        run++;
    }
    ns->base =
        n ? all->base + (uint64_t)ns->granule[0] * all->granule_blocks : 0;
    ns->run = n ? (uint64_t)run * all->granule_blocks : 0;
}

static uint64_t eui64_of(const NvmeCtrl *ctrl, uint64_t serial)
{
    return ctrl->cfg.eui64 ? ctrl->cfg.eui64 + serial : 0;
}

const NvmeNamespace *nvme_ns_create(NvmeCtrl *ctrl, uint32_t nsid,
                                    const NvmeNsForm *form)
{
    NvmeNamespaces *all = &ctrl->sub->namespaces;
    NvmeNamespace *ns = &all->table[nsid - 1];
    uint64_t nblocks = form->zoned ? 0 : form->nblocks;
    uint64_t need = nvme_ns_granules(ctrl, nblocks, form->format);
    uint32_t at = find_run(all, need);

    *ns = (NvmeNamespace){
        .nsid = nsid,
        .exists = true,
        .shared = form->shared,
        .nblocks = nblocks,
        .serial = all->created++,
        .kv = form->kv,
    };
    all->any_kv |= form->kv;
    ns->eui64 = eui64_of(ctrl, ns->serial);
    nvme_ns_set_format(ctrl, ns, form->format);
    nvme_ns_set_protection(ns, form->extended, form->dps);
    for (uint32_t i = at < all->n_granules ? at : 0; need; i++) {
        g_assert(i < all->n_granules);
        if (all->owner[i] == NVME_GRANULE_FREE) {
            all->owner[i] = (uint16_t)nsid;
            need--;
        }
    }
    nvme_ns_adopt(ctrl, ns);
    return ns;
}

const NvmeNamespace *nvme_ns_create_only(NvmeCtrl *ctrl, const NvmeNsForm *form)
{
    NvmeNamespace *ns = &ctrl->sub->namespaces.table[0];

    ns->exists = true;
    ns->shared = form->shared;
    ns->nblocks = ctrl->cfg.nblocks;
    ns->eui64 = ctrl->cfg.eui64;
    ns->run = UINT64_MAX;
    nvme_ns_set_format(ctrl, ns, form->format);
    nvme_ns_set_protection(ns, form->extended, form->dps);
    return ns;
}

/* Of a last block that it had only in part it has all now: its granules have
 * room for it. */
void nvme_ns_reformat(NvmeCtrl *ctrl, const NvmeNamespace *old, unsigned format,
                      bool extended, uint8_t dps)
{
    NvmeNamespace *ns = own(ctrl, old);
    uint64_t drive = ns->nblocks << ns->drive_shift;
    uint64_t per_block;

    nvme_ns_set_format(ctrl, ns, format);
    if (ns->protection.meta_bytes) {
        nvme_ns_set_protection(ns, extended, dps);
    }
    per_block = 1ULL << ns->drive_shift;
    ns->nblocks = (drive + per_block - 1) / per_block;
}

void nvme_ns_expect_writes(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                           uint64_t first, uint64_t nblocks, SsdWriteRate rate)
{
    if (!ctrl->cfg.dsm_hints || ns->zone_size) {
        return;
    }
    while (nblocks) {
        uint64_t lba;
        uint64_t n = nvme_ns_piece(ns, first, nblocks, &lba);

        ssd_expect_writes(ctrl->ssd, ctrl->sub->now_ns, lba, n, rate);
        first += n;
        nblocks -= n;
    }
}

void nvme_ns_delete(NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    nvme_ns_expect_writes(ctrl, ns, 0, ns->nblocks << ns->drive_shift,
                          SSD_WRITES_UNKNOWN);
    for (uint32_t i = 0; i < ns->n_granules; i++) {
        ctrl->sub->namespaces.owner[ns->granule[i]] = NVME_GRANULE_DIRTY;
    }
    if (ns->zone_size) {
        ctrl->sub->namespaces.zoned = 0;
    }
    g_free(ns->granule);
    *own(ctrl, ns) = (NvmeNamespace){.nsid = ns->nsid};
}

void nvme_ns_take_out(NvmeCtrl *ctrl, const NvmeNamespace *in)
{
    NvmeNamespace *ns = own(ctrl, in);

    nvme_ns_expect_writes(ctrl, ns, 0, ns->nblocks << ns->drive_shift,
                          SSD_WRITES_UNKNOWN);
    ns->nblocks = 0;
    ns->attached = 0;
    ns->protect = NVME_PROTECT_NONE;
    ns->error_recovery = 0;
    ns->count = (NvmeNsCounts){0};
}

void nvme_ns_put_in(NvmeCtrl *ctrl, const NvmeNamespace *out, uint64_t nblocks,
                    bool new_identity)
{
    NvmeNamespace *ns = own(ctrl, out);

    g_assert(nblocks <= ns->run);
    nvme_ns_set_format(ctrl, ns, 0);
    ns->nblocks = nblocks;
    if (new_identity) {
        ns->serial = ctrl->sub->namespaces.created++;
        ns->eui64 = eui64_of(ctrl, ns->serial);
    }
}

void nvme_ns_regrant(NvmeCtrl *ctrl, uint16_t from, uint16_t to)
{
    NvmeNamespaces *all = &ctrl->sub->namespaces;

    for (uint32_t i = 0; i < all->n_granules; i++) {
        if (all->owner[i] == from) {
            all->owner[i] = to;
        }
    }
}

void nvme_ns_preloaded(NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks)
{
    NvmeNamespaces *all = &ctrl->sub->namespaces;
    uint64_t behind = lba + nblocks - MIN(all->base, lba + nblocks);
    uint64_t end = (behind + all->granule_blocks - 1) / all->granule_blocks;

    for (uint64_t i = (lba - MIN(all->base, lba)) / all->granule_blocks;
         i < MIN(end, all->n_granules); i++) {
        if (all->owner[i] == NVME_GRANULE_FREE) {
            all->owner[i] = NVME_GRANULE_DIRTY;
        }
    }
}

/* ---- addresses ----------------------------------------------------------- */

uint64_t nvme_ns_find_piece(const NvmeNamespace *ns, uint64_t first,
                            uint64_t nblocks, uint64_t *lba)
{
    /* The first run is of whole granules. */
    uint64_t granule = ns->granule_blocks;
    uint64_t i, n;

    if (ns->zone_size) { /* of one zone, and within its capacity */
        *lba =
            first / ns->zone_size * ns->zone_capacity + first % ns->zone_size;
        return nblocks;
    }
    i = first / granule;
    n = granule - first % granule;

    *lba = ns->granule_base + ns->granule[i] * granule + first % granule;
    while (n < nblocks && ns->granule[i + 1] == ns->granule[i] + 1) {
        n += granule;
        i++;
    }
    return MIN(n, nblocks);
}

unsigned nvme_ns_pieces(const NvmeNamespace *ns, uint64_t first,
                        uint64_t nblocks)
{
    unsigned n = 0;

    while (nblocks) {
        uint64_t lba;
        uint64_t piece = nvme_ns_piece(ns, first, nblocks, &lba);

        first += piece;
        nblocks -= piece;
        n++;
    }
    return n;
}

uint64_t nvme_ns_from_drive(const NvmeNamespace *ns, uint64_t lba)
{
    if (!ns || !ns->exists) {
        return 0;
    }
    if (ns->zone_size) {
        return (lba / ns->zone_capacity * ns->zone_size +
                lba % ns->zone_capacity) >>
               ns->drive_shift;
    }
    if (!ns->granule) {
        return lba >> ns->drive_shift;
    }
    lba -= ns->granule_base;
    for (uint64_t i = 0; i < ns->n_granules; i++) {
        if (ns->granule[i] == lba / ns->granule_blocks) {
            return (i * ns->granule_blocks + lba % ns->granule_blocks) >>
                   ns->drive_shift;
        }
    }
    return 0;
}

const NvmeNamespace *nvme_ns_of_drive(const NvmeCtrl *ctrl, uint64_t lba)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;

    if (!all->managed) {
        return &all->table[0];
    }
    if (lba < all->base) {
        return nvme_ns_existing(ctrl, all->zoned);
    }
    uint64_t i = (lba - all->base) / all->granule_blocks;

    return i < all->n_granules ? nvme_ns_existing(ctrl, all->owner[i]) : NULL;
}
