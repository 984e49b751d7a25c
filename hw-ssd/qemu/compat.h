/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compat.h - the one place that knows how QEMU's releases differ.
 *
 * Base: 10.0.  10.1 made the data of class_init const and moved icount; later
 * ones moved the headers of device properties.
 */
#ifndef VSSD_QEMU_COMPAT_H
#define VSSD_QEMU_COMPAT_H

#if QEMU_VERSION_MAJOR > 10 ||                                                 \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1)
typedef const void *VssdClassData;
#else
typedef void *VssdClassData;
#endif

#if __has_include("exec/icount.h")
#include "exec/icount.h"
#else
#include "system/cpu-timers.h"
#endif

#if __has_include("exec/address-spaces.h")
#include "exec/address-spaces.h"
#else
#include "system/address-spaces.h"
#endif

#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#include "hw/core/qdev-properties-system.h"
#else
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#endif

#endif
