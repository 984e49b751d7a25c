/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rest.c - a drive that comes to rest while its machine runs, and goes on; or
 * for good.
 *
 * Its clock stands meanwhile, and it fetches no command.  Knows the order in
 * which commands and image I/O end, and how long they may take.
 */
#include "server.h"
#include "simtime.h"

/* In modelled time; a drive that collects every victim needs a few seconds. */
#define SETTLE_MOST_NS (1000 * NS_PER_S)

/* How long trimmed ranges may take to be freed. */
#define FREE_MS 1000

/* The server of an image of which no request ends for so long is disconnected.
 */
#define NO_ANSWER_MS 30000

/* Until a request has ended. */
static void wait_image(Server *s)
{
    if (!vfio_image_wait(s, NO_ANSWER_MS)) {
        vfio_image_disconnect(s);
    }
    vfio_image_reap(s);
}

/* Commands in flight end, in modelled time. */
static void settle(Server *s)
{
    uint64_t end_ns = s->now_ns + SETTLE_MOST_NS;

    while (nvme_settle(s->ctrl, &s->now_ns, end_ns) == NVME_SETTLE_STORE) {
        wait_image(s);
    }
}

void vfio_rest_drain(Server *s)
{
    nvme_run(s->ctrl, s->now_ns);
    while (nvme_store_in_flight(s->ctrl)) {
        wait_image(s);
        nvme_run(s->ctrl, s->now_ns);
    }
}

void vfio_rest_begin(Server *s)
{
    vfio_now(s);
    s->stopped = true;
    nvme_hold(s->ctrl, true);
    vfio_rest_settle(s);
}

void vfio_rest_settle(Server *s)
{
    if (nvme_powered(s->ctrl)) {
        settle(s);
        vfio_irq_deliver_all(s);
    }
    vfio_rest_drain(s);
}

bool vfio_rest_free_trimmed(Server *s)
{
    gint64 end_us = g_get_monotonic_time() + FREE_MS * 1000;

    while (nvme_housekeep(s->ctrl)) {
        if (g_get_monotonic_time() > end_us) {
            return false;
        }
        vfio_image_wait(s, 10);
        vfio_image_reap(s);
        nvme_run(s->ctrl, s->now_ns);
    }
    return true;
}

void vfio_rest_end(Server *s)
{
    s->epoch_ns = vfio_host_ns() - s->now_ns;
    s->timer_ns = SSD_TIME_NEVER;
    s->stopped = false;
    nvme_hold(s->ctrl, s->held);
    vfio_serve_run(s);
}
