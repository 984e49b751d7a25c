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

#define FTL_MEDIA     1
#define FTL_JOURNAL   2
#define FTL_PLACEMENT 3
#define FTL_BUFFER    4
#define FTL_MAP       5
#define FTL_GC        6
#define FTL_HOST      7
#define FTL_POWER     8
#define FTL_ALL       9 /* ssd.c, inspect/, state/, and tests of the model */

#ifndef FTL_LAYER
#error "internals of ftl/: a front door includes ssd.h only"
#endif

#endif
