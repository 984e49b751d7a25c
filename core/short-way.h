/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * short-way.h - does the common request take the short way?
 *
 * Where nothing waits, nothing runs and nothing has failed, the general path
 * asks many questions whose answers are known.  The short way does what the
 * general path would do, at the same instant and in the same order, and is
 * taken only while its condition holds: `if (SHORT_WAY && condition)`.
 *
 * Results, logs and saved drives are the same without it.  A build with the
 * option short_way=false, as that of the tests with clang, has the general path
 * alone.
 */
#ifndef VSSD_CORE_SHORT_WAY_H
#define VSSD_CORE_SHORT_WAY_H

#ifdef VSSD_GENERAL_WAY
#define SHORT_WAY 0
#else
#define SHORT_WAY 1
#endif

#endif
