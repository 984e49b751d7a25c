# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd validate --data and --short: options, and what they do."""

from __future__ import annotations

import argparse
from pathlib import Path

from vssd.build import model, venv
from vssd.errors import UserError
from vssd.measured import drives, points, rows, run
from vssd.measured.classes import CLASSES
from vssd.measured.play import REQUESTS, Player
from vssd.measured.points import Entry
from vssd.measured.score import Scored
from vssd.measured.states import States
from vssd.paths import check_output, find_profile
from vssd.sim.run import Runner
from vssd.ui import Stage, say

from . import charts, page, report, short
from .mqsim import MqSim
from .peer import Peer
from .simplessd import SimpleSsd

LIBRARY = "lib/libvssd.so.1.0.0"
POINTS = 6  # of each drive and class
SHORT_REQUESTS = 20_000
PEERS: dict[str, type[Peer]] = {p.name: p for p in (MqSim, SimpleSsd)}


def add_options(p: argparse.ArgumentParser) -> None:
    """Those of measured data."""
    g = p.add_argument_group("measured data of real drives")
    g.add_argument("--data", metavar="FOLDER", type=Path,
                   help="play the experiments of its CSV files")
    g.add_argument("--short", action="store_true",
                   help="instead: a few rows of profiles/published.toml; fails"
                   " if a class is worse than its bound there")
    g.add_argument("--profile", metavar="P",
                   help="this profile for all drives of --data")
    g.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                   help="an option of --profile; may be repeated")
    g.add_argument("--drive", action="append", default=[], metavar="NAME",
                   help="only drives with this in their name")
    g.add_argument("--class", action="append", default=[], dest="classes",
                   metavar="NAME", choices=CLASSES,
                   help="only this class: " + ", ".join(CLASSES))
    g.add_argument("--points", type=int, default=POINTS, metavar="N",
                   help="experiment points of each drive and class (default"
                   f" {POINTS}: some 20 minutes for all)")
    g.add_argument("--all", action="store_true",
                   help="all experiment points: hours")
    g.add_argument("--requests", type=int, default=None, metavar="N",
                   help="requests of each kind a point (default"
                   f" {REQUESTS}: enough for p99.9)")
    g.add_argument("--peer", metavar="NAME=PATH",
                   help="another simulator on the same board, set up from the"
                   " same profiles: a binary of " + " or ".join(PEERS))
    g.add_argument("--rows", action="store_true",
                   help="print every row with both numbers")
    g.add_argument("--plots", metavar="FOLDER", type=Path,
                   help="draw the curves, ours over theirs: FOLDER/CLASS.svg")
    g.add_argument("-o", "--out", metavar="FILE", type=Path,
                   help="write the board and its rows to FILE: as JSON, or as"
                   " text (FILE.txt)")


ONLY_DATA = (("profile", "--profile"), ("set", "--set"), ("drive", "--drive"),
             ("classes", "--class"), ("all", "--all"), ("rows", "--rows"),
             ("plots", "--plots"), ("out", "-o"), ("peer", "--peer"))


def check(args: argparse.Namespace) -> bool:
    """Errors that need no run; is it this part of the command?"""
    if args.data is None and not args.short:
        for name, option in ONLY_DATA:
            if getattr(args, name):
                raise UserError(f"{option}: only with --data")
        return False
    if args.short and args.data:
        raise UserError("--short: not with --data; it needs no folder")
    if args.set and not args.profile:
        raise UserError("--set: only with --profile")
    if args.short and (args.profile or args.drive or args.classes
                       or args.write_doc):
        raise UserError("--short: its rows and bounds belong together; not"
                        " with --profile, --drive, --class or --write-doc")
    if args.points < 1:
        raise UserError(f"--points {args.points}: allowed 1 and more")
    if args.requests is not None and args.requests < 1000:
        raise UserError(f"--requests {args.requests}: allowed 1000 and more")
    if args.write_doc and (args.profile or args.drive or args.classes):
        raise UserError("--write-doc: not with --profile, --drive or --class;"
                        " the page has all")
    if args.peer and not _peer(args.peer)[1].is_file():
        raise UserError(f"--peer {args.peer}: no such file")
    check_output("-o", args.out)
    return True


def _peer(text: str) -> tuple[type[Peer], Path]:
    name, _, path = text.partition("=")
    if name not in PEERS or not path:
        raise UserError(f"--peer {text}: allowed "
                        + ", ".join(f"{n}=PATH" for n in PEERS))
    return PEERS[name], Path(path).expanduser().absolute()


def _chosen(found: list[rows.Row], names: list[str]) -> list[rows.Row]:
    for name in names:
        if not any(name.lower() in r.drive.lower() for r in found):
            raise UserError(f"--drive {name}: no drive of --data has this in"
                            " its name: there are "
                            + ", ".join(sorted({r.drive for r in found})))
    return [r for r in found
            if not names or any(n.lower() in r.drive.lower() for n in names)]


def _entries(args: argparse.Namespace) -> tuple[list[Entry], dict[str, int]]:
    some = _chosen(rows.read(args.data), args.drive)
    known = drives.read()
    if args.profile:
        path = find_profile(args.profile)
        known = {r.drive: drives.Drive(r.drive, path, tuple(args.set),
                                       _capacity(r, known), False, ())
                 for r in some}
    found, left = points.entries(some, known)
    if args.classes:
        found = [e for e in found if e.name in args.classes]
    if not args.all:
        found = points.sample(found, args.points)
    if not found:
        raise UserError("validate: --data has no row of this drive and class")
    return found, left


def _capacity(row: rows.Row, known: dict[str, drives.Drive]) -> int:
    if row.capacity:
        return row.capacity
    if row.drive not in known:
        raise UserError(f"{row.where}: no capacity of the drive {row.drive!r}"
                        f" ({drives.FILE.name})")
    return known[row.drive].capacity


def _library() -> Path:
    """libvssd of the release build, up to date."""
    return model.ensure("release", LIBRARY) / LIBRARY


def _player(jobs: int, requests: int) -> Player:
    sim = model.sim()
    return Player(States(Runner(sim, jobs), sim.read_bytes()), requests,
                  _library)


def _played(found: list[Entry], player: Player) -> list[Scored]:
    with Stage("validate") as stage:
        return run.score(found, player, stage.add)


def _short(args: argparse.Namespace) -> int:
    some, bounds = short.read()
    found, left = points.entries(some, drives.read(), whole=False)
    scored = _played(found, _player(args.jobs,
                                    args.requests or SHORT_REQUESTS))
    report.show(scored, left, args.rows)
    _files(args, scored, left)
    worse = short.beyond(scored, bounds)
    for line in worse:
        say(f"validate --short: {line}")
    return 1 if worse else 0


def _files(args: argparse.Namespace, scored: list[Scored],
           left: dict[str, int]) -> None:
    if args.out:
        report.write(args.out, scored, left)
        say(f"wrote {args.out}")
    if args.plots:
        venv.extra("figures")
        for file in charts.draw(scored, args.plots):
            say(f"wrote {file}")


def main(args: argparse.Namespace) -> int:
    """The command with --data or --short."""
    if args.short:
        return _short(args)
    found, left = _entries(args)
    requests = args.requests or REQUESTS
    player = _player(args.jobs, requests)
    scored = _played(found, player)
    report.show(scored, left, args.rows)
    if args.peer:
        peer, path = _peer(args.peer)
        say(f"{peer.name}:")
        report.show(_played(found, peer(player, path)), {}, args.rows)
    _files(args, scored, left)
    if args.write_doc:
        how = "All points were played" if args.all else \
            f"At most {args.points} points of each drive and class were played"
        page.PAGE.write_text(page.page(
            scored, left, f"{how}, {requests:,} requests of each kind a"
            " point."), encoding="utf-8")
        say(f"wrote {page.DOC}")
    return 0
