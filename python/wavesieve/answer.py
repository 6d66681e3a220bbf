"""Results of queries."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from .arrow import ArrowStream, ArrowTable, Field
from .columns import Column, Columns, unit_of
from .display import html_table, text_table
from .extras import is_installed, require
from .frames import pandas_frame

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_ROWS_IN_TERMINAL = 20
_ROWS_IN_NOTEBOOK = 40


class Answer:
    """The result of a query: a table in memory.

    It is an Arrow stream (`__arrow_c_stream__`), so that polars, pyarrow, pandas, DuckDB and others take it as it is.
    It shows itself as a table in terminals and notebooks.

    >>> import wavesieve
    >>> trace = wavesieve.open("fixtures/two_nodes")
    >>> trace.table("kernel_summary", name="base", top=2, columns=["kernel_name", "calls", "total_ns"])
    kernel_name                                                   calls   total_ns
    ncclDevKernel_Generic_1                                          24  7,543,611
    Cijk_Ailk_Bljk_BBS_BH_UserArgs…x224x64_MI16x16x1_SN_WG32_8_1     26  7,431,476
    2 rows
    """

    def __init__(
        self,
        data: bytes,
        sql: str | Callable[[], str] = "",
        meanings: Callable[[], Mapping[str, str]] | None = None,
        described: Mapping[str, Column] | None = None,
    ) -> None:
        self._data = data
        self._table = ArrowTable(data)
        self._sql = sql
        self._columns = Columns([_column(field, described or {}) for field in self._table.fields], meanings)

    @property
    def columns(self) -> Columns:
        """The columns with types, units and meanings."""
        return self._columns

    @property
    def sql(self) -> str:
        """The statement that gave this result; it runs in DuckDB too, over the tables of a dataset."""
        if callable(self._sql):
            self._sql = self._sql()
        return self._sql

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), len(self._columns)

    def __len__(self) -> int:
        return self._table.rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The result as an Arrow C stream."""
        if requested_schema is not None and is_installed("pyarrow"):
            return cast(ArrowStream, self.to_arrow()).__arrow_c_stream__(requested_schema)
        return self._table.stream().__arrow_c_stream__()

    def to_arrow(self) -> pyarrow.Table:
        """The result as a table of pyarrow."""
        ipc = require("pyarrow.ipc", "pyarrow", "to_arrow()")
        return cast("pyarrow.Table", ipc.open_stream(self._data).read_all())

    def to_polars(self) -> polars.DataFrame:
        """The result as a data frame of polars."""
        pl = require("polars", "polars", "to_polars()")
        return cast("polars.DataFrame", pl.read_ipc_stream(self._data))

    def to_pandas(self) -> pandas.DataFrame:
        """The result as a data frame of pandas; whole numbers stay whole where some are missing, in `Int64` columns."""
        require("pandas", "pandas", "to_pandas()")
        require("pyarrow", "pandas", "to_pandas()")
        return pandas_frame(self.to_arrow())

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries.

        >>> import wavesieve
        >>> trace = wavesieve.open("fixtures/two_nodes")
        >>> trace.sql("SELECT rank, COUNT(*) AS dispatches FROM kernels GROUP BY rank ORDER BY rank").to_dicts()[0]
        {'rank': 0, 'dispatches': 72}
        """
        return [dict(zip(self._columns, row)) for row in self]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples."""
        return iter(zip(*(self[name] for name in self._columns)))

    def __getitem__(self, column: str) -> list[Any]:
        """The values of a column."""
        names = list(self._columns)
        if column not in self._columns:
            raise KeyError(f"no column is named {column}; choose from {', '.join(names)}")
        return self._table.column(names.index(column))

    def _shown(self, rows: int) -> tuple[list[str], list[str | None], list[list[Any]], int]:
        names = list(self._columns)
        return names, self._columns.units(), [self._table.column(i, rows) for i in range(len(names))], len(self)

    def __repr__(self) -> str:
        return text_table(*self._shown(_ROWS_IN_TERMINAL), shutil.get_terminal_size((100, 24)).columns)

    def _repr_html_(self) -> str:
        return html_table(*self._shown(_ROWS_IN_NOTEBOOK))


def _column(field: Field, described: Mapping[str, Column]) -> Column:
    known = described.get(field.name)
    # A column that the program describes has no other unit than the one it states.
    unit = field.metadata.get("unit") or (known.unit if known else None if field.metadata else unit_of(field.name))
    about = field.metadata.get("doc") or (known.about if known else "")
    return Column(field.name, field.type, unit or None, about)
