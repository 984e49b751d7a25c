/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * printable.h - text of others in a message for a terminal.
 */
#ifndef VSSD_CORE_PRINTABLE_H
#define VSSD_CORE_PRINTABLE_H

/* The text on one line, with no control character: they, and bytes that are no
 * UTF-8, become \x1b and the like.  Free it with g_free(). */
char *printable(const char *text);

#endif
