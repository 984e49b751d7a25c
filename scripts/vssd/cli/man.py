# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd man: the man pages of this command, one for each of its commands."""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

from .. import ending, environment, origin
from ..errors import UserError, one_line
from .parsing import children

MACRO = re.compile(r"\.(TH|SH|SS|TP|B|RS|RE|U[RE]|nf|fi)\b")
MANUAL = "vssd, a virtual SSD"
SIM = "sim"  # another program reads its options


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "man", help="write the man pages of this command",
        epilog="Show one: ./vssd man --page run | man -l -")
    to = p.add_mutually_exclusive_group(required=True)
    to.add_argument("--out", type=Path, metavar="DIR",
                    help="write vssd.1 and vssd-COMMAND.1 there")
    to.add_argument("--page", metavar="NAME",
                    help="print one page: vssd, or a command")
    p.add_argument("--sim-program", type=Path, metavar="FILE",
                   help="the vssd-sim whose help the page of sim has; without,"
                   " that page names --help")
    p.set_defaults(call=main, without_libraries=True)


def escaped(text: str) -> str:
    """Text for roff."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")


def _listed(rows: dict[str, str]) -> str:
    return "\n".join(f".TP\n\\fB{escaped(name)}\\fR\n{escaped(text)}"
                     for name, text in rows.items())


def guarded(page: str) -> str:
    """Text at the start of a line that roff would take for a macro is not
    one; a date has plain hyphens."""
    lines = page.split("\n")
    lines[0] = lines[0].replace("\\-", "-")
    return "\n".join("\\&" + line if line[:1] in (".", "'")
                     and not MACRO.match(line) else line for line in lines)


def _page(p: argparse.ArgumentParser, name: str, what: str,
          sections: dict[str, str]) -> str:
    from argparse_manpage.manpage import Manpage

    page = Manpage(p, {"project_name": "vssd", "version": origin.version(),
                       "manual_title": MANUAL, "description": what},
                   format="single-commands-section")
    page.prog = name
    for heading, content in sections.items():
        page.add_section(heading, "=", content)
    return guarded(str(page)).replace(".SH COMMENTS\n", ".SH NOTES\n")


def _overview(top: argparse.ArgumentParser) -> str:
    only = argparse.ArgumentParser(
        prog="vssd", description=top.description,
        usage="vssd [--version] [--quiet] COMMAND ...",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = {f"{name}": text for name, _, text in children(top)}
    statuses = {str(n): text for n, text in ending.STATUSES.items()}
    return _page(only, "vssd", "a virtual SSD for guests and traces", {
        "commands": "Each has a page, vssd\\-COMMAND(1).\n"
                    + _listed(commands),
        "environment": _listed(environment.VARIABLES),
        "exit status": _listed(statuses)
        + f"\n.TP\nothers\n{escaped(ending.OTHER_STATUSES)}"})


def sim_text(program: Path | None) -> str:
    """The options of vssd-sim, in its own words."""
    if program is None:
        return "vssd sim \\-\\-help, and vssd sim COMMAND \\-\\-help, list them."
    first = _said(program, "--help")
    names = re.findall(r"^  ([a-z]+) ", first, re.M)
    parts = [first, *(_said(program, name, "--help") for name in names)]
    return "\n".join(f".nf\n{escaped(part)}\n.fi" for part in parts)


def _said(program: Path, *args: str) -> str:
    try:
        done = subprocess.run([program, *args], capture_output=True, text=True,
                              check=False)
    except OSError as e:
        raise UserError(f"--sim-program {program}: {e.strerror}") from e
    if done.returncode:
        raise UserError(f"--sim-program {program}: " + one_line(done.stderr))
    return done.stdout.strip("\n")


def pages(top: argparse.ArgumentParser, sim_program: Path | None) \
        -> dict[str, str]:
    """Each page by its name, without section."""
    out = {"vssd": _overview(top)}
    for name, p, text in children(top):
        sections = {"see also": "vssd(1)"}
        if name == SIM:
            sections["options"] = sim_text(sim_program)
        out[f"vssd-{name}"] = _page(p, f"vssd-{name}", text, sections)
    return out


def main(args: argparse.Namespace) -> int:
    """./vssd man"""
    known = {"vssd", *(f"vssd-{name}" for name, _, _ in children(args.command_parser))}
    if args.page and args.page not in known and f"vssd-{args.page}" not in known:
        raise UserError(f"--page {args.page}: no such command")
    if args.out and not args.out.is_dir():
        raise UserError(f"--out {args.out}: no such directory")
    args.need_library("argparse_manpage")
    made = pages(args.command_parser, args.sim_program)
    if args.page:
        print(made.get(args.page) or made[f"vssd-{args.page}"], end="")
        return 0
    for name, text in made.items():
        (args.out / f"{name}.1").write_text(text, encoding="utf-8")
    return 0
