# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd compare: two results side by side, with ratios."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from ..errors import UserError, printable
from ..paths import check_input
from ..watch.differences import OF_THE_RUN, origins, rows
from ..watch.result import load_drives

MAIN = ("requests", "errors", "sim_ns", "iops", "bytes_per_s.", "latency_ns.",
        "waf", "nand.reads", "nand.programs", "nand.erases",
        "nand.by_cause.", "gc.", "buffer.", "lateness_ns.")


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "compare", help="show two results side by side, with ratios",
        description="Compares two results, as vssd-sim run --json and"
        " ./vssd run --stats write them, and lists the options and origins in"
        " which they differ.  The ratio is B / A.  Files of a guest with several"
        " drives are compared drive by drive.")
    p.add_argument("a", metavar="A.json")
    p.add_argument("b", metavar="B.json")
    p.add_argument("--drive", metavar="ID",
                   help="of files with several drives: this one, as ssd1")
    p.add_argument("--all", action="store_true",
                   help="every number, also those that are equal or zero")
    p.add_argument("--json", action="store_true",
                   help="JSON on standard output: differs, and rows")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """The files."""
    for name in (args.a, args.b):
        check_input("", name)


def compared(table: list[dict[str, Any]]) -> int:
    """How many numbers both have."""
    return sum(r["a"] is not None and r["b"] is not None for r in table)


def _shown(row: dict[str, Any]) -> bool:
    name = row["name"]
    return any(name == m or m[-1] == "." and name.startswith(m)
               for m in MAIN) and bool(row["a"] or row["b"])


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}"


def _origin(name: str, value: Any) -> str:
    if value is None:
        return "default" if name.startswith("options.") else "-"
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _print(a: dict[str, Any], b: dict[str, Any], names: tuple[str, str],
           every: bool) -> None:
    from ..ui import table

    for what in OF_THE_RUN:
        x, y = a.get(what), b.get(what)
        if x is not None or y is not None:
            print(printable(f"{what}: {x}" if x == y
                            else f"{what}: {x} | {y}"))
    differ = [r for r in origins(a, b) if r["name"] not in OF_THE_RUN]
    if differ:
        table("differs", ["origin", *names],
              [[r["name"], *(_origin(r["name"], r[n]) for n in ("a", "b"))]
               for r in differ])
    found = rows(a, b)
    table("", ["what", *names, "B / A"],
          [[r["name"], _cell(r["a"]), _cell(r["b"]),
            "=" if r["a"] == r["b"] else _cell(r["ratio"])]
           for r in found if every or _shown(r)])
    equal = sum(r["a"] == r["b"] for r in found)
    print(f"compared: {compared(found)} numbers, {equal} of them equal")


def pairs(args: argparse.Namespace) \
        -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """What is to be compared, by drive; "": the files have one each."""
    a, b = (load_drives(name, args.drive) for name in (args.a, args.b))
    if len(a) == len(b) == 1:
        (x,), (y,) = a.values(), b.values()
        found = {args.drive or "": (x, y)}
    elif a.keys() == b.keys():
        found = {i: (a[i], b[i]) for i in a}
    else:
        have = [", ".join(x) or "one drive" for x in (a, b)]
        raise UserError(f"{args.a} has {have[0]}, {args.b} has {have[1]}: name"
                        " the one to compare with --drive ID")
    return found


def _json(found: dict[str, tuple[dict[str, Any], dict[str, Any]]]) \
        -> dict[str, Any]:
    def every(make: Callable[..., list[dict[str, Any]]]) \
            -> list[dict[str, Any]]:
        return [{**({"drive": i} if i else {}), **row}
                for i, (a, b) in found.items() for row in make(a, b)]

    table = every(rows)
    first, _ = next(iter(found.values()))
    return {"schema_version": first["schema_version"],
            "compared": compared(table), "differs": every(origins),
            "rows": table}


def main(args: argparse.Namespace) -> int:
    """./vssd compare"""
    found = pairs(args)
    for i, (a, b) in found.items():
        if not compared(rows(a, b)):
            raise UserError(
                f"{args.a} and {args.b}" + (f", drive {i}," if i else "")
                + " have no number in common, so nothing was compared: give two"
                " results of one kind")
    if args.json:
        json.dump(_json(found), sys.stdout, indent=2)
        print()
        return 0
    for i, (a, b) in found.items():
        if i:
            print(f"drive {i}")
        _print(a, b, ("A", "B"), args.all)
    return 0
