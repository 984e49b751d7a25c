/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop.c - signals that end the run, or the program.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <glib.h>

#include "command.h"

#define STOPPED_EARLY "vssd-sim: stopped before there are results\n"

static volatile sig_atomic_t stop_signal; /* 0: none has come */
static volatile sig_atomic_t deferred;    /* there are results to show */
static int stopped_by;                    /* the signal that ended the run */

static void on_signal(int number)
{
    if (!deferred) {
        if (write(STDERR_FILENO, STOPPED_EARLY, strlen(STOPPED_EARLY)) < 0) {
            /* Nobody listens. */
        }
        _exit(128 + number);
    }
    stop_signal = number;
}

/* The first signal ends the run, the second the program.  Ignored signals, as
 * in the background of a script, stay ignored.  But a reader that is gone ends
 * the program without a word, also where Python has started it. */
void stop_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

    signal(SIGPIPE, SIG_DFL);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        struct sigaction before;

        if (sigaction(numbers[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &act, NULL);
        }
    }
}

void stop_defer(void)
{
    deferred = 1;
}

bool stop_wanted(void)
{
    return stop_signal != 0;
}

bool stop_taken(void)
{
    stopped_by = stop_signal;
    return stopped_by != 0;
}

void stop_pass_on(int process)
{
    static bool done;

    if (stop_signal && !done) {
        done = true;
        kill(process, stop_signal);
    }
}

int stop_status(int status)
{
    return stopped_by ? 128 + stopped_by : status;
}
