/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields.c - numbers, times and words of a line. */
#include "fields.h"

#include <string.h>
#include <glib.h>

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

bool field_whole(const char *text, const char *prefix, uint64_t min,
                 uint64_t max, uint64_t *out)
{
    const char *s = text;
    size_t len = strlen(prefix);

    if (g_ascii_strncasecmp(s, prefix, len) == 0) {
        s += len;
    }
    return field_u64(&s, out) && *s == '\0' && *out >= min && *out <= max;
}

const char *field_fraction(const char *p, uint64_t unit_ns, uint64_t *ns)
{
    uint64_t scale = 1;
    uint64_t v = 0;

    for (; field_digit(p) <= 9; p++) {
        if (scale < unit_ns) { /* digits below a nanosecond add nothing */
            v = v * 10 + field_digit(p);
            scale *= 10;
        }
    }
    *ns = scale == unit_ns ? v : v * (unit_ns / scale);
    return p;
}

/* `word` is of lower-case letters, which differ from capitals in one bit. */
static inline bool is_word(const char *text, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((text[i] | 0x20) != word[i]) {
            return false;
        }
    }
    return true;
}

bool op_from_text(const char *text, size_t len, SsdOp *op)
{
#define WORD(text, op)                                                         \
    {                                                                          \
        text, sizeof(text) - 1, op                                             \
    }
    static const struct {
        const char *word;
        size_t len;
        SsdOp op;
    } words[] = {
        WORD("r", SSD_OP_READ),       WORD("read", SSD_OP_READ),
        WORD("w", SSD_OP_WRITE),      WORD("write", SSD_OP_WRITE),
        WORD("d", SSD_OP_TRIM),       WORD("trim", SSD_OP_TRIM),
        WORD("discard", SSD_OP_TRIM), WORD("f", SSD_OP_FLUSH),
        WORD("flush", SSD_OP_FLUSH),  WORD("sync", SSD_OP_FLUSH),
    };
#undef WORD

    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (words[i].len == len && is_word(text, words[i].word, len)) {
            *op = words[i].op;
            return true;
        }
    }
    return false;
}
