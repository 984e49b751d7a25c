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

static ServerOptions opt = {.id = (char *)"ssd0", .block = 512};

static char *block; /* --logical_block_size */

/* Of the process; those of the drive follow (nvme-options.h). */
static const GOptionEntry own_entries[] = {
    {"profile", 0, 0, G_OPTION_ARG_FILENAME, &opt.profile,
     "description of the drive, a file or the name of a shipped one",
     "PROFILE"},
    {"image", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.images,
     "raw file or block device with the data; repeated: one for each "
     "namespace, up to 8",
     "FILE"},
    {"socket", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.sockets,
     "where virtual machines connect; repeated: a controller each, up to 32",
     "SOCKET"},
    {"qmp", 0, 0, G_OPTION_ARG_FILENAME, &opt.control,
     "where statistics, faults and power cuts are asked for", "SOCKET"},
    {"pmr", 0, 0, G_OPTION_ARG_FILENAME, &opt.pmr,
     "file of the persistent memory region, 64K to 1T, a power of two", "FILE"},
    {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &opt.set,
     "override an option of the profile; may be repeated", "KEY=VALUE"},
    {"id", 0, 0, G_OPTION_ARG_STRING, &opt.id,
     "name of the drive at --qmp (default ssd0)", "ID"},
    {"logical_block_size", 0, 0, G_OPTION_ARG_STRING, &block,
     "logical block size, 512 or 4096 (default 512)", "BYTES"},
};

/* ---- options of the drive ------------------------------------------------ */

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

/* name: as on the command line, with its dashes. */
static gboolean set_drive_option(const char *name, const char *value,
                                 gpointer unused, GError **error)
{
    const OptDesc *d = opt_find(nvme_options, nvme_n_options, name + 2);
    g_autofree char *number = NULL;
    uint64_t n;

    /* QEMU takes an identifier in hexadecimal, too. */
    if (d->type == OPT_U64 && g_str_has_prefix(value, "0x") &&
        g_ascii_string_to_unsigned(value + 2, 16, 0, UINT64_MAX, &n, NULL)) {
        value = number = g_strdup_printf("%" G_GUINT64_FORMAT, n);
    }
    if (opt_set(&opt.drive, d, value, error)) {
        return TRUE;
    }
    g_prefix_error(error, "--");
    return FALSE;
}

/* "fw_slots: firmware slots, 1..7 (default 3)"; numbers only have a range. */
static char *help_of(const OptDesc *d)
{
    g_autofree char *start = opt_get(&opt.drive, d);
    g_autofree char *range = opt_range(d);

    return d->type == OPT_STRING
               ? g_strdup(d->help)
               : g_strdup_printf("%s; %s (default %s)", d->help, range, start);
}

/* Those of the process and of the drive; *help: g_ptr_array_unref() when they
 * are not needed any more. */
static GArray *all_entries(GPtrArray **help)
{
    GArray *all = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));

    *help = g_ptr_array_new_with_free_func(g_free);
    g_array_append_vals(all, own_entries, G_N_ELEMENTS(own_entries));
    for (unsigned i = 0; i < nvme_n_options; i++) {
        GOptionEntry one = {
            .long_name = nvme_options[i].key,
            .arg = G_OPTION_ARG_CALLBACK,
            .arg_data = (gpointer)set_drive_option,
            .description = help_of(&nvme_options[i]),
            .arg_description = "VALUE",
        };

        g_ptr_array_add(*help, (gpointer)one.description);
        g_array_append_val(all, one);
    }
    return all;
}

/* ---- options ------------------------------------------------------------- */

static bool read_block(GError **error)
{
    const OptDesc size = {.key = "", .type = OPT_SIZE, .max = UINT64_MAX};
    uint64_t bytes = (uint64_t)opt.block;

    if (block && !opt_set(&bytes, &size, block, NULL)) {
        bytes = 0;
    }
    if (bytes != 512 && bytes != 4096) {
        return refuse(error, "--logical_block_size=%s: allowed 512, 4096",
                      block);
    }
    opt.block = (int)bytes;
    return true;
}

static bool check_images(GError **error)
{
    unsigned n = g_strv_length(opt.images);

    if (n > NVME_MAX_IMAGES) {
        return refuse(error, "--image: %u of them: allowed 1..%d", n,
                      NVME_MAX_IMAGES);
    }
    if (n > 1 && opt.drive.namespaces) {
        return refuse(error, "--namespaces: not with several --image: each is "
                             "one namespace");
    }
    return n == 1 || !opt.drive.metadata ||
           refuse(error, "--metadata=%u: not with several --image",
                  opt.drive.metadata);
}

static bool check(GError **error)
{
    const struct {
        const char *name;
        const void *value;
    } needed[] = {{"profile", opt.profile},
                  {"image", opt.images},
                  {"socket", opt.sockets}};

    for (unsigned i = 0; i < G_N_ELEMENTS(needed); i++) {
        if (!needed[i].value) {
            return refuse(error, "--%s is missing", needed[i].name);
        }
    }
    if (!nvme_options_ok(&opt.drive, opt.pmr, error)) {
        g_prefix_error(error, "--");
        return false;
    }
    if (g_strv_length(opt.sockets) > MAX_FUNCTIONS) {
        return refuse(error, "--socket: %u of them: allowed 1..%d",
                      g_strv_length(opt.sockets), MAX_FUNCTIONS);
    }
    return check_images(error) && read_block(error);
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

static bool parse_entries(const GOptionEntry *entries, int *argc, char ***argv,
                          GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);

    g_option_context_set_summary(
        context, "A modelled NVMe SSD for any virtual machine that speaks "
                 "vfio-user (docs/vfio-user.md).");
    g_option_context_add_main_entries(context, entries, NULL);
    return g_option_context_parse(context, argc, argv, error);
}

static bool parse(int *argc, char ***argv, GError **error)
{
    g_autoptr(GPtrArray) help = NULL;
    g_autoptr(GArray) entries = NULL;

    nvme_options_init(&opt.drive);
    entries = all_entries(&help);
    if (!parse_entries((GOptionEntry *)(void *)entries->data, argc, argv,
                       error)) {
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

static void make_functions(Server *s)
{
    s->n_functions = g_strv_length(s->opt->sockets);
    for (unsigned i = 0; i < s->n_functions; i++) {
        s->function[i].drive = s;
        s->function[i].socket = s->opt->sockets[i];
    }
}

static bool listen_all(Server *s, GError **error)
{
    for (unsigned i = 0; i < s->n_functions; i++) {
        if (!vfio_client_init(&s->function[i], error)) {
            return false;
        }
    }
    return true;
}

static bool server_begin(Server *s, GError **error)
{
    vfio_memory_init();
    return vfio_image_open(s, error) && vfio_drive_create(s, error) &&
           vfio_serve_init(s, error) && vfio_control_init(s, error) &&
           listen_all(s, error);
}

/* The drive ends while the client is still there, so that completions reach the
 * guest. */
static bool end(Server *s, GError **error)
{
    bool ok = true;

    if (s->function[s->n_functions - 1].client) { /* it was ready */
        ok = vfio_drive_finish(s, error);
    }
    for (unsigned i = 0; i < s->n_functions; i++) {
        if (s->function[i].client) {
            vfio_client_free(&s->function[i]);
        }
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
           s->nvme_cfg.nblocks * s->opt->block, s->opt->sockets[0]);
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
    make_functions(s);
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
