# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents: links, paths, options, commands and wording (README.md,
CONTRIBUTING.md and all *.md below docs/)."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

import comment_names
import words
from vssd.paths import PROJECT

PAGES = sorted((PROJECT / "docs").rglob("*.md"))
ROOT_PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md"]
ALL = [*ROOT_PAGES, *PAGES]
WIDTH = 100
MOST_LINES = 400
READERS = "**Readers:** "
THEN = "**Afterwards you can** "

FENCE = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
INDENTED = re.compile(r"(?:\A|(?<=\n\n))(?:(?: {4}|\t).*\n)+", re.M)
SPAN = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")

# Of documents alone; words.WORDS are those of comments, too.
RIDDLES = {r"what": "(name the thing)"}

# Groups of options whose names also begin members of the results.
RESULTS = ("gc.", "buffer.", "map.", "media.", "nand.", "streams.",
           "background.", "merges.")
# Options of other tools (docs/coming-from.md) that look like ours.
FOREIGN = {"fdp.nruh", "fdp.nrg", "fdp.runs", "fdp.nru"}
# Pages of measured results, and of published ones with their sources.
RESULTS_PAGES = re.compile(r"docs/(?:results/|lab/(?:figure-|validation\.md))")
SOURCES_PAGES = ("docs/profiles.md", "docs/coming-from.md")
DATED = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October"
    r"|November|December) 20\d\d\b|\b20\d\d-[01]\d\b"
    r"|\b(?:Xeon|EPYC|Zen \d|Sapphire Rapids|Ryzen)\b|\bidle (?:machine|cores)\b"
    r"|\b(?i:commit) [0-9a-f]{7,}\b")
# Versions of others that have no number.
DATED_SOURCES = ("third version of 16 June 2026", "Cloud Hypervisor, August 2026",
                 "`vfio_user.rs`, August 2026")
FOLDERS = ("core", "nand", "ftl", "hw-ssd", "lib", "sim", "tests", "scripts",
           "profiles", "docs", "guest-tools", "tools", "lab")


def text_of(page: Path) -> str:
    """The page as it is."""
    return page.read_text()


def without_code(text: str) -> str:
    """The page's prose and tables."""
    return INDENTED.sub("\n", FENCE.sub("", text))


def words_of(text: str) -> str:
    """Prose and tables without code spans, quotations and addresses."""
    text = SPAN.sub("`", without_code(text))
    text = re.sub(r'"[^"]*"', '""', text)
    return LINK.sub("", text)


def code_of(text: str) -> str:
    """The code blocks of a page."""
    return "\n".join([m[0] for m in FENCE.finditer(text)] + [
        m[0] for m in INDENTED.finditer(FENCE.sub("", text))])


def names(page: Path) -> str:
    """For messages of pytest."""
    return str(page.relative_to(PROJECT))


def anchors(text: str) -> set[str]:
    """Those that Markdown makes of the headings."""
    heads = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-")
            for h in heads}


def bad_links(page: Path, text: str) -> list[str]:
    """Relative links to nothing."""
    bad = []
    for to in LINK.findall(SPAN.sub("", without_code(text))):
        if re.match(r"\w+:", to):
            continue
        name, _, anchor = to.partition("#")
        target = page if not name else (page.parent / name).resolve()
        if not target.exists() or (
                anchor and anchor not in anchors(text_of(target))):
            bad.append(to)
    return bad


def long_lines(text: str) -> list[str]:
    """Lines over the limit that are no code, table row or lone link."""
    text = FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)
    return [line for line in INDENTED.sub("\n", text).splitlines()
            if len(line) > WIDTH and not line.lstrip().startswith("|")
            and not re.fullmatch(r"\s*(?:[-*] )?\[[^\]]*\]\([^)]*\)[.,]?",
                                 line)]


def dated(text: str) -> list[str]:
    """Dates, machines and commits of measurements, but for others' versions."""
    text = " ".join(text.split())
    for source in DATED_SOURCES:
        text = text.replace(source, "")
    return [m[0] for m in DATED.finditer(text)]


def bad_words(text: str) -> list[str]:
    """Words that must not come back, with the word to use."""
    return [f"{word!r} -> {instead}: {line}" for word, instead, line
            in words.found_in(words_of(text), {**words.WORDS, **RIDDLES})]


@cache
def options() -> set[str]:
    """Every key of docs/options.md (test_command.py holds it to the code)."""
    rows = re.findall(r"^\| `([\w.]+)` \|",
                      text_of(PROJECT / "docs/options.md"), re.M)
    assert len(rows) > 90
    return set(rows)


@cache
def statistics() -> str:
    """Where results are named."""
    return "".join(map(text_of, sorted((PROJECT / "docs").glob("results*.md"))))


def new_options(text: str) -> set[str]:
    """Those that an example of the page adds."""
    return set(re.findall(r'^\+.*"([a-z]+\.\w+)"', code_of(text), re.M))


@cache
def live_sections() -> set[str]:
    """Sections of a picture (docs/live-format.md)."""
    table = (PROJECT / "ftl/inspect/live-picture.c").read_text()
    return set(re.findall(r' X\(\w+, "([\w.]+)"', table))


def unknown_options(text: str) -> list[str]:
    """`group.name` and `group.name=value` in backticks that are no option,
    nor a member of the results."""
    groups = {o.split(".")[0] for o in options() if "." in o}
    known = options() | FOREIGN | new_options(text) | live_sections()
    bad = []
    for span in SPAN.findall(without_code(text)):
        m = re.fullmatch(r"((\w+)\.([\w.]*\w))(?:=\S+)?", span)
        if not m or m[2] not in groups or m[3] in ("c", "h", "md", "ini"):
            continue
        if m[3].isupper():
            continue  # a placeholder
        if m[1] not in known and f"`{m[1]}" not in statistics() \
                and not ("=" not in span and m[1].startswith(RESULTS)
                         and f"{m[3].split('.')[-1]}`" in statistics()):
            bad.append(span)
    return bad


def sets_of(text: str) -> list[str]:
    """Keys of --set in the code blocks and spans that are no option."""
    keys = re.findall(r"--set[ =]'?([\w.]+)=", text)
    known = options() | new_options(text) | {"key", "KEY"}
    return [k for k in keys if k not in known]


@cache
def subcommands() -> set[str]:
    """Those that ./vssd --help lists."""
    done = subprocess.run([str(PROJECT / "vssd"), "--help"],
                          capture_output=True, text=True, check=True)
    found = set(re.findall(r"^  (\w+)(?: |$)", done.stdout, re.M))
    assert {"setup", "run", "sim", "test", "bench", "libvirt"} <= found
    return found


def unknown_commands(text: str) -> list[str]:
    """./vssd SUBCOMMAND that does not exist."""
    used = re.findall(r"\./vssd ([a-z]\w*)", text)
    new = re.findall(r"^New file `scripts/vssd/cli/(\w+)\.py`:", text, re.M)
    return [c for c in used if c not in subcommands() | set(new)]


@cache
def sim_commands() -> set[str]:
    """Those of vssd-sim (test_command.py holds --help to the list)."""
    found = set(re.findall(r"^    X\((\w+)\)",
                           text_of(PROJECT / "sim/command.h"), re.M))
    assert {"run", "replay", "info"} <= found
    return found


def unknown_sim_commands(text: str) -> list[str]:
    """vssd-sim without a command that exists, in code."""
    code = "\n".join([code_of(text), *SPAN.findall(without_code(text))])
    used = re.findall(r'(?<![/\w])(?:\./vssd sim|vssd-sim|'
                      r'"\$BUILD/sim/vssd-sim") +(-*\w[-\w]*)', code)
    new = re.findall(r"^New file `sim/cmd-(\w+)\.c`:", text, re.M)
    return [c for c in used
            if c not in sim_commands() | set(new) | {"--help"}]


@cache
def tracked() -> set[str]:
    """Files of the project and their folders."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                          cwd=PROJECT, capture_output=True, text=True,
                          check=False)
    files = set(done.stdout.split()) or {
        str(p.relative_to(PROJECT)) for d in FOLDERS
        for p in (PROJECT / d).rglob("*")}
    return files | {str(q) for f in files for q in Path(f).parents}


def missing_paths(text: str) -> list[str]:
    """`folder/file` in backticks that is not in the project.  `*` and NAME stand
    for any name; the files that a guide adds may be missing."""
    new = set(re.findall(r"^New file `([^`]+)`:", text, re.M))
    bad = []
    for span in SPAN.findall(without_code(text)):
        if not re.fullmatch(rf"(?:{'|'.join(FOLDERS)})/[\w./*+-]*", span) \
                or span in new:
            continue
        if "*" in span or "NAME" in span:
            if not any(PROJECT.glob(span.replace("NAME", "*"))):
                bad.append(span)
        elif span.rstrip("/") not in tracked() and \
                not any((PROJECT / span).parent.glob(
                    Path(span).name + ".[ch]")):
            bad.append(span)
    return bad


def test_live_sections() -> None:
    """The page of the live view has each section, and each member of the
    statistics that it shows has a row on the pages of results."""
    page = text_of(PROJECT / "docs/live-format.md")
    assert len(live_sections()) >= 30
    assert {s for s in live_sections() if f"`{s}`" not in page} == set()
    values = (PROJECT / "ftl/inspect/live-values.c").read_text()
    paths = re.findall(r'^    "([\w.<>]+)",$', values, re.M)
    assert len(paths) > 60
    assert {p for p in paths
            if not re.search(rf"`{re.escape(p)}[`.]", statistics())} == set()


@pytest.mark.parametrize("page", ALL, ids=names)
def test_page(page: Path) -> None:
    """One page: form, links, names and words."""
    text = text_of(page)
    wrong = {
        "links": bad_links(page, text),
        f"lines over {WIDTH} columns": long_lines(text),
        "words": bad_words(text),
        "options": unknown_options(text) + sets_of(text),
        "commands": unknown_commands(text) + unknown_sim_commands(text),
        "paths": missing_paths(text),
    }
    assert {k: v for k, v in wrong.items() if v} == {}


@pytest.mark.parametrize("page", ALL, ids=names)
def test_reference_has_no_dates(page: Path) -> None:
    """Measurements, with day and machine, belong to docs/results."""
    if not RESULTS_PAGES.match(names(page)) and names(page) not in SOURCES_PAGES:
        assert dated(without_code(text_of(page))) == []


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_head(page: Path) -> None:
    """A heading, who reads the page, and what they can do afterwards."""
    lines = text_of(page).splitlines()
    assert re.match(r"# \S", lines[0]) and lines[1] == ""
    assert lines[2].startswith(READERS)
    assert THEN in " ".join(lines[2:5])
    assert len(lines) <= MOST_LINES, "make it two pages"


@cache
def paths() -> set[str]:
    """Files, their folders, and their names without a folder."""
    return tracked() | {n.split("/")[-1] for n in tracked()}


@cache
def sources() -> dict[str, str]:
    """The text of each C and Python source."""
    return {n: text_of(PROJECT / n) for n in sorted(tracked())
            if n.endswith((".c", ".h", ".py")) and "corpora" not in n}


def test_comments() -> None:
    """The words of all comments; words.py is the list itself."""
    assert len(sources()) > 500
    assert [line for n, text in sources().items()
            if n != "tests/scripts/words.py"
            for line in words.in_comments(n, text)] == []


def test_identifiers() -> None:
    """Words that the glossary replaced are gone from names, too."""
    assert [line for n, text in sources().items()
            for line in words.in_names(n, text)] == []
    assert list(words.in_names("ftl/a.c", "int gc_mate; /* kick */ int mated;")) \
        == ["ftl/a.c: gc_mate -> joined, joinable, in_group"]


def test_names_in_comments() -> None:
    """Members of structs, pages and files that comments name are there."""
    known = comment_names.structs(sources())
    assert len(known) > 400
    assert [line for n, text in sources().items()
            for line in (*comment_names.gone_members(n, text, known),
                         *comment_names.gone_files(n, text, paths()))] == []


@pytest.mark.parametrize("text, gone", [
    ("/* Plane.by_age, Plane.inner; Rows.any */", []),
    ("/* Plane.oldest */", ["Plane.oldest"]),
    ("/* of Absent.member, DeviceState.parent, e.g. */", ["Absent.member"]),
    ("/* docs/gc.md, gc.c, block/nvme.c, cmd-NAME.c */", []),
    ("/* docs/gone.md; ftl/gone.c */", ["docs/gone.md", "ftl/gone.c"]),
    ('char *a = "docs/gone.md";', []),
])
def test_gone_names(text: str, gone: list[str]) -> None:
    """In comments only; a struct with rows of a macro may have any member."""
    known = comment_names.structs({
        "a.h": "struct Plane { int by_age; /* oldest */ struct { int inner; } x; };"
               "typedef struct Rows { ALL_ROWS(MEMBER) } Rows;"})
    found = [*comment_names.gone_members("a.c", text, known),
             *comment_names.gone_files("a.c", text, paths())]
    assert found == [f"a.c:1: {name}" for name in gone]


@pytest.mark.parametrize("name, text, wrong", [
    ("a.c", "/* The host\n * is silent. */\nint a;", 1),
    ("a.h", "int a; /* GC gives up, and its books lie */", 3),
    ("a.c", 'char *a = "/* books */"; /* `books`, payload_pump() */', 0),
    ("a.py", '"""The books."""\na = "books"  # anew\n', 2),
])
def test_words_of_comments(name: str, text: str, wrong: int) -> None:
    """Comments and docstrings count; strings and code do not."""
    assert len(words.in_comments(name, text)) == wrong


def test_every_page_is_in_the_index() -> None:
    """From docs/README.md a reader gets to each page."""
    seen: set[Path] = set()
    wanted = [PROJECT / "docs/README.md"]
    while wanted:
        page = wanted.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        wanted += [(page.parent / to.partition("#")[0]).resolve()
                 for to in LINK.findall(text_of(page))
                 if not re.match(r"\w+:", to)]
    assert set(PAGES) <= seen


@pytest.mark.parametrize("check, text", [
    (lambda t: bad_links(PROJECT / "docs/README.md", t), "[x](none.md)"),
    (lambda t: bad_links(PROJECT / "docs/README.md", t), "[x](gc.md#none)"),
    (long_lines, "word " * 21),
    (bad_words, "The host is silent."),
    (bad_words, "| a | Cleaning of a plane |"),
    (bad_words, "It keeps what was read."),
    (unknown_options, "the option `ftl.nothing`"),
    (unknown_options, "the option `nand.nothing=3`"),
    (sets_of, "```sh\n./vssd run --set ftl.nothing=1\n```"),
    (unknown_commands, "```sh\n./vssd nothing\n```"),
    (unknown_sim_commands, "```sh\n./vssd sim --profile tiny\n```"),
    (unknown_sim_commands, "```sh\n! \"$BUILD/sim/vssd-sim\" nothing\n```"),
    (unknown_sim_commands, "see `vssd-sim --fit`"),
    (missing_paths, "see `ftl/gc/nothing.h`"),
    (missing_paths, "see `ftl/nothing-*.c`"),
    (dated, "It was 2 s\n(28 November\n2026)."),
    (dated, "on a Xeon"), (dated, "blktests a608cb5 (2026-08-21)"),
    (dated, "with the model of commit 5ceb5862"),
])
def test_a_mistake_is_found(check: object, text: str) -> None:
    """Each check sees its mistake."""
    assert callable(check) and check(text)


@pytest.mark.parametrize("check, text", [
    (lambda t: bad_links(PROJECT / "docs/README.md", t), "[x](gc.md)"),
    (long_lines, "| " + "word " * 30 + "|"),
    (long_lines, "```sh\n" + "word " * 30 + "\n```"),
    (bad_words, "`silence` in code"),
    (unknown_options, "`ftl.gc=greedy`, `gc.victims`, `nand.c`"),
    (sets_of, "--set nand.read=90us"),
    (unknown_commands, "./vssd run"),
    (unknown_sim_commands, "`./vssd sim run --seed 1`, `vssd-sim --help`"),
    (unknown_sim_commands, "```sh\nninja sim/vssd-sim tests\n```"),
    (missing_paths, "`ftl/gc/gc-policy.h`, `ftl/buffer/buf-*.c`"),
    (dated, "Kim et al., 2002; rows of 2026; the third version of 16 June 2026"),
])
def test_right_text_passes(check: object, text: str) -> None:
    """And nothing else."""
    assert callable(check) and not check(text)
