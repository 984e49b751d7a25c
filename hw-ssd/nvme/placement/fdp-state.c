/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdp-state.c - Flexible Data Placement beside a saved drive: placement
 * handles, selected events and their logs.  A saved controller has them as rows
 * (nvme-state.c).
 *
 * A stream may be forged: all is checked before the controller may use it.
 */
#include "nvme-internal.h"
#include "placement/fdp.h"
#include "placement/fdp-handles.h"
#include "kept-parts.h"

#include "ssd-save.h"
#include "state.h"

bool nvme_fdp_logs_ok(const NvmeFdp *f)
{
    for (unsigned i = 0; i < NVME_FDP_LOGS; i++) {
        for (unsigned k = 0; k < NVME_FDP_EVENTS; k++) {
            uint8_t flag;

            memcpy(&flag, &f->log[i].event[k].has_handle, 1);
            if (flag > 1) {
                return false;
            }
        }
    }
    return true;
}

/* The drive's clock may have been set back. */
static void set_back(NvmeCtrl *ctrl)
{
    uint64_t by_ns = ssd_rebased_ns(ctrl->ssd);

    for (unsigned i = 0; i < NVME_MAX_RUHS; i++) {
        uint64_t *at_ns = &ctrl->sub->fdp_units->began_ns[i];

        *at_ns -= MIN(*at_ns, by_ns);
    }
}

static bool walk(State *s, NvmeCtrl *ctrl)
{
    unsigned ruhs = ctrl->sub->fdp.ruhs;

    if (!state_signature(s, KEPT_FDP, "it has no placement handles") ||
        !state_record(s, &ctrl->sub->fdp, sizeof(ctrl->sub->fdp)) ||
        !state_record(s, ctrl->sub->fdp_units, sizeof(*ctrl->sub->fdp_units))) {
        return false;
    }
    if (s->loading) {
        set_back(ctrl);
    }
    if (ctrl->sub->fdp.ruhs != ruhs || !nvme_fdp_logs_ok(&ctrl->sub->fdp) ||
        !nvme_fdp_units_ok(ctrl)) {
        return state_fail(s, "it is damaged: placement handles");
    }
    return true;
}

bool nvme_fdp_has_state(const NvmeCtrl *ctrl)
{
    uint64_t any =
        ctrl->sub->namespaces.managed || ssd_info(ctrl->ssd)->ru_limit_s;

    for (unsigned i = 0; i < NVME_FDP_LOGS; i++) {
        any |= ctrl->sub->fdp.log[i].nevents;
    }
    for (unsigned i = 0; i < NVME_MAX_RUHS; i++) {
        any |= ctrl->sub->fdp.wanted[i];
    }
    return ctrl->sub->fdp_units && (any || ctrl->sub->fdp_units->list[0].off);
}

bool nvme_save_fdp(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    State s;

    state_begin(&s, out, false);
    walk(&s, (NvmeCtrl *)ctrl);
    return state_end(&s, error);
}

bool nvme_load_fdp(NvmeCtrl *ctrl, FILE *in, GError **error)
{
    State s;

    state_begin(&s, in, true);
    s.more = true;
    if (ctrl->sub->fdp_units) {
        walk(&s, ctrl);
    } else {
        state_fail(&s, "its drive has placement handles");
    }
    if (!state_end(&s, error)) {
        nvme_fdp_init(ctrl); /* whatever it has become */
        return false;
    }
    nvme_fdp_power_on(ctrl); /* the power has been off */
    return true;
}
