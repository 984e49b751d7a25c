/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.h - the drive of a command, made from its options.
 */
#ifndef VSSD_SIM_DRIVE_H
#define VSSD_SIM_DRIVE_H

#include "array.h"
#include "command.h"
#include "player.h"
#include "progress.h"
#include "recorded.h"

extern const OptionTable drive_options; /* which drive */
extern const OptionTable start_options; /* its state at start and end */

/* Requirements of a command on the drive; pointers may be NULL. */
typedef struct DriveUse {
    const Recorded *recorded; /* without --profile, the drive of this trace;
                                 outlives the drive */
    const char *of_one;       /* an option that looks into one drive, so that an
                                 array is refused */
    const char *whole;        /* an option that must see a new drive from its
                                 beginning */
    const char *no_rules;     /* an option that goes without rules about
                                 commands */
    bool as_in_qemu; /* keep the data that QEMU needs: versions of units */
    bool looks;      /* at the drive only, which may have zones then */
} DriveUse;

typedef struct Drive {
    char *profile; /* its name in results */
    SsdConfig *cfg;
    uint64_t seed; /* of drive and workload */
    PlayerFill fill;
    bool preconditioned;
    Ssd *ssd[ARRAY_MAX_DRIVES]; /* ssd[0] is the only one, mostly */
    Array *array;
    Zoned *zones; /* NULL: the drive has none */
    uint64_t
        state_end; /* with --state and zones: where they begin in the file */
} Drive;

/* NULL: *error names the option, or the fault of a file. */
Drive *drive_open(const DriveUse *use, GError **error);

/*
 * For a run that is played in a process of its own: the next drive_open() gives
 * this drive instead, without another look at the options of the drive.  It
 * refuses uses that must see a drive from its beginning, or look into one.
 */
void drive_share(Drive *d);

void drive_close(Drive *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Drive, drive_close)

/* --precondition, if it is given; with a line for people on stderr.  The load
 * of a run goes on with it, in modelled time. */
bool drive_precondition(Drive *d, GError **error);

/* --save-state, if it is given; nothing is in flight. */
bool drive_save(Drive *d, GError **error);

/* Help of --fill and --raid. */
void drive_help_fills(GString *out);

/* Has no policy from outside broken a rule?  Else *error is its line, whatever
 * it was before. */
bool policy_kept_rules(const Ssd *ssd, GError **error);

#endif
