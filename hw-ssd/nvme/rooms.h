/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rooms.h - the rooms of hw-ssd/nvme/, from bottom to top.
 *
 * Each file is compiled with NVME_ROOM, the room that it stands in
 * (meson.build).  A header of a room refuses files of rooms below it: they
 * cannot call it.
 */
#ifndef VSSD_NVME_ROOMS_H
#define VSSD_NVME_ROOMS_H

#define ROOM_PAYLOAD     1
#define ROOM_MEMORY      2
#define ROOM_NAMESPACE   3
#define ROOM_QUEUE       4
#define ROOM_HEALTH      5
#define ROOM_RESERVATION 6
#define ROOM_ZONE        7
#define ROOM_PLACEMENT   8
#define ROOM_ERASE       9
#define ROOM_METADATA    10
#define ROOM_DATA        11
#define ROOM_KV          12
#define ROOM_ADMIN       13
#define ROOM_CORE        14 /* the controller as a whole, and its tests */

#ifndef NVME_ROOM
#error "internals of hw-ssd/nvme/: a front door includes nvme.h only"
#endif

typedef struct NvmeSubsys NvmeSubsys;
typedef struct NvmeNamespace NvmeNamespace;
typedef struct NvmeRequest NvmeRequest;
typedef struct NvmeCtrl NvmeCtrl;
typedef struct NvmeMetadata NvmeMetadata;

#endif
