/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * play.h - play the requests of a command on its drive, and print the results.
 */
#ifndef VSSD_SIM_PLAY_H
#define VSSD_SIM_PLAY_H

#include "command.h"
#include "drive.h"
#include "recorded.h"
#include "source.h"
#include "windows.h"

extern const OptionTable result_options; /* of a run, or with --describe */
extern const OptionTable play_options;   /* of a run alone */
extern const OptionTable wait_options;   /* of a run of generated requests */

typedef struct Play {
    Drive *drive;
    const Source *source;
    bool wrap;                    /* fold addresses beyond the drive into it */
    const char *recorded_path;    /* PLAYER_FILL_TRACE: the trace; or NULL */
    Recorded *check;              /* play exactly this, and compare; or NULL */
    const WindowsConfig *windows; /* play in windows; or NULL */
} Play;

/*
 * Before the drive is opened, which may take long: can the outputs be written,
 * and do the options go together?  Adds to *use their requirements on the
 * drive.
 */
bool play_check(DriveUse *use, GError **error);

/* Do the options of results and of the drive's start go with windows?  drive:
 * once it is made. */
bool play_check_windows(GError **error);
bool play_check_windows_drive(const Drive *drive, GError **error);

/* --describe: requests are not played, but described. */
bool play_describes(void);

/* Command.shown of a command that makes requests for a drive: with --describe,
 * its tables without those of the drive's start and of a run; else NULL.  The
 * list is static. */
const OptionTable *const *play_shown(const Command *c);

bool play_describe(const Source *source, GError **error);

/* Play and print results, or describe.  false: *error; results may have been
 * printed. */
bool play(const Play *p, GError **error);

#endif
