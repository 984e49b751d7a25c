/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bars.c - memory of the drive that the guest reaches at a BAR: the controller
 * memory buffer (BAR 2) and the persistent memory region (BAR 4).
 *
 * A client may map the buffer: it is a memfd whose size nobody can change.  The
 * region is a file of the user's, which a client that had it could make
 * shorter; so the client gets at it by messages only.
 *
 * Knows memory and messages; knows no registers.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"

#define CMB_BAR 2

static DriveMemory *memory_at(Function *f, unsigned bar)
{
    return bar == CMB_BAR ? &f->cmb : &f->pmr;
}

/* ---- callbacks of the controller ----------------------------------------- */

uint64_t vfio_bars_address(void *function, unsigned bar)
{
    return vfio_pci_bar_address(function, bar);
}

void vfio_bars_show(void *function, unsigned bar, bool on)
{
    memory_at(function, bar)->shown = on;
}

bool vfio_bars_sync(void *function)
{
    const DriveMemory *m = &((Function *)function)->pmr;

    return msync(m->mem, m->bytes, MS_SYNC) == 0;
}

/* ---- messages ------------------------------------------------------------ */

void vfio_bars_access(Function *f, unsigned bar, uint64_t offset, void *buf,
                      size_t n, bool write)
{
    const DriveMemory *m = memory_at(f, bar);
    bool there = m->shown && !vfio_is_absent(f) && offset <= m->bytes &&
                 n <= m->bytes - offset;

    if (there && write) {
        memcpy(m->mem + offset, buf, n);
    } else if (there) {
        memcpy(buf, m->mem + offset, n);
    } else if (!write) {
        memset(buf, 0xff, n);
    }
}

/* ---- life ---------------------------------------------------------------- */

static bool map(DriveMemory *m, const char *option, GError **error)
{
    m->mem = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (m->mem == MAP_FAILED) {
        m->mem = NULL;
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM, "%s: %s", option,
                    g_strerror(errno));
        return false;
    }
    return true;
}

static bool make_cmb(Server *s, DriveMemory *cmb, GError **error)
{
    cmb->bytes = s->opt->drive.cmb;
    cmb->fd = memfd_create("vssd-cmb", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (cmb->fd < 0 || ftruncate(cmb->fd, cmb->bytes) < 0 ||
        fcntl(cmb->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) <
            0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM, "--cmb: %s",
                    g_strerror(errno));
        return false;
    }
    return map(cmb, "--cmb", error);
}

static bool open_pmr(Server *s, DriveMemory *pmr, GError **error)
{
    g_autofree char *option = g_strdup_printf("--pmr %s", s->opt->pmr);
    struct stat st;

    if (!filelock_take(s->opt->pmr, &s->pmr_lock, error)) {
        g_prefix_error(error, "--pmr ");
        return false;
    }
    pmr->fd = open(s->opt->pmr, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (pmr->fd < 0 || fstat(pmr->fd, &st) < 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", option,
                    g_strerror(errno));
        return false;
    }
    s->nvme_cfg.pmr_bytes = pmr->bytes = st.st_size;
    if (!pmr->bytes) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s: size=0: allowed 64K..1T, a power of two", option);
        return false;
    }
    return nvme_memory_ok(&s->nvme_cfg, error) && map(pmr, option, error);
}

bool vfio_bars_open(Server *s, GError **error)
{
    DriveMemory *cmb = &s->function[0].cmb, *pmr = &s->function[0].pmr;

    s->nvme_cfg = nvme_options_config(&s->opt->drive);
    cmb->fd = pmr->fd = -1;
    if (!nvme_memory_ok(&s->nvme_cfg, error)) {
        g_prefix_error(error, "--");
        return false;
    }
    return (!s->nvme_cfg.cmb_bytes || make_cmb(s, cmb, error)) &&
           (!s->opt->pmr || open_pmr(s, pmr, error));
}

static void let_go(DriveMemory *m)
{
    if (m->mem) {
        munmap(m->mem, m->bytes);
    }
    if (m->bytes && m->fd >= 0) {
        close(m->fd);
    }
}

void vfio_bars_close(Server *s)
{
    let_go(&s->function[0].cmb);
    let_go(&s->function[0].pmr);
    filelock_release(s->pmr_lock);
}
