/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-firmware.h - a firmware image that the controller accepts: this head,
 * little-endian, and any content.  Other programs may include this file.
 */
#ifndef VSSD_NVME_FIRMWARE_IMAGE_H
#define VSSD_NVME_FIRMWARE_IMAGE_H

#include <stdint.h>

#define VSSD_FIRMWARE_MAGIC "VSSDFW01"

/* The reset that activates the image; 0: none. */
#define VSSD_FIRMWARE_RESET              0x1U /* any reset */
#define VSSD_FIRMWARE_CONVENTIONAL_RESET 0x2U /* of PCI Express */
#define VSSD_FIRMWARE_SUBSYSTEM_RESET    0x4U /* NSSR, or power */
#define VSSD_FIRMWARE_PROHIBITED         0x8U /* it cannot be without a reset */
#define VSSD_FIRMWARE_FLAGS              0xfU

typedef struct VssdFirmwareHead {
    char magic[8];
    char revision[8]; /* printable ASCII, filled up with spaces */
    uint32_t bytes;   /* of the image with its head; at most 1 MiB */
    uint32_t crc;     /* CRC-32 (as zlib's) of the content */
    uint32_t flags;
    uint8_t reserved[36];
} VssdFirmwareHead;

_Static_assert(sizeof(VssdFirmwareHead) == 64, "VssdFirmwareHead");

#endif
