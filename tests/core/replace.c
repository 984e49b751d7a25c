/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace.c - files that are replaced, in folders that others can write. */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"

enum { SOMEBODY = 65534 };

static char *dir;

static char *in_dir(const char *name)
{
    return g_build_filename(dir, name, NULL);
}

static void setup(void)
{
    dir = g_dir_make_tmp("vssd-replace-XXXXXX", NULL);
    g_assert_nonnull(dir);
}

static void teardown(void)
{
    g_assert_cmpint(g_rmdir(dir), ==, 0);
    g_clear_pointer(&dir, g_free);
}

/* "" or the error's text. */
static char *replaced(const char *path, const char *text)
{
    g_autoptr(GString) contents = g_string_new(text);
    g_autoptr(GError) error = NULL;

    return replace_text(path, contents, &error) ? g_strdup("")
                                                : g_strdup(error->message);
}

static void check(const char *path, const char *text, mode_t mode)
{
    g_autofree char *got = NULL;
    GStatBuf st;

    g_assert_true(g_file_get_contents(path, &got, NULL, NULL));
    g_assert_cmpstr(got, ==, text);
    g_assert_cmpint(g_stat(path, &st), ==, 0);
    g_assert_cmphex(st.st_mode & 07777, ==, mode);
}

static void put(const char *path, const char *text)
{
    g_autofree char *error = replaced(path, text);

    g_assert_cmpstr(error, ==, "");
}

/* A new file has the mode that the umask gives, and an old one's is kept. */
static void test_mode(void)
{
    const mode_t modes[] = {0600, 0640, 0644, 0660, 0666, 0400};
    g_autofree char *path = NULL;
    mode_t mask;

    setup();
    path = in_dir("file");
    mask = umask(027);
    put(path, "new");
    check(path, "new", 0640);
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        g_assert_cmpint(g_chmod(path, (int)modes[i]), ==, 0);
        put(path, "old");
        check(path, "old", modes[i]);
    }
    g_assert_cmpint(g_chmod(path, 04755), ==, 0);
    put(path, "no set-uid bit");
    check(path, "no set-uid bit", 0755);
    umask(mask);
    g_assert_cmpint(g_unlink(path), ==, 0);
    teardown();
}

/* Links stay, also one behind the other, and to a file that is not there yet.
 */
static void test_links(void)
{
    g_autofree char *sub = NULL, *path = NULL, *first = NULL, *second = NULL;
    g_autofree char *loop = NULL, *error = NULL;

    setup();
    sub = in_dir("sub");
    path = in_dir("sub/file");
    first = in_dir("first");
    second = in_dir("sub/second");
    loop = in_dir("loop");
    g_assert_cmpint(g_mkdir(sub, 0700), ==, 0);
    g_assert_cmpint(symlink("sub/second", first), ==, 0);
    g_assert_cmpint(symlink("file", second), ==, 0);
    put(first, "made");
    g_assert_cmpint(g_chmod(path, 0600), ==, 0);
    put(first, "replaced");
    check(path, "replaced", 0600);
    g_assert_true(g_file_test(first, G_FILE_TEST_IS_SYMLINK));
    g_assert_true(g_file_test(second, G_FILE_TEST_IS_SYMLINK));
    g_assert_cmpint(symlink("loop", loop), ==, 0);
    error = replaced(loop, "never");
    g_assert_true(g_str_has_prefix(error, loop));
    g_assert_cmpint(g_unlink(loop), ==, 0);
    g_assert_cmpint(g_unlink(first), ==, 0);
    g_assert_cmpint(g_unlink(second), ==, 0);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_rmdir(sub), ==, 0);
    teardown();
}

/* Another user's link or pipe is not used, and his file lends no rights. */
static void test_another_user(void)
{
    g_autofree char *path = NULL, *victim = NULL, *error = NULL;

    if (geteuid() != 0) {
        g_test_skip("only root can make files of another user");
        return;
    }
    setup();
    g_assert_cmpint(g_chmod(dir, 01777), ==, 0);
    path = in_dir("file");
    victim = in_dir("victim");
    put(victim, "before");
    for (int fifo = 0; fifo < 2; fifo++) {
        g_assert_cmpint(fifo ? mkfifo(path, 0666) : symlink(victim, path), ==,
                        0);
        g_assert_cmpint(lchown(path, SOMEBODY, SOMEBODY), ==, 0);
        g_free(error);
        error = replaced(path, "planted");
        g_assert_nonnull(strstr(error, "another user made it"));
        g_assert_cmpint(g_unlink(path), ==, 0);
    }
    check(victim, "before", 0644);
    g_assert_true(g_file_set_contents(path, "theirs", -1, NULL));
    g_assert_cmpint(chown(path, SOMEBODY, SOMEBODY), ==, 0);
    g_assert_cmpint(g_chmod(path, 0666), ==, 0);
    put(path, "ours");
    check(path, "ours", 0644);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_unlink(victim), ==, 0);
    teardown();
}

typedef struct Seen {
    GHashTable *names;
    bool fails;
} Seen;

/* While the new file is written: its name. */
static bool look(void *opaque, FILE *out, GError **error)
{
    Seen *seen = opaque;
    g_autoptr(GDir) folder = g_dir_open(dir, 0, NULL);
    const char *name;

    (void)out;
    while ((name = g_dir_read_name(folder))) {
        if (strcmp(name, "file") != 0) {
            g_assert_true(g_hash_table_add(seen->names, g_strdup(name)));
        }
    }
    if (seen->fails) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO, "it fails");
    }
    return !seen->fails;
}

/* The name is another one each time, without the process's number; after a
 * fault nothing is left. */
static void test_names(void)
{
    g_autofree char *path = NULL;
    g_autofree char *pid = g_strdup_printf(".%d.", (int)getpid());
    g_autoptr(GHashTable) names =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GDir) left = NULL;
    GHashTableIter iter;
    void *name;

    setup();
    path = in_dir("file");
    put(path, "before");
    for (int i = 0; i < 4; i++) {
        Seen seen = {names, i == 3};
        GError *error = NULL;
        bool ok = replace_file(path, look, &seen, &error);

        g_assert_cmpint(ok, ==, !seen.fails);
        g_clear_error(&error);
    }
    g_assert_cmpuint(g_hash_table_size(names), ==, 4);
    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        g_assert_null(strstr(name, pid));
    }
    left = g_dir_open(dir, 0, NULL);
    g_assert_cmpstr(g_dir_read_name(left), ==, "file");
    g_assert_null(g_dir_read_name(left));
    g_assert_cmpint(g_unlink(path), ==, 0);
    teardown();
}

/* A device stays one, a folder is refused, a path that is none is named. */
static void test_others(void)
{
    g_autofree char *null = NULL, *nowhere = NULL, *error = NULL;

    setup();
    null = in_dir("null");
    nowhere = in_dir("no/file");
    g_assert_cmpint(symlink("/dev/null", null), ==, 0);
    put(null, "gone");
    put("/dev/null", "gone");
    g_assert_true(g_file_test(null, G_FILE_TEST_IS_SYMLINK));
    g_assert_false(g_file_test("/dev/null", G_FILE_TEST_IS_REGULAR));
    error = replaced(dir, "never");
    g_assert_true(g_str_has_prefix(error, dir));
    g_free(error);
    error = replaced(nowhere, "never");
    g_assert_nonnull(strstr(error, "no/file: cannot be created: "));
    g_free(error);
    error = replaced("/dev/full", "lost");
    g_assert_true(g_str_has_prefix(error, "/dev/full: cannot be written: "));
    g_assert_cmpint(g_unlink(null), ==, 0);
    teardown();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    umask(022);
    g_test_add_func("/replace/mode", test_mode);
    g_test_add_func("/replace/links", test_links);
    g_test_add_func("/replace/another-user", test_another_user);
    g_test_add_func("/replace/names", test_names);
    g_test_add_func("/replace/others", test_others);
    return g_test_run();
}
