/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control-socket.c - see control-socket.h.
 *
 * Knows connections and lines; knows nothing of what they ask for.  A
 * connection is for one request.
 */
#include "control-socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "request.h"

#define CLIENTS    8
#define LINE_BYTES 512

typedef struct Client {
    int fd; /* -1: there is none */
    bool waits;
    uint64_t order; /* of its coming */
    size_t n;
    char line[LINE_BYTES];
} Client;

struct ControlSocket {
    char *path;
    int fd;
    ControlAnswer *answer;
    void *opaque;
    uint64_t n_clients; /* that have come */
    Client client[CLIENTS];
};

/* ---- the socket ---------------------------------------------------------- */

static bool cannot(const char *path, const char *why, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE, "%s: %s", path, why);
    return false;
}

static bool make_room(const char *path, GError **error)
{
    struct stat st;

    if (lstat(path, &st) != 0) {
        return errno == ENOENT || cannot(path, g_strerror(errno), error);
    }
    if (!S_ISSOCK(st.st_mode)) {
        return cannot(path, "is there, and is no socket", error);
    }
    /* The lock of the live file says that no run has it. */
    return unlink(path) == 0 || cannot(path, g_strerror(errno), error);
}

static bool open_socket(ControlSocket *s, GError **error)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    mode_t mask;
    bool ok;

    if (strlen(s->path) >= sizeof(name.sun_path)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                    "%s: the name of a socket has at most %zu bytes", s->path,
                    sizeof(name.sun_path) - 1);
        return false;
    }
    strcpy(name.sun_path, s->path);
    if (!make_room(s->path, error)) {
        return false;
    }
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mask = umask(0177);
    ok = s->fd >= 0 &&
         bind(s->fd, (struct sockaddr *)&name, sizeof(name)) == 0 &&
         listen(s->fd, CLIENTS) == 0;
    umask(mask);
    return ok || cannot(s->path, g_strerror(errno), error);
}

ControlSocket *control_socket_new(const char *path, ControlAnswer *answer,
                                  void *opaque, GError **error)
{
    ControlSocket *s = g_new0(ControlSocket, 1);

    s->path = g_strdup(path);
    s->fd = -1;
    s->answer = answer;
    s->opaque = opaque;
    for (unsigned i = 0; i < CLIENTS; i++) {
        s->client[i].fd = -1;
    }
    if (!open_socket(s, error)) {
        if (s->fd >= 0) {
            close(s->fd);
        }
        g_free(s->path);
        g_clear_pointer(&s, g_free);
    }
    return s;
}

void control_socket_free(ControlSocket *s)
{
    if (s) {
        control_socket_drop(s);
        unlink(s->path);
        close(s->fd);
        g_free(s->path);
        g_free(s);
    }
}

/* ---- clients ------------------------------------------------------------- */

static void hang_up(Client *c)
{
    if (c->fd >= 0) {
        close(c->fd);
    }
    *c = (Client){.fd = -1};
}

void control_socket_drop(ControlSocket *s)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        hang_up(&s->client[i]);
    }
}

/* A free place, or that of the client that came first. */
static Client *place(ControlSocket *s)
{
    Client *oldest = &s->client[0];

    for (unsigned i = 0; i < CLIENTS; i++) {
        Client *c = &s->client[i];

        if (c->fd < 0) {
            return c;
        }
        if (c->order < oldest->order) {
            oldest = c;
        }
    }
    hang_up(oldest);
    return oldest;
}

static void accept_some(ControlSocket *s)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        Client *c;

        if (fd < 0) {
            return;
        }
        c = place(s);
        c->fd = fd;
        c->order = ++s->n_clients;
    }
}

/* A client that does not take its answer goes without. */
static void say(Client *c, const char *text)
{
    g_autofree char *line = g_strconcat(text, "\n", NULL);

    if (send(c->fd, line, strlen(line), MSG_NOSIGNAL) < 0) {
        /* it has gone */
    }
    hang_up(c);
}

static void take_line(ControlSocket *s, Client *c)
{
    uint64_t order = c->order;
    g_autofree char *text = NULL;

    c->waits = true;
    text = s->answer(s->opaque, c->line);
    if (text && c->fd >= 0 && c->order == order) {
        say(c, text);
    }
}

static void read_some(ControlSocket *s, Client *c)
{
    ssize_t n = recv(c->fd, c->line + c->n, LINE_BYTES - 1 - c->n, 0);
    char *end;

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0 || c->waits) { /* it has gone, or says more than a line */
        hang_up(c);
        return;
    }
    end = memchr(c->line + c->n, '\n', (size_t)n);
    c->n += (size_t)n;
    if (end) {
        *end = '\0';
        take_line(s, c);
    } else if (c->n == LINE_BYTES - 1) {
        say(c, "{\"error\":\"a request is one short line\"}");
    }
}

void control_socket_late(ControlSocket *s, const char *text)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (s->client[i].fd >= 0 && s->client[i].waits) {
            say(&s->client[i], text);
        }
    }
}

void control_socket_serve(ControlSocket *s, int64_t wait_us)
{
    struct pollfd at[CLIENTS + 1] = {{.fd = s->fd, .events = POLLIN}};
    struct timespec wait = {.tv_sec = wait_us / G_USEC_PER_SEC,
                            .tv_nsec = wait_us % G_USEC_PER_SEC * 1000};

    for (unsigned i = 0; i < CLIENTS; i++) {
        at[i + 1] = (struct pollfd){.fd = s->client[i].fd, .events = POLLIN};
    }
    if (ppoll(at, CLIENTS + 1, &wait, NULL) <= 0) {
        return;
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        Client *c = &s->client[i];

        if (at[i + 1].revents && c->fd == at[i + 1].fd && c->fd >= 0) {
            read_some(s, c);
        }
    }
    if (at[0].revents) {
        accept_some(s);
    }
}
