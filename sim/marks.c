/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.c - see marks.h.
 *
 * Knows processes and the positions of their files; knows nothing of drives.
 */
#include "marks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "request.h"
#include "walltime.h"

#define LOOK_US 20000 /* between two looks at the child and at signals */

struct Marks {
    const MarksOps *ops;
    void *opaque;
    unsigned n;
    volatile unsigned *wanted; /* shared by all: the mark to go back to; or 0 */
};

/* ---- positions of files that are read ------------------------------------ */

typedef struct Position {
    int fd;
    off_t at;
} Position;

/* A fork shares them with its parent. */
static GArray *note_positions(void)
{
    GArray *all = g_array_new(false, false, sizeof(Position));
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;

    while (d && (e = readdir(d))) {
        Position p = {.fd = (int)strtol(e->d_name, NULL, 10)};
        struct stat st;
        int flags = fcntl(p.fd, F_GETFL);

        if (e->d_name[0] != '.' && flags >= 0 &&
            (flags & O_ACCMODE) == O_RDONLY && fstat(p.fd, &st) == 0 &&
            S_ISREG(st.st_mode)) {
            p.at = lseek(p.fd, 0, SEEK_CUR);
            g_array_append_val(all, p);
        }
    }
    if (d) {
        closedir(d);
    }
    return all;
}

static void restore_positions(const GArray *all)
{
    for (guint i = 0; i < all->len; i++) {
        const Position *p = &g_array_index(all, Position, i);

        lseek(p->fd, p->at, SEEK_SET);
    }
}

/* ---- the two sides of a fork --------------------------------------------- */

/* A group of its own: the terminal's signals go to the first process, which
 * passes them on. */
static void begin_child(pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_FAILURE);
    }
}

G_NORETURN static void end_as(Marks *m, int status)
{
    m->ops->ended(m->opaque);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Until the run comes back to this mark. */
static void await(Marks *m, pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, WNOHANG) == 0) {
        stop_pass_on(child);
        g_usleep(LOOK_US);
    }
    if (*m->wanted != m->n) {
        end_as(m, status);
    }
    *m->wanted = 0;
}

/* The child's number of the fork; 0 in the child. */
static pid_t split(void)
{
    uint64_t cpu = cpu_ns();
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid == 0) {
        begin_child(parent);
        cpu_begin(cpu);
    }
    return pid;
}

/* ---- the calls ----------------------------------------------------------- */

Marks *marks_new(const MarksOps *ops, void *opaque)
{
    Marks *m = g_new0(Marks, 1);
    void *shared = mmap(NULL, sizeof(*m->wanted), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    g_assert(shared != MAP_FAILED);
    m->ops = ops;
    m->opaque = opaque;
    m->wanted = shared;
    return m;
}

void marks_free(Marks *m)
{
    munmap((void *)m->wanted, sizeof(*m->wanted));
    g_free(m);
}

unsigned marks_n(const Marks *m)
{
    return m->n;
}

bool marks_make(Marks *m, bool *again, GError **error)
{
    g_autoptr(GArray) files = note_positions();
    pid_t child;

    *again = false;
    if (m->n == MARKS_MOST) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                    "mark: there are %u, which is the most", MARKS_MOST);
        return false;
    }
    child = split();
    m->n += child >= 0;
    if (child > 0) {
        m->ops->waits(m->opaque);
    }
    while (child > 0) {
        await(m, child);
        restore_positions(files);
        *again = true;
        child = split();
    }
    if (child < 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE, "mark: no process: %s",
                    g_strerror(errno));
        if (*again) {
            end_as(m, W_EXITCODE(EXIT_FAILURE, 0));
        }
    }
    return child == 0;
}

void marks_go_back(Marks *m, unsigned mark)
{
    g_assert(mark >= 1 && mark <= m->n);
    *m->wanted = mark;
    _exit(EXIT_SUCCESS);
}
