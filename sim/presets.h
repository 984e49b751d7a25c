/* SPDX-License-Identifier: GPL-2.0-or-later */
/* presets.h - workloads with a name: preset=NAME of a workload. */
#ifndef VSSD_SIM_PRESETS_H
#define VSSD_SIM_PRESETS_H

typedef struct Preset {
    const char *name;
    const char *help;
    const char *keywords; /* keywords that follow override them */
} Preset;

/* A NULL name at the end. */
extern const Preset presets[];

/* The name of preset i; NULL past the last. */
const char *preset_name(unsigned i);

#endif
