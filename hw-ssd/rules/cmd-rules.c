/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd-rules.c - matching commands, interrupts and instants against rules.
 *
 * Every rule counts its own matches, so the history of the commands decides
 * alone; prob= draws from a generator of the rule.
 */
#include "cmd-rules.h"

#include <string.h>

static void rule_free(gpointer p)
{
    CmdRule *rule = p;

    g_free(rule->text);
    g_free(rule);
}

CmdRules *cmd_rules_new(void)
{
    CmdRules *r = g_new0(CmdRules, 1);

    r->rule = g_ptr_array_new_with_free_func(rule_free);
    return r;
}

void cmd_rules_free(CmdRules *r)
{
    if (r) {
        g_ptr_array_free(r->rule, TRUE);
        g_free(r);
    }
}

CmdRule *cmd_rules_find(const CmdRules *r, unsigned id)
{
    for (unsigned i = 0; i < r->rule->len; i++) {
        CmdRule *rule = g_ptr_array_index(r->rule, i);

        if (rule->id == id) {
            return rule;
        }
    }
    return NULL;
}

void cmd_rules_remove(CmdRules *r, CmdRule *rule)
{
    g_ptr_array_remove(r->rule, rule);
}

/* Write, Read, Write Uncorrectable, Compare, Write Zeroes, Verify, Zone Append.
 */
bool cmd_rules_has_range(uint8_t opcode)
{
    static const uint8_t with[] = {0x01, 0x02, 0x04, 0x05, 0x08, 0x0c, 0x7d};

    return memchr(with, opcode, sizeof(with)) != NULL;
}

/* ---- matching ------------------------------------------------------------ */

static bool in_range(const CmdRange *r, uint64_t v)
{
    return !r->given || (v >= r->first && v <= r->last);
}

static bool touches(const CmdRange *r, const CmdSeen *seen)
{
    return !r->given ||
           (seen->nblocks && seen->lba <= r->last &&
            (seen->lba >= r->first || r->first - seen->lba < seen->nblocks));
}

/* The rule matches: does it fire?  `may`: no other rule has. */
static bool fires(CmdRule *rule, bool may)
{
    rule->n_matched++;
    if (!may || rule->n_fired >= rule->times ||
        (rule->nth && rule->n_matched < rule->nth) ||
        (rule->prob < 1 &&
         prng_to_double(prng_u64(&rule->prng)) >= rule->prob)) {
        return false;
    }
    rule->n_fired++;
    return true;
}

static bool matches(const CmdRule *rule, const CmdSeen *seen)
{
    return rule->kind == CMD_RULE_COMMAND && rule->admin == seen->admin &&
           (rule->action != CMD_RULE_IGNORE_FUA || seen->fua) &&
           (rule->any_opcode || rule->opcode == seen->opcode) &&
           seen->now_ns >= rule->from_ns && in_range(&rule->nsid, seen->nsid) &&
           in_range(&rule->sqid, seen->sqid) &&
           in_range(&rule->ctrl, seen->ctrl) && touches(&rule->lba, seen);
}

CmdRule *cmd_rules_command(CmdRules *r, const CmdSeen *seen)
{
    CmdRule *found = NULL;

    for (unsigned i = 0; i < r->rule->len; i++) {
        CmdRule *rule = g_ptr_array_index(r->rule, i);

        if (matches(rule, seen) && fires(rule, !found)) {
            found = rule;
        }
    }
    return found;
}

CmdRule *cmd_rules_irq(CmdRules *r, unsigned ctrl, unsigned vector,
                       uint64_t now_ns)
{
    CmdRule *found = NULL;

    for (unsigned i = 0; i < r->rule->len; i++) {
        CmdRule *rule = g_ptr_array_index(r->rule, i);

        if (rule->kind == CMD_RULE_IRQ && now_ns >= rule->from_ns &&
            in_range(&rule->ctrl, ctrl) && in_range(&rule->vector, vector) &&
            fires(rule, !found)) {
            found = rule;
        }
    }
    return found;
}

/* ---- instants ------------------------------------------------------------ */

static bool waits(const CmdRule *rule)
{
    return rule->kind == CMD_RULE_CTRL && !rule->n_fired;
}

CmdRule *cmd_rules_due(CmdRules *r, uint64_t now_ns)
{
    for (unsigned i = 0; i < r->rule->len; i++) {
        CmdRule *rule = g_ptr_array_index(r->rule, i);

        if (waits(rule) && now_ns >= rule->from_ns) {
            rule->n_matched++;
            rule->n_fired++;
            return rule;
        }
    }
    return NULL;
}

uint64_t cmd_rules_next_ns(const CmdRules *r)
{
    uint64_t next_ns = UINT64_MAX;

    for (unsigned i = 0; i < r->rule->len; i++) {
        const CmdRule *rule = g_ptr_array_index(r->rule, i);

        if (waits(rule)) {
            next_ns = MIN(next_ns, rule->from_ns);
        }
    }
    return next_ns;
}

void cmd_rules_rebase(CmdRules *r, uint64_t by_ns)
{
    for (unsigned i = 0; i < r->rule->len; i++) {
        CmdRule *rule = g_ptr_array_index(r->rule, i);

        rule->from_ns -= MIN(rule->from_ns, by_ns);
    }
}
