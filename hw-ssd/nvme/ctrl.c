/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl.c - the controller's life, its run loop, and who is called back by whom.
 *
 * Knows in which order the work of a run is done; knows nothing of commands, of
 * requests or of queues.
 */
#include "nvme-internal.h"
#include "memory/cmb.h"
#include "cmd-faults.h"
#include "admin/commands.h"
#include "queue/completion.h"
#include "ctrl.h"
#include "nvme-options.h"
#include "data/data.h"
#include "queue/doorbell.h"
#include "queue/durable-log.h"
#include "erase/erase-job.h"
#include "health/events.h"
#include "placement/fdp.h"
#include "placement/fdp-events.h"
#include "placement/fdp-handles.h"
#include "fetch.h"
#include "admin/firmware.h"
#include "kv/kv-index.h"
#include "admin/lba-status.h"
#include "health/persistent-events.h"
#include "memory/pmr.h"
#include "namespace/atomic.h"
#include "namespace/namespace.h"
#include "admin/ns-admin.h"
#include "admin/ns-config.h"
#include "queue/queue.h"
#include "regs.h"
#include "registers/registers.h"
#include "queue/request.h"
#include "reservation/reservation.h"
#include "admin/reset.h"
#include "admin/secondary.h"
#include "ssd-save.h"
#include "queue/steps.h"
#include "placement/streams.h"
#include "admin/telemetry.h"
#include "upkeep.h"
#include "zone/zone-send.h"
#include "zone/zones.h"

#include <inttypes.h>

#include "options.h"

#define DONE_BATCH 64

/* ---- the payload calls back ---------------------------------------------- */

static void read_done(void *opaque, PayloadRead *rd)
{
    NvmeRequest *req = rd->owner;

    nvme_read_done(req->ctrl, rd);
    nvme_request_part_done(req->ctrl, req);
}

static void barrier_done(void *opaque, PayloadBarrier *b, int ret)
{
    NvmeRequest *req = b->owner;
    NvmeCtrl *ctrl = req->ctrl;

    if (ret) {
        ctrl->sub->life.media_errors++;
        req->status = NVME_SC_WRITE_FAULT;
        nvme_check_health(ctrl);
    }
    nvme_request_part_done(ctrl, req);
}

static void became_durable(void *opaque, uint64_t at_ns, uint64_t lba,
                           uint64_t nblocks, const uint8_t *data)
{
    NvmeCtrl *ctrl = opaque;

    if (ctrl->sub->durable_log) {
        nvme_durable_log_data(ctrl->sub->durable_log, at_ns, lba, nblocks,
                              data);
    }
}

static const PayloadClient payload_client = {
    .read_done = read_done,
    .barrier_done = barrier_done,
    .durable = became_durable,
};

/* ---- rooms call those above them ----------------------------------------- */

static void bad_doorbell(NvmeCtrl *ctrl, bool value)
{
    nvme_event(ctrl, NVME_EVENT_ERROR,
               value ? NVME_EVENT_BAD_DOORBELL_VALUE : NVME_EVENT_BAD_DOORBELL);
}

static const NvmeQueueClient queue_client = {
    .bad_doorbell = bad_doorbell,
    .message = nvme_faults_message,
    .zone_step_may_go = nvme_zone_step_may_go,
    .zone_step_end = nvme_zone_step_end,
    .drained = nvme_ns_drained,
};

static bool erase_waits(const NvmeSubsys *sub)
{
    return nvme_kv_works(sub, NULL);
}

static void erase_forgets(NvmeSubsys *sub, const NvmeNamespace *ns)
{
    nvme_kv_forget(sub, ns, NVME_SC_ABORT_REQUESTED);
}

static const NvmeEraseClient erase_client = {
    .works = erase_waits,
    .forget = erase_forgets,
};

/* ---- the drive calls back ------------------------------------------------ */

static void host_programmed(void *opaque, uint64_t lpn, uint64_t version)
{
    NvmeCtrl *ctrl = opaque;

    payload_programmed(ctrl->payload, ssd_now_ns(ctrl->ssd), lpn, version);
}

static void host_superseded(void *opaque, uint64_t lpn, uint64_t version)
{
    NvmeCtrl *ctrl = opaque;

    payload_superseded(ctrl->payload, lpn, version);
}

static void host_power_lost(void *opaque)
{
    NvmeCtrl *ctrl = opaque;

    ctrl->sub->drive_lost = true;
}

static void host_moving(void *opaque, uint32_t stream, uint64_t lpn,
                        uint32_t nunits)
{
    nvme_fdp_moving(opaque, stream, lpn, nunits);
}

static void host_unit_begun(void *opaque, uint32_t stream)
{
    nvme_fdp_unit_begun(opaque, stream);
}

static void host_overflowed(void *opaque, uint32_t stream, uint32_t other)
{
    nvme_fdp_overflowed(opaque, stream);
}

const SsdHostOps *nvme_host_ops(void)
{
    static const SsdHostOps ops = {
        .programmed = host_programmed,
        .superseded = host_superseded,
        .power_lost = host_power_lost,
        .moving = host_moving,
        .unit_begun = host_unit_begun,
        .overflowed = host_overflowed,
    };

    return &ops;
}

/* ---- the run loop ------------------------------------------------------- */

static void disable_all(NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        nvme_disable(c);
    }
}

static bool drain_drive(NvmeCtrl *ctrl)
{
    SsdCompletion done[DONE_BATCH];
    size_t n;
    bool any = false;

    do {
        n = ssd_advance(ctrl->ssd, ctrl->sub->now_ns, done, DONE_BATCH);
        if (ctrl->sub->drive_lost) {
            disable_all(ctrl->sub); /* nothing more reaches the guest */
        }
        for (size_t i = 0; i < n; i++) {
            nvme_step_completed(ctrl->sub, &done[i]);
        }
        any |= n > 0;
    } while (n == DONE_BATCH);
    nvme_look_at_health(ctrl->sub);
    nvme_telemetry_look(ctrl);
    nvme_pel_look(ctrl);
    return any;
}

/* Write completions out and raise interrupts; true: there is more to fetch. */
static bool end_run(NvmeCtrl *ctrl)
{
    bool fresh = nvme_write_completions(ctrl);

    if (ctrl->regs.csts & NVME_CSTS_CFS) {
        return false;
    }
    nvme_raise_interrupts(ctrl);
    if (ctrl->queues.shadow_on) {
        fresh |= nvme_arm_doorbells(ctrl);
    }
    return fresh;
}

static unsigned after(const NvmeSubsys *sub, unsigned at)
{
    return at + 1 < sub->n_ctrls ? at + 1 : 0;
}

/* The controllers take turns: the next run begins behind the one that began
 * this run. */
static bool fetch_all(NvmeSubsys *sub, unsigned *budget)
{
    unsigned at = sub->next_ctrl;
    bool again = false;

    sub->next_ctrl = after(sub, at);
    for (unsigned k = 0; k < sub->n_ctrls && *budget; k++) {
        NvmeCtrl *c = sub->ctrl[at];

        if (c && nvme_running(c)) {
            again |= nvme_fetch(c, budget);
        }
        at = after(sub, at);
    }
    return again;
}

static void begin_run(NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (nvme_running(c)) {
            nvme_read_shadows(c);
        }
    }
}

static void end_runs(NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (nvme_running(c)) {
            sub->more |= end_run(c);
        }
    }
}

bool nvme_run(NvmeCtrl *any, uint64_t now_ns)
{
    NvmeSubsys *sub = any->sub;
    NvmeCtrl *ctrl = &sub->first;
    unsigned budget = NVME_RUN_BUDGET;
    bool again, payload_more;

    sub->now_ns = MAX(now_ns, sub->now_ns);
    sub->more = false;
    sub->run_bytes = 0;
    begin_run(sub);
    do {
        again = drain_drive(ctrl);
        NVME_FOR_EACH_CTRL(sub, c)
        {
            nvme_look_ready(c);
        }
        again |= nvme_upkeep(ctrl);
        payload_more = payload_pump(ctrl->payload);
        again |= nvme_feed_starved(ctrl);
        if (G_UNLIKELY(ctrl->sub->zones.work || ctrl->sub->zones.report)) {
            nvme_zones_look(ctrl);
        }
        if (G_UNLIKELY(sub->kv_all)) {
            again |= nvme_kv_look(sub);
        }
        if (!sub->held && !nvme_firmware_busy(ctrl)) {
            again |= fetch_all(sub, &budget);
        }
        if (ctrl->sub->drive_lost && ctrl->sub->powered) {
            nvme_power_cut(ctrl, now_ns);
            return false;
        }
    } while (again && budget);
    end_runs(sub);
    ctrl->sub->more |= !budget;
    ctrl->sub->more &= !ctrl->sub->held;
    ctrl->sub->more |= payload_more;
    ctrl->sub->more |= nvme_upkeep(ctrl); /* when is it to be called again? */
    return ctrl->sub->more;
}

uint64_t nvme_next_event_ns(const NvmeCtrl *ctrl)
{
    uint64_t next_ns = ssd_next_event_ns(ctrl->ssd);

    if (ctrl->sub->more || ctrl->sub->drive_lost) {
        return ctrl->sub->now_ns;
    }
    next_ns = MIN(next_ns, nvme_upkeep_ns(ctrl));
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        next_ns = MIN(next_ns, nvme_coalescing_deadline_ns(c));
    }
    return next_ns;
}

void nvme_store_done(NvmeCtrl *ctrl, uint64_t now_ns, NvmeStoreReq *req,
                     int ret)
{
    ctrl->sub->now_ns = MAX(now_ns, ctrl->sub->now_ns);
    payload_store_done(ctrl->payload, req, ret);
    ctrl->sub->more = true;
}

unsigned nvme_store_in_flight(const NvmeCtrl *ctrl)
{
    return payload_store_in_flight(ctrl->payload);
}

bool nvme_pin_level(const NvmeCtrl *ctrl)
{
    return ctrl->pin_level;
}

uint64_t nvme_now_ns(const NvmeCtrl *ctrl)
{
    return ctrl->sub->now_ns;
}

const Hist *nvme_lateness(const NvmeCtrl *ctrl)
{
    return ctrl->sub->lateness;
}

/* ---- power -------------------------------------------------------------- */

/* Was a controller in use, and has not been shut down?  From now on none is. */
static bool was_unsafe(NvmeSubsys *sub)
{
    bool unsafe = false;

    NVME_FOR_EACH_CTRL(sub, c)
    {
        unsafe |= !c->shutdown_clean;
        c->shutdown_clean = true;
    }
    return unsafe;
}

void nvme_power_cut(NvmeCtrl *ctrl, uint64_t now_ns)
{
    if (!ctrl->sub->powered) {
        return;
    }
    ctrl->sub->now_ns = MAX(now_ns, ctrl->sub->now_ns);
    drain_drive(ctrl);
    disable_all(ctrl->sub);
    nvme_feed_starved(ctrl);
    ssd_power_cut(ctrl->ssd, ctrl->sub->now_ns);
    drain_drive(ctrl);
    nvme_feed_starved(ctrl);
    payload_power_cut(ctrl->payload);
    nvme_kv_forget(ctrl->sub, NULL, NVME_SC_POWER_LOSS);
    nvme_kv_run_ready(ctrl->sub);
    if (was_unsafe(ctrl->sub)) {
        ctrl->sub->life.unsafe_shutdowns++;
        nvme_pel_unsafe_shutdown(ctrl);
    }
    ctrl->sub->powered = false;
    ctrl->sub->drive_lost = false;
    payload_pump(ctrl->payload);
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_cmb_power(c);
        nvme_pmr_reset(c);
        if (c->machine->power_lost) {
            c->machine->power_lost(c->opaque);
        }
    }
}

bool nvme_powered(const NvmeCtrl *ctrl)
{
    return ctrl->sub->powered;
}

void nvme_power_on(NvmeCtrl *ctrl, uint64_t now_ns)
{
    if (ctrl->sub->powered) {
        return;
    }
    ctrl->sub->now_ns = MAX(now_ns, ctrl->sub->now_ns);
    ctrl->sub->powered = true;
    nvme_upkeep_wake(ctrl->sub);
    ctrl->sub->life.power_cycles++;
    nvme_ns_power_on(ctrl);
    nvme_reservations_power_on(ctrl->sub);
    nvme_erase_power_on(ctrl);
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_lba_status_power_lost(c);
    }
    ssd_power_on(ctrl->ssd, ctrl->sub->now_ns);
    nvme_fdp_power_on(ctrl);
    nvme_zones_power_on(ctrl);
    nvme_zones_look(ctrl);
    nvme_firmware_reset(ctrl, NVME_RESET_SUBSYSTEM);
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_csts_clear(c, UINT32_MAX);
        nvme_cmb_power(c);
        nvme_reset(c, c->sub->now_ns);
    }
}

/* ---- life --------------------------------------------------------------- */

void nvme_ctrl_init(NvmeCtrl *ctrl, const NvmeMachine *machine, void *opaque)
{
    ctrl->machine = machine;
    ctrl->opaque = opaque;
    ctrl->commands[0] = &nvme_io_commands;
    ctrl->commands[1] = &nvme_admin_commands;
    ctrl->queue_client = &queue_client;
    ctrl->shutdown_clean = true;
    ctrl->keep_alive_ns = SSD_TIME_NEVER;
    nvme_queue_init(ctrl);
}

NvmeCtrl *nvme_new(const NvmeMachine *machine, const NvmeStore *store,
                   void *opaque)
{
    NvmeSubsys *sub = g_new0(NvmeSubsys, 1);
    NvmeCtrl *ctrl = &sub->first;

    sub->ctrl[0] = ctrl;
    sub->erase_client = &erase_client;
    sub->n_ctrls = 1;
    ctrl->sub = sub;
    nvme_ctrl_init(ctrl, machine, opaque);
    ctrl->payload = payload_new(store, opaque, &payload_client, ctrl);
    nvme_requests_init(ctrl);
    ctrl->sub->lateness = g_new(Hist, 1);
    hist_init(ctrl->sub->lateness);
    ctrl->sub->life.power_cycles = 1;
    ctrl->sub->firmware_image = g_malloc0(NVME_FW_BYTES);
    ctrl->sub->activation_ns = SSD_TIME_NEVER;
    ctrl->sub->pel_events = g_malloc0(NVME_PEL_BYTES);
    ctrl->sub->pel_context = g_malloc0(NVME_PEL_HEADER + NVME_PEL_BYTES);
    ctrl->sub->telemetry_data =
        g_malloc0(NVME_TELEMETRY_LOGS * NVME_TELEMETRY_BYTES);
    ctrl->sub->upkeep.housekeep_ns = SSD_TIME_NEVER;
    ctrl->sub->upkeep.retry_ns = SSD_TIME_NEVER;
    return ctrl;
}

static bool check_text(const char *name, const char *s, size_t max,
                       GError **error)
{
    size_t n = s ? strlen(s) : 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i] < 0x20 || s[i] > 0x7e) {
            n = 0;
        }
    }
    if (n < 1 || n > max) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "%s=%s: allowed are 1..%zu printable ASCII characters",
                    name, s ? s : "", max);
        return false;
    }
    return true;
}

bool nvme_serial_ok(const char *serial, GError **error)
{
    return check_text("serial", serial, 20, error);
}

bool nvme_model_ok(const char *model, GError **error)
{
    return check_text("model", model, 40, error);
}

static bool check_number(const char *name, uint64_t v, uint64_t min,
                         uint64_t max, GError **error)
{
    if (v < min || v > max) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "%s=%" PRIu64 ": allowed %" PRIu64 "..%" PRIu64, name, v,
                    min, max);
        return false;
    }
    return true;
}

bool nvme_memory_ok(const NvmeConfig *cfg, GError **error)
{
    return nvme_cmb_check_config(cfg, error) &&
           nvme_pmr_check_config(cfg, error);
}

static bool check_metadata(const NvmeConfig *cfg, const SsdInfo *info,
                           GError **error)
{
    bool known = cfg->metadata == 0 || cfg->metadata == 8 ||
                 cfg->metadata == 16 || cfg->metadata == 64;
    bool guard =
        cfg->pi_guard == 0 || cfg->pi_guard == 16 || cfg->pi_guard == 64;
    bool used = cfg->pi || cfg->pi_first || cfg->metadata_extended ||
                cfg->pi_guard == 64 || cfg->pi_storage_bits;

    if (!known) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "metadata=%u: allowed 0, 8, 16, 64", cfg->metadata);
    } else if (!guard) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "pi_guard=%u: allowed 16, 64", cfg->pi_guard);
    } else if (used && !cfg->metadata) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "pi, pi_at, pi_guard, pi_sts and metadata_at need "
                    "metadata=8, 16 or 64");
    } else if (cfg->metadata && info->zones.n) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "metadata=%u: not with zones.enabled=on", cfg->metadata);
        return false;
    }
    return known && guard && (!used || cfg->metadata) &&
           check_number("pi", cfg->pi, 0, 3, error) &&
           check_number("pi_sts", cfg->pi_storage_bits, 0, 48, error);
}

static bool check_config(const NvmeConfig *cfg, const SsdInfo *info,
                         GError **error)
{
    return nvme_serial_ok(cfg->serial, error) &&
           nvme_model_ok(cfg->model, error) &&
           check_text("firmware", cfg->firmware, 8, error) &&
           check_number("controller identifier", cfg->cntlid, 0, 0xffef,
                        error) &&
           check_number("controllers", MAX(cfg->controllers, 1), 1,
                        NVME_MAX_CTRLS, error) &&
           check_number("queues", cfg->n_queues, 1, 64, error) &&
           check_number("vectors", cfg->n_vectors, 1, NVME_MAX_VECTORS,
                        error) &&
           check_number("queue_size", cfg->queue_size, 2, 65536, error) &&
           check_number("mdts", cfg->mdts, 1, 10, error) &&
           check_number("fw_slots", cfg->firmware_slots, 1, NVME_FW_SLOTS,
                        error) &&
           check_number("fw_activation_ms", cfg->firmware_activation_ms, 0,
                        60000, error) &&
           check_number("backlog", cfg->backlog, NVME_BACKLOG_MIN,
                        NVME_BACKLOG_MAX, error) &&
           check_number("kv_cache", cfg->kv_cache, NVME_KV_CACHE_MIN,
                        NVME_KV_CACHE_MAX, error) &&
           nvme_secondaries_ok(cfg, error) && nvme_memory_ok(cfg, error) &&
           check_metadata(cfg, info, error) &&
           check_number("blocks of the namespace", cfg->nblocks, 1,
                        info->nblocks, error);
}

bool nvme_attach(NvmeCtrl *ctrl, Ssd *ssd, const NvmeConfig *cfg,
                 GError **error)
{
    const SsdInfo *info = ssd_info(ssd);

    if (!check_config(cfg, info, error)) {
        return false;
    }
    ctrl->ssd = ssd;
    ctrl->cfg = *cfg;
    ctrl->cfg.controllers = MAX(cfg->controllers, 1) + cfg->secondaries;
    nvme_secondaries_init(ctrl);
    g_strlcpy(ctrl->serial, cfg->serial, sizeof(ctrl->serial));
    g_strlcpy(ctrl->model, cfg->model, sizeof(ctrl->model));
    g_strlcpy(ctrl->firmware, cfg->firmware, sizeof(ctrl->firmware));
    ctrl->cfg.serial = ctrl->serial;
    ctrl->cfg.model = ctrl->model;
    ctrl->cfg.firmware = ctrl->firmware;
    nvme_firmware_init(ctrl);
    nvme_cmb_init(ctrl);
    nvme_pmr_init(ctrl);
    ctrl->block_bytes = info->block_bytes;
    ctrl->block_shift = g_bit_nth_lsf(info->block_bytes, -1);
    ctrl->unit_blocks = info->unit_bytes / info->block_bytes;
    ctrl->max_bytes = 1ULL << (cfg->mdts + NVME_PAGE_BITS);
    payload_attach(ctrl->payload, ssd, cfg->nblocks);
    payload_set_limit(ctrl->payload, cfg->backlog);
    if (!nvme_ns_choose(ctrl, error) || !nvme_zones_init(ctrl, error)) {
        return false;
    }
    nvme_namespaces_init(ctrl, ctrl->cfg.namespaces ? NVME_MAX_NAMESPACES : 1);
    nvme_slots_init(ctrl, info->queue_depth);
    if (!nvme_atomic_init(ctrl, error)) {
        return false;
    }
    nvme_reservations_init(ctrl->sub);
    if (!nvme_ns_configure(ctrl, error)) {
        return false;
    }
    ctrl->cfg.namespaces = NULL; /* the caller's text, as cmb_uses */
    ctrl->cfg.cmb_uses = NULL;
    nvme_streams_init(ctrl);
    ctrl->sub->powered = true;
    ctrl->sub->next_version = ssd_last_version(ssd);
    nvme_reset(ctrl, ssd_now_ns(ssd));
    ctrl->cfg.faults = NULL; /* the caller's text */
    return nvme_faults_load(ctrl, cfg->faults, error);
}

bool nvme_durable_log_open(NvmeCtrl *ctrl, const char *path, GError **error)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);

    ctrl->sub->durable_log =
        nvme_durable_log_new(path, info->block_bytes, info->nblocks, error);
    if (!ctrl->sub->durable_log) {
        return false;
    }
    payload_watch(ctrl->payload);
    return true;
}

bool nvme_durable_log_close(NvmeCtrl *ctrl, GError **error)
{
    NvmeDurableLog *log = ctrl->sub->durable_log;

    ctrl->sub->durable_log = NULL;
    return !log || nvme_durable_log_free(log, error);
}

void nvme_free(NvmeCtrl *ctrl)
{
    g_assert(ctrl == &ctrl->sub->first && !ctrl->next);
    ctrl->sub->powered = false;
    if (ctrl->ssd) {
        nvme_queues_close(ctrl);
    }
    nvme_requests_free_used(ctrl);
    nvme_faults_free(ctrl->sub);
    nvme_kv_free_all(ctrl->sub);
    nvme_durable_log_close(ctrl, NULL);
    payload_free(ctrl->payload);
    nvme_requests_destroy(ctrl);
    nvme_namespaces_free(ctrl);
    nvme_reservations_free(ctrl->sub);
    nvme_zones_free(ctrl);
    g_free(ctrl->sub->slots.slot);
    g_free(ctrl->sub->lateness);
    if (ctrl->sub->origin) {
        g_string_free(ctrl->sub->origin, TRUE);
    }
    g_free(ctrl->sub->live);
    g_free(ctrl->sub->firmware_image);
    nvme_fdp_free(ctrl);
    g_free(ctrl->sub->pel_events);
    g_free(ctrl->sub->pel_context);
    g_free(ctrl->sub->telemetry_data);
    g_free(ctrl->sub);
}
