/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard.c - between a client and libvfio-user: what that library takes for
 * granted of a client is checked here.
 *
 * The library reads a message with calls that wait, from a client that it takes
 * to be well-behaved.  So it gets a message only when all of it is in the
 * socket; messages that it would misread are answered with an error; and its
 * calls of the socket layer have limits.  Knows headers and the few messages
 * with addresses, counts and descriptors; the library knows the protocol.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>
#include <unistd.h>

#include "vfio-user.h"

#include "guard.h"
#include "server.h"

/* Registers have at most 8 bytes, configuration space 4096. */
#define MAX_MESSAGE 16384

/* The library's limit for one range. */
#define MAX_RANGE_BYTES (8ULL << 40)

typedef struct Message {
    struct vfio_user_header head;
    union {
        struct vfio_user_dma_map map;
        struct {
            uint32_t argsz, flags;
            uint64_t addr, size;
        } unmap;
        struct vfio_irq_set irqs;
        uint8_t bytes[MAX_MESSAGE];
    } body;
} Message;

/* ---- calls of the library ------------------------------------------------ */

int vfio_guard_accept(int fd, struct sockaddr *addr, socklen_t *len)
{
    const struct timeval wait = {
        .tv_sec = GUARD_WAIT_MS / 1000,
        .tv_usec = GUARD_WAIT_MS % 1000 * 1000,
    };
    int conn = accept4(fd, addr, len, SOCK_CLOEXEC);

    if (conn >= 0) {
        setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
        setsockopt(conn, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    }
    return conn;
}

static void take_descriptors(struct msghdr *msg, bool keep)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            int one;

            memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(one));
            if (keep) {
                fcntl(one, F_SETFL, fcntl(one, F_GETFL) | O_NONBLOCK);
            } else {
                close(one);
            }
        }
    }
}

ssize_t vfio_guard_recvmsg(int fd, struct msghdr *msg, int flags)
{
    ssize_t n = recvmsg(fd, msg, flags | MSG_CMSG_CLOEXEC);
    bool whole = n == (ssize_t)msg->msg_iov[0].iov_len &&
                 !(msg->msg_flags & (MSG_CTRUNC | MSG_TRUNC));

    if (n >= 0 && msg->msg_control) {
        take_descriptors(msg, whole);
    }
    return n;
}

/* ---- messages ------------------------------------------------------------ */

/* The library keeps a second descriptor of a range that is mapped again, and
 * does not look for an address that overflows. */
static bool map_is_sound(const Function *f, const Message *m)
{
    uint64_t start = m->body.map.addr, bytes = m->body.map.size;

    return m->head.msg_size >= sizeof(m->head) + sizeof(m->body.map) &&
           bytes > 0 && bytes <= MAX_RANGE_BYTES && start + bytes > start &&
           f->n_ranges < MAX_RANGES && !vfio_memory_is_mapped(f, start, bytes);
}

/* It reads flags, and a bitmap that follows, before it looks at the size. */
static bool unmap_is_sound(const Message *m)
{
    return m->head.msg_size >= sizeof(m->head) + sizeof(m->body.unmap) &&
           (m->body.unmap.flags == 0 ||
            m->body.unmap.flags == VFIO_DMA_UNMAP_FLAG_ALL);
}

/* It adds start and count in 32 bits. */
static bool irqs_are_sound(const Message *m)
{
    return m->head.msg_size >= sizeof(m->head) + sizeof(m->body.irqs) &&
           m->body.irqs.start <= MAX_VECTORS &&
           m->body.irqs.count <= MAX_VECTORS;
}

static bool is_sound(const Function *f, const Message *m)
{
    switch (m->head.cmd) {
    case VFIO_USER_DMA_MAP:
        return map_is_sound(f, m);
    case VFIO_USER_DMA_UNMAP:
        return unmap_is_sound(m);
    case VFIO_USER_DEVICE_SET_IRQS:
        return irqs_are_sound(m);
    case VFIO_USER_DIRTY_PAGES:
        return false; /* no migration */
    default:
        return true;
    }
}

/* Take the message, and the descriptors that came with it, off the socket. */
static bool drop(int fd, size_t n)
{
    uint8_t bytes[1024];

    while (n) {
        ssize_t ret = recv(fd, bytes, MIN(n, sizeof(bytes)), MSG_DONTWAIT);

        if (ret <= 0) {
            return false;
        }
        n -= ret;
    }
    return true;
}

static Guard refuse(Function *f, int fd, const Message *m)
{
    struct vfio_user_header reply = {
        .msg_id = m->head.msg_id,
        .cmd = m->head.cmd,
        .msg_size = sizeof(reply),
        .flags.type = VFIO_USER_F_TYPE_REPLY,
        .flags.error = 1,
        .error_no = EINVAL,
    };

    f->refused++;
    if (!drop(fd, m->head.msg_size)) {
        return GUARD_BROKEN;
    }
    if (!m->head.flags.no_reply &&
        send(fd, &reply, sizeof(reply), MSG_NOSIGNAL) != sizeof(reply)) {
        return GUARD_BROKEN;
    }
    return GUARD_REFUSED;
}

static Guard look(Function *f, int fd)
{
    static Message m; /* one thread */
    ssize_t n = recv(fd, &m, sizeof(m), MSG_PEEK | MSG_DONTWAIT);
    int there;

    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? GUARD_NOTHING : GUARD_BROKEN;
    }
    if (n == 0) {
        return GUARD_READY; /* closed: the library finds out */
    }
    if ((size_t)n < sizeof(m.head)) {
        return GUARD_PART;
    }
    if (m.head.flags.type != VFIO_USER_F_TYPE_COMMAND ||
        m.head.msg_size < sizeof(m.head) || m.head.msg_size > sizeof(m)) {
        return GUARD_BROKEN;
    }
    if (ioctl(fd, SIOCINQ, &there) < 0 || there < (int)m.head.msg_size) {
        return GUARD_PART;
    }
    /* A look ends at descriptors; none are expected within a message. */
    if ((size_t)n < m.head.msg_size) {
        return GUARD_BROKEN;
    }
    return is_sound(f, &m) ? GUARD_READY : refuse(f, fd, &m);
}

static bool has_gone(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLRDHUP};

    return poll(&one, 1, 0) > 0;
}

/* The rest of a message may have come before the client went: after that
 * nothing comes. */
Guard vfio_guard_look(Function *f, int fd)
{
    Guard found = look(f, fd);

    if (found != GUARD_PART || !has_gone(fd)) {
        return found;
    }
    found = look(f, fd);
    return found == GUARD_PART ? GUARD_BROKEN : found;
}

void vfio_guard_shut(int fd)
{
    uint8_t bytes[4096];

    shutdown(fd, SHUT_RDWR);
    while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
    }
}
