/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * player.h - put requests to a drive, in modelled time, and measure.
 *
 * Latency as the host sees it: from the request's arrival (open loop) or
 * start (closed loop) to its completion, so waiting for a place in the drive's
 * queue counts.  No clock is read here: wall time is the command's business.
 */
#ifndef VSSD_SIM_PLAYER_H
#define VSSD_SIM_PLAYER_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "array.h"
#include "hist.h"
#include "host-rules.h"
#include "live.h"
#include "progress.h"
#include "request.h"
#include "run-stats.h"
#include "ssd.h"
#include "steady.h"
#include "zoned.h"

/* How the drive is filled before the run that is measured. */
#define PLAYER_FILLS(X)                                                        \
    X(NONE, "none",                                                            \
      "empty: reads of unmapped blocks take no NAND time")                     \
    X(PRELOAD, "preload",                                                      \
      "full of old data, without modelled time and without GC so far")         \
    X(SEQ, "seq", "the whole capacity written once, in order, then flushed")   \
    X(RANDOM, "random",                                                        \
      "seq, then twice the capacity written at random: the steady state of "   \
      "GC")                                                                    \
    X(TRACE, "trace",                                                          \
      "the initial data of the recorded drive; only, and the default, for a "  \
      "trace of vssd's own")

typedef enum PlayerFill {
#define PLAYER_FILL_ENUM(upper, name, help) PLAYER_FILL_##upper,
    PLAYER_FILLS(PLAYER_FILL_ENUM)
#undef PLAYER_FILL_ENUM
        PLAYER_N_FILLS,
} PlayerFill;

/* The name of fill i; NULL past the last. */
const char *player_fill_name(unsigned i);
const char *player_fill_help(unsigned i);

/* A request that has completed; valid during the call. */
typedef struct PlayerDone {
    const Request *req;
    const SsdCompletion *completion; /* times since ssd_create() */
    unsigned status;                 /* index of PlayerResult.n_status */
    uint64_t start_ns;               /* of the run, by the same clock */
    uint64_t arrival_ns;             /* since the start of the run */
} PlayerDone;

typedef struct PlayerConfig {
    bool wrap; /* fold addresses beyond the capacity instead of refusing */
    Progress *progress; /* counts requests; or NULL */
    SimLive *live;      /* is told that time has passed; or NULL */
    /* So many completions of a player_run() are not measured: the result, and
     * the drive's statistics, begin after them. */
    uint64_t warm_up;
    /* Called with each completion that is measured, in order; or NULL. */
    void (*done)(void *opaque, const PlayerDone *d);
    void *done_opaque; /* of both calls */
    /* Of requests outside of a window: done() is told of them, too, and nothing
     * else counts them; the drive's statistics begin with the window.  At its
     * end, before the first request behind it; or NULL. */
    void (*window_ends)(void *opaque);
    /* When it says so, no more requests of a player_run() are submitted; those
     * in flight are waited for.  NULL: play to the end. */
    bool (*stopped)(void);
    const char *recorded; /* the trace that PLAYER_FILL_TRACE reads; or NULL */
    /* Of the drive: player_run() applies the rules about commands of its option
     * faults=.  NULL: there are none. */
    const SsdConfig *drive;
    /* The zones of the drive, which is the only one; NULL: it has none.  A
     * write to the start of a zone that is not empty resets it before, as fio's
     * zonemode=zbd does; no result counts that command, and in a closed loop
     * the write arrives after it. */
    Zoned *zones;
} PlayerConfig;

/* How a request can end: an SsdStatus, or the status of a rule about commands,
 * which is no status of the drive. */
#define PLAYER_STATUS_RULE (SSD_STATUS_POWER_LOSS + 1)
#define PLAYER_N_STATUS    (PLAYER_STATUS_RULE + 1)

/* The counters that rows of RUN_STATS make. */
#define MEMBER_OF_ROW(id, path, unit, help) uint64_t id;
#define NO_MEMBER(...)

typedef struct PlayerResult {
    RUN_STATS(MEMBER_OF_ROW, NO_MEMBER) /* n_warm_up, n_requests, ... */
    uint64_t n_status[PLAYER_N_STATUS]; /* of n_errors, by status */
    uint64_t sim_ns;     /* from the start, or the last completion of the
                            warm-up, to the last completion */
    uint64_t bytes[SSD_N_OPS];
    Hist latency[SSD_N_OPS]; /* ns */
    Rounds rounds;           /* of equal numbers of requests */
    uint64_t free_blocks;    /* of the drive, when the measurement began */
} PlayerResult;

#undef MEMBER_OF_ROW
#undef NO_MEMBER

typedef struct Player Player;

/* ssd must be fresh, aged or loaded, with nothing in flight, and outlive the
 * player. */
Player *player_new(Ssd *ssd, const PlayerConfig *cfg);

/* The same with an array of drives, which outlives the player, too; without
 * PLAYER_FILL_TRACE. */
Player *player_new_array(Array *array, const PlayerConfig *cfg);
void player_free(Player *p);

/* Before the first player_run(), at most once. */
bool player_fill(Player *p, PlayerFill fill, uint64_t seed, GError **error);

/* Requests that go before those that are measured, in rounds of which each ends
 * with so many requests or bytes written (UINT64_MAX: not with this one). */
typedef struct PlayerSettle {
    uint64_t round_requests, round_bytes;
    unsigned most_rounds; /* STEADY_ROUNDS..STEADY_MOST_MARKS - 1 */
    SteadyMetric metric;
    double most_range, most_slope; /* of it, over the last five rounds */
} PlayerSettle;

/*
 * Play a source until five rounds keep to the limits; the next player_run()
 * goes on from there.  *reached: they did, before most_rounds had passed.
 * false: as for player_run().
 */
bool player_settle(Player *p, const RequestSource *source,
                   const PlayerSettle *how, bool *reached, GError **error);

/* The rounds of the last player_settle(), or NULL. */
const Rounds *player_settled(const Player *p);

/*
 * Play a source to its end and wait for the last completion; statistics of the
 * drive and of the player start again.  When a scripted fault cuts the power,
 * it comes back at once, and the run goes on.  false: a bad trace line, an
 * address beyond the drive, rules that dropped all requests in flight; *error
 * says where.
 */
bool player_run(Player *p, const RequestSource *source, GError **error);

/* A request in blocks of the drive, as player_run() gives it, without playing
 * it.  source: where it is from, for messages.  false: it does not fit. */
bool player_blocks(Player *p, const RequestSource *source, const Request *r,
                   SsdCmd *cmd, GError **error);

const PlayerResult *player_result(const Player *p);

/* The rules of the last player_run(), or NULL. */
const HostRules *player_rules(const Player *p);

#endif
