# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd policy: write and test policies from outside (docs/policies-outside.md)."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from .. import installed, ranges
from ..errors import UserError
from ..paths import PROJECT

EPILOG = """\
  ./vssd policy new gc mine
  cc -O2 -shared -fPIC -I ftl mine.c -o mine.so
  ./vssd policy test mine.so
"""
EXAMPLES = {"gc": "greedy", "alloc": "stripe", "buffer": "lru",
            "placement": "hot-cold", "map": "slru-map"}


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "policy", help="write and test policies that are shared objects",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = p.add_subparsers(title="actions", metavar="ACTION", required=True)
    new = verbs.add_parser("new", help="write NAME.c, from the example of the kind")
    new.add_argument("kind", choices=tuple(EXAMPLES), metavar="KIND",
                     help=", ".join(EXAMPLES))
    new.add_argument("name", metavar="NAME", help="letters, digits and -")
    new.set_defaults(call=make, without_libraries=True)
    test = verbs.add_parser(
        "test", help="run the checks of listed policies on a shared object")
    test.add_argument("file", type=Path, metavar="FILE.so")
    test.add_argument("--runs", type=int, default=40, metavar="N",
                      help="random drives of each swarm (default: 40)")
    test.set_defaults(call=check)


def make(args: argparse.Namespace) -> int:
    """./vssd policy new"""
    if not re.fullmatch(r"[A-Za-z0-9-]{1,40}", args.name):
        raise UserError(f"NAME={args.name}: allowed 1 to 40 letters, digits and -")
    to = Path(f"{args.name}.c")
    example = EXAMPLES[args.kind]
    text = (PROJECT / f"lib/examples/policies/{example}.c").read_text(
        encoding="utf-8")
    text = text.replace(f"{example}.c", to.name).replace(
        f"{example}.so", f"{args.name}.so").replace(
        f'.name = "{example}"', f'.name = "{args.name}"')
    try:
        with open(to, "x", encoding="utf-8") as f:
            f.write(text)
    except FileExistsError:
        raise UserError(f"{to}: is there already") from None
    except OSError as e:
        raise UserError(f"{to}: {e.strerror}") from None
    print(f"{to}: a policy of the kind {args.kind}; its first comment has the"
          " compiler's command")
    return 0


def check(args: argparse.Namespace) -> int:
    """./vssd policy test"""
    from ..sim import policytest

    installed.needs_sources("policy test")
    ranges.check("--runs", args.runs, 1)
    failed = 0
    for name, found in policytest.run(args.file, args.runs):
        failed += found.why is not None
        print(f"{'FAIL' if found.why else 'ok':<5}{name}:"
              f" {found.why or found.did}", flush=True)
    if failed:
        raise UserError(f"{args.file}: {failed} of {len(policytest.CHECKS)}"
                        " checks failed")
    print(f"{args.file}: all {len(policytest.CHECKS)} checks passed")
    return 0
