# SPDX-License-Identifier: GPL-2.0-or-later
"""Habits of a command line: version, help, completion, man pages, statuses,
variables, --quiet and doctor.  All commands are covered through the parsers."""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from started import ENV, vssd
from vssd import ending, environment, nearest, origin, ui
from vssd.build import model
from vssd.cli import completion, man, parsing, sim
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd_lab.cli import testnames
from vssd_lab.cli.main import GROUPS, parser

PAGE = PROJECT / "docs/command-line.md"
NAMES = [name for name, _, _ in parsing.children(parser())]
# Another program prints the help of the rest.
OWN_HELP = [name for name, p, _ in parsing.children(parser()) if p.add_help]
PYTHON = [sys.executable, "-m", "vssd_lab"]


def refused(status: int, text: str, *args: str) -> None:
    """One line, and nothing on standard output."""
    done = vssd(*args)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.count("\n") == 1 and text in done.stderr


def test_version() -> None:
    """That of meson.build, and a commit where git knows it."""
    done = subprocess.run([*PYTHON, "--version"], capture_output=True, text=True,
                          check=False, env=ENV)
    assert re.fullmatch(r"vssd (\d+\.\d+\.\d+)( \(commit [0-9a-f]{12}\))?\n",
                        done.stdout)
    text = (PROJECT / "meson.build").read_text()
    assert f"version: '{origin.version()}'" in text


def test_each_command_has_one_line_in_a_group() -> None:
    """GROUPS is the one list; `vssd --help` can be read at a glance."""
    assert sum(map(len, GROUPS.values())) == len(NAMES) == len(set(NAMES))
    shown = vssd("--help", COLUMNS="80").stdout
    for title in GROUPS:
        assert f"\n{title}:\n" in shown
    for name in NAMES:
        assert re.search(rf"^  {name} +\S.*(\n  \w|\n\n|\n\Z)", shown, re.M)


@pytest.mark.parametrize("name", OWN_HELP)
def test_help_is_that_of_the_command(name: str) -> None:
    """`help X` is `X --help`, and tells of each of its commands."""
    top = parser()
    p = {n: child for n, child, _ in parsing.children(top)}[name]
    assert vssd("help", name).stdout == vssd(name, "--help").stdout != ""
    for word, child, text in parsing.children(p):
        assert text and word in p.format_help()
        assert child.prog == f"vssd {name} {word}"


def test_help_of_topics_and_of_nothing() -> None:
    """The whole help; the tables."""
    assert vssd("help").stdout == vssd("--help").stdout
    for name in environment.VARIABLES:
        assert name in vssd("help", "environment").stdout
    assert "124  " in vssd("help", "status").stdout


def test_nonsense_is_refused() -> None:
    """In one line, before anything starts."""
    refused(1, "no command 'nix'", "help", "nix")
    refused(1, "kernel: no command 'nix': one of build", "help", "kernel",
            "nix")
    refused(1, "it has none", "help", "age", "more")
    refused(2, "invalid choice: 'tcsh'", "completion", "tcsh")
    refused(2, "required: SHELL", "completion")
    refused(1, "--page nix: no such command", "man", "--page", "nix")
    refused(1, "--out /nowhere: no such directory", "man", "--out", "/nowhere")
    refused(2, "required", "man")
    refused(2, "unrecognized arguments", "doctor", "--loud")
    refused(2, "invalid choice: 'nix'", "--quiet", "nix")


@pytest.mark.parametrize("words, wanted", [
    (("fault", "add", "--drive", "ssd1", "ctrl -> cfs"),
     {"action": "add", "drive": "ssd1", "what": "ctrl -> cfs"}),
    (("fault", "--drive=ssd1", "remove", "--run", "a", "1"),
     {"action": "remove", "drive": "ssd1", "run": "a", "what": "1"}),
    (("plot", "a.json", "--y", "waf", "c.json"),
     {"y": ["waf"], "results": ["a.json", "c.json"]}),
    (("run", "--mem", "2G", "--", "--drive", "x"),
     {"mem": "2G", "qemu": ["--drive", "x"]}),
    (("exec", "--run", "a", "ls", "--run", "b"),
     {"run": "a", "words": ["ls", "--run", "b"]}),
])
def test_options_stand_anywhere(words: tuple[str, ...],
                                wanted: dict[str, object]) -> None:
    """Between the arguments, too; what another program reads stays its own."""
    found = vars(parser().parse_args(list(words)))
    assert {key: str(found[key]) if isinstance(found[key], Path)
            else found[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    "p", parsing.every(parser()), ids=lambda p: p.prog)
def test_every_parser_ends_in_words(
        p: argparse.ArgumentParser,
        capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown option, whatever the parser's groups and arguments are."""
    with pytest.raises(SystemExit) as e:
        p.parse_args(["--nix", "--nix"])
    assert e.value.code == ending.USAGE and capsys.readouterr().err


@pytest.mark.parametrize("words", ["--version", "--help", "help status",
                                   "completion bash", "man --page run"])
def test_closed_pipe_is_quiet(words: str) -> None:
    """Whether the output is flushed by print() or at the end."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*PYTHON, *words.split()], stdout=writing,
                          env=dict(ENV, PYTHONUNBUFFERED=""),
                          stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (ending.BROKEN_PIPE, b"")


def on_a_terminal(*args: str, **more: str) -> str:
    """What a command prints on a terminal."""
    parent, child = pty.openpty()
    env = {k: v for k, v in ENV.items() if k != "NO_COLOR"}
    with subprocess.Popen([*PYTHON, *args], stdout=child,
                          env=dict(env, TERM="xterm", **more)) as proc:
        os.close(child)
        data = b""
        try:
            while more_data := os.read(parent, 4096):
                data += more_data
        except OSError:  # the other end is closed
            pass
        assert proc.wait() == 0
    os.close(parent)
    return data.decode().replace("\r", "")


def test_coloured_help() -> None:
    """On a terminal; brackets stay; the same words in a pipe, with NO_COLOR and
    without the library."""
    colour = on_a_terminal("bench", "--help", COLUMNS="80")
    assert "\x1b[" in colour and "NAME[=CHECKOUT]" in re.sub(
        r"\x1b\[[0-9;]*m", "", colour)
    plain = vssd("bench", "--help", COLUMNS="80").stdout
    assert "\x1b[" not in plain
    assert on_a_terminal("bench", "--help", COLUMNS="80", NO_COLOR="1") == plain


def test_help_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal before ./vssd setup."""
    monkeypatch.setattr(parsing, "wants_colours", lambda: True)
    monkeypatch.setitem(sys.modules, "rich_argparse", None)
    assert parser().format_help().startswith("usage: vssd [-h] [--version]")


# ---- completion and man pages -------------------------------------------------


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_completion_has_all_commands_and_options(shell: str) -> None:
    """Of each parser; the shell accepts it."""
    text = completion.text(parser(), shell)
    for p in parsing.every(parser()):
        for action in p._actions:
            for option in action.option_strings:
                if action.help != argparse.SUPPRESS:
                    word = option.lstrip("-") if shell == "fish" else option
                    assert word in text, (p.prog, option)
    for name in NAMES:
        assert re.search(rf"\b{name}\b", text)
    assert "tlc-generic" in text
    subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_choices_are_in_an_order() -> None:
    """shtab 1.7 of Debian 13 takes the first."""
    for p in parsing.every(parser()):
        for action in p._actions:
            if not isinstance(action, argparse._SubParsersAction):
                assert isinstance(action.choices, (list, tuple, type(None))), \
                    (p.prog, action.dest)


def bash_offers(*words: str) -> set[str]:
    """What bash offers for the last word."""
    script = completion.text(parser(), "bash") + f"""
COMP_WORDS=(vssd {" ".join(f"'{w}'" for w in words)})
COMP_CWORD={len(words)}
_shtab_vssd vssd
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return {*subprocess.run(["bash", "-c", script], capture_output=True,
                            text=True, check=True).stdout.split()}


def fish_offers(*words: str) -> set[str]:
    """What fish offers for the last word."""
    script = completion.text(parser(), "fish") \
        + f"\ncomplete --do-complete 'vssd {' '.join(words)}'\n"
    said = subprocess.run(["fish", "--no-config", "-c", script],
                          capture_output=True, text=True, check=True).stdout
    return {line.split("\t")[0] for line in said.splitlines()}


@pytest.mark.parametrize("offers", [bash_offers, fish_offers])
def test_shells_complete(offers: Callable[..., set[str]]) -> None:
    """Commands, their commands, options, profiles."""
    assert {"run", "figures", "doctor"} <= offers("")
    assert offers("kernel", "") >= {"build", "list", "remove"}
    assert "--profile" in offers("run", "--prof")
    assert "tlc-generic" in offers("run", "--profile", "tlc")


def test_zsh_completes(tmp_path: Path) -> None:
    """Its completions need a terminal, on which it edits a line: the same."""
    (tmp_path / "_vssd").write_text(completion.text(parser(), "zsh"))
    main, side = pty.openpty()
    with subprocess.Popen(["zsh", "-f", "-i"], stdin=side, stdout=side,
                          stderr=side, start_new_session=True,
                          env=dict(ENV, TERM="dumb", HOME=str(tmp_path),
                                   COLUMNS="500")) as proc:
        os.close(side)
        said = ""

        def answer(typed: str, wanted: str) -> None:
            nonlocal said
            os.write(main, typed.encode())
            end = time.monotonic() + 60
            said = ""
            while wanted not in said:
                assert select.select([main], [], [], end - time.monotonic())[0], \
                    (wanted, said)
                said += os.read(main, 65536).decode(errors="replace")

        try:
            answer(f"PS1=; fpath=({tmp_path} $fpath); autoload -Uz compinit;"
                   f" compinit -u -d {tmp_path}/dump; echo rea''dy\n", "ready")
            for typed, found in (
                    ("doct", "doctor"), ("kernel li", "kernel list"),
                    ("run --prof", "run --profile"),
                    ("run --profile tlc-g", "run --profile tlc-generic")):
                # Ctrl-A: what begins the line makes it print itself.
                answer(f"vssd {typed}\t\1echo @''@\n", f"@@vssd {found}")
        finally:
            proc.kill()
            os.close(main)


def test_man_pages(tmp_path: Path) -> None:
    """One for each command; man finds nothing to warn of, and each option
    shows."""
    assert vssd("man", "--out", str(tmp_path)).returncode == 0
    pages = {p.stem: p for p in tmp_path.glob("*.1")}
    assert set(pages) == {"vssd", *(f"vssd-{n}" for n in NAMES)}
    top = parser()
    for name, p, _ in parsing.children(top):
        text = rendered(pages[f"vssd-{name}"])
        for one in parsing.every(p):
            for action in one._actions:
                missing = {*action.option_strings} - {"-h", "--help"} \
                    - {o for o in action.option_strings if o in text}
                assert not missing or action.help == argparse.SUPPRESS, \
                    (one.prog, missing)
    text = rendered(pages["vssd"])
    for name in (*NAMES, *environment.VARIABLES, "124", "143"):
        assert name in text


def rendered(page: Path) -> str:
    """A page as text; with warnings the test fails."""
    done = subprocess.run(["man", "--warnings", "-P", "cat", "-l", str(page)],
                          capture_output=True, text=True, check=True,
                          env=dict(ENV, MANWIDTH="200", LC_ALL="C.UTF-8"))
    assert done.stderr == "", page
    return re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout)


def test_a_line_of_text_is_no_macro() -> None:
    """Each text that roff would take for one."""
    page = man.guarded(".TH A \"1\" \"2026\\-01\\-02\"\n./vssd run\n'x' is\n.SH B")
    assert page.split("\n") == [".TH A \"1\" \"2026-01-02\"", "\\&./vssd run",
                                "\\&'x' is", ".SH B"]


# ---- statuses and variables ---------------------------------------------------


def table(heading: str) -> dict[str, str]:
    """A table of the page, by its first column."""
    part = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `?([\w]+)`? \| (.*) \|$", part, re.M)
    return {a: b for a, b in rows if b != "meaning"}


def test_the_page_has_the_statuses() -> None:
    """The table of ending.py."""
    assert table("Exit statuses") == {
        str(n): text for n, text in ending.STATUSES.items()}
    assert ending.OTHER_STATUSES in PAGE.read_text()


def test_no_other_status_is_in_the_sources() -> None:
    """Of the commands' own code."""
    for path in [*(PROJECT / "scripts/vssd/cli").glob("*.py"),
                 *(PROJECT / "lab/vssd_lab/cli").glob("*.py"),
                 PROJECT / "scripts/vssd/ending.py"]:
        text = path.read_text()
        for found in re.findall(r"(?:sys\.exit|SystemExit)\((\d+)\)", text):
            assert int(found) in ending.STATUSES, path
        ends = re.findall(r"\ndef (?:main|_execute)\(.*?(?=\ndef |\Z)", text,
                          re.S)
        for body in ends:
            for found in re.findall(r"return (\d+)$", body, re.M):
                assert int(found) in ending.STATUSES, path


def heed_interrupts() -> None:
    """A job in the background of a shell ignores them, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_statuses_happen(tmp_path: Path) -> None:
    """Each one that needs no guest."""
    assert vssd("help").returncode == 0
    assert vssd("age", "no-such", "-o", str(tmp_path / "x")).returncode == 1
    assert vssd("--no-such").returncode == 2
    code = ("import sys, time; from vssd import ending; "
            "sys.exit(ending.run(lambda: print('up', flush=True)"
            " or time.sleep(60) or 0))")
    for number, status in ((signal.SIGINT, ending.INTERRUPTED),
                           (signal.SIGTERM, ending.TERMINATED)):
        with subprocess.Popen([sys.executable, "-c", code], env=ENV,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              preexec_fn=heed_interrupts) as proc:
            assert proc.stdout and proc.stdout.readline() == b"up\n"
            proc.send_signal(number)
            assert proc.wait() == status
    code = ("import sys; from vssd import ending; "
            "sys.exit(ending.run(lambda: [print('x' * 99, flush=True)"
            " for _ in range(99999)] and 0))")
    with subprocess.Popen([sys.executable, "-c", code], env=ENV,
                          stdout=subprocess.PIPE) as proc:
        assert proc.stdout
        proc.stdout.close()
        assert proc.wait() == ending.BROKEN_PIPE


SLOW_END = """
import sys, time, weakref
from vssd import ending

class Thing:
    pass

def callback(_):
    print("up", flush=True)
    time.sleep(0.5)  # what is raised here is dropped

def command():
    try:
        if sys.argv[1] == "callback":
            thing = Thing()
            kept = weakref.ref(thing, callback)
            del thing
        else:
            print("up", flush=True)
        time.sleep(60)
    finally:
        if sys.argv[1] == "cleanup":
            time.sleep(0.5)
        if sys.argv[1] == "raises":
            raise RuntimeError("cut short")
        print("closed", flush=True)
    return 0

sys.exit(ending.run(command))
"""


@pytest.mark.parametrize("how", ["plain", "cleanup", "callback", "raises"])
def test_a_signal_that_comes_twice(how: str) -> None:
    """As timeout(1) sends it: to the process and to its group.  Contexts are
    closed, and one line is said."""
    with subprocess.Popen([sys.executable, "-c", SLOW_END, how], env=ENV,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as proc:
        assert proc.stdout and proc.stdout.readline() == b"up\n"
        for _ in range(2):
            proc.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        out, err = proc.communicate(timeout=20)
    assert (proc.returncode, err) == (143, b"vssd: ended by SIGTERM\n")
    assert out == (b"" if how == "raises" else b"closed\n")


def test_a_signal_at_any_instant() -> None:
    """Of the start of a command: no traceback, whatever is being imported."""
    for i in range(12):
        with subprocess.Popen(
                [sys.executable, "-m", "vssd_lab", "help"], env=ENV,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as proc:
            time.sleep(0.04 * i)
            proc.send_signal(signal.SIGTERM)
            time.sleep(0.01)
            proc.send_signal(signal.SIGTERM)
            _, err = proc.communicate(timeout=20)
        assert proc.returncode in (143, -signal.SIGTERM, 0), err
        assert err in (b"", b"vssd: ended by SIGTERM\n")


# ---- answers without a build ---------------------------------------------------


def on_an_empty_cache(cache: Path, *args: str) \
        -> subprocess.CompletedProcess[str]:
    """The command, which leaves the cache as empty as it is (but for the folder
    of guests that run); where it would not, it soon fails."""
    done = vssd(*args, VSSD_CACHE=str(cache), VSSD_SHARED_CACHE="",
                PIP_NO_INDEX="1", LC_ALL="C.UTF-8")
    assert not cache.exists() or {p.name for p in cache.iterdir()} <= {"runs"}
    return done


def help_of_the_program(*words: str) -> str:
    """What the vssd-sim of these sources prints."""
    return subprocess.run(
        [str(model.sim()), *words, "--help"], capture_output=True, text=True,
        check=True, env=dict(os.environ, LC_ALL="C.UTF-8")).stdout


def test_help_of_sim_is_that_of_the_program() -> None:
    """The text that is shown where nothing is built."""
    commands = re.findall(r"^  ([a-z]+) ", help_of_the_program(), re.M)
    calls = [[], *([c] for c in commands),
             *([c, "--describe"] for c in commands
               if "--describe" in help_of_the_program(c))]
    text = "".join(
        f"==== {' '.join(['vssd-sim', *words])} --help ====\n"
        + help_of_the_program(*words) for words in calls)
    if os.environ.get("VSSD_WRITE_DOCS"):
        sim.HELP.write_text(text, encoding="utf-8")
    assert sim.HELP.read_text(encoding="utf-8") == text, (
        f"{sim.HELP.name} is out of date; refresh it: VSSD_WRITE_DOCS=1"
        " ./vssd test scripts test_help_of_sim")
    for words in calls:
        assert sim.help_of([*words, "--help"]) == help_of_the_program(*words)


@pytest.mark.parametrize("args, begins", [
    (["--help"], "Usage: vssd-sim COMMAND"),
    (["-h"], "Usage: vssd-sim COMMAND"),
    (["run", "--help"], "Usage:\n  vssd-sim run [OPTION"),
    (["replay", "a.csv", "-h"], "Usage:\n  vssd-sim replay [OPTION"),
    (["--profile", "tiny", "--help"], "Usage:\n  vssd-sim run [OPTION"),
    (["--trace=a.csv", "--help"], "Usage:\n  vssd-sim replay [OPTION"),
    (["run", "--describe", "--help"], "Usage:\n  vssd-sim run [OPTION"),
])
def test_help_of_sim_without_a_build(args: list[str], begins: str,
                                     tmp_path: Path) -> None:
    """On an empty cache."""
    done = on_an_empty_cache(tmp_path / "c", "sim", *args)
    assert done.returncode == 0 and done.stdout.startswith(begins)
    assert ("--explain" in done.stdout) == (
        args[0] not in ("--help", "-h") and "--describe" not in args)


@pytest.mark.parametrize("args, status", [
    (["checklog", str(PAGE)], 2), (["sim", "options"], 0),
    (["cache", "clean", "--dry-run"], 0),
])
def test_no_lock_without_a_build(args: list[str], status: int,
                                 tmp_path: Path) -> None:
    """Nor libraries: a program that is there, and what needs none, waits for
    nobody who makes something."""
    made = model.oplog_check() if args[0] == "checklog" else model.sim()
    cache, shared = tmp_path / "c", tmp_path / "shared"
    shared.mkdir()
    (shared / made.parent.name).symlink_to(made.parent)
    done = vssd(*args, VSSD_CACHE=str(cache), PIP_NO_INDEX="1",
                VSSD_SHARED_CACHE=str(shared))
    assert done.returncode == status, done.stderr
    assert not list(cache.rglob("*.lock")), done.stderr


# A command line, its exit status and what is said.
MISTAKES = [
    ("sim nosuch", 2, "nosuch: which command? run, replay, batch"),
    ("sim", 2, "vssd-sim: which command? run, replay, batch"),
    ("sim replay nosuch.csv", 1, "nosuch.csv: No such file"),
    ("sim replay --describe nosuch.csv", 1, "nosuch.csv: No such file"),
    ("sim --trace=nosuch.csv --profile tiny", 1, "--trace nosuch.csv: No such"),
    ("sim convert --to msr nosuch.trace", 1, "nosuch.trace: No such file"),
    ("sim info /", 1, "/: Is a directory"),
    ("sim run --nosuch 1", 2, "Unknown option --nosuch (vssd-sim run --help)"),
    ("sim run --profile nosuch", 1, "no profile 'nosuch'"),
    ("sim run --profile=nosuch.ini", 1, "no profile 'nosuch.ini'"),
    ("sim run --job nosuch.fio", 1, "--job nosuch.fio: No such file"),
    ("sim run --workload @nosuch", 1, "--workload nosuch: No such file"),
    ("sim run --state=nosuch.state", 1, "--state nosuch.state: No such file"),
    ("run --drive profile=nosuch", 1, "--drive profile=nosuch: a profile comes"),
    ("run --drive nosuch,size=8G", 1, "no profile 'nosuch'"),
    ("rnu --exec a", 2, "invalid choice: 'rnu'; did you mean run? (choose"),
    ("cache du clena", 1, "cache du: what is 'clena'?"),
    ("cache clena", 2, "invalid choice: 'clena'; did you mean clean?"),
    ("run --porfile tiny", 2, "run: unrecognized arguments: --porfile; did you"
     " mean --profile? (./vssd run --help"),
    ("run a --porfile=tiny -- b", 2, "--porfile=tiny -- b; did you mean"
     " --profile?"),
    ("run --profile tinny", 1, "no profile 'tinny'; did you mean tiny?: give"),
    ("run --drive tiny,sizze=8G", 1, "--drive tiny,sizze=8G: no key 'sizze'; did"
     " you mean size?"),
    ("--quite run", 2, "unrecognized arguments: --quite; did you mean --quiet?"),
    ("help rnu", 1, "no command 'rnu'; did you mean run?: one of"),
    ("sim rnu", 2, "options; did you mean run? (vssd-sim --help)"),
    ("sim run --porfile tiny", 2, "Unknown option --porfile; did you mean"
     " --profile? (vssd-sim"),
    ("figures lyaout", 1, "no figure 'lyaout'; did you mean layout?: all"),
    ("bench fioo", 1, "no benchmark 'fioo'; did you mean fio?: one of"),
    ("run --profile nosuch", 1, "no profile 'nosuch'"),
    ("run --detach --smp 0", 1, "--smp 0: allowed 1..255"),
    ("run --disk nosuch.qcow2", 1, "--disk nosuch.qcow2: no such file"),
    ("vng --profile nosuch -- -r a", 1, "no profile 'nosuch'"),
    ("libvirt a --profile nosuch", 1, "no profile 'nosuch'"),
    ("age nosuch -o a.state", 1, "no profile 'nosuch'"),
    ("compare nosuch.json b.json", 1, "nosuch.json: No such file"),
    ("compare pyproject.toml b.json", 1, "b.json: No such file"),
    ("report nosuch.json", 1, "nosuch.json: No such file"),
    ("plot nosuch.json --y waf", 1, "nosuch.json: No such file"),
    ("plot nosuch.csv --y waf -o a.png", 1, "nosuch.csv: No such file"),
    ("plot a.json --y waf -o a.gif", 1, "-o a.gif: allowed names"),
    ("sweep nosuch.toml", 1, "nosuch.toml: No such file"),
    ("sweep pyproject.toml --out a.txt", 1, "--out a.txt: allowed names"),
    ("fleet nosuch.toml --drives 3", 1, "nosuch.toml: No such file"),
    ("fit --fio nosuch.json --profile tiny --free nand.read=1us..9us", 1,
     "--fio nosuch.json: No such file"),
    ("fit --published nosuch", 1, "nosuch"),
    ("validate nosuch", 1, "nosuch"),
    ("figures nosuch", 1, "no figure 'nosuch'"),
    ("bench nosuch", 1, "no benchmark 'nosuch'"),
    ("fault remove nosuch", 1, "a rule's number must follow"),
    ("stat --count 3", 1, "--count goes with --watch only"),
    ("fuzz trace --executions 0", 1, "--executions 0: allowed 1 or more"),
    ("checklog nosuch.oplog", 2, "nosuch.oplog: No such file"),
    ("checklog /", 2, "vssd-oplog-check: /: Is a directory"),
    ("test nosuch", 1, "NAME: nosuch: no test has such a name"),
    ("test lint qemu test_nosuch", 1, "no test of lint, qemu has such a name"),
    ("test gcc test_fault", 1, "no test of gcc has such a name"),
    ("test test_fault nosuch-at-all", 1, "nosuch-at-all: no test has"),
    ("test a/b", 1, "NAME: a group"),
    ("cache clean nosuch", 1, "cache clean: what is 'nosuch'?"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_arguments_come_first(mistake: tuple[str, int, str],
                              tmp_path: Path) -> None:
    """A mistake in them is told before anything is installed or built."""
    line, status, says = mistake
    done = on_an_empty_cache(tmp_path / "c", *line.split())
    assert says in done.stderr and done.returncode == status
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("given, meant", [
    ("rnu", "run"), ("rn", "run"), ("ruun", "run"), ("RUN", "run"),
    ("replax", "replay"), ("reqlax", "replay"), ("xeqlax", ""), ("ruxx", ""),
    ("", ""), ("f", ""), ("r" * 100, ""), ("batch", "batch"),
])
def test_nearest_name(given: str, meant: str) -> None:
    """As in tests/core/nearest.c."""
    names = ["run", "replay", "batch", "convert", "queue", "fit"]
    assert nearest.nearest(given, names) == meant
    assert nearest.hint(given, names) \
        == (f"; did you mean {meant}?" if meant else "")


@pytest.mark.parametrize("line, says", [
    ("run --smp 256", "--smp 256: allowed 1..255, it is above 255"),
    ("libvirt a --smp 0", "--smp 0: allowed 1..255, it is below 1"),
    ("run --seed -1", "0..9223372036854775807, it is below 0"),
    ("vng --seed 9223372036854775808 -- -r a", "it is above 9223372036854775807"),
    ("age tiny -o a.state --seed -1", "--seed -1: allowed 0..92233"),
    ("run --controllers 25", "allowed 1..24, it is above 24"),
    ("run --exec x --timeout 1e10", "--timeout 10000000000: allowed above 0 to"
     " 1000000000 seconds, it is above 1000000000"),
    ("run --exec x --timeout nan", "--timeout nan: allowed above 0 to"
     " 1000000000 seconds, it is no number"),
    ("exec --timeout 0 true", "it is not above 0"),
    ("stop --timeout inf", "it is above 1000000000"),
    ("run --ssh 65536", "--ssh 65536: allowed 1..65535, it is above 65535"),
    ("run --forward 0:22", "--forward 0:22: port 0: allowed 1..65535, it is"
     " below 1"),
    ("metrics --port 65536", "allowed 0..65535, it is above 65535"),
    ("stat --watch 0", "allowed 0.01..86400 seconds, it is below 0.01"),
    ("stat --watch 1 --count 0", "--count 0: allowed 1 or more, it is below 1"),
    ("top --interval 4000", "allowed 0.1..3600 seconds, it is above 3600"),
    ("kernel build --jobs 1025", "allowed 0..1024, it is above 1024"),
    ("validate --jobs -1", "--jobs -1: allowed 0..1024, it is below 0"),
    ("figures all --jobs 1025", "it is above 1024"),
    ("figures all --scale 0", "--scale 0: allowed 0.001..1000, it is below"),
    ("fit --published tiny --tolerance 101", "it is above 100"),
    ("bench sim --repeat 0", "--repeat 0: allowed 1 or more, it is below 1"),
    ("policy test a.so --runs 0", "--runs 0: allowed 1 or more"),
    ("powercut campaign --write a --check b --cuts 0", "it is below 1"),
    ("powercut campaign --write a --check b --seconds 3601",
     "--seconds 3601: allowed 0.1..3600, it is above 3600"),
])
def test_numbers_name_the_bound(line: str, says: str) -> None:
    """The one that was broken."""
    args = parser().parse_args(line.split())
    with pytest.raises(UserError) as e:
        getattr(args, "check_arguments", args.call)(args)
    assert says in str(e.value) and "\n" not in str(e.value)


@pytest.mark.parametrize("group, names", [
    ("scripts", "test_names_of_tests test_command_line Names_Of mistake3 tidy"
     " riscv64"),
    ("lab", "test_mutants test_judge"),
    ("qemu", "test_ zero-latency surprise-remove"), ("qemu-new", "test_"),
    ("server", "test_"), ("guest", "test_ bookworm"),
    ("lint", "tidy documents"), ("mutants", "ftl"),
    ("gcc", "layers swarm-long canary-lost-trim"), ("release", "layers"),
])
def test_names_of_tests(group: str, names: str) -> None:
    """Groups know their tests, also the names that pytest and meson put
    together."""
    assert testnames.unknown([group], names.split()) == []
    assert testnames.unknown([group, "lint"], ["ruff", "nos" + "uch"]) \
        == ["nos" + "uch"]


def test_names_that_pytest_puts_together() -> None:
    """Parameters are between "-"; numbers are not looked at."""
    cells = frozenset(("ext4", "some-thing", "one0"))
    for text in ("ext4", "ext4-some-th", "xt4-17-one", "thing-ext4-one0", "23"):
        assert testnames._joined(text, cells), text
    for text in ("ext", "some-ext4-such"):
        assert testnames._joined(text, cells) == (text == "ext"), text


def used_variables() -> set[str]:
    """Every VSSD_* that a source reads or sets for a program.  Events of QMP have
    names of that form, too."""
    found = set()
    for folder in ("scripts", "lab", "tests", "sim", "core", "nand", "ftl",
                   "hw-ssd", "tools", "guest-tools", ".ci"):
        for path in (PROJECT / folder).rglob("*"):
            if not path.is_file() or path.suffix not in (
                    ".py", ".c", ".h", ".sh", ".build", "", ".service"):
                continue
            if path == Path(environment.__file__) or \
                    path.stem.replace("test_", "") == "events":
                continue
            text = path.read_text(errors="replace")
            found |= set(re.findall(r"""["'](VSSD_[A-Z_]+)["'](?!\()""", text))
            if path.suffix in (".sh", "") and path.name != "Makefile":
                found |= set(re.findall(r"\$\{?(VSSD_[A-Z_]+)", text))
    return found


def test_every_variable_is_in_the_table() -> None:
    """And no other; the page has those of users and of tests."""
    assert used_variables() == {*environment.VARIABLES,
                                *environment.CAMPAIGN_VARIABLES,
                                *environment.TEST_VARIABLES}
    assert table("Environment") == environment.VARIABLES
    assert table("Environment of tests") == environment.TEST_VARIABLES


# ---- --quiet, progress, doctor ------------------------------------------------


def test_quiet_everywhere() -> None:
    """Each parser has it, and it is heard before and after the command."""
    for p in parsing.every(parser()):
        if p.add_help:
            assert "--quiet" in p.format_help(), p.prog
    for argv in (["--quiet", "doctor"], ["doctor", "--quiet"],
                 ["kernel", "list", "--quiet"]):
        assert parser().parse_args(argv).quiet
    assert not parser().parse_args(["doctor"]).quiet


def test_quiet_hides_stages(capsys: pytest.CaptureFixture[str],
                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages and notes; what is printed otherwise stays."""
    for quiet in (False, True):
        monkeypatch.setattr(ui, "quiet", quiet)
        with ui.Stage("work") as stage:
            stage.step(1, 2)
        ui.say("a note")
        assert ("a note" in capsys.readouterr().err) != quiet


def test_pace() -> None:
    """Rate and rest; neither in the first two seconds."""
    assert ui.pace(10, 100, 1.9) == "" == ui.pace(0, 100, 10)
    assert ui.pace(20, 100, 10) == "2/s, 40 s left"
    assert ui.pace(5, 100, 60) == "5/min, 19 min left"
    assert ui.pace(30_000_000, 60_000_000, 10) == "3 M/s, 10 s left"
    assert ui.pace(100, 100, 10) == "10/s"


def test_progress_tells_rate_and_rest(
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch) -> None:
    """In the lines of a log."""
    monkeypatch.setattr(ui.Stage, "REPORT_S", 0)
    with ui.Stage("work") as stage:
        stage.begin = time.monotonic() - 10
        stage.add(4, "part")
        stage.add(4, "part")
    assert re.search(r"work:  50 % \[2/4\] 12/min, 10 s left  part \(10 s\)",
                     capsys.readouterr().err)


def test_doctor() -> None:
    """Every check has an answer; nothing is made."""
    done = vssd("doctor", "--json")
    found = {f["what"]: f for f in json.loads(done.stdout)["findings"]}
    assert found["vssd"]["detail"] + "\n" == \
        vssd("--version").stdout.removeprefix("vssd ")
    assert {"KVM", "disk", "memory", "Python", "QEMU with the device"} \
        <= set(found)
    accel = "KVM" if found["KVM"]["state"] == "works" else "TCG"
    assert f"with {accel}" in found["speed"]["detail"]
    assert "bench --report" in found["speed"]["remedy"]
    fails = [f for f in found.values() if f["state"] == "fails"]
    assert done.returncode == (1 if fails else 0)
    text = vssd("doctor").stdout
    for name in found:
        assert name in text


def test_doctor_on_a_bare_machine(tmp_path: Path) -> None:
    """An empty cache, no packages: it says so and leaves it empty."""
    path = tmp_path / "bin"
    path.mkdir()
    done = vssd("doctor", VSSD_CACHE=str(tmp_path / "cache"), PATH=str(path))
    assert done.returncode == 1
    assert "no dpkg" in done.stdout and "-> install by hand: gcc" in done.stdout
    assert "is made when needed" in done.stdout
    assert list((tmp_path / "cache").iterdir()) == []
