# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd cache: sizes of what is in the cache, and its removal."""

from __future__ import annotations

import argparse
import contextlib

from .. import paths, rundir, ui
from ..errors import UserError
from ..guest import cache

ACTIONS = ("du", "clean", "remove")
MAKERS = ("image", "programs")
BUILDS = ("build-", "model-", "qemu-", "venv-")  # whoever makes one holds a lock of its name
EPILOG = """\
  du             sizes on the disk; what clean would remove is marked "old"
  clean          remove what no clone needs: half-made files, builds of clones
                 that have gone, images of another recipe, old programs
  remove NAME    remove these entries, by the names that du shows
  remove --all   remove the whole cache, with the writes of guests that are kept

clean and remove are refused while guests or tests run.  docs/cache.md has the contents.
"""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "cache", help="show the cache's size, clean or remove it",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("action", choices=ACTIONS)
    p.add_argument("names", nargs="*", metavar="NAME",
                   help="with remove: an entry of the cache")
    p.add_argument("--all", action="store_true",
                   help="with remove: every entry")
    p.add_argument("--dry-run", action="store_true",
                   help="with clean and remove: only say what would go")
    p.set_defaults(call=main, check_arguments=check)


def check(args: argparse.Namespace) -> None:
    """Refuse what makes no sense."""
    if args.action != "remove" and args.names:
        raise UserError(f"cache {args.action}: what is {args.names[0]!r}?  It"
                        " takes nothing")
    if args.action != "remove" and args.all:
        raise UserError("--all goes with cache remove only")
    if args.action == "du" and args.dry_run:
        raise UserError("--dry-run goes with cache clean and remove only")
    if args.action == "remove" and bool(args.names) == args.all:
        raise UserError("cache remove: give NAMEs of ./vssd cache du, or --all")


def size_text(nbytes: int) -> str:
    """As 413 MiB."""
    return f"{nbytes / (1 << 30):.1f} GiB" if nbytes >= 1 << 30 \
        else f"{(nbytes + (1 << 20) - 1) >> 20} MiB"


def show(entries: list[cache.Entry]) -> None:
    """The table of du, the largest first."""
    sizes = {e: e.allocated() for e in entries}
    rows = [[e.path.name, e.kind, "old" if e.old else "", size_text(n)]
            for e, n in sorted(sizes.items(), key=lambda x: -x[1])]
    old = sum(n for e, n in sizes.items() if e.old)
    ui.table(f"{paths.cache_dir()}: {size_text(sum(sizes.values()))},"
             f" of that {size_text(old)} old",
             ["name", "content", "state", "size"], rows)


def chosen(args: argparse.Namespace) -> list[cache.Entry]:
    """The entries that go."""
    entries = cache.entries()
    if args.action == "clean":
        return [e for e in entries if e.old]
    if args.all:
        return entries
    by_name = {e.path.name: e for e in entries}
    for name in args.names:
        if name not in by_name:
            raise UserError(f"cache remove {name}: the cache has no such entry;"
                            " ./vssd cache du lists them")
    return [by_name[name] for name in dict.fromkeys(args.names)]


def remove(entries: list[cache.Entry], dry_run: bool) -> None:
    """One line for each, and the sum."""
    total = 0
    for entry in entries:
        size = entry.allocated()
        total += size
        print(f"{entry.path.name}: {entry.kind}, {size_text(size)}")
        if not dry_run:
            entry.remove()
    ui.say(f"{'would free' if dry_run else 'freed'} {size_text(total)}")


def main(args: argparse.Namespace) -> int:
    """./vssd cache"""
    check(args)
    if args.action == "du":
        show(cache.entries())
        return 0
    if not args.dry_run and (users := rundir.users_of_the_cache()):
        raise UserError(f"cache {args.action}: guests run, stop them first: "
                        + ", ".join(users))
    if args.dry_run:
        remove(chosen(args), True)
        return 0
    with contextlib.ExitStack() as held:
        for name in MAKERS:
            held.enter_context(paths.locked(name))
        entries = chosen(args)
        for entry in entries:
            if entry.path.name.startswith(BUILDS):
                held.enter_context(paths.locked(entry.path.name))
        remove(entries, False)
    return 0
