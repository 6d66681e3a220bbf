"""Independent readings: polars and sqlite3 on files, without the package."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

PROJECT = Path(__file__).resolve().parents[2]
FIXTURES = ("two_nodes", "merged", "counters", "planted")


def parquet(dataset: Path, table: str) -> pl.DataFrame:
    """A table of a dataset with texts as texts, in the order of processes."""
    frames = [pl.read_parquet(path, hive_partitioning=False) for path in parts(dataset, table)]
    return pl.concat([frame.with_columns(pl.col(pl.Categorical).cast(pl.String)) for frame in frames])


def parts(dataset: Path, table: str) -> list[Path]:
    """The files of a table in the order of processes, in both layouts; of an empty table one without rows."""
    files = sorted(dataset.glob(f"{table}/rank=*/*.parquet"), key=lambda path: int(path.stem.partition("-")[2]))
    return files or sorted(dataset.glob(f"{table}/*.parquet")) or [dataset / "_schema" / f"{table}.parquet"]


def is_packed(dataset: Path) -> bool:
    """Whether a dataset has layout 2."""
    return bool(json.loads((dataset / "manifest.json").read_text())["layout_version"] == 2)


def sqlite_rows(path: str, statement: str) -> list[tuple[Any, ...]]:
    """The rows of a statement over a rocpd database."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return connection.execute(statement).fetchall()


def same_rows(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> bool:
    """Whether rows are equal, floats to 9 digits."""
    return len(left) == len(right) and all(
        len(one) == len(other) and all(same_value(a, b) for a, b in zip(one, other)) for one, other in zip(left, right)
    )


def same_value(a: Any, b: Any) -> bool:
    """Whether two values are equal, floats to 9 digits."""
    if isinstance(a, float) and isinstance(b, (int, float)) or isinstance(b, float) and isinstance(a, int):
        return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)
