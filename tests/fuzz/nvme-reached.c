/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-reached.c - the commands, log pages, features and Identify structures
 * that all inputs so far have reached without an error.
 */
#include "nvme-guest.h"
#include "nvme-internal.h"

static uint64_t reached_command[2][256];  /* I/O, admin; by opcode */
static uint64_t reached_detail[256][256]; /* admin opcode, detail */
static uint64_t reached_key[256];         /* key-value commands */
static uint64_t reached_hint[256];        /* SentHint */
static uint64_t reached_zone[256];        /* NvmeZone.advice, by bit */

void guest_reached(const Sent *s)
{
    bool admin = s->sqid == 0;

    reached_command[admin][s->opcode]++;
    if (admin) {
        reached_detail[s->opcode][s->detail]++;
    } else if (s->detail == SENT_WITH_KEY) {
        reached_key[s->opcode]++;
    }
    reached_hint[SENT_HINT_FREQUENCY] += (s->hints & SENT_HINT_FREQUENCY) != 0;
    reached_hint[SENT_HINT_READS] += (s->hints & SENT_HINT_READS) != 0;
}

void guest_reached_zones(const Guest *g)
{
    const NvmeZones *z = &g->h->ctrl->sub->zones;

    for (uint32_t i = 0; i < z->n; i++) {
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            reached_zone[bit] += (z->zone[i].advice & bit) != 0;
        }
    }
}

const char *guest_unreached(void)
{
    static const uint8_t io[] = {
        NVME_IO_FLUSH,
        NVME_IO_WRITE,
        NVME_IO_READ,
        NVME_IO_COMPARE,
        NVME_IO_WRITE_ZEROES,
        NVME_IO_DSM,
        NVME_IO_MGMT_RECEIVE,
        NVME_IO_MGMT_SEND,
        NVME_IO_VERIFY,
        NVME_IO_WRITE_UNCORRECTABLE,
        NVME_IO_COPY,
        NVME_IO_CANCEL,
        NVME_IO_ZONE_SEND,
        NVME_IO_ZONE_RECEIVE,
        NVME_IO_ZONE_APPEND,
        NVME_IO_RESERVATION_REGISTER,
        NVME_IO_RESERVATION_REPORT,
        NVME_IO_RESERVATION_ACQUIRE,
        NVME_IO_RESERVATION_RELEASE,
    };
    static const uint8_t key[] = {NVME_IO_FLUSH,    NVME_KV_STORE,
                                  NVME_KV_RETRIEVE, NVME_KV_LIST,
                                  NVME_KV_DELETE,   NVME_KV_EXIST};
    static const uint8_t admin[] = {
        NVME_ADM_DELETE_SQ,       NVME_ADM_CREATE_SQ,
        NVME_ADM_GET_LOG_PAGE,    NVME_ADM_DELETE_CQ,
        NVME_ADM_CREATE_CQ,       NVME_ADM_IDENTIFY,
        NVME_ADM_ABORT,           NVME_ADM_SET_FEATURES,
        NVME_ADM_GET_FEATURES,    NVME_ADM_ASYNC_EVENT,
        NVME_ADM_DIRECTIVE_SEND,  NVME_ADM_DIRECTIVE_RECEIVE,
        NVME_ADM_DOORBELL_BUFFER, NVME_ADM_NS_MANAGEMENT,
        NVME_ADM_NS_ATTACHMENT,   NVME_ADM_FORMAT,
        NVME_ADM_SANITIZE,        NVME_ADM_GET_LBA_STATUS,
        NVME_ADM_VIRTUALIZATION,  NVME_ADM_FIRMWARE_COMMIT,
        NVME_ADM_SELF_TEST,       NVME_ADM_FIRMWARE_DOWNLOAD,
        NVME_ADM_KEEP_ALIVE,
    };
    static const uint8_t logs[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
                                   0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0d, 0x0e,
                                   0x12, 0x13, 0x20, 0x21, 0x22, 0x23, 0x80,
                                   0x81, 0xbf, 0xc0, 0xc1, 0xc2};
    static const uint8_t get[] = {0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08,
                                  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
                                  0x10, 0x13, 0x14, 0x15, 0x16, 0x17, 0x19,
                                  0x1d, 0x1e, 0x81, 0x82, 0x83, 0x84};
    static const uint8_t set[] = {0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08,
                                  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
                                  0x10, 0x13, 0x14, 0x15, 0x16, 0x17, 0x19,
                                  0x1e, 0x81, 0x82, 0x83, 0x84};
    static const uint8_t cns[] = {
        0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x10,
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x19, 0x1a, 0x1b, 0x1c, 0x1f};
    static const uint8_t hints[] = {SENT_HINT_FREQUENCY, SENT_HINT_READS};
    static const uint8_t zones[] = {NVME_ZONE_FINISHED, NVME_ZONE_SHOULD_FINISH,
                                    NVME_ZONE_SHOULD_RESET};
    static const struct {
        const char *what;
        const uint64_t *count;
        const uint8_t *list;
        size_t n;
    } lists[] = {
        {"I/O command", reached_command[0], io, sizeof(io)},
        {"key-value command", reached_key, key, sizeof(key)},
        {"admin command", reached_command[1], admin, sizeof(admin)},
        {"log page", reached_detail[NVME_ADM_GET_LOG_PAGE], logs, sizeof(logs)},
        {"Get Features", reached_detail[NVME_ADM_GET_FEATURES], get,
         sizeof(get)},
        {"Set Features", reached_detail[NVME_ADM_SET_FEATURES], set,
         sizeof(set)},
        {"Identify", reached_detail[NVME_ADM_IDENTIFY], cns, sizeof(cns)},
        {"hint", reached_hint, hints, sizeof(hints)},
        {"attribute of a zone", reached_zone, zones, sizeof(zones)},
    };
    static char text[512];
    size_t used = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        for (size_t k = 0; k < lists[i].n && used < sizeof(text); k++) {
            if (!lists[i].count[lists[i].list[k]]) {
                used += (size_t)g_snprintf(text + used, sizeof(text) - used,
                                           "%s%s %02Xh", used ? ", " : "",
                                           lists[i].what, lists[i].list[k]);
            }
        }
    }
    return used ? text : NULL;
}
