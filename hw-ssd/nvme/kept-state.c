/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept-state.c - what the controller keeps without power, as streams of bytes
 * beside a saved drive, in the order of `parts`.
 *
 * Each stream is there only if it says more than a new controller does, so the
 * file of a drive that used none of this has the drive alone.  A stream may be
 * forged: all is checked.
 */
#include "nvme-internal.h"
#include "erase/erase-job.h"
#include "placement/fdp.h"
#include "admin/firmware.h"
#include "kept-parts.h"
#include "admin/nvme-features.h"
#include "reservation/reservation.h"
#include "admin/secondary.h"

#include "signature.h"
#include "state.h"

/* Of the subsystem or its first controller. */
#define ROW(m)                                                                 \
    {.name = #m,                                                               \
     .offset = offsetof(NvmeSubsys, m),                                        \
     .bytes = sizeof(((NvmeSubsys *)0)->m),                                    \
     .align = __alignof__(((NvmeSubsys *)0)->m),                               \
     .kind = STATE_VALUE}

static const StateRow kept_rows[] = {
    ROW(first.features.saved),
    ROW(first.features.is_saved),
    ROW(firmware_store),
};

static const StateStruct kept_struct = {
    "NvmeKept", kept_rows, G_N_ELEMENTS(kept_rows), sizeof(NvmeSubsys)};

#undef ROW

/* Has the host stored an image, or chosen another slot? */
static bool has_firmware(const NvmeCtrl *ctrl)
{
    const NvmeFirmware *f = &ctrl->sub->firmware_store;
    bool any = f->active != 1 || f->next;

    for (unsigned n = 1; n < NVME_FW_SLOTS; n++) {
        any |= f->slot[n].revision[0] != 0;
    }
    return any || f->slot[0].crc;
}

static bool has_more(const NvmeCtrl *ctrl)
{
    return ctrl->features.is_saved || has_firmware(ctrl) ||
           payload_marked_blocks(ctrl->payload);
}

static bool walk(State *s, NvmeCtrl *ctrl)
{
    return state_signature(s, KEPT_CONTROLLER,
                           "it says nothing of the controller") &&
           state_values(s, &kept_struct, ctrl->sub) &&
           payload_marks_state(ctrl->payload, s);
}

static bool save_more(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    State s;

    state_begin(&s, out, false);
    walk(&s, (NvmeCtrl *)ctrl);
    return state_end(&s, error);
}

/* The power has been off. */
static bool load_more(NvmeCtrl *ctrl, FILE *in, GError **error)
{
    State s;

    state_begin(&s, in, true);
    s.more = true;
    if (walk(&s, ctrl) &&
        (!nvme_features_saved_ok(ctrl) || !nvme_firmware_ok(ctrl))) {
        state_fail(&s, "it is damaged, or of a drive with other firmware "
                       "slots: the controller");
    }
    if (!state_end(&s, error)) {
        return false;
    }
    nvme_firmware_reset(ctrl, NVME_RESET_SUBSYSTEM);
    nvme_features_reset(ctrl);
    return true;
}

/* ---- all parts ----------------------------------------------------------- */

static bool has_namespaces(const NvmeCtrl *ctrl)
{
    return ctrl->sub->namespaces.managed || ctrl->sub->zones.n;
}

static const struct {
    const char *signature;
    bool (*has)(const NvmeCtrl *ctrl);
    bool (*save)(const NvmeCtrl *ctrl, FILE *out, GError **error);
    bool (*load)(NvmeCtrl *ctrl, FILE *in, GError **error);
} parts[] = {
    {KEPT_NAMESPACES, has_namespaces, nvme_save_namespaces,
     nvme_load_namespaces},
    /* saved features, firmware slots, the marks of Write Uncorrectable */
    {KEPT_CONTROLLER, has_more, save_more, load_more},
    {KEPT_FDP, nvme_fdp_has_state, nvme_save_fdp, nvme_load_fdp},
    {KEPT_ERASURE, nvme_has_erasure, nvme_save_erasure, nvme_load_erasure},
    {KEPT_RESERVATIONS, nvme_has_persistent_reservations,
     nvme_save_reservations, nvme_load_reservations},
    {KEPT_RESOURCES, nvme_has_primary_resources, nvme_save_primary_resources,
     nvme_load_primary_resources},
};

bool nvme_has_kept(const NvmeCtrl *ctrl)
{
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (parts[i].has(ctrl)) {
            return true;
        }
    }
    return false;
}

bool nvme_save_kept(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (parts[i].has(ctrl) && !parts[i].save(ctrl, out, error)) {
            return false;
        }
    }
    return true;
}

/* Does a stream with that signature come next? */
static bool is_next(FILE *in, const char *signature)
{
    char found[STATE_SIGNATURE_BYTES];
    long at = ftell(in);
    bool ok = at >= 0 && fread(found, sizeof(found), 1, in) == 1 &&
              !memcmp(found, signature, sizeof(found));

    return fseek(in, at, SEEK_SET) == 0 && ok;
}

static bool is_at_end(FILE *in, GError **error)
{
    char first[STATE_SIGNATURE_BYTES] = "";
    bool more = fread(first, 1, sizeof(first), in) > 0;

    if (more) {
        g_set_error_literal(error, STATE_ERROR, 0,
                            signature_is_early(first)
                                ? "it is " SIGNATURE_EARLY
                                : "it is damaged, or of another version of "
                                  "vssd: behind the drive");
    }
    return !more;
}

bool nvme_load_kept(NvmeCtrl *ctrl, FILE *in, bool *namespaces, GError **error)
{
    nvme_upkeep_wake(ctrl->sub);
    *namespaces = is_next(in, parts[0].signature);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (is_next(in, parts[i].signature) &&
            !parts[i].load(ctrl, in, error)) {
            return false;
        }
    }
    return is_at_end(in, error);
}
