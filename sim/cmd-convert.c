/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-convert.c - vssd-sim convert: a trace of vssd's own for other tools. */
#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "convert.h"
#include "recorded.h"

static struct {
    char *to;
} args;

static const GOptionEntry entries[] = {
    {"to", 0, 0, G_OPTION_ARG_STRING, &args.to, "format to write, listed below",
     "FORMAT"},
    {.long_name = NULL},
};

static const OptionTable options = {"Options", entries};

static void more(GString *out)
{
    help_names(out, "Formats of --to", convert_name, convert_help);
}

static bool run(char **words, GError **error)
{
    g_autoptr(Recorded) from = NULL;
    ConvertFormat format;
    uint64_t n_left_out;

    if (!words[0]) {
        return command_usage(error, "which trace? FILE is missing");
    }
    if (!args.to) {
        return command_usage(error, "--to is missing: which format?");
    }
    if (!convert_find(args.to, &format, error)) {
        return false;
    }
    from = recorded_open(words[0], error);
    if (!from || !convert(from, format, stdout, &n_left_out, error)) {
        return false;
    }
    if (n_left_out) {
        fprintf(stderr,
                "vssd-sim: %" PRIu64 " commands left out: %s has only reads "
                "and writes\n",
                n_left_out, args.to);
    }
    return true;
}

const Command cmd_convert = {
    .name = "convert",
    .help = "write a trace of vssd's own in another format, to stdout",
    .words = "FILE",
    .max_words = 1,
    .tables = {&options},
    .more = more,
    .run = run,
};
