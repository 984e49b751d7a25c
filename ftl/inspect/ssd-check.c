/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-check.c - check of a drive: each component checks itself.
 *
 * For tests at any instant, and for a drive from a file (state/state.c).
 */
#include "component.h"
#include "ssd-report.h"
#include "ssd-save.h"

bool ssd_check(const Ssd *ssd, GError **error)
{
    return components_check(ssd, ssd_at_rest(ssd), error);
}
