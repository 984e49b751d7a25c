/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compat.h - the one place that knows how QEMU's releases differ.
 *
 * Base: 10.0.  10.1 made the data of class_init const.
 */
#ifndef VSSD_QEMU_COMPAT_H
#define VSSD_QEMU_COMPAT_H

#if QEMU_VERSION_MAJOR > 10 ||                                                 \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1)
typedef const void *VssdClassData;
#else
typedef void *VssdClassData;
#endif

#endif
