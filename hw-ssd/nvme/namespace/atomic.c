/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * atomic.c - atomic writes (Base 2.0, Identify Controller: AWUN, AWUPF; NVM
 * Command Set 1.0, 2.1.4 Atomic Operation, and Identify Namespace: NAWUN to
 * NABSPF).
 *
 * Knows the values, and which of them the drive keeps through a power cut.  A
 * mapping unit is whole by itself; more is only with SsdInfo.atomic_bytes.
 * Values below a mapping unit describe a drive that tears units
 * (payload/tears.c).
 *
 * To other commands a Write is atomic, whatever its size: its steps begin
 * together (queue/steps.c), so its data is in the overlay at one instant; and a
 * Read takes what is there at one instant (payload/payload.c).
 */
#include "nvme-internal.h"
#include "namespace/atomic.h"
#include "namespace/namespace.h"

#include <inttypes.h>

#include "options.h"

#define MOST_BLOCKS 65536

/* ---- choosing the values ------------------------------------------------- */

/* NvmeConfig.atomic has each value + 1; a boundary of 0 is none. */
static uint32_t given_blocks(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

static uint32_t given_boundary(uint32_t value, uint32_t otherwise)
{
    return value == 0 ? otherwise : value == 1 ? 0 : value;
}

static uint32_t power_of_two_below(uint64_t n)
{
    return 1U << (g_bit_nth_msf(n, -1));
}

/*
 * Blocks that the drive keeps whole wherever they are; and within which
 * boundary, 0: none.  Where the host manages namespaces, a write that crosses
 * granules is two writes to the drive.
 */
static uint32_t kept_whole(const NvmeCtrl *ctrl, uint32_t *boundary)
{
    uint64_t most = ssd_info(ctrl->ssd)->atomic_bytes / ctrl->block_bytes;
    const NvmeNamespaces *all = &ctrl->sub->namespaces;

    most = MIN(most, MOST_BLOCKS);
    if (all->managed) {
        most = power_of_two_below(MIN(most, all->granule_blocks));
    }
    *boundary = all->managed || most <= ctrl->unit_blocks ? (uint32_t)most : 0;
    return (uint32_t)most;
}

/* Are there places in the drive for all pieces of such a write? */
static bool begins_together(const NvmeCtrl *ctrl, uint32_t nblocks)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;

    return !all->managed ||
           nblocks <= (uint64_t)all->granule_blocks * (ctrl->sub->slots.n - 1);
}

static void choose(NvmeCtrl *ctrl)
{
    const NvmeAtomic *given = &ctrl->cfg.atomic;
    NvmeAtomicBlocks *a = &ctrl->sub->atomic;
    uint32_t boundary;
    uint32_t whole = kept_whole(ctrl, &boundary);

    a->awupf = given_blocks(given->awupf, boundary ? 1 : whole);
    a->awun = given_blocks(given->awun, MAX(ctrl->unit_blocks, a->awupf));
    a->nawupf = given_blocks(given->nawupf, MAX(whole, a->awupf));
    a->nawun = given_blocks(given->nawun, MAX(a->awun, a->nawupf));
    a->nabspf = given_boundary(given->nabspf, a->nawupf > whole ? 0 : boundary);
    a->nabsn = given_boundary(
        given->nabsn, begins_together(ctrl, a->nawun) ? 0 : ctrl->unit_blocks);
    a->nabo = given->nabo ? given->nabo - 1 : 0;
}

/* ---- checking them ------------------------------------------------------- */

#define refuse(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

/* The field of a number of blocks. */
static uint32_t field(uint32_t nblocks)
{
    return nblocks ? nblocks - 1 : 0;
}

static bool at_least(const char *name, uint32_t value, const char *other,
                     uint32_t least, GError **error)
{
    return value >= least ||
           refuse(error, "atomic.%s=%u: must not be less than atomic.%s=%u",
                  name, field(value), other, field(least));
}

static bool check_order(const NvmeAtomicBlocks *a, GError **error)
{
    uint32_t least = MIN(a->nabsn ? a->nabsn : MOST_BLOCKS,
                         a->nabspf ? a->nabspf : MOST_BLOCKS);

    if (!at_least("awun", a->awun, "awupf", a->awupf, error) ||
        !at_least("nawun", a->nawun, "awun", a->awun, error) ||
        !at_least("nawupf", a->nawupf, "awupf", a->awupf, error) ||
        !at_least("nawun", a->nawun, "nawupf", a->nawupf, error) ||
        (a->nabsn && !at_least("nabsn", a->nabsn, "nawun", a->nawun, error)) ||
        (a->nabspf &&
         !at_least("nabspf", a->nabspf, "nawupf", a->nawupf, error))) {
        return false;
    }
    if (a->nabo && (a->nabo >= least || !(a->nabsn || a->nabspf))) {
        return refuse(error,
                      "atomic.nabo=%u: allowed up to atomic.nabsn and "
                      "atomic.nabspf, and 0 without them",
                      a->nabo);
    }
    return true;
}

static bool check_range(const NvmeAtomic *given, GError **error)
{
    const struct {
        const char *name;
        uint32_t value;
    } all[] = {
        {"awun", given->awun},   {"awupf", given->awupf},
        {"nawun", given->nawun}, {"nawupf", given->nawupf},
        {"nabsn", given->nabsn}, {"nabspf", given->nabspf},
        {"nabo", given->nabo},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
        if (all[i].value > MOST_BLOCKS) {
            return opt_fail(error, OPT_ERROR_VALUE,
                            "atomic.%s=%u: allowed 0..%u", all[i].name,
                            all[i].value - 1, MOST_BLOCKS - 1);
        }
    }
    return true;
}

/* Do the boundaries, from nabo on, include those of a grid? */
static bool bound_within(const NvmeAtomicBlocks *a, uint32_t grid)
{
    return a->nabspf && grid % a->nabspf == 0 && a->nabo % a->nabspf == 0;
}

/* Are `most` blocks kept whole, wherever they are (bounded: within NABSPF)? */
static bool keeps(const NvmeCtrl *ctrl, uint32_t most, bool bounded)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;
    const NvmeAtomicBlocks *a = &ctrl->sub->atomic;
    uint64_t whole = ssd_info(ctrl->ssd)->atomic_bytes / ctrl->block_bytes;

    return most == 1 || (bounded && bound_within(a, ctrl->unit_blocks)) ||
           (whole > ctrl->unit_blocks && most <= whole &&
            (!all->managed ||
             (bounded && bound_within(a, all->granule_blocks))));
}

static bool check_kept(const NvmeCtrl *ctrl, const char *name, uint32_t most,
                       bool bounded, GError **error)
{
    uint64_t whole = ssd_info(ctrl->ssd)->atomic_bytes / ctrl->block_bytes;

    return keeps(ctrl, most, bounded) ||
           refuse(error,
                  "atomic.%s=%u: a power cut leaves whole: a block (0), a "
                  "mapping unit (%u) within atomic.nabspf, and up to "
                  "buffer.atomic=%" PRIu64 " bytes",
                  name, field(most), ctrl->unit_blocks - 1,
                  whole > ctrl->unit_blocks ? whole * ctrl->block_bytes : 0);
}

static bool check_beside(const NvmeCtrl *ctrl, GError **error)
{
    const NvmeAtomicBlocks *a = &ctrl->sub->atomic;
    uint32_t granule = ctrl->sub->namespaces.granule_blocks;

    return begins_together(ctrl, a->nawun) ||
           (a->nabsn && granule % a->nabsn == 0 && a->nabo % a->nabsn == 0) ||
           refuse(error,
                  "atomic.nawun=%u: may be in more pieces of the drive than "
                  "host.queue_depth=%u takes: give it more, or atomic.nabsn "
                  "that divides %u blocks",
                  field(a->nawun), ctrl->sub->slots.n, granule);
}

bool nvme_atomic_init(NvmeCtrl *ctrl, GError **error)
{
    const NvmeAtomicBlocks *a = &ctrl->sub->atomic;

    if (!check_range(&ctrl->cfg.atomic, error)) {
        return false;
    }
    choose(ctrl);
    if (!check_order(a, error) || !check_beside(ctrl, error) ||
        !check_kept(ctrl, "awupf", a->awupf, false, error) ||
        !check_kept(ctrl, "nawupf", a->nawupf, true, error)) {
        return false;
    }
    payload_set_tears(ctrl->payload, ctrl->cfg.fault_seed);
    return true;
}

/* ---- of a namespace ------------------------------------------------------ */

/* A block of the namespace is whole in any case. */
static uint32_t in_blocks_of(const NvmeNamespace *ns, uint32_t nblocks)
{
    return nblocks ? MAX(nblocks >> ns->drive_shift, 1) : 0;
}

NvmeAtomicBlocks nvme_atomic_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    const NvmeAtomicBlocks *a = &ctrl->sub->atomic;

    return (NvmeAtomicBlocks){
        .awun = in_blocks_of(ns, a->awun),
        .awupf = in_blocks_of(ns, a->awupf),
        .nawun = in_blocks_of(ns, a->nawun),
        .nawupf = in_blocks_of(ns, a->nawupf),
        .nabsn = in_blocks_of(ns, a->nabsn),
        .nabspf = in_blocks_of(ns, a->nabspf),
        .nabo = a->nabo >> ns->drive_shift,
    };
}

/* Number of the piece between two boundaries; the first may be short. */
static uint64_t piece_of(const NvmeAtomicBlocks *a, uint64_t block)
{
    return (block + a->nabspf - a->nabo) / a->nabspf;
}

bool nvme_atomic_is_whole(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                          uint64_t first, uint64_t nblocks)
{
    const NvmeAtomicBlocks *a = &ctrl->sub->atomic;
    uint64_t last = first + nblocks - 1;

    return nblocks <= MAX(a->awupf, 1U << ns->drive_shift) ||
           (nblocks <= a->nawupf &&
            (!a->nabspf || piece_of(a, first) == piece_of(a, last)));
}
