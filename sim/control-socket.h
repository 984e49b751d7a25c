/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control-socket.h - the clients of a run: a Unix socket, one line in, one line
 * out (docs/live-format.md).
 *
 * Clients may do as they like: one that says nothing, too much, or goes away
 * keeps nobody else waiting, and none can stop the run but by a request.
 */
#ifndef VSSD_SIM_CONTROL_SOCKET_H
#define VSSD_SIM_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

typedef struct ControlSocket ControlSocket;

/* The answer to a line, without the line's end (g_free); NULL: it comes later,
 * by control_socket_late(), or never, as the clients have been dropped. */
typedef char *ControlAnswer(void *opaque, char *line);

/* A socket of mode 0600.  One that a killed run left there is replaced.  NULL:
 * *error is one line that begins with the path. */
ControlSocket *control_socket_new(const char *path, ControlAnswer *answer,
                                  void *opaque, GError **error);

/* Take what clients say; wait for it, but no longer than wait_us. */
void control_socket_serve(ControlSocket *s, int64_t wait_us);

/* Answer all clients that were told that it comes later. */
void control_socket_late(ControlSocket *s, const char *text);

/* Of a process that only waits: close the connections. */
void control_socket_drop(ControlSocket *s);

/* Remove the socket.  s may be NULL. */
void control_socket_free(ControlSocket *s);

#endif
