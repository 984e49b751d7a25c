/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-options.c - vssd-sim options: the reference of profile options. */
#include <stdio.h>

#include "command.h"
#include "ssd-setup.h"
#include "ssd.h"

static bool run(char **words, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);

    ssd_config_document(out);
    fputs(out->str, stdout);
    return true;
}

const Command cmd_options = {
    .name = "options",
    .help = "print the reference of profile options (docs/options.md)",
    .run = run,
};
