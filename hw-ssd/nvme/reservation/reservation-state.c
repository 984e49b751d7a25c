/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reservation-state.c - reservations that persist without power (PTPL), as a
 * stream of bytes beside a saved drive, and back.
 *
 * A stream may be forged: all is checked before the controller may use it.
 */
#include "nvme-internal.h"
#include "kept-parts.h"
#include "reservation/reservation.h"

#include "state.h"

bool nvme_has_persistent_reservations(const NvmeCtrl *ctrl)
{
    const NvmeSubsys *sub = ctrl->sub;

    for (uint32_t i = 0; sub->reservations && i < NVME_MAX_NAMESPACES; i++) {
        if (sub->reservations[i].ptpl) {
            return true;
        }
    }
    return false;
}

/* One record for each namespace that there could be. */
static bool walk(State *s, NvmeReservation *all)
{
    if (!state_signature(s, KEPT_RESERVATIONS,
                         "it says nothing of reservations")) {
        return false;
    }
    for (uint32_t i = 0; i < NVME_MAX_NAMESPACES; i++) {
        if (!state_record(s, &all[i], sizeof(all[i]))) {
            return false;
        }
    }
    return true;
}

bool nvme_save_reservations(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    static const NvmeReservation none;
    g_autofree NvmeReservation *all =
        g_memdup2(ctrl->sub->reservations, NVME_MAX_NAMESPACES * sizeof(none));
    State s;

    for (uint32_t i = 0; i < NVME_MAX_NAMESPACES; i++) {
        all[i] = all[i].ptpl ? all[i] : none;
    }
    state_begin(&s, out, false);
    walk(&s, all);
    return state_end(&s, error);
}

bool nvme_load_reservations(NvmeCtrl *ctrl, FILE *in, GError **error)
{
    NvmeSubsys *sub = ctrl->sub;
    State s;

    if (!sub->reservations) {
        g_set_error_literal(error, STATE_ERROR, 0,
                            "its drive has reservations: give controllers=2 "
                            "or more");
        return false;
    }
    state_begin(&s, in, true);
    s.more = true;
    if (walk(&s, sub->reservations) && !nvme_reservations_ok(ctrl)) {
        state_fail(&s, "it is damaged: the reservations");
    }
    if (!state_end(&s, error)) {
        memset(sub->reservations, 0,
               NVME_MAX_NAMESPACES * sizeof(*sub->reservations));
        nvme_reservations_loaded(sub);
        return false;
    }
    nvme_reservations_loaded(sub);
    return true;
}
