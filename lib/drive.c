/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.c - drives of libvssd: made, saved, copied, and what they report.
 *
 * Knows setups and states; commands are in play.c.
 */
#include "lib-internal.h"
#include "about.h"
#include "filelock.h"
#include "options.h"
#include "setup-memory.h"
#include "setup.h"
#include "ssd-report.h"
#include "ssd-running.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

G_STATIC_ASSERT(VSSD_TIME_MAX == SIM_LAST_NS);

/* Size of a struct in its first version: callers know that much. */
#define SETUP_LEAST offsetof(VssdSetup, policy)
#define INFO_LEAST  offsetof(VssdInfo, zone_blocks)

LIB_EXPORT uint32_t vssd_abi(void)
{
    return VSSD_ABI;
}

LIB_EXPORT const char *vssd_version(void)
{
    return VSSD_VERSION;
}

LIB_EXPORT void vssd_free(void *p)
{
    g_free(p);
}

/* ---- errors -------------------------------------------------------------- */

int lib_fail(VssdDrive *d, int err, const char *format, ...)
{
    va_list ap;

    g_free(d->message);
    va_start(ap, format);
    d->message = g_strdup_vprintf(format, ap);
    va_end(ap);
    return err;
}

int lib_fail_error(VssdDrive *d, int err, GError **error)
{
    lib_fail(d, err, "%s", (*error)->message);
    g_clear_error(error);
    return err;
}

LIB_EXPORT const char *vssd_message(const VssdDrive *d)
{
    return d->message ? d->message : "";
}

/* For callers without a drive. */
static int tell(int err, const char *text, char *message, size_t bytes)
{
    if (message && bytes > 0) {
        g_strlcpy(message, text, bytes);
    }
    return err;
}

static int tell_error(GError *error, char *message, size_t bytes)
{
    int err = error->domain == G_FILE_ERROR ? -EIO : -EINVAL;

    tell(err, error->message, message, bytes);
    g_error_free(error);
    return err;
}

int lib_check_instant(VssdDrive *d, uint64_t now_ns)
{
    if (now_ns > VSSD_TIME_MAX) {
        return lib_fail(d, -EINVAL,
                        "now_ns=%" PRIu64 ": allowed 0..%llu (212 days)",
                        now_ns, VSSD_TIME_MAX);
    }
    if (now_ns < ssd_now_ns(d->ssd)) {
        return lib_fail(d, -EINVAL,
                        "now_ns=%" PRIu64 ": the drive is at %" PRIu64
                        " ns already",
                        now_ns, ssd_now_ns(d->ssd));
    }
    return 0;
}

/* ---- from a setup to a configuration ------------------------------------- */

/* The folder of profiles beside this library, as a wheel and a build have it;
 * or NULL. */
static char *beside_library(void)
{
    g_autofree char *folder = NULL;
    Dl_info info;

    if (!dladdr((const void *)(uintptr_t)vssd_abi, &info)) {
        return NULL;
    }
    folder = g_path_get_dirname(info.dli_fname);
    return g_build_filename(folder, "profiles", NULL);
}

static bool load_profile(SsdConfig *cfg, const char *name, GError **error)
{
    g_autofree char *beside = beside_library();
    const char *const folders[] = {beside, VSSD_PROFILES_INSTALLED};
    g_autofree char *path =
        setup_find_profile(name, folders, G_N_ELEMENTS(folders));

    return ssd_config_load(cfg, path, error);
}

static bool set_seed(SsdConfig *cfg, uint64_t seed, GError **error)
{
    g_autofree char *text = g_strdup_printf("seed=%" PRIu64, seed);

    return ssd_config_set(cfg, text, error);
}

static bool set_policies(SsdConfig *cfg, const VssdSetup *s, GError **error)
{
    for (size_t i = 0; i < s->n_policies; i++) {
        if (!s->policy || !s->policy[i]) {
            return opt_fail(error, OPT_ERROR_VALUE,
                            "VssdSetup.policy[%zu]: is NULL", i);
        }
        if (!ssd_config_set_policy(cfg, s->policy[i], error)) {
            return false;
        }
    }
    return true;
}

static bool configure(SsdConfig *cfg, const VssdSetup *s, GError **error)
{
    uint32_t block_bytes = s->block_bytes ? s->block_bytes : 512;

    return (!s->profile || load_profile(cfg, s->profile, error)) &&
           (!s->options || ssd_config_set(cfg, s->options, error)) &&
           (!s->seed || set_seed(cfg, *s->seed, error)) &&
           set_policies(cfg, s, error) &&
           ssd_config_set_block_bytes(cfg, block_bytes, error) &&
           setup_check_faults(cfg, "libvssd", error);
}

/* The members that the caller's version of the struct has. */
static bool take_setup(const VssdSetup *from, VssdSetup *to, GError **error)
{
    if (!from || from->size < SETUP_LEAST) {
        return opt_fail(error, OPT_ERROR_VALUE,
                        "VssdSetup.size: at least %zu, sizeof(VssdSetup)",
                        SETUP_LEAST);
    }
    *to = (VssdSetup){.size = sizeof(*to)};
    memcpy(to, from, MIN(from->size, sizeof(*to)));
    if (to->flags & ~(uint32_t)VSSD_KEEP_VERSIONS) {
        return opt_fail(error, OPT_ERROR_VALUE,
                        "VssdSetup.flags=0x%x: allowed VSSD_KEEP_VERSIONS",
                        to->flags);
    }
    return true;
}

static void release(LibConfig *cfg)
{
    if (g_atomic_int_dec_and_test(&cfg->users)) {
        ssd_config_free(cfg->cfg);
        g_free(cfg);
    }
}

/* With one user; NULL: *error. */
static LibConfig *make_config(const VssdSetup *from, VssdSetup *s,
                              GError **error)
{
    LibConfig *cfg;

    if (!take_setup(from, s, error)) {
        return NULL;
    }
    cfg = g_new0(LibConfig, 1);
    cfg->users = 1;
    cfg->cfg = ssd_config_new();
    if (!configure(cfg->cfg, s, error)) {
        release(cfg);
        return NULL;
    }
    return cfg;
}

/* ---- made and ended ------------------------------------------------------ */

static void ignore_unit(void *opaque, uint64_t lpn, uint64_t version)
{
    (void)opaque;
    (void)lpn;
    (void)version;
}

/* With VSSD_KEEP_VERSIONS. */
static const SsdHostOps host_ops = {
    .programmed = ignore_unit,
    .superseded = ignore_unit,
};

static const SsdHostOps *ops_of(bool keeps_versions)
{
    return keeps_versions ? &host_ops : NULL;
}

/* Takes the reference to the configuration, and the zones. */
static VssdDrive *wrap(Ssd *ssd, LibConfig *cfg, Zoned *zones,
                       bool keeps_versions)
{
    VssdDrive *d = g_new0(VssdDrive, 1);

    d->ssd = ssd;
    d->cfg = cfg;
    d->zones = zones;
    d->zone_cmds =
        zones ? g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free)
              : NULL;
    d->keeps_versions = keeps_versions;
    d->last_version = ssd_last_version(ssd);
    return d;
}

/* Zones that follow a saved drive in its file. */
static bool load_zones(Zoned *zones, FILE *in, const char *path, uint64_t end,
                       GError **error)
{
    FILE *file = in ? in : fopen(path, "rb");
    bool ok = file && (in || fseeko(file, (off_t)end, SEEK_SET) == 0) &&
              zoned_load(zones, file, error);

    if (!in) {
        g_clear_pointer(&file, fclose);
        g_prefix_error(error, "state file %s: ", path);
    }
    return ok;
}

/* A new drive, or with `in` or `path` one that was saved, and its zones. */
static Ssd *make_drive(const SsdConfig *cfg, const SsdHostOps *ops, FILE *in,
                       const char *path, Zoned **zones, GError **error)
{
    GError *why = NULL;
    uint64_t end = 0;
    Ssd *ssd = in     ? ssd_load_first(cfg, ops, NULL, in, &why)
               : path ? ssd_load_file_with(cfg, ops, NULL, path, &end, &why)
                      : ssd_create(cfg, ops, NULL, &why);

    *zones = ssd ? zoned_new(ssd_info(ssd), &why) : NULL;
    if (*zones && (in || path)) {
        load_zones(*zones, in, path, end, &why);
    }
    if (why) {
        g_clear_pointer(&ssd, ssd_destroy);
        g_clear_pointer(zones, zoned_free);
        g_propagate_error(error, why);
    }
    return ssd;
}

static int open_drive(const VssdSetup *setup, FILE *in, const char *path,
                      VssdDrive **drive, char *message, size_t message_bytes)
{
    GError *error = NULL;
    VssdSetup s;
    LibConfig *cfg = make_config(setup, &s, &error);
    Zoned *zones;
    Ssd *ssd;

    *drive = NULL;
    if (!cfg) {
        return tell_error(error, message, message_bytes);
    }
    ssd = make_drive(cfg->cfg, ops_of(s.flags & VSSD_KEEP_VERSIONS), in, path,
                     &zones, &error);
    if (!ssd) {
        release(cfg);
        return tell_error(error, message, message_bytes);
    }
    *drive = wrap(ssd, cfg, zones, s.flags & VSSD_KEEP_VERSIONS);
    (*drive)->used = in || path;
    return 0;
}

LIB_EXPORT int vssd_create(const VssdSetup *setup, VssdDrive **drive,
                           char *message, size_t message_bytes)
{
    return open_drive(setup, NULL, NULL, drive, message, message_bytes);
}

LIB_EXPORT void vssd_destroy(VssdDrive *d)
{
    if (d) {
        lib_live_end(d, NULL);
        ssd_destroy(d->ssd);
        release(d->cfg);
        zoned_free(d->zones);
        g_clear_pointer(&d->zone_cmds, g_hash_table_destroy);
        g_free(d->message);
        g_free(d);
    }
}

LIB_EXPORT int vssd_get_info(const VssdDrive *d, VssdInfo *info)
{
    const SsdInfo *i = ssd_info(d->ssd);
    VssdInfo all = {
        .nblocks = i->nblocks,
        .raw_bytes = i->raw_bytes,
        .page_bytes = i->page_bytes,
        .erase_bytes = i->erase_bytes,
        .reclaim_bytes = i->reclaim_bytes,
        .memory_bytes = i->memory_bytes,
        .block_bytes = i->block_bytes,
        .unit_bytes = i->unit_bytes,
        .streams = i->host_streams,
        .queue_depth = i->queue_depth,
        .zone_blocks = i->zones.capacity,
    };

    if (info->size < INFO_LEAST) {
        return -EINVAL;
    }
    all.size = info->size;
    memcpy(info, &all, MIN(info->size, sizeof(all)));
    return 0;
}

/* ---- states -------------------------------------------------------------- */

LIB_EXPORT int vssd_preload(VssdDrive *d, uint64_t lba, uint64_t nblocks)
{
    const SsdInfo *info = ssd_info(d->ssd);
    GError *error = NULL;

    if (d->used) {
        return lib_fail(d, -EBUSY, "preload: the drive is not new any more");
    }
    if (lba < info->nblocks && nblocks <= info->nblocks - lba &&
        !setup_memory_suffices(info, nblocks, info->preload_bytes, "preload",
                               "give fewer blocks, or a smaller drive with "
                               "fewer nand.blocks",
                               &error)) {
        return lib_fail_error(d, -ENOMEM, &error);
    }
    if (d->zones && lba < info->nblocks && nblocks <= info->nblocks - lba &&
        !zoned_preload(d->zones, lba, nblocks)) {
        return lib_fail(d, -EINVAL, "preload: not of whole zones");
    }
    if (ssd_preload(d->ssd, lba, nblocks) < 0) {
        return lib_fail(d, -EINVAL,
                        "preload: blocks %" PRIu64 " + %" PRIu64
                        ": allowed 1 or more of 0..%" PRIu64,
                        lba, nblocks, info->nblocks - 1);
    }
    return 0;
}

LIB_EXPORT int vssd_age(VssdDrive *d, const uint64_t *unit, size_t n)
{
    int r = d->zones ? -ENOTSUP : ssd_age(d->ssd, unit, n);

    d->used = true;
    d->last_version = MAX(d->last_version, ssd_last_version(d->ssd));
    return r < 0 ? lib_fail(d, r, "age: %s", g_strerror(-r)) : 0;
}

LIB_EXPORT int vssd_rest(VssdDrive *d, uint64_t most_ns)
{
    uint64_t left_ns = VSSD_TIME_MAX - ssd_now_ns(d->ssd);

    if (ssd_rest(d->ssd, MIN(most_ns, left_ns))) {
        return 0;
    }
    return d->in_flight > 0
               ? lib_fail(d, -EBUSY,
                          "rest: %" PRIu64 " completions have not "
                          "been fetched",
                          d->in_flight)
               : lib_fail(d, -ETIMEDOUT, "rest: the drive still works");
}

static bool save_zones(void *opaque, FILE *out, GError **error)
{
    const VssdDrive *d = opaque;

    return !d->zones || zoned_save(d->zones, out, error);
}

LIB_EXPORT int vssd_save_file(VssdDrive *d, const char *path)
{
    GError *error = NULL;
    FileLock *lock;
    int ret = 0;

    if (!ssd_at_rest(d->ssd)) {
        return lib_fail(d, -EBUSY, "save: the drive is not at rest");
    }
    if (!filelock_take(path, &lock, &error)) {
        g_prefix_error(&error, "state file ");
        return lib_fail_error(d, -EIO, &error);
    }
    if (!ssd_save_file_with(d->ssd, path, save_zones, d, &error)) {
        ret = lib_fail_error(d, -EIO, &error);
    }
    filelock_release(lock);
    return ret;
}

LIB_EXPORT int vssd_save(VssdDrive *d, void **bytes, size_t *n)
{
    GError *error = NULL;
    char *text = NULL;
    FILE *file;
    bool ok;

    *bytes = NULL;
    *n = 0;
    if (!ssd_at_rest(d->ssd)) {
        return lib_fail(d, -EBUSY, "save: the drive is not at rest");
    }
    file = open_memstream(&text, n);
    if (!file) {
        return lib_fail(d, -errno, "save: %s", g_strerror(errno));
    }
    ok = ssd_save(d->ssd, file, &error) && save_zones(d, file, &error);
    ok = fclose(file) == 0 && ok;
    if (ok) {
        *bytes = g_memdup2(text, *n);
    }
    free(text);
    return ok      ? 0
           : error ? lib_fail_error(d, -EIO, &error)
                   : lib_fail(d, -ENOMEM, "save: no memory");
}

LIB_EXPORT int vssd_load_file(const VssdSetup *setup, const char *path,
                              VssdDrive **drive, char *message,
                              size_t message_bytes)
{
    return open_drive(setup, NULL, path, drive, message, message_bytes);
}

LIB_EXPORT int vssd_load(const VssdSetup *setup, const void *bytes, size_t n,
                         VssdDrive **drive, char *message, size_t message_bytes)
{
    FILE *in = n > 0 ? fmemopen((void *)(uintptr_t)bytes, n, "rb") : NULL;
    int r;

    *drive = NULL;
    if (!in) {
        return tell(-EINVAL, "it is no saved drive: it is empty", message,
                    message_bytes);
    }
    r = open_drive(setup, in, NULL, drive, message, message_bytes);
    fclose(in);
    return r;
}

/* Commands of zones in flight are the copy's, too. */
static void copy_zone_cmds(const VssdDrive *from, VssdDrive *to)
{
    GHashTableIter i;
    gpointer c;

    if (!from->zones) {
        return;
    }
    g_hash_table_iter_init(&i, from->zone_cmds);
    while (g_hash_table_iter_next(&i, NULL, &c)) {
        LibZoneCmd *copy = g_memdup2(c, sizeof(LibZoneCmd));

        g_hash_table_replace(to->zone_cmds, &copy->tag, copy);
    }
}

LIB_EXPORT int vssd_clone(VssdDrive *d, VssdDrive **copy)
{
    GError *error = NULL;
    Ssd *ssd = ssd_clone(d->ssd, ops_of(d->keeps_versions), NULL, &error);

    *copy = NULL;
    if (!ssd) {
        return lib_fail_error(d, -EIO, &error);
    }
    g_atomic_int_inc(&d->cfg->users);
    *copy = wrap(ssd, d->cfg, zoned_copy(d->zones), d->keeps_versions);
    copy_zone_cmds(d, *copy);
    (*copy)->last_version = d->last_version;
    (*copy)->in_flight = d->in_flight;
    (*copy)->used = d->used;
    return 0;
}

/* ---- power --------------------------------------------------------------- */

static int needs_versions(VssdDrive *d, const char *what)
{
    return d->keeps_versions
               ? 0
               : lib_fail(d, -ENOTSUP, "%s: needs VSSD_KEEP_VERSIONS", what);
}

LIB_EXPORT int vssd_power_cut(VssdDrive *d, uint64_t now_ns)
{
    int r = d->zones ? lib_fail(d, -ENOTSUP, "power cut: not with zones")
                     : needs_versions(d, "power cut");

    r = r ? r : lib_check_instant(d, now_ns);
    if (r < 0) {
        return r;
    }
    if (!ssd_powered(d->ssd)) {
        return lib_fail(d, -EALREADY, "power cut: the power is off");
    }
    d->used = true;
    ssd_power_cut(d->ssd, now_ns);
    return 0;
}

LIB_EXPORT int vssd_power_on(VssdDrive *d, uint64_t now_ns)
{
    int r = lib_check_instant(d, now_ns);

    if (r < 0) {
        return r;
    }
    if (ssd_powered(d->ssd)) {
        return lib_fail(d, -EALREADY, "power on: the power is on");
    }
    ssd_power_on(d->ssd, now_ns);
    return 0;
}

LIB_EXPORT bool vssd_ready(const VssdDrive *d)
{
    return ssd_ready(d->ssd);
}

static int check_block(VssdDrive *d, uint64_t lba)
{
    uint64_t n = ssd_info(d->ssd)->nblocks;

    return lba < n
               ? 0
               : lib_fail(d, -EINVAL, "lba=%" PRIu64 ": allowed 0..%" PRIu64,
                          lba, n - 1);
}

LIB_EXPORT int vssd_mapped(VssdDrive *d, uint64_t lba)
{
    int r = check_block(d, lba);

    return r < 0 ? r : ssd_mapped(d->ssd, lba, NULL);
}

LIB_EXPORT int vssd_version_of(VssdDrive *d, uint64_t lba, uint64_t *version)
{
    int r = needs_versions(d, "version of a block");

    r = r ? r : check_block(d, lba);
    if (r < 0) {
        return r;
    }
    return ssd_mapped(d->ssd, lba, version)
               ? 0
               : lib_fail(d, -ENOENT, "lba=%" PRIu64 ": is not mapped", lba);
}

/* ---- reports ------------------------------------------------------------- */

/* Two objects become one: "{...}" and "{...}". */
static void join_objects(GString *text, const GString *more)
{
    g_assert(g_str_has_suffix(text->str, "}") && more->str[0] == '{');
    g_string_truncate(text, text->len - 1);
    g_string_append_c(text, ',');
    g_string_append(text, more->str + 1);
}

LIB_EXPORT char *vssd_stats_json(const VssdDrive *d)
{
    g_autoptr(GString) drive = g_string_new(NULL);
    GString *text = g_string_new(NULL);
    JsonWriter w = {.out = text};
    JsonWriter w_drive = {.out = drive};

    json_open(&w, NULL, '{');
    about_write(NULL, &w);
    json_open(&w, "options", '{');
    ssd_options_json(d->ssd, &w);
    json_close(&w, '}');
    json_close(&w, '}');
    ssd_stats_json(d->ssd, &w_drive, NULL);
    join_objects(text, drive);
    return g_string_free(text, FALSE);
}

LIB_EXPORT void vssd_reset_stats(VssdDrive *d)
{
    ssd_reset_stats(d->ssd);
}

LIB_EXPORT int vssd_live(VssdDrive *d, const char *path,
                         uint64_t (*monotonic_ns)(void))
{
    GError *error = NULL;
    bool ok;

    if (path && d->live) {
        return lib_fail(d, -EBUSY, "live %s: there is a view already", path);
    }
    if (path && !monotonic_ns) {
        return lib_fail(d, -EINVAL, "live %s: monotonic_ns is NULL", path);
    }
    ok = path ? lib_live_begin(d, path, monotonic_ns, &error)
              : lib_live_end(d, &error);
    return ok ? 0 : lib_fail_error(d, -EIO, &error);
}

LIB_EXPORT int vssd_set(VssdDrive *d, const char *key, const char *value)
{
    GError *error = NULL;

    return ssd_set_option(d->ssd, key, value, &error)
               ? 0
               : lib_fail_error(d, -EINVAL, &error);
}

LIB_EXPORT char *vssd_get_option(const VssdDrive *d, const char *key)
{
    return ssd_get_option(d->ssd, key, NULL);
}

LIB_EXPORT char *vssd_options_table(void)
{
    GString *text = g_string_new(NULL);

    ssd_config_document(text);
    return g_string_free(text, FALSE);
}

LIB_EXPORT char *vssd_policy_fault(const VssdDrive *d)
{
    return ssd_policy_fault(d->ssd);
}

LIB_EXPORT int vssd_check(VssdDrive *d)
{
    GError *error = NULL;

    if (!ssd_ready(d->ssd)) {
        return lib_fail(d, -EBUSY, "check: the drive is recovering, or off");
    }
    return ssd_check(d->ssd, &error) ? 0 : lib_fail_error(d, -EIO, &error);
}
