/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-convert.c - vssd-sim convert: a trace of vssd's own for other tools, or
 * any trace in binary. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "binary.h"
#include "command.h"
#include "convert.h"
#include "recorded.h"
#include "trace-args.h"

#define BINARY "binary"
#define BINARY_HELP                                                            \
    "of any trace: requests in binary, which replay without parsing "          \
    "(docs/binary-format.md)"

#define ONLY_BINARY "only with --to=binary"

static struct {
    char *to;
    char *runtime;
} args;

static const GOptionEntry entries[] = {
    {"to", 0, 0, G_OPTION_ARG_STRING, &args.to, "format to write, listed below",
     "FORMAT"},
    {"runtime", 0, 0, G_OPTION_ARG_STRING, &args.runtime,
     "end after so long: no request that arrives later is written", "SECONDS"},
    {.long_name = NULL},
};

static const OptionTable options = {"Options", entries};

static void more(GString *out)
{
    help_names(out, "Formats of --to", convert_name, convert_help);
    g_string_append_printf(out, "  %-12s %s\n", BINARY, BINARY_HELP);
    trace_args_help(out);
}

static uint64_t device_number(const void *opaque, uint32_t space)
{
    return traces_device(opaque, space);
}

static bool write_binary(const SourceTraces *what, GError **error)
{
    Traces *from = traces_open(&what->cfg, error);
    RequestSource source;
    const char *note;
    bool ok;

    if (!from) {
        return false;
    }
    traces_n_missing(from, &note);
    trace_args_note(note);
    source = traces_source(from);
    source.runtime_ns = what->runtime_ns;
    ok = binary_write(
        &source,
        traces_has_devices(from) ? &(BinaryDevices){device_number, from} : NULL,
        stdout, error);
    traces_close(from);
    return ok;
}

static bool to_binary(char **paths, GError **error)
{
    SourceTraces what = {.iodepth = 0};

    if (!trace_args_paths(paths, error) ||
        !trace_args(paths, 0, &what, error) ||
        !trace_args_runtime(args.runtime, &what.runtime_ns, error)) {
        return false;
    }
    if (what.cfg.remap == TRACES_REMAP_MODULO) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
                    "--remap=modulo: not for convert, which knows no drive; "
                    "replay what it writes with --wrap");
        return false;
    }
    if (what.cfg.remap == TRACES_N_REMAPS && !paths[1]) {
        what.cfg.remap = TRACES_REMAP_NONE; /* the form has devices */
    }
    if (isatty(STDOUT_FILENO)) {
        return command_usage(error,
                             "--to=binary: standard output is a terminal");
    }
    return write_binary(&what, error);
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
        return to_binary(words, error);
    }
    if (!convert_find(args.to, &format, error) ||
        !options_absent(&options, "to", ONLY_BINARY, error) ||
        !options_absent(&trace_options, NULL, ONLY_BINARY, error)) {
        return false;
    }
    if (words[1]) {
        return command_usage(error, "%s: several traces " ONLY_BINARY,
                             words[1]);
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
    .words = "FILE...",
    .max_words = UINT_MAX,
    .tables = {&options, &trace_options},
    .more = more,
    .run = run,
};
