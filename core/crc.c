/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crc.c - CRCs with eight tables; see crc.h. */
#include "crc.h"

#include <string.h>
#include <glib.h>

#define T10DIF_POLY 0x8bb7
/* AD93D23594C93659h with its bits in reverse order. */
#define NVME_POLY   0x9a6c9329ac4bc9b5ULL

/* [k][b]: the CRC of byte b and k bytes of zeroes behind it. */
static uint16_t t10dif[8][256];
static uint64_t nvme[8][256];

static void make_first(unsigned b)
{
    uint16_t c16 = (uint16_t)(b << 8);
    uint64_t c64 = b;

    for (unsigned bit = 0; bit < 8; bit++) {
        c16 = (uint16_t)(c16 << 1 ^ (c16 & 0x8000 ? T10DIF_POLY : 0));
        c64 = c64 >> 1 ^ (c64 & 1 ? NVME_POLY : 0);
    }
    t10dif[0][b] = c16;
    nvme[0][b] = c64;
}

static void make_tables(void)
{
    for (unsigned b = 0; b < 256; b++) {
        make_first(b);
    }
    for (unsigned k = 1; k < 8; k++) {
        for (unsigned b = 0; b < 256; b++) {
            uint16_t c16 = t10dif[k - 1][b];
            uint64_t c64 = nvme[k - 1][b];

            t10dif[k][b] = (uint16_t)(c16 << 8 ^ t10dif[0][c16 >> 8]);
            nvme[k][b] = c64 >> 8 ^ nvme[0][c64 & 0xff];
        }
    }
}

static void need_tables(void)
{
    static gsize made;

    if (g_once_init_enter(&made)) {
        make_tables();
        g_once_init_leave(&made, 1);
    }
}

uint16_t crc16_t10dif(uint16_t crc, const void *p, size_t n)
{
    const uint8_t *b = p;

    need_tables();
    for (; n >= 8; n -= 8, b += 8) {
        crc = t10dif[7][b[0] ^ crc >> 8] ^ t10dif[6][b[1] ^ (crc & 0xff)] ^
              t10dif[5][b[2]] ^ t10dif[4][b[3]] ^ t10dif[3][b[4]] ^
              t10dif[2][b[5]] ^ t10dif[1][b[6]] ^ t10dif[0][b[7]];
    }
    for (; n; n--, b++) {
        crc = (uint16_t)(crc << 8 ^ t10dif[0][crc >> 8 ^ *b]);
    }
    return crc;
}

uint64_t crc64_nvme(uint64_t crc, const void *p, size_t n)
{
    const uint8_t *b = p;

    need_tables();
    crc = ~crc;
    for (; n >= 8; n -= 8, b += 8) {
        uint64_t v;

        memcpy(&v, b, sizeof(v));
        v = GUINT64_FROM_LE(v) ^ crc;
        crc = nvme[7][v & 0xff] ^ nvme[6][v >> 8 & 0xff] ^
              nvme[5][v >> 16 & 0xff] ^ nvme[4][v >> 24 & 0xff] ^
              nvme[3][v >> 32 & 0xff] ^ nvme[2][v >> 40 & 0xff] ^
              nvme[1][v >> 48 & 0xff] ^ nvme[0][v >> 56];
    }
    for (; n; n--, b++) {
        crc = crc >> 8 ^ nvme[0][(crc ^ *b) & 0xff];
    }
    return ~crc;
}
