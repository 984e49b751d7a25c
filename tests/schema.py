# SPDX-License-Identifier: GPL-2.0-or-later
"""Check JSON by the schemas of docs/schema/."""

from __future__ import annotations

import json
from typing import Any

from vssd.build import venv
from vssd.paths import PROJECT

FOLDER = PROJECT / "docs/schema"


def load(name: str) -> dict[str, Any]:
    """The schema of a name."""
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return schema


def faults(name: str, value: Any) -> list[str]:
    """What is wrong with a value by the schema; empty: nothing."""
    venv.extra("schema")
    from jsonschema import Draft202012Validator

    return [f"{error.json_path}: {error.message}" for error in
            Draft202012Validator(load(name)).iter_errors(value)]
