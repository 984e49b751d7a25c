/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd-rules.h - rules about commands, interrupts and controllers: reading and
 * matching them.  docs/faults.md has the grammar.
 *
 * Knows the text of a rule, its limits and its counts.  Knows nothing of queues
 * or requests: hw-ssd/nvme/cmd-faults.c and sim/player.c apply what a rule
 * says.
 */
#ifndef VSSD_RULES_CMD_RULES_H
#define VSSD_RULES_CMD_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "prng.h"

#define CMD_RULES_MOST  256        /* at a time */
#define CMD_RULE_BYTES  512        /* of one rule's text */
#define CMD_RULES_BYTES (1U << 20) /* of a file */

/* Commands that rules delay, at a time; a further one is not delayed. */
#define CMD_RULES_DELAYED 1024

typedef enum CmdRuleKind {
    CMD_RULE_COMMAND,
    CMD_RULE_IRQ,
    CMD_RULE_CTRL,
} CmdRuleKind;

typedef enum CmdRuleAction {
    CMD_RULE_STATUS,
    CMD_RULE_DROP, /* a command, or an interrupt */
    CMD_RULE_LOSE, /* its completion */
    CMD_RULE_DELAY,
    CMD_RULE_DUPLICATE,
    CMD_RULE_WRONG_CID,
    CMD_RULE_WRONG_SQHD,
    CMD_RULE_BAD_PHASE,
    CMD_RULE_IGNORE_FUA, /* of commands that have the bit */
    CMD_RULE_STORM,      /* spurious: a storm of one */
    CMD_RULE_CFS,
    CMD_RULE_STUCK_RDY,
    CMD_RULE_STUCK_SHST,
    CMD_RULE_REMOVE,
    CMD_RULE_LINK_DOWN,
    CMD_RULE_EVENT,
    CMD_RULE_TEMPERATURE,
} CmdRuleAction;

/* Inclusive; everything if !given. */
typedef struct CmdRange {
    uint64_t first, last;
    bool given;
} CmdRange;

typedef struct CmdRule {
    unsigned id; /* from 1, never used again */
    char *text;
    CmdRuleKind kind;
    CmdRuleAction action;

    /* selectors */
    bool admin;
    bool any_opcode;
    uint8_t opcode;
    CmdRange nsid, lba, sqid, ctrl, vector;
    uint64_t nth;     /* from 1; 0: not given */
    double prob;      /* 0 < prob <= 1 */
    uint64_t from_ns; /* drive time */

    /* of the action */
    uint64_t times;  /* how often it fires */
    uint16_t status; /* as in the completion, without phase and More */
#define CMD_RULE_STATUS_CODE 0x7ff /* of status: SCT and SC */
    uint64_t for_ns; /* delay, duration, distance of a storm's messages; 0:
                        for good */
    uint32_t n;      /* messages of a storm */
    uint32_t event;  /* dword 0 of the completion */
    uint32_t kelvin;

    uint64_t n_matched;
    uint64_t n_fired;
    Prng prng;
} CmdRule;

/* Of the drive that the rules are for. */
typedef struct CmdRuleLimits {
    uint32_t n_namespaces;
    uint32_t n_queues; /* I/O queues */
    uint32_t n_vectors;
    uint32_t n_ctrls;
    uint64_t n_lbas; /* of the largest namespace */
    uint64_t now_ns; /* when the rule comes */
    uint64_t seed;   /* of prob= */
    bool has_slot;   /* the machine can take the drive away */
    /* The opcode of a command by its name in lower case with '-'. */
    bool (*opcode)(const char *name, bool admin, uint8_t *opcode);
    /* Can the rule act here?  Else *error says why not.  NULL: all can. */
    bool (*takes)(const CmdRule *rule, GError **error);
} CmdRuleLimits;

typedef struct CmdRules {
    GPtrArray *rule; /* CmdRule, in the order in which they came */
    unsigned last_id;
} CmdRules;

/* What a command shows before it begins.  nblocks: 0: it has no range. */
typedef struct CmdSeen {
    bool admin;
    uint8_t opcode;
    uint16_t sqid;
    unsigned ctrl;
    uint32_t nsid;
    uint64_t lba;
    uint64_t nblocks;
    bool fua;
    uint64_t now_ns;
} CmdSeen;

CmdRules *cmd_rules_new(void);
void cmd_rules_free(CmdRules *r);

/* Add one rule.  NULL: *error is one line. */
CmdRule *cmd_rules_add(CmdRules *r, const char *text, const CmdRuleLimits *l,
                       GError **error);

/* Add the rules of a file, but those about NAND (ssd_is_host_rule()).  false:
 * *error is "path:line: reason". */
bool cmd_rules_load(CmdRules *r, const char *path, const CmdRuleLimits *l,
                    GError **error);

/* NULL: there is none. */
CmdRule *cmd_rules_find(const CmdRules *r, unsigned id);
void cmd_rules_remove(CmdRules *r, CmdRule *rule);

/*
 * A command is fetched, an interrupt is to be sent: every rule that matches
 * counts it.  The first rule that fires, or NULL.
 */
CmdRule *cmd_rules_command(CmdRules *r, const CmdSeen *seen);
CmdRule *cmd_rules_irq(CmdRules *r, unsigned ctrl, unsigned vector,
                       uint64_t now_ns);

/* Has the entry of an I/O command a range of blocks? */
bool cmd_rules_has_range(uint8_t opcode);

/* The next rule about a controller whose time has come, or NULL. */
CmdRule *cmd_rules_due(CmdRules *r, uint64_t now_ns);

/* When the next such rule is due, or UINT64_MAX. */
uint64_t cmd_rules_next_ns(const CmdRules *r);

/* The clock is set back. */
void cmd_rules_rebase(CmdRules *r, uint64_t by_ns);

#endif
