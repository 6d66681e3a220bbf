"""A connection of DuckDB with a view for each table."""

from __future__ import annotations

import tempfile
import weakref
from typing import TYPE_CHECKING

from .dataset import Dataset
from .extras import require

if TYPE_CHECKING:
    import duckdb


def connection(dataset: Dataset, folder: tempfile.TemporaryDirectory[str] | None) -> duckdb.DuckDBPyConnection:
    """Views over the files of a dataset, and the numbers that some queries count with.

    A temporary folder is removed with the connection.
    """
    connected: duckdb.DuckDBPyConnection = require("duckdb", "duckdb", "duckdb()").connect()
    connected.execute("CREATE VIEW numbers AS SELECT range AS n FROM range(65536)")
    for table in dataset.tables:
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in dataset.files(table))
        connected.execute(f'CREATE VIEW "{table}" AS SELECT * FROM read_parquet([{listed}], hive_partitioning = false)')
    if folder is not None:
        weakref.finalize(connected, folder.cleanup)
    return connected
