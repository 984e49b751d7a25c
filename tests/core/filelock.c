/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filelock.c - a file belongs to one drive. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filelock.h"
#include "replace.h"

enum { SOMEBODY = 65534 };

static char *dir, *path, *lock_path;
static int flock_errno; /* of a file system without locks; 0: as it is */
static GString *warned;

/* In place of the C library's. */
int flock(int fd, int operation)
{
    if (flock_errno) {
        errno = flock_errno;
        return -1;
    }
    return (int)syscall(SYS_flock, fd, operation);
}

static void warn(const char *line)
{
    g_string_append(warned, line);
    g_string_append_c(warned, '\n');
}

static void setup(void)
{
    dir = g_dir_make_tmp("vssd-filelock-XXXXXX", NULL);
    g_assert_nonnull(dir);
    path = g_build_filename(dir, "file", NULL);
    lock_path = g_strconcat(path, ".vssd-lock", NULL);
    warned = g_string_new(NULL);
    filelock_warn_by(warn);
}

/* Nothing else is left. */
static void teardown(void)
{
    (void)g_unlink(path);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
    g_string_free(warned, TRUE);
    g_free(path);
    g_free(lock_path);
    g_free(dir);
}

static FileLock *taken(const char *name)
{
    g_autoptr(GError) error = NULL;
    FileLock *lock;

    g_assert_true(filelock_take(name, &lock, &error));
    g_assert_no_error(error);
    return lock;
}

/* Refused, with this text behind the path. */
static void refused(const char *name, const char *text)
{
    g_autofree char *want = g_strconcat(name, ": ", text, NULL);
    GError *error = NULL;
    FileLock *lock;

    g_assert_false(filelock_take(name, &lock, &error));
    g_assert_null(lock);
    g_assert_cmpstr(error->message, ==, want);
    g_clear_error(&error);
    g_assert_null(filelock_open(name, &lock, &error));
    g_assert_null(lock);
    g_assert_cmpstr(error->message, ==, want);
    g_error_free(error);
}

static void in_use(const char *name, pid_t pid)
{
    g_autofree char *text =
        g_strdup_printf("in use by another drive (process %d)", (int)pid);

    refused(name, text);
}

static void put(const char *name, const char *text)
{
    g_assert_true(g_file_set_contents(name, text, -1, NULL));
}

static void check(const char *name, const char *text)
{
    g_autofree char *got = NULL;

    g_assert_true(g_file_get_contents(name, &got, NULL, NULL));
    g_assert_cmpstr(got, ==, text);
}

/* It holds before there is a file, past its replacement, and behind links. */
static void test_replaced(void)
{
    g_autofree char *link = NULL;
    g_autoptr(GString) text = g_string_new("saved");
    FileLock *lock;
    GStatBuf st;

    setup();
    link = g_build_filename(dir, "link", NULL);
    g_assert_cmpint(symlink("file", link), ==, 0);
    lock = taken(link);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    g_assert_cmpint(g_stat(lock_path, &st), ==, 0);
    g_assert_cmphex(st.st_mode & 0777, ==, 0600);
    for (int i = 0; i < 2; i++) {
        in_use(path, getpid());
        in_use(link, getpid());
        g_assert_true(replace_text(path, text, NULL));
    }
    check(path, "saved");
    filelock_release(lock);
    g_assert_false(g_file_test(lock_path, G_FILE_TEST_EXISTS));
    filelock_release(taken(path));
    g_assert_cmpint(g_unlink(link), ==, 0);
    teardown();
}

/* A process that is gone has none; its fork does not let go of it. */
static void test_processes(void)
{
    int ready[2];
    char byte;
    FileLock *lock;
    pid_t pid;

    setup();
    g_assert_cmpint(pipe(ready), ==, 0);
    pid = fork();
    if (pid == 0) {
        taken(path);
        g_assert_cmpint(write(ready[1], "", 1), ==, 1);
        pause();
    }
    g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
    in_use(path, pid);
    kill(pid, SIGKILL);
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
    g_assert_true(g_file_test(lock_path, G_FILE_TEST_EXISTS));
    lock = taken(path);
    pid = fork();
    if (pid == 0) {
        filelock_release(lock);
        _exit(0);
    }
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
    in_use(path, getpid());
    filelock_release(lock);
    close(ready[0]);
    close(ready[1]);
    teardown();
}

/* One that is refused keeps its contents; another name of it is it, too. */
static void test_in_place(void)
{
    g_autofree char *name = NULL;
    g_autoptr(GError) error = NULL;
    FileLock *lock, *other;
    FILE *file;

    setup();
    name = g_build_filename(dir, "name", NULL);
    put(path, "before");
    lock = taken(path);
    in_use(path, getpid());
    check(path, "before");
    filelock_release(lock);
    file = filelock_open(path, &lock, NULL);
    g_assert_nonnull(file);
    check(path, "");
    g_assert_cmpint(fputs("after", file), >=, 0);
    g_assert_cmpint(fflush(file), ==, 0);
    in_use(path, getpid());
    g_assert_cmpint(link(path, name), ==, 0);
    g_assert_null(filelock_open(name, &other, &error));
    g_assert_nonnull(strstr(error->message, "/name: in use by another drive"));
    check(path, "after");
    fclose(file);
    filelock_release(lock);
    g_assert_cmpint(g_unlink(name), ==, 0);
    teardown();
}

/* One that is replaced has other names, too, which are free afterwards. */
static void test_other_names(void)
{
    g_autofree char *name = NULL;
    FileLock *lock;

    setup();
    name = g_build_filename(dir, "name", NULL);
    put(path, "state");
    g_assert_cmpint(link(path, name), ==, 0);
    lock = taken(path);
    refused(name, "in use by another drive");
    filelock_release(lock);
    lock = taken(name);
    refused(path, "in use by another drive");
    check(path, "state");
    filelock_release(lock);
    g_assert_cmpint(g_unlink(name), ==, 0);
    teardown();
}

/* There the file is used as it is, and the user is told; what forbids locks is
 * named. */
static void test_no_locks(void)
{
    static const int none[] = {ENOLCK, EOPNOTSUPP, ENOSYS};
    g_autofree char *want = NULL;
    FileLock *lock;
    FILE *file;

    setup();
    want = g_strconcat(path,
                       ": its file system has no locks, so nothing keeps "
                       "a second drive from using it\n",
                       NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(none); i++) {
        flock_errno = none[i];
        g_string_truncate(warned, 0);
        g_assert_null(taken(path));
        g_assert_cmpstr(warned->str, ==, want);
        g_string_truncate(warned, 0);
        file = filelock_open(path, &lock, NULL);
        g_assert_nonnull(file);
        g_assert_null(lock);
        g_assert_cmpstr(warned->str, ==, want);
        fclose(file);
        g_assert_false(g_file_test(lock_path, G_FILE_TEST_EXISTS));
    }
    flock_errno = EACCES;
    refused(path, "cannot be locked: file.vssd-lock: Permission denied");
    flock_errno = 0;
    g_assert_cmpint(g_unlink(lock_path), ==, 0);
    teardown();
}

/* As /dev/stdout is: a link of the kernel's to a file that has lost its name.
 */
static void test_without_a_name(void)
{
    g_autofree char *name = NULL;
    FileLock *lock, *other;
    FILE *file;
    int fd;

    setup();
    put(path, "before");
    fd = g_open(path, O_WRONLY, 0);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(g_unlink(path), ==, 0);
    name = g_strdup_printf("/proc/self/fd/%d", fd);
    file = filelock_open(name, &lock, NULL);
    g_assert_nonnull(file);
    g_assert_null(lock);
    g_assert_null(filelock_open(name, &other, NULL));
    g_assert_cmpstr(warned->str, ==, "");
    fclose(file);
    close(fd);
    teardown();
}

/* Pipes and devices take none; a folder that is not there is named. */
static void test_special(void)
{
    g_autofree char *nowhere = NULL, *null = NULL;
    const char *name[] = {"/dev/null", NULL, NULL};
    FileLock *lock;
    FILE *file;

    setup();
    null = g_build_filename(dir, "null", NULL);
    g_assert_cmpint(symlink("/dev/null", null), ==, 0);
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    name[1] = null;
    for (int i = 0; name[i]; i++) {
        g_assert_null(taken(name[i]));
        file = filelock_open(name[i], &lock, NULL);
        g_assert_nonnull(file);
        g_assert_null(lock);
        fclose(file);
    }
    g_assert_null(taken(path));
    g_assert_cmpstr(warned->str, ==, "");
    g_assert_false(g_file_test(lock_path, G_FILE_TEST_EXISTS));
    nowhere = g_build_filename(dir, "no", "file", NULL);
    refused(nowhere, "No such file or directory");
    g_assert_cmpint(g_unlink(null), ==, 0);
    teardown();
}

/* What was planted at PATH.vssd-lock is not followed, and keeps its contents.
 */
static void test_planted(void)
{
    g_autofree char *victim = NULL;

    setup();
    victim = g_build_filename(dir, "victim", NULL);
    put(victim, "");
    g_assert_cmpint(symlink("victim", lock_path), ==, 0);
    refused(path, "cannot be locked: file.vssd-lock: it is a link");
    g_assert_cmpint(g_unlink(lock_path), ==, 0);
    g_assert_cmpint(link(victim, lock_path), ==, 0);
    refused(path, "cannot be locked: file.vssd-lock: it is another file");
    check(victim, "");
    g_assert_cmpint(g_unlink(lock_path), ==, 0);
    put(lock_path, "my notes\n");
    refused(path, "cannot be locked: file.vssd-lock: it is another file");
    check(lock_path, "my notes\n");
    g_assert_cmpint(g_unlink(lock_path), ==, 0);
    g_assert_cmpint(mkfifo(lock_path, 0600), ==, 0);
    refused(path, "cannot be locked: file.vssd-lock: it is another file");
    g_assert_cmpint(g_unlink(lock_path), ==, 0);
    g_assert_cmpint(g_unlink(victim), ==, 0);
    teardown();
}

/* In another user's folder a file can be written in place. */
static void in_closed_folder(void)
{
    FileLock *lock, *other;
    FILE *file;

    g_assert_cmpint(setuid(SOMEBODY), ==, 0);
    file = filelock_open(path, &lock, NULL);
    g_assert_nonnull(file);
    g_assert_null(lock);
    g_assert_null(filelock_open(path, &other, NULL));
    fclose(file);
    g_assert_false(filelock_take(path, &other, NULL));
    g_assert_false(g_file_test(lock_path, G_FILE_TEST_EXISTS));
    _exit(0);
}

static void test_closed_folder(void)
{
    int status;
    pid_t pid;

    if (geteuid() != 0) {
        g_test_skip("only root can make a file for another user");
        return;
    }
    setup();
    put(path, "");
    g_assert_cmpint(g_chmod(dir, 0755), ==, 0);
    g_assert_cmpint(chown(path, SOMEBODY, SOMEBODY), ==, 0);
    pid = fork();
    if (pid == 0) {
        in_closed_folder();
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
    teardown();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    umask(022);
    g_test_add_func("/filelock/replaced", test_replaced);
    g_test_add_func("/filelock/processes", test_processes);
    g_test_add_func("/filelock/in-place", test_in_place);
    g_test_add_func("/filelock/other-names", test_other_names);
    g_test_add_func("/filelock/no-locks", test_no_locks);
    g_test_add_func("/filelock/without-a-name", test_without_a_name);
    g_test_add_func("/filelock/special", test_special);
    g_test_add_func("/filelock/planted", test_planted);
    g_test_add_func("/filelock/closed-folder", test_closed_folder);
    return g_test_run();
}
