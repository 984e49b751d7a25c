/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of power/. */
#include "component.h"
#include "media/faulty.h"
#include "power/power.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    recovery_init(ssd);
    return true;
}

static void power_on(Ssd *ssd)
{
    if (saves(ssd)) {
        faulty_arm(ssd);
        recovery_start(ssd);
    } else {
        power_ready(ssd);
    }
}

const Component power_component = {
    .create = create,
    .destroy = recovery_destroy,
    .power_settled = recovery_power_lost,
    .power_on = power_on,
};
