/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept-state.c - what the controller keeps without power, as streams of bytes
 * beside a saved drive: its namespaces, if the host manages them (ns-state.c);
 * then saved features, firmware slots, and the marks of Write Uncorrectable.
 *
 * Each stream is there only if it says more than a new controller does, so the
 * file of a drive that used none of this has the drive alone.  A stream may be
 * forged: all is checked.
 */
#include "nvme-internal.h"
#include "firmware.h"
#include "nvme-features.h"

#include "state.h"

#define MAGIC_KEPT       "VSSDKEPT"
#define MAGIC_NAMESPACES "VSSDNS\0\0"

#define ROW(m) {STATE_MEMBER(NvmeCtrl, m), .kind = STATE_VALUE}

static const StateRow kept_rows[] = {
    ROW(features.saved),
    ROW(features.is_saved),
    ROW(firmware_store),
};

static const StateStruct kept_struct = {
    "NvmeKept", kept_rows, G_N_ELEMENTS(kept_rows), sizeof(NvmeCtrl)};

#undef ROW

/* Has the host stored an image, or chosen another slot? */
static bool has_firmware(const NvmeCtrl *ctrl)
{
    const NvmeFirmware *f = &ctrl->firmware_store;
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
    char magic[8];

    memcpy(magic, MAGIC_KEPT, sizeof(magic));
    return state_bytes(s, magic, sizeof(magic)) && state_version(s) &&
           state_values(s, &kept_struct, ctrl) &&
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

bool nvme_has_kept(const NvmeCtrl *ctrl)
{
    return ctrl->namespaces.managed || has_more(ctrl);
}

bool nvme_save_kept(const NvmeCtrl *ctrl, FILE *out, GError **error)
{
    return (!ctrl->namespaces.managed ||
            nvme_save_namespaces(ctrl, out, error)) &&
           (!has_more(ctrl) || save_more(ctrl, out, error));
}

/* Does a stream with that mark come next? */
static bool is_next(FILE *in, const char *want)
{
    char magic[8];
    long at = ftell(in);
    bool ok = at >= 0 && fread(magic, sizeof(magic), 1, in) == 1 &&
              !memcmp(magic, want, sizeof(magic));

    return fseek(in, at, SEEK_SET) == 0 && ok;
}

static bool has_rest(FILE *in)
{
    int c = fgetc(in);

    return c != EOF && ungetc(c, in) != EOF;
}

bool nvme_load_kept(NvmeCtrl *ctrl, FILE *in, bool *namespaces, GError **error)
{
    *namespaces = false;
    if (is_next(in, MAGIC_NAMESPACES)) {
        *namespaces = true;
        if (!nvme_load_namespaces(ctrl, in, error)) {
            return false;
        }
    }
    if (is_next(in, MAGIC_KEPT)) {
        return load_more(ctrl, in, error);
    }
    if (has_rest(in)) {
        g_set_error_literal(error, STATE_ERROR, 0,
                            "it is damaged, or of another version of vssd: "
                            "behind the drive");
        return false;
    }
    return true;
}
