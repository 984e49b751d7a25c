/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power.c - power cuts, and faults that take the drive away.
 *
 * A drive that has gone answers all ones and takes no writes.  The protocol has
 * no hot-plug slot in which the guest could see that; a drive that is back is
 * as after a reset.  Knows power and links; the controller knows what is lost.
 */
#include "server.h"
#include "simtime.h"

static void disarm(guint *source)
{
    if (*source) {
        g_source_remove(*source);
        *source = 0;
    }
}

static void arm(guint *source, uint64_t ns, GSourceFunc back, Server *s)
{
    disarm(source);
    *source = g_timeout_add(MAX(ns / NS_PER_MS, 1), back, s);
}

/* ---- power --------------------------------------------------------------- */

static void come_back(Server *s)
{
    disarm(&s->power_timer);
    s->power_off = false;
    vfio_pci_reset(s);
    nvme_power_on(s->ctrl, vfio_now(s));
}

static gboolean power_back(gpointer opaque)
{
    Server *s = opaque;

    s->power_timer = 0;
    come_back(s);
    vfio_serve_run(s);
    return G_SOURCE_REMOVE;
}

void vfio_power_lost(void *server)
{
    Server *s = server;

    s->power_off = true;
    if (s->opt->drive.power_return_ms) {
        arm(&s->power_timer, s->opt->drive.power_return_ms * NS_PER_MS,
            power_back, s);
    }
}

void vfio_power_cut(Server *s)
{
    if (!s->power_off) {
        nvme_power_cut(s->ctrl, vfio_now(s));
        vfio_serve_run(s);
    }
}

void vfio_power_set(Server *s, bool on)
{
    if (on && s->power_off) {
        come_back(s);
    } else if (!on) {
        vfio_power_cut(s);
        disarm(&s->power_timer); /* it stays off */
    }
    vfio_serve_run(s);
}

/* ---- the link ------------------------------------------------------------ */

static gboolean link_back(gpointer opaque)
{
    Server *s = opaque;

    s->link_timer = 0;
    s->link_down = false;
    return G_SOURCE_REMOVE;
}

typedef struct Unplug {
    Server *s;
    bool removed;
    uint64_t for_ns;
} Unplug;

/* What came before is executed: not from inside the controller. */
static gboolean unplug(gpointer opaque)
{
    Unplug *u = opaque;
    Server *s = u->s;

    if (u->removed) {
        vfio_power_set(s, false);
        if (u->for_ns) {
            arm(&s->power_timer, u->for_ns, power_back, s);
        }
    } else {
        s->link_down = true;
        vfio_pci_reset(s);
        if (!s->power_off) {
            nvme_reset(s->ctrl, vfio_now(s));
        }
        disarm(&s->link_timer);
        if (u->for_ns) {
            arm(&s->link_timer, u->for_ns, link_back, s);
        }
        vfio_serve_run(s);
    }
    return G_SOURCE_REMOVE;
}

void vfio_power_unplug(void *server, bool removed, uint64_t for_ns)
{
    Unplug *u = g_new(Unplug, 1);

    *u = (Unplug){.s = server, .removed = removed, .for_ns = for_ns};
    g_idle_add_full(G_PRIORITY_HIGH, unplug, u, g_free);
}

/* ---- reset --------------------------------------------------------------- */

void vfio_power_reset(Server *s)
{
    if (s->power_off) {
        come_back(s);
    } else {
        vfio_pci_reset(s);
        nvme_reset(s->ctrl, vfio_now(s));
    }
    vfio_serve_run(s);
}

void vfio_power_stop(Server *s)
{
    disarm(&s->power_timer);
    disarm(&s->link_timer);
}
