/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto.c - the messages of a Perfetto trace, in the wire format of
 * protobuf ("Encoding", Protocol Buffers documentation).
 *
 * Knows the numbers of the fields; knows nothing about drives.
 */
#include "perfetto.h"

#include <string.h>

#include "invariant.h"

/* Of the one sequence; 0 is not allowed. */
#define SEQUENCE 1

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* Field numbers, by message. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_FIRST_ON_SEQUENCE = 87,
};
enum {
    EVENT_CATEGORY_IIDS = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_COUNTER_VALUE = 30,
};
enum { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3 };
enum { NAME_IID = 1, NAME_TEXT = 2 };
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_CHILD_ORDERING = 11,
    TRACK_RANK = 12,
};
enum { COUNTER_UNIT_NAME = 6 };

enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { ORDER_EXPLICIT = 3 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* A message under construction. */
typedef struct Message {
    uint8_t byte[512];
    unsigned n;
} Message;

static void put_varint(Message *m, uint64_t v)
{
    do {
        invariant(m->n < sizeof(m->byte));
        m->byte[m->n++] = (uint8_t)(v | (v >= 0x80 ? 0x80 : 0));
        v >>= 7;
    } while (v);
}

static void put_number(Message *m, unsigned field, uint64_t v)
{
    put_varint(m, field << 3 | WIRE_VARINT);
    put_varint(m, v);
}

static void put_bytes(Message *m, unsigned field, const void *bytes, size_t n)
{
    put_varint(m, field << 3 | WIRE_BYTES);
    put_varint(m, n);
    invariant(m->n + n <= sizeof(m->byte));
    memcpy(m->byte + m->n, bytes, n);
    m->n += (unsigned)n;
}

static void put_text(Message *m, unsigned field, const char *text)
{
    size_t n = strlen(text);

    invariant(n <= PERFETTO_MAX_NAME);
    put_bytes(m, field, text, n);
}

static void put_message(Message *m, unsigned field, const Message *inner)
{
    put_bytes(m, field, inner->byte, inner->n);
}

static void write_packet(FILE *file, Message *packet, unsigned flags)
{
    Message head = {.n = 0};

    put_number(packet, PACKET_SEQUENCE_ID, SEQUENCE);
    put_number(packet, PACKET_SEQUENCE_FLAGS, flags);
    put_varint(&head, TRACE_PACKET << 3 | WIRE_BYTES);
    put_varint(&head, packet->n);
    (void)fwrite(head.byte, head.n, 1, file);
    (void)fwrite(packet->byte, packet->n, 1, file);
}

void perfetto_begin(FILE *file)
{
    Message packet = {.n = 0};

    put_number(&packet, PACKET_FIRST_ON_SEQUENCE, 1);
    write_packet(file, &packet, FLAG_CLEARED);
}

void perfetto_name(FILE *file, PerfettoNames kind, uint32_t iid,
                   const char *name)
{
    Message packet = {.n = 0};
    Message data = {.n = 0};
    Message entry = {.n = 0};

    put_number(&entry, NAME_IID, iid);
    put_text(&entry, NAME_TEXT, name);
    put_message(&data, kind, &entry);
    put_message(&packet, PACKET_INTERNED_DATA, &data);
    write_packet(file, &packet, FLAG_NEEDS_STATE);
}

void perfetto_track(FILE *file, const PerfettoTrack *track)
{
    Message packet = {.n = 0};
    Message descriptor = {.n = 0};
    Message counter = {.n = 0};

    put_number(&descriptor, TRACK_UUID, track->uuid);
    put_text(&descriptor, TRACK_NAME, track->name);
    if (track->parent) {
        put_number(&descriptor, TRACK_PARENT, track->parent);
    }
    if (track->unit) {
        put_text(&counter, COUNTER_UNIT_NAME, track->unit);
        put_message(&descriptor, TRACK_COUNTER, &counter);
    }
    put_number(&descriptor, TRACK_CHILD_ORDERING, ORDER_EXPLICIT);
    put_number(&descriptor, TRACK_RANK, track->rank);
    put_message(&packet, PACKET_TRACK_DESCRIPTOR, &descriptor);
    write_packet(file, &packet, FLAG_NEEDS_STATE);
}

static void begin_event(Message *event, unsigned type, uint64_t track)
{
    event->n = 0;
    put_number(event, EVENT_TYPE, type);
    put_number(event, EVENT_TRACK_UUID, track);
}

static void end_event(FILE *file, const Message *event, uint64_t at_ns)
{
    Message packet = {.n = 0};

    put_number(&packet, PACKET_TIMESTAMP, at_ns);
    put_message(&packet, PACKET_TRACK_EVENT, event);
    write_packet(file, &packet, FLAG_NEEDS_STATE);
}

static void write_event(FILE *file, const PerfettoEvent *e, unsigned type,
                        uint64_t at_ns)
{
    Message event;

    invariant(e->n_args <= PERFETTO_MAX_ARGS);
    begin_event(&event, type, e->track);
    if (e->category) {
        put_number(&event, EVENT_CATEGORY_IIDS, e->category);
    }
    put_number(&event, EVENT_NAME_IID, e->name);
    for (unsigned i = 0; i < e->n_args; i++) {
        Message note = {.n = 0};

        put_number(&note, ANNOTATION_NAME_IID, e->arg[i].name);
        put_number(&note, ANNOTATION_UINT, e->arg[i].value);
        put_message(&event, EVENT_ANNOTATIONS, &note);
    }
    end_event(file, &event, at_ns);
}

void perfetto_slice(FILE *file, const PerfettoEvent *e, uint64_t from_ns,
                    uint64_t to_ns)
{
    Message end;

    invariant(from_ns <= to_ns);
    write_event(file, e, TYPE_BEGIN, from_ns);
    begin_event(&end, TYPE_END, e->track);
    end_event(file, &end, to_ns);
}

void perfetto_instant(FILE *file, const PerfettoEvent *e, uint64_t at_ns)
{
    write_event(file, e, TYPE_INSTANT, at_ns);
}

void perfetto_count(FILE *file, uint64_t track, uint64_t at_ns, uint64_t value)
{
    Message event;

    begin_event(&event, TYPE_COUNTER, track);
    put_number(&event, EVENT_COUNTER_VALUE, value);
    end_event(file, &event, at_ns);
}
