# SPDX-License-Identifier: GPL-2.0-or-later
"""Building QEMU with our device, out of tree, in the cache.

The first build takes minutes; after a change of our C code ninja builds only
that.  The programs are then kept by the contents of what goes in (programs.py),
so that a further clone of the same contents builds nothing.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from .. import installed
from ..arch import FOREIGN, X86_64, Arch
from ..errors import UserError
from ..paths import PROJECT, cache_dir, key_of, locked, need_space
from ..proc import ninja_step, run_logged
from ..ui import Stage
from . import packages, programs, venv
from .qemu_source import Origin, obtain, version_of

CONFIGURE = (
    "--target-list=x86_64-softmmu", "--without-default-features",
    "--without-default-devices", "--with-devices-x86_64=vssd", "--disable-debug-info",
    "--enable-kvm", "--enable-tcg", "--enable-slirp", "--enable-linux-aio",
    "--enable-linux-io-uring", "--enable-tools", "--enable-attr",
    "--enable-cap-ng", "--enable-virtfs", "--enable-vnc", "--enable-pixman",
    "--enable-numa", "--enable-trace-backends=log", "--enable-fdt=system",
    "--disable-docs", "--disable-install-blobs", "--disable-werror")
TARGETS = ("qemu-system-x86_64", "qemu-img", "qemu-io")
# For guests of other architectures: one build directory, since most of QEMU is
# the same for all; of it only the emulator that a guest needs is built.
FOREIGN_CONFIGURE = (
    "--target-list=" + ",".join(arch.target for arch in FOREIGN.values()),
    "--without-default-features", "--disable-debug-info", "--disable-kvm", "--enable-tcg",
    "--enable-slirp", "--enable-linux-aio", "--enable-linux-io-uring",
    "--enable-tools", "--enable-attr", "--enable-cap-ng", "--enable-virtfs",
    "--enable-pixman", "--enable-trace-backends=log", "--enable-fdt=system",
    "--disable-docs", "--disable-install-blobs", "--disable-werror")
# With the thread sanitizer, which all of QEMU must be built with: otherwise it
# knows neither coroutines nor QEMU's own locks.  For tests without a guest, so
# without TCG, which is half of it.
TSAN_CONFIGURE = (
    "--target-list=x86_64-softmmu", "--without-default-features",
    "--enable-kvm", "--disable-tcg", "--enable-linux-aio",
    "--enable-trace-backends=nop", "--enable-fdt=system", "--enable-tsan",
    "--cc=clang", "--cxx=clang++", "--disable-docs",
    "--disable-install-blobs", "--disable-werror")
TSAN_TARGETS = ("qemu-system-x86_64",)
BUILD_BYTES = 1500 << 20
WITH_PYCOTAP = (10, 2)
FIRMWARE_DIRS = ("/usr/share/seabios", "/usr/share/qemu")


@dataclass(frozen=True)
class Qemu:
    """A built QEMU."""

    build: Path
    arch: Arch = X86_64  # of its guests

    @property
    def emulator(self) -> Path:
        """The program."""
        return self.build / self.arch.emulator

    @property
    def img(self) -> Path:
        """qemu-img."""
        return self.build / "qemu-img"


def fingerprint(flags: tuple[str, ...] = CONFIGURE) -> str:
    """Changes when a file of ours that goes into QEMU changes."""
    parts: list[object] = [flags]
    files = [PROJECT / "meson.build", PROJECT / "meson_options.txt"]
    for folder in programs.DEVICE:
        files += sorted(p for p in (PROJECT / folder).rglob("*")
                        if p.is_file())
    for path in files:
        st = path.stat()
        parts += [path, st.st_mtime_ns, st.st_size]
    return key_of(*parts)


def origin_file() -> Path:
    """Records --qemu-source of the last setup of this project."""
    return cache_dir() / f"origin-{key_of(PROJECT)}"


def remembered_origin() -> Origin:
    """The origin that the last ./vssd setup was given."""
    try:
        lines = origin_file().read_text(encoding="utf-8").split("\n")
        return Origin(*lines[:4])
    except (OSError, TypeError):
        return Origin()


def remember_origin(origin: Origin) -> None:
    """So that ./vssd run builds from the same source."""
    origin_file().write_text(
        "\n".join((origin.source, origin.sha256, origin.mirror,
                   origin.suite)),
        encoding="utf-8")


def ensure(origin: Origin | None = None,
           flags: tuple[str, ...] = CONFIGURE,
           targets: tuple[str, ...] = TARGETS) -> Qemu:
    """Build QEMU if it is not built or out of date; a package brings its own."""
    if (brought := _brought()) and flags == CONFIGURE:
        return brought
    installed.needs_sources("building QEMU")
    source = origin or remembered_origin()
    if flags != CONFIGURE:
        return _ensure_build(source, flags, targets)

    def build_all() -> tuple[list[Path], list[Path]]:
        build = _ensure_build(source, CONFIGURE, TARGETS).build
        return [build / target for target in TARGETS], []

    return Qemu(programs.ensure(lambda: _programs_key(source), build_all))


def _brought() -> Qemu | None:
    folder = installed.qemu() if installed.here() else None
    return Qemu(folder) if folder else None


def ensure_for(arch: Arch) -> Qemu:
    """QEMU for guests of an architecture."""
    if arch is X86_64:
        return ensure()
    installed.needs_sources(f"building QEMU for {arch.name}")
    packages.ensure(packages.foreign(arch))
    source = remembered_origin()
    targets = (arch.emulator, "qemu-img")

    def build_all() -> tuple[list[Path], list[Path]]:
        build = _ensure_build(source, FOREIGN_CONFIGURE, targets).build
        return [build / target for target in targets], []

    return Qemu(programs.ensure(lambda: _programs_key(
        source, FOREIGN_CONFIGURE, targets), build_all), arch)


def _programs_key(origin: Origin, flags: tuple[str, ...] = CONFIGURE,
                  targets: tuple[str, ...] = TARGETS) -> str:
    """Of the programs that ensure() makes; a source that is a directory of the
    user's has no other name than its path."""
    return programs.key("qemu", programs.DEVICE, flags, targets,
                        origin.source, origin.sha256,
                        *([origin.suite] if origin.suite else []))


def _ensure_build(origin: Origin, flags: tuple[str, ...],
                  targets: tuple[str, ...]) -> Qemu:
    tree = obtain(origin)
    build = cache_dir() / ("build-" + key_of(tree, flags))
    qemu = Qemu(build)
    mark = _mark(build, targets)
    if _built(mark) == fingerprint(flags):
        return qemu
    with locked(build.name):
        now = fingerprint(flags)
        if _built(mark) == now:
            return qemu
        packages.ensure(packages.QEMU, packages.FIRMWARE)
        venv.ensure()
        if not (build / "configured").exists():
            configure(tree, build, flags)
        _ninja(build, targets, first=not mark.exists())
        mark.write_text(now, encoding="ascii")
    return qemu


def ensure_tsan() -> Qemu:
    """The emulator with the thread sanitizer, for tests without a guest."""
    packages.ensure(packages.CLANG)
    return ensure(flags=TSAN_CONFIGURE, targets=TSAN_TARGETS)


def _mark(build: Path, targets: tuple[str, ...]) -> Path:
    """Exists once these targets have been built."""
    other = targets[0].removeprefix(X86_64.emulator)
    return build / f"built{'-' + other if other else ''}"


def _built(mark: Path) -> str:
    try:
        return mark.read_text(encoding="ascii")
    except OSError:
        return ""


def configure(tree: Path, build: Path,
              flags: tuple[str, ...] = CONFIGURE) -> None:
    """Make the build directory of a prepared tree afresh."""
    need_space(cache_dir(), BUILD_BYTES, "building QEMU")
    if version_of(tree) >= WITH_PYCOTAP:
        venv.extra("qemu")
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir()
    with Stage("configuring QEMU") as stage:
        try:
            run_logged([tree / "configure", *flags], "qemu-configure",
                       "configuring QEMU", on_line=stage.note, cwd=build,
                       env=venv.path_env())
        except BaseException:
            shutil.rmtree(build, ignore_errors=True)
            raise
    (build / "configured").touch()


def _ninja(build: Path, targets: tuple[str, ...], first: bool) -> None:
    title = "building QEMU (once)" if first else "building what changed in QEMU"
    with Stage(title) as stage:
        run_logged(["ninja", "-C", build, *targets], "qemu-build",
                   "building QEMU", on_line=ninja_step(stage.step),
                   env=venv.path_env())


def built(origin: Origin | None = None) -> Qemu:
    """The QEMU that is there; UserError if none is."""
    if brought := _brought():
        return brought
    found = programs.find(_programs_key(origin or remembered_origin()))
    if not found:
        raise UserError("QEMU is not built: run ./vssd setup")
    return Qemu(found)
