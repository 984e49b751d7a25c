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
#define ROOM_REGISTERS   2
#define ROOM_MEMORY      3
#define ROOM_NAMESPACE   4
#define ROOM_QUEUE       5
#define ROOM_HEALTH      6
#define ROOM_RESERVATION 7
#define ROOM_ZONE        8
#define ROOM_PLACEMENT   9
#define ROOM_ERASE       10
#define ROOM_METADATA    11
#define ROOM_DATA        12
#define ROOM_KV          13
#define ROOM_ADMIN       14
#define ROOM_CORE        15 /* the controller as a whole, and its tests */

#ifndef NVME_ROOM
#error "internals of hw-ssd/nvme/: a front door includes nvme.h only"
#endif

/*
 * A room's members of NvmeCtrl and NvmeSubsys are written by its own files, and
 * by the core, which loads them; to other rooms they are const.  OF_ROOM_X
 * stands before members of room X.  Registers are const to the core, too.
 */
#if NVME_ROOM == ROOM_REGISTERS
#define OF_ROOM_REGISTERS
#else
#define OF_ROOM_REGISTERS const
#endif
#if NVME_ROOM == ROOM_MEMORY || NVME_ROOM == ROOM_CORE
#define OF_ROOM_MEMORY
#else
#define OF_ROOM_MEMORY const
#endif
#if NVME_ROOM == ROOM_NAMESPACE || NVME_ROOM == ROOM_CORE
#define OF_ROOM_NAMESPACE
#else
#define OF_ROOM_NAMESPACE const
#endif
#if NVME_ROOM == ROOM_QUEUE || NVME_ROOM == ROOM_CORE
#define OF_ROOM_QUEUE
#else
#define OF_ROOM_QUEUE const
#endif
#if NVME_ROOM == ROOM_HEALTH || NVME_ROOM == ROOM_CORE
#define OF_ROOM_HEALTH
#else
#define OF_ROOM_HEALTH const
#endif
#if NVME_ROOM == ROOM_RESERVATION || NVME_ROOM == ROOM_CORE
#define OF_ROOM_RESERVATION
#else
#define OF_ROOM_RESERVATION const
#endif
#if NVME_ROOM == ROOM_ZONE || NVME_ROOM == ROOM_CORE
#define OF_ROOM_ZONE
#else
#define OF_ROOM_ZONE const
#endif
#if NVME_ROOM == ROOM_PLACEMENT || NVME_ROOM == ROOM_CORE
#define OF_ROOM_PLACEMENT
#else
#define OF_ROOM_PLACEMENT const
#endif
#if NVME_ROOM == ROOM_ERASE || NVME_ROOM == ROOM_CORE
#define OF_ROOM_ERASE
#else
#define OF_ROOM_ERASE const
#endif
#if NVME_ROOM == ROOM_KV || NVME_ROOM == ROOM_CORE
#define OF_ROOM_KV
#else
#define OF_ROOM_KV const
#endif
#if NVME_ROOM == ROOM_ADMIN || NVME_ROOM == ROOM_CORE
#define OF_ROOM_ADMIN
#else
#define OF_ROOM_ADMIN const
#endif

typedef struct NvmeSubsys NvmeSubsys;
typedef struct NvmeNamespace NvmeNamespace;
typedef struct NvmeRequest NvmeRequest;
typedef struct NvmeCtrl NvmeCtrl;
typedef struct NvmeMetadata NvmeMetadata;

#endif
