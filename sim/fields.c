/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields.c - numbers, times and words of a line. */
#include "fields.h"

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

bool field_whole(const char *text, const char *prefix, uint64_t min,
                 uint64_t max, uint64_t *out)
{
    g_autofree char *line = field_line(text);
    const char *s = line;
    size_t len = strlen(prefix);

    if (g_ascii_strncasecmp(s, prefix, len) == 0) {
        s += len;
    }
    return field_u64(&s, out) && *s == '\0' && *out >= min && *out <= max;
}

bool field_whole_time(const char *text, uint64_t unit_ns, uint64_t *out_ns)
{
    g_autofree char *line = field_line(text);
    const char *s = line;

    return field_time(&s, unit_ns, out_ns) && *s == '\0';
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
        return false;
    }
    *op = (SsdOp)found;
    return true;
}
