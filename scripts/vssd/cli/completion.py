# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd completion: the completion of this command for a shell."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..paths import PROJECT
from .parsing import every

SHELLS = ("bash", "zsh", "fish")
EPILOG = """\
  bash  ./vssd completion bash > ~/.local/share/bash-completion/completions/vssd
  zsh   ./vssd completion zsh > DIR/_vssd, with DIR in fpath before compinit
  fish  ./vssd completion fish > ~/.config/fish/completions/vssd.fish
"""
FILES = ("FILE", "LOG", "DIR", "FOLDER")


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "completion", help="print a shell's completion of this command",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("shell", choices=SHELLS, metavar="SHELL",
                   help="one of " + ", ".join(SHELLS))
    p.set_defaults(call=main, without_libraries=True)


def profiles() -> list[str]:
    """The names of the shipped profiles."""
    return sorted(p.stem for p in (PROJECT / "profiles").glob("*.ini"))


def text(top: argparse.ArgumentParser, shell: str) -> str:
    """The completion, of whatever the parsers have."""
    import shtab

    for parser in every(top):
        for action in parser._actions:
            if action.choices is None and action.nargs != 0:
                _complete(action, shtab.FILE, shtab.DIRECTORY)
    return str(shtab.complete(top, shell=shell)).rstrip("\n") + "\n"


def _complete(action: argparse.Action, file: object, folder: object) -> None:
    """Tell shtab what the values of an option are."""
    if action.dest == "profile":
        action.choices = profiles()
    elif action.metavar in ("DIR", "FOLDER"):
        action.complete = folder  # type: ignore[attr-defined]
    elif action.type is Path or action.metavar in FILES:
        action.complete = file  # type: ignore[attr-defined]


def main(args: argparse.Namespace) -> int:
    """./vssd completion"""
    args.need_library("shtab")
    print(text(args.command_parser, args.shell), end="")
    return 0
