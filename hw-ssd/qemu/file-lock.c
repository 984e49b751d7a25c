/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file-lock.c - the files that go with the drive when it moves: state= and the
 * one behind pmr=.
 *
 * Nobody else may use them while the drive is here.  The QEMU that it moves to
 * needs them before this one ends, so they are let go with the drive's last
 * byte.  If the drive has not gone, it takes them back.  Files that tell of one
 * process (oplog=, ...) are locked where they are written.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "system/hostmem.h"
#include "system/runstate.h"
#include "system/system.h"

#include "printable.h"
#include "vssd.h"

/* The other may still be ending when this one hears that it has failed. */
#define TAKE_BACK_MS  100
#define TRIES_TO_WARN 50

/* NULL: none, or no other machine can have the file. */
static char *pmr_file(const VssdDev *s)
{
    Object *o = OBJECT(s->prop.pmr);

    return s->prop.pmr && s->prop.pmr->share &&
                   object_property_find(o, "mem-path")
               ? object_property_get_str(o, "mem-path", NULL)
               : NULL;
}

static bool take_lock(const char *path, const char *property, FileLock **lock,
                      GError **error)
{
    if (!path || *lock || filelock_take(path, lock, error)) {
        return true;
    }
    g_prefix_error(error, "%s=", property);
    return false;
}

bool vssd_files_lock(VssdDev *s, GError **error)
{
    g_autofree char *pmr = pmr_file(s);

    g_assert(bql_locked());
    return take_lock(s->prop.opt.state, "state", &s->file.state_lock, error) &&
           take_lock(pmr, "pmr: mem-path", &s->file.pmr_lock, error);
}

void vssd_files_unlock(VssdDev *s)
{
    g_assert(bql_locked());
    filelock_release(g_steal_pointer(&s->file.state_lock));
    filelock_release(g_steal_pointer(&s->file.pmr_lock));
}

/* Until they are here again, or the drive is elsewhere for good. */
static void take_back(void *opaque)
{
    VssdDev *s = opaque;
    g_autoptr(GError) error = NULL;

    if (s->incoming || runstate_check(RUN_STATE_POSTMIGRATE)) {
        return;
    }
    if (!runstate_check(RUN_STATE_FINISH_MIGRATE)) {
        if (vssd_files_lock(s, &error)) {
            return;
        }
        if (++s->file.lock_tries == TRIES_TO_WARN) {
            g_autofree char *message = printable(error->message);

            warn_report("vssd: %s: two drives use it now", message);
        }
    }
    timer_mod(s->file.lock_timer,
              qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + TAKE_BACK_MS);
}

void vssd_files_pass(VssdDev *s)
{
    g_assert(bql_locked());
    if (runstate_check(RUN_STATE_FINISH_MIGRATE)) {
        vssd_files_unlock(s);
        s->file.lock_tries = 0;
        take_back(s);
    }
}

/* After POSTMIGRATE, too: the drive had gone to nobody. */
static void run_state_changed(void *opaque, bool running, RunState state)
{
    VssdDev *s = opaque;

    if (running) {
        s->file.lock_tries = 0;
        take_back(s);
    }
}

static void at_exit(Notifier *n, void *data)
{
    vssd_files_unlock(container_of(n, VssdDev, file.lock_exit));
}

void vssd_files_init(VssdDev *s)
{
    g_assert(bql_locked());
    s->file.lock_timer = timer_new_ms(QEMU_CLOCK_REALTIME, take_back, s);
    s->file.lock_change =
        qemu_add_vm_change_state_handler(run_state_changed, s);
    s->file.lock_exit.notify = at_exit;
    qemu_add_exit_notifier(&s->file.lock_exit);
}

void vssd_files_stop(VssdDev *s)
{
    g_assert(bql_locked());
    qemu_del_vm_change_state_handler(s->file.lock_change);
    qemu_remove_exit_notifier(&s->file.lock_exit);
    timer_free(s->file.lock_timer);
}
