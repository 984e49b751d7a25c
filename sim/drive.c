/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.c - from options to a drive, or an array of drives.
 *
 * Knows profiles, saved states and preconditioning; knows nothing about the
 * requests that come.
 */
#include "drive.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host-rules.h"
#include "precondition.h"
#include "raid-args.h"
#include "replay.h"
#include "setup-memory.h"
#include "setup.h"
#include "simtime.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "walltime.h"
#include "workload.h"

/* Background work of the drive after the run ends within this time. */
#define MOST_REST_NS (3600 * NS_PER_S)

/* ---- options ------------------------------------------------------------- */

static struct {
    char *profile;
    char **set;
    char *seed;
    char *block;
    char *fill;
    gboolean precondition;
    char *state;
    char *save_state;
} args;

static const GOptionEntry drive_entries[] = {
    {"profile", 0, 0, G_OPTION_ARG_FILENAME, &args.profile,
     "a file, or the name of a shipped profile (a trace of vssd's own brings "
     "its drive along)",
     "PROFILE"},
    {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args.set,
     "override an option of the profile; may be repeated (vssd-sim options)",
     "KEY=VALUE"},
    {"seed", 0, 0, G_OPTION_ARG_STRING, &args.seed,
     "seed of drive and workload (default: the profile's)", "N"},
    {"block", 0, 0, G_OPTION_ARG_STRING, &args.block,
     "logical block size, 512 or 4096 (default 512)", "BYTES"},
    {.long_name = NULL},
};

static const GOptionEntry start_entries[] = {
    {"fill", 0, 0, G_OPTION_ARG_STRING, &args.fill,
     "state of the drive at the start (default preload)", "HOW"},
    {"precondition", 0, 0, G_OPTION_ARG_NONE, &args.precondition,
     "write the drive at random until GC is in its steady state, without "
     "modelled time",
     NULL},
    {"state", 0, 0, G_OPTION_ARG_FILENAME, &args.state,
     "continue with the drive saved in FILE (docs/state.md)", "FILE"},
    {"save-state", 0, 0, G_OPTION_ARG_FILENAME, &args.save_state,
     "save the drive to FILE at the end", "FILE"},
    {.long_name = NULL},
};

const OptionTable drive_options = {"Drive", drive_entries};
const OptionTable start_options = {"State of the drive", start_entries};

void drive_help_fills(GString *out)
{
    help_names(out, "Fills, before the run that is measured", player_fill_name,
               player_fill_help);
    raid_args_help(out);
}

/* ---- configuration ------------------------------------------------------- */

/* The profile, or the drive that a trace brings along. */
static bool load_config(Drive *d, const Recorded *recorded, GError **error)
{
    g_autofree char *path = NULL;

    if (!args.profile) {
        d->profile = g_strdup(recorded_profile(recorded));
        return recorded_config(recorded, d->cfg, error);
    }
    d->profile = g_strdup(args.profile);
    path = setup_find_program_profile(args.profile, VSSD_PROFILES_INSTALLED);
    return ssd_config_load(d->cfg, path, error) &&
           (!recorded ||
            ssd_config_set_block_bytes(
                d->cfg, recorded_state(recorded)->block_bytes, error));
}

static bool set_block(Drive *d, GError **error)
{
    uint64_t bytes;

    if (!args.block) {
        return true;
    }
    if (!workload_bytes(args.block, &bytes) ||
        (bytes != 512 && bytes != 4096)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--block=%s: allowed 512, 4096", args.block);
        return false;
    }
    return ssd_config_set_block_bytes(d->cfg, (uint32_t)bytes, error);
}

static bool set_seed(Drive *d, GError **error)
{
    g_autofree char *seed = NULL;

    if (args.seed) {
        g_autofree char *set = g_strconcat("seed=", args.seed, NULL);

        if (!ssd_config_set(d->cfg, set, error)) {
            return false;
        }
    }
    seed = ssd_config_get(d->cfg, "seed");
    d->seed = g_ascii_strtoull(seed, NULL, 10);
    return true;
}

static bool make_config(Drive *d, const Recorded *recorded, GError **error)
{
    if (!args.profile && !recorded) {
        return command_usage(error, "--profile is missing: which drive?");
    }
    d->cfg = ssd_config_new();
    if (!load_config(d, recorded, error)) {
        return false;
    }
    for (char **set = args.set; set && *set; set++) {
        if (!ssd_config_set(d->cfg, *set, error)) {
            return false;
        }
    }
    return set_block(d, error) && set_seed(d, error);
}

static bool find_fill(Drive *d, const Recorded *recorded, GError **error)
{
    bool made = args.state || args.precondition;
    const char *name = args.fill  ? args.fill
                       : made     ? "none"
                       : recorded ? "trace"
                                  : "preload";
    g_autoptr(GString) all = g_string_new(NULL);

    if (made && strcmp(name, "none") != 0) {
        return command_usage(error, "--fill does not go with --state and "
                                    "--precondition, which say what is on the "
                                    "drive");
    }
    for (unsigned i = 0; player_fill_name(i); i++) {
        if (strcmp(player_fill_name(i), name) == 0) {
            d->fill = i;
            return true;
        }
        g_string_append_printf(all, "%s%s", i ? ", " : "", player_fill_name(i));
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "--fill=%s: allowed %s",
                name, all->str);
    return false;
}

/* ---- drives -------------------------------------------------------------- */

/* How many; 0: *error.  Options that look into one drive are refused with
 * several. */
static unsigned n_drives(const Drive *d, const DriveUse *use, GError **error)
{
    g_autofree char *faults = ssd_config_get(d->cfg, "faults");
    const char *of_one = use->of_one                    ? use->of_one
                         : args.precondition            ? "--precondition"
                         : args.save_state              ? "--save-state"
                         : d->fill == PLAYER_FILL_TRACE ? "--fill=trace"
                         : faults && *faults            ? "faults"
                                                        : NULL;
    unsigned n = raid_args_drives(error);

    if (n > 1 && of_one) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "%s: not with --drives, it is of one drive", of_one);
        return 0;
    }
    return n;
}

/* ---- zones --------------------------------------------------------------- */

static bool has_zones(const Drive *d)
{
    g_autofree char *on = ssd_config_get(d->cfg, "zones.enabled");

    return strcmp(on, "on") == 0;
}

/* What a drive with zones cannot be asked for. */
static bool check_zones(const Drive *d, const DriveUse *use, unsigned n,
                        GError **error)
{
    g_autofree char *faults = ssd_config_get(d->cfg, "faults");
    const char *refused = use->recorded       ? "a trace of vssd's own"
                          : n > 1             ? "--drives"
                          : args.precondition ? "--precondition"
                          : faults && *faults ? "faults="
                          : d->fill == PLAYER_FILL_RANDOM ? "--fill=random"
                                                          : NULL;

    if (use->looks || !refused || !has_zones(d)) {
        return true;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                "%s: not with zones.enabled=on (docs/zones.md)", refused);
    return false;
}

/* They follow a saved drive in its file. */
static bool make_zones(Drive *d, GError **error)
{
    GError *why = NULL;
    FILE *file;

    d->zones = zoned_new(ssd_info(d->ssd[0]), &why);
    if (d->zones && args.state) {
        file = fopen(args.state, "rb");
        if (file && fseeko(file, (off_t)d->state_end, SEEK_SET) == 0) {
            zoned_load(d->zones, file, &why);
        }
        g_clear_pointer(&file, fclose);
        g_prefix_error(&why, "state file %s: ", args.state);
    }
    if (why) {
        g_propagate_error(error, why);
        return false;
    }
    return true;
}

static bool save_zones(void *opaque, FILE *out, GError **error)
{
    const Drive *d = opaque;

    return !d->zones || zoned_save(d->zones, out, error);
}

/* ---- drives and their zones ---------------------------------------------- */

static bool make_drive(Drive *d, unsigned i, const SsdHostOps *host,
                       GError **error)
{
    uint64_t *end = has_zones(d) ? &d->state_end : NULL;

    d->ssd[i] = args.state ? ssd_load_file_with(d->cfg, host, NULL, args.state,
                                                end, error)
                           : ssd_create(d->cfg, host, NULL, error);
    return d->ssd[i] != NULL;
}

static bool make_drives(Drive *d, const DriveUse *use, GError **error)
{
    const SsdHostOps *host =
        use->as_in_qemu || args.save_state ? &replay_host : NULL;
    unsigned n = n_drives(d, use, error);

    if (n == 0) {
        return false;
    }
    if (use->whole && (args.state || args.precondition)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "%s does not go with --state and --precondition: it must "
                    "tell all from the beginning",
                    use->whole);
        return false;
    }
    if (!check_zones(d, use, n, error)) {
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!make_drive(d, i, host, error)) {
            return false;
        }
    }
    if (!use->looks && !make_zones(d, error)) {
        return false;
    }
    d->array = raid_args_array(d->ssd, error);
    return d->array != NULL;
}

/* The player reads them when the run begins; errors are told before. */
static bool check_rules(const Drive *d, const DriveUse *use, GError **error)
{
    HostRules *rules;
    bool refused;

    if (!host_rules_load(&rules, d->cfg, ssd_info(d->ssd[0]), 0, error)) {
        return false;
    }
    refused = rules && use->no_rules;
    host_rules_free(rules);
    if (refused) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "%s: not with rules about commands in the file of faults=",
                    use->no_rules);
    }
    return !refused;
}

static bool check_memory(const Drive *d, const DriveUse *use, GError **error)
{
    bool fills = d->fill == PLAYER_FILL_PRELOAD || d->fill == PLAYER_FILL_SEQ ||
                 d->fill == PLAYER_FILL_RANDOM;
    const SsdInfo *info = array_info(d->array);
    g_autofree char *what = NULL;

    if (use->looks || !(fills || args.precondition)) {
        return true;
    }
    what = args.precondition
               ? g_strdup("--precondition")
               : g_strdup_printf("--fill=%s", player_fill_name(d->fill));
    return setup_memory_suffices(
        info, info->nblocks,
        d->fill == PLAYER_FILL_PRELOAD ? info->preload_bytes
                                       : info->memory_bytes,
        what, "give --fill=none, or a smaller drive with fewer nand.blocks",
        error);
}

static Drive *shared; /* see drive_share(); or NULL */

void drive_share(Drive *d)
{
    shared = d;
    args.precondition = FALSE; /* it has been */
}

static Drive *take_shared(const DriveUse *use, GError **error)
{
    const char *refused = use->of_one ? use->of_one : use->whole;

    if (refused) {
        command_usage(error, "%s: not with batch, where runs share a drive",
                      refused);
        return NULL;
    }
    return g_steal_pointer(&shared);
}

Drive *drive_open(const DriveUse *use, GError **error)
{
    Drive *d;

    if (shared) {
        return take_shared(use, error);
    }
    d = g_new0(Drive, 1);

    if (!output_claim("save-state", args.save_state, error) ||
        !make_config(d, use->recorded, error) ||
        !find_fill(d, use->recorded, error) || !make_drives(d, use, error) ||
        !check_rules(d, use, error) || !check_memory(d, use, error)) {
        g_clear_pointer(&d, drive_close);
    }
    return d;
}

void drive_close(Drive *d)
{
    if (d) {
        array_free(d->array);
        for (unsigned i = 0; i < ARRAY_MAX_DRIVES; i++) {
            g_clear_pointer(&d->ssd[i], ssd_destroy);
        }
        g_clear_pointer(&d->cfg, ssd_config_free);
        zoned_free(d->zones);
        g_free(d->profile);
        g_free(d);
    }
}

/* ---- before and after the run -------------------------------------------- */

/* One line for people, on stderr: the result is that of the run. */
static void report_precondition(const Precondition *p, uint64_t cpu)
{
    double seconds = (double)MAX(cpu, 1) / NS_PER_S;

    fprintf(stderr,
            "preconditioned: WAF %.3f after the fill and %.1f capacities at "
            "random%s; ",
            p->waf, p->capacities,
            p->converged ? "" : " (it has not ceased to change)");
    if (p->model_part > 0) {
        fprintf(stderr,
                "of a model with 1/%.0f of the units, of which the "
                "drive is copies, with %u %% of its units overwritten, in %.2f "
                "s of processor time\n",
                1 / p->model_part, p->overwritten_percent, seconds);
        return;
    }
    fprintf(
        stderr,
        "%.2f million units of the host, %.2f million NAND pages "
        "in %.2f s of processor time: %.2f million host units, %.2f million "
        "NAND units, %.2f million NAND pages per second\n",
        (double)p->host_units / 1e6, (double)p->nand_pages / 1e6, seconds,
        (double)p->host_units / 1e6 / seconds,
        (double)p->nand_units / 1e6 / seconds,
        (double)p->nand_pages / 1e6 / seconds);
}

bool policy_kept_rules(const Ssd *ssd, GError **error)
{
    g_autofree char *fault = ssd_policy_fault(ssd);

    if (fault) {
        g_clear_error(error);
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_DRIVE, fault);
    }
    return !fault;
}

bool drive_precondition(Drive *d, GError **error)
{
    uint64_t cpu = cpu_ns();
    Progress progress;
    Precondition p;
    bool ok;

    if (!args.precondition) {
        return true;
    }
    progress_begin(&progress, "preconditioning", "units");
    ok = precondition(d->ssd[0], d->seed, &p, &progress, error) &&
         policy_kept_rules(d->ssd[0], error);
    progress_end(&progress);
    if (ok) {
        report_precondition(&p, cpu_ns() - cpu);
        d->preconditioned = true;
    }
    return ok;
}

bool drive_save(Drive *d, GError **error)
{
    if (!args.save_state) {
        return true;
    }
    ssd_rest(d->ssd[0], MOST_REST_NS);
    return ssd_save_file_with(d->ssd[0], args.save_state, save_zones, d, error);
}
