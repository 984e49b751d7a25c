# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd model: learn a black-box model of a drive, predict with it, judge
it."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vssd import ranges, sizes
from vssd.build import model as build
from vssd.build import venv
from vssd.errors import UserError
from vssd.paths import check_output, find_profile
from vssd.sim.run import Runner
from vssd.ui import Stage, say, table

if TYPE_CHECKING:
    from ..figures.blackbox_file import ModelFile
    from ..figures.blackbox_model import Runs

DISK = "HDD_S"
MOST = 6000  # requests of a run
WINDOW = 1000  # requests of a trace that make one prediction
LEAST_RUNS = 20
FRESH = 1  # added to a model's seed: runs that it has not learnt


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "model", help="learn a black-box model of a drive, predict with it",
        description="Learns regression trees from benchmark runs of a profile"
        " (Huang 2011), and predicts latency, bandwidth and requests per"
        " second of a workload or a trace, with the expected error"
        " (docs/lab/model.md).")
    commands = p.add_subparsers(title="commands", metavar="COMMAND",
                                required=True)
    _train_parser(commands)
    _predict_parser(commands)
    _evaluate_parser(commands)


def _common(p: argparse.ArgumentParser, call: Callable[..., int],
            plays: bool) -> None:
    if plays:
        p.add_argument("--jobs", type=int, default=0, metavar="N",
                       help="runs at a time (default: the cores)")
    p.add_argument("--json", action="store_true",
                   help="the result as JSON on standard output")
    p.set_defaults(call=call)


def _train_parser(sub: Any) -> None:
    p = sub.add_parser("train", help="benchmark a drive and learn it")
    p.add_argument("--profile", required=True, metavar="P",
                   help=f"profile of the drive; {DISK}: the disk of the"
                   " figure blackbox")
    p.add_argument("--out", required=True, metavar="FILE",
                   help="where the model goes (JSON)")
    p.add_argument("--runs", type=int, default=3000, metavar="N",
                   help="runs with one size of reads and of writes (default:"
                   " %(default)s; the paper has 12000)")
    p.add_argument("--mixed", type=int, default=None, metavar="N",
                   help="runs with several sizes (default: a quarter of"
                   " --runs)")
    p.add_argument("--full", type=float, default=0.7, metavar="SHARE",
                   help="share of the capacity that is written, then"
                   " overwritten at random, before the runs (default:"
                   " %(default)s)")
    p.add_argument("--seconds", type=float, default=1.0, metavar="S",
                   help="modelled time of a run (default: %(default)s)")
    p.add_argument("--drives", type=int, default=1, metavar="N",
                   help="so many of these drives side by side (RAID 0)")
    p.add_argument("--stripe", default="", metavar="SIZE",
                   help="with --drives: bytes on one drive before the next"
                   " (default: 64k)")
    p.add_argument("--seed", type=int, default=2011, metavar="N",
                   help="of the workloads (default: %(default)s)")
    _common(p, train, True)


def _of_trace(p: argparse.ArgumentParser) -> None:
    p.add_argument("--iodepth", type=int, default=None, metavar="N",
                   help="with --trace: requests in flight")
    p.add_argument("--window", type=int, default=None, metavar="N",
                   help="with --trace: requests of a prediction (default:"
                   f" {WINDOW})")


def _predict_parser(sub: Any) -> None:
    p = sub.add_parser("predict", help="tell how a workload would run")
    p.add_argument("file", metavar="FILE", help="of ./vssd model train")
    what = p.add_mutually_exclusive_group(required=True)
    what.add_argument("--trace", metavar="T", help="a trace (docs/traces.md)")
    what.add_argument("--features", metavar="NAME=VALUE,...",
                      help="characteristics: wr_ratio, q_dep, wr_size,"
                      " rd_size, wr_rand, rd_rand, wr_stride, rd_stride")
    _of_trace(p)
    _common(p, predict, False)


def _evaluate_parser(sub: Any) -> None:
    p = sub.add_parser("evaluate", help="compare predictions with new runs")
    p.add_argument("file", metavar="FILE", help="of ./vssd model train")
    p.add_argument("--profile", metavar="P",
                   help="play on this drive instead of the one that was"
                   " learnt")
    p.add_argument("--trace", metavar="T",
                   help="play windows of a trace instead of new synthetic"
                   " runs")
    p.add_argument("--runs", type=int, default=200, metavar="N",
                   help="new runs, or windows at most (default: %(default)s)")
    _of_trace(p)
    _common(p, evaluate, True)


# ---- checks ----------------------------------------------------------------------


def _check_train(args: argparse.Namespace) -> None:
    if args.mixed is None:
        args.mixed = args.runs // 4
    ranges.check("--runs", args.runs, LEAST_RUNS, 10**6)
    ranges.check("--mixed", args.mixed, 0, 10**6)
    ranges.check("--full", args.full, 0.01, 1)
    ranges.check("--seconds", args.seconds, 1e-3, 3600)
    ranges.check("--drives", args.drives, 1, 64)
    ranges.check("--seed", args.seed, 0, 2**62)
    ranges.check_jobs(args.jobs)
    if args.stripe and args.drives == 1:
        raise UserError("--stripe: only with --drives of 2 or more")
    if args.profile == DISK and args.drives > 1:
        raise UserError(f"--drives: not with {DISK}")
    check_output("--out", args.out)


def _check_trace(args: argparse.Namespace) -> None:
    for name in ("iodepth", "window"):
        if not args.trace and getattr(args, name) is not None:
            raise UserError(f"--{name}: only with --trace")
    if not args.trace:
        return
    if args.window is None:
        args.window = WINDOW
    if args.iodepth is None:
        raise UserError("--trace: give --iodepth, too: a trace does not say"
                        " how many requests are in flight")
    if not Path(args.trace).is_file():
        raise UserError(f"--trace {args.trace}: no such file")
    ranges.check("--iodepth", args.iodepth, 1, 65536)
    ranges.check("--window", args.window, 10, 10**9)


# ---- drives ----------------------------------------------------------------------


def _device(args: argparse.Namespace, runner: Runner, scratch: Path) -> Any:
    from ..figures import blackbox_runs as br

    if args.profile == DISK:
        return replace(br.hard_disk(args.full), seconds=args.seconds,
                       most=MOST)
    profile = find_profile(args.profile)
    with Stage(f"filling {profile.stem}"):
        device = br.age(runner, profile, profile.stem, args.full, scratch)
    device = replace(device, seconds=args.seconds, most=MOST)
    if args.drives > 1:
        device = br.side_by_side(device, args.drives, args.stripe or "64k")
    return device


def _again(model: ModelFile, profile: str | None, runner: Runner,
           scratch: Path) -> Any:
    """The drive that was learnt, or another one in the same state."""
    t = model.training
    name = profile or t.device
    if not profile and t.profile:
        path = scratch / f"{t.device}.ini"
        path.write_text(t.profile, encoding="utf-8")
        name = str(path)
    return _device(argparse.Namespace(
        profile=name, full=t.full, seconds=t.seconds, drives=t.drives,
        stripe=t.stripe), runner, scratch)


# ---- train -----------------------------------------------------------------------


def train(args: argparse.Namespace) -> int:
    """./vssd model train"""
    _check_train(args)
    venv.extra("figures")
    venv.extra("blackbox")
    from ..figures import blackbox_file as bf
    from ..figures import blackbox_model as bb
    from ..figures import blackbox_runs as br

    runner = Runner(build.sim(), args.jobs)
    with tempfile.TemporaryDirectory(prefix="vssd-model-") as folder:
        scratch = Path(folder)
        device = _device(args, runner, scratch)
        runs = br.synthetic(runner, scratch, device, "benchmark runs",
                            args.runs, args.seed)
        if args.mixed:
            runs = bb.join(runs, br.synthetic(
                runner, scratch, device, "runs of several sizes", args.mixed,
                args.seed, br.Ranges(mixed=4)))
        text = device.profile.read_text("utf-8") if device.profile else ""
    training = bf.Training(
        device.name, text, args.full, args.seconds, args.runs, args.mixed,
        args.seed, device.drives, device.stripe, device.span, bf.ranges(runs))
    with Stage("learning"):
        model = bf.ModelFile(training, *(
            bb.Model.learn(names, runs, jobs=runner.jobs)
            for names in (bb.BASIC, bb.EXTENDED)))
    model.save(Path(args.out))
    say(f"wrote {args.out}")
    rows = {name: {t: vars(s) for t, s in m.scores.items()} for name, m in (
        ("basic", model.basic), ("extended", model.extended))}
    _print_scores(f"Error of the models of {device.name}, cross-validated"
                  f" ({len(runs)} runs)", rows, args.json)
    return 0


def _print_scores(title: str, rows: dict[str, dict[str, Any]],
                  as_json: bool) -> None:
    from ..figures.blackbox_model import UNITS

    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table(title, ["model", "target", "R2", "MAE", "mean", "MRE"],
          [[name, f"{t}, {UNITS[t]}", f"{s['r2']:.3f}", f"{s['mae']:.4g}",
            f"{s['mean']:.4g}", f"{100 * s['mre']:.1f} %"]
           for name, scores in rows.items() for t, s in scores.items()])


# ---- predict ---------------------------------------------------------------------

ABSENT = {"wr": 0.0, "rd": 1.0}  # wr_ratio without requests of the kind


def _value(name: str, text: str) -> float:
    """A number; a size may have a unit, as 4k."""
    if name.endswith(("size", "stride")) and text[-1:].isalpha():
        return sizes.read(f"--features {name}=", text, 0, 2**40)
    try:
        value = float(text)
    except ValueError:
        raise UserError(f"--features {name}={text}: give a number") from None
    high = 1 if name.endswith(("ratio", "rand")) else 2**40
    low = 1 if name == "q_dep" else 0
    ranges.check(f"--features {name}=", value, low, high)
    return value


def features(text: str) -> dict[str, float]:
    """Of --features; those of a kind of request that does not occur may be
    left out."""
    from ..figures.blackbox_model import EXTENDED

    out: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        if name not in EXTENDED or not equals or name in out:
            raise UserError(f"--features {part}: give each of "
                            + ", ".join(EXTENDED) + " once, as NAME=VALUE")
        out[name] = _value(name, value)
    for kind, ratio in ABSENT.items():
        if out.get("wr_ratio") == ratio:
            for name in EXTENDED:
                if name.startswith(kind + "_") and name != "wr_ratio":
                    out[name] = 0.0
    missing = [n for n in EXTENDED if n not in out]
    if missing:
        raise UserError(f"--features: {missing[0]} is missing")
    return out


def _windows(args: argparse.Namespace, span: int) -> list[Any]:
    """The windows of --trace, in the part of the drive that is used."""
    from ..figures import blackbox_input as fi
    from ..figures import readers
    from ..figures import traces as ft

    trace = readers.read(Path(args.trace))
    if "sizes" in trace.lacks:
        raise UserError(f"--trace {args.trace}: it has no sizes of requests")
    trace = fi.fold(trace, span)
    n = max(len(trace) // args.window, 1)
    return [ft.part(trace, i * args.window, (i + 1) * args.window)
            for i in range(n)]


def predict(args: argparse.Namespace) -> int:
    """./vssd model predict"""
    _check_trace(args)
    venv.extra("figures")
    from ..figures import blackbox_features as bft
    from ..figures import blackbox_file as bf
    from ..figures import blackbox_model as bb

    model = bf.load(args.file)
    if args.features:
        seen = [features(args.features)]
    else:
        seen = [bft.features(w, args.iodepth)
                for w in _windows(args, model.training.span)]
    rows = [{"features": {n: x[n] for n in bb.EXTENDED},
             "outside": model.outside(x),
             **{t: model.extended.expect(t, x) for t in bb.TARGETS}}
            for x in seen]
    if args.json:
        print(json.dumps(rows, indent=2))
    else:
        _print_predictions(model, rows)
    return 0


def _print_predictions(model: ModelFile, rows: list[dict[str, Any]]) -> None:
    from ..figures.blackbox_model import TARGETS, UNITS

    n = len(rows)
    out = []
    for t in TARGETS:
        values = [r[t]["value"] for r in rows]
        error = sum(r[t]["absolute_error"] for r in rows) / n
        least = min(r[t]["runs"] for r in rows)
        row = [f"{t}, {UNITS[t]}", f"{sum(values) / n:.4g}",
               f"{error:.2g}",
               f"{100 * sum(r[t]['relative_error'] for r in rows) / n:.1f} %",
               str(least)]
        out.append(row if n == 1 else
                   [*row, f"{min(values):.4g}", f"{max(values):.4g}"])
    table(f"Prediction for {model.training.device}"
          + (f", mean of {n} windows" if n > 1 else ""),
          ["target", "value", "+/-", "error", "runs in the leaf"]
          + (["least", "most"] if n > 1 else []), out)
    outside = sorted({w.partition("=")[0] for r in rows for w in r["outside"]})
    if outside:
        say("beyond what was learnt, where trees know nothing: "
            + (", ".join(rows[0]["outside"]) if n == 1
               else ", ".join(outside)))


# ---- evaluate --------------------------------------------------------------------


def evaluate(args: argparse.Namespace) -> int:
    """./vssd model evaluate"""
    _check_trace(args)
    ranges.check("--runs", args.runs, 2, 10**6)
    ranges.check_jobs(args.jobs)
    venv.extra("figures")
    from ..figures import blackbox_file as bf
    from ..figures import blackbox_model as bb

    model = bf.load(args.file)
    runner = Runner(build.sim(), args.jobs)
    with tempfile.TemporaryDirectory(prefix="vssd-model-") as folder:
        device = _again(model, args.profile, runner, Path(folder))
        runs = _new_runs(args, model, runner, device, Path(folder))
    rows: dict[str, dict[str, Any]] = {}
    for name, m in (("basic", model.basic), ("extended", model.extended)):
        rows[name] = {t: vars(bb.score(runs.y[t], m.predict(t, runs)))
                      for t in bb.TARGETS}
        rows[f"{name}, expected"] = {t: vars(s) for t, s in m.scores.items()}
    _print_scores(f"{model.training.device} told, {device.name} observed:"
                  f" {len(runs)} runs; expected: cross-validated when it was"
                  " learnt", rows, args.json)
    return 0


def _new_runs(args: argparse.Namespace, model: ModelFile, runner: Runner,
              device: Any, scratch: Path) -> Runs:
    from ..figures import blackbox_runs as br

    if not args.trace:
        return br.synthetic(runner, scratch, device, "new runs", args.runs,
                            model.training.seed + FRESH)
    windows = _windows(args, device.span)[:args.runs]
    if len(windows) < 2:
        raise UserError(f"--trace {args.trace}: one window of {args.window}"
                        " requests is too few to judge; lower --window")
    return br.play_windows(runner, scratch, device, windows, args.iodepth)
