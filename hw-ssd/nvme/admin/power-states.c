/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power-states.c - Power Management (feature 02h), Autonomous Power State
 * Transition (0Ch), Host Controlled Thermal Management (10h), and their
 * fields in Identify.  Clauses 5.21.1.2, 5.21.1.12, 5.21.1.16 and 8.4.
 *
 * Knows the host's words; the drive has the states and the temperature.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "health/health.h"
#include "admin/power-states.h"
#include "memory/prp.h"

#include "simtime.h"

#define DEFAULT_CENTIWATTS 800
#define LEAST_LIMIT_K      273

#define PS_MASK       0x1fU
#define WORKLOAD_MASK 0xe0U

static uint32_t n_states(const NvmeCtrl *ctrl)
{
    uint32_t n;

    ssd_power_states(ctrl->ssd, &n);
    return n;
}

bool nvme_has_power_states(const NvmeCtrl *ctrl)
{
    return n_states(ctrl) > 0;
}

bool nvme_has_idle_states(const NvmeCtrl *ctrl)
{
    uint32_t n;
    const SsdPowerState *s = ssd_power_states(ctrl->ssd, &n);

    return n > 0 && s[n - 1].idle;
}

bool nvme_has_heat(const NvmeCtrl *ctrl)
{
    return ssd_kelvin(ctrl->ssd) > 0;
}

/* ---- Identify Controller ------------------------------------------------ */

/* MP counts 0.01 W, or 0.0001 W if MXPS says so. */
static void put_state(NvmePowerState *to, const SsdPowerState *s, uint8_t rank)
{
    bool fine = s->mw % 10 && s->mw * 10 <= UINT16_MAX;

    to->mp = nvme_le16((uint16_t)(fine ? s->mw * 10 : (s->mw + 9) / 10));
    to->flags = (uint8_t)(fine | s->idle << 1);
    to->enlat = nvme_le32(s->entry_us);
    to->exlat = nvme_le32(s->exit_us);
    to->rrt = to->rrl = to->rwt = to->rwl = rank;
}

void nvme_identify_power(const NvmeCtrl *ctrl, NvmeIdController *id)
{
    uint32_t n;
    const SsdPowerState *s = ssd_power_states(ctrl->ssd, &n);

    id->psd[0].mp = nvme_le16(DEFAULT_CENTIWATTS);
    for (uint32_t i = 0; i < n; i++) {
        put_state(&id->psd[i], &s[i], (uint8_t)i);
    }
    id->npss = (uint8_t)(n ? n - 1 : 0);
    id->apsta = nvme_has_idle_states(ctrl);
    id->wctemp = nvme_le16((uint16_t)nvme_warning_k(ctrl));
    id->cctemp = nvme_le16((uint16_t)nvme_critical_k(ctrl));
    if (nvme_has_heat(ctrl)) {
        id->hctma = nvme_le16(1);
        id->mntmt = nvme_le16(LEAST_LIMIT_K);
        id->mxtmt = nvme_le16((uint16_t)nvme_critical_k(ctrl));
    }
}

/* ---- Power Management --------------------------------------------------- */

uint16_t nvme_power_get(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                        bool current)
{
    req->dw0 = 0;
    if (current) {
        req->dw0 = (ctrl->features.value[NVME_FEAT_POWER] & WORKLOAD_MASK) |
                   ssd_power_state(ctrl->ssd);
    }
    return 0;
}

uint16_t nvme_power_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint32_t state = sqe->dw[11] & PS_MASK;

    if (sqe->dw[11] & ~(PS_MASK | WORKLOAD_MASK) ||
        state >= MAX(n_states(ctrl), 1)) {
        return NVME_SC_INVALID_FIELD;
    }
    ctrl->features.value[NVME_FEAT_POWER] = sqe->dw[11];
    ssd_set_power_state(ctrl->ssd, ctrl->sub->now_ns, state);
    return 0;
}

/* ---- Autonomous Power State Transition ---------------------------------- */

/* An entry: the idle state to go to in bits 7:3, after so many ms in 31:8. */
static uint32_t entry_state(uint64_t entry)
{
    return entry >> 3 & PS_MASK;
}

static uint32_t entry_ms(uint64_t entry)
{
    return entry >> 8 & 0xffffff;
}

static bool entries_ok(const NvmeCtrl *ctrl, const uint64_t *entry)
{
    uint32_t n;
    const SsdPowerState *s = ssd_power_states(ctrl->ssd, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = entry_state(entry[i]);

        if (entry_ms(entry[i]) && (to <= i || to >= n || !s[to].idle)) {
            return false;
        }
    }
    return true;
}

/* The drive goes by the host's table while the feature is on, and stays where
 * it is if the host has switched it off; before, it goes by its own rule. */
static void apply_table(NvmeCtrl *ctrl)
{
    SsdIdleRule rule[SSD_POWER_STATES] = {{0}};

    for (unsigned i = 0; i < SSD_POWER_STATES && ctrl->features.apst_on; i++) {
        rule[i].state = entry_state(ctrl->features.apst[i]);
        rule[i].after_ns = entry_ms(ctrl->features.apst[i]) * NS_PER_MS;
    }
    ssd_set_idle_rules(ctrl->ssd, ctrl->sub->now_ns, rule);
}

uint16_t nvme_apst_get(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                       bool current)
{
    uint64_t table[SSD_POWER_STATES] = {0};

    req->dw0 = current && ctrl->features.apst_on;
    for (unsigned i = 0; i < SSD_POWER_STATES && current; i++) {
        table[i] = nvme_le64(ctrl->features.apst[i]);
    }
    return nvme_to_host(ctrl, sqe, table, sizeof(table));
}

uint16_t nvme_apst_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint64_t table[SSD_POWER_STATES];
    uint16_t status = nvme_from_host(ctrl, sqe, table, sizeof(table));

    for (unsigned i = 0; i < SSD_POWER_STATES; i++) {
        table[i] = GUINT64_FROM_LE(table[i]);
    }
    if (!status && (sqe->dw[11] & ~1U || !entries_ok(ctrl, table))) {
        status = NVME_SC_INVALID_FIELD;
    }
    if (!status) {
        memcpy(ctrl->features.apst, table, sizeof(table));
        ctrl->features.apst_on = sqe->dw[11] & 1;
        ctrl->features.apst_set = true;
        apply_table(ctrl);
    }
    return status;
}

/* ---- Host Controlled Thermal Management --------------------------------- */

static bool limit_ok(const NvmeCtrl *ctrl, uint32_t kelvin)
{
    return !kelvin ||
           (kelvin >= LEAST_LIMIT_K && kelvin <= nvme_critical_k(ctrl));
}

bool nvme_hctm_ok(const NvmeCtrl *ctrl, uint32_t value)
{
    uint32_t limit[2] = {value >> 16, value & 0xffff};

    return limit_ok(ctrl, limit[0]) && limit_ok(ctrl, limit[1]) &&
           (!limit[0] || !limit[1] || limit[0] < limit[1]);
}

void nvme_hctm_apply(NvmeCtrl *ctrl)
{
    uint32_t value = ctrl->features.value[NVME_FEAT_HCTM];
    uint32_t limit[2] = {value >> 16, value & 0xffff};

    ssd_set_heat_limits(ctrl->ssd, ctrl->sub->now_ns, limit);
}

uint16_t nvme_hctm_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    if (!nvme_hctm_ok(ctrl, sqe->dw[11])) {
        return NVME_SC_INVALID_FIELD;
    }
    ctrl->features.value[NVME_FEAT_HCTM] = sqe->dw[11];
    nvme_hctm_apply(ctrl);
    return 0;
}

void nvme_power_reset(NvmeCtrl *ctrl)
{
    static const uint32_t none[2];

    if (ctrl->features.value[NVME_FEAT_POWER] & PS_MASK) {
        ssd_set_power_state(ctrl->ssd, ctrl->sub->now_ns, 0);
    }
    if (ctrl->features.apst_set) {
        ssd_set_idle_rules(ctrl->ssd, ctrl->sub->now_ns, NULL);
    }
    if (ctrl->features.value[NVME_FEAT_HCTM]) {
        ssd_set_heat_limits(ctrl->ssd, ctrl->sub->now_ns, none);
    }
    memset(ctrl->features.apst, 0, sizeof(ctrl->features.apst));
    ctrl->features.apst_on = false;
    ctrl->features.apst_set = false;
}
