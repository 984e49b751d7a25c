/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - vssd-server: options, signals, life and death.
 *
 * SIGTERM, SIGINT and quit on the control socket end it: commands in flight
 * end, the drive loses its power as when a machine is switched off, and is
 * saved to the state file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <glib-unix.h>

#include "options.h"
#include "server.h"
#include "setup.h"

static ServerOptions opt = {
    .id = (char *)"ssd0",
    .model = (char *)"vssd virtual SSD",
    .block = 512,
    .queues = 16,
    .power_return_ms = 1000,
};

static char *block; /* --block */

static const GOptionEntry entries[] = {
    {"profile", 0, 0, G_OPTION_ARG_FILENAME, &opt.profile,
     "description of the drive, a file or the name of a shipped one",
     "PROFILE"},
    {"image", 0, 0, G_OPTION_ARG_FILENAME, &opt.image,
     "raw file or block device with the data", "FILE"},
    {"socket", 0, 0, G_OPTION_ARG_FILENAME, &opt.socket,
     "where virtual machines connect", "SOCKET"},
    {"state", 0, 0, G_OPTION_ARG_FILENAME, &opt.state,
     "go on with the drive saved in FILE, and save it there at the end",
     "FILE"},
    {"qmp", 0, 0, G_OPTION_ARG_FILENAME, &opt.control,
     "where statistics, faults and power cuts are asked for", "SOCKET"},
    {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &opt.set,
     "override an option of the profile; may be repeated", "KEY=VALUE"},
    {"id", 0, 0, G_OPTION_ARG_STRING, &opt.id,
     "name of the drive at --qmp (default ssd0)", "ID"},
    {"serial", 0, 0, G_OPTION_ARG_STRING, &opt.serial,
     "serial number, 1 to 20 characters", "TEXT"},
    {"model", 0, 0, G_OPTION_ARG_STRING, &opt.model,
     "model number, 1 to 40 characters", "TEXT"},
    {"block", 0, 0, G_OPTION_ARG_STRING, &block,
     "logical block size, 512 or 4096 (default 512)", "BYTES"},
    {"queues", 0, 0, G_OPTION_ARG_INT, &opt.queues,
     "pairs of I/O queues, 1 to 64 (default 16)", "N"},
    {"power-return-ms", 0, 0, G_OPTION_ARG_INT, &opt.power_return_ms,
     "after a power cut, 0 to 3600000; 0: by a reset only (default 1000)", "N"},
    {.long_name = NULL},
};

/* ---- options ------------------------------------------------------------- */

static bool refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool refuse(GError **error, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list ap;

    va_start(ap, format);
    text = g_strdup_vprintf(format, ap);
    va_end(ap);
    g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, text);
    return false;
}

static bool has_length(const char *text, size_t most)
{
    return !text || (*text && strlen(text) <= most);
}

static bool read_block(GError **error)
{
    const OptDesc size = {.key = "", .type = OPT_SIZE, .max = UINT64_MAX};
    uint64_t bytes = (uint64_t)opt.block;

    if (block && !opt_set(&bytes, &size, block, NULL)) {
        bytes = 0;
    }
    if (bytes != 512 && bytes != 4096) {
        return refuse(error, "--block %s: allowed 512, 4096", block);
    }
    opt.block = (int)bytes;
    return true;
}

static bool check(GError **error)
{
    const struct {
        const char *name, *value;
    } needed[] = {
        {"profile", opt.profile}, {"image", opt.image}, {"socket", opt.socket}};

    for (unsigned i = 0; i < G_N_ELEMENTS(needed); i++) {
        if (!needed[i].value) {
            return refuse(error, "--%s is missing", needed[i].name);
        }
    }
    if (!read_block(error)) {
        return false;
    }
    if (opt.queues < 1 || opt.queues > MAX_QUEUES) {
        return refuse(error, "--queues %d: allowed 1..%d", opt.queues,
                      MAX_QUEUES);
    }
    if (opt.power_return_ms < 0 || opt.power_return_ms > 3600000) {
        return refuse(error, "--power-return-ms %d: allowed 0..3600000",
                      opt.power_return_ms);
    }
    if (!has_length(opt.serial, 20)) {
        return refuse(error, "--serial %s: allowed 1 to 20 characters",
                      opt.serial);
    }
    return has_length(opt.model, 40) ||
           refuse(error, "--model %s: allowed 1 to 40 characters", opt.model);
}

/* A name without a folder is a shipped profile's, unless there is a file. */
static bool find_profile(GError **error)
{
    g_autofree char *name = g_steal_pointer(&opt.profile);

    opt.profile = setup_find_program_profile(name, VSSD_PROFILES_INSTALLED);
    if (g_file_test(opt.profile, G_FILE_TEST_IS_REGULAR)) {
        return true;
    }
    return refuse(error, "--profile %s: neither a file nor a shipped profile",
                  opt.profile);
}

static bool parse(int *argc, char ***argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);

    g_option_context_set_summary(
        context, "A modelled NVMe SSD for any virtual machine that speaks "
                 "vfio-user (docs/vfio-user.md).");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, argc, argv, error)) {
        return false;
    }
    if (*argc > 1) {
        return refuse(error, "unknown argument %s (--help shows all)",
                      (*argv)[1]);
    }
    return check(error) && find_profile(error);
}

/* ---- life ---------------------------------------------------------------- */

static gboolean on_signal(gpointer opaque)
{
    g_main_loop_quit(((Server *)opaque)->loop);
    return G_SOURCE_CONTINUE;
}

static bool server_begin(Server *s, GError **error)
{
    vfio_memory_init();
    return vfio_image_open(s, error) && vfio_drive_create(s, error) &&
           vfio_serve_init(s, error) && vfio_control_init(s, error) &&
           vfio_client_init(s, error);
}

/* The drive ends while the client is still there, so that completions reach the
 * guest. */
static bool end(Server *s, GError **error)
{
    bool ok = true;

    if (s->client) {
        ok = vfio_drive_finish(s, error);
        vfio_client_free(s);
    }
    vfio_control_free(s);
    vfio_power_stop(s);
    if (s->timer_fd > 0) {
        vfio_serve_free(s);
    }
    vfio_drive_destroy(s);
    if (s->image) {
        vfio_image_close(s);
    }
    return ok;
}

static void say_ready(const Server *s)
{
    printf("vssd-server: %" G_GUINT64_FORMAT " bytes at %s\n",
           s->nvme_cfg.nblocks * s->opt->block, s->opt->socket);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    g_autofree Server *s = g_new0(Server, 1);
    g_autoptr(GError) error = NULL;
    bool ok;

    if (!parse(&argc, &argv, &error)) {
        vfio_say(error->message);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* the image has an error for it */
    filelock_warn_by(vfio_say);
    s->opt = &opt;
    s->loop = g_main_loop_new(NULL, FALSE);
    g_unix_signal_add(SIGTERM, on_signal, s);
    g_unix_signal_add(SIGINT, on_signal, s);
    ok = server_begin(s, &error);
    if (ok) {
        say_ready(s);
        g_main_loop_run(s->loop);
    }
    ok &= end(s, error ? NULL : &error);
    if (error) {
        vfio_say(error->message);
    }
    g_main_loop_unref(s->loop);
    return ok ? 0 : 1;
}
