/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-notes.h - for policies of the buffer whose state is a byte for each slot.
 */
#ifndef VSSD_FTL_BUF_NOTES_H
#define VSSD_FTL_BUF_NOTES_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "vssd-policy.h"

static inline size_t note_bytes(const VssdShape *shape)
{
    return shape->slot_numbers;
}

static inline uint8_t *note_of(VssdView *v, uint32_t slot)
{
    return (uint8_t *)v->state + slot;
}

static inline void note_replaced(VssdView *v, uint32_t from, uint32_t to)
{
    *note_of(v, to) = *note_of(v, from);
}

#endif
