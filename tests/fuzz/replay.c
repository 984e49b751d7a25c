/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - run a fuzz target over a folder of inputs, as a test; and over
 * inputs made from a seed, so that a build without libFuzzer looks for
 * something new too (VSSD_FUZZ_INPUTS=n, VSSD_SEED=n).
 */
#include <stdio.h>
#include <glib.h>

#include "fuzz.h"
#include "prng.h"


static void replay_file(gconstpointer path)
{
    g_autofree char *data = NULL;
    gsize n;
    GError *error = NULL;

    g_file_get_contents(path, &data, &n, &error);
    g_assert_no_error(error);
    LLVMFuzzerTestOneInput((const uint8_t *)data, n);
}

static uint64_t from_env(const char *name, uint64_t otherwise)
{
    const char *s = g_getenv(name);

    return s ? g_ascii_strtoull(s, NULL, 0) : otherwise;
}

static void random_inputs(void)
{
    uint64_t seed = from_env("VSSD_SEED", 1);
    uint64_t n = from_env("VSSD_FUZZ_INPUTS", 100);
    uint8_t data[2048];
    Prng r;

    prng_seed(&r, seed, 0xf022);
    for (uint64_t i = 0; i < n; i++) {
        size_t size = 1 + prng_below(&r, sizeof(data));

        for (size_t k = 0; k < size; k++) {
            data[k] = prng_u64(&r);
        }
        LLVMFuzzerTestOneInput(data, size);
    }
}

/* What the corpus once reached it must go on to reach. */
static void reached(void)
{
    const char *name = fuzz_unreached();

    if (name) {
        g_error("no input of the corpus reaches: %s", name);
    }
}

int main(int argc, char **argv)
{
    g_autoptr(GDir) dir = NULL;
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    const char *name;

    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(argc, ==, 2);
    dir = g_dir_open(argv[1], 0, NULL);
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *test = g_strdup_printf("/fuzz/corpus/%s", name);
        char *path = g_build_filename(argv[1], name, NULL);

        g_ptr_array_add(paths, path);
        g_test_add_data_func(test, path, replay_file);
    }
    g_test_add_func("/fuzz/then/all-reached", reached);
    g_test_add_func("/fuzz/random", random_inputs);
    return g_test_run();
}
