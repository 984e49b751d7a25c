# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd ssh: log in to a guest that runs with --ssh."""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess

from .. import rundir
from ..errors import UserError


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "ssh", help="log in to a guest that ./vssd run --ssh started",
        description="Runs ssh with the port and the key of the guest; what"
        " follows goes to ssh as the command.")
    rundir.add_option(p)
    p.add_argument("--print-command", action="store_true",
                   help="print the ssh command line instead, as for rsync -e")
    p.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND",
                   help="a command (default: a login)")
    p.set_defaults(call=main)


def main(args: argparse.Namespace) -> int:
    """./vssd ssh"""
    from ..guest import links

    run = rundir.find_to_change(args.run)
    port = run.facts.get("ssh_port")
    if not port:
        raise UserError(f"the guest {run.name} has no sshd: start it with"
                        " ./vssd run --ssh")
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    command = links.ssh_command(int(port), *words)
    if args.print_command:
        print(shlex.join(command))
        return 0
    if not shutil.which("ssh"):
        raise UserError("no ssh is installed: install openssh-client")
    return subprocess.run(command, check=False).returncode
