# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of vssd-sim on a Dask cluster.

The program and the profile travel with the work.  The scheduler gives the task
of a worker that dies to another one, until several have died of the same task.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import UserError, one_line
from ..paths import key_of
from .run import Point

CONNECT_S = 20
Answer = tuple[int, str, str]  # status, output, errors of vssd-sim


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


def _sent(client: Any) -> Callable[..., Answer]:
    """simremote.run as a function that the cluster knows, too."""
    file = Path(__file__).with_name("simremote.py")
    spec = importlib.util.spec_from_file_location("simremote", file)
    assert spec and spec.loader
    module = sys.modules["simremote"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    client.upload_file(str(file))
    run: Callable[..., Answer] = module.run
    return run


def answers(address: str, sim: Path, points: list[Point],
            done: Callable[[Point, Answer], None]) -> None:
    """Run the points; done() as they end.  A task that failed on the cluster has
    status -1, and the cluster's words as errors."""
    import distributed

    program = sim.read_bytes()
    name = "vssd-sim-" + key_of(program)
    with _client(address) as client:
        run = _sent(client)
        shared = client.scatter(program, broadcast=True, hash=False)
        waiting = {}
        for point in points:
            profile = point.profile.read_bytes()
            future = client.submit(
                run, name, shared,
                f"{key_of(profile)}-{point.profile.name}", profile,
                point.arguments(), pure=False)
            waiting[future] = point
        for future in distributed.as_completed(list(waiting),
                                               loop=client.loop):
            point = waiting.pop(future)
            try:
                answer = future.result()
            except Exception as e:
                answer = (-1, "", f"--scheduler {address}: {one_line(str(e))}")
            done(point, answer)
