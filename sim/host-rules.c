/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-rules.c - the rules about commands that a player of requests can follow,
 * and the requests that wait.
 *
 * Knows which rules need a queue or a controller; knows nothing of the grammar
 * or of matching (hw-ssd/rules), nor of the player's loop.
 */
#include "host-rules.h"

#include "options.h"
#include "ssd-setup.h"

#include <string.h>

struct HostRules {
    CmdRules *rules;
    GArray *waiting; /* HostWaiting, in the order of their coming */
    unsigned n_delayed;
    uint64_t next_ns[2]; /* of waiting, by HostWaiting.submit */
};

/* ---- rules --------------------------------------------------------------- */

/* As NVM Command Set 1.0, clause 3, numbers them: requests are of these kinds.
 */
static const struct {
    const char *name;
    uint8_t opcode;
    SsdOp op;
} kinds[] = {
    {"flush", 0x00, SSD_OP_FLUSH}, {"write", 0x01, SSD_OP_WRITE},
    {"read", 0x02, SSD_OP_READ},   {"dataset-management", 0x09, SSD_OP_TRIM},
    {"trim", 0x09, SSD_OP_TRIM},
};

/* Any name of an admin command will do: takes() refuses them. */
static bool find_opcode(const char *name, bool admin, uint8_t *opcode)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            *opcode = kinds[i].opcode;
            return true;
        }
    }
    return admin;
}

static bool is_of_player(uint8_t opcode)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (kinds[i].opcode == opcode) {
            return true;
        }
    }
    return false;
}

static const char *action_of_queue(CmdRuleAction action)
{
    return action == CMD_RULE_DUPLICATE    ? "duplicate"
           : action == CMD_RULE_WRONG_CID  ? "wrong-cid"
           : action == CMD_RULE_WRONG_SQHD ? "wrong-sqhd"
           : action == CMD_RULE_BAD_PHASE  ? "bad-phase"
           : action == CMD_RULE_IGNORE_FUA ? "ignore-fua"
                                           : NULL;
}

/* CmdRuleLimits.takes */
static bool takes(const CmdRule *rule, GError **error)
{
    const char *what = rule->kind == CMD_RULE_IRQ    ? "irq"
                       : rule->kind == CMD_RULE_CTRL ? "ctrl, aer, temperature"
                       : rule->admin                 ? "cmd=admin:"
                       : rule->sqid.given            ? "sqid="
                       : rule->ctrl.given ? "ctrl="
                                          : action_of_queue(rule->action);

    if (what) {
        return opt_fail(error, OPT_ERROR_COMBINATION,
                        "%s: needs QEMU: vssd-sim has no controller and no "
                        "queues (docs/faults.md)",
                        what);
    }
    return rule->any_opcode || is_of_player(rule->opcode) ||
           opt_fail(error, OPT_ERROR_COMBINATION,
                    "cmd=io:%02x: vssd-sim has no such command: allowed any, "
                    "read, write, flush, trim",
                    rule->opcode);
}

static CmdRuleLimits limits_of(const SsdConfig *cfg, const SsdInfo *info,
                               uint64_t now_ns)
{
    g_autofree char *seed = ssd_config_get(cfg, "seed");

    return (CmdRuleLimits){
        .n_namespaces = 1,
        .n_queues = 1,
        .n_vectors = 1,
        .n_ctrls = 1,
        .n_lbas = info->nblocks,
        .now_ns = now_ns,
        .seed = g_ascii_strtoull(seed, NULL, 10),
        .has_slot = true, /* of a rule that is refused anyway */
        .opcode = find_opcode,
        .takes = takes,
    };
}

HostRules *host_rules_new(void)
{
    HostRules *h = g_new0(HostRules, 1);

    h->rules = cmd_rules_new();
    h->waiting = g_array_new(FALSE, FALSE, sizeof(HostWaiting));
    h->next_ns[false] = h->next_ns[true] = SSD_TIME_NEVER;
    return h;
}

bool host_rules_load(HostRules **rules, const SsdConfig *cfg,
                     const SsdInfo *info, uint64_t now_ns, GError **error)
{
    g_autofree char *path = ssd_config_get(cfg, "faults");
    CmdRuleLimits limits = limits_of(cfg, info, now_ns);
    HostRules *h;

    *rules = NULL;
    if (!path || !*path) {
        return true;
    }
    h = host_rules_new();
    if (!cmd_rules_load(h->rules, path, &limits, error)) {
        host_rules_free(h);
        return false;
    }
    if (h->rules->rule->len == 0) {
        g_clear_pointer(&h, host_rules_free);
    }
    *rules = h;
    return true;
}

void host_rules_free(HostRules *h)
{
    if (h) {
        cmd_rules_free(h->rules);
        g_array_free(h->waiting, TRUE);
        g_free(h);
    }
}

CmdRule *host_rules_ask(HostRules *h, const SsdCmd *cmd, uint64_t now_ns)
{
    CmdSeen seen = {.nsid = 1, .lba = cmd->lba, .now_ns = now_ns};

    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (kinds[i].op == cmd->op) {
            seen.opcode = kinds[i].opcode;
        }
    }
    seen.nblocks = cmd_rules_has_range(seen.opcode) ? cmd->nblocks : 0;
    return cmd_rules_command(h->rules, &seen);
}

unsigned host_rules_n(const HostRules *h)
{
    return h ? h->rules->rule->len : 0;
}

const CmdRule *host_rules_rule(const HostRules *h, unsigned i)
{
    return g_ptr_array_index(h->rules->rule, i);
}

/* ---- requests that wait -------------------------------------------------- */

static HostWaiting *waiting(const HostRules *h, unsigned i)
{
    return &g_array_index(h->waiting, HostWaiting, i);
}

static void note_next(HostRules *h, const HostWaiting *w)
{
    h->next_ns[w->submit] = MIN(h->next_ns[w->submit], w->at_ns);
}

static void find_next(HostRules *h)
{
    h->next_ns[false] = h->next_ns[true] = SSD_TIME_NEVER;
    for (unsigned i = 0; i < h->waiting->len; i++) {
        note_next(h, waiting(h, i));
    }
}

bool host_rules_keep(HostRules *h, const HostWaiting *w)
{
    if (w->submit && h->n_delayed == CMD_RULES_DELAYED) {
        return false;
    }
    h->n_delayed += w->submit;
    g_array_append_vals(h->waiting, w, 1);
    note_next(h, w);
    return true;
}

const HostWaiting *host_rules_due(const HostRules *h, uint64_t now_ns,
                                  bool full)
{
    uint64_t next_ns = host_rules_next_ns(h, full);

    for (unsigned i = 0; i < h->waiting->len && next_ns <= now_ns; i++) {
        const HostWaiting *w = waiting(h, i);

        if (w->at_ns == next_ns && !(full && w->submit)) {
            return w;
        }
    }
    return NULL;
}

void host_rules_taken(HostRules *h, const HostWaiting *w)
{
    h->n_delayed -= w->submit;
    g_array_remove_index(h->waiting, (guint)(w - waiting(h, 0)));
    find_next(h);
}

uint64_t host_rules_next_ns(const HostRules *h, bool full)
{
    return full ? h->next_ns[false] : MIN(h->next_ns[false], h->next_ns[true]);
}

void host_rules_power_lost(HostRules *h, uint64_t now_ns, unsigned status)
{
    for (unsigned i = 0; i < h->waiting->len; i++) {
        HostWaiting *w = waiting(h, i);

        if (w->submit) {
            w->submit = false;
            w->status = status;
            w->at_ns = now_ns;
        }
    }
    h->n_delayed = 0;
    find_next(h);
}

uint64_t host_rules_rebase_most_ns(const HostRules *h)
{
    uint64_t most_ns = SSD_TIME_NEVER;

    for (unsigned i = 0; i < h->waiting->len; i++) {
        most_ns = MIN(most_ns, waiting(h, i)->req.at_ns);
    }
    return most_ns;
}

void host_rules_rebase(HostRules *h, uint64_t by_ns)
{
    cmd_rules_rebase(h->rules, by_ns);
    for (unsigned i = 0; i < h->waiting->len; i++) {
        waiting(h, i)->at_ns -= by_ns;
        waiting(h, i)->req.at_ns -= by_ns;
    }
    find_next(h);
}
