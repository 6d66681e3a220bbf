"""Traces: inputs with filters, and what can be done with them."""

from __future__ import annotations

import difflib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from . import duck
from .analysis import Analysis
from .answer import Answer
from .catalog import query_meanings, table_columns
from .chart import Chart
from .dataset import Dataset, rank_list, settings_filter
from .errors import NoDataError, UsageError
from .filters import FilterOptions, Names, PathLike, merged, options
from .inputs import ARROW, Inputs
from .iterations import Iterations
from .messages import note
from .program import run
from .scan import scan_files, scan_program
from .stream import TableStream
from .viewer import View

if TYPE_CHECKING:
    import duckdb
    import polars
    from typing_extensions import Unpack

_FORMATS = Literal["csv", "json", "arrow", "pftrace", "otf2", "chrome-json", "rocprofv3-csv"]


class Trace(Inputs):
    """Traces of one or more processes. It is read when a result is requested, and never changed.

    `wavesieve.open` makes one.
    """

    def filter(self, **filters: Unpack[FilterOptions]) -> Trace:
        """The part of the trace that passes these filters too; `None` removes a filter.

        >>> import wavesieve
        >>> trace = wavesieve.open("fixtures/two_nodes").filter(rank=[0, 3], window="10%:90%")
        >>> trace.sql("SELECT DISTINCT rank FROM kernels ORDER BY rank")["rank"]
        [0, 3]
        """
        given: Mapping[str, object] = {**filters}
        return Trace(self.inputs, merged(self.filters, given), **self.reading)

    def table(
        self,
        query: str,
        /,
        *,
        by: Names | None = None,
        name: Literal["full", "short", "base", "mangled"] | None = None,
        columns: Names | None = None,
        **parameters: Any,
    ) -> Answer:
        """Runs a named query; `queries` lists them. Other parameters are options of the query, such as `top=5`.

        >>> import wavesieve
        >>> answer = wavesieve.open("fixtures/two_nodes").table("time_breakdown", by=["rank", "gpu"])
        >>> answer.shape[0], answer.columns["busy_ns"].unit
        (8, 'ns')
        """
        wanted = options({"by": by, "name": name, "columns": columns, **parameters})
        data, _ = self._run_query(query, wanted)
        return self._answer(query, wanted, data)

    def _answer(self, query: str, wanted: list[str], data: bytes) -> Answer:
        def statement() -> str:
            shown, _ = run(self.command("table", query, *wanted, "--show-sql", output=()))
            return shown.decode()

        return Answer(data, statement, lambda: query_meanings(query, self.before))

    def _run_query(self, query: str, words: list[str]) -> tuple[bytes, int]:
        if not query.isidentifier():
            raise UsageError(f"{query!r} is not a name of a query; queries() lists them")
        try:
            return run(self.command("table", query, *words))
        except UsageError as error:
            if "unrecognized subcommand" not in str(error):
                raise
            close = difflib.get_close_matches(query, self.queries()["name"], 3)
            hint = f"did you mean {' or '.join(close)}?" if close else "queries() lists them"
            raise UsageError(f"unknown query {query}; {hint}", error.code) from None

    def sql(self, statement: str) -> Answer:
        """Runs a SELECT statement over the tables; `tables` lists them.

        >>> import wavesieve
        >>> wavesieve.open("fixtures/two_nodes").sql("SELECT COUNT(*) AS calls FROM regions").to_dicts()
        [{'calls': 520}]
        """
        if statement.strip() == "-" or statement.rstrip().endswith(".sql"):
            raise UsageError("expected a statement; pass the text of the file")
        data, _ = run(self.sql_command(statement))
        return Answer(data, statement)

    def queries(self) -> Answer:
        """The named queries."""
        return Answer(run([*self.before, "table", "--list", *ARROW])[0])

    def tables(self) -> Answer:
        """The tables of SQL with their meanings."""
        return Answer(run([*self.before, "sql", *ARROW, "SHOW TABLES"])[0])

    def info(self) -> Answer:
        """A row for each process: rank, node, format, GPUs, span and rows."""
        return Answer(run(self.command("info"))[0])

    def check(self) -> Answer:
        """What is wrong or missing in the trace; its errors are rows, not exceptions."""
        return Answer(run(self.command("check"), (4,))[0])

    def __getitem__(self, table: str) -> TableStream:
        """One table as an Arrow stream."""
        if not isinstance(table, str):
            raise TypeError(f"expected the name of a table, not {table!r}")
        table_columns(table)
        return TableStream(table, self.sql_command(f"SELECT * FROM {table}"), lambda: table_columns(table))

    def scan(self, table: str) -> polars.LazyFrame:
        """One table as a lazy frame of polars.

        The program reads only the columns and, for simple conditions, the rows that are needed. The Parquet files of a
        dataset are scanned in place, with no filter or one of ranks, as long as they are those that were written.

        >>> import polars, wavesieve
        >>> kernels = wavesieve.open("fixtures/two_nodes").scan("kernels")
        >>> kernels.filter(polars.col("rank") == 1).select(polars.col("duration_ns").sum()).collect().item()
        9792252
        """
        table_columns(table)
        ranks = rank_list(str(self.filters["rank"])) if set(self.filters) == {"rank"} else None
        dataset = self._dataset(ranks)
        files = dataset.files(table, ranks) if dataset and dataset.is_as_written(table, ranks) else []
        return scan_files(table, files, ranks) if files else scan_program(table, self.sql_command)

    def _dataset(self, ranks: set[int] | None = None) -> Dataset | None:
        """The dataset that holds the tables just as the program would give them, but for the choice of ranks."""
        chosen = [] if ranks is None else options(self.filters)
        dataset = Dataset.at(self.inputs[0]) if len(self.inputs) == 1 and self.after == chosen else None
        if dataset is None or not dataset.is_whole or not dataset.is_intact() or settings_filter():
            return None
        if ranks is not None and not ranks <= dataset.ranks:
            return None
        if dataset.selection:
            note(f"{self.inputs[0]}: the dataset is filtered by {' '.join(dataset.selection)} and not the whole trace")
        return dataset

    def duckdb(self, derived: Names = ()) -> duckdb.DuckDBPyConnection:
        """A connection of DuckDB with a view for each table.

        Inputs other than a dataset are converted into a temporary directory first, which is removed with the
        connection. `derived` names derived tables to add, such as `launches`, or `all`.

        >>> import wavesieve
        >>> connection = wavesieve.open("fixtures/two_nodes").duckdb()
        >>> connection.execute("SELECT COUNT(*) FROM kernels").fetchone()
        (288,)
        """
        names = [derived] if isinstance(derived, str) else list(derived)
        dataset = self._dataset()
        tables = dataset.tables if dataset else []
        if dataset and set(names) <= set(tables) and all(map(dataset.is_as_written, tables)):
            return duck.connection(dataset, None)
        folder = tempfile.TemporaryDirectory(prefix="wavesieve-", ignore_cleanup_errors=True)
        path = os.path.join(folder.name, "dataset")
        self.convert(path, with_=names or None)
        written = Dataset.at(path)
        if written is None:
            raise NoDataError("the inputs gave no dataset")
        return duck.connection(written, folder)

    def iterations(self, unit: str | None = None) -> Iterations:
        """The units of work of each process: recorded steps, graph replays, or repetitions of the sequence of kernels.

        `unit` chooses others: "step", "iteration", "replay", "layer", "range:NAME" or "none", as `filter(unit=...)` does. The query
        "units" lists those of the trace.

        >>> import wavesieve
        >>> len(wavesieve.open("fixtures/planted").iterations("range:step")) > 0
        True
        """
        return Iterations((self if unit is None else self.filter(unit=unit)).sql)

    def analyze(self, **settings: Any) -> Analysis:
        """Finds what costs time. `settings` are options of `wavesieve analyze`, such as `whole_run=True`."""
        words = options(settings)

        def render(form: str) -> str:
            output = [f"--format={form}", "--output=-"]
            return run(self.command("analyze", *words, output=output), (4,))[0].decode()

        return Analysis(json.loads(render("json")), render)

    def plot(self, query: str, /, *, by: Names | None = None, **parameters: Any) -> Chart:
        """Draws a named query."""
        wanted = options({"by": by, **parameters})
        with tempfile.TemporaryDirectory(prefix="wavesieve-") as folder:
            try:
                data, _ = self._run_query(query, [*wanted, f"--charts={folder}/charts", "--chart-format=svg"])
            except UsageError as error:
                if "'--charts'" not in str(error):
                    raise
                raise UsageError(f"{query} gives no chart; table() shows its rows", error.code) from None
            svg = Path(folder, "charts", f"{query}.svg")
            if not svg.is_file():
                raise NoDataError(f"{query} gives no chart; table() shows its rows")
            return Chart(query, svg.read_text(encoding="utf-8"), self._answer(query, wanted, data))

    def view(self, *, height: int = 720, compare: PathLike | None = None, **settings: Any) -> View:
        """Serves the time line, findings and queries on this machine: in a frame of a notebook, or at `url`.

        It ends with `close`, or when the returned object is dropped. `compare` names an earlier run. `settings` are
        options of `wavesieve view`, such as `port=8000`.

        >>> import wavesieve
        >>> with wavesieve.open("fixtures/two_nodes").view() as view:
        ...     view.url.startswith("http://127.0.0.1:")
        True
        """
        other = [] if compare is None else [f"--compare={os.fspath(compare)}"]
        settings.setdefault("until_closed", 0)
        settings.setdefault("in_frames", True)
        words = [*options(settings), *other]
        return View(self.command("view", *words, output=()), height)

    @overload
    def convert(self, output: PathLike, *, to: Literal["parquet"] = "parquet", **settings: Any) -> Trace: ...
    @overload
    def convert(self, output: PathLike, *, to: _FORMATS, **settings: Any) -> Path: ...
    def convert(self, output: PathLike, *, to: str = "parquet", **settings: Any) -> Trace | Path:
        """Writes all tables, or a time line for a viewer; returns the dataset as a trace, or the path.

        `settings` are options of `wavesieve convert`, such as `overwrite=True` and `with_=["launches"]`.

        >>> import tempfile, wavesieve
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dataset = wavesieve.open("fixtures/two_nodes").convert(f"{folder}/dataset")
        ...     len(dataset.sql("SELECT * FROM kernels"))
        288
        """
        words = [*options(settings), f"--to={to}", f"--output={os.fspath(output)}"]
        run(self.command("convert", *words, output=()))
        if to != "parquet":
            return Path(output)
        return Trace([output], {})
