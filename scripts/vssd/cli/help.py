# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd help: the help of a command, or of a topic."""

from __future__ import annotations

import argparse

from .. import ending, environment
from ..errors import UserError
from ..nearest import hint
from .parsing import children


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser("help", help="print the help of a command or a topic",
                       epilog="Topics: " + ", ".join(TOPICS) + ".")
    p.add_argument("words", nargs="*", metavar="WORD",
                   help="a command and its command, or a topic")
    p.set_defaults(call=main, without_libraries=True)


def environment_text() -> str:
    """The variables of the environment."""
    width = max(map(len, environment.VARIABLES))
    return "Variables of the environment:\n" + "".join(
        f"  {name:{width}}  {text}\n"
        for name, text in environment.VARIABLES.items())


def status_text() -> str:
    """The exit statuses."""
    return "Exit statuses:\n" + "".join(
        f"  {n:3}  {text.replace('`', '')}\n"
        for n, text in ending.STATUSES.items()) \
        + ending.OTHER_STATUSES.replace("`", "") + "\n"


TOPICS = {"environment": environment_text, "status": status_text}


def main(args: argparse.Namespace) -> int:
    """./vssd help"""
    if len(args.words) == 1 and args.words[0] in TOPICS:
        print(TOPICS[args.words[0]](), end="")
        return 0
    p = args.command_parser
    for i, word in enumerate(args.words):
        have = {name: child for name, child, _ in children(p)}
        if word not in have:
            before = " ".join(args.words[:i])
            topics = [] if i else list(TOPICS)
            raise UserError(
                f"help: {before + ': ' if i else ''}no command {word!r}"
                f"{hint(word, [*have, *topics])}: "
                + (f"one of {', '.join([*have, *topics])}" if have
                   else "it has none"))
        p = have[word]
    return int(args.run_again([*args.words, "--help"]))
