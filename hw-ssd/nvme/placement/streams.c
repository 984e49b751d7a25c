/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.c - streams of hosts: which are open, and who has resources (Base
 * 2.2, section 8.1.8.3, Streams).
 *
 * A stream identifier belongs to a host: controllers with the same Host
 * Identifier share its streams, those of other hosts have the same numbers for
 * others.  A host whose identifier is 0h is one controller.  The resources are
 * the drive's: a host may have some for itself, and all others share the rest.
 * A stream is opened by a Write or a Write Zeroes; when there is no room, the
 * one that was written least recently is closed.
 *
 * All namespaces of a host have the same streams.  Knows nothing of where the
 * drive puts them.
 */
#include "nvme-internal.h"
#include "placement/fdp-handles.h"
#include "placement/streams.h"

#define NO_HOST NVME_STREAM_HOSTS

void nvme_streams_init(NvmeCtrl *ctrl)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);

    ctrl->sub->streams = (NvmeStreams){
        .max = info->ruhs || info->zones.n ? 0 : info->host_streams - 1,
    };
    nvme_fdp_init(ctrl);
}

/* ---- hosts --------------------------------------------------------------- */

static bool is_zero(const uint8_t *id)
{
    static const uint8_t zeroes[16];

    return memcmp(id, zeroes, sizeof(zeroes)) == 0;
}

static bool is_host_of(const NvmeStreamHost *h, const NvmeCtrl *ctrl)
{
    return h->there &&
           memcmp(h->id, ctrl->features.host_id, sizeof(h->id)) == 0 &&
           (!is_zero(h->id) || h->cntlid == ctrl->cfg.cntlid);
}

static unsigned find_host(const NvmeCtrl *ctrl)
{
    unsigned i = 0;

    while (i < NVME_STREAM_HOSTS &&
           !is_host_of(&ctrl->sub->streams.host[i], ctrl)) {
        i++;
    }
    return i;
}

const NvmeStreamHost *nvme_streams_host(const NvmeCtrl *ctrl)
{
    static const NvmeStreamHost nothing;
    unsigned i = find_host(ctrl);

    return i == NO_HOST ? &nothing : &ctrl->sub->streams.host[i];
}

static void set_identity(NvmeStreamHost *h, const NvmeCtrl *ctrl)
{
    h->there = true;
    h->cntlid = ctrl->cfg.cntlid;
    memcpy(h->id, ctrl->features.host_id, sizeof(h->id));
}

/* ---- resources ----------------------------------------------------------- */

unsigned nvme_streams_shared(const NvmeStreams *s)
{
    unsigned n = (unsigned)s->max;

    for (unsigned i = 0; i < NVME_STREAM_HOSTS; i++) {
        n -= s->host[i].allocated;
    }
    return n;
}

unsigned nvme_streams_shared_open(const NvmeStreams *s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NVME_STREAM_HOSTS; i++) {
        n += s->host[i].allocated ? 0 : s->host[i].open;
    }
    return n;
}

/* ---- open streams -------------------------------------------------------- */

static void close_stream(NvmeSubsys *sub, unsigned i)
{
    NvmeStreams *s = &sub->streams;

    s->host[s->stream[i].host].open--;
    s->stream[i] = (NvmeStream){.id = 0};
    ssd_stream_close(sub->first.ssd, sub->now_ns, i + 1);
}

static void close_all(NvmeSubsys *sub, unsigned host)
{
    for (unsigned i = 0; i < sub->streams.max; i++) {
        if (sub->streams.stream[i].id && sub->streams.stream[i].host == host) {
            close_stream(sub, i);
        }
    }
}

/* s->max: it is not open. */
static unsigned find_stream(const NvmeStreams *s, unsigned host, uint16_t id)
{
    unsigned i = 0;

    while (i < s->max &&
           (s->stream[i].id != id || (id && s->stream[i].host != host))) {
        i++;
    }
    return i;
}

/* Of a host with resources of its own, or of all that have none; one of them is
 * open. */
static unsigned least_recent(const NvmeStreams *s, unsigned host)
{
    bool own = s->host[host].allocated;
    unsigned least = NVME_MAX_STREAMS;

    for (unsigned i = 0; i < s->max; i++) {
        const NvmeStream *one = &s->stream[i];
        bool takes = own ? one->host == host : !s->host[one->host].allocated;

        if (one->id && takes &&
            (least == NVME_MAX_STREAMS || one->used < s->stream[least].used)) {
            least = i;
        }
    }
    g_assert(least < s->max);
    return least;
}

/* How many are open of those that the host's may have, and that number. */
static unsigned in_use(const NvmeStreams *s, unsigned host)
{
    return s->host[host].allocated ? s->host[host].open
                                   : nvme_streams_shared_open(s);
}

static unsigned limit(const NvmeStreams *s, unsigned host)
{
    return s->host[host].allocated ? s->host[host].allocated
                                   : nvme_streams_shared(s);
}

static void close_beyond(NvmeSubsys *sub, unsigned host, unsigned most)
{
    while (in_use(&sub->streams, host) > most) {
        close_stream(sub, least_recent(&sub->streams, host));
    }
}

uint16_t nvme_stream_use(NvmeCtrl *ctrl, uint16_t id)
{
    NvmeStreams *s = &ctrl->sub->streams;
    unsigned host = find_host(ctrl);
    unsigned i = find_stream(s, host, id);

    if (i == s->max) {
        if (!limit(s, host)) {
            return 0;
        }
        close_beyond(ctrl->sub, host, limit(s, host) - 1);
        i = find_stream(s, host, 0);
        s->stream[i].id = id;
        s->stream[i].host = (uint16_t)host;
        s->host[host].open++;
    }
    s->stream[i].used = ++s->clock;
    return (uint16_t)(i + 1);
}

uint16_t nvme_streams_next(const NvmeCtrl *ctrl, uint16_t last)
{
    const NvmeStreams *s = &ctrl->sub->streams;
    unsigned host = find_host(ctrl);
    uint16_t next = UINT16_MAX;

    for (unsigned i = 0; i < s->max; i++) {
        if (s->stream[i].host == host && s->stream[i].id > last) {
            next = MIN(next, s->stream[i].id);
        }
    }
    return next;
}

/* ---- what a host asks for ------------------------------------------------ */

static void forget(NvmeSubsys *sub, unsigned host)
{
    close_all(sub, host);
    sub->streams.host[host] = (NvmeStreamHost){.there = false};
}

/* Each host has a controller that is enabled, so there is a place; but a stream
 * of bytes may say otherwise. */
static unsigned add_host(NvmeCtrl *ctrl)
{
    unsigned i = 0;

    while (i < NVME_STREAM_HOSTS - 1 && ctrl->sub->streams.host[i].there) {
        i++;
    }
    forget(ctrl->sub, i);
    set_identity(&ctrl->sub->streams.host[i], ctrl);
    return i;
}

void nvme_streams_enable(NvmeCtrl *ctrl, bool on)
{
    unsigned host = find_host(ctrl);

    if (!on && host != NO_HOST) {
        forget(ctrl->sub, host);
    }
    if (on) {
        host = host == NO_HOST ? add_host(ctrl) : host;
        ctrl->sub->streams.host[host].enabled = true;
    }
}

/* Streams that are open stay so, as far as there are resources for them. */
unsigned nvme_streams_allocate(NvmeCtrl *ctrl, unsigned n)
{
    NvmeStreams *s = &ctrl->sub->streams;
    unsigned host = find_host(ctrl);

    n = MIN(n, nvme_streams_shared(s));
    s->host[host].allocated = n;
    if (n) {
        close_beyond(ctrl->sub, host, n);
    }
    for (unsigned i = 0; i < NVME_STREAM_HOSTS; i++) {
        if (!s->host[i].allocated) {
            close_beyond(ctrl->sub, i, nvme_streams_shared(s));
            break;
        }
    }
    return n;
}

void nvme_stream_release(NvmeCtrl *ctrl, uint16_t id)
{
    unsigned i = find_stream(&ctrl->sub->streams, find_host(ctrl), id);

    if (id && i < ctrl->sub->streams.max) {
        close_stream(ctrl->sub, i);
    }
}

void nvme_streams_release(NvmeCtrl *ctrl)
{
    unsigned host = find_host(ctrl);

    if (ctrl->sub->streams.host[host].allocated) {
        close_all(ctrl->sub, host);
        ctrl->sub->streams.host[host].allocated = 0;
    }
}

/* ---- resets -------------------------------------------------------------- */

void nvme_streams_reset(NvmeCtrl *ctrl)
{
    unsigned host = find_host(ctrl);

    if (host == NO_HOST) {
        return;
    }
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (c != ctrl && nvme_running(c) &&
            is_host_of(&ctrl->sub->streams.host[host], c)) {
            return;
        }
    }
    forget(ctrl->sub, host);
}

void nvme_streams_reset_all(NvmeSubsys *sub)
{
    for (unsigned i = 0; i < NVME_STREAM_HOSTS; i++) {
        forget(sub, i);
    }
}

/* ---- a stream of bytes that was loaded ----------------------------------- */

static bool host_ok(const NvmeStreams *s, unsigned host)
{
    const NvmeStreamHost *h = &s->host[host];
    unsigned open = 0;

    for (unsigned i = 0; i < s->max; i++) {
        open += s->stream[i].id && s->stream[i].host == host;
    }
    return h->there <= 1 && h->enabled <= h->there && h->open == open &&
           h->allocated <= s->max && (h->enabled || !(open || h->allocated)) &&
           (!h->enabled || s->max) && (!h->allocated || open <= h->allocated);
}

bool nvme_streams_ok(const NvmeStreams *s, const NvmeStreams *own)
{
    uint64_t allocated = 0;

    if (s->max != own->max) {
        return false;
    }
    for (unsigned i = 0; i < NVME_MAX_STREAMS; i++) {
        if (s->stream[i].id &&
            (i >= s->max || s->stream[i].host >= NVME_STREAM_HOSTS)) {
            return false;
        }
    }
    for (unsigned i = 0; i < NVME_STREAM_HOSTS; i++) {
        if (!host_ok(s, i)) {
            return false;
        }
        allocated += s->host[i].allocated;
    }
    return allocated <= s->max &&
           nvme_streams_shared_open(s) <= nvme_streams_shared(s);
}
