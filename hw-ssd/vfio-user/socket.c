/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket.c - UNIX sockets to listen on, at the paths of options.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server.h"

static bool make_address(const char *option, const char *path,
                         struct sockaddr_un *addr, GError **error)
{
    *addr = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(addr->sun_path)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NAMETOOLONG,
                    "%s %s: the path is longer than %zu bytes", option, path,
                    sizeof(addr->sun_path) - 1);
        return false;
    }
    strcpy(addr->sun_path, path);
    return true;
}

bool free_path(const char *option, const char *path, GError **error)
{
    struct sockaddr_un addr;
    struct stat st;
    int fd, refused;

    if (!make_address(option, path, &addr, error)) {
        return false;
    }
    if (lstat(path, &st) < 0) {
        return true; /* bind() says what is wrong with the folder */
    }
    if (!S_ISSOCK(st.st_mode)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s %s: the file exists and is no socket", option, path);
        return false;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    refused = connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 &&
              errno == ECONNREFUSED;
    close(fd);
    if (!refused) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s %s: another process listens at this socket", option,
                    path);
        return false;
    }
    unlink(path); /* of a process that has died */
    return true;
}

int listen_at(const char *option, const char *path, int most, GError **error)
{
    struct sockaddr_un addr;
    int fd;

    if (!free_path(option, path, error) ||
        !make_address(option, path, &addr, error)) {
        return -1;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
        listen(fd, most) < 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s %s: %s",
                    option, path, g_strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}
