# SPDX-License-Identifier: GPL-2.0-or-later
"""The headers that QEMU's build generates and the device includes.

    headers.py SOURCE OUT [--config FILE]

SOURCE is the source tree of a QEMU, OUT the folder of the headers, and of
trace-hw_ssd.c, which has the trace events.  QEMU's own generators of its QAPI types and trace
events write them.  config-host.h tells how QEMU was configured: FILE is that of
its build; without it, it is written by the options in debian/control.

A feature that a header asks for and FEATURES does not know is an error: a
structure may depend on it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

DEVICE = Path(__file__).resolve().parents[1]
# What the headers ask for, of QEMU's config-host.h on Linux with GCC or clang:
# True, False, or the name of the option of configure that decides.
FEATURES: dict[str, bool | str] = {
    "CONFIG_ATOMIC64": True, "CONFIG_INT128": True, "CONFIG_INT128_TYPE": True,
    "CONFIG_IOVEC": True, "CONFIG_LINUX": True, "CONFIG_PLUGIN": True,
    "CONFIG_POSIX": True, "CONFIG_REPLICATION": True,
    "CONFIG_SECRET_KEYRING": True, "CONFIG_SYSMACROS": True,
    "CONFIG_TCG": True, "HAVE_HOST_BLOCK_DEVICE": True,
    "HAVE_IPPROTO_MPTCP": True, "HAVE_STRCHRNUL": True,
    "HAVE_SYSTEM_FUNCTION": True,
    "CONFIG_AF_XDP": False, "CONFIG_CFI": False, "CONFIG_DBUS_DISPLAY": False,
    "CONFIG_DEBUG_MUTEX": False, "CONFIG_DEBUG_TCG": False,
    "CONFIG_FUZZ": False,
    "CONFIG_QATZIP": False, "CONFIG_QPL": False,
    "CONFIG_TCG_INTERPRETER": False, "CONFIG_TSAN": False,
    "CONFIG_UADK": False, "CONFIG_USER_ONLY": False, "CONFIG_VMNET": False,
    "CONFIG_WIN32": False, "CONFIG_XEN_BACKEND": False,
    "HAVE_AFUNIX_H": False, "HAVE_BROKEN_SIZE_MAX": False,
    "HAVE_MADVISE_WITHOUT_PROTOTYPE": False, "HAVE_OPTRESET": False,
    "HAVE__LOCK_FILE": False,
    # Not in config-host.h: of a target, or defined by the headers themselves.
    "CONFIG_KVM": False, "CONFIG_KVM_IS_POSSIBLE": False,
    "HAVE_CHARDEV_PARALLEL": False, "HAVE_CHARDEV_SERIAL": False,
    "CONFIG_BLKIO": "blkio", "CONFIG_BRLAPI": "brlapi",
    "CONFIG_CAPSTONE": "capstone", "CONFIG_FDT": "fdt",
    "CONFIG_LINUX_AIO": "linux-aio",
    "CONFIG_LINUX_IO_URING": "linux-io-uring",
    "CONFIG_MEMBARRIER": "membarrier", "CONFIG_SPICE": "spice",
    "CONFIG_SPICE_PROTOCOL": "spice", "CONFIG_ZSTD": "zstd",
}


def options(control: Path) -> set[str]:
    """The options --enable-X with which Debian's package of this machine is
    configured: lines "# --enable-X<TAB>SYSTEMS<TAB>PACKAGES" of debian/control."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(
        os.uname().machine, os.uname().machine)
    found = set()
    for line in control.read_text(encoding="utf-8").splitlines():
        if not (m := re.match(r"# ?--enable-(\S+)(?:\t([^\t]*))?", line)):
            continue
        systems = (m[2] or "").split()
        if not systems or {"linux-any", machine, f"linux-{machine}"} & {*systems}:
            found.add(m[1])
    return found


def closure(source: Path, out: Path) -> set[Path]:
    """The headers of QEMU that the device may include, in any configuration."""
    include = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
    found: set[Path] = set()
    left = [*DEVICE.glob("*.[ch]"), *DEVICE.glob("plugin/*.c")]
    while left:
        path = left.pop()
        for name in include.findall(path.read_text(encoding="utf-8")):
            for folder in (source / "include", out):
                header = folder / name
                if header.is_file() and header not in found:
                    found.add(header)
                    left.append(header)
    return found


def unknown(headers: set[Path]) -> set[str]:
    """Features that conditions ask for and FEATURES lacks."""
    asked = set()
    for path in headers:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)", text,
                               re.M):
            asked |= {*re.findall(r"\b(?:CONFIG|HAVE)_[A-Z0-9_]+\b", line)}
    return asked - {*FEATURES}


def config(source: Path) -> str:
    """config-host.h by debian/control."""
    control = source / "debian/control"
    if not control.is_file():
        sys.exit(f"{source} is no source of Debian's: give --config FILE, the"
                 " config-host.h of the build of this QEMU")
    given = options(control)
    version = (source / "VERSION").read_text(encoding="ascii").strip()
    numbers = dict(zip(("MAJOR", "MINOR", "MICRO"), version.split(".")))
    lines = [f"#define QEMU_VERSION_{k} {v}" for k, v in numbers.items()]
    lines.append(f'#define QEMU_VERSION "{version}"')
    lines += [f"#define {name}" for name, on in FEATURES.items()
              if on is True or on in given]
    return "\n".join(lines) + "\n"


def generate(source: Path, out: Path) -> None:
    """Run QEMU's generators."""
    python = [sys.executable, "-B"]
    (out / "trace").mkdir(parents=True, exist_ok=True)
    subprocess.run([*python, source / "scripts/qapi-gen.py", "-o", out / "qapi",
                    "-b", source / "qapi/qapi-schema.json"], check=True)
    for kind, path in (("h", out / "trace/trace-hw_ssd.h"), ("c", out / "trace-hw_ssd.c")):
        subprocess.run(
            [*python, source / "scripts/tracetool.py", "--backend=log",
             "--group=hw_ssd", f"--format={kind}", DEVICE / "trace-events", path],
            check=True)


def link_headers(source: Path, out: Path) -> None:
    """linux/ needs asm/ of this machine."""
    machine = {"x86_64": "x86", "aarch64": "arm64"}.get(os.uname().machine,
                                                        os.uname().machine)
    asm = out / "linux-headers/asm"
    asm.parent.mkdir(exist_ok=True)
    asm.unlink(missing_ok=True)
    asm.symlink_to(source.resolve() / f"linux-headers/asm-{machine}")


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--config", default="")
    args = parser.parse_args()
    if not (args.source / "qapi/qapi-schema.json").is_file():
        sys.exit(f"{args.source} is no source tree of QEMU")
    generate(args.source, args.out)
    if args.config:
        text = Path(args.config).read_text(encoding="utf-8")
    else:
        if names := unknown(closure(args.source, args.out)):
            sys.exit(f"headers of {args.source} ask for {', '.join(sorted(names))}"
                     ", which this version of vssd does not know: give --config")
        text = config(args.source)
    (args.out / "config-host.h").write_text(text, encoding="utf-8")
    (args.out / "config-poison.h").touch()
    link_headers(args.source, args.out)


if __name__ == "__main__":
    main()
