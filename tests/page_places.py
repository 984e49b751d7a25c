# SPDX-License-Identifier: GPL-2.0-or-later
"""Which test runs each command line of each page: one of the lists below.

test_page_commands.py (group scripts) runs those of RUN, test_pages.py (group
guest) those that need a guest, some with --long only.  ELSEWHERE has all
others, with the reason.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from page_commands import Line, blocks_of

from vssd.build import model
from vssd.paths import PROJECT

PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md",
         *sorted((PROJECT / "docs").rglob("*.md"))]

BUILDS = "builds or installs for minutes; the groups of ./vssd test do it"
HOURS = "takes half a minute of CPU time to hours"
INPUT = "the page stands for files or names of the reader"
FOREVER = "goes on until a key or a signal ends it"
OPTION = "no command: an option of QEMU's command line"
OTHER = "needs a program or an image that no test machine has to have"
HOST = "changes the machine that runs it"
LIBVIRT = "needs libvirt; test_libvirt.py has it"
PACKAGES = "builds or installs packages; test_packaging.py has it"
# How the lines begin that are run nowhere else, with the reason; a page may
# stand before that.
ELSEWHERE = {
    "docs/adding": "test_adding.py runs it",
    "docs/qemu-device.md": "test_parts.py runs it",
    "README.md: qemu=": "test_command_line.py runs it (test_readme_lines)",
    "./vssd test": "it is what runs this",
    "./vssd setup": BUILDS,
    "sudo": HOST, "export": HOST, "semanage": HOST, "restorecon": HOST,
    "pre-commit": HOST,
    "./vssd libvirt": LIBVIRT, "virsh": LIBVIRT, "sh -c \"$(./vssd libvirt":
        LIBVIRT,
    "./vssd cache": "reads and removes what others use; test_cache.py has it",
    "./vssd figures": HOURS, "./vssd bench": HOURS, "./vssd fuzz": HOURS,
    "./vssd validate": HOURS, "./vssd fit": HOURS, "./vssd model": HOURS,
    "./vssd fleet": HOURS, "./vssd sweep": HOURS,
    "./vssd profile --facts": INPUT,
    "./vssd sim run --profile p4500 --fill random": HOURS,
    "./vssd sim run --profile pe8110 --set host.queue_depth=64": HOURS,
    "./vssd sim run --profile 7450-pro --set ftl.gc_pace=late": HOURS,
    "./vssd sim run --profile pm9a3 --drives 5": HOURS,
    "./vssd powercut campaign": "takes minutes; test_campaign.py has it",
    "PYTHONPATH=scripts:lab python -m vssd_lab.figures.fit_inputs": INPUT,
    "docs/course/grade.py": "needs the reader's work; test_course.py has such",
    "cp docs/course": "the same",
    "./vssd policy": "compiles a policy; test_policy.py has it",
    "cc -O2": "compiles a policy; test_policy.py has it",
    "./vssd sim run --profile tiny --set ftl.gc=so:mine.so":
        "needs a compiled policy; test_policy.py has it",
    "./vssd run --set ftl.gc=so:": "needs a compiled policy",
    "./vssd run --arch": "builds two emulators; test_arch.py has it",
    "./vssd run --suite": "makes a system of Debian 11; test_rocksdb.py has it",
    "./vssd streams": "takes minutes; test_streams.py of the guests has it",
    "./vssd kernel build --patches": INPUT, "./vssd kernel build --source":
        INPUT,
    "./vssd kernel remove": "there is no such kernel to remove",
    "./vssd run --kernel bzImage": INPUT, "./vssd run --kernel mine": INPUT,
    "./vssd run --disk": INPUT,
    "./vssd run --keep": "changes the guest image; test_state.py has snapshots",
    "./vssd run --exec 'fio ...'": INPUT,
    "cd ~/linux": "configures and builds Linux; test_vng.py has it",
    "~/vssd/vssd vng": "configures and builds Linux; test_vng.py has it",
    "make -j4 bzImage": "configures and builds Linux; test_vng.py has it",
    "./vssd stat --watch": FOREVER, "./vssd stat iops waf --csv": FOREVER,
    "./vssd watch": "goes on until a signal ends it; test_live_page.py has it",
    "./vssd sim run --profile tiny --fill preload --live /dev/shm/drive.live --control":
        "waits for requests; test_control.py of tests/sim has them",
    "./vssd metrics #": FOREVER, "./vssd top #": FOREVER,
    "./vssd report NAME": INPUT, "./vssd plot sweep.csv": INPUT,
    "./vssd plot now.csv": INPUT,
    "./vssd sim run ...": INPUT,
    "./vssd sim run --profile pm9a3 --job": INPUT,
    "./vssd sim run --profile mine.ini --workload": INPUT,
    "./vssd sim replay long.bin": INPUT,
    "./vssd sim replay sda.blktrace": INPUT,
    "./vssd sim convert sda.blktrace": INPUT,
    "fio --output-format=json": INPUT,
    "printf '%s\\n' \"run --workload": INPUT,
    "streamrun": INPUT, "FOLDER/fuzz-nvme": INPUT,
    "tests/fuzz/coverage.py": HOURS, "tests/suites/run.py": HOURS,
    "VSSD_QEMU=EMULATOR": "test_storm.py runs such storms",
    "VSSD_KEEP=": "writes files of the repository; test-state reads them",
    "meson": BUILDS, "ninja": BUILDS,
    "/lib64/ld-linux": INPUT,
    "apt source": "fetches QEMU's source, as the build of the device does",
    "pip wheel": PACKAGES, "python3 packaging": PACKAGES,
    "dpkg-buildpackage": PACKAGES, "DEB_BUILD_OPTIONS=": PACKAGES,
    "apt install": PACKAGES, "git archive": PACKAGES, "rpmbuild": PACKAGES,
    "nix run": OTHER, "podman": OTHER, "cloud-hypervisor": OTHER,
    "qemu-system-x86_64": INPUT,
    "vssd-server": "group server has it, with a client",
    "cc lib/examples/vfio-client.c": "tests/server/test_example.py has it",
    "rustc -O": "tests/server/test_example.py has it",
    "docs/powercut-campaign.md: rustc -O": "test_campaign.py of the guests has it",
    "CGO_ENABLED=0 go": "test_campaign.py of the guests has it",
    "./vfio-client": "tests/server/test_example.py has it",
    "qemu-nbd": "tests/server/test_nbd.py has it, with a server",
    "python -m libvssd.baselines": "needs the installed wheel; test_libvssd.py",
    "cc play.c": "needs the installed library; tests/lib/installed.py has it",
    "./play": "needs the installed library; tests/lib/installed.py has it",
    "vssd run": "a step of a CI job; test_packaging.py has such a run",
    "python3 -m pytest": "a step of a CI job; test_powercut.py runs the plug-ins",
    "-device": OPTION, "-object": OPTION,
}
# How the lines begin that group scripts runs.
RUN = ("./vssd sim ", "./vssd profile", "./vssd help", "./vssd --help", "./vssd --version",
       "./vssd man", "./vssd completion", "./vssd kernel list",
       "./vssd compare", "./vssd explain", "./vssd plot", "./vssd report", "echo ", "printf ",
       "cat > ", "python3 - <<", "n=4 ", "for a in ", "for op in ",
       "for gc in ", "gcc ")

# A block with such a line is typed in the guest of the last ./vssd run before
# it; see works().
IN_GUEST = ("nvme ", "blkzone ", "vssdctl ", "mkfs.", "$kv ")
# A line that starts a guest, or makes what one needs.
BOOTS = re.compile(r"(printf .*\| |truncate .*&& )?\./vssd (run|kernel build)\b")
# Commands that reach a guest from outside.
REACHES = tuple(f"./vssd {name}" for name in (
    "exec", "cp", "ssh", "console", "stop", "powercut", "drive", "fault", "stat", "top",
    "metrics"))
# The page whose guests run without --long, too.
SHORT = "README.md"


def reason(line: Line) -> str:
    """The key of ELSEWHERE; empty: there is none."""
    return max((key for key in ELSEWHERE
                if line.flat.startswith(key) or str(line).startswith(key)),
               key=len, default="")


@dataclass
class Work:
    """What is done with one guest of a page: `start` is the ./vssd run that
    stays while the steps are run; without it the steps start guests."""

    page: str
    start: str = ""
    steps: list[tuple[bool, str]] = field(default_factory=list)  # typed in it?

    def __str__(self) -> str:
        text = self.start or self.steps[0][1]
        return f"{self.page}: {' '.join(text.split())[:90]}"

    @property
    def long(self) -> bool:
        """With --long only?"""
        return self.page != SHORT


def typed(block: list[Line]) -> bool:
    """Is this block typed in a guest?"""
    return any(part.lstrip().startswith(IN_GUEST)
               for line in block for part in line.text.splitlines())


def stays(line: Line) -> bool:
    """A guest that waits for what is done with it."""
    return bool(BOOTS.match(line.flat)) and not any(
        word in line.flat for word in (
            "--exec", "| ./vssd", "--print-command", "./vssd kernel"))


def works(blocks: list[list[Line]]) -> tuple[list[Work], set[Line]]:
    """The guests of a page, and the lines that they run.

    A block of runs, and of commands that reach them, is a guest for each run;
    the first one has the commands, and the blocks that follow and are typed in
    a guest.  Any other block with a run is one script.
    """
    found: list[Work] = []
    taken: set[Line] = set()
    guest: Work | None = None
    for block in blocks:
        left = [line for line in block if not reason(line)]
        text = "".join(line.text for line in left)
        runs = [line for line in left if stays(line)]
        reach = [line for line in left if line.flat.startswith(REACHES)]
        if typed(left):
            if guest:
                guest.steps.append((True, text))
                taken |= set(left)
        elif len(runs) + len(reach) == len(left) and left:
            made = [Work(run.page, run.text) for run in runs]
            guest = made[0] if made else guest
            found += made
            if guest:
                guest.steps += [(False, line.text) for line in reach]
                taken |= set(left)
        elif any(BOOTS.match(line.flat) for line in left):
            found.append(Work(left[0].page, steps=[(False, text)]))
            taken |= set(left)
    return found, taken


BLOCKS = {page: blocks_of(page, PROJECT) for page in PAGES}
LINES = list(dict.fromkeys(line for page in PAGES for block in BLOCKS[page]
                           for line in block))
WORKS = [work for page in PAGES for work in works(BLOCKS[page])[0]]
IN_WORKS = {line for page in PAGES for line in works(BLOCKS[page])[1]}


def in_scripts(line: Line) -> bool:
    """Does group scripts run it?"""
    return not reason(line) and line not in IN_WORKS \
        and line.flat.startswith(RUN)


def make_files(path: Path) -> None:
    """The files that the pages name, small, and the project's."""
    for name in ("vssd", "profiles", "guest-tools", "hw-ssd"):
        (path / name).symlink_to(PROJECT / name)
    for name in ("src", ".config/fish/completions", "DIR",
                 ".local/share/bash-completion/completions"):
        (path / name).mkdir(parents=True)
    shutil.copy(PROJECT / "profiles/pm9a3.ini", path / "mine.ini")
    (path / "driver.ko").write_text("a file of the reader")
    hours = [f"{128166372 * 10**9 + i * 20 * 10**7},hm,0,Write,{i << 20},4096,"
             "100\n" for i in range(400)]
    whole = "".join(hours)
    (path / "hm_0.csv").write_text(whole)
    (path / "hm_0.csv.gz").write_bytes(gzip.compress(whole.encode()))
    (path / "hour1.csv").write_text("".join(hours[:200]))
    (path / "hour2.csv").write_text("".join(hours[200:]))
    for name in ("a.spc", "b.spc"):
        (path / name).write_text("0,20941264,8192,W,0.551706\n")
    (path / "faults.txt").write_text("cmd=read nth=100 -> status 2/81\n")
    (path / "t.csv").write_text("time_us,op,offset,size,stream\n"
                                "0,write,0,65536,1\n10,write,1048576,65536,2\n"
                                "20,trim,0,65536,0\n")
    play = ["run", "--profile", "tiny", "--series", "0.1", "--json",
            "--workload", "rw=randrw iodepth=16 number_ios=3000"]
    for name, words in (
            ("hm_0.bin", ["convert", "hm_0.csv", "--to", "binary"]),
            ("a.json", play), ("b.json", [*play, "--set", "nand.read=90us"])):
        with open(path / name, "wb") as out:
            subprocess.run([model.sim(), *words], stdout=out, check=True,
                           cwd=path)
    for name in ("a.json", "b.json"):
        shutil.copy(path / name, path / name.capitalize())
