/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit.c - QEMU's status when the drive has lost something.
 */
#include "qemu/osdep.h"

#include "vssd.h"

static bool is_failure;

void vssd_end_as_failure(void)
{
    is_failure = true;
}

/*
 * A destructor runs after all that is registered by atexit(): the block layer
 * has ended then, and all exit notifiers, where drives are saved.
 */
static void __attribute__((destructor)) choose_status(void)
{
    if (is_failure) {
        fflush(NULL);
        _exit(EXIT_FAILURE);
    }
}
