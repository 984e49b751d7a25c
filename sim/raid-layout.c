/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid-layout.c - levels, stripes, and the spare chunks that replace failures.
 *
 * Arithmetic only: knows neither commands nor the state of drives.
 */
#include "raid-layout.h"

#include <inttypes.h>
#include <string.h>

#include "fields.h"
#include "prng.h"
#include "request.h"

/* Rows after which the permutations come again, on other drives.  With more,
 * the load of a rebuild would hardly be more even. */
#define N_PERMUTATIONS 128

#define LAYOUT_PURPOSE 0x7261696465636c75 /* of the generator */

static const struct {
    const char *name;
    const char *help;
} levels[] = {
#define RAID_LEVEL_ROW(upper, name, help) {name, help},
    RAID_LEVELS(RAID_LEVEL_ROW)
#undef RAID_LEVEL_ROW
};

const char *raid_level_name(unsigned level)
{
    return level < RAID_N_LEVELS ? levels[level].name : NULL;
}

const char *raid_level_help(unsigned level)
{
    return levels[level].help;
}

/* ---- from options to a layout -------------------------------------------- */

static bool refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool refuse(GError **error, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_WORKLOAD, text);
    return false;
}

static bool find_level(RaidLayout *l, const char *text, GError **error)
{
    size_t len = strcspn(text, ":");

    for (l->level = 0; l->level < RAID_N_LEVELS; l->level++) {
        if (strlen(levels[l->level].name) == len &&
            strncmp(text, levels[l->level].name, len) == 0 &&
            (text[len] == ':') == (l->level == RAID_LEVEL_DECLUSTERED)) {
            return true;
        }
    }
    return refuse(error, "--raid=%s: allowed 0, 1, 10, 5, 6, declustered:D+P",
                  text);
}

/* "declustered:D+P" */
static bool declustered(RaidLayout *l, const char *text, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(strchr(text, ':') + 1, "+", 0);
    uint64_t data, parity;

    if (g_strv_length(parts) != 2 ||
        !field_whole(parts[0], 1, RAID_MAX_DRIVES - 1, &data) ||
        !field_whole(parts[1], 1, 2, &parity)) {
        return refuse(error,
                      "--raid=%s: allowed declustered:D+P with D of 1..%d and "
                      "P of 1 or 2",
                      text, RAID_MAX_DRIVES - 1);
    }
    l->n_data = (uint32_t)data;
    l->width = (uint32_t)(data + parity);
    if (l->n_drives <= l->n_spares ||
        (l->n_drives - l->n_spares) % l->width != 0) {
        return refuse(
            error,
            "--drives=%u: --raid=%s with --spares=%u needs a multiple "
            "of %u, plus %u",
            l->n_drives, text, l->n_spares, l->width, l->n_spares);
    }
    l->n_groups = (l->n_drives - l->n_spares) / l->width;
    return true;
}

/* The other levels: n_drives is without hot spares so far. */
static bool plain(RaidLayout *l, const char *text, GError **error)
{
    static const uint32_t least[] = {2, 2, 2, 3, 4};
    uint32_t n = l->n_drives;

    if (n < least[l->level] || (l->level == RAID_LEVEL_10 && n % 2)) {
        return refuse(error, "--drives=%u: --raid=%s needs %u or more%s", n,
                      text, least[l->level],
                      l->level == RAID_LEVEL_10 ? ", an even number" : "");
    }
    l->width = n;
    l->n_groups = 1;
    switch (l->level) {
    case RAID_LEVEL_0:
        l->n_data = n;
        break;
    case RAID_LEVEL_1:
        l->n_data = 1;
        break;
    case RAID_LEVEL_10:
        l->n_data = 1;
        l->width = 2;
        l->n_groups = n / 2;
        break;
    default:
        l->n_data = n - (l->level == RAID_LEVEL_5 ? 1 : 2);
        break;
    }
    l->n_drives = n + l->n_spares;
    return true;
}

static void permute(RaidLayout *l)
{
    uint32_t n = l->n_drives;
    Prng prng;

    prng_seed(&prng, n, LAYOUT_PURPOSE);
    l->permutation = g_new(uint8_t, (size_t)N_PERMUTATIONS *n);
    for (unsigned k = 0; k < N_PERMUTATIONS; k++) {
        uint8_t *p = l->permutation + (size_t)k * n;

        for (uint32_t i = 0; i < n; i++) { /* Fisher and Yates, inside out */
            uint32_t j = (uint32_t)prng_below(&prng, i + 1);

            p[i] = p[j];
            p[j] = (uint8_t)i;
        }
    }
}

static bool shape(RaidLayout *l, const char *text, GError **error)
{
    bool ok = find_level(l, text, error) &&
              (l->level == RAID_LEVEL_DECLUSTERED ? declustered(l, text, error)
                                                  : plain(l, text, error));

    if (!ok) {
        return false;
    }
    if (l->n_drives > RAID_MAX_DRIVES) {
        return refuse(error,
                      "--drives=%u, --spares=%u: allowed %d drives in all",
                      l->n_drives - l->n_spares, l->n_spares, RAID_MAX_DRIVES);
    }
    if (l->n_spares > 0 && l->n_data == l->width) {
        return refuse(error,
                      "--spares=%u: --raid=%s has no redundancy to "
                      "rebuild from",
                      l->n_spares, text);
    }
    return true;
}

RaidLayout *raid_layout_new(const char *text, uint32_t n_drives,
                            uint32_t n_spares, uint64_t drive_blocks,
                            uint32_t chunk_blocks, GError **error)
{
    g_autoptr(RaidLayout) l = g_new0(RaidLayout, 1);

    l->n_drives = n_drives;
    l->n_spares = n_spares;
    l->chunk_blocks = chunk_blocks;
    if (!shape(l, text, error)) {
        return NULL;
    }
    l->copies = l->n_data == 1;
    l->n_rows = drive_blocks / chunk_blocks;
    g_assert(l->n_rows > 0);
    if (l->level == RAID_LEVEL_DECLUSTERED) {
        permute(l);
    }
    return g_steal_pointer(&l);
}

void raid_layout_free(RaidLayout *l)
{
    if (l) {
        g_free(l->permutation);
        g_free(l);
    }
}

uint64_t raid_layout_blocks(const RaidLayout *l)
{
    return l->n_rows * l->n_groups * l->n_data * l->chunk_blocks;
}

/* ---- places -------------------------------------------------------------- */

/*
 * The place of a role in its stripe.  Left-symmetric: the last parity chunk
 * moves one place back with each row, data follows the parity, around the end
 * (Lee and Katz, "Performance Consequences of Parity Placement in Disk Arrays",
 * ASPLOS 1991; Linux's md calls it so, too).
 */
static uint32_t rotated(const RaidLayout *l, uint64_t row, uint32_t role)
{
    uint32_t first = l->width - 1 - (uint32_t)(row % l->width);
    uint32_t after =
        role < l->n_data ? raid_layout_parities(l) + role : role - l->n_data;

    return (first + after) % l->width;
}

uint32_t raid_layout_home(const RaidLayout *l, uint64_t row, uint32_t group,
                          uint32_t role)
{
    uint32_t place;

    if (role >= l->width) {
        place = l->n_groups * l->width + role - l->width;
    } else {
        place =
            group * l->width +
            (l->copies || l->n_data == l->width ? role : rotated(l, row, role));
    }
    if (!l->permutation) {
        return place;
    }
    return (
        uint32_t)((l->permutation[row % N_PERMUTATIONS * l->n_drives + place] +
                   row / N_PERMUTATIONS) %
                  l->n_drives);
}

/* Has the drive failed by the n-th failure? */
static bool has_failed(const RaidFailure *failure, uint32_t n, uint32_t drive)
{
    for (uint32_t i = 0; i < n; i++) {
        if (failure[i].drive == drive) {
            return true;
        }
    }
    return false;
}

/*
 * Each failure takes the next spare chunk of the row, if the failed drive had a
 * chunk there; spare chunks on drives that have failed by then are passed over.
 * Where the i-th failure's chunk goes, or RAID_NO_DRIVE; *used counts spare
 * chunks.
 */
static uint32_t next_spare(const RaidLayout *l, const RaidFailure *failure,
                           uint32_t i, uint64_t row, uint32_t *used)
{
    while (*used < l->n_spares) {
        uint32_t drive = raid_layout_home(l, row, 0, l->width + (*used)++);

        if (!has_failed(failure, i + 1, drive)) {
            return drive;
        }
    }
    return RAID_NO_DRIVE;
}

/* Does a drive hold a chunk of the row that is in use: one of its own, or one
 * that an earlier failure moved there? */
static bool in_use(const RaidLayout *l, uint64_t row, const uint32_t *moved,
                   uint32_t n_moved, uint32_t drive)
{
    for (uint32_t i = 0; i < n_moved; i++) {
        if (moved[i] == drive) {
            return true;
        }
    }
    for (uint32_t s = 0; s < l->n_spares; s++) {
        if (raid_layout_home(l, row, 0, l->width + s) == drive) {
            return false;
        }
    }
    return true;
}

uint32_t raid_layout_place(const RaidLayout *l, const RaidFailure *failure,
                           uint32_t n, uint64_t row, uint32_t group,
                           uint32_t role)
{
    uint32_t drive = raid_layout_home(l, row, group, role);
    uint32_t moved[RAID_MAX_DRIVES];
    uint32_t used = 0, n_moved = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t to;

        if (!in_use(l, row, moved, n_moved, failure[i].drive)) {
            continue; /* a spare chunk that nothing has moved to */
        }
        to = next_spare(l, failure, i, row, &used);
        if (to != RAID_NO_DRIVE) {
            moved[n_moved++] = to;
        }
        if (drive != failure[i].drive) {
            continue;
        }
        if (to == RAID_NO_DRIVE || row >= failure[i].n_rebuilt) {
            return RAID_NO_DRIVE;
        }
        drive = to;
    }
    return drive;
}
