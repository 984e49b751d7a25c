/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-fit.c - vssd-sim fit: requests with the attributes of a trace. */
#include <limits.h>

#include "command.h"
#include "drive.h"
#include "fit.h"
#include "play.h"
#include "raid-args.h"

static struct {
    char *save;
} args;

static const GOptionEntry entries[] = {
    {"save", 0, 0, G_OPTION_ARG_FILENAME, &args.save,
     "write the keywords, with the seed, to FILE for vssd-sim run --workload "
     "@FILE",
     "FILE"},
    {.long_name = NULL},
};

static const OptionTable options = {"Requests", entries};

static void more(GString *out)
{
    g_string_append(out, "\nAttributes:\n");
    help_keywords(out, fit_options, fit_n_options);
    if (!play_describes()) {
        drive_help_fills(out);
    }
}

static bool run(char **words, GError **error)
{
    g_autofree char *attributes = g_strjoinv(" ", words);
    DriveUse use = {.recorded = NULL};
    g_autoptr(Drive) drive = NULL;
    g_autoptr(Source) source = NULL;
    SourceDrive of;

    if (!words[0]) {
        return command_usage(error, "which attributes? read_gb=... and others");
    }
    if (!output_claim("save", args.save, error) || !play_check(&use, error)) {
        return false;
    }
    drive = drive_open(&use, error);
    if (!drive) {
        return false;
    }
    of = source_drive(drive->array, drive->seed);
    source = source_fit(attributes, &of, error);
    return source && (!args.save || source_save(source, args.save, error)) &&
           play(&(Play){.drive = drive, .source = source}, error);
}

const Command cmd_fit = {
    .name = "fit",
    .help = "play requests that have the attributes of a trace",
    .words = "ATTRIBUTE=VALUE...",
    .max_words = UINT_MAX,
    .tables = {&options, &drive_options, &array_options, &start_options,
               &wait_options, &result_options, &play_options},
    .shown = play_shown,
    .more = more,
    .run = run,
};
