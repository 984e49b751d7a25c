/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-info.c - vssd-sim info: the geometry of a drive. */
#include <stdio.h>

#include "command.h"
#include "drive.h"
#include "result.h"

static bool run(char **words, GError **error)
{
    g_autoptr(Recorded) recorded = NULL;
    g_autoptr(Drive) drive = NULL;
    g_autoptr(GString) out = g_string_new(NULL);
    DriveUse use = {.recorded = NULL, .looks = true};

    if (words[0]) {
        use.recorded = recorded = recorded_open(words[0], error);
        if (!recorded) {
            return false;
        }
    }
    drive = drive_open(&use, error);
    if (!drive) {
        return false;
    }
    result_info_json(drive->profile, ssd_info(drive->ssd[0]), out);
    fputs(out->str, stdout);
    return true;
}

const Command cmd_info = {
    .name = "info",
    .help = "print the geometry of a drive, or of a recorded one, as JSON",
    .words = "[TRACE]",
    .max_words = 1,
    .tables = {&drive_options},
    .run = run,
};
