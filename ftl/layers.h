/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layers.h - the components of ftl/, from bottom to top.
 *
 * Each file is compiled with FTL_LAYER, the component that it belongs to
 * (meson.build).  A header of a component refuses files of components below it:
 * they cannot read its members, or call it.
 */
#ifndef VSSD_FTL_LAYERS_H
#define VSSD_FTL_LAYERS_H

#define FTL_CONTROLLER 1
#define FTL_MEDIA      2
#define FTL_JOURNAL    3
#define FTL_PLACEMENT  4
#define FTL_BUFFER     5
#define FTL_MAP        6
#define FTL_GC         7
#define FTL_THERMAL    8
#define FTL_HOST       9
#define FTL_POWER      10
#define FTL_ALL        11 /* ssd.c, inspect/, state/, and tests of the model */

#ifndef FTL_LAYER
#error "internals of ftl/: a front door includes ssd.h only"
#endif

/*
 * A component's members are written by its own files only; to those above it
 * they are const.  OF_X stands before members of component X: its struct
 * (Ssd), and the tables that the struct leads to.
 */
#if FTL_LAYER == FTL_CONTROLLER || FTL_LAYER == FTL_ALL
#define OF_CONTROLLER
#else
#define OF_CONTROLLER const
#endif
#if FTL_LAYER == FTL_MEDIA || FTL_LAYER == FTL_ALL
#define OF_MEDIA
#else
#define OF_MEDIA const
#endif
#if FTL_LAYER == FTL_JOURNAL || FTL_LAYER == FTL_ALL
#define OF_JOURNAL
#else
#define OF_JOURNAL const
#endif
#if FTL_LAYER == FTL_PLACEMENT || FTL_LAYER == FTL_ALL
#define OF_PLACEMENT
#else
#define OF_PLACEMENT const
#endif
#if FTL_LAYER == FTL_BUFFER || FTL_LAYER == FTL_ALL
#define OF_BUFFER
#else
#define OF_BUFFER const
#endif
#if FTL_LAYER == FTL_MAP || FTL_LAYER == FTL_ALL
#define OF_MAP
#else
#define OF_MAP const
#endif
#if FTL_LAYER == FTL_GC || FTL_LAYER == FTL_ALL
#define OF_GC
#else
#define OF_GC const
#endif
#if FTL_LAYER == FTL_THERMAL || FTL_LAYER == FTL_ALL
#define OF_THERMAL
#else
#define OF_THERMAL const
#endif
#if FTL_LAYER == FTL_HOST || FTL_LAYER == FTL_ALL
#define OF_HOST
#else
#define OF_HOST const
#endif
#if FTL_LAYER == FTL_POWER || FTL_LAYER == FTL_ALL
#define OF_POWER
#else
#define OF_POWER const
#endif

#endif
