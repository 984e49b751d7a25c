/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - the vssd-sim program: which command, its help and errors.
 *
 * Knows no option but --help.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glib.h>

#include "command.h"
#include "filelock.h"
#include "nearest.h"
#include "printable.h"
#include "request.h"

#define EXIT_USAGE 2

static const Command *const commands[] = {
#define COMMAND_ROW(name) &cmd_##name,
    COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};

/* ---- help ---------------------------------------------------------------- */

static void help_program(void)
{
    printf("Usage: vssd-sim COMMAND [OPTION...]\n\n"
           "Plays requests on a modelled SSD, without a guest.\n\n");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        printf("  %-9s %s\n", commands[i]->name, commands[i]->help);
    }
    printf("\nvssd-sim COMMAND --help prints the options of a command.\n"
           "Options without a COMMAND are those of run; with --trace FILE, of "
           "replay.\n");
}

static gboolean want_help;

static const GOptionEntry help_entries[] = {
    {"help", 'h', 0, G_OPTION_ARG_NONE, &want_help, "print this help", NULL},
    {.long_name = NULL},
};

static const OptionTable help_options = {"Help", help_entries};

/* Every table is a group, so that --help shows its title. */
static void add_table(GOptionContext *ctx, const OptionTable *t)
{
    g_autofree char *title = g_strconcat(t->title, ":", NULL);
    GOptionGroup *group = g_option_group_new(t->title, title, "", NULL, NULL);

    g_option_group_add_entries(group, t->entries);
    g_option_context_add_group(ctx, group);
}

static GOptionContext *context_of(const Command *c,
                                  const OptionTable *const *tables)
{
    GOptionContext *ctx = g_option_context_new(c->words);
    g_autofree char *name = g_strconcat("vssd-sim ", c->name, NULL);

    g_set_prgname(name);
    g_option_context_set_help_enabled(ctx, FALSE);
    for (const OptionTable *const *t = tables; *t; t++) {
        add_table(ctx, *t);
    }
    add_table(ctx, &help_options);
    return ctx;
}

static void help_command(const Command *c)
{
    const OptionTable *const *shown = c->shown ? c->shown(c) : NULL;
    g_autoptr(GOptionContext) ctx = context_of(c, shown ? shown : c->tables);
    g_autoptr(GString) more = g_string_new(NULL);
    g_autofree char *text = NULL;

    g_option_context_set_summary(ctx, c->help);
    text = g_option_context_get_help(ctx, FALSE, NULL);
    if (c->more) {
        c->more(more);
    }
    printf("%s\n%s", g_strchomp(text), more->str);
}

/* ---- commands ------------------------------------------------------------ */

static const Command *find_command(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

/* name: the word in place of the command; or NULL. */
static int no_command(const char *name)
{
    g_autofree char *word = printable(name ? name : "");
    Nearest near_one = nearest_to(name ? name : "");
    g_autofree char *hint = NULL;

    fprintf(stderr, "vssd-sim: %s%swhich command? ", word, name ? ": " : "");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        fprintf(stderr, "%s%s", i ? ", " : "", commands[i]->name);
        nearest_try(&near_one, commands[i]->name);
    }
    hint = nearest_hint(&near_one, "");
    fprintf(stderr, "%s (vssd-sim --help)\n", hint);
    return EXIT_USAGE;
}

/* What may be meant by an option that the command does not have, of GLib's
 * message "Unknown option --NAME"; free it. */
static char *option_hint(const Command *c, const GError *error)
{
    const char *given = strstr(error->message, "--");
    Nearest near_one = nearest_to(given ? given + 2 : "");
    const OptionTable *const *shown = c->shown ? c->shown(c) : NULL;

    if (!g_error_matches(error, G_OPTION_ERROR,
                         G_OPTION_ERROR_UNKNOWN_OPTION)) {
        return g_strdup("");
    }
    for (const OptionTable *const *t = shown ? shown : c->tables; *t; t++) {
        for (const GOptionEntry *e = (*t)->entries; e->long_name; e++) {
            nearest_try(&near_one, e->long_name);
        }
    }
    return nearest_hint(&near_one, "--");
}

static int tell(const Command *c, const GError *error, int status)
{
    g_autofree char *message = printable(error->message);
    g_autofree char *hint = option_hint(c, error);

    if (g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE) ||
        error->domain == G_OPTION_ERROR) {
        fprintf(stderr, "vssd-sim: %s%s (vssd-sim %s --help)\n", message, hint,
                c->name);
    } else {
        fprintf(stderr, "vssd-sim: %s\n", message);
    }
    return status;
}

static int start_command(const Command *c, char **words)
{
    g_autoptr(GError) error = NULL;
    int status = c->run(words, &error) ? EXIT_SUCCESS : EXIT_FAILURE;

    if (fflush(stdout) != 0) {
        fprintf(stderr, "vssd-sim: cannot write the result: %s\n",
                g_strerror(errno));
        status = EXIT_FAILURE;
    } else if (ferror(stdout)) {
        fprintf(stderr, "vssd-sim: cannot write the result\n");
        status = EXIT_FAILURE;
    }
    if (error) {
        tell(c, error, status);
    }
    return stop_status(status);
}

/* argv[0] is the name of the command. */
static int run_command(const Command *c, int argc, char **argv)
{
    g_autoptr(GOptionContext) ctx = context_of(c, c->tables);
    g_autoptr(GError) error = NULL;

    if (!g_option_context_parse(ctx, &argc, &argv, &error)) {
        return tell(c, error, EXIT_USAGE);
    }
    if (want_help) {
        help_command(c);
        return EXIT_SUCCESS;
    }
    if ((unsigned)argc - 1 > c->max_words) {
        command_usage(&error, "what is \"%s\"?", argv[1 + c->max_words]);
        return tell(c, error, EXIT_USAGE);
    }
    return start_command(c, argv + 1);
}

static void warn(const char *line)
{
    g_autofree char *shown = printable(line);

    fprintf(stderr, "vssd-sim: %s\n", shown);
}

/* Options without a command: `run`, or `replay` of each --trace FILE. */
static int run_plain(int argc, char **argv)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    const Command *c = &cmd_run;

    g_ptr_array_add(words, argv[0]);
    for (int i = 1; i < argc; i++) {
        if (g_str_has_prefix(argv[i], "--trace=")) {
            g_ptr_array_add(words, argv[i] + strlen("--trace="));
            c = &cmd_replay;
        } else if (strcmp(argv[i], "--trace") == 0 && i + 1 < argc) {
            g_ptr_array_add(words, argv[++i]);
            c = &cmd_replay;
        } else {
            g_ptr_array_add(words, argv[i]);
        }
    }
    return run_command(c, (int)words->len, (char **)words->pdata);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const Command *c = name ? find_command(name) : NULL;

    stop_watch();
    filelock_warn_by(warn);
    if (name && (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)) {
        help_program();
        return EXIT_SUCCESS;
    }
    if (name && name[0] == '-') {
        return run_plain(argc, argv);
    }
    return c ? run_command(c, argc - 1, argv + 1) : no_command(name);
}
