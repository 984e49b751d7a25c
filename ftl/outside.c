/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outside.c - see outside.h.
 *
 * Knows descriptors, states and faults of policies from outside; knows nothing
 * of what they decide.
 */
#include "component.h"
#include "outside.h"
#include "needs.h"
#include "lazymem.h"
#include "nand.h"
#include "options.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "state.h"

#include <inttypes.h>
#include <string.h>

#define SO   "so:"
#define CALL "call:"

#define MOST_NAME 40

/* Streams of the seed; see prng_seed().  And the kind. */
#define PURPOSE_OUTSIDE 0x66746c2d6f757473ULL

static const char *const kind_name[VSSD_POLICY_KINDS] = {
    [VSSD_POLICY_GC] = "gc",         [VSSD_POLICY_ALLOC] = "alloc",
    [VSSD_POLICY_BUFFER] = "buffer", [VSSD_POLICY_PLACEMENT] = "placement",
    [VSSD_POLICY_MAP] = "map",
};

bool outside_is_value(const char *value)
{
    return g_str_has_prefix(value, SO) || g_str_has_prefix(value, CALL);
}

/* ---- descriptors --------------------------------------------------------- */

static bool wrong(GError **error, const char *from, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static bool wrong(GError **error, const char *from, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list ap;

    va_start(ap, format);
    what = g_strdup_vprintf(format, ap);
    va_end(ap);
    return opt_fail(error, OPT_ERROR_VALUE, "%s: %s", from, what);
}

static bool name_ok(const char *name)
{
    size_t n = name ? strnlen(name, MOST_NAME + 1) : 0;

    for (size_t i = 0; i < n; i++) {
        if (!g_ascii_isalnum(name[i]) && name[i] != '-') {
            return false;
        }
    }
    return n > 0 && n <= MOST_NAME;
}

/* What is missing in the part of its kind; NULL: nothing. */
static const char *missing_part(const VssdPolicy *p)
{
#define NEEDS(part, type, ...)                                                 \
    (!p->part                       ? #part                                    \
     : p->part->size < sizeof(type) ? #part ".size"                            \
                                    : (__VA_ARGS__))
#define HAS(part, call) p->part->call ? NULL : #part "." #call
    switch (p->kind) {
    case VSSD_POLICY_GC:
        return NEEDS(gc, VssdGcPolicy, HAS(gc, pick));
    case VSSD_POLICY_ALLOC:
        return NEEDS(alloc, VssdAllocPolicy,
                     p->alloc->depth < 1 || p->alloc->depth > 64
                         ? "alloc.depth of 1..64"
                         : HAS(alloc, pick));
    case VSSD_POLICY_BUFFER:
        return NEEDS(buffer, VssdBufferPolicy, HAS(buffer, victim));
    case VSSD_POLICY_PLACEMENT:
        return NEEDS(placement, VssdPlacementPolicy,
                     p->placement->streams < 2 || p->placement->streams > 16
                         ? "placement.streams of 2..16"
                         : HAS(placement, stream));
    default:
        return NEEDS(map, VssdMapPolicy, HAS(map, victim));
    }
#undef NEEDS
#undef HAS
}

static bool descriptor_ok(const VssdPolicy *p, const char *from, GError **error)
{
    const char *missing;

    if (p->abi != VSSD_POLICY_ABI) {
        return wrong(error, from,
                     "is a policy of ABI version %u, this vssd has version %d",
                     p->abi, VSSD_POLICY_ABI);
    }
    if (p->size < sizeof(VssdPolicy)) {
        return wrong(error, from, "vssd_policy.size=%zu: at least %zu", p->size,
                     sizeof(VssdPolicy));
    }
    if (p->kind >= VSSD_POLICY_KINDS) {
        return wrong(error, from, "vssd_policy.kind=%u: allowed 0..%d", p->kind,
                     VSSD_POLICY_KINDS - 1);
    }
    if (!name_ok(p->name)) {
        return wrong(error, from,
                     "vssd_policy.name: allowed 1 to %d letters, "
                     "digits and -",
                     MOST_NAME);
    }
    missing = missing_part(p);
    return !missing || wrong(error, from, "the policy %s has no vssd_policy.%s",
                             p->name, missing);
}

static OutsidePolicy *made(const VssdPolicy *policy, Plugin *plugin,
                           const char *prefix, const char *name)
{
    OutsidePolicy *p = g_new0(OutsidePolicy, 1);

    p->users = 1;
    p->policy = policy;
    p->plugin = plugin;
    p->value = g_strconcat(prefix, name, NULL);
    return p;
}

OutsidePolicy *outside_load(VssdPolicyKind kind, const char *file,
                            GError **error)
{
    const void *symbol;
    Plugin *plugin = plugin_open(file, "vssd_policy", &symbol, error);
    const VssdPolicy *policy = symbol;

    if (!plugin) {
        return NULL;
    }
    if (!descriptor_ok(policy, file, error) ||
        (policy->kind != kind &&
         !wrong(error, file, "is a policy of the kind %s, not %s",
                kind_name[policy->kind], kind_name[kind]))) {
        plugin_close(plugin);
        return NULL;
    }
    return made(policy, plugin, SO, file);
}

OutsidePolicy *outside_wrap(const VssdPolicy *policy, GError **error)
{
    return descriptor_ok(policy, "VssdSetup.policy", error)
               ? made(policy, NULL, CALL, policy->name)
               : NULL;
}

OutsidePolicy *outside_ref(OutsidePolicy *p)
{
    if (p) {
        g_atomic_int_inc(&p->users);
    }
    return p;
}

void outside_unref(OutsidePolicy *p)
{
    if (p && g_atomic_int_dec_and_test(&p->users)) {
        plugin_close(p->plugin);
        g_free(p->value);
        g_free(p);
    }
}

/* ---- faults -------------------------------------------------------------- */

bool outside_broke(Outside *o, const char *format, ...)
{
    va_list ap;

    if (!o->fault) {
        va_start(ap, format);
        o->fault = g_strdup_vprintf(format, ap);
        va_end(ap);
        g_strdelimit(o->fault, "\n", ' ');
        if (o->ssd->on_policy_fault) {
            g_autofree char *line = ssd_policy_fault(o->ssd);

            o->ssd->on_policy_fault(o->ssd->policy_fault_opaque, line);
        }
    }
    return false;
}

bool outside_out_of_range(Outside *o, const char *function, const char *what,
                          uint64_t number, uint64_t end)
{
    return outside_broke(o, "%s() with %s %" PRIu64 ": there are %" PRIu64,
                         function, what, number, end);
}

char *ssd_policy_fault(const Ssd *ssd)
{
    for (unsigned kind = 0; kind < VSSD_POLICY_KINDS; kind++) {
        const Outside *o = ssd->outside[kind];

        if (o && o->fault) {
            return g_strdup_printf("policy %s (%s): %s",
                                   o->from ? strchr(o->from->value, ':') + 1
                                           : o->policy->name,
                                   kind_name[kind], o->fault);
        }
    }
    return NULL;
}

void ssd_on_policy_fault(Ssd *ssd,
                         void (*fault)(void *opaque, const char *line),
                         void *opaque)
{
    ssd->on_policy_fault = fault;
    ssd->policy_fault_opaque = opaque;
}

/* ---- of a drive ---------------------------------------------------------- */

static uint64_t view_random(VssdView *v, uint64_t below)
{
    Outside *o = outside_of(v);

    if (below == 0) {
        outside_broke(o, "random() below 0");
        return 0;
    }
    return prng_below(&o->rng, below);
}

static void view_fail(VssdView *v, const char *why)
{
    outside_broke(outside_of(v), "%.200s", why ? why : "it failed");
}

static VssdShape *shape_of(const Ssd *ssd)
{
    const NandConfig *n = &ssd->cfg->nand;
    VssdShape *s = g_new0(VssdShape, 1);

    *s = (VssdShape){
        .size = sizeof(*s),
        .seed = ssd->cfg->seed,
        .units = ssd->l.user_units,
        .unit_bytes = (uint32_t)ssd->cfg->unit_bytes,
        .planes = ssd->l.n_planes,
        .blocks = ssd->geo->n_blocks,
        .plane_blocks = ssd->geo->blocks_per_plane,
        .block_units = ssd->l.units_per_block,
        .data_units = ssd->l.data_units,
        .program_units = ssd->l.units_per_program,
        .page_units = ssd->l.units_per_page,
        .channels = n->channels,
        .chips = n->chips,
        .dies = n->dies,
        .die_planes = n->planes,
        .streams = ssd->l.n_streams,
        .slots = ssd->l.n_slots,
        .slot_numbers = ssd->l.slot_records,
        .map_entries = ssd->l.n_map_pages
                           ? (uint32_t)MIN(ssd->cfg->map_cache_bytes /
                                               ssd->l.cache_entry_bytes,
                                           ssd->l.user_units)
                           : 0,
        .gc_choices = ssd->cfg->gc_choices,
        .gc_window = ssd->cfg->gc_window,
        .dl_threshold_ppm = ssd->cfg->dl_threshold_ppm,
        .buffer_window_ppm = ssd->cfg->window_ppm,
        .buffer_block_units =
            ssd->cfg->group_bytes
                ? (uint32_t)(ssd->cfg->group_bytes / ssd->cfg->unit_bytes)
                : ssd->l.units_per_block,
    };
    return s;
}

static Outside *make(Ssd *ssd, VssdPolicyKind kind, const VssdPolicy *p)
{
    Outside *o = g_new0(Outside, 1);

    o->ssd = ssd;
    o->from = ssd->cfg->outside[kind];
    o->policy = p;
    o->view.size = sizeof(o->view);
    o->view.shape = shape_of(ssd);
    o->view.context = p->context;
    o->view.random = view_random;
    o->view.fail = view_fail;
    prng_seed(&o->rng, ssd->cfg->seed, PURPOSE_OUTSIDE + kind);
    o->state_bytes = p->state_bytes ? p->state_bytes(o->view.shape) : 0;
    if (o->from && o->state_bytes > VSSD_POLICY_STATE_MOST) {
        outside_broke(o, "state_bytes() said %zu, at most %d are allowed",
                      o->state_bytes, VSSD_POLICY_STATE_MOST);
        o->state_bytes = 0;
        return o;
    }
    o->view.state = o->state_bytes ? lazy_alloc(o->state_bytes, 1) : NULL;
    outside_reset(o);
    return o;
}

void outside_reset(Outside *o)
{
    const VssdPolicy *p = o->policy;

    if (o->state_bytes > 0) {
        lazy_clear(o->view.state, o->state_bytes, 1);
    }
    if (p->init && outside_works(o)) {
        p->init(o->view.state, o->view.shape);
    }
}

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    for (unsigned kind = 0; kind < VSSD_POLICY_KINDS; kind++) {
        if (ssd->cfg->outside[kind]) {
            ssd->outside[kind] =
                make(ssd, kind, ssd->cfg->outside[kind]->policy);
        }
    }
    return true;
}

Outside *outside_listed(Ssd *ssd, VssdPolicyKind kind, const VssdPolicy *policy)
{
    if (!ssd->outside[kind]) {
        ssd->outside[kind] = make(ssd, kind, policy);
    }
    return ssd->outside[kind];
}

static void destroy(Ssd *ssd)
{
    for (unsigned kind = 0; kind < VSSD_POLICY_KINDS; kind++) {
        Outside *o = ssd->outside[kind];

        if (o) {
            g_free((void *)(uintptr_t)o->view.shape);
            lazy_free(o->view.state, o->state_bytes, 1);
            g_free(o->fault);
            g_free(o);
        }
    }
}

/* ---- states -------------------------------------------------------------- */

/* The state of a policy; NULL: of one that the drive has no more. */
typedef struct Memory {
    uint8_t *byte;
} Memory;

static const StateRow memory_rows[] = {STATE_TABLE_ROW(Memory, byte, 0)};
static const StateStruct memory_struct = STATE_STRUCT(Memory, memory_rows);

/* The state of one kind.  A drive that has another policy now leaves it. */
static bool walk_one(State *s, Outside *o, unsigned kind)
{
    g_autofree char *name = s->loading || !o ? NULL : g_strdup(o->policy->name);
    uint64_t n = o ? o->state_bytes : 0;
    Prng rng = o ? o->rng : (Prng){0};

    if (!state_text(s, &name, MOST_NAME) || !state_u64(s, &n) ||
        !state_bytes(s, &rng, sizeof(rng))) {
        return false;
    }
    if (!o || strcmp(name, o->policy->name) != 0) {
        return s->loading &&
               state_tables(s, &memory_struct, &(Memory){NULL}, &n);
    }
    if (n != o->state_bytes) {
        return state_fail(s,
                          "it has %" PRIu64 " bytes of the policy %s (%s), "
                          "which has %zu now",
                          n, name, kind_name[kind], o->state_bytes);
    }
    o->rng = rng;
    if (!state_tables(s, &memory_struct, &(Memory){o->view.state}, &n)) {
        return false;
    }
    return !s->loading || !o->policy->check ||
           o->policy->check(o->view.state, o->view.shape) ||
           state_fail(s, "the policy %s (%s) refuses its state", name,
                      kind_name[kind]);
}

/* Save them, or load them into those of the configuration. */
static bool state(Ssd *ssd, State *s)
{
    uint64_t kinds = 0;

    for (unsigned kind = 0; kind < VSSD_POLICY_KINDS; kind++) {
        kinds |= (uint64_t)(ssd->outside[kind] != NULL) << kind;
    }
    if (!state_u64(s, &kinds)) {
        return false;
    }
    for (unsigned kind = 0; kind < VSSD_POLICY_KINDS; kind++) {
        if (kinds >> kind & 1 && !walk_one(s, ssd->outside[kind], kind)) {
            return false;
        }
    }
    return true;
}

const Component outside_component = {
    .create = create,
    .destroy = destroy,
    .state = state,
};
