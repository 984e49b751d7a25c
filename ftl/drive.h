/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.h - a drive with all its components, in one piece of memory.
 *
 * For ssd.c, which makes it, and state/, which lists every member of it.
 */
#ifndef VSSD_FTL_DRIVE_H
#define VSSD_FTL_DRIVE_H

#include "buffer/buffer-internal.h"
#include "controller/controller-internal.h"
#include "gc/gc-internal.h"
#include "host/host-internal.h"
#include "journal/journal-internal.h"
#include "map/map-internal.h"
#include "media/media-internal.h"
#include "placement/placement-internal.h"
#include "power/power-internal.h"
#include "ssd-internal.h"
#include "thermal/thermal-internal.h"

/* Ssd first: a pointer to the one is a pointer to the other. */
typedef struct Drive {
    Ssd ssd;
    Controller controller;
    Media media;
    Journal journal;
    Placement placement;
    Buffer buffer;
    Map map;
    Gc gc;
    Thermal thermal;
    HostPath host;
    Power power;
} Drive;

#endif
