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

static void arm(guint *source, uint64_t ns, GSourceFunc back, void *opaque)
{
    disarm(source);
    *source = g_timeout_add(MAX(ns / NS_PER_MS, 1), back, opaque);
}

/* ---- power --------------------------------------------------------------- */

static void come_back(Server *s)
{
    disarm(&s->power_timer);
    s->power_off = false;
    for (unsigned i = 0; i < s->n_functions; i++) {
        vfio_pci_reset(&s->function[i]);
    }
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

void vfio_power_lost(void *function)
{
    Server *s = ((Function *)function)->drive;

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
    Function *f = opaque;

    f->link_timer = 0;
    f->link_down = false;
    return G_SOURCE_REMOVE;
}

typedef struct Unplug {
    Function *f;
    bool removed;
    uint64_t for_ns;
} Unplug;

static void remove_drive(Server *s, uint64_t for_ns)
{
    vfio_power_set(s, false);
    if (for_ns) {
        arm(&s->power_timer, for_ns, power_back, s);
    }
}

static void fail_link(Function *f, uint64_t for_ns)
{
    Server *s = f->drive;

    f->link_down = true;
    vfio_pci_reset(f);
    if (!s->power_off) {
        nvme_reset(f->ctrl, vfio_now(s));
    }
    disarm(&f->link_timer);
    if (for_ns) {
        arm(&f->link_timer, for_ns, link_back, f);
    }
    vfio_serve_run(s);
}

/* What came before is executed: not from inside the controller. */
static gboolean unplug(gpointer opaque)
{
    Unplug *u = opaque;

    if (u->removed) {
        remove_drive(u->f->drive, u->for_ns);
    } else {
        fail_link(u->f, u->for_ns);
    }
    return G_SOURCE_REMOVE;
}

void vfio_power_unplug(void *function, bool removed, uint64_t for_ns)
{
    Unplug *u = g_new(Unplug, 1);

    *u = (Unplug){.f = function, .removed = removed, .for_ns = for_ns};
    g_idle_add_full(G_PRIORITY_HIGH, unplug, u, g_free);
}

/* ---- reset --------------------------------------------------------------- */

void vfio_power_reset(Function *f)
{
    Server *s = f->drive;

    if (s->power_off) {
        come_back(s);
    } else {
        vfio_pci_reset(f);
        nvme_reset(f->ctrl, vfio_now(s));
    }
    vfio_serve_run(s);
}

void vfio_power_stop(Server *s)
{
    disarm(&s->power_timer);
    for (unsigned i = 0; i < s->n_functions; i++) {
        disarm(&s->function[i].link_timer);
    }
}
