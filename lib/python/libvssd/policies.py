# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies in Python, through the interface of shared objects (vssd-policy.h).

They are slow, a few microseconds for each call of the view, and are for teaching
and experiments:

    def fewest(view, plane):
        return min((b for b in view.candidates(plane) if view.gains(b)),
                   key=view.valid, default=None)

    drive = Drive("tiny", gc=fewest)

A policy that breaks a rule, by an exception for example, is called no more: the
drive goes on without it, and the Drive's method raises a VssdError, once.  State of
a Python policy is not saved with the drive, and clones share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .native import ffi, lib

ABI = 1
NONE = 2**32 - 1
NO_UNIT = 2**64 - 1
KINDS = {"gc": 0, "alloc": 1, "buffer": 2, "placement": 3, "map": 4}


def _number(value: int | None) -> int:
    return NONE if value is None else int(value)


def _maybe(value: int) -> int | None:
    return None if value == NONE else value


class View:
    """What a policy sees, during its call."""

    part = ""

    def __init__(self, c: Any) -> None:
        self._c = c
        self._part = getattr(c, self.part)
        self.shape = c.shape  # sizes of the drive

    def random(self, below: int) -> int:
        """A whole number below, from the drive's seed."""
        return int(self._c.random(self._c, below))


class GcView(View):
    """Candidates of garbage collection."""

    part = "gc"

    def candidates(self, plane: int) -> Iterator[int]:
        """Full blocks of the plane, in the order in which they were filled."""
        block = self._part.oldest(self._c, plane)
        while block != NONE:
            yield block
            block = self._part.newer(self._c, block)

    def with_valid(self, plane: int, valid: int) -> int | None:
        """A candidate with that many valid units."""
        return _maybe(self._part.with_valid(self._c, plane, valid))

    def valid(self, block: int) -> float:
        """Valid units."""
        return float(self._part.valid(self._c, block))

    def gains(self, block: int) -> bool:
        """Does collecting it give back a program's pages?"""
        return bool(self._part.gains(self._c, block))

    def erases(self, block: int) -> int:
        """How often it was erased."""
        return int(self._part.erases(self._c, block))

    def age(self, block: int) -> int:
        """Programs of the host in the plane since its last write, + 1."""
        return int(self._part.age(self._c, block))

    def stream(self, block: int) -> int:
        """The stream of its units."""
        return int(self._part.stream(self._c, block))

    def free_blocks(self, plane: int) -> int:
        """Free blocks of the plane."""
        return int(self._part.free_blocks(self._c, plane))

    def least(self, plane: int) -> int | None:
        """The candidate with the fewest valid units, whether it gains or not."""
        return _maybe(self._part.least(self._c, plane))

    def draw(self, plane: int) -> int | None:
        """A candidate at random that gains; None after many draws."""
        return _maybe(self._part.draw(self._c, plane))

    def renew(self, block: int) -> None:
        """The candidate counts as filled just now."""
        self._part.renew(self._c, block)


class AllocView(View):
    """Planes for pages of the host."""

    part = "alloc"

    def accepts(self, plane: int) -> bool:
        """Does the plane take a page now?"""
        return bool(self._part.accepts(self._c, plane))

    def stripe_plane(self, position: int) -> int:
        """The plane at a position of the stripe."""
        return int(self._part.stripe_plane(self._c, position))

    def stripe_position(self, plane: int) -> int:
        """The reverse."""
        return int(self._part.stripe_position(self._c, plane))

    def next_accepting(self, position: int) -> int | None:
        """The first position from there on, and round, whose plane accepts one."""
        return _maybe(self._part.next_accepting(self._c, position))

    def insist(self, plane: int) -> int | None:
        """The plane if it accepts a page; None while it may be waited for; else
        another one."""
        return _maybe(self._part.insist(self._c, plane))

    def die_load(self, plane: int) -> int:
        """Operations of the plane's die."""
        return int(self._part.die_load(self._c, plane))

    def channel_busy(self, channel: int) -> bool:
        """Is there a transfer?"""
        return bool(self._part.channel_busy(self._c, channel))

    def free_blocks(self, plane: int) -> int:
        """Free blocks of the plane."""
        return int(self._part.free_blocks(self._c, plane))

    def valid(self, plane: int) -> int:
        """Valid units of the plane."""
        return int(self._part.valid(self._c, plane))

    def home(self, unit: int) -> int | None:
        """The plane of the unit's copy in NAND."""
        return _maybe(self._part.home(self._c, unit))

    def first_plane(self, unit: int) -> int:
        """The plane of a unit without a copy, by its address."""
        return int(self._part.first_plane(self._c, unit))

    def draw(self) -> int | None:
        """insist() of a plane at random."""
        return _maybe(self._part.draw(self._c))

    def gc_indicator(self, plane: int) -> int:
        """Millionths of the invalid space that are not in free blocks."""
        return int(self._part.gc_indicator(self._c, plane))

    def force_gc(self, plane: int) -> None:
        """GC takes one victim of the plane."""
        self._part.force_gc(self._c, plane)


class ListView(View):
    """Lists of slots of the buffer, or of entries of the map's cache."""

    part = "list"

    def move(self, item: int, to: int) -> None:
        """To the head of a list."""
        self._part.move(self._c, item, to)

    def oldest(self, of: int) -> int | None:
        """The tail of a list."""
        return _maybe(self._part.oldest(self._c, of))

    def newer(self, item: int) -> int | None:
        """The next one towards the head."""
        return _maybe(self._part.newer(self._c, item))

    def count(self, of: int) -> int:
        """Items of a list."""
        return int(self._part.count(self._c, of))

    def list_of(self, item: int) -> int | None:
        """The list of an item."""
        return _maybe(self._part.list_of(self._c, item))

    def unit(self, item: int) -> int:
        """The mapping unit of an item."""
        return int(self._part.unit(self._c, item))

    def clean(self, item: int) -> bool:
        """Can it leave without a program?"""
        return bool(self._part.clean(self._c, item))


class PlacementView(View):
    """Units and streams."""

    part = "placement"

    def mapped(self, unit: int) -> bool:
        """Has the unit a copy?"""
        return bool(self._part.mapped(self._c, unit))

    def stream_of(self, unit: int) -> int | None:
        """The stream of its copy in NAND."""
        return _maybe(self._part.stream_of(self._c, unit))

    def written(self, stream: int) -> int:
        """Units that the host wrote to the stream."""
        return int(self._part.written(self._c, stream))

    def copied(self, stream: int) -> int:
        """Units that GC copied in it."""
        return int(self._part.copied(self._c, stream))

    def expected(self, unit: int) -> int:
        """What the host says of writes of the unit: 1 seldom, 2 often, 0 nothing."""
        return int(self._part.expected(self._c, unit))


class Policy:
    """A VssdPolicy with functions of Python behind it.

    Derive from one of the classes below, or give Drive a function: gc=f(view, plane),
    alloc=f(view, unit), placement=f(view, unit).
    """

    kind = ""
    struct = ""
    view: type[View] = View
    hooks: dict[str, str] = {}  # name: C type; the others are optional
    name = "python"

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self._kept = [ffi.new("char[]", self.name.encode()),
                      ffi.new("char[]", b"a policy in Python")]
        part = ffi.new(f"{self.struct} *")
        part.size = ffi.sizeof(self.struct)
        for hook, signature in self.hooks.items():
            found = getattr(self, hook, None)
            if found is not None:
                self._kept.append(self._callback(signature, found))
                setattr(part, hook, self._kept[-1])
        self._fill(part)
        self.c = ffi.new("VssdPolicy *")
        self.c.abi = ABI
        self.c.kind = KINDS[self.kind]
        self.c.size = ffi.sizeof("VssdPolicy")
        self.c.name, self.c.help = self._kept[:2]
        setattr(self.c, self.kind, part)
        self._kept.append(part)

    def _fill(self, part: Any) -> None:
        """Members that are no functions."""

    def _callback(self, signature: str, call: Callable[..., Any]) -> Any:
        void = signature.startswith("void")

        def run(c: Any, *args: int) -> int | None:
            try:
                found = call(self.view(c), *args)
                return None if void else _number(found)
            except BaseException as error:
                self.error = self.error or error
                c.fail(c, ffi.new("char[]", f"{type(error).__name__}:"
                                            f" {error}".encode()[:200]))
                return None if void else NONE

        return ffi.callback(signature, run)


class GcPolicy(Policy):
    """pick(view, plane): the block to empty, or None."""

    kind, struct, view = "gc", "VssdGcPolicy", GcView
    hooks = {"pick": "uint32_t(VssdView *, uint32_t)"}


class AllocPolicy(Policy):
    """pick(view, unit): the plane for the next page, or None."""

    kind, struct, view = "alloc", "VssdAllocPolicy", AllocView
    hooks = {"pick": "uint32_t(VssdView *, uint64_t)"}
    depth = 2
    by_unit = True

    def _fill(self, part: Any) -> None:
        part.depth, part.by_unit = self.depth, self.by_unit


_ITEM = "void(VssdView *, uint32_t)"


class BufferPolicy(Policy):
    """victim(view); optional: insert(view, slot), written(view, slot), read(view, slot),
    `cleaned(view, slot)`, removed(view, slot), replaced(view, old, new),
    follows(view, unit), early(view), early_sent(view), fits(view)."""

    kind, struct, view = "buffer", "VssdBufferPolicy", ListView
    hooks = {"insert": _ITEM, "written": _ITEM, "read": _ITEM, "cleaned": _ITEM,
             "removed": _ITEM, "replaced": "void(VssdView *, uint32_t, uint32_t)",
             "victim": "uint32_t(VssdView *)",
             "follows": "uint32_t(VssdView *, uint64_t)",
             "early": "uint32_t(VssdView *)", "early_sent": "void(VssdView *)",
             "fits": "bool(VssdView *)"}
    writes_only = False
    slot_bytes = 0

    def _fill(self, part: Any) -> None:
        part.writes_only, part.slot_bytes = self.writes_only, self.slot_bytes


class MapPolicy(Policy):
    """victim(view); optional: insert(view, entry), used(view, entry)."""

    kind, struct, view = "map", "VssdMapPolicy", ListView
    hooks = {"insert": _ITEM, "used": _ITEM, "victim": "uint32_t(VssdView *)"}


class PlacementPolicy(Policy):
    """stream(view, unit): the stream for a written unit; wrote(view, unit, stream) if
    it wants that."""

    kind, struct, view = "placement", "VssdPlacementPolicy", PlacementView
    hooks = {"stream": "uint32_t(VssdView *, uint64_t)",
             "wrote": "void(VssdView *, uint64_t, uint32_t)"}
    streams = 2

    def _fill(self, part: Any) -> None:
        part.streams = self.streams


_OF_FUNCTION = {"gc": (GcPolicy, "pick"), "alloc": (AllocPolicy, "pick"),
                "placement": (PlacementPolicy, "stream")}
CLASSES = {"gc": GcPolicy, "alloc": AllocPolicy, "buffer": BufferPolicy,
           "map": MapPolicy, "placement": PlacementPolicy}


def policy_of(kind: str, given: Any) -> Policy | str:
    """A Policy, a function as one, or the name or file of another."""
    if isinstance(given, Policy):
        if given.kind != kind:
            raise ValueError(f"{kind}: is a policy of the kind {given.kind}")
        return given
    if callable(given):
        if kind not in _OF_FUNCTION:
            raise ValueError(f"{kind}: a function is not enough: derive from"
                             f" {CLASSES[kind].__name__}")
        base, hook = _OF_FUNCTION[kind]
        made: Policy = type("Function", (base,), {hook: staticmethod(given)})()
        return made
    return str(given)


def fault(handle: Any) -> str | None:
    """The line about a policy that broke a rule."""
    from .native import taken

    return taken(lib.vssd_policy_fault(handle))
