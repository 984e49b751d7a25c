/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streamrun.c - runs a program so that the files it opens get streams by rules
 * on their paths.
 *
 * The program is not changed, and may be static: fanotify holds each open() on
 * the file systems that the rules name until the stream of the file is set
 * (fanotify_init(2), FAN_CLASS_CONTENT; needs root).  The stream is the inode's
 * (placement.h), so the rules hold for whoever opens the file while the program
 * runs, and a file keeps its stream until it leaves memory.  A rule is matched
 * with the name at the time of the open; a later rename changes nothing.
 *
 * A program that sets write hints itself would undo rules that are hints, too:
 * -H lets them fail.  With -T they set streams, so that the program's own
 * knowledge counts in kernels whose drivers ignore hints (hints.h).
 */
#define _GNU_SOURCE
#include "hints.h"
#include "placement.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RULES = 64 };

static const char usage[] =
    "usage: streamrun -r PATTERN=STREAM [-r ...] [-m METHOD] [-H|-T] [-v] [--]"
    " COMMAND [ARG...]\n"
    "\n"
    "  -r PATTERN=STREAM  files whose absolute path matches PATTERN, a shell\n"
    "                     pattern in which * also matches /, are written to\n"
    "                     STREAM; the first rule that matches counts\n"
    "  -m METHOD          fadvise (streams 0..255), ioctl (xfs; as many as "
    "the\n"
    "                     drive has) or hint (0..4); default: the first of "
    "these\n"
    "                     that the kernel has\n"
    "  --ioctl            -m ioctl\n"
    "  -H                 the program's own write hints fail with EINVAL, so\n"
    "                     that they do not undo the rules\n"
    "  -T                 they set streams instead, by METHOD: SHORT 1, MEDIUM "
    "2,\n"
    "                     LONG 3, EXTREME 4; rules may then be missing\n"
    "  -v                 say at the end how many opens each rule met\n"
    "\n"
    "Rules hold until COMMAND ends, for its children too, and on the file "
    "systems\n"
    "that are mounted where they point when it starts.  It needs root.\n"
    "\n"
    "example: streamrun -r '/mnt/db/*.log=1' -r '/mnt/db/*.sst=2' -- "
    "db_bench\n";

typedef struct Rule {
    char *pattern;
    unsigned stream;
    unsigned long opens;
    unsigned long failed;
} Rule;

static Rule rules[MAX_RULES];
static unsigned nrules;

_Noreturn static void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

_Noreturn static void fail(const char *format, ...)
{
    va_list args;

    fputs("streamrun: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(125);
}

/* ---- rules -------------------------------------------------------------- */

static void add_rule(char *text)
{
    char *equals = strrchr(text, '=');
    char *end;
    unsigned long stream;

    if (!equals || text[0] != '/' || !isdigit((unsigned char)equals[1])) {
        fail("-r %s: give /PATTERN=STREAM, an absolute path and a number",
             text);
    }
    stream = strtoul(equals + 1, &end, 10);
    if (*end || stream > FADVISE_STREAMS) {
        fail("-r %s: streams are 0..%d", text, FADVISE_STREAMS);
    }
    if (nrules == MAX_RULES) {
        fail("more than %d rules", MAX_RULES);
    }
    *equals = '\0';
    rules[nrules++] = (Rule){ .pattern = text, .stream = (unsigned)stream };
}

static Rule *match(const char *path)
{
    for (unsigned i = 0; i < nrules; i++) {
        if (fnmatch(rules[i].pattern, path, 0) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

/* The folder that all paths of a pattern are below; where the program is to
 * make it, the one above it that is there. */
static void fixed_folder(const char *pattern, char *folder)
{
    size_t n = strcspn(pattern, "*?[\\");

    if (n >= PATH_MAX) {
        fail("-r %s: too long", pattern);
    }
    memcpy(folder, pattern, n);
    folder[n] = '\0';
    do {
        *strrchr(folder, '/') = '\0';
    } while (folder[0] != '\0' && access(folder, F_OK) < 0);
    if (folder[0] == '\0') {
        strcpy(folder, "/");
    }
}

static void choose_method(Placement *how)
{
    char folder[PATH_MAX];
    unsigned streams;
    int fd;

    if (nrules > 0) {
        fixed_folder(rules[0].pattern, folder);
    } else {
        strcpy(folder, "/");
    }
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        fail("%s: %s", folder, strerror(errno));
    }
    if (*how == PLACEMENT_AUTO) {
        *how = placement_found(fd);
    }
    if (*how == PLACEMENT_AUTO) {
        fail("this kernel knows no streams for files: it has neither"
             " POSIX_FADV_STREAMID (./vssd kernel build) nor a Linux up to 5.17"
             " with nvme_core.streams=1");
    }
    if (*how == PLACEMENT_FADVISE && placement_set(fd, *how, 0) < 0) {
        fail("%s: fadvise: %s", folder, strerror(errno));
    }
    streams = placement_streams(fd, *how);
    if (streams == 0) {
        fail("%s: this kernel has no ioctl for streams there (xfs, on a drive"
             " with streams)",
             folder);
    }
    close(fd);
    for (unsigned i = 0; i < nrules; i++) {
        if (rules[i].stream > streams) {
            fail("-r %s=%u: %s gives streams 0..%u", rules[i].pattern,
                 rules[i].stream, placement_name(*how), streams);
        }
    }
}

/* ---- opens -------------------------------------------------------------- */

static int watch(void)
{
    char folder[PATH_MAX];
    int fan = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK |
                                FAN_UNLIMITED_QUEUE,
                            O_RDONLY | O_LARGEFILE | O_CLOEXEC);

    if (fan < 0) {
        fail("fanotify: %s%s", strerror(errno),
             errno == EPERM ? " (needs root)" : "");
    }
    for (unsigned i = 0; i < nrules; i++) {
        fixed_folder(rules[i].pattern, folder);
        if (fanotify_mark(fan, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN_PERM,
                          AT_FDCWD, folder) < 0) {
            fail("-r %s: %s: %s%s", rules[i].pattern, folder, strerror(errno),
                 errno == EINVAL ? " (no FANOTIFY_ACCESS_PERMISSIONS)" : "");
        }
    }
    return fan;
}

static void opened(int fd, Placement how)
{
    char link[64], path[PATH_MAX];
    Rule *rule;
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    if (n < 0) {
        return;
    }
    path[n] = '\0';
    rule = match(path);
    if (rule) {
        rule->opens++;
        rule->failed += placement_set(fd, how, rule->stream) < 0;
    }
}

static void answer(int fan, int fd)
{
    struct fanotify_response r = { .fd = fd, .response = FAN_ALLOW };

    if (write(fan, &r, sizeof(r)) < 0) {
        fail("fanotify: %s", strerror(errno));
    }
}

static void take_events(int fan, Placement how)
{
    char buf[8192] __attribute__((aligned(8)));
    ssize_t n = read(fan, buf, sizeof(buf));
    struct fanotify_event_metadata *e = (void *)buf;

    for (; n > 0 && FAN_EVENT_OK(e, n); e = FAN_EVENT_NEXT(e, n)) {
        if (e->fd < 0) {
            continue; /* the queue overflowed: there is nothing to answer */
        }
        opened(e->fd, how);
        if (e->mask & FAN_OPEN_PERM) {
            answer(fan, e->fd);
        }
        close(e->fd);
    }
}

/* ---- the program -------------------------------------------------------- */

/* The program; *listener: where its hints come from, -1: they do not. */
static pid_t start(char **argv, const sigset_t *mask, HintsUse hints,
                   int *listener)
{
    int link[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) < 0) {
        fail("socketpair: %s", strerror(errno));
    }
    pid = fork();

    if (pid < 0) {
        fail("fork: %s", strerror(errno));
    }
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        close(link[0]);
        if (hints_filter(hints, link[1]) < 0) {
            fail("-%c: seccomp: %s", hints == HINTS_REFUSE ? 'H' : 'T',
                 strerror(errno));
        }
        execvp(argv[0], argv);
        fprintf(stderr, "streamrun: %s: %s\n", argv[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    close(link[1]);
    *listener = -1;
    if (hints == HINTS_TRANSLATE) {
        *listener = hints_listen(pid, link[0]);
        if (*listener < 0) {
            fail("-T: %s (needs Linux 5.6)", strerror(errno));
        }
    }
    close(link[0]);
    return pid;
}

/* Answer opens and hints until the program has ended; its status. */
static int serve(int fan, int sig, int listener, pid_t pid, Placement how)
{
    struct pollfd fds[3] = {{.fd = fan, .events = POLLIN},
                            {.fd = sig, .events = POLLIN},
                            {.fd = listener, .events = POLLIN}};
    struct signalfd_siginfo info;
    int status;

    for (;;) {
        if (poll(fds, 3, -1) < 0 && errno != EINTR) {
            fail("poll: %s", strerror(errno));
        }
        if (fds[0].revents) {
            take_events(fan, how);
        }
        if (fds[2].revents & POLLIN) {
            hints_answer(listener, how);
        } else if (fds[2].revents) {
            fds[2].fd = -1; /* nobody is left who could set a hint */
        }
        /* The program receives the terminal's signals itself. */
        if (fds[1].revents && read(sig, &info, sizeof(info)) == sizeof(info) &&
            info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL) {
            kill(pid, (int)info.ssi_signo);
        }
        if (waitpid(pid, &status, WNOHANG) == pid) {
            return WIFEXITED(status) ? WEXITSTATUS(status)
                                     : 128 + WTERMSIG(status);
        }
    }
}

static void report(Placement how, bool verbose)
{
    for (unsigned i = 0; i < nrules; i++) {
        const Rule *r = &rules[i];

        if (verbose || r->failed) {
            fprintf(stderr, "streamrun: %s=%u by %s: %lu opens, %lu failed\n",
                    r->pattern, r->stream, placement_name(how), r->opens,
                    r->failed);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct option words[] = {{"ioctl", no_argument, NULL, 'I'},
                                          {0}};
    Placement how = PLACEMENT_AUTO;
    HintsUse hints = HINTS_KEEP;
    bool verbose = false;
    sigset_t mask, before;
    int c, fan, sig, listener, status;
    pid_t pid;

    while ((c = getopt_long(argc, argv, "+r:m:HTvh", words, NULL)) != -1) {
        if (c == 'r') {
            add_rule(optarg);
        } else if (c == 'I') {
            how = PLACEMENT_IOCTL;
        } else if (c == 'm') {
            int named = placement_named(optarg);

            if (named < 0 || named > PLACEMENT_HINT) {
                fail("-m %s: fadvise, ioctl, hint or auto", optarg);
            }
            how = (Placement)named;
        } else if (c == 'H') {
            hints = HINTS_REFUSE;
        } else if (c == 'T') {
            hints = HINTS_TRANSLATE;
        } else if (c == 'v') {
            verbose = true;
        } else {
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 125;
        }
    }
    if ((nrules == 0 && hints != HINTS_TRANSLATE) || optind == argc) {
        fputs(usage, stderr);
        return 125;
    }
    choose_method(&how);
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGHUP);
    sigprocmask(SIG_BLOCK, &mask, &before);
    sig = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    fan = watch();
    pid = start(argv + optind, &before, hints, &listener);
    status = serve(fan, sig, listener, pid, how);
    report(how, verbose);
    return status;
}
