/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of thermal/. */
#include "component.h"
#include "thermal/thermal.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    thermal_init(ssd);
    return true;
}

static void power_settled(Ssd *ssd)
{
    thermal_power(ssd, false);
}

static void power_on(Ssd *ssd)
{
    thermal_power(ssd, true);
}

const Component thermal_component = {
    .create = create,
    .power_settled = power_settled,
    .power_on = power_on,
    .reset_stats = thermal_reset_peak,
};
