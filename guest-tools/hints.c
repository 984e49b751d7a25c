/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hints.c - see hints.h. */
#define _GNU_SOURCE
#include "hints.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef F_SET_RW_HINT
#define F_SET_RW_HINT 1036 /* F_LINUX_SPECIFIC_BASE + 12 */
#endif
#ifndef F_SET_FILE_RW_HINT
#define F_SET_FILE_RW_HINT 1038
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

enum { HINT_NONE = 1, HINT_EXTREME = 5 };

/* The kernel's structures may be longer than those of our headers. */
typedef union Question {
    struct seccomp_notif q;
    uint8_t room[512];
} Question;

typedef union Answer {
    struct seccomp_notif_resp a;
    uint8_t room[512];
} Answer;

/* ---- the program -------------------------------------------------------- */

static int filter(uint32_t action, unsigned flags)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SET_RW_HINT, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SET_FILE_RW_HINT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

int hints_filter(HintsUse use, int link)
{
    int listener;
    char ready;

    if (use == HINTS_KEEP) {
        return 0;
    }
    if (use == HINTS_REFUSE) {
        return filter(SECCOMP_RET_ERRNO | EINVAL, 0);
    }
    listener = filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (listener < 0 ||
        write(link, &listener, sizeof(listener)) != sizeof(listener)) {
        return -1;
    }
    /* execve() closes the listener: not before the other has it. */
    return read(link, &ready, 1) == 1 ? 0 : -1;
}

/* ---- the other process -------------------------------------------------- */

/* A copy of a descriptor of a process; -1 and errno. */
static int copy_of(pid_t pid, int fd)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    int copy, error;

    if (pidfd < 0) {
        return -1;
    }
    copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
    error = errno;
    close(pidfd);
    errno = error;
    return copy;
}

int hints_listen(pid_t program, int link)
{
    int number, listener;

    if (read(link, &number, sizeof(number)) != sizeof(number)) {
        errno = ECHILD; /* the program has said why */
        return -1;
    }
    listener = copy_of(program, number);
    if (listener >= 0 && write(link, "", 1) != 1) {
        return -1;
    }
    return listener;
}

/* The process of a thread; -1: it is gone. */
static pid_t process_of(pid_t thread)
{
    char path[64], line[128];
    int pid = -1;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
    f = fopen(path, "re");
    while (f && pid < 0 && fgets(line, sizeof(line), f)) {
        (void)sscanf(line, "Tgid: %d", &pid);
    }
    if (f) {
        fclose(f);
    }
    return pid;
}

/* What the program passed to fcntl(); -1: its memory cannot be read. */
static int hint_at(pid_t thread, uint64_t at, uint64_t *hint)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    n = pread(fd, hint, sizeof(*hint), (off_t)at);
    close(fd);
    return n == sizeof(*hint) ? 0 : -1;
}

/* Do what the hint means; 0 or an error number. */
static int translate(const struct seccomp_notif *q, int listener, Placement how)
{
    uint64_t hint;
    unsigned stream;
    int fd, error = 0;

    if ((int)q->data.args[1] != F_SET_RW_HINT) {
        return EINVAL;
    }
    if (hint_at((pid_t)q->pid, q->data.args[2], &hint) < 0) {
        return EFAULT;
    }
    if (hint > HINT_EXTREME) {
        return EINVAL;
    }
    fd = copy_of(process_of((pid_t)q->pid), (int)q->data.args[0]);
    if (fd < 0) {
        return errno;
    }
    /* A thread that ended meanwhile may have been another's number. */
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &q->id) == 0) {
        stream = hint > HINT_NONE ? (unsigned)hint - HINT_NONE : 0;
        error = placement_set(fd, how, stream) < 0 ? errno : 0;
    }
    close(fd);
    return error;
}

void hints_answer(int listener, Placement how)
{
    Question question;
    Answer answer;

    memset(&question, 0, sizeof(question));
    memset(&answer, 0, sizeof(answer));
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) < 0) {
        return; /* who asked is gone */
    }
    answer.a.id = question.q.id;
    answer.a.error = -translate(&question.q, listener, how);
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}
