# SPDX-License-Identifier: GPL-2.0-or-later
"""A learnt model as a file: its trees, what it was learnt from, and the drive,
so that it can be judged again.  JSON: reading one runs no code.

Knows files and models; knows no command line.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from vssd.errors import UserError
from vssd.paths import replacing

from . import blackbox_model as bb

VERSION = 1


@dataclass(frozen=True)
class Training:
    """What a model was learnt from."""

    device: str  # a profile's name, or HDD_S
    profile: str  # its text; empty: the disk
    full: float  # share of the capacity that was used
    seconds: float  # modelled time of a run
    runs: int  # with one size of reads and of writes,
    mixed: int  # and with several sizes
    seed: int
    drives: int
    stripe: str
    span: int  # bytes that were used
    ranges: dict[str, list[float]]  # of each characteristic: least, most


def ranges(runs: bb.Runs) -> dict[str, list[float]]:
    """Of the characteristics of runs."""
    return {n: [float(np.min(runs.x[n])), float(np.max(runs.x[n]))]
            for n in bb.EXTENDED}


@dataclass(frozen=True)
class ModelFile:
    """Both models, and where they come from."""

    training: Training
    basic: bb.Model
    extended: bb.Model

    def outside(self, row: dict[str, float]) -> list[str]:
        """In words, the characteristics beyond those that were learnt: trees
        know nothing there."""
        return [f"{n}={row[n]:g} (learnt: {low:g} to {high:g})"
                for n, (low, high) in self.training.ranges.items()
                if not low <= row[n] <= high]

    def save(self, path: Path) -> None:
        """Write it: wholly, or not at all."""
        text = json.dumps({
            "vssd_model": VERSION, "training": asdict(self.training),
            "basic": self.basic.to_json(),
            "extended": self.extended.to_json()})
        try:
            with replacing(path) as f:
                f.write(text.encode() + b"\n")
        except OSError as e:
            raise UserError(f"--out {path}: {e.strerror}") from e


def _training(d: dict[str, Any]) -> Training:
    names = {f.name for f in fields(Training)}
    if set(d) != names or set(d["ranges"]) != set(bb.EXTENDED):
        raise ValueError("training")
    return Training(**d)


def load(name: str) -> ModelFile:
    """The model of that file; UserError says why it is none."""
    try:
        d = json.loads(Path(name).read_bytes())
    except OSError as e:
        raise UserError(f"{name}: {e.strerror}") from e
    except ValueError as e:
        raise UserError(f"{name}: no JSON; give a file that ./vssd model train"
                        " wrote") from e
    if not isinstance(d, dict) or "vssd_model" not in d:
        raise UserError(f"{name}: no model; give a file that ./vssd model"
                        " train wrote")
    if d["vssd_model"] != VERSION:
        raise UserError(f"{name}: model of version {d['vssd_model']}, this"
                        f" vssd reads {VERSION}: train it again")
    try:
        return ModelFile(_training(d["training"]),
                         bb.Model.from_json(d["basic"]),
                         bb.Model.from_json(d["extended"]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as e:
        raise UserError(f"{name}: damaged model ({e}); train it again") from e
