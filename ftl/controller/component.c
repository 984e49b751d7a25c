/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of controller/. */
#include "component.h"
#include "controller/controller.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    controller_init(ssd);
    return true;
}

const Component controller_component = {
    .create = create,
    .destroy = controller_destroy,
    .power_settled = controller_power_lost,
};
