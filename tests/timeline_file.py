# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a timeline (docs/timeline.md) with the protobuf messages of Perfetto's own
Python package, by the rules of its trace processor: packets in the order of
their time, then of the file; an end closes the slice of its track that began
last."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from vssd.build import venv


@dataclass
class Event:
    """A slice, or an instant."""

    path: tuple[str, ...]  # names of its track, the outermost first
    name: str
    category: str
    begin: int
    end: int
    args: dict[str, int]


@dataclass
class Timeline:
    slices: list[Event] = field(default_factory=list)
    instants: list[Event] = field(default_factory=list)
    counts: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    def of(self, group: str) -> list[Event]:
        """The slices below a group of tracks."""
        return [s for s in self.slices if s.path[0] == group]

    def names(self, group: str) -> Counter[tuple[str, str]]:
        """How many slices of a group, by category and name."""
        return Counter((s.category, s.name) for s in self.of(group))


class _Names:
    """Interned strings of the one sequence."""

    def __init__(self) -> None:
        self.by_kind: dict[str, dict[int, str]] = {
            "event_categories": {}, "event_names": {},
            "debug_annotation_names": {}}

    def add(self, data: object) -> None:
        for kind, known in self.by_kind.items():
            for entry in getattr(data, kind):
                assert entry.iid not in known, f"{kind} {entry.iid} again"
                known[entry.iid] = entry.name


def read(path: Path) -> Timeline:
    """The whole file; an error of its format is an AssertionError."""
    venv.extra("timeline")
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

    trace = proto.Trace()
    trace.ParseFromString(path.read_bytes())
    first = trace.packet[0]
    assert first.first_packet_on_sequence
    assert first.sequence_flags == proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    names, tracks, events = _Names(), {}, []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        names.add(packet.interned_data)
        if packet.HasField("track_descriptor"):
            d = packet.track_descriptor
            assert d.uuid not in tracks and (not d.parent_uuid
                                             or d.parent_uuid in tracks)
            tracks[d.uuid] = d
        elif packet.HasField("track_event"):
            assert packet.track_event.track_uuid in tracks
            events.append(packet)
    events.sort(key=lambda p: p.timestamp)  # stable

    def path_of(uuid: int) -> tuple[str, ...]:
        d = tracks[uuid]
        above = path_of(d.parent_uuid) if d.parent_uuid else ()
        return (*above, d.name)

    t = Timeline()
    running: dict[int, list[Event]] = {}
    kinds = proto.TrackEvent
    for packet in events:
        e = packet.track_event
        if e.type == kinds.TYPE_COUNTER:
            d = tracks[e.track_uuid]
            t.units[d.name] = d.counter.unit_name
            t.counts.setdefault(d.name, []).append(
                (packet.timestamp, e.counter_value))
            continue
        stack = running.setdefault(e.track_uuid, [])
        if e.type == kinds.TYPE_SLICE_END:
            stack.pop().end = packet.timestamp
            continue
        event = Event(
            path_of(e.track_uuid), names.by_kind["event_names"][e.name_iid],
            names.by_kind["event_categories"][e.category_iids[0]]
            if e.category_iids else "",
            packet.timestamp, packet.timestamp,
            {names.by_kind["debug_annotation_names"][a.name_iid]: a.uint_value
             for a in e.debug_annotations})
        if e.type == kinds.TYPE_INSTANT:
            t.instants.append(event)
            continue
        assert e.type == kinds.TYPE_SLICE_BEGIN
        assert not stack, f"{event} overlaps {stack[-1]}"
        stack.append(event)
        t.slices.append(event)
    assert not any(running.values()), "slices without an end"
    return t
