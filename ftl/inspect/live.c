/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.c - the life of a live view, and when a picture is made.
 *
 * Knows the pace: a reader wants pictures until an instant that it wrote into
 * the file.  Does not know what a picture shows (live-picture.c), nor the file
 * (live-file.c).
 */
#include "inspect/live.h"

#include "inspect/live-file.h"
#include "ssd-internal.h"

/* Between pictures; between looks at the file while nobody wants any. */
#define PICTURE_NS (50 * NS_PER_MS)
#define LOOK_NS    (250 * NS_PER_MS)

struct Live {
    Ssd *ssd;
    LiveFile *file;
    LivePicture *picture;
    LiveSlow *slow;
    uint64_t past_ns; /* by which the clock was set back */
    uint64_t next_ns; /* of the host: the next look; or SSD_TIME_NEVER */
};

static bool take_picture(Live *l, uint64_t host_ns, bool whole)
{
    uint64_t sim_ns = l->past_ns + l->ssd->now_ps / PS_PER_NS;

    live_picture_make(l->picture, l->slow, sim_ns, host_ns, whole);
    return live_file_write(l->file, host_ns, live_picture_at(l->picture));
}

/* Commands are noted while there is a reader. */
static void note_commands(Live *l, bool on)
{
    if (on && !l->ssd->inspect.slow) {
        live_slow_begin(l->slow);
    }
    l->ssd->inspect.slow = on ? l->slow : NULL;
}

uint64_t ssd_live_update(Ssd *ssd, uint64_t host_ns)
{
    Live *l = ssd->inspect.live;
    bool wanted;

    if (!l || host_ns < l->next_ns) {
        return l ? l->next_ns : SSD_TIME_NEVER;
    }
    wanted = live_file_wanted(l->file, host_ns);
    l->next_ns = host_ns + (wanted ? PICTURE_NS : LOOK_NS);
    if (wanted && !take_picture(l, host_ns, false)) {
        l->next_ns = SSD_TIME_NEVER;
        wanted = false;
    }
    note_commands(l, wanted);
    return l->next_ns;
}

void live_rebase(Live *l, uint64_t by_ps)
{
    l->past_ns += by_ps / PS_PER_NS;
    live_slow_rebase(l->slow, by_ps);
}

/* ---- begin and end ------------------------------------------------------- */

static void live_free(Live *l)
{
    l->ssd->inspect.live = NULL;
    l->ssd->inspect.slow = NULL;
    live_picture_free(l->picture);
    live_slow_free(l->slow);
    g_free(l);
}

bool ssd_live_open(Ssd *ssd, const char *path, const SsdLiveHost *host,
                   uint64_t host_ns, GError **error)
{
    g_autoptr(GString) layout = g_string_new(NULL);
    Live *l = g_new0(Live, 1);

    invariant(!ssd->inspect.live);
    l->ssd = ssd;
    l->picture = live_picture_new(ssd, host);
    l->slow = live_slow_new(ssd);
    live_picture_layout(l->picture, layout);
    l->file =
        live_file_new(path, layout, live_picture_bytes(l->picture), error);
    if (!l->file) {
        g_prefix_error(error, "live ");
        live_free(l);
        return false;
    }
    take_picture(l, host_ns, true);
    ssd->inspect.live = l;
    return true;
}

void ssd_live_resume(Ssd *ssd)
{
    if (ssd->inspect.live) {
        live_file_resume(ssd->inspect.live->file);
    }
}

void ssd_live_release(Ssd *ssd)
{
    if (ssd->inspect.live) {
        live_drop(ssd->inspect.live);
    }
}

bool ssd_live_close(Ssd *ssd, uint64_t host_ns, GError **error)
{
    Live *l = ssd->inspect.live;
    bool ok;

    if (!l) {
        return true;
    }
    take_picture(l, host_ns, true);
    ok = live_file_end(l->file, error);
    if (!ok) {
        g_prefix_error(error, "live ");
    }
    live_free(l);
    return ok;
}

void live_drop(Live *l)
{
    live_file_free(l->file);
    live_free(l);
}
