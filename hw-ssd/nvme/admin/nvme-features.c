/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-features.c - Get and Set Features (Base 1.4, section 5.21).
 *
 * A row of the table is a feature: where its value is, its default, which bits
 * may be set, and a function of its own if it has more rules than that.  A
 * reset brings the saved value back, or the default.
 */
#include "nvme-internal.h"
#include "placement/directives.h"
#include "queue/command.h"
#include "health/events.h"
#include "placement/fdp.h"
#include "placement/fdp-events.h"
#include "health/health.h"
#include "memory/host-memory.h"
#include "health/keep-alive.h"
#include "admin/latency.h"
#include "namespace/namespace.h"
#include "admin/ns-admin.h"
#include "admin/nvme-features.h"
#include "health/persistent-events.h"
#include "admin/power-states.h"
#include "memory/prp.h"
#include "queue/request.h"
#include "reservation/reservation.h"
#include "placement/streams.h"
#include "health/timestamp.h"

#include "simtime.h"

#define SEL_CURRENT      0
#define SEL_SAVED        2
#define SEL_CAPABILITIES 3

typedef struct Feature {
    uint8_t id;
    const char *name;
    uint8_t slot; /* of NvmeFeatures.value; NVME_FEAT_ELSEWHERE: its value is
                     not there */
    uint32_t def;
    uint32_t bits; /* that Set Features may set; any other: Invalid Field */
    bool ns;       /* namespace specific */
    bool group;    /* of the endurance group */
    bool nvm_set;  /* of the NVM set */
    bool save;     /* saveable; such a feature has a slot */
    /* Optional: the slot that CDW11 names, of a feature with several. */
    uint16_t (*which)(uint32_t dw11, bool set, unsigned *slot);
    /* Optional: instead of the plain slot. */
    uint16_t (*get)(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                    bool current);
    uint16_t (*set)(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
    const char *help;
    bool (*there)(const NvmeCtrl *ctrl); /* NULL: always */
} Feature;

/* ---- temperature -------------------------------------------------------- */

/* TMPSEL 0 is the composite temperature, the only sensor; TMPSEL Fh sets all.
 */
static uint16_t temperature_slot(uint32_t dw11, bool set, unsigned *slot)
{
    uint32_t sensor = dw11 >> 16 & 0xf;
    uint32_t type = dw11 >> 20 & 0x3;

    if (type > 1 || (sensor != 0 && !(set && sensor == 0xf))) {
        return NVME_SC_INVALID_FIELD;
    }
    *slot = type ? NVME_FEAT_TEMP_UNDER : NVME_FEAT_TEMP_OVER;
    return 0;
}

static uint16_t get_temperature(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe, bool current)
{
    unsigned slot;
    uint16_t status = temperature_slot(sqe->dw[11], false, &slot);

    if (status) {
        return status;
    }
    req->dw0 = slot == NVME_FEAT_TEMP_OVER ? nvme_warning_k(ctrl) : 0;
    if (current) {
        req->dw0 = ctrl->features.value[slot];
    }
    return 0;
}

static uint16_t set_temperature(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    unsigned slot;
    uint16_t status = temperature_slot(sqe->dw[11], true, &slot);

    if (!status) {
        ctrl->features.value[slot] = sqe->dw[11] & 0xffff;
        nvme_check_health(ctrl);
    }
    return status;
}

/* ---- queues and interrupts ---------------------------------------------- */

static uint16_t get_queues(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                           bool current)
{
    req->dw0 = (uint32_t)(ctrl->cfg.n_queues - 1) * 0x10001;
    return 0;
}

/* Everyone gets all queues, whatever they ask for. */
static uint16_t set_queues(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    if ((sqe->dw[11] & 0xffff) == 0xffff || sqe->dw[11] >> 16 == 0xffff) {
        return NVME_SC_INVALID_FIELD;
    }
    if (ctrl->queues.n_io) {
        return NVME_SC_COMMAND_SEQUENCE;
    }
    return get_queues(ctrl, req, sqe, true);
}

static uint16_t get_vector(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                           bool current)
{
    uint32_t vector = sqe->dw[11] & 0xffff;

    if (vector >= ctrl->cfg.n_vectors) {
        return NVME_SC_INVALID_FIELD;
    }
    req->dw0 = vector | (vector == 0 ? 0x10000 : 0);
    if (current) {
        req->dw0 = ctrl->features.vector_config[vector];
    }
    return 0;
}

static uint16_t set_vector(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint32_t vector = sqe->dw[11] & 0xffff;

    /* The admin queue's vector is never coalesced. */
    if (vector >= ctrl->cfg.n_vectors ||
        (vector == 0 && !(sqe->dw[11] & 0x10000))) {
        return NVME_SC_INVALID_FIELD;
    }
    ctrl->features.vector_config[vector] = sqe->dw[11] & 0x1ffff;
    return 0;
}

/* ---- cache -------------------------------------------------------------- */

static bool cache_by_default(const NvmeCtrl *ctrl)
{
    return !ctrl->cfg.write_through || ssd_info(ctrl->ssd)->keeps_buffer;
}

/* A drive whose cache is not volatile does not have this feature. */
static uint16_t get_cache(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                          bool current)
{
    if (ssd_info(ctrl->ssd)->keeps_buffer) {
        return NVME_SC_INVALID_FIELD;
    }
    req->dw0 =
        current ? ctrl->features.value[NVME_FEAT_VWC] : cache_by_default(ctrl);
    return 0;
}

/* Data in the cache when it is switched off becomes durable first. */
static uint16_t set_cache(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    bool on = sqe->dw[11] & 1;

    if (ssd_info(ctrl->ssd)->keeps_buffer) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!on && ctrl->features.value[NVME_FEAT_VWC]) {
        req->barrier = true;
        nvme_add_step(req, SSD_OP_FLUSH, 0, 0);
    }
    ctrl->features.value[NVME_FEAT_VWC] = on;
    return 0;
}

/* ---- events ------------------------------------------------------------- */

static uint16_t set_events(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    ctrl->features.value[NVME_FEAT_EVENTS] = sqe->dw[11];
    nvme_check_health(ctrl);
    return 0;
}

/* ---- features with data ------------------------------------------------- */

static uint16_t get_timestamp(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe, bool current)
{
    NvmeTimestamp data = {0};

    if (current) {
        nvme_timestamp(ctrl, &data);
    }
    return nvme_to_host(ctrl, sqe, &data, sizeof(data));
}

static uint16_t set_timestamp(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    NvmeTimestamp data;
    uint16_t status = nvme_from_host(ctrl, sqe, &data, sizeof(data));

    if (!status) {
        NvmePelTimestamp event = {
            .ms_since_reset = nvme_le64(
                (ctrl->sub->now_ns - ctrl->sub->life.power_on_ns) / NS_PER_MS),
        };

        nvme_timestamp(ctrl, &event.previous);
        nvme_timestamp_set(ctrl, &data);
        nvme_persistent_event(ctrl, NVME_PEL_TIMESTAMP, &event, sizeof(event));
    }
    return status;
}

static uint16_t get_host_id(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe, bool current)
{
    static const uint8_t zeroes[16];
    size_t n = sqe->dw[11] & 1 ? 16 : 8; /* EXHID */

    return nvme_to_host(ctrl, sqe, current ? ctrl->features.host_id : zeroes,
                        n);
}

static bool has_host_id(const uint8_t id[16])
{
    static const uint8_t none[16];

    return memcmp(id, none, sizeof(none)) != 0;
}

/* Another controller has an identifier of the other size.  0h is none: its
 * controller is a host of its own, and is in nobody's way. */
static bool other_size_in_use(const NvmeCtrl *ctrl, bool extended)
{
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (c != ctrl && c->features.host_id_extended != extended &&
            has_host_id(c->features.host_id)) {
            return true;
        }
    }
    return false;
}

/* Base 2.1, Host Identifier (81h).  All controllers of the subsystem have
 * identifiers of one size: Host Identifier Inconsistent Format (generic status
 * 18h) is the simultaneous use of 64 and 128 bits on different controllers. */
static uint16_t set_host_id(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    uint8_t data[16] = {0};
    bool extended = sqe->dw[11] & 1; /* EXHID */
    uint16_t status = nvme_from_host(ctrl, sqe, data, extended ? 16 : 8);

    if (status) {
        return status;
    }
    if (has_host_id(data) && other_size_in_use(ctrl, extended)) {
        return NVME_SC_HOST_ID_FORMAT;
    }
    if (memcmp(ctrl->features.host_id, data, sizeof(data)) != 0) {
        nvme_streams_reset(ctrl); /* those of the host that it had */
    }
    memcpy(ctrl->features.host_id, data, sizeof(data));
    ctrl->features.host_id_extended = extended;
    return 0;
}

/* Host Behavior Support (Base 2.0): three flags.  The controller has no
 * extended formats, and delays retries (CRDT) for rules with crd= only. */
static uint16_t get_behavior(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, bool current)
{
    uint8_t data[512] = {0};

    if (current) {
        memcpy(data, ctrl->features.behavior, sizeof(ctrl->features.behavior));
        put_le16(data + 4, ctrl->features.copy_formats);
    }
    return nvme_to_host(ctrl, sqe, data, sizeof(data));
}

static uint16_t set_behavior(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    uint8_t data[512];
    uint16_t status = nvme_from_host(ctrl, sqe, data, sizeof(data));

    for (unsigned i = 0; !status && i < sizeof(ctrl->features.behavior); i++) {
        if (data[i] > 1) {
            status = NVME_SC_INVALID_FIELD;
        }
    }
    if (!status) {
        memcpy(ctrl->features.behavior, data, sizeof(ctrl->features.behavior));
        ctrl->features.copy_formats = get_le16(data + 4);
    }
    return status;
}

/* Where the No-Deallocate bit is not inhibited there is nothing to choose. */
static bool has_sanitize_config(const NvmeCtrl *ctrl)
{
    return ctrl->cfg.no_nodas;
}

/* ---- the table ---------------------------------------------------------- */

/* ---- command sets ------------------------------------------------------- */

#define PROFILE_BITS 0x1ff /* IOCSCI */

static bool has_profiles(const NvmeCtrl *ctrl)
{
    return ctrl->sub->namespaces.any_kv;
}

/* CNS 1Ch lists one combination. */
static uint16_t get_profile(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe, bool current)
{
    req->dw0 = 0;
    return 0;
}

static uint16_t set_profile(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    return sqe->dw[11] & PROFILE_BITS ? NVME_SC_COMMAND_SETS : 0;
}

/* Rounded up to the granularity of KAS. */
static uint16_t set_keep_alive(NvmeCtrl *ctrl, NvmeRequest *req,
                               const NvmeSqe *sqe)
{
    uint64_t unit = NVME_KAS * 100;
    uint64_t ms = (sqe->dw[11] + unit - 1) / unit * unit;

    if (ms > UINT32_MAX) {
        return NVME_SC_KEEP_ALIVE_INVALID;
    }
    ctrl->features.value[NVME_FEAT_KATO] = (uint32_t)ms;
    nvme_keep_alive_start(ctrl);
    return 0;
}

static const Feature features[] = {
    {.id = 0x01,
     .name = "Arbitration",
     .slot = NVME_FEAT_ARBITRATION,
     .def = 5,
     .bits = 0xffffff07,
     .save = true,
     .help = "burst; weights, with weighted round robin (CC.AMS)"},
    {.id = 0x02,
     .name = "Power Management",
     .slot = NVME_FEAT_POWER,
     .get = nvme_power_get,
     .set = nvme_power_set,
     .help = "the states of power.states, else state 0; the workload hint is "
             "kept"},
    {.id = 0x04,
     .name = "Temperature Threshold",
     .slot = NVME_FEAT_TEMP_OVER,
     .save = true,
     .which = temperature_slot,
     .get = get_temperature,
     .set = set_temperature,
     .help = "composite; the temperature is constant without "
             "thermal.resistance"},
    {.id = 0x05,
     .name = "Error Recovery",
     .slot = NVME_FEAT_ERROR_RECOVERY,
     .ns = true,
     .get = nvme_ns_get_recovery,
     .set = nvme_ns_set_recovery,
     .save = true,
     .help = "TLER: kept, without effect; DULBE: a read of blocks "
             "without data fails"},
    {.id = 0x06,
     .name = "Volatile Write Cache",
     .slot = NVME_FEAT_VWC,
     .def = 1,
     .save = true,
     .get = get_cache,
     .set = set_cache,
     .help = "off: every write completes when it is durable; not with "
             "buffer.plp, whose cache is not volatile"},
    {.id = 0x07,
     .name = "Number of Queues",
     .slot = NVME_FEAT_ELSEWHERE,
     .get = get_queues,
     .set = set_queues,
     .help = ""},
    {.id = 0x08,
     .name = "Interrupt Coalescing",
     .slot = NVME_FEAT_COALESCING,
     .bits = 0xffff,
     .save = true,
     .help = "time and threshold"},
    {.id = 0x09,
     .name = "Interrupt Vector Configuration",
     .slot = NVME_FEAT_ELSEWHERE,
     .get = get_vector,
     .set = set_vector,
     .help = ""},
    {.id = 0x0a,
     .name = "Write Atomicity Normal",
     .slot = NVME_FEAT_ATOMICITY,
     .bits = 1,
     .save = true,
     .help = "writes are atomic either way"},
    {.id = 0x0b,
     .name = "Asynchronous Event Configuration",
     .slot = NVME_FEAT_EVENTS,
     .save = true,
     .set = set_events,
     .help = "SMART warnings, firmware activation, telemetry"},
    {.id = 0x0c,
     .name = "Autonomous Power State Transition",
     .slot = NVME_FEAT_ELSEWHERE,
     .get = nvme_apst_get,
     .set = nvme_apst_set,
     .there = nvme_has_idle_states,
     .help = "with an idle state in power.states"},
    {.id = 0x0d,
     .name = "Host Memory Buffer",
     .slot = NVME_FEAT_ELSEWHERE,
     .get = nvme_host_memory_get,
     .set = nvme_host_memory_set,
     .there = nvme_has_host_memory,
     .help = "with ftl.hmb; the drive uses it only while it is enabled"},
    {.id = 0x0e,
     .name = "Timestamp",
     .slot = NVME_FEAT_ELSEWHERE,
     .get = get_timestamp,
     .set = set_timestamp,
     .help = ""},
    {.id = 0x0f,
     .name = "Keep Alive Timer",
     .slot = NVME_FEAT_KATO,
     .set = set_keep_alive,
     .help = "in ms, rounded up to seconds; at its end the controller sets "
             "CSTS.CFS; 0 (default): off"},
    {.id = 0x10,
     .name = "Host Controlled Thermal Management",
     .slot = NVME_FEAT_HCTM,
     .save = true,
     .set = nvme_hctm_set,
     .there = nvme_has_heat,
     .help = "with thermal.resistance"},
    {.id = 0x13,
     .name = "Predictable Latency Mode Config",
     .slot = NVME_FEAT_ELSEWHERE,
     .nvm_set = true,
     .get = nvme_latency_get_config,
     .set = nvme_latency_set_config,
     .there = nvme_has_latency,
     .help = "with latency.window; off after a reset of the last controller"},
    {.id = 0x14,
     .name = "Predictable Latency Mode Window",
     .slot = NVME_FEAT_ELSEWHERE,
     .nvm_set = true,
     .get = nvme_latency_get_window,
     .set = nvme_latency_set_window,
     .there = nvme_has_latency,
     .help = "with latency.window; needs the mode of 13h"},
    {.id = 0x15,
     .name = "LBA Status Information Attributes",
     .slot = NVME_FEAT_LBA_STATUS,
     .bits = 0xffff,
     .save = true,
     .help = "report interval; the poll interval is 0"},
    {.id = 0x16,
     .name = "Host Behavior Support",
     .slot = NVME_FEAT_ELSEWHERE,
     .get = get_behavior,
     .set = set_behavior,
     .help = "kept until a reset; formats of Copy (CDFE) have an effect"},
    {.id = 0x17,
     .name = "Sanitize Config",
     .slot = NVME_FEAT_SANITIZE,
     .bits = 1,
     .save = true,
     .there = has_sanitize_config,
     .help = "with sanitize_nodas=off: No-Deallocate Response Mode"},
    {.id = 0x19,
     .name = "I/O Command Set Profile",
     .slot = NVME_FEAT_ELSEWHERE,
     .get = get_profile,
     .set = set_profile,
     .help = "with key-value namespaces: combination 0",
     .there = has_profiles},
    {.id = 0x1d,
     .name = "Flexible Data Placement",
     .slot = NVME_FEAT_ELSEWHERE,
     .group = true,
     .get = nvme_fdp_get_mode,
     .set = nvme_fdp_set_mode,
     .there = nvme_has_fdp,
     .help = "with fdp.ruhs; changed only while there is no namespace"},
    {.id = 0x1e,
     .name = "Flexible Data Placement Events",
     .slot = NVME_FEAT_ELSEWHERE,
     .ns = true,
     .get = nvme_fdp_get_events,
     .set = nvme_fdp_set_events,
     .there = nvme_has_fdp,
     .help = "with fdp.ruhs; by placement handle, kept across resets"},
    {.id = 0x81,
     .name = "Host Identifier",
     .slot = NVME_FEAT_ELSEWHERE,
     .get = get_host_id,
     .set = set_host_id,
     .help = "64 or 128 bits; one size on all controllers"},
    {.id = 0x82,
     .name = "Reservation Notification Mask",
     .slot = NVME_FEAT_ELSEWHERE,
     .ns = true,
     .get = nvme_reservation_get_mask,
     .set = nvme_reservation_set_mask,
     .there = nvme_has_reservations,
     .help = "with controllers=; until a reset of the controller"},
    {.id = 0x83,
     .name = "Reservation Persistence",
     .slot = NVME_FEAT_ELSEWHERE,
     .ns = true,
     .get = nvme_reservation_get_ptpl,
     .set = nvme_reservation_set_ptpl,
     .there = nvme_has_reservations,
     .help = "with controllers=; kept without power"},
    {.id = 0x84,
     .name = "Namespace Write Protection Config",
     .slot = NVME_FEAT_ELSEWHERE,
     .ns = true,
     .get = nvme_ns_get_protect,
     .set = nvme_ns_set_protect,
     .there = nvme_ns_managed,
     .help = "with namespaces=; the four states, kept across resets"},
};

static const Feature *find_feature(const NvmeCtrl *ctrl, uint8_t id)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(features); i++) {
        if (features[i].id == id &&
            (!features[i].there || features[i].there(ctrl))) {
            return &features[i];
        }
    }
    return NULL;
}

static bool slot_is_saved(const NvmeCtrl *ctrl, unsigned slot)
{
    return ctrl->features.is_saved >> slot & 1;
}

static void restore_saved(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_FEAT_ELSEWHERE; i++) {
        if (slot_is_saved(ctrl, i)) {
            ctrl->features.value[i] = ctrl->features.saved[i];
        }
    }
    if (slot_is_saved(ctrl, NVME_FEAT_HCTM)) {
        nvme_hctm_apply(ctrl);
    }
}

static void save_slot(NvmeCtrl *ctrl, unsigned slot)
{
    ctrl->features.saved[slot] = ctrl->features.value[slot];
    ctrl->features.is_saved |= 1U << slot;
}

/* Of a stream that was loaded. */
bool nvme_features_saved_ok(const NvmeCtrl *ctrl)
{
    uint32_t may = 1U << NVME_FEAT_TEMP_UNDER;

    for (unsigned i = 0; i < G_N_ELEMENTS(features); i++) {
        may |= features[i].save ? 1U << features[i].slot : 0;
    }
    return !(ctrl->features.is_saved & ~may) &&
           (!slot_is_saved(ctrl, NVME_FEAT_HCTM) ||
            (nvme_has_heat(ctrl) &&
             nvme_hctm_ok(ctrl, ctrl->features.saved[NVME_FEAT_HCTM])));
}

static uint32_t default_of(const NvmeCtrl *ctrl, const Feature *f)
{
    return f->slot == NVME_FEAT_ATOMICITY ? ctrl->cfg.atomic.dn : f->def;
}

void nvme_features_reset(NvmeCtrl *ctrl)
{
    nvme_power_reset(ctrl);
    for (unsigned i = 0; i < G_N_ELEMENTS(features); i++) {
        ctrl->features.value[features[i].slot] = default_of(ctrl, &features[i]);
    }
    ctrl->features.value[NVME_FEAT_TEMP_OVER] = nvme_warning_k(ctrl);
    ctrl->features.value[NVME_FEAT_TEMP_UNDER] = 0;
    ctrl->features.value[NVME_FEAT_VWC] = cache_by_default(ctrl);
    restore_saved(ctrl);
    nvme_ns_reset(ctrl);
    nvme_keep_alive_start(ctrl);
    memset(ctrl->features.behavior, 0, sizeof(ctrl->features.behavior));
    ctrl->features.copy_formats = 0;
    for (unsigned v = 0; v < NVME_MAX_VECTORS; v++) {
        ctrl->features.vector_config[v] = v | (v == 0 ? 0x10000 : 0);
    }
    nvme_events_reset(ctrl);
    nvme_host_memory_reset(ctrl);
    nvme_latency_reset(ctrl);
}

static uint16_t get_saved(NvmeCtrl *ctrl, NvmeRequest *req, const Feature *f,
                          const NvmeSqe *sqe)
{
    unsigned slot = f->slot;
    uint16_t status = f->which ? f->which(sqe->dw[11], false, &slot) : 0;

    if (!status && slot_is_saved(ctrl, slot)) {
        req->dw0 = ctrl->features.saved[slot];
    }
    return status;
}

static uint16_t get_value(NvmeCtrl *ctrl, NvmeRequest *req, const Feature *f,
                          const NvmeSqe *sqe, unsigned sel)
{
    uint16_t status = 0;

    if (f->get) {
        status = f->get(ctrl, req, sqe, sel == SEL_CURRENT);
    } else {
        req->dw0 = sel == SEL_CURRENT ? ctrl->features.value[f->slot]
                                      : default_of(ctrl, f);
    }
    if (!status && sel == SEL_SAVED && f->save) {
        status = get_saved(ctrl, req, f, sqe);
    }
    return status;
}

uint16_t nvme_get_features(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    const Feature *f = find_feature(ctrl, sqe->dw[10] & 0xff);
    unsigned sel = sqe->dw[10] >> 8 & 7;

    if (!f || sel > SEL_CAPABILITIES) {
        return NVME_SC_INVALID_FIELD;
    }
    if (f->ns && !req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (sel == SEL_CAPABILITIES) {
        /* Changeable, namespace specific, saveable. */
        req->dw0 = 1 << 2 | (f->ns ? 1 << 1 : 0) | f->save;
        return 0;
    }
    return get_value(ctrl, req, f, sqe, sel);
}

static uint16_t check_set_nsid(const NvmeCtrl *ctrl, const Feature *f,
                               const NvmeRequest *req)
{
    if (req->nsid == NVME_NSID_ALL) {
        return 0;
    }
    if (req->ns) {
        return f->ns ? 0 : NVME_SC_FEATURE_NOT_NS;
    }
    return f->ns || req->nsid ? nvme_ns_missing(ctrl, req->nsid) : 0;
}

static uint16_t set_value(NvmeCtrl *ctrl, NvmeRequest *req, const Feature *f,
                          const NvmeSqe *sqe)
{
    if (f->set) {
        return f->set(ctrl, req, sqe);
    }
    if (sqe->dw[11] & ~f->bits) {
        return NVME_SC_INVALID_FIELD;
    }
    ctrl->features.value[f->slot] = sqe->dw[11];
    return 0;
}

uint16_t nvme_set_features(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    const Feature *f = find_feature(ctrl, sqe->dw[10] & 0xff);
    uint16_t status;

    if (!f) {
        return NVME_SC_INVALID_FIELD;
    }
    if (sqe->dw[10] >> 31 && !f->save) {
        return NVME_SC_FEATURE_NOT_SAVEABLE;
    }
    status = check_set_nsid(ctrl, f, req);
    if (!status) {
        status = set_value(ctrl, req, f, sqe);
    }
    if (!status && sqe->dw[10] >> 31) {
        unsigned slot = f->slot;

        if (f->which) {
            f->which(sqe->dw[11], true, &slot);
        }
        save_slot(ctrl, slot);
    }
    return status;
}

/* Scopes have the bits of log page 05h. */
static uint32_t feature_effects(const Feature *f)
{
    uint32_t scope = f->ns        ? NVME_EFFECT_SCOPE_NS
                     : f->group   ? NVME_EFFECT_SCOPE_GROUP
                     : f->nvm_set ? NVME_EFFECT_SCOPE_NVM_SET
                                  : NVME_EFFECT_SCOPE_CONTROLLER;

    return NVME_EFFECT_SUPPORTED | scope;
}

void nvme_fill_feature_effects(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                               uint64_t i, void *page)
{
    NvmeFeatureEffectsLog *log = page;

    for (unsigned k = 0; k < G_N_ELEMENTS(features); k++) {
        const Feature *f = &features[k];

        if (!f->there || f->there(ctrl)) {
            log->fid[f->id] = nvme_le32(feature_effects(f));
        }
    }
}

void nvme_document_features(GString *out)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(features); i++) {
        g_string_append_printf(
            out, "| %02Xh | %s | %s | %s |\n", features[i].id, features[i].name,
            features[i].save ? "yes" : "no", features[i].help);
    }
}
