"""Iterations of a trace, and matrices of what each of them took."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from .answer import Answer
from .catalog import table_columns
from .display import html_table, text_table
from .extras import require
from .frames import pandas_columns

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars

_KEYS = {"kernels": "kernel_name", "memory_copies": "direction", "regions": "name"}
_AGGREGATES = {
    "sum": "SUM(amount)",
    "mean": "AVG(amount)",
    "min": "MIN(amount)",
    "max": "MAX(amount)",
    "count": "COUNT(*)",
}
# Each event falls into the last iteration that begins before it, if that has not ended: a sort instead of a join.
_STATEMENT = """\
SELECT process, rank, iteration, key, {aggregate} AS amount
FROM (
    SELECT process, rank, key, amount, is_event, start_ns,
        MAX(iteration) OVER (PARTITION BY process ORDER BY start_ns, is_event
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS iteration,
        MAX(until_ns) OVER (PARTITION BY process ORDER BY start_ns, is_event
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS until_ns
    FROM (
        SELECT process, rank, start_ns, 0 AS is_event, iteration, end_ns AS until_ns,
            CAST(NULL AS VARCHAR) AS key, CAST(NULL AS {type}) AS amount
        FROM iterations
        UNION ALL
        SELECT process, rank, start_ns, 1 AS is_event, CAST(NULL AS BIGINT) AS iteration,
            CAST(NULL AS BIGINT) AS until_ns, CAST("{key}" AS VARCHAR) AS key, "{values}" AS amount
        FROM {table}{where}
    ) AS events
) AS placed
WHERE is_event = 1 AND start_ns < until_ns
GROUP BY process, rank, iteration, key
ORDER BY process, iteration, key
"""
_LISTED = (
    "SELECT process, rank, iteration, unit, found_by, phase, level, start_ns, end_ns, duration_ns "
    "FROM iterations ORDER BY process, iteration"
)


class Iterations:
    """The units of work of each process: recorded steps, graph replays, or repetitions of the sequence of kernels.

    >>> import wavesieve
    >>> iterations = wavesieve.open("fixtures/planted").iterations()
    >>> len(iterations), iterations.table["duration_ns"][:3]
    (36, [760454, 857823, 909241])
    """

    def __init__(self, sql: Callable[[str], Answer]) -> None:
        self._sql = sql
        self.table = sql(_LISTED)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def matrix(
        self, table: str = "kernels", values: str = "duration_ns", *, by: str | None = None, aggregate: str = "sum"
    ) -> Matrix:
        """A row for each iteration, a column for each kernel (or other value of `by`), largest sum first.

        An event belongs to the iteration in which it starts. `aggregate` is sum, mean, min, max or count.

        >>> import wavesieve
        >>> matrix = wavesieve.open("fixtures/planted").iterations().matrix("kernels", values="duration_ns")
        >>> matrix.shape
        (36, 10)
        >>> int(matrix.to_numpy()[1].sum())
        1217293
        """
        columns = table_columns(table)
        key = by or _KEYS.get(table, "")
        for name in (key, values, "start_ns"):
            if name not in columns:
                raise ValueError(f"{table} has no column {name or 'to group by; name one with by='}")
        if aggregate not in _AGGREGATES:
            raise ValueError(f"unknown aggregate {aggregate}; choose from {', '.join(_AGGREGATES)}")
        statement = _STATEMENT.format(
            table=table,
            key=key,
            values=values,
            aggregate=_AGGREGATES[aggregate],
            type="DOUBLE" if columns[values].type == "float64" else "BIGINT",
            where=" WHERE valid" if "valid" in columns else "",
        )
        missing = 0 if aggregate in ("sum", "count") else None
        return Matrix(self.table, self._sql(statement), missing, columns[values].unit)


class Matrix:
    """Numbers by iteration (rows) and kernel or other key (columns).

    Where nothing of a column ran in an iteration, sums and counts are 0, other aggregates are missing.
    """

    def __init__(self, iterations: Answer, cells: Answer, missing: int | None, unit: str | None) -> None:
        self.unit = unit
        #: `(process, rank, iteration, phase)` of each row.
        self.rows: list[tuple[int, int, int, str]] = list(
            zip(*(iterations[name] for name in ("process", "rank", "iteration", "phase")))
        )
        sums: dict[str, float] = {}
        for key, amount in zip(cells["key"], cells["amount"]):
            sums[key] = sums.get(key, 0) + (amount or 0)
        #: The key of each column.
        self.columns: list[str] = sorted(sums, key=lambda key: (-sums[key], key or ""))
        places = {key: place for place, key in enumerate(self.columns)}
        lines = {(row[0], row[2]): line for line, row in enumerate(self.rows)}
        self.values: list[list[Any]] = [[missing] * len(self.columns) for _ in self.rows]
        for process, iteration, key, amount in zip(cells["process"], cells["iteration"], cells["key"], cells["amount"]):
            line = lines.get((process, iteration))
            if line is not None:
                self.values[line][places[key]] = amount

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), len(self.columns)

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """The numbers as an array; missing ones are NaN."""
        np = require("numpy", "numpy", "to_numpy()")
        whole = all(isinstance(value, int) for line in self.values for value in line)
        array = np.array(self.values, dtype=np.int64 if whole else np.float64).reshape(self.shape)
        return cast("numpy.ndarray[Any, Any]", array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        return self.to_numpy() if dtype is None else self.to_numpy().astype(dtype)

    def _by_column(self) -> dict[str, list[Any]]:
        names = ("process", "rank", "iteration", "phase")
        columns: dict[str, list[Any]] = {name: [row[i] for row in self.rows] for i, name in enumerate(names)}
        return columns | {key or "": [line[i] for line in self.values] for i, key in enumerate(self.columns)}

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas with the iterations as its index."""
        return pandas_columns(self._by_column()).set_index(["process", "rank", "iteration", "phase"])

    def to_polars(self) -> polars.DataFrame:
        """A data frame of polars with the iterations as its first columns."""
        return cast("polars.DataFrame", require("polars", "polars", "to_polars()").DataFrame(self._by_column()))

    def _shown(self, rows: int) -> tuple[list[str], list[str | None], list[list[Any]], int]:
        columns = self._by_column()
        units = [*(["id"] * 4), *([self.unit] * len(self.columns))]
        return list(columns), units, [values[:rows] for values in columns.values()], len(self.rows)

    def __repr__(self) -> str:
        return text_table(*self._shown(20), 100)

    def _repr_html_(self) -> str:
        return html_table(*self._shown(40))
