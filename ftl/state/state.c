/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.c - a drive as a stream of bytes, and back: save, load, clone.
 *
 * Knows the options of a drive; each component saves its own members
 * (component.h).  A struct that is not plain data has its members listed as
 * rows (core/state.h), all of them: a test finds one that is missing.  Structs
 * in tables (Slot, Block, Cmd...) go as they are and must hold no pointer.
 *
 * An iteration takes the whole state, commands in flight included: that is a
 * clone. A stream that is kept holds a drive at rest (ssd_at_rest()), which a
 * reader can check (ssd_check()); docs/state-format.md has the rule.
 */
#include "component.h"
#include "host/host.h"
#include "media/media-internal.h"
#include "buffer/buffer-internal.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "media/media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE       "vssdSTAT"
#define BYTE_ORDER_MARK 0x0102030405060708ULL

/* ---- configuration of the saved drive ----------------------------------- */

/*
 * Options of times, and others that do not affect saved members. A drive may
 * continue with other values.
 */
static bool may_differ(const char *key)
{
    static const char *const names[] = {
        "seed",
        "faults",
        "ftl.gc",
        "ftl.gc_choices",
        "ftl.gc_window",
        "ftl.map_prefetch",
        "superblock.padding",
        "ftl.gc_core",
        "latency.free",
        "host.namespaces",
        "host.pcie_mps",
        "host.pcie_mrrs",
        "host.pcie_rcb",
        "host.pcie_dllp",
        "host.pcie_nvme",
        "buffer.shared",
        "buffer.map_bytes",
        "buffer.word",
        "buffer.mb_s",
        "host.pcie_gen",
        "host.pcie_lanes",
        "host.link_mb_s",
        "nand.schedule",
        "nand.history",
        "nand.bus_mt_s",
        "nand.bus_width",
        "nand.interface",
        "nand.arbitration",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(key, names[i]) == 0) {
            return true;
        }
    }
    /* Temperature, power and throttling go on from where they were. */
    return g_str_has_prefix(key, "thermal.") ||
           g_str_has_prefix(key, "power.") || ssd_config_is_time(key);
}

/* line: of the saved drive; own: of this one. */
static bool same_option(State *s, const char *line, const char *own)
{
    size_t n = strcspn(own, "=");
    g_autofree char *key = g_strndup(own, n);

    if (strcspn(line, "=") != n || strncmp(line, own, n) != 0) {
        return state_fail(s,
                          "it does not say %s: it is damaged, or of another "
                          "version of vssd",
                          key);
    }
    return strcmp(line, own) == 0 || may_differ(key) ||
           state_fail(s,
                      "it was saved with %s, this drive has %s: %s must be "
                      "the same",
                      line, own, key);
}

static bool same_options(State *s, const char *text, const char *own)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    g_auto(GStrv) mine = g_strsplit(own, "\n", -1);
    size_t i = 0;

    for (; mine[i] && line[i]; i++) {
        if (!same_option(s, line[i], mine[i])) {
            return false;
        }
    }
    return !mine[i] == !line[i] ||
           state_fail(s, "it is damaged, or of another version of vssd");
}

/* Every option, as text; and the size of logical blocks. */
static bool walk_config(State *s, const SsdConfig *cfg)
{
    g_autoptr(GString) own = g_string_new(NULL);
    g_autofree char *text = NULL;
    uint64_t block_bytes = cfg->block_bytes;

    ssd_config_print(cfg, own);
    text = s->loading ? NULL : g_strdup(own->str);
    if (!state_text(s, &text, STATE_MOST_TEXT) || !state_u64(s, &block_bytes)) {
        return false;
    }
    if (block_bytes != cfg->block_bytes) {
        return state_fail(s, "it was saved with logical blocks of %" PRIu64
                          " bytes, this drive has %u",
                          block_bytes, cfg->block_bytes);
    }
    return same_options(s, text, own->str);
}

static bool walk_head(State *s, const SsdConfig *cfg)
{
    uint64_t order = BYTE_ORDER_MARK;

    if (!state_signature(s, SIGNATURE,
                         "it is no saved drive (vssd-sim run --save-state and "
                         "vssd age make one)") ||
        !state_u64(s, &order)) {
        return false;
    }
    if (order != BYTE_ORDER_MARK) {
        return state_fail(s, "it was saved on a machine of other byte order");
    }
    return walk_config(s, cfg);
}

static bool state_walk(State *s, Ssd *ssd)
{
    return walk_head(s, ssd->cfg) && components_state(ssd, s);
}

/* ---- the calls of ssd.h -------------------------------------------------- */

uint64_t ssd_now_ns(const Ssd *ssd)
{
    return ssd->now_ps / PS_PER_NS;
}

uint64_t ssd_last_version(const Ssd *ssd)
{
    return ssd->buffer->last_version;
}

bool ssd_rest(Ssd *ssd, uint64_t most_ns)
{
    uint64_t end_ns = ssd_now_ns(ssd) + most_ns;

    while (!ssd_at_rest(ssd)) {
        uint64_t next_ps = eventq_next_ps(&ssd->events);

        if (ssd->host->done.head != NONE || next_ps == SIM_NEVER ||
            sim_ceil_ns(next_ps) > end_ns) {
            return false;
        }
        ssd_run(ssd, sim_ceil_ns(next_ps));
    }
    return true;
}

bool ssd_save(const Ssd *ssd, FILE *out, GError **error)
{
    State s;

    if (!ssd_at_rest(ssd)) {
        g_set_error_literal(error, STATE_ERROR, 0,
                            media_cannot_program(ssd)
                                ? "the drive has failed, with data that it "
                                  "cannot program in its buffer"
                                : "commands are in flight");
        return false;
    }
    state_begin(&s, out, false);
    state_walk(&s, (Ssd *)ssd); /* saving changes nothing */
    return state_end(&s, error);
}

static Ssd *load(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                 FILE *in, bool more, GError **error)
{
    Ssd *ssd = ssd_create(cfg, host, opaque, error);
    State s;

    if (!ssd) {
        return NULL;
    }
    state_begin(&s, in, true);
    s.more = more;
    state_walk(&s, ssd);
    if (!state_end(&s, error)) {
        ssd_destroy(ssd);
        return NULL;
    }
    return ssd;
}

/* A stream may be forged, checksum and all. */
static bool check_loaded(const Ssd *ssd, GError **error)
{
    GError *found = NULL;

    if (!ssd_at_rest(ssd)) {
        g_set_error_literal(error, STATE_ERROR, 0,
                            "it is damaged: it was saved in the middle of its "
                            "work");
        return false;
    }
    if (!ssd_check(ssd, &found)) {
        g_propagate_prefixed_error(error, found, "it is damaged: ");
        return false;
    }
    return true;
}

static Ssd *load_checked(const SsdConfig *cfg, const SsdHostOps *host,
                         void *opaque, FILE *in, bool more, GError **error)
{
    Ssd *ssd = load(cfg, host, opaque, in, more, error);

    if (ssd && !check_loaded(ssd, error)) {
        ssd_destroy(ssd);
        return NULL;
    }
    if (ssd) {
        ssd_rebase_loaded(ssd);
    }
    return ssd;
}

Ssd *ssd_load(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
              FILE *in, GError **error)
{
    return load_checked(cfg, host, opaque, in, false, error);
}

Ssd *ssd_load_first(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                    FILE *in, GError **error)
{
    return load_checked(cfg, host, opaque, in, true, error);
}

Ssd *ssd_clone(const Ssd *ssd, const SsdHostOps *host, void *opaque,
               GError **error)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&bytes, &n);
    Ssd *copy = NULL;
    State s;
    bool ok;

    invariant(file);
    state_begin(&s, file, false);
    state_walk(&s, (Ssd *)ssd);
    ok = state_end(&s, error);
    fclose(file);
    if (ok) {
        file = fmemopen(bytes, n, "rb");
        invariant(file);
        copy = load(ssd->cfg, host, opaque, file, false, error);
        fclose(file);
    }
    free(bytes);
    return copy;
}
