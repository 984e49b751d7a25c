/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-document.c - docs/nvme-support.md says what the tables say, and the
 * statistics are JSON that names what they count.
 */
#include "host.h"

static void test_support_page(void)
{
    g_autoptr(GString) want = g_string_new(NULL);
    g_autofree char *have = NULL;
    GError *error = NULL;

    nvme_document(want);
    if (g_getenv("VSSD_WRITE_DOCS")) {
        g_file_set_contents(SUPPORT_PAGE, want->str, want->len, &error);
        g_assert_no_error(error);
    }
    g_file_get_contents(SUPPORT_PAGE, &have, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(have, ==, want->str);
}

static uint64_t member(const char *json, const char *name)
{
    g_autofree char *key = g_strdup_printf("\"%s\":", name);
    const char *at = strstr(json, key);

    g_assert_nonnull(at);
    return g_ascii_strtoull(at + strlen(key), NULL, 10);
}

/* What a reset did to each row: its kind says it. */
static void check_reset(const char *before, const char *after)
{
    for (size_t i = 0; i < nvme_stats.n_rows; i++) {
        const StatRow *r = &nvme_stats.row[i];
        const char *dot = strrchr(r->path, '.');
        const char *name = dot ? dot + 1 : r->path;

        g_assert_cmpuint(member(after, name), ==,
                         r->reset == STAT_RESET ? 0 : member(before, name));
    }
}

static void test_statistics(void)
{
    Host *h = host_new(NULL);
    g_autoptr(GString) s = g_string_new(NULL);
    g_autoptr(GString) after = g_string_new(NULL);
    JsonWriter w = { .out = s };

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 64, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, h->nblocks, 1, HOST_DATA), !=,
                    0);
    nvme_stats_json(h->ctrl, &w, NULL);
    g_assert_cmpuint(member(s->str, "commands_admin"), ==, 2);
    g_assert_cmpuint(member(s->str, "commands_io"), ==, 3);
    g_assert_cmpuint(member(s->str, "commands_failed"), ==, 1);
    g_assert_cmpuint(member(s->str, "destaged_units"), ==, 8);
    g_assert_cmpuint(member(s->str, "units"), ==, 0);
    g_assert_cmpuint(member(s->str, "store_flushes"), ==, 1);
    g_assert_cmpuint(member(s->str, "count"), ==, 2); /* of lateness */
    g_assert_cmpuint(member(s->str, "doorbell_writes"), >, 0);
    g_assert_cmpuint(member(s->str, "fetches"), >, 0);
    nvme_reset_stats(h->ctrl);
    g_assert_cmpuint(nvme_lateness(h->ctrl)->n, ==, 0);
    w = (JsonWriter){.out = after};
    nvme_stats_json(h->ctrl, &w, NULL);
    check_reset(s->str, after->str);
    host_free(h);
}

/* One object with the members of both writers, each once; what is kept between
 * two calls is the same in both. */
static void test_drive_statistics(void)
{
    Host *h = host_new(NULL);
    g_autoptr(GString) first = g_string_new(NULL);
    g_autoptr(GString) second = g_string_new(NULL);
    JsonWriter w = {.out = first};

    host_enable(h);
    nvme_drive_stats_json(h->ctrl, &w);
    g_assert_cmpuint(member(first->str, "commands_admin"), ==, 0);
    g_assert_cmpuint(member(first->str, "schema_version"), >, 0);
    g_assert_nonnull(strstr(first->str, "\"vssd\":{"));
    g_assert_nonnull(strstr(first->str, "\"options\":{\""));
    g_assert_true(g_str_has_prefix(first->str, "{\""));
    g_assert_true(g_str_has_suffix(first->str, "}}"));
    w = (JsonWriter){.out = second};
    nvme_drive_stats_json(h->ctrl, &w);
    g_assert_cmpstr(first->str, ==, second->str);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/document/support-page", test_support_page);
    g_test_add_func("/nvme/document/statistics", test_statistics);
    g_test_add_func("/nvme/document/drive-statistics", test_drive_statistics);
    return g_test_run();
}
