/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl.c - the controller's life, its run loop, and who is called back by whom.
 *
 * Knows in which order the work of a run is done; knows nothing of commands, of
 * requests or of queues.
 */
#include "nvme-internal.h"
#include "cmb.h"
#include "command.h"
#include "completion.h"
#include "ctrl.h"
#include "data.h"
#include "directives.h"
#include "doorbell.h"
#include "erase-job.h"
#include "events.h"
#include "fdp.h"
#include "fdp-events.h"
#include "fdp-handles.h"
#include "fetch.h"
#include "firmware.h"
#include "lba-status.h"
#include "persistent-events.h"
#include "pmr.h"
#include "namespace.h"
#include "ns-admin.h"
#include "ns-config.h"
#include "queue.h"
#include "regs.h"
#include "request.h"
#include "ssd-save.h"
#include "steps.h"
#include "telemetry.h"
#include "upkeep.h"
#include "zone-send.h"
#include "zones.h"

#include <inttypes.h>

#include "options.h"

#define DONE_BATCH 64

/* ---- payload and drive call back ---------------------------------------- */

static void read_done(void *opaque, PayloadRead *rd)
{
    NvmeRequest *req = rd->owner;

    nvme_read_done(opaque, rd);
    nvme_request_part_done(opaque, req);
}

static void barrier_done(void *opaque, PayloadBarrier *b, int ret)
{
    NvmeCtrl *ctrl = opaque;
    NvmeRequest *req = b->owner;

    if (ret) {
        ctrl->life.media_errors++;
        req->status = NVME_SC_WRITE_FAULT;
        nvme_check_health(ctrl);
    }
    nvme_request_part_done(ctrl, req);
}

static const PayloadClient payload_client = {
    .read_done = read_done,
    .barrier_done = barrier_done,
};

static const NvmeCqClient cq_client = {
    .bad_head = nvme_bad_doorbell_value,
};

static void host_programmed(void *opaque, uint64_t lpn, uint64_t version)
{
    NvmeCtrl *ctrl = opaque;

    payload_programmed(ctrl->payload, lpn, version);
}

static void host_superseded(void *opaque, uint64_t lpn, uint64_t version)
{
    NvmeCtrl *ctrl = opaque;

    payload_superseded(ctrl->payload, lpn, version);
}

static void host_power_lost(void *opaque)
{
    NvmeCtrl *ctrl = opaque;

    ctrl->drive_lost = true;
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

static bool drain_drive(NvmeCtrl *ctrl)
{
    SsdCompletion done[DONE_BATCH];
    size_t n;
    bool any = false;

    do {
        n = ssd_advance(ctrl->ssd, ctrl->now_ns, done, DONE_BATCH);
        if (ctrl->drive_lost) {
            nvme_disable(ctrl); /* nothing more reaches the guest */
        }
        for (size_t i = 0; i < n; i++) {
            nvme_step_completed(ctrl, &done[i]);
        }
        any |= n > 0;
    } while (n == DONE_BATCH);
    nvme_look_at_health(ctrl);
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

bool nvme_run(NvmeCtrl *ctrl, uint64_t now_ns)
{
    unsigned budget = NVME_RUN_BUDGET;
    bool again, payload_more;

    ctrl->now_ns = MAX(now_ns, ctrl->now_ns);
    ctrl->more = false;
    ctrl->run_bytes = 0;
    if (nvme_running(ctrl)) {
        nvme_read_shadows(ctrl);
    }
    do {
        again = drain_drive(ctrl);
        nvme_look_ready(ctrl);
        again |= nvme_upkeep(ctrl);
        payload_more = payload_kick(ctrl->payload);
        again |= nvme_feed_starved(ctrl);
        if (G_UNLIKELY(ctrl->zones.work || ctrl->zones.report)) {
            nvme_zones_look(ctrl);
        }
        if (nvme_running(ctrl) && !ctrl->held && !nvme_firmware_busy(ctrl)) {
            again |= nvme_fetch(ctrl, &budget);
        }
        if (ctrl->drive_lost && ctrl->powered) {
            nvme_power_cut(ctrl, now_ns);
            return false;
        }
    } while (again && budget);
    if (nvme_running(ctrl)) {
        ctrl->more = end_run(ctrl);
    }
    ctrl->more |= !budget;
    ctrl->more &= !ctrl->held;
    ctrl->more |= payload_more;
    ctrl->more |= nvme_upkeep(ctrl); /* when is it to be called again? */
    return ctrl->more;
}

uint64_t nvme_next_event_ns(const NvmeCtrl *ctrl)
{
    if (ctrl->more || ctrl->drive_lost) {
        return ctrl->now_ns;
    }
    return MIN(MIN(ssd_next_event_ns(ctrl->ssd), nvme_upkeep_ns(ctrl)),
               nvme_coalescing_deadline_ns(ctrl));
}

void nvme_store_done(NvmeCtrl *ctrl, uint64_t now_ns, NvmeStoreReq *req,
                     int ret)
{
    ctrl->now_ns = MAX(now_ns, ctrl->now_ns);
    payload_store_done(ctrl->payload, req, ret);
    ctrl->more = true;
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
    return ctrl->now_ns;
}

const Hist *nvme_lateness(const NvmeCtrl *ctrl)
{
    return ctrl->lateness;
}

/* ---- power -------------------------------------------------------------- */

void nvme_power_cut(NvmeCtrl *ctrl, uint64_t now_ns)
{
    if (!ctrl->powered) {
        return;
    }
    ctrl->now_ns = MAX(now_ns, ctrl->now_ns);
    drain_drive(ctrl);
    nvme_disable(ctrl);
    nvme_feed_starved(ctrl);
    ssd_power_cut(ctrl->ssd, ctrl->now_ns);
    drain_drive(ctrl);
    nvme_feed_starved(ctrl);
    payload_power_cut(ctrl->payload);
    if (!ctrl->life.shutdown_clean) {
        ctrl->life.unsafe_shutdowns++;
        nvme_pel_unsafe_shutdown(ctrl);
    }
    ctrl->life.shutdown_clean = true;
    ctrl->powered = false;
    ctrl->drive_lost = false;
    nvme_cmb_power(ctrl);
    nvme_pmr_reset(ctrl);
    payload_kick(ctrl->payload);
    if (ctrl->machine->power_lost) {
        ctrl->machine->power_lost(ctrl->opaque);
    }
}

bool nvme_powered(const NvmeCtrl *ctrl)
{
    return ctrl->powered;
}

void nvme_power_on(NvmeCtrl *ctrl, uint64_t now_ns)
{
    if (ctrl->powered) {
        return;
    }
    ctrl->now_ns = MAX(now_ns, ctrl->now_ns);
    ctrl->powered = true;
    ctrl->life.power_cycles++;
    nvme_ns_power_on(ctrl);
    nvme_erase_power_on(ctrl);
    nvme_lba_status_power_lost(ctrl);
    ssd_power_on(ctrl->ssd, ctrl->now_ns);
    nvme_fdp_power_on(ctrl);
    nvme_zones_power_on(ctrl);
    nvme_zones_look(ctrl);
    nvme_firmware_reset(ctrl, NVME_RESET_SUBSYSTEM);
    ctrl->regs.csts = 0;
    nvme_cmb_power(ctrl);
    nvme_reset(ctrl, ctrl->now_ns);
}

/* ---- life --------------------------------------------------------------- */

NvmeCtrl *nvme_new(const NvmeMachine *machine, const NvmeStore *store,
                   void *opaque)
{
    NvmeCtrl *ctrl = g_new0(NvmeCtrl, 1);

    ctrl->machine = machine;
    ctrl->opaque = opaque;
    ctrl->payload = payload_new(store, opaque, &payload_client, ctrl);
    ctrl->commands[0] = &nvme_io_commands;
    ctrl->commands[1] = &nvme_admin_commands;
    ctrl->cq_client = &cq_client;
    nvme_requests_init(ctrl);
    ctrl->lateness = g_new(Hist, 1);
    hist_init(ctrl->lateness);
    ctrl->life.shutdown_clean = true;
    ctrl->life.power_cycles = 1;
    ctrl->firmware_image = g_malloc0(NVME_FW_BYTES);
    ctrl->activation_ns = SSD_TIME_NEVER;
    ctrl->pel_events = g_malloc0(NVME_PEL_BYTES);
    ctrl->pel_context = g_malloc0(NVME_PEL_HEADER + NVME_PEL_BYTES);
    ctrl->telemetry_data =
        g_malloc0(NVME_TELEMETRY_LOGS * NVME_TELEMETRY_BYTES);
    ctrl->upkeep.housekeep_ns = SSD_TIME_NEVER;
    ctrl->upkeep.retry_ns = SSD_TIME_NEVER;
    ctrl->upkeep.keep_alive_ns = SSD_TIME_NEVER;
    nvme_queue_init(ctrl);
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
           check_text("model", cfg->model, 40, error) &&
           check_text("firmware", cfg->firmware, 8, error) &&
           check_number("controller identifier", cfg->cntlid, 0, 0xffef,
                        error) &&
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
           nvme_memory_ok(cfg, error) && check_metadata(cfg, info, error) &&
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
    if (info->zones.n > 0 && cfg->namespaces) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "namespaces=%s: not with zones.enabled=on",
                    cfg->namespaces);
        return false;
    }
    if (!nvme_zones_init(ctrl, error)) {
        return false;
    }
    nvme_namespaces_init(ctrl, cfg->namespaces ? NVME_MAX_NAMESPACES : 1);
    if (!nvme_ns_configure(ctrl, error)) {
        return false;
    }
    ctrl->cfg.namespaces = NULL; /* the caller's text, as cmb_uses */
    ctrl->cfg.cmb_uses = NULL;
    nvme_slots_init(ctrl, info->queue_depth);
    nvme_streams_init(ctrl);
    ctrl->powered = true;
    ctrl->next_version = ssd_last_version(ssd);
    nvme_reset(ctrl, ssd_now_ns(ssd));
    return true;
}

void nvme_free(NvmeCtrl *ctrl)
{
    ctrl->powered = false;
    if (ctrl->ssd) {
        nvme_queues_close(ctrl);
    }
    nvme_requests_free_used(ctrl);
    payload_free(ctrl->payload);
    nvme_requests_destroy(ctrl);
    nvme_namespaces_free(ctrl);
    nvme_zones_free(ctrl);
    g_free(ctrl->slots.slot);
    g_free(ctrl->lateness);
    g_free(ctrl->firmware_image);
    nvme_fdp_free(ctrl);
    g_free(ctrl->pel_events);
    g_free(ctrl->pel_context);
    g_free(ctrl->telemetry_data);
    g_free(ctrl);
}
