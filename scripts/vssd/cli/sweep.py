# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd sweep: every combination of options and workloads, as one table."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..build import model, venv
from ..errors import UserError, one_line
from ..paths import key_of
from ..sim import run as simrun
from ..sim import sweep
from ..sim.run import Point, Result
from ..ui import Stage, say

CONNECT_S = 20
Done = Callable[[Point, Result], None]


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "sweep", help="run vssd-sim over combinations of options and"
        " workloads",
        description="Runs every combination that FILE describes"
        " (docs/sweeps.md) and writes one table.  Results are kept beside the"
        " table; a sweep that was interrupted goes on where it was.")
    p.add_argument("file", metavar="FILE.toml")
    p.add_argument("--out", default="", metavar="TABLE",
                   help="the table, .csv or .parquet (default: FILE.csv)")
    p.add_argument("--jobs", type=int, default=0, metavar="N",
                   help="runs at a time on this machine (default: its cores)")
    p.add_argument("--scheduler", default="", metavar="ADDRESS",
                   help="run on the Dask cluster whose scheduler is there, as"
                   " in tcp://host:8786")
    p.add_argument("--again", action="store_true",
                   help="run points with a result again")
    p.add_argument("--list", action="store_true",
                   help="print the points, and end")
    p.set_defaults(call=main)


class Store:
    """The results that are there, one file a point."""

    def __init__(self, folder: Path, version: bytes) -> None:
        self.folder = folder
        self.version = version
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise UserError(f"{folder}: {e.strerror}") from e

    def _file(self, point: Point) -> Path:
        return self.folder / f"{point.key(self.version)}.json"

    def get(self, point: Point) -> Result | None:
        """The result of a point, if it has been run."""
        try:
            result: Result = json.loads(self._file(point).read_bytes())
        except (OSError, ValueError):
            return None
        return result

    def put(self, point: Point, result: Result) -> None:
        """Keep it: wholly, or not at all."""
        file = self._file(point)
        tmp = file.with_suffix(".tmp")
        tmp.write_text(json.dumps(result) + "\n")
        tmp.replace(file)


def _label(point: Point) -> str:
    what = point.trace.name if point.trace else point.workload
    return one_line(" ".join([point.profile.stem, what, *point.sets]))


# ---- a cluster --------------------------------------------------------------


@contextlib.contextmanager
def _client(address: str) -> Iterator[Any]:
    import distributed

    try:
        client = distributed.Client(address, timeout=CONNECT_S,
                                    set_as_default=False)
    except (OSError, ValueError) as e:
        raise UserError(f"--scheduler {address}: no Dask scheduler answers"
                        f" there: {one_line(str(e))}") from e
    try:
        if not client.scheduler_info()["workers"]:
            raise UserError(f"--scheduler {address}: it has no workers; start"
                            " some with: dask worker " + address)
        yield client
    finally:
        client.close()


def _sent(client: Any) -> Callable[..., tuple[int, str, str]]:
    """simremote.run as a function that the cluster knows, too."""
    file = Path(sweep.__file__).with_name("simremote.py")
    spec = importlib.util.spec_from_file_location("simremote", file)
    assert spec and spec.loader
    module = sys.modules["simremote"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    client.upload_file(str(file))
    run: Callable[..., tuple[int, str, str]] = module.run
    return run


def _remote(address: str, sim: Path, points: list[Point], done: Done) -> None:
    import distributed

    program = sim.read_bytes()
    name = "vssd-sim-" + key_of(program)
    with _client(address) as client:
        run = _sent(client)
        shared = client.scatter(program, broadcast=True, hash=False)
        waiting = {}
        for point in points:
            args = point.arguments()
            profile = point.profile.read_bytes()
            future = client.submit(
                run, name, shared,
                f"{key_of(profile)}-{point.profile.name}", profile, args,
                pure=False)
            waiting[future] = point
        for future in distributed.as_completed(list(waiting),
                                               loop=client.loop):
            point = waiting[future]
            try:
                answer = future.result()
            except Exception as e:
                raise UserError(f"--scheduler {address}: {_label(point)}:"
                                f" {one_line(str(e))}") from e
            done(point, simrun.result_of(*answer))


# ---- the command --------------------------------------------------------------


def _run(args: argparse.Namespace, sim: Path, missing: list[Point],
         store: Store) -> None:
    with Stage("sweep") as stage:
        def done(point: Point, result: Result) -> None:
            store.put(point, result)
            stage.add(len(missing))

        if args.scheduler:
            _remote(args.scheduler, sim, missing, done)
        else:
            simrun.Runner(sim, args.jobs).points(missing, done)


def _prepare(args: argparse.Namespace, out: Path) -> None:
    if args.jobs < 0:
        raise UserError("--jobs: 1 or more")
    if out.suffix not in (".csv", ".parquet"):
        raise UserError(f"--out {out}: allowed names that end in .csv or"
                        " .parquet")
    if out.suffix == ".parquet":
        venv.extra("parquet")
    if args.scheduler:
        venv.extra("sweep")


def main(args: argparse.Namespace) -> int:
    """./vssd sweep"""
    file = Path(args.file)
    out = Path(args.out) if args.out else file.with_suffix(".csv")
    plan = sweep.read(file)
    if args.list:
        for job in plan.jobs:
            print(_label(job.point))
        return 0
    _prepare(args, out)
    sim = model.portable_sim() if args.scheduler else model.sim()
    store = Store(out.with_name(out.name + ".results"), sim.read_bytes())
    have = {} if args.again else {
        job.point: r for job in plan.jobs if (r := store.get(job.point))}
    missing = list(dict.fromkeys(j.point for j in plan.jobs
                              if j.point not in have))
    if have:
        say(f"{len(have)} of {len(plan.jobs)} points are there already")
    if missing:
        _run(args, sim, missing, store)
    results = [store.get(job.point) or {} for job in plan.jobs]
    head, rows = sweep.table(plan, results)
    try:
        sweep.write(head, rows, out)
    except OSError as e:
        raise UserError(f"--out {out}: {e.strerror}") from e
    say(f"{len(rows)} rows in {out}")
    return 0
