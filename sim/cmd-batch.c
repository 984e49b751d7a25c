/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd-batch.c - vssd-sim batch: many runs, each from the same drive.
 *
 * The drive is made or loaded once.  Each line of standard input is a run, and
 * a child process plays it on its copy of the drive (fork), so that no run
 * sees another.  Knows lines and children; knows nothing about requests.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "drive.h"
#include "json.h"
#include "play.h"
#include "raid-args.h"

#define OF_ONE_RUN "not for batch, whose runs leave the drive as it is"

static const Command *const playing[] = {&cmd_run, &cmd_replay};

/* ---- a line -------------------------------------------------------------- */

static const Command *find_playing(const char *name, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(playing); i++) {
        if (strcmp(playing[i]->name, name) == 0) {
            return playing[i];
        }
    }
    command_usage(error, "%s: a line begins with run or replay", name);
    return NULL;
}

/* Options of the drive are unknown in a line. */
static bool is_of_drive(const OptionTable *t)
{
    return t == &drive_options || t == &array_options || t == &start_options;
}

/* (*words)[0] is the name of the command; options are taken out. */
static bool parse_line(const Command *c, char ***words, GError **error)
{
    g_autoptr(GOptionContext) ctx = g_option_context_new(NULL);

    g_option_context_set_help_enabled(ctx, FALSE);
    for (const OptionTable *const *t = c->tables; *t; t++) {
        if (!is_of_drive(*t)) {
            g_option_context_add_main_entries(ctx, (*t)->entries, NULL);
        }
    }
    if (!g_option_context_parse_strv(ctx, words, error)) {
        return false;
    }
    if (g_strv_length(*words) - 1 > c->max_words) {
        return command_usage(error, "what is \"%s\"?",
                             (*words)[1 + c->max_words]);
    }
    return true;
}

static bool play_line(const char *line, GError **error)
{
    g_autofree char *whole = g_strconcat(line, " --json", NULL);
    g_auto(GStrv) words = NULL;
    const Command *c;

    if (!g_shell_parse_argv(whole, NULL, &words, error)) {
        return false;
    }
    c = find_playing(words[0], error);
    return c && parse_line(c, &words, error) && c->run(words + 1, error);
}

static void print_error(const char *message)
{
    g_autoptr(GString) out = g_string_new(NULL);
    JsonWriter w = {.out = out};

    json_open(&w, NULL, '{');
    json_string(&w, "error", message);
    json_close(&w, '}');
    printf("%s\n", out->str);
}

/* ---- children ------------------------------------------------------------ */

/* Does not return.  _exit(), so that the parent's place in standard input stays
 * where it is. */
static void child(Drive *drive, const char *line)
{
    g_autoptr(GError) error = NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    drive_share(drive);
    if (!play_line(line, &error)) {
        print_error(error->message);
    }
    output_release();
    fflush(stdout);
    _exit(ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static bool play_apart(Drive *drive, const char *line, GError **error)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        child(drive, line);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (pid < 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE, "cannot start a run: %s",
                    g_strerror(errno));
        return false;
    }
    if (WIFSIGNALED(status)) {
        g_autofree char *what =
            g_strdup_printf("the run was ended by signal %d", WTERMSIG(status));

        print_error(what);
        status = 0;
    }
    printf("\n");
    if (fflush(stdout) != 0 || status != 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                    "a run could not write its result");
        return false;
    }
    return true;
}

/* ---- the command --------------------------------------------------------- */

static void more(GString *out)
{
    g_string_append(
        out,
        "\nStandard input has a run in each line: run or replay with their "
        "options, but\nthose of the drive.  Each starts from the drive as it "
        "is here.  Its result is\nJSON, as of --json, or {\"error\": TEXT}; "
        "an empty line follows.\n");
    drive_help_fills(out);
}

static bool run(char **words, GError **error)
{
    DriveUse use = {.recorded = NULL};
    g_autoptr(Drive) drive = NULL;
    g_autofree char *line = NULL;
    size_t size = 0;
    ssize_t n;

    if (!options_absent(&start_options, "fill,precondition,state", OF_ONE_RUN,
                        error)) {
        return false;
    }
    drive = drive_open(&use, error);
    if (!drive || !drive_precondition(drive, error)) {
        return false;
    }
    while ((n = getline(&line, &size, stdin)) >= 0) {
        g_strstrip(line);
        if (*line && !play_apart(drive, line, error)) {
            return false;
        }
    }
    return true;
}

const Command cmd_batch = {
    .name = "batch",
    .help = "play runs from standard input, each from the same drive",
    .tables = {&drive_options, &array_options, &start_options},
    .more = more,
    .run = run,
};
