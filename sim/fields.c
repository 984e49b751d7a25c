/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields.c - numbers, times and words of a line. */
#include "fields.h"

#include <stdlib.h>

#define FIELD_DIGITS "0123456789"
#define FIELD_ENDS   ",; \t\""

bool field_long(const char **s, const char *p, uint64_t v, uint64_t *out)
{
    for (; field_digit(p) <= 9; p++) {
        unsigned digit = field_digit(p);

        if (v > (UINT64_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    *s = p;
    *out = v;
    return true;
}

char *field_line(const char *text)
{
    size_t len = strlen(text);
    char *line = g_malloc0(len + 1 + FIELD_SLACK);

    memcpy(line, text, len);
    return line;
}

/* A number such as 1.5e9. */
typedef struct Number {
    const char *digits;
    size_t n; /* with the point, if there is any */
    int exponent;
} Number;

/* The length of the field at p if it is such a number; else 0. */
static size_t take_number(const char *p, Number *out)
{
    const char *s = p + strspn(p, FIELD_DIGITS);
    const char *exponent;

    if (s == p) {
        return 0;
    }
    s += *s == '.' ? 1 + strspn(s + 1, FIELD_DIGITS) : 0;
    if (*s != 'e' && *s != 'E') {
        return 0;
    }
    exponent = s + 1;
    *out = (Number){.digits = p, .n = (size_t)(s - p)};
    s = exponent + (*exponent == '-' || *exponent == '+');
    if (field_digit(s) > 9 || strspn(s, FIELD_DIGITS) > 2) {
        return 0;
    }
    out->exponent = (int)strtol(exponent, NULL, 10);
    s += strspn(s, FIELD_DIGITS);
    return *s == '\0' || strchr(FIELD_ENDS, *s) ? (size_t)(s - p) : 0;
}

/* Without an exponent, and without zeroes at the end of the fraction. */
static void put_number(GString *out, const Number *number)
{
    const char *dot = memchr(number->digits, '.', number->n);
    size_t whole = dot ? (size_t)(dot - number->digits) : number->n;
    g_autoptr(GString) all = g_string_new_len(number->digits, (gssize)whole);
    int point = (int)whole + number->exponent;
    size_t end;

    if (dot) {
        g_string_append_len(all, dot + 1, (gssize)(number->n - whole - 1));
    }
    for (; point < 1; point++) {
        g_string_prepend_c(all, '0');
    }
    while (all->len < (size_t)point) {
        g_string_append_c(all, '0');
    }
    end = all->len;
    while (end > (size_t)point && all->str[end - 1] == '0') {
        end--;
    }
    g_string_append_len(out, all->str, point);
    if (end > (size_t)point) {
        g_string_append_c(out, '.');
        g_string_append_len(out, all->str + point, (gssize)end - point);
    }
}

char *field_plain(const char *line)
{
    g_autoptr(GString) out = g_string_new(NULL);
    bool quoted = false;
    bool begins = true; /* a field */

    for (const char *p = line; *p;) {
        Number number;
        size_t n = begins ? take_number(p, &number) : 0;
        bool ends = strchr(FIELD_ENDS, *p) != NULL;
        bool margin = *p == ' ' && out->len &&
                      strchr(",;", out->str[out->len - 1]) != NULL;

        if (n) {
            put_number(out, &number);
        } else if (*p == '"') {
            quoted = !quoted;
        } else if (quoted || !margin) {
            g_string_append_c(out, quoted && ends ? '_' : *p);
        }
        begins = n == 0 && ends && (!quoted || *p == '"');
        p += MAX(n, 1);
    }
    return strcmp(out->str, line) == 0 ? NULL : field_line(out->str);
}

bool field_whole(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    g_autofree char *line = field_line(text);
    const char *s = line;

    return field_u64(&s, out) && *s == '\0' && *out >= min && *out <= max;
}

const char *field_fraction(const char *p, uint64_t unit_ns, uint64_t *ns)
{
    uint64_t v = 0;
    unsigned n = field_digits(p, &v);
    uint64_t scale = field_power[n];

    p += n;
    if (n == FIELD_SLACK) {
        for (; field_digit(p) <= 9; p++) {
            if (scale < unit_ns) { /* others add nothing */
                v = v * 10 + field_digit(p);
                scale *= 10;
            }
        }
    }
    /* Digits below a nanosecond are dropped. */
    *ns = scale <= unit_ns ? v * (unit_ns / scale) : v / (scale / unit_ns);
    return p;
}

/* The letters of a word of up to 8, without regard to their case, in which they
 * differ by one bit; as one number, to be compared. */
static inline uint64_t word_key(const char *text, size_t len)
{
    uint64_t key;
    char mask[2 * sizeof(key)] = {
        [0 ... sizeof(key) - 1] = (char)0xff,
    };
    uint64_t of_word;

    memcpy(&key, text, sizeof(key));
    memcpy(&of_word, mask + sizeof(key) - len, sizeof(of_word));
    return (key | 0x2020202020202020) & of_word;
}

static const struct {
    unsigned opcode;
    SsdOp op;
} opcodes[] = {
    {0x08, SSD_OP_READ},  {0x28, SSD_OP_READ},  {0xa8, SSD_OP_READ},
    {0x88, SSD_OP_READ},  {0x0a, SSD_OP_WRITE}, {0x2a, SSD_OP_WRITE},
    {0xaa, SSD_OP_WRITE}, {0x8a, SSD_OP_WRITE}, {0x42, SSD_OP_TRIM},
    {0x35, SSD_OP_FLUSH}, {0x91, SSD_OP_FLUSH},
};

/* Two digits of an opcode, after 0x or not. */
static bool op_from_opcode(const char *text, size_t len, SsdOp *op)
{
    unsigned opcode;

    if (len == 4 && g_ascii_strncasecmp(text, "0x", 2) == 0) {
        text += 2;
        len -= 2;
    }
    if (len != 2 || !g_ascii_isxdigit(text[0]) || !g_ascii_isxdigit(text[1])) {
        return false;
    }
    opcode = (unsigned)g_ascii_xdigit_value(text[0]) << 4 |
             (unsigned)g_ascii_xdigit_value(text[1]);
    for (size_t i = 0; i < G_N_ELEMENTS(opcodes); i++) {
        if (opcodes[i].opcode == opcode) {
            *op = opcodes[i].op;
            return true;
        }
    }
    return false;
}

/* Without a branch for each word: one on read or write would be mispredicted
 * half of the time. */
bool op_from_text(const char *text, size_t len, SsdOp *op)
{
    static const struct {
        char word[8];
        SsdOp op;
    } words[] = {
        {"r", SSD_OP_READ},       {"read", SSD_OP_READ},
        {"w", SSD_OP_WRITE},      {"write", SSD_OP_WRITE},
        {"d", SSD_OP_TRIM},       {"trim", SSD_OP_TRIM},
        {"discard", SSD_OP_TRIM}, {"f", SSD_OP_FLUSH},
        {"flush", SSD_OP_FLUSH},  {"sync", SSD_OP_FLUSH},
    };
    unsigned found = SSD_N_OPS;
    uint64_t key;

    G_STATIC_ASSERT(FIELD_SLACK >= sizeof(key));
    if (len > sizeof(key)) {
        return false;
    }
    key = word_key(text, len);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        uint64_t word;

        memcpy(&word, words[i].word, sizeof(word));
        found = word == key ? words[i].op : found;
    }
    if (found == SSD_N_OPS) {
        return op_from_opcode(text, len, op);
    }
    *op = (SsdOp)found;
    return true;
}
