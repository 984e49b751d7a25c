/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard.h - libvfio-user's calls of the socket layer, which its build has
 * renamed to these (meson.build): accept() and recvmsg() with limits.
 */
#ifndef VSSD_VFIO_USER_GUARD_H
#define VSSD_VFIO_USER_GUARD_H

#include <sys/socket.h>

/* Reads and writes of the connection wait for GUARD_WAIT_MS at most. */
int vfio_guard_accept(int fd, struct sockaddr *addr, socklen_t *len);

/* Descriptors of a message that is not taken are closed; a write to one that is
 * taken does not wait. */
ssize_t vfio_guard_recvmsg(int fd, struct msghdr *msg, int flags);

#endif
