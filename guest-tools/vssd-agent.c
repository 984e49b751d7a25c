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
 *                   it
 *   opt/vssd/early  the command need not wait for the rest of the boot: that of
 *                   an agent with --early, which does nothing else
 *
 * No task: it ends at once.  Requests and answers are frames on the second
 * serial port, or that of the last argument: a byte of type, four of length
 * (little-endian), the payload.
 * While a command runs, frames with its input may come, and one that kills it.
 * The agent answers each frame of input when the command has taken it; only
 * then the next may come, so that a command that reads nothing can still be
 * killed.  The port is used rather than virtio because a vCPU drives it
 * synchronously: under -icount two runs then are equal to the instruction.
 *
 * The port may hold the rest of a request that the guest before a kexec had
 * begun to read, and a snapshot may be loaded at any instant.  So the agent
 * greets, and takes nothing before SYNC.  It greets again, and kills its
 * command, when it is out of step: what comes is no request, stops within one,
 * or has another mark than the last one.
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

#define PORT        "/dev/ttyS1"
#define HELLO_EXEC  "\0\0vssd-agent 1\n"
#define HELLO_SERVE "\0\0vssd-agent 2\n"

/* A request that does nothing, unless the agent has greeted. */
#define SYNC "\0\0H\14\0\0\0vssd-host 1\n"

enum {
    COMMAND_MAX = 1 << 20,
    MARK_BYTES = 8,
    STALL_MS = 5000, /* the host does not pause so long within a request */
    NETWORK_WAIT_MS = 10000,
    NETWORK_STEP_MS = 100,
    SYSTEMD_POWER_OFF = 14, /* systemd(1): signal SIGRTMIN+14 */
};

enum {
    FRAME_OUT = 'O',
    FRAME_ERR = 'E',
    FRAME_TAKEN = 'A', /* the last frame of input; no payload */
    FRAME_EXIT = 'X',
    FRAME_SAME = 'S', /* the mark is the one expected; payload: the new one */
};
enum {
    REQUEST_NONE = 0,     /* a byte without a length */
    REQUEST_HOST = 'H',   /* of SYNC */
    REQUEST_MARK = 'M',   /* the mark that is expected, and a new one */
    REQUEST_RUN = 'R',    /* a command whose input is empty */
    REQUEST_RUN_IN = 'T', /* a command that reads frames of input */
    REQUEST_IN = 'I',     /* input; no bytes: its end */
    REQUEST_KILL = 'K',   /* end the command */
    REQUEST_OFF = 'P',
};
#define REQUESTS "HIKMPRT"

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

/* False: nothing more came for STALL_MS. */
static bool port_read(int fd, void *buf, size_t len)
{
    struct pollfd more = {.fd = fd, .events = POLLIN};
    char *p = buf;

    while (len > 0) {
        int ready = poll(&more, 1, STALL_MS);
        ssize_t n = ready > 0 ? read(fd, p, len) : ready;

        if (ready == 0) {
            return false;
        }
        if (n == 0 || (n < 0 && errno != EINTR)) {
            perror("serial port");
            exit(1);
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

/* ---- requests ----------------------------------------------------------- */

typedef struct Request {
    char type;
    char *payload; /* with a zero after it; free() it */
    uint32_t len;
} Request;

static char mark[MARK_BYTES];

static bool payload_fits(const Request *request)
{
    switch (request->type) {
    case REQUEST_RUN:
    case REQUEST_RUN_IN: /* a part of SYNC has zeros */
        return !memchr(request->payload, 0, request->len);
    case REQUEST_MARK:
        return request->len == 2 * MARK_BYTES &&
               memcmp(request->payload, mark, MARK_BYTES) == 0;
    default:
        return true;
    }
}

/* Read a request of which a byte is there; false: out of step. */
static bool request_read(int port, Request *request)
{
    uint8_t len[4];

    *request = (Request){0};
    while (request->type == REQUEST_NONE) {
        if (!port_read(port, &request->type, 1)) {
            return false;
        }
    }
    if (!strchr(REQUESTS, request->type) ||
        !port_read(port, len, sizeof(len))) {
        return false;
    }
    request->len = get_le32(len);
    if (request->len <= COMMAND_MAX) {
        request->payload = calloc(1, (size_t)request->len + 1);
    }
    if (request->payload && port_read(port, request->payload, request->len) &&
        payload_fits(request)) {
        return true;
    }
    free(request->payload);
    return false;
}

static void mark_take(int port, const Request *request)
{
    memcpy(mark, request->payload + MARK_BYTES, MARK_BYTES);
    send_frame(port, FRAME_SAME, mark, MARK_BYTES);
}

/* Greet, and drop what comes before SYNC. */
static void greet(int port)
{
    char last[sizeof(SYNC) - 1] = "";

    memset(mark, '0', sizeof(mark));
    tcflush(port, TCIFLUSH);
    port_write(port, HELLO_SERVE, sizeof(HELLO_SERVE) - 1);
    while (memcmp(last, SYNC, sizeof(last)) != 0) {
        memmove(last, last + 1, sizeof(last) - 1);
        while (!port_read(port, last + sizeof(last) - 1, 1)) {
        }
    }
}

/* A request that comes while the command runs; late ones are dropped. */
static bool job_request(Job *job, int port)
{
    Request request;

    if (!request_read(port, &request)) {
        return false;
    }
    if (request.type == REQUEST_KILL && job->pid > 0) {
        kill(-job->pid, SIGKILL);
    } else if (request.type == REQUEST_MARK) {
        mark_take(port, &request);
    } else if (request.type == REQUEST_IN && request.len > 0 && job->in >= 0 &&
               job->input_len == 0) {
        job->input = request.payload;
        job->input_len = request.len;
        job->input_at = 0;
        return true;
    } else if (request.type == REQUEST_IN) {
        if (request.len == 0) {
            input_close(job);
        }
        send_frame(port, FRAME_TAKEN, NULL, 0);
    }
    free(request.payload);
    return true;
}

/* False: out of step. */
static bool relay_all(int port, Job *job, bool requests)
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
                return true;
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
        if (fds[PORT_IN].fd >= 0 && fds[PORT_IN].revents &&
            !job_request(job, port)) {
            return false;
        }
    }
    return true;
}

/* The command's exit status, as a shell shows it; -1: out of step. */
static int run(int port, const char *command, char type)
{
    int in[2] = {-1, -1}, out[2], err[2], status = 0;
    Job job = {.in = -1};
    bool in_step;

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
    in_step = relay_all(port, &job, type != 0);
    if (!in_step && job.pid > 0) {
        kill(-job.pid, SIGKILL);
    }
    input_close(&job);
    close(out[0]);
    close(err[0]);
    if (job.pid < 0 || waitpid(job.pid, &status, 0) < 0) {
        status = 126 << 8;
    }
    if (!in_step) {
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* type: of the request; 0, the command is fw_cfg's and nobody sends requests.
 * False: out of step. */
static bool run_and_report(int port, const char *command, char type)
{
    uint8_t status[4];
    int ended = run(port, command, type);

    if (ended < 0) {
        return false;
    }
    put_le32(status, (uint32_t)ended);
    send_frame(port, FRAME_EXIT, status, sizeof(status));
    tcdrain(port);
    return true;
}

/* Stop the services in their order, or kill them all; then file systems are
 * unmounted. */
static void power_off(bool in_order)
{
    if (access("/run/systemd/system", F_OK) == 0) {
        if (in_order) {
            execl("/usr/bin/systemctl", "systemctl", "poweroff", (char *)NULL);
        } else if (kill(1, SIGRTMIN + SYSTEMD_POWER_OFF) == 0) {
            while (true) {
                pause();
            }
        }
    }
    execl("/sbin/poweroff", "poweroff", "-f", (char *)NULL);
    exit(1);
}

/* Serve one request; false: out of step. */
static bool serve(int port)
{
    struct pollfd more = {.fd = port, .events = POLLIN};
    Request request;
    bool in_step = true;

    if (poll(&more, 1, -1) < 0) {
        return errno == EINTR;
    }
    if (!request_read(port, &request)) {
        return false;
    }
    switch (request.type) {
    case REQUEST_OFF:
        power_off(true);
        break;
    case REQUEST_RUN:
    case REQUEST_RUN_IN:
        in_step = run_and_report(port, request.payload, request.type);
        break;
    case REQUEST_MARK:
        mark_take(port, &request);
        break;
    default: /* for a command that has ended */
        break;
    }
    free(request.payload);
    return in_step;
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
    bool early = argc > 1 && strcmp(argv[1], "--early") == 0;
    char *command, *how;
    int port;

    mount_all();
    if (!fw_cfg_there() || (early && !fw_cfg_file("opt/vssd/early"))) {
        return 0;
    }
    command = fw_cfg_file("opt/vssd/exec");
    how = fw_cfg_file("opt/vssd/serve");
    if (!command && !how) {
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    port = port_open(argc > 1 + early ? argv[1 + early] : PORT);
    if (!early && fw_cfg_file("opt/vssd/network")) {
        wait_for_network();
    }
    if (command) {
        port_write(port, HELLO_EXEC, sizeof(HELLO_EXEC) - 1);
        run_and_report(port, command, 0);
        power_off(false);
    }
    while (true) {
        greet(port);
        while (serve(port)) {
        }
    }
}
