/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * erase-state.c - a format or a sanitize operation in progress, and the result
 * of the last one, as a stream of bytes beside a saved drive.
 *
 * A stream may be forged: all is checked before the controller may use it.
 */
#include "nvme-internal.h"
#include "erase/erase-job.h"
#include "kept-parts.h"
#include "erase/sanitize.h"
#include "state.h"

bool nvme_has_erasure(const NvmeCtrl *ctrl)
{
    return nvme_erase_is_on(ctrl) ||
           ctrl->sub->sanitize.status != NVME_SANITIZE_NEVER;
}

static bool walk(State *s, NvmeCtrl *ctrl)
{
    return state_signature(s, KEPT_ERASURE,
                           "it says nothing of a sanitize operation") &&
           state_record(s, &ctrl->sub->erase, sizeof(ctrl->sub->erase)) &&
           state_record(s, &ctrl->sub->sanitize, sizeof(ctrl->sub->sanitize));
}

bool nvme_save_erasure(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    State s;

    state_begin(&s, out, false);
    walk(&s, (NvmeCtrl *)ctrl);
    return state_end(&s, error);
}

bool nvme_load_erasure(NvmeCtrl *ctrl, FILE *in, GError **error)
{
    State s;

    state_begin(&s, in, true);
    s.more = true;
    if (walk(&s, ctrl) && (!nvme_erase_ok(ctrl) || !nvme_sanitize_ok(ctrl))) {
        state_fail(&s, "it is damaged: the sanitize operation");
    }
    if (!state_end(&s, error)) {
        ctrl->sub->erase = (NvmeEraseJob){.phase = NVME_ERASE_NONE};
        ctrl->sub->sanitize = (NvmeSanitize){.status = NVME_SANITIZE_NEVER};
        return false;
    }
    nvme_erase_power_on(ctrl); /* the power has been off */
    return true;
}
