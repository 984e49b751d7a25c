# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest shares with the host: folders (--share), ports (--forward) and
a login (--ssh): their options, QEMU's arguments and the set-up in the guest.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .. import paths, ranges
from ..errors import UserError
from ..ui import say

ANY_PORT = 0
SSH_PORT = 22
MOST_SHARES = 8
MSIZE = 512 << 10  # bytes of a 9p message
START_SSH = "systemctl start ssh"  # in the built-in guest
TIMEOUT_S = 10


@dataclass(frozen=True)
class Share:
    """A folder of the host, and where the guest has it."""

    folder: Path
    at: str
    read_only: bool
    raw: bool = False  # with set-uid bits, devices and owners of the guest


def add_options(parser: argparse.ArgumentParser) -> None:
    """--share, --ssh, --forward"""
    parser.add_argument(
        "--share", action="append", default=[], metavar="DIR[:PATH][,ro|,raw]",
        help="the guest has this folder of the host at PATH (default: /mnt/ and"
        " the folder's name), by 9p; ro: it cannot write there; raw: set-uid bits,"
        " devices, owners and attributes of the guest reach the host; may be"
        " repeated")
    parser.add_argument(
        "--ssh", nargs="?", type=int, const=ANY_PORT, metavar="PORT",
        help="start sshd in the guest, reached at this port of 127.0.0.1"
        " (default: any that is free) with a key of the cache: ./vssd ssh")
    parser.add_argument(
        "--forward", action="append", default=[], metavar="PORT:GUEST-PORT",
        help="forward a TCP port of 127.0.0.1 to one of the guest; may be"
        " repeated")


def check(args: argparse.Namespace) -> None:
    """Refuse what cannot be done; args.shares and args.ports are the rest."""
    args.shares = [parse_share(text) for text in args.share]
    if len(args.shares) > MOST_SHARES:
        raise UserError(f"--share: given {len(args.shares)} times, allowed"
                        f" 0..{MOST_SHARES}")
    places = [share.at for share in args.shares]
    for at in places:
        if places.count(at) > 1:
            raise UserError(f"--share: two folders would be at {at}; give"
                            " DIR:PATH")
    _check_raw(args.shares)
    args.ports = [parse_forward(text) for text in args.forward]
    if args.ssh is not None:
        if args.ssh != ANY_PORT:
            ranges.check("--ssh", args.ssh, 1, ranges.MOST_PORT)
        args.ports.append((args.ssh, SSH_PORT))
    used = [port for port, _ in args.ports if port != ANY_PORT]
    for port in used:
        if used.count(port) > 1:
            raise UserError(f"port {port} of the host is given twice, by"
                            " --forward or --ssh")
        check_free(port)
    for option in ("share", "forward", "ssh"):
        if getattr(args, option) not in ([], None):
            _check_guest(args, option)


def _check_raw(shares: list[Share]) -> None:
    """The filter is for the whole of QEMU."""
    raw = [share.folder for share in shares if share.raw]
    if raw and any(not (share.raw or share.read_only) for share in shares):
        raise UserError(f"--share {raw[0]},raw: raw holds for the whole guest;"
                        " give each folder ,raw or ,ro")
    if raw and os.geteuid() == 0:
        say(f"warning: --share {raw[0]},raw as root: a guest can put set-uid"
            " programs of root and device nodes there")


def _check_guest(args: argparse.Namespace, option: str) -> None:
    if args.icount:
        raise UserError(f"--{option}: not with --icount, whose runs depend on"
                        " nothing outside")
    if args.disk and option == "ssh":
        raise UserError("--ssh: the built-in guest has the key and sshd; for"
                        " --disk, give --forward PORT:22")
    if args.print_command and option != "forward":
        raise UserError(f"--{option}: not with --print-command: vssd sets it up"
                        " in the guest")


def parse_share(text: str) -> Share:
    """DIR[:PATH][,ro|,raw]"""
    what, comma, flag = text.rpartition(",")
    if not comma or flag not in ("ro", "raw"):
        what, flag = text, ""
    name, colon, at = what.partition(":")
    folder = Path(name).expanduser().resolve()
    if not name or not folder.is_dir():
        raise UserError(f"--share {text}: {name or 'nothing'} is no directory")
    if not colon:
        at = "/mnt/" + (re.sub(r"[^\w.-]", "-", folder.name) or "host")
    if not at.startswith("/") or at.rstrip("/") == "" or "\n" in at:
        raise UserError(f"--share {text}: PATH must be absolute in the guest,"
                        " and not /")
    return Share(folder, at, flag == "ro", flag == "raw")


def parse_forward(text: str) -> tuple[int, int]:
    """PORT:GUEST-PORT"""
    m = re.fullmatch(r"([0-9]{1,18}):([0-9]{1,18})", text)
    if not m:
        raise UserError(f"--forward {text}: give PORT:GUEST-PORT, as 8080:80")
    ports = int(m[1]), int(m[2])
    for port in ports:
        ranges.check(f"--forward {text}: port", port, 1, ranges.MOST_PORT)
    return ports


def check_free(port: int) -> None:
    """Refuse a port of the host that is in use."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
        except OSError as e:
            raise UserError(f"port {port} of 127.0.0.1: {e.strerror}") from e


def free_port() -> int:
    """One that is free now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def with_ports(args: argparse.Namespace) -> list[tuple[int, int]]:
    """The forwarded ports, with one for --ssh that is free."""
    return [(port or free_port(), to) for port, to in args.ports]


def confines(shares: list[Share]) -> bool:
    """Does QEMU run under the filter of confined.py?  A folder that is read
    only needs none beside a raw one."""
    return bool(shares) and not any(share.raw for share in shares)


def share_arguments(shares: list[Share]) -> list[str]:
    """QEMU's arguments; files have the owner that the host gives them, and
    confined.py keeps the rest from the host."""
    args = []
    for i, share in enumerate(shares):
        path = str(share.folder).replace(",", ",,")
        args += ["-fsdev", f"local,id=share{i},path={path},security_model=none"
                 ",multidevs=remap" + (",readonly=on" * share.read_only),
                 "-device", f"virtio-9p-pci,fsdev=share{i},mount_tag=share{i}"]
    return args


def key() -> Path:
    """The private key of --ssh, made once."""
    folder = paths.cache_dir() / "ssh"
    found = folder / "id_ed25519"
    if found.exists():
        return found
    if not shutil.which("ssh-keygen"):
        raise UserError("--ssh needs ssh and ssh-keygen: install"
                        " openssh-client")
    with paths.locked("ssh"):
        if not found.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
            part = folder / "part"
            for old in (part, part.with_suffix(".pub")):
                old.unlink(missing_ok=True)
            done = subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "vssd",
                 "-f", str(part)], stdin=subprocess.DEVNULL,
                capture_output=True, text=True, check=False)
            if done.returncode:
                raise UserError("--ssh: ssh-keygen failed: "
                                + " ".join(done.stderr.split()))
            part.with_suffix(".pub").rename(found.with_suffix(".pub"))
            part.rename(found)
    return found


def ssh_command(port: int, *words: str) -> list[str]:
    """ssh into a guest; its host key is the image's, and nobody's secret."""
    return ["ssh", "-p", str(port), "-i", str(key()), "-o", "IdentitiesOnly=yes",
            "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
            "-o", "LogLevel=ERROR", "-o", f"ConnectTimeout={TIMEOUT_S}",
            "root@127.0.0.1", *words]


def setup_script(shares: list[Share], ssh: bool, start_ssh: str = START_SSH) \
        -> str:
    """What the agent does in the guest before any other command; empty: it is
    not needed."""
    lines = []
    for i, share in enumerate(shares):
        at = shlex.quote(share.at)
        how = f"trans=virtio,version=9p2000.L,msize={MSIZE}"
        lines.append(
            f"mkdir -p {at} && mount -t 9p -o {how}{',ro' * share.read_only}"
            f" share{i} {at} || status=1")
    if ssh:
        public = key().with_suffix(".pub").read_text(encoding="ascii").strip()
        keys = "~root/.ssh/authorized_keys"
        lines += [
            "mkdir -p -m 700 ~root/.ssh",
            f"grep -sqxF {shlex.quote(public)} {keys} ||"
            f" echo {shlex.quote(public)} >>{keys}",
            f"chmod 600 {keys} && {start_ssh} || status=1"]
    return "\n".join(["status=0", *lines, "[ $status = 0 ]"]) if lines else ""
