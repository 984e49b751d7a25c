/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-state.c - the controller as a stream of bytes, and back.
 *
 * Every member of its structs is listed in rows (core/state.h); a test finds
 * one that is missing.  Only a controller at rest is saved (rest.c).  Further
 * controllers of a subsystem come last, by identifier; they have the rows of
 * the first one.
 *
 * A stream may be forged: each number that is used as an index, a size or a
 * flag is looked at before the controller may use it.  Addresses in guest
 * memory need no check; a guest could have set any.
 */
#include "nvme-internal.h"
#include "cmd-faults.h"
#include "ctrl.h"
#include "erase-job.h"
#include "fdp-handles.h"
#include "firmware.h"
#include "host-memory.h"
#include "keep-alive.h"
#include "latency.h"
#include "lba-track.h"
#include "namespace.h"
#include "nvme-features.h"
#include "ns-state.h"
#include "nvme-state.h"
#include "persistent-events.h"
#include "queue-state.h"
#include "reservation.h"
#include "rest.h"
#include "sanitize.h"
#include "secondary.h"
#include "self-test.h"
#include "streams.h"
#include "zones.h"

#include <inttypes.h>

#include "simtime.h"
#include "ssd-save.h"
#include "state.h"
#include "telemetry.h"

#define MAGIC "VSSDNVME"
#define MOST_TEXT 4096

enum {
    N_ONE,
    N_IMAGE,
    N_TELEMETRY,
    N_PEL,
    N_PEL_CONTEXT,
    N_NAMESPACES,
    N_COUNTS,
};

/* A member of the subsystem or of its first controller, and the name of its
 * row: that of version 1, when all of them were members of NvmeCtrl. */
#define MEMBER(m, was)                                                         \
    .name = "NvmeCtrl." #was, .offset = offsetof(NvmeSubsys, m),               \
    .bytes = sizeof(((NvmeSubsys *)0)->m),                                     \
    .align = __alignof__(((NvmeSubsys *)0)->m)
#define ROW(m, was, of)  {MEMBER(m, was), .kind = (of)}
#define VALUE_AS(m, was) ROW(m, was, STATE_VALUE)
#define KEPT_AS(m, was)  ROW(m, was, STATE_KEPT)
#define VALUE_SINCE(v, m, was)                                                 \
    {MEMBER(m, was), .kind = STATE_VALUE, .since = (v)}

/* One that a stream may be without: it is all zeroes then. */
#define VALUE_OPTIONAL(m, was)                                                 \
    {MEMBER(m, was), .kind = STATE_VALUE, .optional = true}

/* A counter that a row of NVME_STATS makes.  A stream may be without it. */
#define COUNTER(id, path, unit, reset, help)                                   \
    {MEMBER(count.id, id), .kind = STATE_VALUE, .optional = true},
#define NO_COUNTER(...)

/* Before version 5 a drive with streams had one controller: it had one host. */
typedef struct StreamV4 {
    uint16_t id;
    uint64_t used;
} StreamV4;

typedef struct StreamsV4 {
    unsigned max;
    uint8_t enabled;
    unsigned allocated;
    unsigned open;
    uint64_t clock;
    StreamV4 stream[NVME_MAX_STREAMS];
} StreamsV4;

_Static_assert(sizeof(StreamV4) == sizeof(NvmeStream), "StreamV4");

static const StateMove streams_moves[] = {
    STATE_MOVE(StreamsV4, NvmeStreams, max),
    STATE_MOVE(StreamsV4, NvmeStreams, clock),
    STATE_MOVE(StreamsV4, NvmeStreams, stream),
    STATE_MOVE_AS(StreamsV4, enabled, NvmeStreams, host[0].enabled),
    STATE_MOVE_AS(StreamsV4, allocated, NvmeStreams, host[0].allocated),
    STATE_MOVE_AS(StreamsV4, open, NvmeStreams, host[0].open),
};
static const StateWas streams_v4 = STATE_WAS(StreamsV4, streams_moves);

static const StateRow ctrl_rows[] = {
    KEPT_AS(ctrl, ctrl), /* a subsystem with others is not saved */
    KEPT_AS(n_ctrls, n_ctrls),
    KEPT_AS(next_ctrl, next_ctrl),
    VALUE_AS(powered, powered),
    KEPT_AS(drive_lost, drive_lost),
    KEPT_AS(held, held),
    VALUE_AS(now_ns, now_ns),
    KEPT_AS(more, more),
    KEPT_AS(run_bytes, run_bytes),
    KEPT_AS(namespaces, namespaces), /* ns-state.c */
    KEPT_AS(requests.free, free_requests),
    KEPT_AS(requests.starved_first, starved_first),
    KEPT_AS(requests.starved_last, starved_last),
    KEPT_AS(requests.locks, locks),
    KEPT_AS(requests.slabs, request_slabs),
    KEPT_AS(requests.sg_pool, sg_pool),
    KEPT_AS(slots.slot, slots),
    KEPT_AS(slots.n, nslots),
    KEPT_AS(slots.free, free_slot),
    KEPT_AS(slots.in_use, slots_in_use),
    VALUE_AS(next_version, next_version),
    {MEMBER(streams, streams), .kind = STATE_VALUE, .grown = 5,
     .was = &streams_v4},
    VALUE_AS(fdp, fdp),
    {MEMBER(fdp_units, fdp_units), .kind = STATE_TABLE,
     .elem = sizeof(NvmeFdpUnits), .count = N_ONE, .optional = true},
    KEPT_AS(zones, zones), /* zone-state.c */
    {MEMBER(reservations, reservations), .kind = STATE_TABLE,
     .elem = sizeof(NvmeReservation), .count = N_NAMESPACES, .optional = true},
    KEPT_AS(n_reserved, n_reserved), /* follows from it */
    KEPT_AS(virtualization.n, vf_n), /* these four: from the configuration */
    KEPT_AS(virtualization.private, vf_private),
    KEPT_AS(virtualization.flexible, vf_flexible),
    KEPT_AS(virtualization.most, vf_most),
    VALUE_SINCE(5, virtualization.primary, vf_primary),
    VALUE_SINCE(5, virtualization.wanted, vf_wanted),
    KEPT_AS(virtualization.secondary, vf_secondary), /* in Place */
    KEPT_AS(kv_all, kv_all), /* these four: an index is in its namespace */
    KEPT_AS(kv_ready, kv_ready),
    KEPT_AS(kv_ops, kv_ops),
    KEPT_AS(kv_after, kv_after),
    KEPT_AS(durable_log, durable_log), /* of this process */
    KEPT_AS(told_read_only, told_read_only),
    KEPT_AS(upkeep.housekeep_ns, housekeep_ns),
    KEPT_AS(upkeep.retry_ns, retry_ns),
    KEPT_AS(upkeep.retry_wait_ns, retry_wait_ns),
    KEPT_AS(upkeep.idle, upkeep_idle), /* these two: found out again */
    KEPT_AS(upkeep.quiet, upkeep_quiet),
    VALUE_AS(life.busy_since_ns, busy_since_ns),
    VALUE_AS(life.busy_ns, busy_ns),
    KEPT_AS(life.n_io, nio_requests),
    VALUE_AS(life.power_on_ns, power_on_ns),
    VALUE_AS(life.power_cycles, power_cycles),
    VALUE_AS(life.unsafe_shutdowns, unsafe_shutdowns),
    VALUE_AS(life.media_errors, media_errors),
    VALUE_OPTIONAL(erase, erase),
    KEPT_AS(erase_left, erase_left), /* no purge runs, at rest */
    KEPT_AS(erase_since_ns, erase_since_ns),
    KEPT_AS(erase_req, erase_req), /* these two: NULL, at rest */
    KEPT_AS(format_req, format_req),
    VALUE_OPTIONAL(sanitize, sanitize),
    VALUE_OPTIONAL(lba_track, lba_track),
    VALUE_OPTIONAL(latency, latency),
    VALUE_OPTIONAL(pel, pel),
    {MEMBER(pel_events, pel_events), .kind = STATE_TABLE, .elem = 1,
     .count = N_PEL, .optional = true},
    {MEMBER(pel_context, pel_context), .kind = STATE_TABLE, .elem = 1,
     .count = N_PEL_CONTEXT, .optional = true},
    KEPT_AS(pel_owner, pel_owner), /* the only one */
    VALUE_OPTIONAL(telemetry, telemetry),
    {MEMBER(telemetry_data, telemetry_data), .kind = STATE_TABLE, .elem = 1,
     .count = N_TELEMETRY, .optional = true},
    VALUE_OPTIONAL(firmware_store, firmware_store),
    {MEMBER(firmware_image, firmware_image), .kind = STATE_TABLE, .elem = 1,
     .count = N_IMAGE, .optional = true},
    KEPT_AS(activation, activation), /* none, at rest */
    KEPT_AS(activation_ns, activation_ns),
    KEPT_AS(faults, faults), /* rules are those of the machine's own file */
    KEPT_AS(last_fault, last_fault),
    KEPT_AS(fault_kelvin, fault_kelvin),
    {MEMBER(lateness, lateness), .kind = STATE_TABLE, .elem = sizeof(Hist),
     .count = N_ONE},
    NVME_STATS(COUNTER, NO_COUNTER)
    /* text about this process */
    KEPT_AS(origin, origin),
    /* the first controller */
    KEPT_AS(first.sub, sub),
    KEPT_AS(first.next, next), /* by nvme_add_controller() */
    KEPT_AS(first.index, index),
    KEPT_AS(first.secondary, secondary), /* NULL */
    KEPT_AS(first.machine, machine),
    KEPT_AS(first.opaque, opaque),
    KEPT_AS(first.cq_client, cq_client),
    KEPT_AS(first.commands, commands),
    KEPT_AS(first.cfg, cfg), /* compared as text, with the three that follow */
    KEPT_AS(first.serial, serial),
    KEPT_AS(first.model, model),
    KEPT_AS(first.firmware, firmware),
    KEPT_AS(first.ssd, ssd),
    KEPT_AS(first.payload, payload), /* payload-state.c */
    KEPT_AS(first.block_bytes, block_bytes),
    KEPT_AS(first.block_shift, block_shift),
    KEPT_AS(first.unit_blocks, unit_blocks),
    KEPT_AS(first.max_bytes, max_bytes),
    KEPT_AS(first.windows_on, windows_on),
    KEPT_AS(first.window, window), /* from the registers */
    VALUE_OPTIONAL(first.cmb.msc, cmbmsc),
    KEPT_AS(first.cmb.uses, cmb_uses),
    VALUE_OPTIONAL(first.pmr.msc, pmrmsc),
    VALUE_OPTIONAL(first.pmr.ctl, pmrctl),
    VALUE_OPTIONAL(first.pmr.failed, pmr_failed),
    KEPT_AS(first.stuck_mask, stuck_mask), /* of a rule */
    KEPT_AS(first.stuck_csts, stuck_csts),
    VALUE_AS(first.regs.asq, asq),
    VALUE_AS(first.regs.acq, acq),
    VALUE_AS(first.regs.cc, cc),
    VALUE_AS(first.regs.csts, csts),
    VALUE_AS(first.regs.intms, intms),
    VALUE_AS(first.regs.aqa, aqa),
    VALUE_AS(first.regs.page_bits, page_bits),
    KEPT_AS(first.shutdown_req, shutdown_req),
    VALUE_AS(first.pin_level, pin_level),
    KEPT_AS(first.enabling, enabling),
    VALUE_AS(first.shutdown_clean, shutdown_clean),
    KEPT_AS(first.shutdown_waits, shutdown_waits), /* not at rest */
    KEPT_AS(first.queues.sq, sq), /* these two have rows of their own */
    KEPT_AS(first.queues.cq, cq),
    KEPT_AS(first.queues.max_sqid, max_sqid),
    KEPT_AS(first.queues.max_cqid, max_cqid),
    KEPT_AS(first.queues.n_io, nio_queues),
    VALUE_AS(first.queues.next_sq, next_sq),
    VALUE_SINCE(3, first.queues.class_next, class_next),
    VALUE_SINCE(3, first.queues.credit, credit),
    VALUE_AS(first.queues.shadow_on, shadow_on),
    VALUE_AS(first.queues.shadow_db, shadow_db),
    VALUE_AS(first.queues.shadow_ei, shadow_ei),
    VALUE_AS(first.features.value, feature),
    VALUE_AS(first.features.vector_config, vector_config),
    VALUE_AS(first.features.timestamp_ms, timestamp_ms),
    VALUE_AS(first.features.timestamp_at_ns, timestamp_at_ns),
    VALUE_AS(first.features.timestamp_set, timestamp_set),
    VALUE_AS(first.features.host_id, host_id),
    VALUE_OPTIONAL(first.features.host_id_extended, host_id_extended),
    VALUE_SINCE(3, first.features.apst, apst),
    VALUE_SINCE(3, first.features.apst_on, apst_on),
    VALUE_SINCE(3, first.features.apst_set, apst_set),
    VALUE_OPTIONAL(first.features.saved, feature_saved),
    VALUE_OPTIONAL(first.features.is_saved, feature_is_saved),
    VALUE_OPTIONAL(first.features.behavior, host_behavior),
    VALUE_OPTIONAL(first.features.copy_formats, copy_formats),
    KEPT_AS(first.events.aer, aer), /* records */
    KEPT_AS(first.events.naer, naer),
    VALUE_AS(first.events.pending, event_pending),
    VALUE_AS(first.events.masked, event_masked),
    VALUE_AS(first.events.info, event_info),
    VALUE_AS(first.events.warned, warned),
    KEPT_AS(first.events.health, health), /* looked at again */
    VALUE_OPTIONAL(first.notices, notices),
    VALUE_OPTIONAL(first.more_notices, more_notices),
    VALUE_OPTIONAL(first.reservation_log, reservation_log),
    KEPT_AS(first.changed_ns, changed_ns), /* ns-state.c */
    VALUE_AS(first.error_log.entry, errors),
    VALUE_OPTIONAL(first.error_log.specific, error_specific),
    VALUE_AS(first.error_log.n, nerrors),
    KEPT_AS(first.keep_alive_ns, keep_alive_ns), /* restarts */
    VALUE_OPTIONAL(first.self_test, self_test),
    KEPT_AS(first.self_test_req, self_test_req), /* NULL, at rest */
    KEPT_AS(first.lba_scan, lba_scan),           /* none, at rest */
    VALUE_OPTIONAL(first.host_memory, host_memory),
};

#undef ROW
#undef MEMBER
#undef VALUE_AS
#undef KEPT_AS
#undef VALUE_SINCE
#undef VALUE_OPTIONAL

static const uint64_t table_counts[N_COUNTS] = {
    [N_ONE] = 1,
    [N_IMAGE] = NVME_FW_BYTES,
    [N_TELEMETRY] = NVME_TELEMETRY_LOGS * NVME_TELEMETRY_BYTES,
    [N_PEL] = NVME_PEL_BYTES,
    [N_NAMESPACES] = NVME_MAX_NAMESPACES,
    [N_PEL_CONTEXT] = NVME_PEL_HEADER + NVME_PEL_BYTES,
};

static const StateStruct ctrl_struct = {
    "NvmeCtrl", ctrl_rows, G_N_ELEMENTS(ctrl_rows), sizeof(NvmeSubsys)};
const StateStruct *nvme_state_struct(unsigned i)
{
    static const StateStruct *const own[] = {
        &ctrl_struct,
        &nvme_cq_struct,
        &nvme_sq_struct,
    };

    return i < G_N_ELEMENTS(own) ? own[i]
                                 : payload_state_struct(i - G_N_ELEMENTS(own));
}

/* ---- configuration of the saved controller ------------------------------ */

static char *memory_text(const NvmeCtrl *ctrl)
{
    const NvmeVirtualization *v = &ctrl->sub->virtualization;
    const NvmeConfig *c = &ctrl->cfg;
    GString *s = g_string_new(NULL);

    if (c->cmb_bytes) {
        g_string_append_printf(s, "\ncmb=%" PRIu64 " uses=%02x%s", c->cmb_bytes,
                               (unsigned)ctrl->cmb.uses,
                               c->cmb_legacy ? " legacy" : "");
    }
    if (nvme_is_multi(ctrl)) {
        g_string_append_printf(s, "\ncontrollers=%u", c->controllers);
    }
    if (c->secondaries) {
        g_string_append_printf(
            s, "\nsriov_vfs=%u vq=%u,%u vi=%u,%u", c->secondaries,
            v->flexible[NVME_RESOURCE_VQ], v->most[NVME_RESOURCE_VQ],
            v->flexible[NVME_RESOURCE_VI], v->most[NVME_RESOURCE_VI]);
    }
    if (c->pmr_bytes) {
        g_string_append_printf(s, "\npmr=%" PRIu64, c->pmr_bytes);
    }
    return g_string_free(s, FALSE);
}

/* The one with the next identifier; last = NULL: with the first. */
static NvmeCtrl *next_further(NvmeSubsys *sub, const NvmeCtrl *last)
{
    NvmeCtrl *found = NULL;

    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (c != &sub->first && (!last || c->cfg.cntlid > last->cfg.cntlid) &&
            (!found || c->cfg.cntlid < found->cfg.cntlid)) {
            found = c;
        }
    }
    return found;
}

static char *further_text(NvmeSubsys *sub)
{
    GString *s = g_string_new(NULL);

    for (NvmeCtrl *c = next_further(sub, NULL); c; c = next_further(sub, c)) {
        g_string_append_printf(
            s, "%s%u", s->len ? "," : "\nfurther_controllers=", c->cfg.cntlid);
    }
    return g_string_free(s, FALSE);
}

static char *config_text(const NvmeCtrl *ctrl)
{
    const unsigned *private = ctrl->sub->virtualization.private;
    const NvmeConfig *c = &ctrl->cfg;
    g_autofree char *further = further_text(ctrl->sub);
    g_autofree char *memory = memory_text(ctrl);
    g_autofree char *metadata =
        c->metadata ? g_strdup_printf("\nmetadata=%u,pi_sts=%u", c->metadata,
                                      c->pi_storage_bits)
                    : g_strdup("");

    return g_strdup_printf(
        "num_queues=%u\nnum_vectors=%u\nqueue_size=%u\nmdts=%u\neui64=%" PRIu64
        "\nblocks=%" PRIu64 "\nserial=%s\nmodel=%s\nfirmware=%s%s%s%s%s",
        private[NVME_RESOURCE_VQ] - 1, private[NVME_RESOURCE_VI], c->queue_size,
        c->mdts, c->eui64, c->nblocks, c->serial, c->model, c->firmware,
        c->sgl ? "\nsgl=on" : "", memory, metadata, further);
}

/* A drive whose serial number nobody chose keeps the one that its guest knows. */
static bool take_serial(NvmeCtrl *ctrl, const char *line)
{
    size_t n = strlen("serial=");

    if (!ctrl->cfg.serial_by_default || strncmp(line, "serial=", n) != 0 ||
        !nvme_serial_ok(line + n, NULL)) {
        return false;
    }
    g_strlcpy(ctrl->serial, line + n, sizeof(ctrl->serial));
    return true;
}

static bool walk_config(State *s, NvmeCtrl *ctrl)
{
    g_autofree char *own = config_text(ctrl);
    g_autofree char *text = s->loading ? NULL : g_strdup(own);
    g_auto(GStrv) mine = g_strsplit(own, "\n", -1);
    g_auto(GStrv) saved = NULL;

    if (!state_text(s, &text, MOST_TEXT)) {
        return false;
    }
    saved = g_strsplit(text, "\n", -1);
    if (g_strv_length(saved) > g_strv_length(mine)) {
        return state_fail(s, "it was saved with %s, this drive has it not",
                          saved[g_strv_length(mine)]);
    }
    for (unsigned i = 0; mine[i]; i++) {
        if (i >= g_strv_length(saved)) {
            return state_fail(s, "it was saved without %s, this drive has it",
                              mine[i]);
        }
        if (strcmp(mine[i], saved[i]) != 0 && !take_serial(ctrl, saved[i])) {
            return state_fail(s, "it was saved with %s, this drive has %s",
                              saved[i], mine[i]);
        }
    }
    return true;
}

static bool walk_head(State *s, NvmeCtrl *ctrl)
{
    char magic[8];

    memcpy(magic, MAGIC, sizeof(magic));
    if (!state_bytes(s, magic, sizeof(magic))) {
        return false;
    }
    if (memcmp(magic, MAGIC, sizeof(magic)) != 0) {
        return state_fail(s, "it is no saved controller");
    }
    return state_version(s) && walk_config(s, ctrl);
}

/* ---- the controller as a whole ------------------------------------------- */

static bool is_flag(const bool *flag)
{
    uint8_t v;

    memcpy(&v, flag, 1);
    return v <= 1;
}

static bool fdp_ok(const NvmeFdp *f, const NvmeFdp *own)
{
    for (unsigned i = 0; i < NVME_FDP_LOGS; i++) {
        for (unsigned k = 0; k < NVME_FDP_EVENTS; k++) {
            if (!is_flag(&f->log[i].event[k].has_handle)) {
                return false;
            }
        }
    }
    return f->ruhs == own->ruhs && is_flag(&f->placement) &&
           (f->ruhs || !f->placement);
}

static bool flags_ok(const NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_EVENT_TYPES; i++) {
        if (!is_flag(&ctrl->events.pending[i]) ||
            !is_flag(&ctrl->events.masked[i])) {
            return false;
        }
    }
    for (unsigned i = 0; i < NVME_MOST_NOTICES; i++) {
        if (!is_flag(&ctrl->notices.pending[i]) ||
            !is_flag(&ctrl->notices.masked[i]) ||
            !is_flag(&ctrl->more_notices.pending[i]) ||
            !is_flag(&ctrl->more_notices.masked[i])) {
            return false;
        }
    }
    return is_flag(&ctrl->sub->powered) && is_flag(&ctrl->pin_level) &&
           is_flag(&ctrl->queues.shadow_on) &&
           is_flag(&ctrl->features.timestamp_set) &&
           is_flag(&ctrl->features.apst_on) &&
           is_flag(&ctrl->features.host_id_extended) &&
           is_flag(&ctrl->features.apst_set) &&
           is_flag(&ctrl->host_memory.on) && is_flag(&ctrl->shutdown_clean);
}

static bool registers_ok(const NvmeCtrl *ctrl)
{
    uint32_t csts = NVME_CSTS_RDY | NVME_CSTS_CFS | NVME_CSTS_SHST_DONE |
                    NVME_CSTS_NSSRO | (nvme_is_multi(ctrl) ? NVME_CSTS_ST : 0);

    return !(ctrl->regs.cc & ~NVME_CC_MASK) && !(ctrl->regs.csts & ~csts) &&
           !(ctrl->regs.aqa & ~0x0fff0fffU) && !(ctrl->regs.asq & 0xfff) &&
           !(ctrl->regs.acq & 0xfff) &&
           ctrl->regs.page_bits >= NVME_PAGE_BITS &&
           ctrl->regs.page_bits <= NVME_PAGE_BITS_MAX &&
           (!(ctrl->regs.csts & NVME_CSTS_RDY) || ctrl->regs.cc & NVME_CC_EN);
}

static bool clocks_ok(const NvmeCtrl *ctrl)
{
    return ctrl->sub->now_ns < SIM_LAST_NS &&
           ctrl->sub->life.busy_since_ns <= ctrl->sub->now_ns &&
           ctrl->sub->life.power_on_ns <= ctrl->sub->now_ns &&
           ctrl->features.timestamp_at_ns <= ctrl->sub->now_ns &&
           ctrl->sub->next_version >= ssd_last_version(ctrl->ssd) &&
           ctrl->sub->next_version < 1ULL << 48;
}

/* What no row says: of a stream of an earlier version, and what follows from
 * the rows. */
static bool apply_values(State *s, NvmeSubsys *sub)
{
    if (s->version < 5) {
        nvme_streams_loaded_old(sub);
    }
    return nvme_primary_loaded(sub) ||
           state_fail(s, "it is damaged: the flexible resources");
}

static bool check_values(State *s, const NvmeCtrl *ctrl,
                         const NvmeStreams *streams, const NvmeFdp *fdp)
{
    if (!flags_ok(ctrl) || !registers_ok(ctrl) || !clocks_ok(ctrl) ||
        !nvme_streams_ok(&ctrl->sub->streams, streams) ||
        !fdp_ok(&ctrl->sub->fdp, fdp) || !nvme_fdp_units_ok(ctrl) ||
        ctrl->queues.next_sq >= NVME_MAX_QUEUES ||
        !nvme_features_saved_ok(ctrl) || !nvme_self_test_ok(ctrl) ||
        !nvme_firmware_ok(ctrl) || !nvme_telemetry_ok(ctrl) ||
        !nvme_pel_ok(ctrl) || !nvme_erase_ok(ctrl) || !nvme_sanitize_ok(ctrl) ||
        !nvme_lba_track_ok(ctrl) || !nvme_latency_ok(ctrl) ||
        !hist_valid(ctrl->sub->lateness)) {
        return state_fail(s, "it is damaged: the controller");
    }
    if (ctrl->sub->powered != ssd_powered(ctrl->ssd)) {
        return state_fail(s, "it is damaged: the power");
    }
    return true;
}

static bool check_reservations(State *s, const NvmeCtrl *ctrl)
{
    if (!nvme_reservations_ok(ctrl)) {
        return state_fail(s, "it is damaged: the reservations");
    }
    nvme_reservations_loaded(ctrl->sub);
    return true;
}

/* ---- further controllers ------------------------------------------------- */

/* The rows of a controller; row: memory for them. */
static StateStruct further_struct(StateRow *row)
{
    size_t base = offsetof(NvmeSubsys, first);
    size_t n = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(ctrl_rows); i++) {
        if (ctrl_rows[i].offset >= base) {
            row[n] = ctrl_rows[i];
            row[n++].offset -= base;
        }
    }
    return (StateStruct){"NvmeCtrl", row, n, sizeof(NvmeCtrl)};
}

typedef struct Place {
    uint64_t cntlid;
    uint64_t has_pel_context;
    uint64_t attached[NVME_MAX_NAMESPACES / 64];
    uint64_t changed[NVME_MAX_NAMESPACES / 64];
    NvmeSecondaryState secondary; /* since version 5 */
} Place;

static void get_place(const NvmeCtrl *c, Place *p)
{
    const NvmeNamespaces *all = &c->sub->namespaces;

    p->cntlid = c->cfg.cntlid;
    p->has_pel_context = c->sub->pel_owner == c->index;
    for (uint32_t i = 0; i < all->n; i++) {
        p->attached[i / 64] |= (uint64_t)nvme_is_attached(c, &all->table[i])
                               << i % 64;
    }
    memcpy(p->changed, c->changed_ns, sizeof(p->changed));
    nvme_secondary_get(c, &p->secondary);
}

/* false: it cannot be. */
static bool put_place(NvmeCtrl *c, const Place *p)
{
    NvmeNamespaces *all = &c->sub->namespaces;

    if (p->cntlid != c->cfg.cntlid || p->has_pel_context > 1 ||
        !nvme_secondary_put(c, &p->secondary)) {
        return false;
    }
    for (uint32_t i = 0; i < NVME_MAX_NAMESPACES; i++) {
        bool on = p->attached[i / 64] >> i % 64 & 1;

        if (on && (i >= all->n || !all->table[i].exists ||
                   (all->table[i].attached && !all->table[i].shared))) {
            return false;
        }
        if (i < all->n) {
            nvme_ns_attach(c, &all->table[i], on);
        }
    }
    if (p->has_pel_context) {
        c->sub->pel_owner = c->index;
    }
    memcpy(c->changed_ns, p->changed, sizeof(p->changed));
    return true;
}

static bool further_ok(const NvmeCtrl *c)
{
    return flags_ok(c) && registers_ok(c) && clocks_ok(c) &&
           c->queues.next_sq < NVME_MAX_QUEUES && nvme_features_saved_ok(c) &&
           nvme_self_test_ok(c) && !c->host_memory.on;
}

static bool walk_one(State *s, NvmeCtrl *c)
{
    StateRow row[G_N_ELEMENTS(ctrl_rows)];
    StateStruct rows = further_struct(row);
    Place place = {0};

    if (!s->loading) {
        get_place(c, &place);
    }
    if (!state_record(s, &place, sizeof(place), 5)) {
        return false;
    }
    if (s->loading && !put_place(c, &place)) {
        return state_fail(s, "it is damaged: the place of a controller");
    }
    if (!state_values(s, &rows, c)) {
        return false;
    }
    if (s->loading && !further_ok(c)) {
        return state_fail(s, "it is damaged: a further controller");
    }
    return nvme_queues_state(s, c) && nvme_waiting_state(s, c);
}

/* There are as many as the configuration says. */
static bool walk_further(State *s, NvmeSubsys *sub)
{
    for (NvmeCtrl *c = next_further(sub, NULL); c; c = next_further(sub, c)) {
        if (!walk_one(s, c)) {
            return false;
        }
    }
    return true;
}

/* Enough to be freed without signalling anything. */
static void silence(NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        c->pin_level = false;
        for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
            c->queues.cq[i].asserted = false;
        }
    }
}

/* ---- another base for the clock ------------------------------------------ */

static void earlier(uint64_t *ns, uint64_t by_ns)
{
    if (*ns != SSD_TIME_NEVER) {
        *ns -= MIN(*ns, by_ns);
    }
}

/* All instants that the controller knows become earlier, as the drive's have. */
static void set_ctrl_back(NvmeCtrl *ctrl, uint64_t by_ns)
{
    if (ctrl->features.timestamp_at_ns < by_ns) {
        ctrl->features.timestamp_ms +=
            (by_ns - ctrl->features.timestamp_at_ns) / NS_PER_MS;
    }
    earlier(&ctrl->features.timestamp_at_ns, by_ns);
    earlier(&ctrl->keep_alive_ns, by_ns);
    earlier(&ctrl->self_test.next_ns, by_ns);
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        NvmeCq *cq = &ctrl->queues.cq[i];

        earlier(&cq->first_ns, by_ns);
        for (NvmeRequest *r = cq->wait_first; cq->live && r; r = r->next) {
            earlier(&r->complete_ns, by_ns);
        }
    }
}

static void set_back(NvmeSubsys *sub, uint64_t by_ns)
{
    if (sub->life.n_io && sub->life.busy_since_ns < by_ns) {
        sub->life.busy_ns += by_ns - sub->life.busy_since_ns;
    }
    earlier(&sub->life.busy_since_ns, by_ns);
    earlier(&sub->life.power_on_ns, by_ns);
    earlier(&sub->upkeep.housekeep_ns, by_ns);
    earlier(&sub->upkeep.retry_ns, by_ns);
    for (unsigned i = 0; sub->fdp_units && i < NVME_MAX_RUHS; i++) {
        earlier(&sub->fdp_units->began_ns[i], by_ns);
    }
    for (uint32_t i = 0; i < sub->zones.n; i++) {
        sub->zones.zone[i].since_ns -= (int64_t)by_ns;
    }
    nvme_zones_look_again(sub);
    earlier(&sub->lba_track.told_ns, by_ns);
    earlier(&sub->latency.began_ns, by_ns);
    earlier(&sub->erase_since_ns, by_ns);
    earlier(&sub->now_ns, by_ns);
    NVME_FOR_EACH_CTRL(sub, c)
    {
        set_ctrl_back(c, by_ns);
    }
}

/* ---- the calls of nvme.h ------------------------------------------------- */

bool nvme_save(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    State s;

    if (!nvme_at_rest(ctrl)) {
        g_set_error_literal(error, STATE_ERROR, 0, "commands are in flight");
        return false;
    }
    state_begin(&s, out, false);
    if (walk_head(&s, (NvmeCtrl *)ctrl) &&
        state_values(&s, &ctrl_struct, ctrl->sub) &&
        state_tables(&s, &ctrl_struct, ctrl->sub, table_counts) &&
        nvme_queues_state(&s, (NvmeCtrl *)ctrl) &&
        nvme_waiting_state(&s, (NvmeCtrl *)ctrl) &&
        nvme_ns_state(&s, (NvmeCtrl *)ctrl) &&
        payload_state(ctrl->payload, &s)) {
        walk_further(&s, ctrl->sub);
    }
    return state_end(&s, error);
}

bool nvme_load(NvmeCtrl *ctrl, FILE *in, GError **error)
{
    NvmeStreams streams = ctrl->sub->streams;
    NvmeFdp fdp = ctrl->sub->fdp;
    State s;

    g_assert(!ctrl->queues.n_io && !ctrl->queues.sq[0].live &&
             !ctrl->queues.cq[0].live);
    state_begin(&s, in, true);
    if (walk_head(&s, ctrl) && state_values(&s, &ctrl_struct, ctrl->sub) &&
        state_tables(&s, &ctrl_struct, ctrl->sub, table_counts) &&
        apply_values(&s, ctrl->sub) && check_values(&s, ctrl, &streams, &fdp) &&
        nvme_queues_state(&s, ctrl) && nvme_waiting_state(&s, ctrl) &&
        nvme_ns_state(&s, ctrl) && check_reservations(&s, ctrl) &&
        payload_state(ctrl->payload, &s)) {
        walk_further(&s, ctrl->sub);
    }
    if (!state_end(&s, error)) {
        ctrl->sub->streams = streams;
        ctrl->sub->fdp = fdp;
        silence(ctrl->sub);
        return false;
    }
    set_back(ctrl->sub, ssd_rebased_ns(ctrl->ssd));
    ctrl->sub->now_ns = MAX(ctrl->sub->now_ns, ssd_now_ns(ctrl->ssd));
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_keep_alive_start(c);
    }
    if (nvme_has_host_memory(ctrl)) {
        nvme_host_memory_apply(ctrl);
    }
    return true;
}

uint64_t nvme_rebase(NvmeCtrl *ctrl)
{
    uint64_t by_ns = ssd_now_ns(ctrl->ssd);

    by_ns -= MIN(by_ns, SSD_BASE_NS);
    if (by_ns == 0 || !nvme_at_rest(ctrl) || !ssd_rebase(ctrl->ssd, by_ns)) {
        return 0;
    }
    set_back(ctrl->sub, by_ns);
    nvme_faults_rebase(ctrl->sub, by_ns);
    return by_ns;
}
