/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-agent.c - runs commands in the guest for ./vssd run --exec and tests.
 *
 * Started once at boot.  Its task is in QEMU's fw_cfg.  On x86 it reads that
 * through I/O ports, so that any kernel will do; elsewhere from sysfs, where
 * the module qemu_fw_cfg shows it:
 *
 *   opt/vssd/exec   one command: run it, report, power the guest off
 *   opt/vssd/serve  run the commands of the second serial port, until one ends
 * it
 *
 * Neither: it ends at once.  Requests and answers are frames on the second
 * serial port, or that of the first argument: a byte of type, four of length
 * (little-endian), the payload.
 * While a command runs, frames with its input may come, and one that kills it.
 * The agent answers each frame of input when the command has taken it; only
 * then the next may come, so that a command that reads nothing can still be
 * killed.  The port is used rather than virtio because a vCPU drives it
 * synchronously: under -icount two runs then are equal to the instruction.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <sys/io.h>
#endif
#include <sys/mount.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define PORT "/dev/ttyS1"
#define HELLO "\0\0vssd-agent 1\n"

enum {
    COMMAND_MAX = 1 << 20,
    NETWORK_WAIT_MS = 10000,
    NETWORK_STEP_MS = 100,
};

enum {
    FRAME_OUT = 'O',
    FRAME_ERR = 'E',
    FRAME_TAKEN = 'A', /* the last frame of input; no payload */
    FRAME_EXIT = 'X',
};
enum {
    REQUEST_RUN = 'R',    /* a command whose input is empty */
    REQUEST_RUN_IN = 'T', /* a command that reads frames of input */
    REQUEST_IN = 'I',     /* input; no bytes: its end */
    REQUEST_KILL = 'K',   /* end the command */
    REQUEST_OFF = 'P',
};

/* ---- fw_cfg ------------------------------------------------------------- */

#if defined(__x86_64__)
enum {
    FW_CFG_SELECT = 0x510,
    FW_CFG_DATA = 0x511,
    FW_CFG_FILE_DIR = 0x19,
    FW_CFG_NAME_BYTES = 56,
};

static void fw_cfg_read(void *buf, size_t len)
{
    uint8_t *p = buf;

    for (size_t i = 0; i < len; i++) {
        p[i] = inb(FW_CFG_DATA);
    }
}

static uint32_t fw_cfg_be32(void)
{
    uint8_t b[4];

    fw_cfg_read(b, sizeof(b));
    return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

static bool fw_cfg_there(void)
{
    char sign[4];

    if (ioperm(FW_CFG_SELECT, 2, 1) < 0) {
        return false;
    }
    outw(0, FW_CFG_SELECT);
    fw_cfg_read(sign, sizeof(sign));
    return memcmp(sign, "QEMU", 4) == 0;
}

/* The file as a string (free() it), or NULL if there is none. */
static char *fw_cfg_file(const char *wanted)
{
    outw(FW_CFG_FILE_DIR, FW_CFG_SELECT);

    for (uint32_t n = fw_cfg_be32(); n > 0; n--) {
        uint32_t len = fw_cfg_be32();
        uint8_t key[4]; /* select, reserved */
        char name[FW_CFG_NAME_BYTES];

        fw_cfg_read(key, sizeof(key));
        fw_cfg_read(name, sizeof(name));
        name[sizeof(name) - 1] = '\0';
        if (strcmp(name, wanted) == 0 && len <= COMMAND_MAX) {
            char *text = calloc(1, len + 1);

            if (text) {
                outw((uint16_t)(key[0] << 8 | key[1]), FW_CFG_SELECT);
                fw_cfg_read(text, len);
            }
            return text;
        }
    }
    return NULL;
}
#else
#define FW_CFG_FOLDER "/sys/firmware/qemu_fw_cfg/by_name/"

static bool fw_cfg_there(void)
{
    return access(FW_CFG_FOLDER, F_OK) == 0;
}

/* As above. */
static char *fw_cfg_file(const char *wanted)
{
    char path[256];
    char *text = calloc(1, COMMAND_MAX + 1);
    FILE *f;

    snprintf(path, sizeof(path), FW_CFG_FOLDER "%s/raw", wanted);
    f = fopen(path, "r");
    if (!f || !text) {
        free(text);
        text = NULL;
    } else {
        text[fread(text, 1, COMMAND_MAX, f)] = '\0';
    }
    if (f) {
        fclose(f);
    }
    return text;
}
#endif

/* ---- the port ----------------------------------------------------------- */

static int port_open(const char *path)
{
    struct termios raw;
    int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (fd < 0 || tcgetattr(fd, &raw) < 0) {
        perror(path);
        exit(1);
    }
    cfmakeraw(&raw);
    raw.c_cflag |= CLOCAL;
    cfsetspeed(&raw, B115200);
    tcsetattr(fd, TCSANOW, &raw);
    return fd;
}

static void port_write(int fd, const void *buf, size_t len)
{
    const char *p = buf;

    while (len > 0) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno != EINTR) {
            perror("serial port");
            exit(1);
        }
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
    }
}

static bool port_read(int fd, void *buf, size_t len)
{
    char *p = buf;

    while (len > 0) {
        ssize_t n = read(fd, p, len);

        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
    }
    return true;
}

static void put_le32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t get_le32(const uint8_t *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static void send_frame(int port, char type, const void *payload, uint32_t len)
{
    uint8_t head[5] = { (uint8_t)type };

    put_le32(head + 1, len);
    port_write(port, head, sizeof(head));
    port_write(port, payload, len);
}

/* ---- commands ----------------------------------------------------------- */

/* A command that runs, and its input that has come but is not taken yet. */
typedef struct Job {
    pid_t pid;
    int in; /* -1: closed, or empty from the start */
    int out;
    int err;
    char *input;
    size_t input_len;
    size_t input_at;
} Job;

static pid_t start(const char *command, int in, int out, int err)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (in < 0) {
            in = open("/dev/null", O_RDONLY);
        }
        setsid();
        dup2(in, STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        signal(SIGPIPE, SIG_DFL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Forward the bytes of one pipe; false at its end. */
static bool relay(int port, int from, char type)
{
    char buf[4096];
    ssize_t n = read(from, buf, sizeof(buf));

    if (n > 0) {
        send_frame(port, type, buf, (uint32_t)n);
    }
    return n > 0 || (n < 0 && errno == EINTR);
}

static void input_close(Job *job)
{
    if (job->in >= 0) {
        close(job->in);
    }
    job->in = -1;
    free(job->input);
    job->input = NULL;
    job->input_len = 0;
}

static void input_taken(Job *job, int port)
{
    free(job->input);
    job->input = NULL;
    job->input_len = 0;
    send_frame(port, FRAME_TAKEN, NULL, 0);
}

/* Give the command more of its input; one that reads none any more loses it. */
static void input_write(Job *job, int port)
{
    ssize_t n = write(job->in, job->input + job->input_at,
                      job->input_len - job->input_at);

    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        input_close(job);
        input_taken(job, port);
    } else if (n > 0) {
        job->input_at += (size_t)n;
        if (job->input_at == job->input_len) {
            input_taken(job, port);
        }
    }
}

/* The payload of a request as a string; free() it. */
static char *request_read(int port, uint32_t len)
{
    char *text = len <= COMMAND_MAX ? calloc(1, (size_t)len + 1) : NULL;

    if (!text || !port_read(port, text, len)) {
        fprintf(stderr, "vssd-agent: no request of %u bytes\n", len);
        exit(1);
    }
    return text;
}

/* A request that comes while the command runs; late ones are dropped. */
static void job_request(Job *job, int port)
{
    uint8_t head[5];
    uint32_t len;
    char *payload;

    if (!port_read(port, head, sizeof(head))) {
        exit(1);
    }
    len = get_le32(head + 1);
    payload = request_read(port, len);
    if (head[0] == REQUEST_KILL && job->pid > 0) {
        kill(-job->pid, SIGKILL);
    } else if (head[0] == REQUEST_IN && len > 0 && job->in >= 0 &&
               job->input_len == 0) {
        job->input = payload;
        job->input_len = len;
        job->input_at = 0;
        return;
    } else if (head[0] == REQUEST_IN) {
        if (len == 0) {
            input_close(job);
        }
        send_frame(port, FRAME_TAKEN, NULL, 0);
    }
    free(payload);
}

static void relay_all(int port, Job *job, bool requests)
{
    enum { OUT, ERR, IN, PORT_IN, FDS };
    struct pollfd fds[FDS] = {
        [OUT] = {.fd = job->out, .events = POLLIN},
        [ERR] = {.fd = job->err, .events = POLLIN},
        [IN] = {.events = POLLOUT},
        [PORT_IN] = {.events = POLLIN},
    };
    const char types[2] = { FRAME_OUT, FRAME_ERR };

    while (fds[OUT].fd >= 0 || fds[ERR].fd >= 0) {
        fds[IN].fd = job->input_len ? job->in : -1;
        fds[PORT_IN].fd = requests ? port : -1;
        if (poll(fds, FDS, -1) < 0) {
            if (errno != EINTR) {
                return;
            }
            continue;
        }
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd >= 0 && fds[i].revents &&
                !relay(port, fds[i].fd, types[i])) {
                fds[i].fd = -1;
            }
        }
        if (fds[IN].fd >= 0 && fds[IN].revents) {
            input_write(job, port);
        }
        if (fds[PORT_IN].fd >= 0 && fds[PORT_IN].revents) {
            job_request(job, port);
        }
    }
}

/* The command's exit status, as a shell shows it. */
static uint32_t run(int port, const char *command, char type)
{
    int in[2] = {-1, -1}, out[2], err[2], status = 0;
    Job job = {.in = -1};

    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ||
        (type == REQUEST_RUN_IN && pipe2(in, O_CLOEXEC) < 0)) {
        return 126;
    }
    job.pid = start(command, in[0], out[1], err[1]);
    close(out[1]);
    close(err[1]);
    job.out = out[0];
    job.err = err[0];
    if (type == REQUEST_RUN_IN) {
        close(in[0]);
        fcntl(in[1], F_SETFL, O_NONBLOCK);
        job.in = in[1];
    }
    relay_all(port, &job, type != 0);
    input_close(&job);
    close(out[0]);
    close(err[0]);
    if (job.pid < 0 || waitpid(job.pid, &status, 0) < 0) {
        return 126;
    }
    return WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status)
                             : 128u + (uint32_t)WTERMSIG(status);
}

/* type: of the request; 0, the command is fw_cfg's and nobody sends requests.
 */
static void run_and_report(int port, const char *command, char type)
{
    uint8_t status[4];

    put_le32(status, run(port, command, type));
    send_frame(port, FRAME_EXIT, status, sizeof(status));
    tcdrain(port);
}

static void power_off(void)
{
    if (access("/run/systemd/system", F_OK) == 0) {
        execl("/usr/bin/systemctl", "systemctl", "poweroff", (char *)NULL);
    }
    execl("/sbin/poweroff", "poweroff", "-f", (char *)NULL);
    exit(1);
}

static void serve(int port)
{
    uint8_t head[5];

    while (port_read(port, head, sizeof(head))) {
        char *payload = request_read(port, get_le32(head + 1));

        switch (head[0]) {
        case REQUEST_OFF:
            power_off();
            break;
        case REQUEST_RUN:
        case REQUEST_RUN_IN:
            run_and_report(port, payload, (char)head[0]);
            break;
        case REQUEST_IN: /* for a command that has ended */
        case REQUEST_KILL:
            break;
        default:
            fprintf(stderr, "vssd-agent: request 0x%02x\n", head[0]);
            exit(1);
        }
        free(payload);
    }
}

/* ---- the network -------------------------------------------------------- */

/* Does the table of routes have more than its head line? */
static bool have_route(void)
{
    char line[256];
    int lines = 0;
    FILE *f = fopen("/proc/net/route", "r");

    while (f && fgets(line, sizeof(line), f)) {
        lines++;
    }
    if (f) {
        fclose(f);
    }
    return lines > 1;
}

/* Commands may want the network: give it a moment where there is a card. */
static void wait_for_network(void)
{
    for (int ms = 0; ms < NETWORK_WAIT_MS && !have_route();
         ms += NETWORK_STEP_MS) {
        poll(NULL, 0, NETWORK_STEP_MS);
    }
}

/* As init= of a kernel without an initial RAM disk: nothing is mounted yet but
 * the root, and /dev by the kernel. */
static void mount_all(void)
{
    static const char *const mounts[][2] = {
        {"proc", "/proc"},
        {"sysfs", "/sys"},
        {"tmpfs", "/run"},
    };

    if (getpid() != 1 || access("/proc/self", F_OK) == 0) {
        return;
    }
    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
        if (mount(mounts[i][0], mounts[i][1], mounts[i][0], 0, NULL) < 0) {
            fprintf(stderr, "vssd-agent: %s: %s\n", mounts[i][1],
                    strerror(errno));
        }
    }
}

int main(int argc, char **argv)
{
    char *command, *how;
    int port;

    mount_all();
    if (!fw_cfg_there()) {
        return 0;
    }
    command = fw_cfg_file("opt/vssd/exec");
    how = fw_cfg_file("opt/vssd/serve");
    if (!command && !how) {
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    port = port_open(argc > 1 ? argv[1] : PORT);
    if (fw_cfg_file("opt/vssd/network")) {
        wait_for_network();
    }
    port_write(port, HELLO, sizeof(HELLO) - 1);
    if (command) {
        run_and_report(port, command, 0);
        power_off();
    }
    serve(port);
    return 0;
}
