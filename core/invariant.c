/* SPDX-License-Identifier: GPL-2.0-or-later */
/* invariant.c - see invariant.h. */
#include "invariant.h"

void invariant_broken(const Invariant *at)
{
    g_assertion_message_expr(G_LOG_DOMAIN, at->file, at->line, at->function,
                             at->expression);
}
