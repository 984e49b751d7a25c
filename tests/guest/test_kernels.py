# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams from files and block devices of guests with other kernels: what a
program writes to a stream is in erase blocks of that stream, as the drive
itself says.

The kernels of other suites run on the root of the others' tests, which is
Debian 13; --long gives each the root of its own suite.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from long_form import DEVICE, IS_LONG, LONG, of_part

from conftest import Env, blank, drive, refused
from test_atomic import write
from vssd import paths
from vssd.build import kernel_build, model
from vssd.build.kernel_source import Wanted
from vssd.guest import hardware, image, suite_kernel
from vssd.guest.guest import Guest

pytestmark = of_part(*DEVICE, "ftl/placement/", "docs/streams-guest.md")
GEOMETRY = ["nand.channels=2", "nand.dies=1", "nand.pages=128",
            "ftl.op_percent=100%"]
MIB = 1 << 20
STREAMS, FDP = "VSSD0001", "VSSD0002"  # serial numbers of the drives
# XFS with what Linux 5.10 knows, where mkfs.xfs is newer than that.
FILE_SYSTEMS = {"ext4": "mkfs.ext4 -q -F -E nodiscard",
                "xfs": "mkfs.xfs -q -f -K $(find /usr/share/xfsprogs -name"
                       " lts_5.10.conf -printf '-c options=%p')"}


def started(env: Env, folder: Path, streams: int, disk: Path,
            **more: Any) -> Iterator[Guest]:
    """A guest with a root of its own, a drive with so many streams, and one
    with four reclaim unit handles."""
    root = folder / "root.qcow2"
    image.overlay(env.qemu.img, disk, root)
    drives = [drive(root)]
    for option in (f"streams.max={streams}", "fdp.ruhs=4"):
        sets = [*GEOMETRY, option]
        size = model.drive_info(paths.find_profile("tlc-generic"),
                                sets)["capacity_bytes"]
        drives.append(drive(blank(folder / f"{len(drives)}.raw", size), "raw",
                            "tlc-generic", sets))
    with Guest(env.lean(drives, **more)) as running:
        running.wait_agent()
        yield running


def of_suite(env: Env, folder: Path, suite: str, params: str = "") \
        -> Iterator[Guest]:
    """A suite's kernel: on the root that all tests have; with --long, on the
    suite's own."""
    if IS_LONG:
        made = image.ensure(suite=suite)
        kernel, initrd = made.kernel, made.initrd
    else:
        made = env.image
        found = suite_kernel.ensure(suite)
        kernel = found.kernel
        initrd = found.initrd(made.initrd, folder / "initrd.img")
    yield from started(
        env, folder, 4, made.disk, kernel=kernel, initrd=initrd,
        append=f"root={made.root} rw {hardware.KERNEL_ARGS}" + params)


@pytest.fixture(scope="module", name="patched")
def patched_guest(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """Linux 6.12 with guest-tools/kernel, eight streams."""
    yield from started(env, tmp_path_factory.mktemp("patched"), 8,
                       env.image.disk, kernel=kernel_build.ensure(Wanted()).image, initrd=None)


@pytest.fixture(scope="module", name="old")
def old_guest(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """Debian 11's kernel as it is, four streams."""
    if not IS_LONG:
        pytest.skip("runs with --long only")
    yield from of_suite(env, tmp_path_factory.mktemp("old"), "bullseye",
                        " nvme_core.streams=1")


@pytest.fixture(scope="module", name="new")
def new_guest(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """Debian's newest kernel as it is, four reclaim unit handles."""
    yield from of_suite(env, tmp_path_factory.mktemp("new"),
                        "trixie-backports")


def check_probe(guest: Guest) -> None:
    """The drive with streams refuses nothing.  Linux asks each drive for streams
    once, and those without refuse."""
    counts = refused(guest)
    assert counts.pop(device(guest).split("/")[-1].removesuffix("n1")) == 0
    assert set(counts.values()) <= {0, 1}


def test_probe_patched(patched: Guest) -> None:
    """Linux 6.12 probes drives with streams: nothing is refused."""
    check_probe(patched)


def test_probe_old(old: Guest) -> None:
    """So does Linux 5.10, which enables streams by itself."""
    check_probe(old)


def test_probe_new(new: Guest) -> None:
    """So does the newest kernel, which asks for FDP."""
    assert set(refused(new).values()) == {0}


def device(guest: Guest, serial: str = STREAMS) -> str:
    """A drive in the guest, as /dev/nvme1n1."""
    found = guest.run(f"grep -lw {serial} /sys/class/nvme/*/serial")
    return f"/dev/{found.split('/')[-2]}n1"


def by_id(guest: Guest, serial: str = STREAMS) -> dict[int, int]:
    """Bytes that the host wrote, by the number it gave the stream; -1 for
    what belongs to none."""
    found: dict[int, int] = {}
    lines = guest.run(f"vssdctl -d {device(guest, serial)} streams").splitlines()
    for line in lines[1:]:
        stream, host_id, _, nbytes, *_ = line.split()
        if stream in ("other", "all"):
            continue
        key = int(host_id) if host_id != "-" else -1
        found[key] = found.get(key, 0) + int(nbytes)
    return found


def grown(guest: Guest, work: Callable[[], None], serial: str = STREAMS) \
        -> dict[int, int]:
    """How much more each stream of a drive was written by some work."""
    before = by_id(guest, serial)
    work()
    return {i: n - before.get(i, 0) for i, n in by_id(guest, serial).items()}


def make_fs(guest: Guest, kind: str) -> None:
    """A fresh file system on the second drive, at /mnt."""
    guest.run(f"umount /mnt 2>/dev/null; {FILE_SYSTEMS[kind]} {device(guest)}"
              f" && mount -t {kind} {device(guest)} /mnt")


def placed(guest: Guest, args: str, n: int, serial: str = STREAMS,
           mib: int = 4) -> dict[int, int]:
    """streamwrite finds every unit in its place, n files of `mib` MiB; how
    much each stream grew."""
    def work() -> None:
        said = guest.run(f"sync; streamwrite -n {n} -s {mib} {args}")
        assert "every unit lies in blocks of its stream" in said, said
        assert "NOT" not in said, said
    found = grown(guest, work, serial)
    return {i: b for i, b in found.items() if b}


@pytest.fixture(autouse=True)
def unmounted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test mounted is gone after it."""
    yield
    for name in ("patched", "old", "new"):
        if name in request.fixturenames:
            request.getfixturevalue(name).run("umount /mnt 2>/dev/null; true")


# ---- every kernel, every interface ------------------------------------------

WORKS, REFUSED, IGNORED = "works", "refused", "ignored"
KERNELS = {"old": "5.10", "patched": "6.12 with our patches", "new": "6.16 and later"}
# An interface's target: a file system on the drive with streams, or a drive.
TARGETS = {"uring": FDP, "passthru, streams": STREAMS, "passthru, FDP": FDP,
           "fdp-f2fs": FDP}
NO_FADVISE = b"stream 1 by fadvise: Invalid argument"
NO_IOCTL = b"-m ioctl: this kernel has no ioctl for streams there"
NO_RULES = b"no ioctl for streams"
NO_URING = b"-m uring: no write streams"
# What a kernel does with an interface, and what a refusal says.
CELLS: dict[tuple[str, str], tuple[str, bytes]] = {
    ("fadvise", "old"): (REFUSED, NO_FADVISE),
    ("fadvise", "patched"): (WORKS, b""),
    ("fadvise", "new"): (REFUSED, NO_FADVISE),
    ("ioctl", "old"): (REFUSED, NO_IOCTL),
    ("ioctl", "patched"): (WORKS, b""),
    ("ioctl", "new"): (REFUSED, NO_IOCTL),
    ("streamrun --ioctl", "old"): (REFUSED, NO_RULES),
    ("streamrun --ioctl", "patched"): (WORKS, b""),
    ("streamrun --ioctl", "new"): (REFUSED, NO_RULES),
    ("hint", "old"): (WORKS, b""),
    ("hint", "patched"): (IGNORED, b""),
    ("hint", "new"): (IGNORED, b""),
    ("uring", "old"): (REFUSED, NO_URING),
    ("uring", "patched"): (REFUSED, NO_URING),
    ("uring", "new"): (WORKS, b""),
    ("fdp-f2fs", "old"): (IGNORED, b""),
    ("fdp-f2fs", "patched"): (IGNORED, b""),
    ("fdp-f2fs", "new"): (WORKS, b""),
    **{(f"passthru, {kind}", kernel): (WORKS, b"")
       for kind in ("streams", "FDP") for kernel in KERNELS},
}


def documented() -> dict[tuple[str, str], str]:
    """The matrix of docs/streams-guest.md."""
    text = (paths.PROJECT / "docs/streams-guest.md").read_text()
    lines = text.split("## Kernels and interfaces")[1].split("\n## ")[0]
    rows = [[c.replace("`", "").strip() for c in line.split("|")[1:-1]]
            for line in lines.splitlines() if line.startswith("|")]
    names = {title: name for name, title in KERNELS.items()}
    return {(cells[0], names[kernel]): word
            for cells in rows[2:] for kernel, word in zip(rows[0][1:], cells[1:])}


def test_matrix_is_documented() -> None:
    """The page has the cells that are tested."""
    assert documented() == {k: v for k, (v, _) in CELLS.items()}


def check_rules(guest: Guest, kind: str, said: bytes) -> None:
    """streamrun --ioctl gives two files of a program two streams, or
    refuses."""
    script = "for i in 1 2; do head -c 4M /dev/urandom > /mnt/$i; done; sync"
    rules = "-r '/mnt/1=1' -r '/mnt/2=2'"

    def work() -> None:
        done = guest.result(f"streamrun --ioctl {rules} -- sh -c '{script}'")
        assert done.status == (0 if kind == WORKS else 125), done.err
        assert said in done.err, done.err
    found = grown(guest, work)
    for stream in (1, 2):
        assert found.get(stream, 0) == (4 * MIB if kind == WORKS else 0)


def check_f2fs(guest: Guest, kind: str) -> None:
    """F2FS gives hot, warm and cold files handles 0 to 2, or all of them one;
    no other data has handles 1 and 2."""
    dev = device(guest, FDP)
    guest.run(f"mkfs.f2fs -q -f -t 0 {dev} > /dev/null"
              f" && mount -t f2fs {dev} /mnt")
    warm, cold = 38 * MIB // 4, 76 * MIB // 4  # of 128 files of 256 KiB

    found = grown(guest, lambda: guest.run(
        "streamchurn -m temperature -p 32 -w 0 /mnt && sync") and None, FDP)
    assert found[0] > (12 * MIB // 4 if kind == WORKS else warm + cold)
    assert (found[1], found[2]) == ((warm, cold) if kind == WORKS else (0, 0))
    for i, name in enumerate(("hot", "warm", "cold")):
        lines = guest.run(f"vssdctl blocks /mnt/{name}.0").splitlines()[1:]
        assert sum(int(line.split()[3]) for line in lines) == 64
        assert {line.split()[0] for line in lines} == \
            {str(i if kind == WORKS else 0)}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("interface", dict.fromkeys(i for i, _ in CELLS))
def test_matrix(request: pytest.FixtureRequest, kernel: str,
                interface: str) -> None:
    """Two streams are placed, or refused, or without effect."""
    guest: Guest = request.getfixturevalue(kernel)
    request.addfinalizer(lambda: guest.run("umount /mnt 2>/dev/null; true"))
    kind, said = CELLS[interface, kernel]
    if interface == "fdp-f2fs":
        check_f2fs(guest, kind)
        return
    serial = TARGETS.get(interface)
    if not serial:
        make_fs(guest, "xfs")
    if interface == "streamrun --ioctl":
        check_rules(guest, kind, said)
        return
    args = f"-m {interface.split(',')[0]} " \
        + ("-o " if interface == "uring" else "") \
        + (device(guest, serial) if serial else "/mnt")
    if kind == WORKS:
        found = placed(guest, args, 2, serial or STREAMS)
        first = 0 if serial == FDP else 1  # handles count from 0
        assert found.get(first, 0) >= 4 * MIB
        assert found.get(first + 1, 0) >= 4 * MIB
        return
    done = guest.result(f"sync; streamwrite -n 2 -s 4 {args}")
    if kind == REFUSED:
        assert done.status == 2
        assert said in done.err, done.err
    else:
        assert done.status == 1, done.err
        assert b"NOT every unit" in done.out


# ---- Linux 6.12 with POSIX_FADV_STREAMID ------------------------------------

@pytest.mark.parametrize("direct", ["", "-o "], ids=["buffered", "direct"])
@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_fadvise_files(patched: Guest, kind: str, direct: str) -> None:
    """Eight files under eight streams, by write-back and by O_DIRECT."""
    make_fs(patched, kind)
    assert "-vssd" in patched.run("uname -r")
    found = placed(patched, f"{direct}/mnt", 8)
    assert {i: found.get(i, 0) for i in range(1, 9)} == \
        dict.fromkeys(range(1, 9), 4 * MIB)


@pytest.mark.parametrize("direct", ["", "-o "], ids=["buffered", "direct"])
def test_fadvise_block_device(patched: Guest, direct: str) -> None:
    """The same on the device itself, whose one inode changes its stream."""
    found = placed(patched, direct + device(patched), 8)
    assert found == dict.fromkeys(range(1, 9), 4 * MIB)


def test_streamwrite_can_fail(patched: Guest) -> None:
    """Without streams the files share blocks, and streamwrite says so."""
    make_fs(patched, "ext4")
    done = patched.result("streamwrite -m none -n 8 -s 4 /mnt")
    assert done.status == 1
    assert b"NOT every unit" in done.out


def test_streamrun_by_rules(patched: Guest) -> None:
    """A program that knows nothing of streams; the first rule that matches."""
    make_fs(patched, "ext4")
    command = ("streamrun -v -r '/mnt/*.log=3' -r '/mnt/a/*=5' -- sh -c '"
               "mkdir /mnt/a; for i in 1 2 3; do"
               " head -c 1M /dev/urandom >> /mnt/a/x.log;"
               " head -c 2M /dev/urandom > /mnt/a/$i; done; sync; exit 7'")

    def work() -> None:
        done = patched.result(command)
        assert done.status == 7, done.err
        assert b"/mnt/*.log=3 by fadvise" in done.err
    found = grown(patched, work)
    assert found[3] == 3 * MIB and found[5] == 6 * MIB
    assert all(n == 0 for i, n in found.items() if i > 0 and i not in (3, 5))
    where = patched.run("vssdctl where /mnt/a/x.log")
    assert where.count("stream 3 erase block") == 3 * MIB // 4096
    assert "among others" not in where


def test_fadvise_refuses(patched: Guest) -> None:
    """What is no stream, and files of somebody else."""
    make_fs(patched, "ext4")
    perl = ("perl -e '"
            "open(F, \"+>\", \"/mnt/f\"); for (-1, 256, 255, 0) {"
            " my $r = syscall(221, fileno(F), $_, 0, 8);"
            " print $r < 0 ? $!+0 : \"ok\", \"\\n\" }'")
    assert patched.run(perl).split() == ["22", "22", "ok", "ok"]
    theirs = ("touch /mnt/g; chmod 666 /mnt/g; setpriv --reuid=1000 --clear-groups"
              " perl -e 'open(F, \"+<\", \"/mnt/g\") or die;"
              " my $r = syscall(221, fileno(F), 1, 0, 8);"
              " print $r < 0 ? $!+0 : \"ok\"'")
    assert patched.run(theirs) == "1"


def test_fadvise_anywhere(patched: Guest) -> None:
    """A pipe has no stream; a descriptor that only reads can set one, a
    length is ignored."""
    make_fs(patched, "ext4")
    perl = ("perl -e '"
            "sub f { my $r = syscall(221, fileno($_[0]), $_[1], $_[2], 8);"
            " print $r < 0 ? $!+0 : \"ok\", \"\\n\" }"
            "open(W, \">\", \"/mnt/f\"); close W; open(F, \"<\", \"/mnt/f\");"
            "pipe(P, Q); f(Q, 1, 0); f(F, 3, 0); f(F, 3, -1); f(F, 3, 9999);'")
    assert patched.run(perl).split() == ["29", "ok", "22", "ok"]


def test_fadvise_stays_with_the_inode(patched: Guest) -> None:
    """Through a truncation and a rename, for whoever opens it."""
    make_fs(patched, "ext4")
    patched.run("perl -e 'open(F, \">\", \"/mnt/f\"); syscall(221, fileno(F),"
                " 6, 0, 8)'")

    def work() -> None:
        patched.run("mv /mnt/f /mnt/g; : > /mnt/g;"
                    " head -c 1M /dev/urandom >> /mnt/g; sync")
    assert grown(patched, work)[6] == MIB


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_fadvise_memory(patched: Guest, kind: str) -> None:
    """What is written through mmap()."""
    make_fs(patched, kind)
    found = placed(patched, "-M /mnt", 8)
    assert {i: found.get(i, 0) for i in range(1, 9)} == \
        dict.fromkeys(range(1, 9), 4 * MIB)


@LONG
def test_streamrun_many_opens(patched: Guest) -> None:
    """Several writers at a time, many opens, and processes that are
    killed within one."""
    make_fs(patched, "ext4")
    write = ("(i=0; while [ $i -lt 500 ]; do head -c 4096 /dev/zero"
             " > /mnt/$0.%s; i=$((i+1)); done) &")
    kill = ("perl -e 'for (1..100) { my $p = fork; if (!$p) {"
            " while (1) { open(F, \"<\", \"/mnt/k.a\") } }"
            " select(undef, undef, undef, 0.02); kill 9, $p; waitpid $p, 0 }'")
    script = (f": > /mnt/k.a; {write % 'a'} {write % 'b'} {kill}; wait;"
              " sync; exit 3")

    def work() -> None:
        done = patched.result(
            "streamrun -v -r '/mnt/*.a=3' -r '/mnt/*.b=5' -r '/mnt/none=7'"
            f" -- sh -c {shlex.quote(script)} x")
        assert done.status == 3, done.err
        found = re.findall(rb"=(\d) by fadvise: (\d+) opens, (\d+) failed",
                           done.err)
        assert [(int(i), int(failed)) for i, _, failed in found] == \
            [(3, 0), (5, 0), (7, 0)]
        opens = [int(n) for _, n, _ in found]
        # 500 of the writer; how many each killed process got to is up to
        # the speed of the machine.
        assert opens[0] > 600 and opens[1:] == [500, 0]
    found = grown(patched, work)
    assert found[3] >= 4096 and found[5] >= 4096 and found.get(7, 0) == 0


def test_streamrun_passes_signals_on(patched: Guest) -> None:
    """The program ends by it, and its status says so."""
    done = patched.result("streamrun -r '/mnt/*=1' -- sleep 60 & sleep 1;"
                          " kill $!; wait $!")
    assert done.status == 128 + 15


# ---- and with FS_IOC_WRITE_STREAM -------------------------------------------

IOCTL = ("perl -e 'sub ask { my $a = pack(\"LLQ\", @_); my $r = ioctl(F, 0xC0106687,"
         " $a); print $r ? (unpack(\"LLQ\", $a))[1] : \"E\" . ($!+0), \"\\n\" }")
GET_MAX, GET, SET = 1, 2, 4


def test_ioctl_of_a_file(patched: Guest) -> None:
    """GET_MAX says how many the drive has; more, other operations and what is
    reserved are refused; SET and GET are one stream."""
    make_fs(patched, "xfs")
    perl = (f"{IOCTL} open(F, \"+>\", \"/mnt/f\");"
            f" ask({GET_MAX}, 0, 0); ask({GET}, 9, 0); ask({SET}, 3, 0);"
            f" ask({GET}, 0, 0); ask({SET}, 9, 0); ask({SET}, 1, 7);"
            f" ask({GET | SET}, 1, 0); ask(0, 1, 0); ask({GET}, 0, 0);'")
    assert patched.run(perl).split() == [
        "8", "0", "3", "3", "E22", "E22", "E22", "E22", "3"]
    theirs = (f"touch /mnt/g; chmod 666 /mnt/g; setpriv --reuid=1000"
              f" --clear-groups {IOCTL} open(F, \"+<\", \"/mnt/g\") or die;"
              f" ask({SET}, 1, 0);'")
    assert patched.run(theirs) == "E1\n"


def test_ioctl_and_fadvise_are_one(patched: Guest) -> None:
    """The stream is the inode's, however it was set."""
    make_fs(patched, "xfs")
    perl = (f"{IOCTL} open(F, \"+>\", \"/mnt/f\");"
            f" syscall(221, fileno(F), 5, 0, 8); ask({GET}, 0, 0);'")
    assert patched.run(perl) == "5\n"


def test_ioctl_elsewhere(patched: Guest) -> None:
    """ext4 and block devices have no such ioctl, as in the series."""
    make_fs(patched, "ext4")
    perl = (f"{IOCTL} open(F, \"+>\", \"/mnt/f\"); ask({GET_MAX}, 0, 0);"
            f" open(F, \"<\", \"{device(patched)}\"); ask({GET_MAX}, 0, 0);'")
    assert patched.run(perl).split() == ["E25", "E25"]


def test_streamrun_by_ioctl(patched: Guest) -> None:
    """Rules by the ioctl; where there is none, one line says so."""
    make_fs(patched, "xfs")

    def work() -> None:
        done = patched.result("streamrun --ioctl -v -r '/mnt/*=7' -- dd"
                              " if=/dev/zero of=/mnt/x bs=1M count=5"
                              " conv=fsync")
        assert done.status == 0 and b"/mnt/*=7 by ioctl" in done.err
    assert grown(patched, work)[7] == 5 * MIB
    done = patched.result("streamrun --ioctl -r '/mnt/*=9' -- true")
    assert done.status == 125 and b"ioctl gives streams 0..8" in done.err
    make_fs(patched, "ext4")
    done = patched.result("streamrun --ioctl -r '/mnt/*=1' -- true")
    assert done.status == 125 and b"no ioctl for streams" in done.err


def test_streamrun_translates_hints(patched: Guest) -> None:
    """With -T a program's own hints are streams; bad ones are refused as by
    the kernel, also in its children."""
    make_fs(patched, "ext4")
    perl = ("perl -e 'sub h { my $h = pack(\"Q\", $_[0]);"
            " print fcntl(F, $_[1], $h) ? \"ok\" : $!+0, \"\\n\" }"
            " $| = 1; open(F, \">\", \"/mnt/y\"); h(6, 1036); h(4, 1038);"
            " if (fork) { wait } else { h(4, 1036); exit }"
            f" print F \"x\" x {MIB};' && sync")

    def work() -> None:
        done = patched.run(f"streamrun -T -- sh -c {shlex.quote(perl)}")
        assert done.split() == ["22", "22", "ok"]
    assert grown(patched, work)[3] == MIB


# ---- Linux 5.10: write hints ------------------------------------------------

def test_hints_become_streams(old: Guest) -> None:
    """The stock driver enables the directive."""
    assert old.run("uname -r").startswith("5.10.")
    assert old.run("cat /sys/module/nvme_core/parameters/streams") == "Y\n"
    # Identify directive, Return Parameters: which directives are enabled
    enabled = old.run(f"nvme admin-passthru {device(old)} --opcode=0x1a"
                      " --namespace-id=1 --data-len=4096 --read --cdw10=1023"
                      " --cdw11=1 --raw-binary 2>/dev/null | od -An -tu1 -j32"
                      " -N1")
    assert enabled.split() == ["3"]  # Identify and Streams


@pytest.mark.parametrize("direct", ["", "-o "], ids=["buffered", "direct"])
@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_hints_of_files(old: Guest, kind: str, direct: str) -> None:
    """F_SET_RW_HINT on files reaches the drive as streams 1 to 4."""
    make_fs(old, kind)
    found = placed(old, f"-m hint {direct}/mnt", 4)
    assert {i: found.get(i, 0) for i in range(1, 5)} == \
        dict.fromkeys(range(1, 5), 4 * MIB)


def test_streamrun_by_hints(old: Guest) -> None:
    """Rules work with the stock kernel, too."""
    make_fs(old, "xfs")

    def work() -> None:
        old.run("streamrun -r '/mnt/*=2' -- dd if=/dev/zero of=/mnt/x bs=1M"
                " count=5 conv=fsync 2>/dev/null")
    assert grown(old, work)[2] == 5 * MIB
    hint = ("perl -e 'open(F, \">\", \"/mnt/y\"); my $h = pack(\"Q\", 4);"
            " print fcntl(F, 1036, $h) ? \"ok\" : $!+0; print F \"x\" x"
            f" {MIB};' && sync")
    for option, said, stream in (("", "ok", 3), ("-H", "22", 2)):
        before = by_id(old)
        done = old.run(f"streamrun {option} -r '/mnt/*=2' -- sh -c {shlex.quote(hint)}")
        assert done == said
        assert by_id(old)[stream] - before.get(stream, 0) == MIB
    done = old.result("streamrun -r '/mnt/*=5' -- true")
    assert done.status == 125
    assert b"hint gives streams 0..4" in done.err


def test_hint_of_a_descriptor(old: Guest) -> None:
    """F_SET_FILE_RW_HINT is of the open file alone, so of O_DIRECT writes."""
    make_fs(old, "ext4")
    script = ("exec 3>/mnt/z; perl -e 'open(F, \">&=3\");"
              " my $h = pack(\"Q\", 5); print fcntl(F, 1038, $h) ? \"ok\" : $!+0;'"
              " && dd if=/dev/zero bs=64k count=16 oflag=direct status=none >&3")

    def work() -> None:
        assert old.run(script) == "ok"
    assert grown(old, work)[4] == MIB


# ---- FDP below Linux's own layers ---------------------------------------------

@pytest.fixture(scope="module", name="two_paths")
def two_paths_guest(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Guest]:
    """Debian's newest kernel, and a drive with four handles and two
    controllers."""
    folder = tmp_path_factory.mktemp("two-paths")
    root = folder / "root.qcow2"
    image.overlay(env.qemu.img, env.image.disk, root)
    found = suite_kernel.ensure("trixie-backports")
    sets = [*GEOMETRY, "fdp.ruhs=4"]
    size = model.drive_info(paths.find_profile("tlc-generic"),
                            sets)["capacity_bytes"]
    two = drive(blank(folder / "two.raw", size), "raw", "tlc-generic", sets)
    two.controllers, two.serial = 2, FDP
    with Guest(env.lean([drive(root), two], kernel=found.kernel,
                        initrd=found.initrd(env.image.initrd,
                                            folder / "initrd.img"))) as running:
        running.wait_agent()
        yield running


def shared_device(guest: Guest) -> str:
    """The multipath device of the drive with two controllers."""
    found = guest.run(f"for s in /sys/class/nvme-subsystem/*; do"
                      f" grep -qw {FDP} $s/serial && ls $s; done; true")
    name = next(n for n in found.split() if re.fullmatch(r"nvme\d+n1", n))
    return f"/dev/{name}"


def test_fdp_with_two_controllers(two_paths: Guest) -> None:
    """Linux's multipath device has the write streams of its paths."""
    dev = shared_device(two_paths)
    said = two_paths.run(f"streamwrite -n 4 -s 4 -m uring -o {dev}")
    assert "every unit lies in blocks of its stream" in said
    assert "NOT" not in said


def test_fdp_below_dm(two_paths: Guest) -> None:
    """A device of dm-linear has none."""
    dev = shared_device(two_paths)
    sectors = two_paths.run(f"blockdev --getsz {dev}").strip()
    two_paths.run(f"dmsetup create --noudevsync line --table"
                  f" '0 {sectors} linear {dev} 0'")
    try:
        queue = two_paths.run("ls -d /sys/block/dm-0/queue").strip()
        assert two_paths.run(f"cat {queue}/max_write_streams") == "0\n"
    finally:
        two_paths.run("dmsetup remove --noudevsync line")


# ---- Linux 6.16 and later: block write streams ------------------------------

def test_write_streams_in_sysfs(new: Guest) -> None:
    """The kernel shows the handles of the drive."""
    major, minor = map(int, new.run("uname -r").split(".")[:2])
    assert (major, minor) >= (6, 16)
    queue = f"/sys/block/{device(new, FDP).removeprefix('/dev/')}/queue"
    assert new.run(f"cat {queue}/max_write_streams") == "4\n"
    assert int(new.run(f"cat {queue}/write_stream_granularity")) > 0


def test_write_streams_of_io_uring(new: Guest) -> None:
    """Write stream n is reclaim unit handle n - 1."""
    found = placed(new, f"-m uring -o {device(new, FDP)}", 4, FDP)
    assert found == dict.fromkeys(range(4), 4 * MIB)
    usage = new.run(f"nvme fdp status {device(new, FDP)}")
    assert usage.count("Reclaim Unit Handle Identifier") == 4


def test_more_write_streams_than_there_are(new: Guest) -> None:
    """Refused, and nothing is written."""
    def work() -> None:
        done = new.result(f"streamwrite -n 5 -m uring -o {device(new, FDP)}")
        assert done.status == 2
        assert b"uring gives streams 1..4" in done.err
    assert not any(grown(new, work, FDP).values())


def test_passthrough_to_handles(new: Guest) -> None:
    """NVMe commands of streamwrite's own."""
    found = placed(new, f"-m passthru {device(new, FDP)}", 4, FDP)
    assert found == dict.fromkeys(range(4), 4 * MIB)


@pytest.mark.parametrize("fs", FILE_SYSTEMS)
def test_atomic_new(new: Guest, fs: str) -> None:
    """ext4 and XFS of the newest kernel pass an atomic write of a block to the
    drive, whose mapping unit is as large."""
    disk = device(new)
    new.run(f"{FILE_SYSTEMS[fs]} {disk} && mkdir -p /mnt/atomic &&"
            f" mount {disk} /mnt/atomic")
    try:
        assert write(new, "/mnt/atomic/f", 4096, 8192) == "written"
        assert write(new, "/mnt/atomic/f", 4096, 512) == "Invalid argument"
    finally:
        new.run("umount /mnt/atomic")
