/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * say.c - messages to the user.
 */
#include <stdio.h>

#include "printable.h"
#include "server.h"

void vfio_say(const char *text)
{
    g_autofree char *shown = printable(text);

    fprintf(stderr, "vssd-server: %s\n", shown);
}
