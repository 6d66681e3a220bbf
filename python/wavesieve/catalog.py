"""What tables and queries there are, and what their columns mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .columns import Column, Columns
from .program import find_program, run

_TYPES = {"i64": "int64", "f64": "float64", "bool": "bool"}


def records(arguments: list[str]) -> list[dict[str, Any]]:
    """The rows of a result in JSON."""
    data, _ = run([*arguments, "--format=json"])
    rows: list[dict[str, Any]] = json.loads(data)
    return rows


@lru_cache(maxsize=256)
def _table(program: str, name: str) -> Columns:
    rows = records(["sql", f"DESCRIBE {name}"])
    return Columns(
        [Column(row["column_name"], _type(row["column_type"]), row["unit"] or None, row["about"]) for row in rows]
    )


def table_columns(name: str) -> Columns:
    """The columns of a table.

    >>> table_columns("kernels")["lds_bytes"]
    Column(name='lds_bytes', type='int64', unit='bytes', about='LDS of a workgroup')
    """
    if not name.isidentifier():
        raise KeyError(f"{name!r} is not a name of a table")
    return _table(find_program(), name)


def _type(name: str) -> str:
    return _TYPES.get(name.rstrip("?"), "string")


@lru_cache(maxsize=8)
def _queries(program: str, options: tuple[str, ...]) -> dict[str, dict[str, str]]:
    text, _ = run([*options, "schema", "queries"])
    meanings: dict[str, dict[str, str]] = {}
    query: dict[str, str] = {}
    for line in text.decode().splitlines():
        if line.startswith("## "):
            query = meanings.setdefault(line[3:].strip(), {})
        elif line.startswith("| ") and not line.startswith(("| column |", "| --- |")):
            name, _, about = line.strip("| ").partition(" | ")
            query[name] = about.replace("\\|", "|")
    return meanings


def query_meanings(name: str, options: list[str]) -> Mapping[str, str]:
    """What the columns of a query mean."""
    return _queries(find_program(), tuple(options)).get(name, {})
