# SPDX-License-Identifier: GPL-2.0-or-later
"""Arrows go down only: a layer that includes a header from above, or from
beside, does not compile.  Each layer's own compile command says so."""

import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["VSSD_BUILD"])
FTL = pathlib.Path(__file__).parents[1] / "ftl"
NVME = pathlib.Path(__file__).parents[1] / "hw-ssd/nvme"

# Folder: (what it may include, what it must not).
LAYERS = {
    "core": (["eventq.h"], ["nand.h", "ssd.h", "nvme.h", "player.h"]),
    "nand": (["nand.h", "eventq.h"], ["ssd.h", "nvme.h", "player.h"]),
    "ftl": (["ssd.h", "nand.h", "eventq.h"], ["nvme.h", "player.h"]),
    "lib": (["vssd.h", "ssd.h", "setup.h"], ["player.h", "nvme.h", "nand.h"]),
    "hw-ssd/rules": (["cmd-rules.h", "ssd.h"], ["nvme.h", "player.h", "nand.h"]),
    "sim": (["player.h", "ssd.h", "hist.h", "setup.h", "cmd-rules.h"],
            ["nvme.h", "nand.h"]),
    "hw-ssd/nvme": (["nvme.h", "ssd.h", "cmd-rules.h"], ["player.h", "nand.h"]),
    "hw-ssd/vfio-user": (["server.h", "nvme.h", "ssd.h"],
                         ["player.h", "nand.h"]),
    # Judges the model, so it shares nothing with it.
    "tools/oplog-check": (["check.h"], ["eventq.h", "hist.h", "nand.h",
                                        "ssd.h", "nvme.h", "player.h",
                                        "inspect/oplog.h"]),
}
NOWHERE = ["qemu/osdep.h", "hw/pci/pci.h"]
FRONT_DOORS = ["sim", "hw-ssd/nvme"]

# Of ftl/, from bottom to top (ftl/layers.h).
COMPONENTS = ["controller", "media", "journal", "placement", "buffer", "map", "gc",
              "thermal", "host", "power"]

# A header for the component's own files, of each that has one.
PRIVATE = {
    "media": "media/block-state.h",
    "placement": "placement/alloc.h",
    "buffer": "buffer/slots.h",
    "map": "map/hybrid.h",
    "gc": "gc/gc-private.h",
    "thermal": "thermal/states.h",
    "host": "host/host-private.h",
}

# Of each room that has some, members.
ROOM_MEMBERS = {
    "registers": ["ctrl->regs.csts"],
    "memory": ["ctrl->windows_on"],
    "namespace": ["ctrl->sub->lba_track.n", "ctrl->sub->namespaces.n",
                  "ctrl->sub->namespaces.table[0].protect"],
    "queue": ["ctrl->queues.n_io", "ctrl->sub->ns_job.draining"],
    "health": ["ctrl->events.naer", "ctrl->features.timestamp_ms"],
    "reservation": ["ctrl->reservation_log.n"],
    "zone": ["ctrl->sub->zones.table.n_open"],
    "placement": ["ctrl->sub->streams.clock"],
    "erase": ["ctrl->sub->erase.pass"],
    "kv": ["ctrl->sub->kv_ops"],
    "admin": ["ctrl->sub->latency.on", "ctrl->features.value[0]",
              "ctrl->features.apst_on", "ctrl->sub->ns_wanted.nblocks"],
}
# Not to be written by the core either.
NOT_BY_CORE = {"registers"}

# How a header refuses components: those below its own, or all others.
GUARDS = (
    """#if FTL_LAYER < FTL_{C}
#error "ftl/{c} is above this component: docs/architecture.md"
#endif
""",
    """#if FTL_LAYER != FTL_{C} && FTL_LAYER != FTL_ALL
#error "private to ftl/{c}: docs/architecture.md"
#endif
""")

# Of hw-ssd/nvme/, from bottom to top (rooms.h); core: files beside the rooms.
ROOMS = ["payload", "registers", "memory", "namespace", "queue", "health",
         "reservation", "zone", "placement", "erase", "metadata", "data", "kv",
         "admin", "core"]
# Headers for those who use the controller, and those that all rooms share.
NVME_PUBLIC = {"nvme.h", "nvme-defs.h", "nvme-wire.h", "nvme-firmware.h",
               "nvme-stats.h", "nvme-options.h", "images.h", "kv-wire.h",
               "zone-wire.h", "vendor-log.h"}
NVME_SHARED = {"rooms.h", "nvme-internal.h", "kept-parts.h"}
ROOM_GUARD = """#include "rooms.h"
#if NVME_ROOM < ROOM_{R}
#error "{r} is above this room: docs/architecture.md"
#endif
"""

# Of each component, a member, and one of a table that it leads to.
MEMBERS = {
    "controller": ["link_in_ps", "core_ps[0]"],
    "media": ["read_only", "block[0].valid", "plane[0].clock"],
    "journal": ["saved_low", "plane[0].programs"],
    "placement": ["n_starved", "plane[0].accepting", "stream[0].taken"],
    "buffer": ["n_dirty", "slot[0].state"],
    "map": ["n_trim_left", "plane[0].logs.n_ended"],
    "gc": ["called", "plane[0].victim"],
    "thermal": ["heats", "heat.rise_nk"],
    "host": ["done.head", "ahead.stream[0].reads"],
    "power": ["recovery.n_candidates", "recovery_plane[0].page"],
}
PROBE = """
void probe(Ssd *ssd);
void probe(Ssd *ssd)
{
    %s
}
"""
ROOM_PROBE = PROBE.replace("Ssd *ssd", "NvmeCtrl *ctrl")


def command_of(folder: str) -> list[str] | None:
    """The command that compiles some file of the folder, without the file."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = pathlib.PurePath(entry["file"])
        if str(source.parent).endswith(f"/{folder}") and \
                "tests" not in source.parts:
            words = shlex.split(entry["command"])
            end = words.index("-o") if "-o" in words else words.index("-c")
            return [w for w in words[:end] if not w.startswith("-M")]
    return None


def errors(command: list[str], *headers: str, body: str = "") -> list[str]:
    """What the compiler says of a file with these headers: its errors."""
    with tempfile.TemporaryDirectory() as tmp:
        source = pathlib.Path(tmp, "probe.c")
        source.write_text("".join(f'#include "{h}"\n' for h in headers)
                          + body)
        words = [w for w in command if not w.endswith((".d", ".o"))
                 and not w.startswith("-fdiagnostics-color")]
        if any("clang" in w for w in words[:2]):
            words.append("-ferror-limit=0")
        done = subprocess.run([*words, "-fsyntax-only", str(source)],
                              cwd=BUILD, capture_output=True, text=True,
                              check=False)
    said = [x for x in done.stderr.splitlines() if "error:" in x]
    assert bool(said) == (done.returncode != 0), done.stderr
    return said


def compiles(command: list[str], *headers: str) -> bool:
    return not errors(command, *headers)


def room_folder(room: str) -> str:
    return "hw-ssd/nvme" if room == "core" else f"hw-ssd/nvme/{room}"


def room_headers(room: str) -> list[str]:
    """The headers by which others call a room, as they are included."""
    if room == "payload":
        return ["payload/payload.h"]
    if room == "core":
        return sorted({p.name for p in NVME.glob("*.h")}
                      - NVME_PUBLIC - NVME_SHARED)
    return sorted(f"{room}/{p.name}" for p in (NVME / room).glob("*.h")
                  if p.name != "parts.h")


class Layers(unittest.TestCase):
    def test_layers(self) -> None:
        checked = 0
        for folder, (allowed, forbidden) in LAYERS.items():
            command = command_of(folder)
            if command is None:
                continue
            checked += 1
            for header in allowed:
                self.assertTrue(compiles(command, header),
                                f"{folder} cannot include {header}")
            for header in forbidden + NOWHERE:
                self.assertFalse(compiles(command, header),
                                 f"{folder} can include {header}")
        self.assertGreaterEqual(checked, 4)

    def test_components(self) -> None:
        """A component includes headers of its own and of those below it."""
        headers = {c: [f"{c}/{c}.h", f"{c}/{c}-internal.h"]
                   for c in COMPONENTS}
        for i, c in enumerate(COMPONENTS):
            command = command_of(f"ftl/{c}")
            assert command, c
            allowed = [h for below in COMPONENTS[:i + 1]
                       for h in headers[below]]
            self.assertTrue(compiles(command, *allowed),
                            f"{c} cannot include one of {allowed}")
            refused = errors(command, *(h for above in COMPONENTS[i + 1:]
                                        for h in headers[above]))
            for above in COMPONENTS[i + 1:]:
                for header in headers[above]:
                    self.assertTrue(
                        any(f"ftl/{header}:" in x and f"ftl/{above} is above" in x
                            for x in refused), f"{c} can include {header}")

    def test_guards(self) -> None:
        """Every header of a component has one of the guards tried here."""
        for c in COMPONENTS:
            guards = [g.format(c=c, C=c.upper()) for g in GUARDS]
            headers = list((FTL / c).glob("*.h"))
            self.assertGreaterEqual(len(headers), 2, c)
            for path in headers:
                self.assertEqual(
                    sum(path.read_text().count(g) for g in guards), 1, path)

    def test_private(self) -> None:
        """No other component includes a private header, from above either."""
        for user in COMPONENTS:
            command = command_of(f"ftl/{user}")
            assert command, user
            if user in PRIVATE:
                self.assertTrue(compiles(command, PRIVATE[user]), user)
            others = {c: h for c, h in PRIVATE.items() if c != user}
            refused = errors(command, *others.values())
            for c, header in others.items():
                self.assertTrue(
                    any(f"private to ftl/{c}" in x for x in refused),
                    f"{user} includes {header}")

    def test_members(self) -> None:
        """Only its own files write a component's members and tables."""
        headers = [f"{c}/{c}-internal.h" for c in COMPONENTS]
        for i, user in enumerate(COMPONENTS):
            command = command_of(f"ftl/{user}")
            assert command, user
            writes = [(c, f"ssd->{c}->{member} = 1;")
                      for c in COMPONENTS[:i + 1] for member in MEMBERS[c]]
            refused = errors(
                command, *headers[:i + 1], "ssd-internal.h",
                body=PROBE % "".join(f'\n#line {n} "write"\n{text}'
                                     for n, (_, text) in enumerate(writes, 1)))
            for n, (c, text) in enumerate(writes, 1):
                self.assertEqual(
                    any(x.startswith(f"write:{n}:") for x in refused), c != user,
                    f"{user}: {text}")

    def test_rooms(self) -> None:
        """A file includes headers of its own room and of those below it."""
        for i, room in enumerate(ROOMS):
            command = command_of(room_folder(room))
            assert command, room
            self.assertTrue(compiles(command, *(
                h for below in ROOMS[:i + 1] for h in room_headers(below))),
                f"{room} cannot include a header of its own, or from below")
            above = [h for r in ROOMS[i + 1:] for h in room_headers(r)]
            refused = errors(command, *above)
            for header in above:
                self.assertTrue(
                    any(f"nvme/{header}:" in x and "is above this room" in x
                        for x in refused), f"{room} can include {header}")

    def test_room_guards(self) -> None:
        """Every header of a room has the guard tried here."""
        for room in ROOMS[1:]:
            name = f"hw-ssd/nvme/{room}"
            guard = ROOM_GUARD.format(
                R=room.upper(),
                r="the core of hw-ssd/nvme" if room == "core" else name)
            headers = room_headers(room)
            self.assertGreaterEqual(len(headers), 1, room)
            for header in headers:
                self.assertEqual((NVME / header).read_text().count(guard), 1,
                                 header)

    def test_room_members(self) -> None:
        """Only its own files, and the core, write a room's members."""
        members = [(r, m) for r, of in ROOM_MEMBERS.items() for m in of]
        for user in ROOMS[1:]:
            command = command_of(room_folder(user))
            assert command, user
            refused = errors(command, "nvme-internal.h", body=ROOM_PROBE % "".join(
                f'\n#line {n} "write"\n{member} = 1;'
                for n, (_, member) in enumerate(members, 1)))
            for n, (room, member) in enumerate(members, 1):
                self.assertEqual(
                    any(x.startswith(f"write:{n}:") for x in refused),
                    user != room and (user != "core" or room in NOT_BY_CORE),
                    f"{user}: {member}")

    def test_payload(self) -> None:
        """Only its own files see the structures of the payload."""
        internal = "payload/payload-internal.h"
        for room in ROOMS:
            command = command_of(room_folder(room))
            assert command, room
            self.assertEqual(compiles(command, internal), room == "payload",
                             room)

    def test_front_doors(self) -> None:
        """What uses the drive sees ssd.h, and nothing of its components."""
        for folder in FRONT_DOORS:
            command = command_of(folder)
            if command:
                self.assertFalse(compiles(command, "media/media.h"), folder)
        command = command_of("hw-ssd/vfio-user")
        if command:
            self.assertTrue(compiles(command, *sorted(NVME_PUBLIC
                                                      - {"nvme-stats.h"})))
            for header in ("nvme-internal.h", "queue/steps.h"):
                self.assertFalse(compiles(command, header), header)


if __name__ == "__main__":
    unittest.main()
