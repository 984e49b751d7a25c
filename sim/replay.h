/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - play a trace of the project's own exactly: every call of the
 * recorded run at its instant, and every completion compared.
 */
#ifndef VSSD_SIM_REPLAY_H
#define VSSD_SIM_REPLAY_H

#include "player.h"
#include "recorded.h"

/* A keeper of payload that keeps nothing: with it a drive behaves as in QEMU,
 * where its spare areas hold versions and its power can be cut. */
extern const SsdHostOps replay_host;

/*
 * ssd must be fresh, made with replay_host and the configuration of the
 * recorded drive.  Of cfg, progress and done are used.  *result is filled in;
 * free its content with nothing.  false: the file is damaged, or the first
 * thing that is not as recorded; *error says which.
 */
bool replay_check(Recorded *from, Ssd *ssd, const PlayerConfig *cfg,
                  PlayerResult *result, GError **error);

#endif
