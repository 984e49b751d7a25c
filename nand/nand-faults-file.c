/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-faults-file.c - reading the rules of scripted faults (docs/faults.md).
 *
 * Knows the grammar and the limits of the drive; nand-faults.c applies the
 * rules.  Any bytes may be given: a line that is not a rule is refused by
 * number.
 */
#include <errno.h>
#include <string.h>

#include "nand-faults.h"

#define ALL UINT64_MAX

#define complain(error, ...) opt_fail(error, OPT_ERROR_SYNTAX, __VA_ARGS__)

/* ---- selectors ----------------------------------------------------------- */

static bool parse_amount(OptType type, const char *key, uint64_t min,
                         uint64_t max, const char *value, uint64_t *out,
                         GError **error)
{
    const OptDesc d = {.key = key, .type = type, .min = min, .max = max};

    return opt_set(out, &d, value, error);
}

/* "7" or "3..9", each below n. */
static bool parse_range(FaultRange *r, const char *key, uint64_t n,
                        const char *value, GError **error)
{
    g_auto(GStrv) ends = g_strsplit(value, "..", 2);
    const char *last = ends[0] && ends[1] ? ends[1] : value;

    if (!ends[0]) {
        return complain(error, "%s=: a number is missing", key);
    }
    if (!parse_amount(OPT_U64, key, 0, n - 1, ends[0], &r->first, error) ||
        !parse_amount(OPT_U64, key, 0, n - 1, last, &r->last, error)) {
        return false;
    }
    if (r->first > r->last) {
        return complain(error, "%s=%s: the range ends before it begins", key,
                        value);
    }
    r->given = true;
    return true;
}

/* A count from 1. */
static bool parse_nth(FaultRange *r, const char *key, const char *value,
                      GError **error)
{
    if (!parse_amount(OPT_U64, key, 1, UINT64_MAX / 2, value, &r->first,
                      error)) {
        return false;
    }
    r->last = r->first;
    r->given = true;
    return true;
}

static bool parse_on(FaultRule *r, const char *value, GError **error)
{
    static const struct {
        const char *name;
        uint32_t kinds;
    } names[] = {
        {"read", 1U << NAND_READ},
        {"program", 1U << NAND_PROGRAM | 1U << NAND_COPYBACK},
        {"erase", 1U << NAND_ERASE},
        {"copyback", 1U << NAND_COPYBACK},
        {"any", UINT32_MAX},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(value, names[i].name) == 0) {
            r->kinds = names[i].kinds;
            r->on = true;
            return true;
        }
    }
    return complain(error, "on=%s: allowed read, program, erase, copyback, any",
                    value);
}

static bool parse_cause(FaultRule *r, const char *value, GError **error)
{
    static const char *const names[] = {
#define CAUSE_NAME(upper, lower) #lower,
        NAND_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
    };
    GString *all = g_string_new(NULL);
    bool found = false;

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(value, names[i]) == 0) {
            r->causes = 1U << i;
            r->on = true;
            found = true;
        }
        g_string_append_printf(all, "%s%s", i ? ", " : "", names[i]);
    }
    if (!found) {
        complain(error, "cause=%s: allowed %s", value, all->str);
    }
    g_string_free(all, TRUE);
    return found;
}

static bool parse_time(FaultRule *r, const char *value, GError **error)
{
    r->time.given = true;
    return parse_amount(OPT_TIME, "time", 0, SIM_MAX_NS * PS_PER_NS, value,
                        &r->time.first, error);
}

static bool parse_selector(FaultRule *r, char *word, const FaultLimits *l,
                           GError **error)
{
    const struct {
        const char *key;
        FaultRange *range;
        uint64_t n;
    } ranges[] = {
        {"channel", &r->channel, l->n_channels},
        {"die", &r->die, l->n_dies},
        {"plane", &r->plane, l->planes_per_die},
        {"block", &r->block, l->blocks_per_plane},
        {"page", &r->page, l->pages_per_block},
        {"lba", &r->lba, l->n_lbas},
    };
    char *value = strchr(word, '=');

    if (!value) {
        return complain(error, "'%s': not of the form key=value", word);
    }
    *value++ = '\0';
    for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
        if (strcmp(word, ranges[i].key) == 0) {
            return parse_range(ranges[i].range, word, ranges[i].n, value,
                               error);
        }
    }
    if (strcmp(word, "nth") == 0) {
        return parse_nth(&r->nth, word, value, error);
    } else if (strcmp(word, "op") == 0) {
        return parse_nth(&r->op, word, value, error);
    } else if (strcmp(word, "cmd") == 0) {
        return parse_nth(&r->cmd, word, value, error);
    } else if (strcmp(word, "time") == 0) {
        return parse_time(r, value, error);
    } else if (strcmp(word, "on") == 0) {
        return parse_on(r, value, error);
    } else if (strcmp(word, "cause") == 0) {
        return parse_cause(r, value, error);
    }
    return complain(error, "%s: no such selector (on, cause, channel, die, "
                    "plane, block, page, lba, nth, op, cmd, time)", word);
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

/* [once|always|N times] */
static bool parse_times(FaultRule *r, Words *w, GError **error)
{
    const char *word = next_word(w);
    const char *unit;

    if (!word) {
        return true;
    }
    r->times_given = true;
    if (strcmp(word, "once") == 0) {
        r->times = 1;
        return true;
    }
    if (strcmp(word, "always") == 0) {
        r->times = ALL;
        return true;
    }
    unit = next_word(w);
    if (!unit || strcmp(unit, "times") != 0) {
        return complain(error, "'%s': allowed once, always, N times", word);
    }
    return parse_amount(OPT_U64, "times", 1, UINT64_MAX / 2, word, &r->times,
                        error);
}

/* xF [for T] [count] */
static bool parse_latency(FaultRule *r, Words *w, GError **error)
{
    const char *word = next_word(w);
    OptDesc d = {.key = "latency x", .type = OPT_DOUBLE, .min = 0,
                 .max = 1000000};
    double factor;

    if (!word || *word != 'x') {
        return complain(error, "latency: a factor must follow, as in x10");
    }
    if (!opt_set(&factor, &d, word + 1, error)) {
        return false;
    }
    r->stretch_milli = (uint32_t)(factor * 1000 + 0.5);
    if (r->stretch_milli == 0) {
        return complain(error, "latency %s: allowed x0.001..x1000000", word);
    }
    if (*w->at && strcmp(*w->at, "for") == 0) {
        next_word(w);
        word = next_word(w);
        if (!word) {
            return complain(error, "for: a time must follow, as in 5ms");
        }
        return parse_amount(OPT_TIME, "for", 1000,
                            SIM_MAX_NS / 2 * PS_PER_NS, word, &r->for_ps,
                            error) &&
               parse_times(r, w, error);
    }
    return parse_times(r, w, error);
}

static bool parse_cut(FaultRule *r, Words *w, GError **error)
{
    const char *word = next_word(w);

    if (!word || strcmp(word, "power") != 0) {
        return complain(error, "cut: allowed 'cut power'");
    }
    return parse_times(r, w, error);
}

static bool parse_action(FaultRule *r, Words *w, GError **error)
{
    const char *word = next_word(w);
    bool ok;

    if (!word) {
        return complain(error, "an action must follow '->'");
    }
    if (strcmp(word, "fail") == 0) {
        r->action = FAULT_FAIL;
        ok = parse_times(r, w, error);
    } else if (strcmp(word, "uncorrectable") == 0) {
        r->action = FAULT_UNCORRECTABLE;
        ok = parse_times(r, w, error);
    } else if (strcmp(word, "latency") == 0) {
        r->action = FAULT_LATENCY;
        ok = parse_latency(r, w, error);
    } else if (strcmp(word, "dead") == 0) {
        r->action = FAULT_DEAD;
        ok = parse_times(r, w, error);
    } else if (strcmp(word, "cut") == 0) {
        r->action = FAULT_CUT;
        ok = parse_cut(r, w, error);
    } else {
        return complain(error,
                        "%s: no such action (fail, uncorrectable, "
                        "latency, dead, cut power)",
                        word);
    }
    if (ok && *w->at) {
        return complain(error, "'%s': nothing may follow the action", *w->at);
    }
    return ok;
}

/* ---- rules --------------------------------------------------------------- */

#define KINDS_FAIL (1U << NAND_PROGRAM | 1U << NAND_COPYBACK | 1U << NAND_ERASE)

static bool names_place(const FaultRule *r)
{
    return r->on || r->channel.given || r->die.given || r->plane.given ||
           r->block.given || r->page.given || r->lba.given || r->nth.given ||
           r->op.given || r->time.given;
}

/* Selectors and action that cannot go together. */
static bool check_rule(const FaultRule *r, GError **error)
{
    if (r->action == FAULT_FAIL && !(r->kinds & KINDS_FAIL)) {
        return complain(error, "fail: reads do not fail, they are "
                        "'uncorrectable'");
    }
    if (r->action == FAULT_UNCORRECTABLE && !(r->kinds & 1U << NAND_READ)) {
        return complain(error, "uncorrectable: only reads are");
    }
    if (r->action == FAULT_DEAD && (r->on || r->lba.given)) {
        return complain(error, "dead: goes with a place, not with on=, cause= "
                               "or lba=");
    }
    if (r->lba.given && r->kinds == 1U << NAND_ERASE) {
        return complain(error, "lba: an erase has none");
    }
    if (r->page.given && r->kinds == 1U << NAND_ERASE) {
        return complain(error, "page: an erase has none");
    }
    if (r->cmd.given && names_place(r)) {
        return complain(error, "cmd: goes with no other selector");
    }
    if (r->cmd.given && r->action != FAULT_CUT &&
        !(r->action == FAULT_LATENCY && r->for_ps)) {
        return complain(error, "cmd: goes with 'cut power' and 'latency ... "
                        "for' only");
    }
    if (!r->cmd.given && !names_place(r)) {
        return complain(error, "a selector must come before '->'");
    }
    return true;
}

/* Members that follow from the rest of the rule. */
static void complete_rule(FaultRule *r)
{
    bool single = r->nth.given || r->op.given || r->cmd.given ||
                  r->action == FAULT_CUT ||
                  (r->action == FAULT_LATENCY && r->for_ps);

    if (r->action == FAULT_FAIL) {
        r->kinds &= KINDS_FAIL;
    } else if (r->action == FAULT_UNCORRECTABLE) {
        r->kinds &= 1U << NAND_READ;
    }
    if (!r->times_given) {
        r->times = single ? 1 : ALL;
    }
    if (r->lba.given || r->page.given) {
        r->kinds &= ~(1U << NAND_ERASE);
    }
    if (r->action == FAULT_LATENCY && r->for_ps && r->time.given &&
        !r->nth.given && !r->op.given && !r->lba.given) {
        r->window_from_ps = r->time.first;
        r->window_until_ps = r->time.first + r->for_ps;
    }
}

static char **split_words(char *text)
{
    GPtrArray *words = g_ptr_array_new();
    char *save = NULL;

    for (char *word = strtok_r(text, " \t\r", &save); word;
         word = strtok_r(NULL, " \t\r", &save)) {
        g_ptr_array_add(words, word);
    }
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

static bool parse_rule(FaultRule *r, char *text, const FaultLimits *l,
                       GError **error)
{
    char *arrow = strstr(text, "->");
    g_autofree char **left = NULL;
    g_autofree char **right = NULL;
    Words words;

    if (!arrow) {
        return complain(error, "not of the form 'selectors -> action'");
    }
    *arrow = '\0';
    left = split_words(text);
    right = split_words(arrow + 2);
    for (char **word = left; *word; word++) {
        if (!parse_selector(r, *word, l, error)) {
            return false;
        }
    }
    words.at = right;
    if (!parse_action(r, &words, error) || !check_rule(r, error)) {
        return false;
    }
    complete_rule(r);
    return true;
}

static bool names_host(const char *word, bool first)
{
    return (g_str_has_prefix(word, "cmd=") && word[4] &&
            !g_ascii_isdigit(word[4])) ||
           strcmp(word, "irq") == 0 || strcmp(word, "ctrl") == 0 ||
           (first &&
            (strcmp(word, "aer") == 0 || strcmp(word, "temperature") == 0));
}

bool faults_is_host_rule(const char *line)
{
    const char *end = strpbrk(line, "#");
    const char *arrow = strstr(line, "->");
    gsize len = end ? (gsize)(end - line) : strlen(line);
    g_autofree char *left = NULL;
    g_autofree char **words = NULL;
    bool first = true;
    bool any = false;

    if (arrow && (gsize)(arrow - line) < len) {
        len = (gsize)(arrow - line);
    }
    left = g_strndup(line, len);
    words = split_words(left);
    for (char **word = words; *word; word++) {
        any |= names_host(*word, first);
        first = false;
    }
    return any;
}

static bool is_blank(const char *s)
{
    return s[strspn(s, " \t\r")] == '\0';
}

static bool parse_line(GArray *rules, char *line, unsigned number,
                       const FaultLimits *l, GError **error)
{
    FaultRule r = {.line = number, .kinds = UINT32_MAX, .causes = UINT32_MAX};

    line[strcspn(line, "#")] = '\0';
    if (is_blank(line) || faults_is_host_rule(line)) {
        return true;
    }
    if (rules->len == FAULTS_MAX_RULES) {
        return complain(error, "more than %d rules", FAULTS_MAX_RULES);
    }
    if (!parse_rule(&r, line, l, error)) {
        return false;
    }
    g_array_append_val(rules, r);
    return true;
}

static Faults *make_faults(GArray *rules)
{
    Faults *f = g_new0(Faults, 1);

    f->n_rules = rules->len;
    f->rule = (FaultRule *)(void *)g_array_free(rules, FALSE);
    f->lba_rule = g_new(unsigned, f->n_rules + 1);
    for (unsigned i = 0; i < f->n_rules; i++) {
        if (f->rule[i].lba.given) {
            f->lba_rule[f->n_lba_rules++] = i;
        }
    }
    return f;
}

Faults *faults_parse(const char *text, size_t len, const char *name,
                     const FaultLimits *limits, GError **error)
{
    GArray *rules = g_array_new(FALSE, FALSE, sizeof(FaultRule));
    g_autofree char *copy = NULL;
    char *line;
    unsigned number = 1;

    if (len > FAULTS_MAX_BYTES || memchr(text, '\0', len)) {
        complain(error, "%s: not a text of at most %u bytes", name,
                 FAULTS_MAX_BYTES);
        g_array_free(rules, TRUE);
        return NULL;
    }
    copy = g_strndup(text, len);
    for (line = copy; line; number++) {
        char *end = strchr(line, '\n');

        if (end) {
            *end++ = '\0';
        }
        if (!parse_line(rules, line, number, limits, error)) {
            g_prefix_error(error, "%s:%u: ", name, number);
            g_array_free(rules, TRUE);
            return NULL;
        }
        line = end;
    }
    return make_faults(rules);
}

Faults *faults_load(const char *path, const FaultLimits *limits,
                    GError **error)
{
    g_autofree char *text = NULL;
    gsize len;

    if (!g_file_get_contents(path, &text, &len, error)) {
        g_prefix_error(error, "faults=%s: ", path);
        return NULL;
    }
    return faults_parse(text, len, path, limits, error);
}
