/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-end.c - the requests of a drive that ends, and what is lost with them.
 */
#include "qemu/osdep.h"
#include "block/aio-wait.h"
#include "block/block_int-common.h"
#include "qemu/error-report.h"
#include "system/block-backend.h"

#include "vssd.h"

void vssd_store_drain(VssdDev *s)
{
    g_assert(bql_locked());
    qatomic_set(&s->store.ends, true);
    do {
        vssd_store_restart(s);
        vssd_store_wait(s);
    } while (vssd_store_has_parked(s));
    qatomic_set(&s->store.ends, false);
}

/* true: there is more, when requests have ended. */
static bool finish_some(VssdDev *s)
{
    bool more;

    if (!vssd_lock(s)) {
        return false;
    }
    vssd_run(s);
    more = nvme_housekeep(s->ctrl);
    vssd_unlock(s);
    return more || vssd_store_is_busy(s);
}

/* Retry the requests that the image has refused once more. */
static void ask_again(VssdDev *s)
{
    qatomic_set(&s->store.ends, true);
    vssd_store_restart(s);
    if (vssd_lock(s)) {
        nvme_retry(s->ctrl);
        vssd_run(s);
        vssd_unlock(s);
    }
}

/* A file, or the node where a file's name does not say it all. */
static const char *image_name(const VssdDev *s)
{
    BlockDriverState *bs =
        s->store.refused_by ? blk_bs(s->store.refused_by) : NULL;

    return !bs ? "?" : *bs->filename ? bs->filename : bdrv_get_node_name(bs);
}

static void say_what_is_lost(VssdDev *s, bool trimmed)
{
    uint64_t bytes = nvme_refused_bytes(s->ctrl);

    if (bytes) {
        error_report("vssd: the image %s has refused %" PRIu64 " bytes that "
                     "the guest has written: they are lost: %s",
                     image_name(s), bytes, g_strerror(s->store.refused_errno));
        vssd_end_as_failure();
    }
    if (trimmed) {
        warn_report("vssd: there was no time to free all that the guest has "
                    "trimmed: the image still holds data there");
    }
}

static void set_flag(void *opaque)
{
    *(bool *)opaque = true;
}

void vssd_store_finish(VssdDev *s, unsigned most_ms)
{
    bool late = false;
    QEMUTimer *timer = aio_timer_new(
        qemu_get_aio_context(), QEMU_CLOCK_REALTIME, SCALE_MS, set_flag, &late);
    bool more;

    g_assert(bql_locked());
    timer_mod(timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + most_ms);
    ask_again(s);
    do {
        more = finish_some(s);
        AIO_WAIT_WHILE(NULL,
                       qatomic_read(&s->store.jobs_in_flight) > 0 && !late);
        late |= timer_expired(timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME));
    } while (more && !late);
    timer_free(timer);
    qatomic_set(&s->store.ends, false);
    say_what_is_lost(s, more);
}
