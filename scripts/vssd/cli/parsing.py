# SPDX-License-Identifier: GPL-2.0-or-later
"""The parsers of the vssd command: their errors, their help, and what all
commands have.

Help, completion and man pages are made from the parsers, so that a new command
has them without a line of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from .. import ending
from ..errors import one_line
from ..nearest import hint


class Parser(argparse.ArgumentParser):
    """argparse's, with errors of one line, coloured help, and options at any
    place: argparse alone ends the arguments of a command at an option."""

    intermixes = True  # false within parse_known_intermixed_args()

    def parse_known_args(  # type: ignore[override]
            self, args: Sequence[str] | None = None,
            namespace: argparse.Namespace | None = None) \
            -> tuple[argparse.Namespace, list[str]]:
        """With options between the arguments, unless what follows an argument
        belongs to another program or to a command of this one."""
        if not self.intermixes or "--" in (args or ()) or any(
                a.nargs in (argparse.PARSER, argparse.REMAINDER)
                for a in self._actions):
            found, rest = super().parse_known_args(args, namespace)
        else:
            self.intermixes = False
            try:
                found, rest = self.parse_known_intermixed_args(args, namespace)
            finally:
                self.intermixes = True
        if rest and self.intermixes and not any(children(self)):
            # The command that was given, not the program, lacks the option.
            self.error("unrecognized arguments: " + " ".join(rest))
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as e:
            near = hint(str(value), map(str, action.choices or ()))
            e.message = e.message.replace(" (choose", f"{near} (choose", 1)
            raise

    def _option_hint(self, message: str) -> str:
        """What may be meant by an option that is not there."""
        given = re.match(r"unrecognized arguments: .*?--([^\s=]+)", message)
        return hint(given[1], (name[2:] for name in self._option_string_actions
                               if name.startswith("--")), "--") if given else ""

    def error(self, message: str) -> NoReturn:
        """Status 2, as usual."""
        name = self.prog.removeprefix("vssd").strip()
        message += self._option_hint(message)
        print(f"vssd: {name + ': ' if name else ''}{one_line(message)}"
              f" (./{self.prog} --help says more)", file=sys.stderr)
        raise SystemExit(ending.USAGE)

    def format_help(self) -> str:
        """In colours where that is useful and possible."""
        if wants_colours():
            self.formatter_class = coloured(self.formatter_class)
        return super().format_help()


def wants_colours() -> bool:
    """Is standard output a terminal whose user has not said no?"""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ \
        and os.environ.get("TERM") != "dumb"


def coloured(plain: Any) -> Any:
    """The class of rich-argparse for a formatter's; the same without it."""
    try:
        import rich_argparse
    except ImportError:  # the environment is not made yet
        return plain
    raw = issubclass(plain, argparse.RawDescriptionHelpFormatter)
    base = rich_argparse.RawDescriptionRichHelpFormatter if raw \
        else rich_argparse.RichHelpFormatter
    # Brackets in our texts are no markup.
    return type("Coloured", (base,), {"help_markup": False,
                                      "text_markup": False})


def children(p: argparse.ArgumentParser) \
        -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    """The commands of a parser: name, parser, one line of help."""
    for action in p._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {a.dest: a.help or "" for a in action._choices_actions}
            for name, child in action.choices.items():
                yield name, child, helps.get(name, "")


def show_group(p: argparse.ArgumentParser,
               sub: argparse._SubParsersAction[Any], title: str) -> None:
    """List the commands that are in no group yet under a title: argparse has
    one list for all."""
    shown = [a for g in p._action_groups for a in g._group_actions]
    if sub in p._positionals._group_actions:
        p._positionals._group_actions.remove(sub)
    group = p.add_argument_group(title)
    group._group_actions += [a for a in sub._choices_actions if a not in shown]


def every(p: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser, and those of all its commands and their commands."""
    yield p
    for _, child, _ in children(p):
        yield from every(child)


def add_quiet(p: argparse.ArgumentParser) -> None:
    """--quiet, before and after the command's name."""
    for one in every(p):
        # Without its help another program reads the options.
        if one.add_help and "--quiet" not in one._option_string_actions:
            top = one is p
            one.add_argument(
                "--quiet", action="store_true",
                default=False if top else argparse.SUPPRESS,
                help="no progress and no notes on standard error, errors alone")
