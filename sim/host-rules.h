/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-rules.h - scripted faults of the player's requests: the rules about
 * commands of the option faults= (docs/faults.md), and the requests that wait
 * because of one.
 *
 * A rule sees a request when the player would submit it.  The player has no
 * queues and no controller, so rules about those are refused.
 */
#ifndef VSSD_SIM_HOST_RULES_H
#define VSSD_SIM_HOST_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "cmd-rules.h"
#include "request.h"
#include "ssd.h"

typedef struct HostRules HostRules;

/* A request that a rule keeps.  at_ns of the request: when it arrived. */
typedef struct HostWaiting {
    uint64_t at_ns; /* its end */
    Request req;
    SsdCmd cmd;
    bool submit;     /* then it goes to the drive; else it ends */
    unsigned status; /* with this one: PlayerResult.n_status */
} HostWaiting;

/*
 * The rules about commands of the drive's option faults=.  now_ns: by the
 * drive's clock; after=T counts from it.  *rules is NULL if there is none.
 * false: *error is "path:line: reason".
 */
bool host_rules_load(HostRules **rules, const SsdConfig *cfg,
                     const SsdInfo *info, uint64_t now_ns, GError **error);
void host_rules_free(HostRules *h);

/* Without any rule, for requests that wait. */
HostRules *host_rules_new(void);

/* The first rule that fires for a request, or NULL: it is submitted. */
CmdRule *host_rules_ask(HostRules *h, const SsdCmd *cmd, uint64_t now_ns);

unsigned host_rules_n(const HostRules *h); /* NULL: 0 */
const CmdRule *host_rules_rule(const HostRules *h, unsigned i);

/* false: CMD_RULES_DELAYED requests wait for the drive. */
bool host_rules_keep(HostRules *h, const HostWaiting *w);

/* The request that has waited and is due first, or NULL; until the next call of
 * host_rules_keep() or host_rules_taken(), which removes it.  full: without
 * those that go to the drive, whose queue is full. */
const HostWaiting *host_rules_due(const HostRules *h, uint64_t now_ns,
                                  bool full);
void host_rules_taken(HostRules *h, const HostWaiting *w);

/* When the next one is due, or SSD_TIME_NEVER. */
uint64_t host_rules_next_ns(const HostRules *h, bool full);

/* The power has gone: requests that wait for the drive end now, with this
 * status. */
void host_rules_power_lost(HostRules *h, uint64_t now_ns, unsigned status);

/* The earliest instant that is still needed; the clock is set back. */
uint64_t host_rules_rebase_most_ns(const HostRules *h);
void host_rules_rebase(HostRules *h, uint64_t by_ns);

#endif
