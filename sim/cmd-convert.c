/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-convert.c - vssd-sim convert: a trace of vssd's own for other tools, or
 * any trace in binary. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "binary.h"
#include "command.h"
#include "convert.h"
#include "recorded.h"

#define BINARY "binary"
#define BINARY_HELP                                                            \
    "of any trace: requests in binary, which replay without parsing "          \
    "(docs/binary-format.md)"

static struct {
    char *to;
    char *format;
    char *columns;
} args;

static const GOptionEntry entries[] = {
    {"to", 0, 0, G_OPTION_ARG_STRING, &args.to, "format to write, listed below",
     "FORMAT"},
    {"format", 0, 0, G_OPTION_ARG_STRING, &args.format,
     "with --to=binary: format of FILE (default: by its content)", "NAME"},
    {"columns", 0, 0, G_OPTION_ARG_STRING, &args.columns,
     "with --to=binary: names of the columns of a csv without a header",
     "NAME,..."},
    {.long_name = NULL},
};

static const OptionTable options = {"Options", entries};

static void more(GString *out)
{
    help_names(out, "Formats of --to", convert_name, convert_help);
    g_string_append_printf(out, "  %-12s %s\n", BINARY, BINARY_HELP);
}

static bool to_binary(const char *path, GError **error)
{
    TraceOptions o = TRACE_OPTIONS_INIT;
    Trace *from;
    bool ok;

    o.columns = args.columns;
    if (args.format) {
        o.format = trace_format_find(args.format);
        if (!o.format) {
            return command_usage(error, "--format=%s: no such trace format",
                                 args.format);
        }
    }
    if (isatty(STDOUT_FILENO)) {
        return command_usage(error,
                             "--to=binary: standard output is a terminal");
    }
    from = trace_open(path, &o, error);
    if (!from) {
        return false;
    }
    ok = binary_write(from, stdout, error);
    trace_close(from);
    return ok;
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
    if (strcmp(args.to, BINARY) == 0) {
        return to_binary(words[0], error);
    }
    if (!options_absent(&options, "to", "only with --to=binary", error) ||
        !convert_find(args.to, &format, error)) {
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
    .help = "write a trace in another format, to stdout",
    .words = "FILE",
    .max_words = 1,
    .tables = {&options},
    .more = more,
    .run = run,
};
