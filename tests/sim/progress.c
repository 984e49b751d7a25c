/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress.c - the line of a long stage, and the totals of fills. */
#include "progress.h"

#include <glib.h>

#include "player.h"
#include "precondition.h"
#include "ssd-setup.h"

static const char drive[] =
    "nand.channels=1;nand.chips=1;nand.dies=1;nand.planes=1;nand.blocks=64;"
    "nand.pages=16;nand.page_size=16KiB;ftl.unit=4KiB;ftl.op_percent=60%;";

static void text_is(Progress p, double seconds, const char *expected)
{
    g_autofree char *text = progress_text(&p, seconds);

    g_assert_cmpstr(text, ==, expected);
}

static void test_text(void)
{
    text_is((Progress){.stage = "playing", .things = "requests", .n = 5000000},
            2, "playing: 5.0 million requests, 2.5 million/s, 2 s");
    text_is((Progress){.stage = "playing",
                       .things = "requests",
                       .n = 5000000,
                       .total = 20000000},
            10,
            "playing: 5.0 million requests, 0.5 million/s, 10 s, 25 %, 30 s "
            "left");
    text_is((Progress){.stage = "s", .things = "x", .n = 5, .total = 5}, 1,
            "s: 0.0 million x, 5e-06 million/s, 1 s");
}

static Ssd *make(void)
{
    SsdConfig *cfg = ssd_config_new();
    Ssd *ssd;

    g_assert_true(ssd_config_set(cfg, drive, NULL));
    ssd = ssd_create(cfg, NULL, NULL, NULL);
    ssd_config_free(cfg);
    return ssd;
}

/* Each fill counts as many requests as it expected. */
static void test_fills(void)
{
    for (PlayerFill fill = PLAYER_FILL_SEQ; fill <= PLAYER_FILL_RANDOM;
         fill++) {
        Ssd *ssd = make();
        Progress progress = {.next = UINT64_MAX};
        PlayerConfig cfg = {.progress = &progress};
        Player *player = player_new(ssd, &cfg);

        g_assert_true(player_fill(player, fill, 1, NULL));
        g_assert_cmpuint(progress.n, >, 0);
        g_assert_cmpuint(progress.n, ==, progress.total);
        player_free(player);
        ssd_destroy(ssd);
    }
}

static void test_precondition(void)
{
    Ssd *ssd = make();
    Progress progress = {.next = UINT64_MAX};
    Precondition p;

    g_assert_true(precondition(ssd, 1, &p, &progress, NULL));
    g_assert_cmpuint(progress.n, ==, p.host_units);
    g_assert_cmpuint(progress.n, ==, progress.total);
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/progress/text", test_text);
    g_test_add_func("/progress/fills", test_fills);
    g_test_add_func("/progress/precondition", test_precondition);
    return g_test_run();
}
