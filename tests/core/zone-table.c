/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone-table.c - zones that are opened, closed, filled and reset at random,
 * against counts of all zones; limits, and zones that were saved.
 */
#include "zone-table.h"

#include <glib.h>

#include "prng.h"

#define N 12

typedef struct Zones {
    ZoneTable table;
    ZoneBase zone[N];
} Zones;

static Zones zones(uint32_t n_streams, uint32_t max_open, uint32_t max_active)
{
    Zones z = {.table = {.n_streams = n_streams,
                         .max_open = max_open,
                         .max_active = max_active}};

    for (unsigned i = 0; i < N; i++) {
        z.zone[i] = ZONE_NEW;
    }
    return z;
}

static void set(Zones *z, unsigned i, ZoneState state)
{
    zone_set_state(&z->table, &z->zone[i], state);
}

static void lacks(const Zones *z, unsigned i, bool open, ZoneLack lack)
{
    g_assert_cmpuint(zone_lacks(&z->table, &z->zone[i], open), ==, lack);
}

static void in_state(const Zones *z, unsigned i, ZoneState state)
{
    g_assert_cmphex(z->zone[i].state, ==, state);
}

/* Of more open zones than may be, the one that was opened first is closed;
 * never one that was opened explicitly. */
static void test_oldest(void)
{
    Zones z = zones(8, 3, 8);

    set(&z, 0, ZONE_EXPLICIT);
    set(&z, 2, ZONE_IMPLICIT); /* its stream is behind the first one's */
    set(&z, 1, ZONE_IMPLICIT);
    set(&z, 2, ZONE_CLOSED);
    set(&z, 2, ZONE_IMPLICIT);
    set(&z, 1, ZONE_IMPLICIT); /* stays as it is */
    set(&z, 0, ZONE_IMPLICIT); /* so does this one */
    in_state(&z, 0, ZONE_EXPLICIT);
    set(&z, 3, ZONE_EXPLICIT);
    in_state(&z, 1, ZONE_CLOSED);
    in_state(&z, 2, ZONE_IMPLICIT);
    lacks(&z, 4, true, ZONE_LACKS_NOTHING);
    set(&z, 4, ZONE_EXPLICIT);
    in_state(&z, 2, ZONE_CLOSED);
    lacks(&z, 5, true, ZONE_LACKS_OPEN);
    lacks(&z, 2, true, ZONE_LACKS_OPEN);
    lacks(&z, 5, false, ZONE_LACKS_NOTHING);
    lacks(&z, 4, true, ZONE_LACKS_NOTHING);
    g_assert_cmpuint(z.table.n_open, ==, 3);
    g_assert_cmpuint(z.table.n_active, ==, 5);
}

/* A zone that is full or empty has its stream until it is given. */
static void test_streams(void)
{
    Zones z = zones(3, 2, 2);

    set(&z, 7, ZONE_IMPLICIT);
    set(&z, 8, ZONE_IMPLICIT);
    g_assert_cmpuint(zone_stream(&z.table, &z.zone[8]), ==, 1);
    lacks(&z, 9, true, ZONE_LACKS_ACTIVE);
    set(&z, 7, ZONE_FULL);
    set(&z, 9, ZONE_CLOSED);
    g_assert_cmpuint(z.zone[9].stream, ==, 2);
    set(&z, 8, ZONE_EMPTY);
    lacks(&z, 0, false, ZONE_LACKS_STREAM);
    lacks(&z, 8, true, ZONE_LACKS_NOTHING); /* it has one */
    g_assert_cmpuint(zone_stream(&z.table, &z.zone[0]), ==, ZONE_NO_STREAM);
    zone_give_stream(&z.table, &z.zone[7]);
    zone_give_stream(&z.table, &z.zone[7]);
    g_assert_cmpuint(zone_stream(&z.table, &z.zone[0]), ==, 0);
    lacks(&z, 0, true, ZONE_LACKS_NOTHING);
}

/* ---- at random ----------------------------------------------------------- */

static void check_all(const Zones *z)
{
    uint32_t n_open = 0;
    uint32_t n_active = 0;

    for (unsigned i = 0; i < N; i++) {
        const ZoneBase *zone = &z->zone[i];

        n_open += zone_is_open(zone->state);
        n_active += zone_is_active(zone->state);
        g_assert(zone->stream != ZONE_NO_STREAM
                     ? z->table.owner[zone->stream] == zone
                     : !zone_is_active(zone->state));
    }
    for (unsigned k = 0; k < z->table.n_streams; k++) {
        const ZoneBase *owner = z->table.owner[k];

        g_assert(!owner || owner->stream == k);
    }
    g_assert_cmpuint(z->table.n_open, ==, n_open);
    g_assert_cmpuint(z->table.n_active, ==, n_active);
    g_assert_true(zone_limits_hold(&z->table));
}

/* The same zones, from their records. */
static void check_loaded(const Zones *z)
{
    Zones copy = *z;

    zone_forget_all(&copy.table);
    for (unsigned i = 0; i < N; i++) {
        const ZoneBase *from = &z->zone[i];

        copy.zone[i] = ZONE_NEW;
        g_assert_true(zone_load(&copy.table, &copy.zone[i], from->state,
                                from->stream, from->opened));
        g_assert_cmpuint(copy.zone[i].opened, ==, from->opened);
        g_assert_cmpuint(copy.zone[i].stream, ==, from->stream);
        in_state(&copy, i, from->state);
    }
    check_all(&copy);
}

static void test_random(void)
{
    static const ZoneState states[] = {ZONE_EMPTY,     ZONE_IMPLICIT,
                                       ZONE_EXPLICIT,  ZONE_CLOSED,
                                       ZONE_READ_ONLY, ZONE_FULL};

    for (uint32_t seed = 1; seed < 9; seed++) {
        Zones z = zones(6, 1 + seed % 4, 5);
        Prng r;

        prng_seed(&r, seed, 1);
        for (unsigned step = 0; step < 5000; step++) {
            ZoneBase *zone = &z.zone[prng_below(&r, N)];
            ZoneState state = states[prng_below(&r, G_N_ELEMENTS(states))];

            if (prng_below(&r, 2) && !zone_is_active(zone->state)) {
                zone_give_stream(&z.table, zone);
            } else if (!zone_is_active(state) ||
                       !zone_lacks(&z.table, zone, zone_is_open(state))) {
                zone_set_state(&z.table, zone, state);
            }
            check_all(&z);
        }
        check_loaded(&z);
    }
}

/* ---- saved zones --------------------------------------------------------- */

static void test_forged(void)
{
    Zones z = zones(2, 1, 2);
    static const struct {
        uint64_t state, stream, opened;
    } wrong[] = {
        {0, 0, 0},
        {5, 0, 0},
        {0x10, 0, 0},
        {1ULL << 32 | ZONE_CLOSED, 0, 0},
        {ZONE_CLOSED, ZONE_NO_STREAM, 0},
        {ZONE_CLOSED, 2, 0},
        {ZONE_CLOSED, 1ULL << 16, 0},
        {ZONE_FULL, 1, 0}, /* another one's */
        {ZONE_CLOSED, 0, 8},
    };

    z.table.opens = 7;
    g_assert_true(zone_load(&z.table, &z.zone[0], ZONE_IMPLICIT, 1, 7));
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_false(zone_load(&z.table, &z.zone[1], wrong[i].state,
                                 wrong[i].stream, wrong[i].opened));
        in_state(&z, 1, ZONE_EMPTY);
        check_all(&z);
    }
    g_assert_true(zone_load(&z.table, &z.zone[1], ZONE_EXPLICIT, 0, 0));
    g_assert_false(zone_limits_hold(&z.table));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zone-table/oldest", test_oldest);
    g_test_add_func("/zone-table/streams", test_streams);
    g_test_add_func("/zone-table/random", test_random);
    g_test_add_func("/zone-table/forged", test_forged);
    return g_test_run();
}
