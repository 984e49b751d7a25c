/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outside.h - policies with the published interface (vssd-policy.h): loading
 * those from outside, their state in a drive, and the rules that they broke.
 *
 * The listed policies have it, too.  The components have the views
 * (gc/gc-victim.c, ...), and check what a policy says.
 */
#ifndef VSSD_FTL_OUTSIDE_H
#define VSSD_FTL_OUTSIDE_H

#include "layers.h"

#include "plugin.h"
#include "prng.h"
#include "ssd-internal.h"
#include "vssd-policy.h"

/* A policy of a configuration; drives and copies of the configuration share it.
 */
struct OutsidePolicy {
    int users;
    char *value;    /* of the option: "so:FILE", or "call:NAME" */
    Plugin *plugin; /* or NULL */
    const VssdPolicy *policy;
};

/* Of a drive. */
struct Outside {
    VssdView view; /* first: views are cast to this */
    Ssd *ssd;
    const OutsidePolicy *from; /* NULL: a listed one */
    const VssdPolicy *policy;
    size_t state_bytes;
    Prng rng;
    char *fault; /* the rule that it broke; it is called no more */
};

/* ---- configuration ------------------------------------------------------- */

/* Load a policy of that kind; NULL: *error is one line that names the file. */
OutsidePolicy *outside_load(VssdPolicyKind kind, const char *file,
                            GError **error);

/* One of the process.  NULL: *error says what is wrong with it. */
OutsidePolicy *outside_wrap(const VssdPolicy *policy, GError **error);

OutsidePolicy *outside_ref(OutsidePolicy *p);
void outside_unref(OutsidePolicy *p);

/* Is a value of an option that of a policy from outside? */
bool outside_is_value(const char *value);

/* ---- a drive ------------------------------------------------------------- */

/* The listed policy, if there is none from outside. */
Outside *outside_listed(Ssd *ssd, VssdPolicyKind kind,
                        const VssdPolicy *policy);

/* What the policy had in memory is lost: its state begins again. */
void outside_reset(Outside *o);

/* The drive of a view. */
static inline Outside *outside_of(VssdView *v)
{
    return (Outside *)v;
}

/* May the policy be called? */
static inline bool outside_works(const Outside *o)
{
    return G_LIKELY(!o->fault);
}

/* The policy has broken a rule, the first one counts.  Returns false. */
bool outside_broke(Outside *o, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The number is not below `end`, which breaks a rule of the function.  Returns
 * false. */
bool outside_out_of_range(Outside *o, const char *function, const char *what,
                          uint64_t number, uint64_t end);

/* Is the number below `end`?  Else that breaks a rule of the function. */
static inline bool outside_in_range(Outside *o, const char *function,
                                    const char *what, uint64_t number,
                                    uint64_t end)
{
    return G_LIKELY(number < end) ||
           outside_out_of_range(o, function, what, number, end);
}

#endif
