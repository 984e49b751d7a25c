# SPDX-License-Identifier: GPL-2.0-or-later
"""The components of ftl/, the rooms of hw-ssd/nvme/ and the floors of
hw-ssd/qemu/: who calls whom, as the object files say, or the sources of what is
not built everywhere.

Calls run down the lists below (docs/architecture.md).  Files that call each
other in a circle are counted; the numbers below may only be lowered.
"""

import collections
import os
import pathlib
import re
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["VSSD_BUILD"])
PROJECT = pathlib.Path(__file__).parents[1]
FTL = PROJECT / "ftl"

# From top to bottom.  Beside them: inspect, which reads all, and state.
ORDER = ["power", "host", "thermal", "gc", "map", "buffer", "placement",
         "journal", "media", "controller"]
BESIDE = ["inspect", "state"]

# The rooms of hw-ssd/nvme, from top to bottom; core: files beside the rooms.
NVME_ROOMS = ["core", "admin", "kv", "data", "metadata", "erase", "placement",
              "zone", "reservation", "health", "queue", "namespace", "memory",
              "registers", "payload"]

# Functions that only the settle pass calls, beside files of the same component.
PUMPS = {"meta_pump", "gc_release", "gc_force", "gc_pump", "host_room",
         "write_pump"}

# Functions in a header of ftl/, inline ones included: for other components, and
# for the component's own files.
MOST_PUBLIC = 28
MOST_PRIVATE = 32

# Files that are part of a circle.
CIRCLE_FILES = {"core": 0, "nand": 0, "ftl": 0, "hw-ssd/nvme": 0, "sim": 0,
                "lib": 0, "hw-ssd/qemu": 0, "hw-ssd/vfio-user": 0}
# Of these the sources are read: not every build has them.
AS_SOURCES = ("hw-ssd/qemu", "hw-ssd/vfio-user")

# The floors of hw-ssd/qemu (vssd.h), from top to bottom.
QEMU_FLOORS = {
    "device": ("vssd", "vssd-ctrl", "migration"),
    "function": ("function", "sriov"),
    "machine": ("machine", "memory", "running", "stats", "swap"),
    "files": ("state", "file-lock", "oplog", "durable", "live", "timeline",
              "recording"),
    "power": ("power", "faults", "slot"),
    "serve": ("serve", "kick", "wake", "rest"),
    "store": ("store", "store-end", "preload", "nodes", "metadata"),
    "run": ("run", "store-done", "lead"),
    "irq": ("irq", "irqfd", "hold"),
    "base": ("drive-lock", "clock", "events", "exit", "qom"),
}

# Parts of the QEMU device (hw-ssd/qemu/vssd.h): the files that write their
# members.  Others may read, so often.
QEMU_PARTS = {"serve": ("drive-lock", "run", "serve", "kick", "rest"),
              "clock": ("clock", "lead", "run", "serve", "wake", "rest"),
              "irq": ("irq", "irqfd", "hold"), "power": ("power", "faults", "slot"),
              "store": ("store", "store-done", "store-end", "preload",
                        "nodes"),
              "file": ("state", "file-lock", "oplog", "durable", "live",
                       "timeline", "recording"), "memory": ("memory",)}
QEMU_FOREIGN_READS = 43

# Accesses to a component's struct (Ssd.media and the like) in files that are not
# its own.
FOREIGN_READS = 295


def symbols(folder: str) -> dict[str, tuple[set[str], set[str]]]:
    """By file of the folder's library: names that its object file defines for
    others, and those it needs."""
    out = subprocess.run(["nm", "-A", "-g",
                          *sorted((BUILD / folder).glob("*.p/*.o"))],
                         capture_output=True, text=True, check=True).stdout
    found: dict[str, tuple[set[str], set[str]]] = {}
    for line in out.splitlines():
        path, rest = line.split(":", 1)
        file = path.rsplit("/", 1)[1].removesuffix(".c.o").replace("_", "/", 1)
        defined, needed = found.setdefault(file, (set(), set()))
        *_, kind, name = rest.split()
        (needed if kind == "U" else defined).add(name)
    return found


def graph(folder: str) -> dict[str, dict[str, set[str]]]:
    """caller -> callee -> names, by file, of the library that is built there."""
    objects = symbols(folder)
    home = {s: f for f, (defined, _) in objects.items() for s in defined}
    arrows: dict[str, dict[str, set[str]]] = {f: {} for f in objects}
    for f, (_, needed) in objects.items():
        for s in needed & home.keys():
            arrows[f].setdefault(home[s], set()).add(s)
    return arrows


def without_comments(text: str) -> str:
    """The code of a C file, without its strings."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', " ", text, flags=re.S)


def source_graph(files: dict[str, str]) -> dict[str, dict[str, set[str]]]:
    """The same as graph(), of the texts of all *.c and *.h of a folder: names
    that a header declares, and the file that has each at the beginning of a
    line, which is where definitions begin."""
    code = {name: without_comments(text) for name, text in files.items()}
    names = {n for name, text in files.items() if name.endswith(".h")
             for n in [*functions(text), *re.findall(
                 r"^extern [\w ]*?\*?(\w+)(?:\[\w*\])?;", code[name], re.M)]
             if not n.isupper()}
    sources = {name.removesuffix(".c"): text for name, text in code.items()
               if name.endswith(".c")}
    home = {m[1]: f for f, text in sources.items() for m in re.finditer(
        r"^(?!static\b|typedef\b|return\b)\w[\w \n]*?[ \n*](\w+) ?[(=\[]", text, re.M)
        if m[1] in names}
    arrows: dict[str, dict[str, set[str]]] = {f: {} for f in sources}
    for f, text in sources.items():
        for name in set(re.findall(r"\w+", text)) & home.keys():
            if home[name] != f:
                arrows[f].setdefault(home[name], set()).add(name)
    return arrows


def graph_of(folder: str) -> dict[str, dict[str, set[str]]]:
    """graph(), or source_graph()."""
    if folder not in AS_SOURCES:
        return graph(folder)
    return source_graph({p.name: p.read_text() for p in
                         sorted((PROJECT / folder).glob("*.[ch]"))})


def circles(arrows: dict[str, dict[str, set[str]]]) -> list[list[str]]:
    """Files that call each other in a circle (Tarjan 1972), largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in arrows[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            circle = []
            while True:
                circle.append(stack.pop())
                if circle[-1] == v:
                    break
            found.append(circle)

    for v in arrows:
        if v not in index:
            visit(v)
    return sorted((c for c in found if len(c) > 1), key=len, reverse=True)


def upward(arrows: dict[str, dict[str, set[str]]], order: list[str],
           beside: str = "") -> dict[str, set[str]]:
    """"from -> to" of folders in the list: the names that are called up.
    beside: what stands for files that are in no folder."""
    def place(file: str) -> str:
        return file.split("/")[0] if "/" in file else beside

    calls: dict[str, set[str]] = collections.defaultdict(set)
    for f, callees in arrows.items():
        a = place(f)
        for g, names in callees.items():
            b = place(g)
            if a in order and b in order and order.index(b) < order.index(a):
                calls[f"{a} -> {b}"] |= names
    return calls


def functions(header: str) -> list[str]:
    """The functions that the text of a header declares or defines."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    while (flat := re.sub(r"\{[^{}]*\}", ";", text)) != text:
        text = flat
    # What is left are declarations: a function's name stands before the first
    # bracket, a type before the name.
    found = (re.match(r"\s*(?!typedef\b)[\w\s*]*[\s*](\w+)\s*\((?!\s*\*)", d)
             for d in text.split(";"))
    return [m[1] for m in found if m]


class Components(unittest.TestCase):
    def test_calls_run_down(self) -> None:
        arrows = graph("ftl")
        self.assertGreater(len(arrows), 60)
        self.assertLessEqual(
            set(ORDER + BESIDE),
            {f.split("/")[0] for f in arrows if "/" in f})
        calls = upward(arrows, ORDER)
        self.assertFalse(calls, "calls that run up: " + str(
            {k: sorted(v) for k, v in calls.items()}))

    def test_nvme_rooms(self) -> None:
        arrows = graph("hw-ssd/nvme")
        self.assertGreater(len(arrows), 90)
        self.assertEqual({f.split("/")[0] for f in arrows if "/" in f},
                         set(NVME_ROOMS) - {"core"})
        calls = upward(arrows, NVME_ROOMS, "core")
        self.assertFalse(calls, "calls that run up: " + str(
            {k: sorted(v) for k, v in calls.items()}))

    def test_metadata(self) -> None:
        """A command of a namespace without metadata goes past metadata/."""
        users = {f for f, callees in graph("hw-ssd/nvme").items()
                 for g in callees if g.startswith("metadata/")
                 and not f.startswith("metadata/")}
        self.assertEqual(users, {"data/protected", "data/copy"})

    def test_life(self) -> None:
        """components.c lists the table of each component (component.h)."""
        objects = symbols("ftl")

        def tables(names: set[str]) -> set[str]:
            return {n for n in names if re.fullmatch(r"\w+_component", n)}

        made = set().union(*(tables(d) for d, _ in objects.values()))
        self.assertLessEqual({f"{c}_component" for c in ORDER}, made)
        self.assertEqual(tables(objects["components"][1]), made)

    def test_settle(self) -> None:
        """Handlers mark work for other components; they do not call it."""
        arrows = graph("ftl")
        self.assertLessEqual(PUMPS, set().union(*arrows["settle"].values()))
        for f, callees in arrows.items():
            for g, names in callees.items():
                if f != "settle" and f.split("/")[0] != g.split("/")[0]:
                    self.assertFalse(names & PUMPS, f"{f} calls {g}")

    def test_circles(self) -> None:
        for folder, most in CIRCLE_FILES.items():
            arrows = graph_of(folder)
            self.assertGreater(len(arrows), 1, folder)
            found = circles(arrows)
            files = sum(len(c) for c in found)
            self.assertLessEqual(files, most, f"{folder}: {found}")

    def test_floors_of_the_device(self) -> None:
        """Each file has a floor, and calls none above it."""
        arrows = graph_of("hw-ssd/qemu")
        floor = {f: name for name, files in QEMU_FLOORS.items() for f in files}
        self.assertEqual(floor.keys(), arrows.keys())
        self.assertEqual(floor.keys(), {*re.findall(
            r"'([\w-]+)\.c'", (PROJECT / "hw-ssd/qemu/meson.build").read_text())})
        calls = upward({f"{floor[f]}/{f}": {f"{floor[g]}/{g}": names
                                            for g, names in callees.items()}
                        for f, callees in arrows.items()}, [*QEMU_FLOORS])
        self.assertFalse(calls, "calls that run up: " + str(
            {k: sorted(v) for k, v in calls.items()}))

    def test_locks_are_asserted(self) -> None:
        """What a function or a member needs held no comment says, but at the
        head of a file, where the design stands."""
        asserted = 0
        for path in sorted([*(PROJECT / "hw-ssd/qemu").glob("*.[ch]"),
                            *(PROJECT / "hw-ssd/vfio-user").glob("*.[ch]")]):
            text = path.read_text()
            asserted += len(re.findall(
                r"g_assert\([^;]*(?:vssd_has_lock|bql_locked)\(", text))
            for comment in re.findall(r"/\*.*?\*/", text, re.S)[2:]:
                self.assertNotRegex(
                    comment, r"(?i)(?:\block|BQL)(?: is)?(?: not)? held|under lock"
                    r"|\* (?:BQL|main loop)[:;,. ]", path.name)
        self.assertGreaterEqual(asserted, 88)

    def test_sources(self) -> None:
        """The reading of sources itself."""
        self.assertEqual(source_graph({
            "a.h": "void one(int a);\nextern const T two;\n"
                   "static inline int no(void) { return 0; }",
            "a.c": 'void\none(int a)\n{\n    f("two"); /* two */\n}\n',
            "b.c": "const T two = {\n    .f = one,\n};\n"
                   "static int c(int one)\n{\n}\n",
        }), {"a": {}, "b": {"a": {"one"}}})

    def test_foreign_reads(self) -> None:
        """Others ask a component by the functions of its headers."""
        member = re.compile(r"->(" + "|".join(ORDER) + r")->\w")
        reads = own = 0
        for path in sorted(FTL.rglob("*.[ch]")):
            text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S)
            for m in member.finditer(text):
                own += path.parent.name == m[1]
                reads += path.parent.name != m[1]
        self.assertGreater(own, 1500)
        self.assertLessEqual(reads, FOREIGN_READS)

    def test_parts_of_the_device(self) -> None:
        """Each part of the QEMU device is written by its own files alone."""
        part = r"->(" + "|".join(QEMU_PARTS) + r")\."
        writes = re.compile(
            part + r"\w+(?:\[[^]]*\])?\s*(?:=[^=]|[-+|&]=|\+\+|--)"
            r"|(?:qatomic_(?:set|inc|dec|or|and|xchg)|timer_(?:mod|del|free)\w*|g_steal_pointer)"
            r"\(&?\w+" + part)
        reads = own = 0
        for path in sorted((FTL.parent / "hw-ssd/qemu").glob("*.c")):
            text = path.read_text()
            for m in re.finditer(part, text):
                own += path.stem in QEMU_PARTS[m[1]]
                reads += path.stem not in QEMU_PARTS[m[1]]
            for m in writes.finditer(text):
                self.assertIn(path.stem, QEMU_PARTS[m[1] or m[2]],
                              f"{path.name}: {m[0]}")
        self.assertGreater(own, 300)
        self.assertLessEqual(reads, QEMU_FOREIGN_READS)

    def test_headers(self) -> None:
        """A header has one reason, so it is small."""
        headers = sorted(FTL.rglob("*.h"))
        total = 0
        for path in headers:
            text = path.read_text()
            name = str(path.relative_to(FTL))
            most = (MOST_PRIVATE if '#error "private' in text
                    else MOST_PUBLIC)
            found = functions(text)
            total += len(found)
            self.assertLessEqual(len(found), most, f"ftl/{name}")
        self.assertGreater(len(headers), 50)
        self.assertGreater(total, 300)

    def test_functions(self) -> None:
        """The counting of functions itself."""
        self.assertEqual(functions("""
            /* void no(int); */
            #define NOT(x) \\
                no(x)
            typedef void (*No)(int);
            typedef struct S { void (*no)(int); int a[N(1)]; } S;
            extern const S no;
            enum { A, B };
            void one(int (*f)(void), S *s) __attribute__((cold));
            static inline S *two(int a)
            {
                if (no(a)) { no(1); }
                return NULL;
            }
            const char *three(void);
            struct S {
                int no;
            };
            uint64_t
            four(const S *s, int b);
            """), ["one", "two", "three", "four"])

    def test_counts(self) -> None:
        """The counting itself: two circles, and a call that runs up."""
        arrows: dict[str, dict[str, set[str]]] = {
            "media/a": {"gc/b": {"f"}}, "gc/b": {"media/a": {"g"}},
            "gc/c": {"gc/d": {"h"}}, "gc/d": {"gc/c": {"i"}}, "gc/e": {}}
        self.assertEqual([len(c) for c in circles(arrows)], [2, 2])
        self.assertEqual(upward(arrows, ORDER), {"media -> gc": {"f"}})
        beside: dict[str, dict[str, set[str]]] = {
            "kv/a": {"b": {"f"}}, "b": {"kv/a": {"g"}}}
        self.assertEqual(upward(beside, NVME_ROOMS, "core"),
                         {"kv -> core": {"f"}})


if __name__ == "__main__":
    unittest.main()
