/* SPDX-License-Identifier: GPL-2.0-or-later */
/* raid-args.c - from the options of a command to an array. */
#include "raid-args.h"

#include <inttypes.h>
#include <string.h>

#include "option-number.h"
#include "request.h"
#include "simtime.h"
#include "workload.h"

#define DEFAULT_STRIPE_BYTES  65536
#define STRIPE_UNIT           4096U
#define DEFAULT_REBUILD_DEPTH 4
#define MAX_RATE              (1ULL << 50) /* bytes a second */

static struct {
    char *drives;
    char *stripe;
    char *raid;
    char *spares;
    char **fail;
    char *depth;
    char *rate;
} args;

static const GOptionEntry entries[] = {
    {"drives", 0, 0, G_OPTION_ARG_STRING, &args.drives,
     "so many of these drives side by side, as one", "N"},
    {"stripe", 0, 0, G_OPTION_ARG_STRING, &args.stripe,
     "with --drives: bytes of a chunk, before the next drive follows "
     "(default 64k)",
     "SIZE"},
    {"raid", 0, 0, G_OPTION_ARG_STRING, &args.raid,
     "with --drives: level of the array, listed below (default 0)", "LEVEL"},
    {"spares", 0, 0, G_OPTION_ARG_STRING, &args.spares,
     "further drives that replace failed ones; declustered: spare chunks of "
     "each row, within --drives (default 0)",
     "N"},
    {"fail", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args.fail,
     "this drive fails after so many seconds of the run, as in 0@2.5; may be "
     "repeated",
     "DRIVE@SECONDS"},
    {"rebuild-depth", 0, 0, G_OPTION_ARG_STRING, &args.depth,
     "rows that a rebuild works on at a time (default 4)", "N"},
    {"rebuild-rate", 0, 0, G_OPTION_ARG_STRING, &args.rate,
     "most bytes that a rebuild writes in a second (default: no limit)",
     "SIZE"},
    {.long_name = NULL},
};

const OptionTable array_options = {"Several drives", entries};

void raid_args_help(GString *out)
{
    help_names(out, "Levels of --raid", raid_level_name, raid_level_help);
}

/* ---- numbers ------------------------------------------------------------- */

static bool number(const char *option, const char *text, uint64_t least,
                   uint64_t most, uint64_t *out, GError **error)
{
    const OptionNumber d = {.option = option, .min = least, .max = most};

    return !text || option_number(&d, text, out, error);
}

/* Options that need another one. */
static bool check_present(uint64_t n, GError **error)
{
    const char *alone = args.stripe   ? "--stripe"
                        : args.raid   ? "--raid"
                        : args.spares ? "--spares"
                                      : NULL;
    const char *spared = args.fail     ? "--fail"
                         : args.depth  ? "--rebuild-depth"
                         : args.rate   ? "--rebuild-rate"
                         : args.spares ? "--spares"
                                       : NULL;
    bool redundant = args.raid && strcmp(args.raid, "0") != 0;

    if (n == 1 && alone) {
        return command_usage(error, "%s: only with --drives of 2 or more",
                             alone);
    }
    if (!redundant && spared) {
        return command_usage(error, "%s: only with --raid of 1 or more",
                             spared);
    }
    return true;
}

/* Without the drives: only the number of rows depends on them. */
static RaidLayout *layout_of(uint64_t n, uint64_t blocks, uint32_t chunk,
                             GError **error)
{
    uint64_t spares = 0;

    if (!number("spares", args.spares, 0, ARRAY_MAX_DRIVES - 1, &spares,
                error)) {
        return NULL;
    }
    return raid_layout_new(args.raid, (uint32_t)n, (uint32_t)spares, blocks,
                           chunk, error);
}

static bool given_drives(uint64_t *n, GError **error)
{
    *n = 1;
    return number("drives", args.drives, 1, ARRAY_MAX_DRIVES, n, error);
}

unsigned raid_args_drives(GError **error)
{
    g_autoptr(RaidLayout) layout = NULL;
    uint64_t n;

    if (!given_drives(&n, error) || !check_present(n, error)) {
        return 0;
    }
    if (!args.raid) {
        return (unsigned)n;
    }
    layout = layout_of(n, 1, 1, error);
    return layout ? layout->n_drives : 0;
}

/* ---- the array ----------------------------------------------------------- */

static bool chunk_bytes(const SsdInfo *info, uint64_t *out, GError **error)
{
    uint64_t most = info->nblocks * info->block_bytes;

    *out = DEFAULT_STRIPE_BYTES;
    if (args.stripe && !workload_size("--stripe", args.stripe, STRIPE_UNIT,
                                      most, out, error)) {
        return false;
    }
    if (*out % STRIPE_UNIT == 0) {
        return true;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                "--stripe=%s: allowed multiples of %u bytes", args.stripe,
                STRIPE_UNIT);
    return false;
}

/* "DRIVE@SECONDS" */
static bool fault_from(const char *text, unsigned n, RaidFault *out,
                       GError **error)
{
    const OptionNumber which = {.option = "fail",
                                .value = text,
                                .max = n - 1,
                                .unit = "for DRIVE of DRIVE@SECONDS"};
    const OptionNumber when = {.option = "fail",
                               .value = text,
                               .max = REQUEST_MOST_NS,
                               .scale = NS_PER_S,
                               .unit = "for SECONDS of DRIVE@SECONDS"};
    g_auto(GStrv) part = g_strsplit(text, "@", 2);
    uint64_t number_of;

    if (!option_number(&which, part[0] ? part[0] : "", &number_of, error) ||
        !option_number(&when, part[0] && part[1] ? part[1] : "", &out->at_ns,
                       error)) {
        return false;
    }
    out->drive = (uint32_t)number_of;
    return true;
}

static GArray *faults(unsigned n, GError **error)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(RaidFault));

    for (char **text = args.fail; text && *text; text++) {
        RaidFault fault;

        if (!fault_from(*text, n, &fault, error)) {
            return NULL;
        }
        for (unsigned i = 0; i < all->len; i++) {
            if (g_array_index(all, RaidFault, i).drive == fault.drive) {
                command_usage(error, "--fail=%s: that drive fails already",
                              *text);
                return NULL;
            }
        }
        g_array_append_val(all, fault);
    }
    return g_steal_pointer(&all);
}

static Array *redundant(Ssd *const *drive, uint64_t n, uint64_t chunk,
                        GError **error)
{
    const SsdInfo *info = ssd_info(drive[0]);
    g_autoptr(RaidLayout) layout = layout_of(
        n, info->nblocks, (uint32_t)(chunk / info->block_bytes), error);
    g_autoptr(GArray) fault = NULL;
    uint64_t depth = DEFAULT_REBUILD_DEPTH, rate = 0;
    RaidConfig cfg;

    if (!layout) {
        return NULL;
    }
    if (!number("rebuild-depth", args.depth, 1, RAID_MAX_REBUILD_DEPTH, &depth,
                error)) {
        return NULL;
    }
    if (args.rate && !workload_size("--rebuild-rate", args.rate, 1, MAX_RATE,
                                    &rate, error)) {
        return NULL;
    }
    fault = faults(layout->n_drives, error);
    if (!fault) {
        return NULL;
    }
    cfg = (RaidConfig){.rebuild_depth = (uint32_t)depth,
                       .rebuild_bytes_s = rate,
                       .fault = (const RaidFault *)(void *)fault->data,
                       .n_faults = fault->len};
    return array_new_raid(drive, g_steal_pointer(&layout), &cfg);
}

Array *raid_args_array(Ssd *const *drive, GError **error)
{
    uint64_t n, chunk;

    if (!given_drives(&n, error) ||
        !chunk_bytes(ssd_info(drive[0]), &chunk, error)) {
        return NULL;
    }
    return args.raid && strcmp(args.raid, "0") != 0
               ? redundant(drive, n, chunk, error)
               : array_new(drive, (unsigned)n, chunk);
}
