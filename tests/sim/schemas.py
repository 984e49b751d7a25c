# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON Schemas of results, from the rows of the statistics' tables
(results-rows.c).  A member has annotations of ours: x-path, its row in
docs/results.md, x-unit and x-kind, the unit and the kind of that row."""

import json
import re

STEP = re.compile(r"[^.<>\[\]]+|<\w+>|\[\w+\]")
DRAFT = "https://json-schema.org/draft/2020-12/schema"
TYPES = {"u64": {"type": "integer", "minimum": 0},
         "double": {"type": ["number", "null"]},
         "bool": {"type": "boolean"},
         "string": {"type": "string"},
         "histogram": {"$ref": "#/$defs/histogram"}}
OPTION = {"type": ["integer", "number", "boolean", "string"]}
FILES = {
    "run": "Result of vssd-sim run and replay (docs/results.md)",
    "device": "Statistics of the QEMU device (qom-get PATH stats;"
              " docs/results.md)",
    "info": "Output of vssd-sim info (docs/results.md)",
}


class Rows:
    """The rows by schema, and the names of the sets."""

    def __init__(self, lines: list[str]) -> None:
        self.rows: dict[str, list[dict]] = {}
        self.sets: dict[str, list[str]] = {}
        for line in lines:
            row = json.loads(line)
            if "set" in row:
                self.sets[row["set"]] = row["names"]
            else:
                self.rows.setdefault(row["schema"], []).append(row)


def _leaf(row: dict) -> dict:
    out = dict(TYPES[row["type"]])
    out["description"] = row["help"] + \
        (f" ({row['unit']})" if row["unit"] else "")
    out["x-path"] = row["path"]
    out["x-unit"] = row["unit"]
    out["x-kind"] = row["kind"]
    return out


def _object(node: dict) -> dict:
    node.setdefault("type", "object")
    return node.setdefault("properties", {})


def _child(node: dict, step: str, always: bool, sets: dict) -> list[dict]:
    """The nodes one step further; the first of them is made, the others are
    references to it."""
    if step.startswith("["):
        node["type"] = "array"
        if step[1:-1].isdigit():
            return [node.setdefault("items", {})]
        return [node.setdefault("items", {})]
    members = _object(node)
    names = sets[step[1:-1]] if step.startswith("<") else [step]
    if always:
        required = node.setdefault("required", [])
        required += [n for n in names if n not in required]
    return [members.setdefault(n, {}) for n in names]


def _insert(nodes: list[dict], row: dict, sets: dict) -> None:
    path = row["path"]
    for step in STEP.findall(path):
        nodes = [c for n in nodes
                 for c in _child(n, step, not row["when"], sets)]
    for node in nodes:
        node.update({**_leaf(row), **node})


def _tree(rows: list[dict], sets: dict) -> dict:
    root: dict = {"type": "object", "properties": {}}
    for row in rows:
        if row["type"] != "part":
            _insert([root], row, sets)
    return root


def _parts(schema: dict) -> None:
    """Members that are not rows of this table."""
    schema["properties"]["options"] = {
        "description": "options that differ from their defaults",
        "type": "object", "additionalProperties": OPTION}
    schema["required"].append("options")


def build(lines: list[str]) -> dict[str, dict]:
    """The schemas, by name of FILES."""
    all_of_them = Rows(lines)
    rows, sets = all_of_them.rows, all_of_them.sets
    histogram = _tree(rows["histogram"], sets)
    drive = _tree(rows["drive"], sets)
    for row in rows["maps"]:
        _insert([drive], {**row, "when": True}, sets)
    run = _tree(rows["run"], sets)
    device = _tree(rows["device"], sets)
    for schema in (run, device):
        _parts(schema)
        schema["$defs"] = {"histogram": histogram, "drive": drive}
    run["properties"]["drives"] = {
        "type": "array", "minItems": 2, "items": {"$ref": "#/$defs/drive"}}
    run["anyOf"] = [{"$ref": "#/$defs/drive"}, {"required": ["drives"]}]
    device["allOf"] = [{"$ref": "#/$defs/drive"}]
    out = {"run": run, "device": device, "info": _tree(rows["info"], sets)}
    return {name: {"$schema": DRAFT, "title": FILES[name], **schema}
            for name, schema in out.items()}


def text(schema: dict) -> str:
    """As it is in the file."""
    return json.dumps(schema, indent=1) + "\n"
