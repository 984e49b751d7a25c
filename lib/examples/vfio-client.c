/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfio-client.c - a drive of vssd-server without a virtual machine: a client of
 * vfio-user that enables the controller, identifies it, writes, reads, and cuts
 * the drive's power.
 *
 *     cc vfio-client.c -o vfio-client
 *     vssd-server --profile tiny --image disk.raw --socket d.sock --qmp q.sock
 * &
 *     ./vfio-client d.sock q.sock
 *
 * Messages are those of QEMU's docs/interop/vfio-user.rst, structures those of
 * the NVM Express Base Specification.  One thread, which polls; a little-endian
 * machine.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Commands and flags of messages; regions. */
#define VERSION      1
#define DMA_MAP      2
#define REGION_READ  9
#define REGION_WRITE 10
#define IS_REPLY     1u
#define HAS_ERROR    0x20u
#define BAR0         0
#define CONFIG       7

/* Registers, and the doorbell of a queue. */
#define CC                  0x14
#define CSTS                0x1c
#define AQA                 0x24
#define ASQ                 0x28
#define ACQ                 0x30
#define DOORBELL(qid, head) (0x1000 + 8 * (qid) + 4 * (head))

/* Opcodes. */
#define IO_FLUSH       0
#define IO_WRITE       1
#define IO_READ        2
#define ADMIN_NEW_SQ   1
#define ADMIN_NEW_CQ   5
#define ADMIN_IDENTIFY 6

/* The memory that the drive sees from address 0 on: a page for each queue, of
 * queue n the pages 2n and 2n+1, then a buffer. */
#define MEMORY_BYTES (1u << 20)
#define PAGE         4096u
#define ENTRIES      16u
#define BUFFER       (8 * PAGE)

typedef struct Message {
    uint16_t id, command;
    uint32_t bytes, flags, error;
} Message;

typedef struct Access {
    uint64_t offset;
    uint32_t region, bytes;
    uint8_t data[8];
} Access;

typedef struct Queue {
    unsigned id, tail, head, phase;
} Queue;

static int drive; /* the connection */
static uint8_t *memory;
static Queue queue[2]; /* admin, I/O */

static void end_with(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static int connect_to(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
        end_with(path);
    }
    return fd;
}

/* ---- messages ------------------------------------------------------------ */

static void receive(void *to, size_t n)
{
    if (n && recv(drive, to, n, MSG_WAITALL) != (ssize_t)n) {
        end_with("the server has closed the connection");
    }
}

/* A message with n bytes, and a descriptor or -1; the answer has up to `most`
 * bytes of the same structure. */
static void call(unsigned command, void *body, size_t n, size_t most, int fd)
{
    static uint16_t id;
    char control[CMSG_SPACE(sizeof(int))] = {0};
    uint8_t rest[4096];
    Message m = {++id, command, sizeof(m) + n, 0, 0};
    struct iovec part[] = {{&m, sizeof(m)}, {body, n}};
    struct msghdr all = {.msg_iov = part, .msg_iovlen = 2};
    size_t left, kept;

    if (fd >= 0) {
        all.msg_control = control;
        all.msg_controllen = sizeof(control);
        *CMSG_FIRSTHDR(&all) = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(fd)),
            .cmsg_level = SOL_SOCKET,
            .cmsg_type = SCM_RIGHTS,
        };
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&all)), &fd, sizeof(fd));
    }
    if (sendmsg(drive, &all, 0) != (ssize_t)(sizeof(m) + n)) {
        end_with("sendmsg");
    }
    receive(&m, sizeof(m));
    left = m.bytes - sizeof(m);
    kept = left < most ? left : most;
    receive(body, kept);
    receive(rest, left - kept < sizeof(rest) ? left - kept : sizeof(rest));
    if (!(m.flags & IS_REPLY) || m.flags & HAS_ERROR) {
        fprintf(stderr, "message %u: error %u\n", command, m.error);
        exit(EXIT_FAILURE);
    }
}

static uint64_t get(unsigned region, uint64_t offset, unsigned bytes)
{
    Access a = {offset, region, bytes, {0}};
    uint64_t value;

    call(REGION_READ, &a, offsetof(Access, data), sizeof(a), -1);
    memcpy(&value, a.data, sizeof(value));
    return bytes == 4 ? (uint32_t)value : value;
}

static void write_bar(unsigned region, uint64_t offset, uint64_t value,
                      unsigned bytes)
{
    Access a = {offset, region, bytes, {0}};

    memcpy(a.data, &value, bytes);
    call(REGION_WRITE, &a, offsetof(Access, data) + bytes, 0, -1);
}

/* Agree on the version, and share memory. */
static void attach(const char *path)
{
    struct {
        uint16_t major, minor;
        char json[64];
    } version = {0, 1, "{\"capabilities\":{\"max_msg_fds\":1}}"};
    struct {
        uint32_t argsz, flags;
        uint64_t fd_offset, address, bytes;
    } map = {32, 3, 0, 0, MEMORY_BYTES};
    int fd = memfd_create("guest", 0);

    drive = connect_to(path);
    if (fd < 0 || ftruncate(fd, MEMORY_BYTES) < 0) {
        end_with("memfd");
    }
    memory =
        mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    call(VERSION, &version, 4 + strlen(version.json) + 1, 0, -1);
    call(DMA_MAP, &map, sizeof(map), 0, fd);
    close(fd);
}

/* ---- commands ------------------------------------------------------------ */

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* One command with one buffer, from its entry to its completion; the status. */
static unsigned run(Queue *q, uint8_t opcode, uint32_t nsid, uint64_t address,
                    uint32_t dw10, uint32_t dw11, uint32_t dw12)
{
    uint32_t *entry =
        (uint32_t *)(memory + 2 * q->id * PAGE + 64 * (uint64_t)q->tail);
    volatile uint16_t *done =
        (uint16_t *)(memory + (2 * q->id + 1) * PAGE + 16 * (uint64_t)q->head);
    unsigned status;

    memset(entry, 0, 64);
    entry[0] = opcode | q->tail << 16;
    entry[1] = nsid;
    memcpy(entry + 6, &address, sizeof(address));
    entry[10] = dw10;
    entry[11] = dw11;
    entry[12] = dw12;
    q->tail = (q->tail + 1) % ENTRIES;
    write_bar(BAR0, DOORBELL(q->id, 0), q->tail, 4);
    while ((done[7] & 1) != q->phase) {
        nap();
    }
    status = done[7] >> 1;
    q->head = (q->head + 1) % ENTRIES;
    q->phase ^= q->head == 0;
    write_bar(BAR0, DOORBELL(q->id, 1), q->head, 4);
    return status;
}

static void must(const char *what, unsigned status)
{
    if (status) {
        fprintf(stderr, "%s: status %x\n", what, status);
        exit(EXIT_FAILURE);
    }
}

static void enable(void)
{
    memset(memory, 0, 4 * PAGE);
    queue[0] = (Queue){.id = 0, .phase = 1};
    queue[1] = (Queue){.id = 1, .phase = 1};
    write_bar(CONFIG, 4, 6, 2); /* memory, bus master */
    write_bar(BAR0, CC, 0, 4);
    write_bar(BAR0, AQA, (ENTRIES - 1) << 16 | (ENTRIES - 1), 4);
    write_bar(BAR0, ASQ, 0, 8);
    write_bar(BAR0, ACQ, PAGE, 8);
    write_bar(BAR0, CC, 4u << 20 | 6u << 16 | 1, 4);
    while (!(get(BAR0, CSTS, 4) & 1)) {
        nap();
    }
    must("completion queue", run(&queue[0], ADMIN_NEW_CQ, 0, 3 * PAGE,
                                 (ENTRIES - 1) << 16 | 1, 1, 0));
    must("submission queue", run(&queue[0], ADMIN_NEW_SQ, 0, 2 * PAGE,
                                 (ENTRIES - 1) << 16 | 1, 1u << 16 | 1, 0));
}

static void cut_power(const char *control)
{
    static const char text[] =
        "{\"execute\":\"qom-set\",\"arguments\":{\"path\":"
        "\"/machine/peripheral/ssd0\",\"property\":\"power-cut\","
        "\"value\":\"running\"}}";
    int fd = connect_to(control);

    if (write(fd, text, sizeof(text) - 1) < 0) {
        end_with(control);
    }
    while (get(BAR0, CSTS, 4) != UINT32_MAX) { /* all ones: it is gone */
        nap();
    }
    while (get(BAR0, CSTS, 4) == UINT32_MAX) {
        nap();
    }
    close(fd);
}

int main(int argc, char **argv)
{
    uint8_t *buffer;

    if (argc != 3) {
        fprintf(stderr, "usage: vfio-client DRIVE.sock CONTROL.sock\n");
        return EXIT_FAILURE;
    }
    attach(argv[1]);
    buffer = memory + BUFFER;
    enable();
    must("identify", run(&queue[0], ADMIN_IDENTIFY, 0, BUFFER, 1, 0, 0));
    printf("model %.40s\n", (char *)buffer + 24);
    memset(buffer, 'a', PAGE);
    must("write", run(&queue[1], IO_WRITE, 1, BUFFER, 0, 0, 7));
    must("flush", run(&queue[1], IO_FLUSH, 1, 0, 0, 0, 0));
    cut_power(argv[2]);
    enable();
    memset(buffer, 0, PAGE);
    must("read", run(&queue[1], IO_READ, 1, BUFFER, 0, 0, 7));
    if (buffer[0] != 'a' || memcmp(buffer, buffer + 1, PAGE - 1) != 0) {
        fprintf(stderr, "the flushed data is lost\n");
        return EXIT_FAILURE;
    }
    printf("4096 bytes that were flushed are there after a power cut\n");
    return EXIT_SUCCESS;
}
