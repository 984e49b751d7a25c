/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-devices.c - the devices that a trace names.
 *
 * People name them as the trace does (sda, /dev/sda, hm,0), by number, or as
 * the kernel does: 8,0 or 8:0, and sda for 8,0.  Other names of the kernel have
 * no fixed numbers.
 */
#include "trace-devices.h"

#include <string.h>

#include "fields.h"

#define MOST_OTHERS 8

#define KERNEL_MINOR_BITS 20

typedef struct Device {
    uint64_t number;
    char *name; /* in the trace; or NULL */
} Device;

struct TraceDevices {
    const char *wanted; /* NULL: all */
    uint64_t wanted_number[2];
    unsigned n_wanted_numbers;
    bool kernel;
    GArray *known;     /* Device, by space */
    GHashTable *space; /* by number, + 1 */
    uint32_t last;     /* space; requests of one device often come together */
    bool judged;       /* the next two are of a record */
    bool is_wanted;
    uint64_t number;
    GPtrArray *others; /* names, MOST_OTHERS at most */
};

/* ---- names --------------------------------------------------------------- */

/* "8,16" or "8:16". */
static bool from_pair(const char *text, uint64_t *number)
{
    g_auto(GStrv) part = g_strsplit_set(text, ",:", 3);
    uint64_t major, minor;

    if (g_strv_length(part) != 2 ||
        !field_whole(part[0], 0, (1 << 12) - 1, &major) ||
        !field_whole(part[1], 0, (1 << KERNEL_MINOR_BITS) - 1, &minor)) {
        return false;
    }
    *number = major << KERNEL_MINOR_BITS | minor;
    return true;
}

/* "sdb1": 16 minor numbers a disk, 16 disks a major number. */
static bool from_sd(const char *text, uint64_t *number)
{
    uint64_t disk = 0;
    uint64_t part = 0;
    uint64_t major;
    const char *s = text + 2;

    if (strncmp(text, "sd", 2) != 0 || !g_ascii_islower(*s)) {
        return false;
    }
    for (; g_ascii_islower(*s) && disk < 256; s++) {
        disk = disk * 26 + (uint64_t)(*s - 'a') + 1;
    }
    disk--;
    if (disk >= 256 || (*s && !field_whole(s, 1, 15, &part))) {
        return false;
    }
    major = disk < 16 ? 8 : disk < 128 ? 64 + disk / 16 : 120 + disk / 16;
    *number = major << KERNEL_MINOR_BITS | (disk % 16 * 16 + part);
    return true;
}

static const char *without_dev(const char *name)
{
    return g_str_has_prefix(name, "/dev/") ? name + strlen("/dev/") : name;
}

static bool same_name(const char *wanted, const char *name)
{
    const char *slash = strrchr(name, '/');

    return strcmp(without_dev(wanted), without_dev(name)) == 0 ||
           (slash && strcmp(wanted, slash + 1) == 0);
}

static char *name_of(const TraceDevices *d, uint64_t number, const char *name)
{
    if (name) {
        return g_strdup(name);
    }
    if (d->kernel) {
        return g_strdup_printf(
            "%u,%u", (unsigned)(number >> KERNEL_MINOR_BITS),
            (unsigned)(number & ((1U << KERNEL_MINOR_BITS) - 1)));
    }
    return g_strdup_printf("%" G_GUINT64_FORMAT, number);
}

/* ---- one and all --------------------------------------------------------- */

TraceDevices *trace_devices_new(const char *wanted, bool kernel)
{
    TraceDevices *d = g_new0(TraceDevices, 1);
    uint64_t *number = d->wanted_number;

    d->wanted = wanted;
    d->kernel = kernel;
    d->known = g_array_new(FALSE, FALSE, sizeof(Device));
    d->space = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    d->others = g_ptr_array_new_with_free_func(g_free);
    if (wanted) {
        const char *name = without_dev(wanted);
        unsigned n = 0;

        n += field_whole(name, 0, UINT64_MAX, &number[n]);
        n += from_pair(name, &number[n]) || from_sd(name, &number[n]);
        d->n_wanted_numbers = n;
    }
    return d;
}

void trace_devices_free(TraceDevices *d)
{
    if (d) {
        for (guint i = 0; i < d->known->len; i++) {
            g_free(g_array_index(d->known, Device, i).name);
        }
        g_array_free(d->known, TRUE);
        g_hash_table_destroy(d->space);
        g_ptr_array_free(d->others, TRUE);
        g_free(d);
    }
}

static char *name_in(const TraceRecord *rec)
{
    return rec->name ? g_strndup(rec->name, rec->name_len) : NULL;
}

static bool is_wanted(const TraceDevices *d, const TraceRecord *rec)
{
    g_autofree char *name = name_in(rec);

    for (unsigned i = 0; i < d->n_wanted_numbers; i++) {
        if (d->wanted_number[i] == rec->device) {
            return true;
        }
    }
    return name && same_name(d->wanted, name);
}

static void note_other(TraceDevices *d, const TraceRecord *rec)
{
    g_autofree char *in_trace = name_in(rec);
    char *name = name_of(d, rec->device, in_trace);

    if (d->others->len < MOST_OTHERS &&
        !g_ptr_array_find_with_equal_func(d->others, name, g_str_equal, NULL)) {
        g_ptr_array_add(d->others, name);
    } else {
        g_free(name);
    }
}

bool trace_devices_want(TraceDevices *d, const TraceRecord *rec)
{
    if (!d->judged || d->number != rec->device) {
        d->judged = true;
        d->number = rec->device;
        d->is_wanted = !d->wanted || is_wanted(d, rec);
        if (!d->is_wanted) {
            note_other(d, rec);
        }
    }
    return d->is_wanted;
}

bool trace_devices_space(TraceDevices *d, const TraceRecord *rec,
                         uint32_t *space)
{
    Device new = {.number = rec->device};
    gpointer found;

    if (d->last < d->known->len &&
        g_array_index(d->known, Device, d->last).number == rec->device) {
        *space = d->last;
        return true;
    }
    found = g_hash_table_lookup(d->space, &rec->device);
    if (!found) {
        if (d->known->len == TRACE_MAX_DEVICES) {
            return false;
        }
        new.name = name_in(rec);
        g_array_append_val(d->known, new);
        found = GUINT_TO_POINTER(d->known->len);
        g_hash_table_insert(
            d->space, g_memdup2(&rec->device, sizeof(rec->device)), found);
    }
    *space = d->last = GPOINTER_TO_UINT(found) - 1;
    return true;
}

uint32_t trace_devices_n(const TraceDevices *d)
{
    return d->known->len;
}

uint64_t trace_devices_number(const TraceDevices *d, uint32_t space)
{
    g_assert(space < d->known->len);
    return g_array_index(d->known, Device, space).number;
}

char *trace_devices_name(const TraceDevices *d, uint32_t space)
{
    g_assert(space < d->known->len);
    return name_of(d, g_array_index(d->known, Device, space).number,
                   g_array_index(d->known, Device, space).name);
}

char *trace_devices_others(const TraceDevices *d)
{
    GString *out = g_string_new(NULL);

    for (guint i = 0; i < d->others->len; i++) {
        g_string_append_printf(out, "%s%s", i ? ", " : "",
                               (char *)d->others->pdata[i]);
    }
    if (d->others->len == MOST_OTHERS) {
        g_string_append(out, ", ...");
    }
    return g_string_free(out, FALSE);
}
