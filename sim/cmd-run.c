/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-run.c - vssd-sim run: generate requests and play them. */
#include "command.h"
#include "drive.h"
#include "job.h"
#include "play.h"
#include "raid-args.h"
#include "workload.h"

#define NOTHING_PLAYED "only with --workload or --job"

static struct {
    char *workload;
    char *job;
    char *section;
    char *save;
} args;

static const GOptionEntry entries[] = {
    {"workload", 0, 0, G_OPTION_ARG_STRING, &args.workload,
     "keywords, listed below; @FILE: from a file, as --save writes",
     "'rw=... ...'"},
    {"job", 0, 0, G_OPTION_ARG_FILENAME, &args.job,
     "instead: a job of a fio job file", "FILE"},
    {"section", 0, 0, G_OPTION_ARG_STRING, &args.section,
     "which job of the file, if it has several", "NAME"},
    {"save", 0, 0, G_OPTION_ARG_FILENAME, &args.save,
     "write all keywords, with the seed, to FILE for --workload @FILE", "FILE"},
    {.long_name = NULL},
};

static const OptionTable options = {"Requests", entries};

static void more(GString *out)
{
    g_string_append(out, "\nKeywords of --workload, as in fio (sizes: 4k, 64m; "
                         "addresses may repeat):\n");
    help_keywords(out, workload_options, workload_n_options);
    g_string_append(out, "\nWorkloads of preset:\n");
    for (unsigned i = 0; preset_name(i); i++) {
        g_string_append_printf(out, "  %-12s %s\n", preset_name(i),
                               presets[i].help);
    }
    if (!play_describes()) {
        drive_help_fills(out);
    }
}

static bool check_args(GError **error)
{
    if (args.workload && args.job) {
        return command_usage(error, "give one of --workload or --job");
    }
    if (args.section && !args.job) {
        return command_usage(error, "--section: only with --job");
    }
    if (args.workload || args.job) {
        return output_claim("save", args.save, error);
    }
    if (!option_given(&start_options, "save-state")) {
        return command_usage(error, "give --workload or --job, or only "
                                    "--save-state");
    }
    return options_absent(&options, NULL, NOTHING_PLAYED, error) &&
           options_absent(&result_options, NULL, NOTHING_PLAYED, error) &&
           options_absent(&play_options, NULL, NOTHING_PLAYED, error) &&
           options_absent(&wait_options, NULL, NOTHING_PLAYED, error) &&
           options_absent(&start_options, "precondition,state,save-state",
                          NOTHING_PLAYED, error);
}

static Source *open_source(const Drive *drive, GError **error)
{
    SourceDrive of = source_drive(drive->array, drive->seed);
    char *keywords = args.job ? job_keywords(args.job, args.section, error)
                              : workload_text(args.workload, error);

    return keywords ? source_generate(keywords, &of, error) : NULL;
}

static bool run(char **words, GError **error)
{
    DriveUse use = {.recorded = NULL};
    g_autoptr(Drive) drive = NULL;
    g_autoptr(Source) source = NULL;

    if (!check_args(error) || !play_check(&use, error)) {
        return false;
    }
    drive = drive_open(&use, error);
    if (!drive) {
        return false;
    }
    if (!args.workload && !args.job) {
        return drive_precondition(drive, error) && drive_save(drive, error);
    }
    source = open_source(drive, error);
    return source && (!args.save || source_save(source, args.save, error)) &&
           play(&(Play){.drive = drive, .source = source}, error);
}

const Command cmd_run = {
    .name = "run",
    .help = "play generated requests on a drive",
    .tables = {&options, &drive_options, &array_options, &start_options,
               &wait_options, &result_options, &play_options},
    .shown = play_shown,
    .more = more,
    .run = run,
};
