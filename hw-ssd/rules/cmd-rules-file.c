/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd-rules-file.c - reading rules about commands, interrupts and controllers.
 *
 * Knows the grammar of docs/faults.md and the limits of the drive.  Any bytes
 * may be given: what is not a rule is refused in one line.
 */
#include "cmd-rules.h"

#include <string.h>

#include "options.h"
#include "simtime.h"
#include "ssd-setup.h"

#define ALWAYS  UINT64_MAX
#define PURPOSE 0x636d6466 /* of prob= */

/* Distance of a storm's messages. */
#define STORM_NS  10000
#define STORM_MAX 1000000

#define KELVIN_0 273

#define complain(error, ...) opt_fail(error, OPT_ERROR_SYNTAX, __VA_ARGS__)

static bool parse_number(const char *key, uint64_t min, uint64_t max,
                         const char *value, uint64_t *out, GError **error)
{
    const OptDesc d = {.key = key, .type = OPT_U64, .min = min, .max = max};

    return opt_set(out, &d, value, error);
}

static bool parse_ns(const char *key, uint64_t min_ns, const char *value,
                     uint64_t *ns, GError **error)
{
    const OptDesc d = {.key = key,
                       .type = OPT_TIME,
                       .min = min_ns * PS_PER_NS,
                       .max = SIM_MAX_NS / 2 * PS_PER_NS};
    uint64_t ps;

    if (!opt_set(&ps, &d, value, error)) {
        return false;
    }
    *ns = sim_ceil_ns(ps);
    return true;
}

/* Hexadecimal, as the standard and Linux write it; 0x may come first. */
static bool parse_hex(const char *key, uint64_t max, const char *value,
                      uint64_t *out, GError **error)
{
    const char *digits =
        g_ascii_strncasecmp(value, "0x", 2) == 0 ? value + 2 : value;

    return g_ascii_string_to_unsigned(digits, 16, 0, max, out, NULL) ||
           complain(error,
                    "%s=%s: allowed 0..%" G_GINT64_MODIFIER "x, hexadecimal",
                    key, value, max);
}

/* ---- selectors ----------------------------------------------------------- */

/* "7" or "3..9", each in min..max. */
static bool parse_range(CmdRange *r, const char *key, uint64_t min,
                        uint64_t max, const char *value, GError **error)
{
    g_auto(GStrv) ends = g_strsplit(value, "..", 2);
    const char *last = ends[0] && ends[1] ? ends[1] : value;

    if (!ends[0]) {
        return complain(error, "%s=: a number is missing", key);
    }
    if (!parse_number(key, min, max, ends[0], &r->first, error) ||
        !parse_number(key, min, max, last, &r->last, error)) {
        return false;
    }
    if (r->first > r->last) {
        return complain(error, "%s=%s: the range ends before it begins", key,
                        value);
    }
    r->given = true;
    return true;
}

/* NAME, io:OPCODE, admin:NAME, admin:OPCODE, any, admin:any. */
static bool parse_command(CmdRule *r, const char *value, const CmdRuleLimits *l,
                          GError **error)
{
    const char *name = value;
    uint64_t number;

    r->admin = g_str_has_prefix(value, "admin:");
    if (r->admin || g_str_has_prefix(value, "io:")) {
        name = strchr(value, ':') + 1;
    }
    r->any_opcode = strcmp(name, "any") == 0;
    if (r->any_opcode || l->opcode(name, r->admin, &r->opcode)) {
        return true;
    }
    if (name != value && g_ascii_isxdigit(*name) &&
        parse_hex("opcode", 0xff, name, &number, NULL)) {
        r->opcode = (uint8_t)number;
        return true;
    }
    return complain(error,
                    "cmd=%s: allowed any, a command's name (write, "
                    "dataset-management), io:OPCODE, admin:NAME, admin:OPCODE; "
                    "opcodes are hexadecimal, 0..ff",
                    value);
}

static bool parse_prob(CmdRule *r, const char *value, GError **error)
{
    const OptDesc d = {.key = "prob", .type = OPT_DOUBLE, .min = 0, .max = 1};

    if (!opt_set(&r->prob, &d, value, error)) {
        return false;
    }
    return r->prob > 0 ||
           complain(error, "prob=%s: allowed above 0, up to 1", value);
}

static bool parse_from(CmdRule *r, const char *key, const char *value,
                       const CmdRuleLimits *l, GError **error)
{
    if (!parse_ns(key, 0, value, &r->from_ns, error)) {
        return false;
    }
    r->from_ns += strcmp(key, "after") == 0 ? l->now_ns : 0;
    return true;
}

/* A word of kind that has no value. */
static bool parse_kind(CmdRule *r, const char *word, GError **error)
{
    static const struct {
        const char *name;
        CmdRuleKind kind;
    } kinds[] = {{"irq", CMD_RULE_IRQ}, {"ctrl", CMD_RULE_CTRL}};

    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(word, kinds[i].name) == 0) {
            r->kind = kinds[i].kind;
            return true;
        }
    }
    return complain(error, "'%s': not of the form key=value, irq or ctrl",
                    word);
}

#define OF_COMMAND (1U << CMD_RULE_COMMAND)
#define OF_IRQ     (1U << CMD_RULE_IRQ)
#define OF_CTRL    (1U << CMD_RULE_CTRL)

static const struct {
    const char *key;
    unsigned kinds;
} selectors[] = {
    {"cmd", OF_COMMAND},
    {"nsid", OF_COMMAND},
    {"lba", OF_COMMAND},
    {"sqid", OF_COMMAND},
    {"ctrl", OF_COMMAND | OF_IRQ | OF_CTRL},
    {"vector", OF_IRQ},
    {"nth", OF_COMMAND | OF_IRQ},
    {"prob", OF_COMMAND | OF_IRQ},
    {"time", OF_COMMAND | OF_IRQ | OF_CTRL},
    {"after", OF_COMMAND | OF_IRQ | OF_CTRL},
};

static bool belongs(const CmdRule *r, const char *key, GError **error)
{
    GString *all = g_string_new(NULL);
    bool found = false;

    for (size_t i = 0; i < G_N_ELEMENTS(selectors) && !found; i++) {
        if (selectors[i].kinds >> r->kind & 1) {
            found = strcmp(key, selectors[i].key) == 0;
            g_string_append_printf(all, "%s%s", all->len ? ", " : "",
                                   selectors[i].key);
        }
    }
    if (!found) {
        complain(error, "%s=: no such selector of this rule (%s)", key,
                 all->str);
    }
    g_string_free(all, TRUE);
    return found;
}

static bool parse_selector(CmdRule *r, char *word, const CmdRuleLimits *l,
                           GError **error)
{
    const struct {
        const char *key;
        CmdRange *range;
        uint64_t min, max;
    } ranges[] = {
        {"nsid", &r->nsid, 1, l->n_namespaces},
        {"lba", &r->lba, 0, l->n_lbas - 1},
        {"sqid", &r->sqid, 0, l->n_queues},
        {"ctrl", &r->ctrl, 0, l->n_ctrls - 1},
        {"vector", &r->vector, 0, l->n_vectors - 1},
    };
    char *value = strchr(word, '=');

    if (!value) {
        return true; /* its kind: parse_kind() */
    }
    *value++ = '\0';
    if (!belongs(r, word, error)) {
        return false;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
        if (strcmp(word, ranges[i].key) == 0) {
            return parse_range(ranges[i].range, word, ranges[i].min,
                               ranges[i].max, value, error);
        }
    }
    if (strcmp(word, "cmd") == 0) {
        return parse_command(r, value, l, error);
    } else if (strcmp(word, "nth") == 0) {
        return parse_number(word, 1, UINT64_MAX / 2, value, &r->nth, error);
    } else if (strcmp(word, "prob") == 0) {
        return parse_prob(r, value, error);
    }
    return parse_from(r, word, value, l, error);
}

/* ---- actions ------------------------------------------------------------- */

/* Words of a line; the last is NULL. */
typedef struct Words {
    char **at;
} Words;

static const char *next_word(Words *w)
{
    return *w->at ? *w->at++ : NULL;
}

static bool take_word(Words *w, const char *word)
{
    bool there = *w->at && strcmp(*w->at, word) == 0;

    w->at += there;
    return there;
}

static bool none(CmdRule *r, Words *w, GError **error)
{
    return true;
}

/* "A/B", each hexadecimal. */
static bool parse_pair(const char *key, const char *a_key, uint64_t a_max,
                       const char *b_key, const char *word, uint64_t *a,
                       uint64_t *b, GError **error)
{
    g_auto(GStrv) parts = word ? g_strsplit(word, "/", 2) : NULL;

    if (!word || !parts[0] || !parts[1]) {
        return complain(error, "%s: %s/%s must follow, hexadecimal", key, a_key,
                        b_key);
    }
    return parse_hex(a_key, a_max, parts[0], a, error) &&
           parse_hex(b_key, 0xff, parts[1], b, error);
}

/* SCT/SC [dnr] [crd=N]: Base 2.0, Status Field. */
static bool parse_status(CmdRule *r, Words *w, GError **error)
{
    uint64_t sct, sc, crd = 0;

    if (!parse_pair("status", "SCT", 7, "SC", next_word(w), &sct, &sc, error)) {
        return false;
    }
    r->status = (uint16_t)(sct << 8 | sc);
    r->status |= take_word(w, "dnr") ? 0x4000 : 0;
    if (*w->at && g_str_has_prefix(*w->at, "crd=") &&
        !parse_number("crd", 0, 3, next_word(w) + strlen("crd="), &crd,
                      error)) {
        return false;
    }
    r->status |= (uint16_t)(crd << 11);
    return true;
}

/* NVM Command Set 1.0, 3: Opcodes for NVM Commands. */
enum { FLUSH = 0x00, WRITE = 0x01, WRITE_ZEROES = 0x08, ZONE_APPEND = 0x7d };

static bool is_command(const CmdRule *r, uint8_t opcode)
{
    return !r->admin && !r->any_opcode && r->opcode == opcode;
}

/* It ends with success (status 0/0), without effect. */
static bool check_flush(CmdRule *r, Words *w, GError **error)
{
    return is_command(r, FLUSH) ||
           complain(error, "ignore-flush: needs cmd=flush");
}

static bool check_fua(CmdRule *r, Words *w, GError **error)
{
    return is_command(r, WRITE) || is_command(r, WRITE_ZEROES) ||
           is_command(r, ZONE_APPEND) ||
           complain(error, "ignore-fua: needs cmd=write, write-zeroes or "
                           "zone-append");
}

static bool parse_delay(CmdRule *r, Words *w, GError **error)
{
    const char *word = next_word(w);

    return word ? parse_ns("delay", 1, word, &r->for_ns, error)
                : complain(error, "delay: a time must follow, as in 5ms");
}

/* [for T] */
static bool parse_for(CmdRule *r, Words *w, GError **error)
{
    const char *word;

    if (!take_word(w, "for")) {
        return true;
    }
    word = next_word(w);
    return word ? parse_ns("for", 1, word, &r->for_ns, error)
                : complain(error, "for: a time must follow, as in 5s");
}

static bool parse_spurious(CmdRule *r, Words *w, GError **error)
{
    r->n = 1;
    r->for_ns = STORM_NS;
    return true;
}

/* N [every T] */
static bool parse_storm(CmdRule *r, Words *w, GError **error)
{
    const char *word = next_word(w);
    uint64_t n;

    if (!word) {
        return complain(error, "storm: a number of interrupts must follow");
    }
    if (!parse_number("storm", 1, STORM_MAX, word, &n, error)) {
        return false;
    }
    r->n = (uint32_t)n;
    r->for_ns = STORM_NS;
    if (!take_word(w, "every")) {
        return true;
    }
    word = next_word(w);
    return word ? parse_ns("every", 1000, word, &r->for_ns, error)
                : complain(error, "every: a time must follow, as in 5us");
}

/* TYPE/INFO [log=LID]: Base 2.0, Asynchronous Event Request, dword 0. */
static bool parse_event(CmdRule *r, Words *w, GError **error)
{
    uint64_t type, info, lid = 0;

    if (!parse_pair("aer", "TYPE", 7, "INFO", next_word(w), &type, &info,
                    error)) {
        return false;
    }
    if (*w->at && g_str_has_prefix(*w->at, "log=") &&
        !parse_hex("log", 0xff, next_word(w) + strlen("log="), &lid, error)) {
        return false;
    }
    r->event = (uint32_t)(type | info << 8 | lid << 16);
    return true;
}

/* Degrees Celsius. */
static bool parse_temperature(CmdRule *r, Words *w, GError **error)
{
    const char *word = next_word(w);
    uint64_t celsius;

    if (!word) {
        return complain(error, "temperature: degrees Celsius must follow");
    }
    if (!parse_number("temperature", 0, 200, word, &celsius, error)) {
        return false;
    }
    r->kelvin = (uint32_t)celsius + KELVIN_0;
    return parse_for(r, w, error);
}

static const struct {
    const char *name;
    CmdRuleKind kind;
    CmdRuleAction action;
    bool (*parse)(CmdRule *r, Words *w, GError **error);
} actions[] = {
    {"status", CMD_RULE_COMMAND, CMD_RULE_STATUS, parse_status},
    {"drop", CMD_RULE_COMMAND, CMD_RULE_DROP, none},
    {"drop-completion", CMD_RULE_COMMAND, CMD_RULE_LOSE, none},
    {"delay", CMD_RULE_COMMAND, CMD_RULE_DELAY, parse_delay},
    {"duplicate", CMD_RULE_COMMAND, CMD_RULE_DUPLICATE, none},
    {"wrong-cid", CMD_RULE_COMMAND, CMD_RULE_WRONG_CID, none},
    {"wrong-sqhd", CMD_RULE_COMMAND, CMD_RULE_WRONG_SQHD, none},
    {"bad-phase", CMD_RULE_COMMAND, CMD_RULE_BAD_PHASE, none},
    {"ignore-flush", CMD_RULE_COMMAND, CMD_RULE_STATUS, check_flush},
    {"ignore-fua", CMD_RULE_COMMAND, CMD_RULE_IGNORE_FUA, check_fua},
    {"drop", CMD_RULE_IRQ, CMD_RULE_DROP, none},
    {"spurious", CMD_RULE_IRQ, CMD_RULE_STORM, parse_spurious},
    {"storm", CMD_RULE_IRQ, CMD_RULE_STORM, parse_storm},
    {"cfs", CMD_RULE_CTRL, CMD_RULE_CFS, none},
    {"stuck-rdy", CMD_RULE_CTRL, CMD_RULE_STUCK_RDY, parse_for},
    {"stuck-shst", CMD_RULE_CTRL, CMD_RULE_STUCK_SHST, parse_for},
    {"surprise-remove", CMD_RULE_CTRL, CMD_RULE_REMOVE, parse_for},
    {"link-down", CMD_RULE_CTRL, CMD_RULE_LINK_DOWN, parse_for},
    {"aer", CMD_RULE_CTRL, CMD_RULE_EVENT, parse_event},
    {"temperature", CMD_RULE_CTRL, CMD_RULE_TEMPERATURE, parse_temperature},
};

static bool no_such_action(const CmdRule *r, const char *word, GError **error)
{
    GString *all = g_string_new(NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
        if (actions[i].kind == r->kind) {
            g_string_append_printf(all, "%s%s", all->len ? ", " : "",
                                   actions[i].name);
        }
    }
    complain(error, "%s: no such action of this rule (%s)", word, all->str);
    g_string_free(all, TRUE);
    return false;
}

/* [once|always|N times]; a rule about a controller acts once. */
static bool parse_times(CmdRule *r, Words *w, GError **error)
{
    const char *word = r->kind == CMD_RULE_CTRL ? NULL : next_word(w);

    r->times = r->kind == CMD_RULE_CTRL || r->nth ? 1 : ALWAYS;
    if (!word || strcmp(word, "always") == 0) {
        r->times = word ? ALWAYS : r->times;
        return true;
    }
    if (strcmp(word, "once") == 0) {
        r->times = 1;
        return true;
    }
    if (!take_word(w, "times")) {
        return complain(error, "'%s': allowed once, always, N times", word);
    }
    return parse_number("times", 1, UINT64_MAX / 2, word, &r->times, error);
}

static bool parse_action(CmdRule *r, Words *w, GError **error)
{
    const char *word = next_word(w);

    if (!word) {
        return complain(error, "an action must follow '->'");
    }
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
        if (actions[i].kind == r->kind && strcmp(word, actions[i].name) == 0) {
            r->action = actions[i].action;
            if (!actions[i].parse(r, w, error) || !parse_times(r, w, error)) {
                return false;
            }
            return !*w->at || complain(error,
                                       "'%s': nothing may follow the "
                                       "action",
                                       *w->at);
        }
    }
    return no_such_action(r, word, error);
}

/* ---- rules --------------------------------------------------------------- */

/* Selectors and action that cannot go together. */
static bool check_rule(const CmdRule *r, const CmdRuleLimits *l, GError **error)
{
    if (r->lba.given && !r->any_opcode &&
        (r->admin || !cmd_rules_has_range(r->opcode))) {
        return complain(error, "lba=: the entry of this command has no range "
                               "of blocks");
    }
    if (!l->has_slot &&
        (r->action == CMD_RULE_REMOVE || r->action == CMD_RULE_LINK_DOWN)) {
        return complain(error, "surprise-remove, link-down: the drive is not "
                               "in a slot of a machine");
    }
    return !l->takes || l->takes(r, error);
}

/* At blanks; no empty words. */
static char **split_words(const char *text)
{
    g_auto(GStrv) all = g_strsplit_set(text, " \t\r\n", -1);
    GPtrArray *words = g_ptr_array_new();

    for (char **word = all; *word; word++) {
        if (**word) {
            g_ptr_array_add(words, g_strdup(*word));
        }
    }
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

/* The kind comes first: other words depend on it. */
static bool parse_left(CmdRule *r, char **left, const CmdRuleLimits *l,
                       GError **error)
{
    unsigned kinds = 0;

    for (char **word = left; *word; word++) {
        bool cmd = g_str_has_prefix(*word, "cmd=");

        kinds += cmd || !strchr(*word, '=');
        if (!cmd && !strchr(*word, '=') && !parse_kind(r, *word, error)) {
            return false;
        }
    }
    if (kinds != 1) {
        return complain(error, "one of cmd=, irq and ctrl must come before "
                               "'->'");
    }
    for (char **word = left; *word; word++) {
        if (!parse_selector(r, *word, l, error)) {
            return false;
        }
    }
    return true;
}

static bool parse_rule(CmdRule *r, const char *text, const CmdRuleLimits *l,
                       GError **error)
{
    const char *arrow = strstr(text, "->");
    g_autofree char *before =
        arrow ? g_strndup(text, (gsize)(arrow - text)) : g_strdup("ctrl");
    g_auto(GStrv) left = split_words(before);
    g_auto(GStrv) right = split_words(arrow ? arrow + 2 : text);
    Words words = {.at = right};

    return parse_left(r, left, l, error) && parse_action(r, &words, error) &&
           check_rule(r, l, error);
}

/* "aer 1/0" and "temperature 90 for 5s" have no selectors. */
static bool has_form(const char *text)
{
    const char *word = text + strspn(text, " \t");

    return strstr(text, "->") || g_str_has_prefix(word, "aer") ||
           g_str_has_prefix(word, "temperature");
}

CmdRule *cmd_rules_add(CmdRules *r, const char *text, const CmdRuleLimits *l,
                       GError **error)
{
    CmdRule *rule;

    if (strlen(text) > CMD_RULE_BYTES || strpbrk(text, "\n\r")) {
        complain(error, "a rule is one line of at most %d bytes",
                 CMD_RULE_BYTES);
        return NULL;
    }
    if (r->rule->len == CMD_RULES_MOST) {
        complain(error, "more than %d rules", CMD_RULES_MOST);
        return NULL;
    }
    if (!ssd_is_host_rule(text) || !has_form(text)) {
        complain(error,
                 "'%s': not a rule with cmd=NAME, irq, ctrl, aer or "
                 "temperature; rules about NAND are read from faults=FILE",
                 text);
        return NULL;
    }
    rule = g_new0(CmdRule, 1);
    rule->prob = 1;
    if (!parse_rule(rule, text, l, error)) {
        g_free(rule);
        return NULL;
    }
    rule->id = ++r->last_id;
    rule->text = g_strstrip(g_strdup(text));
    prng_seed(&rule->prng, l->seed, PURPOSE + rule->id);
    g_ptr_array_add(r->rule, rule);
    return rule;
}

bool cmd_rules_load(CmdRules *r, const char *path, const CmdRuleLimits *l,
                    GError **error)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    gsize len;

    if (!g_file_get_contents(path, &text, &len, error)) {
        g_prefix_error(error, "faults=%s: ", path);
        return false;
    }
    if (len > CMD_RULES_BYTES || memchr(text, '\0', len)) {
        return complain(error, "%s: not a text of at most %u bytes", path,
                        CMD_RULES_BYTES);
    }
    lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i]; i++) {
        lines[i][strcspn(lines[i], "#")] = '\0';
        g_strchomp(lines[i]);
        if (ssd_is_host_rule(lines[i]) &&
            !cmd_rules_add(r, lines[i], l, error)) {
            g_prefix_error(error, "%s:%u: ", path, i + 1);
            return false;
        }
    }
    return true;
}
