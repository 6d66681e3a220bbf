"""Tables as lazy frames of polars: columns and conditions are pushed to the program or to Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import TYPE_CHECKING

from .catalog import table_columns
from .extras import require
from .predicates import Condition, condition
from .stream import read_frames

if TYPE_CHECKING:
    import polars


def scan_program(table: str, sql_arguments: Callable[[str], list[str]]) -> polars.LazyFrame:
    """A lazy frame whose rows the program gives; `sql_arguments` is the command line of a statement."""
    pl = require("polars", "polars", "scan()")
    plugins = require("polars.io.plugins", "polars", "scan()")
    columns = table_columns(table)
    types = {column.name: column.type for column in columns.values()}
    schema = {name: _polars_type(kind) for name, kind in types.items()}

    def source(
        with_columns: list[str] | None, predicate: polars.Expr | None, rows: int | None, _batch: int | None
    ) -> Iterator[polars.DataFrame]:
        # The first rows are taken before the condition is tested; polars takes those after it by itself.
        wanted = Condition("") if predicate is None or rows is not None else condition(predicate, types)
        names = _read_columns(list(types), with_columns, predicate)
        left = rows
        # All is read even if there are enough rows: the program reports damage at its end.
        for frame in read_frames(sql_arguments(_statement(table, names, wanted, rows))):
            frame = frame.with_columns(pl.col(name).cast(schema[name]) for name in frame.columns)
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            if predicate is not None:
                frame = frame.filter(predicate)
            yield frame if with_columns is None else frame.select(with_columns)

    frame: polars.LazyFrame = plugins.register_io_source(source, schema=schema, is_pure=True)
    return frame


def _read_columns(names: list[str], with_columns: list[str] | None, predicate: polars.Expr | None) -> list[str]:
    """The columns to read: those that are wanted and those of the condition."""
    if with_columns is None:
        return names
    tested = set() if predicate is None else set(predicate.meta.root_names())
    return [name for name in names if name in tested or name in with_columns]


def _statement(table: str, names: list[str], wanted: Condition, rows: int | None) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    where = f" WHERE {wanted.sql}" if wanted.sql else ""
    limit = f" LIMIT {rows}" if rows is not None else ""
    return f"SELECT {listed} FROM {table}{where}{limit}"


def scan_files(table: str, files: list[str], ranks: Set[int] | None = None) -> polars.LazyFrame:
    """A lazy frame over the Parquet files of a dataset, with the types that `scan_program` gives."""
    pl = require("polars", "polars", "scan()")
    frame: polars.LazyFrame = pl.scan_parquet(files, hive_partitioning=False, glob=False)
    if ranks is not None:
        frame = frame.filter(pl.col("rank").is_in(sorted(ranks)))
    texts = [column.name for column in table_columns(table).values() if column.type == "string"]
    return frame.with_columns(pl.col(texts).cast(pl.String)) if texts else frame


def _polars_type(name: str) -> type[polars.DataType]:
    import polars as pl

    kinds: dict[str, type[polars.DataType]] = {"int64": pl.Int64, "float64": pl.Float64, "bool": pl.Boolean}
    return kinds.get(name, pl.String)
