/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-claims.c - statements of the pages that deny a command or a field: the
 * rows of tests/claims.toml with `nvme` are sent, and refused with the status
 * that they name.
 */
#include "host.h"

#define BEGIN   "nvme = \""
#define REFUSED "refused = \""
#define MOST    8 /* words of a row: opcode, NSID, CDW10 and following */

static char *text_of(const char *line, const char *key)
{
    char *text;

    g_assert_true(g_str_has_prefix(line, key));
    g_assert_true(g_str_has_suffix(line, "\""));
    text = g_strdup(line + strlen(key));
    text[strlen(text) - 1] = '\0';
    return text;
}

/* "OPTIONS | admin or io | OPCODE NSID CDW10 ...", in hexadecimal. */
static void try_row(const char *row, uint16_t want)
{
    g_auto(GStrv) part = g_strsplit(row, " | ", 0);
    g_auto(GStrv) word = NULL;
    HostOptions o = {.set = part[0], .block_bytes = 4096};
    Host *h = host_new(&o);
    NvmeSqe sqe = {.dw = {0}};
    uint32_t dw[MOST] = {0};
    uint16_t got;

    g_assert_cmpuint(g_strv_length(part), ==, 3);
    word = g_strsplit(part[2], " ", 0);
    g_assert_cmpuint(g_strv_length(word), <=, MOST);
    for (unsigned i = 0; word[i]; i++) {
        dw[i] = (uint32_t)g_ascii_strtoull(word[i], NULL, 16);
    }
    sqe = host_sqe((uint8_t)dw[0], dw[1], HOST_DATA);
    memcpy(&sqe.dw[10], dw + 2, (MOST - 2) * sizeof(*dw));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    got = host_code(host_do(h, g_str_equal(part[1], "io"), &sqe).status);
    if (got != want) {
        g_printerr("%s: status %03x, not %03x\n", row, got, want);
        g_test_fail();
    }
    host_free(h);
}

static void test_claims(void)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) line = NULL;
    unsigned n = 0;

    g_assert_true(
        g_file_get_contents(TEST_DIR "/../claims.toml", &text, NULL, NULL));
    line = g_strsplit(text, "\n", 0);
    for (unsigned i = 0; line[i]; i++) {
        if (g_str_has_prefix(line[i], BEGIN)) {
            g_autofree char *row = text_of(line[i], BEGIN);
            g_autofree char *refused = text_of(line[i + 1], REFUSED);

            try_row(row, (uint16_t)g_ascii_strtoull(refused, NULL, 16));
            n++;
        }
    }
    g_assert_cmpuint(n, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/claims", test_claims);
    return g_test_run();
}
