/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ns-state.c - the table of namespaces as a stream of bytes, and back: as a
 * part of a saved controller, or alone, beside a saved drive.
 *
 * A stream may be forged: all is checked before the controller may use it.
 */
#include "nvme-internal.h"
#include "kept-parts.h"
#include "kv/kv-index.h"
#include "namespace/namespace.h"
#include "admin/ns-admin.h"
#include "ns-state.h"
#include "zone/zone-state.h"
#include "zone/zones.h"

#include "state.h"

#define FORMAT_ZONED 0x200 /* the zones, with zones.conventional */
#define FORMAT_KV    0x100 /* Record.format: of key-value pairs */

typedef struct Head {
    uint64_t managed;
    uint64_t granule_blocks;
    uint64_t n_granules;
    uint64_t n; /* that exist */
    uint64_t created;
} Head;

typedef struct Record {
    uint64_t nsid;
    uint64_t attached;
    uint64_t shared;
    uint64_t format;
    uint64_t protect;
    uint64_t protection; /* as FLBAS and DPS */
    uint64_t nblocks;
    uint64_t serial;
    uint64_t eui64;
    uint64_t error_recovery;
    uint64_t failed;
    struct {
        uint64_t commands;
        uint64_t bytes;
    } work[NVME_N_WORKS];
} Record;

static uint64_t format_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    return ns->kv                                 ? FORMAT_KV
           : ns->zone_size && nvme_has_both(ctrl) ? FORMAT_ZONED
                                                  : ns->format;
}

static bool save_one(State *s, const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    Record r = {
        .nsid = ns->nsid,
        .attached = ns->attached & 1,
        .shared = ns->shared,
        .format = format_of(ctrl, ns),
        .protect = ns->protect,
        .protection = (uint64_t)ns->protection.extended << 8 |
                      ns->protection.first << 3 | ns->protection.type,
        .nblocks = ns->nblocks,
        .serial = ns->serial,
        .eui64 = ns->eui64,
        .error_recovery = ns->error_recovery,
        .failed = ns->count.failed,
    };

    for (unsigned i = 0; i < NVME_N_WORKS; i++) {
        r.work[i].commands = ns->count.commands[i];
        r.work[i].bytes = ns->count.bytes[i];
    }
    return state_record(s, &r, sizeof(r));
}

static bool kv_ok(const NvmeCtrl *ctrl, const Record *r)
{
    return r->format == FORMAT_KV && ctrl->sub->namespaces.managed &&
           !nvme_kv_refuses(ctrl, r->nblocks);
}

static bool zoned_ok(const NvmeCtrl *ctrl, const Record *r)
{
    const NvmeZones *z = &ctrl->sub->zones;

    return r->format == FORMAT_ZONED && nvme_has_both(ctrl) &&
           !ctrl->sub->namespaces.zoned && r->nblocks == z->n * z->size &&
           !nvme_ns_count(ctrl, (uint16_t)r->nsid);
}

/* One that has an image of its own may have less than its place, or nothing. */
static bool size_ok(const NvmeCtrl *ctrl, const Record *r, unsigned format)
{
    uint64_t has = nvme_ns_count(ctrl, (uint16_t)r->nsid);
    uint64_t needs = nvme_ns_granules(ctrl, r->nblocks, format);

    if (!ctrl->cfg.namespaces_fixed) {
        return needs == has && r->nblocks;
    }
    return has && needs <= has && (r->nblocks || !r->attached);
}

static bool record_ok(const NvmeCtrl *ctrl, const Record *r)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;

    bool zoned = r->format == FORMAT_ZONED;
    unsigned format = r->format == FORMAT_KV || zoned ? 0 : (unsigned)r->format;

    return r->nsid - 1 < all->n && !all->table[r->nsid - 1].exists &&
           r->attached <= 1 && r->shared <= 1 &&
           (r->format <= 0xf || kv_ok(ctrl, r) || zoned_ok(ctrl, r)) &&
           nvme_ns_format(ctrl, format) && r->protect < NVME_N_PROTECTS &&
           (r->serial < all->created || !all->managed) &&
           r->error_recovery <= (NVME_DULBE | UINT16_MAX) &&
           (zoned || !all->managed || size_ok(ctrl, r, format)) &&
           (all->managed ? true
            : ctrl->sub->zones.n
                ? r->nblocks == ctrl->sub->zones.n * ctrl->sub->zones.size
                : r->nblocks == ctrl->cfg.nblocks && r->attached);
}

/* v: Record.protection. */
static bool load_protection(State *s, const NvmeCtrl *ctrl, NvmeNamespace *ns,
                            uint64_t v)
{
    if (v >> 9 ||
        nvme_ns_check_protection(ctrl, ns->format, v >> 8 & 1, (uint8_t)v)) {
        return state_fail(s, "it is damaged: a namespace");
    }
    nvme_ns_set_protection(ns, v >> 8 & 1, (uint8_t)v);
    return true;
}

static bool load_one(State *s, NvmeCtrl *ctrl)
{
    NvmeNamespace *ns;
    bool zoned;
    Record r;

    if (!state_record(s, &r, sizeof(r))) {
        return false;
    }
    if (!record_ok(ctrl, &r)) {
        return state_fail(s, "it is damaged: a namespace");
    }
    ns = &ctrl->sub->namespaces.table[r.nsid - 1];
    zoned = r.format == FORMAT_ZONED;
    ns->exists = true;
    ns->attached = (uint32_t)r.attached;
    ns->shared = ctrl->sub->namespaces.managed ? r.shared : nvme_is_multi(ctrl);
    ns->protect = (uint8_t)r.protect;
    ns->nblocks = r.nblocks;
    ns->serial = r.serial;
    ns->eui64 = r.eui64;
    ns->error_recovery = (uint32_t)r.error_recovery;
    ns->count.failed = r.failed;
    for (unsigned i = 0; i < NVME_N_WORKS; i++) {
        ns->count.commands[i] = r.work[i].commands;
        ns->count.bytes[i] = r.work[i].bytes;
    }
    ns->kv = r.format == FORMAT_KV;
    ctrl->sub->namespaces.any_kv |= ns->kv;
    nvme_ns_set_format(ctrl, ns,
                       zoned    ? (unsigned)nvme_ns_zoned_format(ctrl)
                       : ns->kv ? 0
                                : (unsigned)r.format);
    if (ctrl->sub->namespaces.managed) {
        nvme_ns_adopt(ctrl, ns);
    } else {
        ns->run = UINT64_MAX;
    }
    if (zoned || (ctrl->sub->zones.n && !ctrl->sub->namespaces.managed)) {
        nvme_zones_give(ctrl, ns);
    }
    return load_protection(s, ctrl, ns, r.protection);
}

/* Each granule belongs to a namespace that exists, or to none. */
static bool owners_ok(const NvmeCtrl *ctrl)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;

    for (uint32_t i = 0; i < all->n_granules; i++) {
        uint16_t owner = all->owner[i];

        if (owner != NVME_GRANULE_FREE && owner != NVME_GRANULE_DIRTY &&
            !nvme_ns_existing(ctrl, owner)) {
            return false;
        }
    }
    return true;
}

static void forget_all(NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        nvme_kv_detach(ctrl, ns);
        g_free(ns->granule);
        *ns = (NvmeNamespace){.nsid = i + 1};
    }
    ctrl->sub->namespaces.zoned = 0;
}

static bool walk_tables(State *s, NvmeCtrl *ctrl)
{
    NvmeNamespaces *all = &ctrl->sub->namespaces;

    return !all->managed ||
           (state_bytes(s, all->owner, all->n_granules * sizeof(uint16_t)) &&
            state_bytes(s, ctrl->changed_ns, sizeof(ctrl->changed_ns)));
}

static bool load_all(State *s, NvmeCtrl *ctrl)
{
    NvmeNamespaces *all = &ctrl->sub->namespaces;
    Head head;

    if (!state_record(s, &head, sizeof(head))) {
        return false;
    }
    if (head.managed != all->managed) {
        return state_fail(s, all->managed
                                 ? "it was saved without namespaces=, this "
                                   "drive has it"
                                 : "its drive has namespaces: give "
                                   "namespaces= (any value: those of the file "
                                   "count)");
    }
    if (head.granule_blocks != all->granule_blocks ||
        head.n_granules != all->n_granules || head.n > all->n ||
        (!all->managed && head.n != 1)) {
        return state_fail(s, "it is damaged: the namespaces, or they are of a "
                             "drive of another size");
    }
    forget_all(ctrl);
    all->created = head.created;
    if (!walk_tables(s, ctrl)) {
        return false;
    }
    for (uint64_t i = 0; i < head.n; i++) {
        if (!load_one(s, ctrl)) {
            return false;
        }
    }
    return owners_ok(ctrl) || state_fail(s, "it is damaged: the namespaces");
}

static bool save_all(State *s, NvmeCtrl *ctrl)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;
    Head head = {
        .managed = all->managed,
        .granule_blocks = all->granule_blocks,
        .n_granules = all->n_granules,
        .created = all->created,
    };

    for (uint32_t i = 0; i < all->n; i++) {
        head.n += all->table[i].exists;
    }
    if (!state_record(s, &head, sizeof(head)) || !walk_tables(s, ctrl)) {
        return false;
    }
    for (uint32_t i = 0; i < all->n; i++) {
        if (all->table[i].exists && !save_one(s, ctrl, &all->table[i])) {
            return false;
        }
    }
    return true;
}

bool nvme_ns_state(State *s, NvmeCtrl *ctrl)
{
    return (s->loading ? load_all(s, ctrl) : save_all(s, ctrl)) &&
           nvme_zones_state(s, ctrl);
}

/* ---- beside a saved drive ------------------------------------------------ */

static bool walk_metadata(State *s, const NvmeCtrl *ctrl)
{
    uint64_t own = ctrl->cfg.metadata | ctrl->cfg.pi_storage_bits << 16;
    uint64_t v = own;

    if (!state_u64(s, &v) || v == own) {
        return !s->error;
    }
    if (!v || !own) {
        return state_fail(s, own ? "it was saved without metadata=, this drive "
                                   "has it"
                                 : "it was saved with metadata=, this drive is "
                                   "without it");
    }
    return state_fail(s,
                      "it was saved with metadata=%u,pi_sts=%u, this drive has "
                      "another",
                      (unsigned)(v & 0xffff), (unsigned)(v >> 16 & 0xff));
}

static bool walk_file(State *s, NvmeCtrl *ctrl)
{
    return state_signature(s, KEPT_NAMESPACES,
                           "it has no table of namespaces") &&
           walk_metadata(s, ctrl) && nvme_ns_state(s, ctrl);
}

bool nvme_save_namespaces(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    State s;

    state_begin(&s, out, false);
    walk_file(&s, (NvmeCtrl *)ctrl);
    return state_end(&s, error);
}

bool nvme_load_namespaces(NvmeCtrl *ctrl, FILE *in, GError **error)
{
    State s;

    state_begin(&s, in, true);
    s.more = true;
    walk_file(&s, ctrl);
    if (!state_end(&s, error)) {
        return false;
    }
    nvme_ns_power_on(ctrl); /* the power has been off */
    nvme_zones_power_on(ctrl);
    return true;
}
