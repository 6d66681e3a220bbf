"""Answers of queries and statements."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas
import polars as pl
import pyarrow
import pytest

import wavesieve

from .readings import parquet, same_rows, sqlite_rows


def test_kernel_summary_is_that_of_the_parquet_files(converted: Callable[[str], Path]) -> None:
    answer = wavesieve.open("fixtures/two_nodes").table("kernel_summary", by=["rank"])
    kernels = parquet(converted("two_nodes"), "kernels").filter(pl.col("valid"))
    expected = kernels.group_by("rank", "kernel_name").agg(
        calls=pl.len().cast(pl.Int64), total_ns=pl.col("duration_ns").sum(), max_ns=pl.col("duration_ns").max()
    )
    columns = ["rank", "kernel_name", "calls", "total_ns", "max_ns"]
    assert sorted(answer.to_polars().select(columns).rows()) == sorted(expected.select(columns).rows())


def test_sql_is_what_sqlite_reads() -> None:
    path = "fixtures/two_nodes/node0/4140_results.db"
    answer = wavesieve.open(path).sql("SELECT dispatch_id, start_ns, end_ns, grid_x FROM kernels ORDER BY dispatch_id")
    statement = 'SELECT dispatch_id, start, "end", grid_size_x FROM rocpd_kernel_dispatch ORDER BY dispatch_id'
    assert list(answer) == sqlite_rows(path, statement)


def _answers(names: list[str], fixture: str, folder: Path) -> dict[str, wavesieve.Answer]:
    """The answers of all queries, of one start of the program, and their statements of another."""
    listed = ",".join(names)
    program = [wavesieve.find_program(), "-q", "table", listed]
    subprocess.run([*program, f"fixtures/{fixture}", "--format=arrow", "--time-unit=ns", f"--output={folder}"], check=True)
    shown = subprocess.run([*program, "--show-sql"], check=True, capture_output=True, text=True).stdout
    parts = re.split(r"(?m)^-- (\w+)\n(?=-- reads )", shown)
    statements = dict(zip(parts[1::2], parts[2::2]))
    return {name: wavesieve.Answer(_stream(folder / f"{name}.arrow"), statements[name].strip()) for name in names}


def _stream(path: Path) -> bytes:
    """The rows of an Arrow file as the stream that the program prints."""
    with pyarrow.ipc.open_file(str(path)) as file:
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, file.schema) as writer:
            writer.write_table(file.read_all())
    return bytes(sink.getvalue())


@pytest.mark.parametrize("fixture", ["two_nodes", "planted", "counters"])
def test_every_query_gives_what_duckdb_gives(fixture: str, converted: Callable[[str], Path], tmp_path: Path) -> None:
    trace = wavesieve.open(f"fixtures/{fixture}")
    connection = wavesieve.open(converted(fixture)).duckdb(derived="all")
    compared = 0
    for query, answer in _answers(trace.queries()["name"], fixture, tmp_path / "answers").items():
        if not len(answer):
            continue
        rows = connection.execute(answer.sql).fetchall()
        assert same_rows(list(answer), rows), query
        if compared % 10 == 0:
            alone = trace.table(query)
            assert list(alone) == list(answer) and alone.sql.strip() == answer.sql, query
        compared += 1
    assert compared > 20


def test_all_libraries_decode_the_same() -> None:
    trace = wavesieve.open("fixtures/two_nodes")
    answer = trace.sql(
        "SELECT process, kernel_name, region_name, valid, agent_id, duration_ns / 3.0 AS third FROM kernels"
    )
    rows = list(answer)
    assert answer.to_polars().rows() == rows
    assert [tuple(row.values()) for row in answer.to_arrow().to_pylist()] == rows
    assert pl.DataFrame(answer).rows() == rows
    assert pyarrow.table(answer).num_rows == len(answer) == 288
    counted = duckdb.connect().execute("SELECT COUNT(*), SUM(process) FROM answer")
    assert counted.fetchall() == [(288, sum(row[0] for row in rows))]
    frame = answer.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["third"].tolist() == answer["third"]


def test_pandas_keeps_whole_numbers_whole() -> None:
    trace = wavesieve.open("fixtures/two_nodes")
    # As floats, these times would keep only their first sixteen digits.
    answer = trace.sql(
        "SELECT dispatch_id, CASE WHEN gpu > 0 THEN 1767189312001200077 + dispatch_id END AS time, gpu > 1 AS far,"
        " CASE WHEN gpu > 0 THEN gpu > 1 END AS known, CASE WHEN gpu > 0 THEN 0.5 END AS half FROM kernels"
    )
    frame = answer.to_pandas()
    found = [None if pandas.isna(value) else int(value) for value in frame["time"]]
    assert found == answer["time"] and None in found and any(value and value % 2 for value in found)
    assert frame.dtypes.astype(str).to_dict() == {
        "dispatch_id": "Int64", "time": "Int64", "far": "boolean", "known": "boolean", "half": "float64"
    }  # fmt: skip
    assert frame["time"].max() == max(value for value in answer["time"] if value is not None)
    table = trace["memory_copies"].to_pandas()
    assert (table["peer_gpu"].dtype, table["start_ns"].dtype) == (pandas.Int64Dtype(), pandas.Int64Dtype())
    assert table["start_ns"].tolist() == trace["memory_copies"].to_polars()["start_ns"].to_list()


def test_columns_have_units_and_meanings() -> None:
    answer = wavesieve.open("fixtures/two_nodes").table("copy_summary")
    assert list(answer.columns)[:2] == ["direction", "copies"]
    units = {name: answer.columns[name].unit for name in ("total_bytes", "total_ns", "gb_per_s", "direction")}
    assert units == {"total_bytes": "bytes", "total_ns": "ns", "gb_per_s": "gb_per_s", "direction": None}
    assert answer.columns[0].name == "direction"
    assert answer.columns["total_ns"].about
    assert "total_ns: int64 [ns]" in repr(answer.columns)
    with pytest.raises(KeyError):
        answer.columns["nothing"]
    with pytest.raises(KeyError, match="choose from direction"):
        answer["nothing"]


def test_answers_keep_nanoseconds_whatever_the_settings_are(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = wavesieve.open("fixtures/two_nodes")
    plain = trace.table("kernel_summary")
    monkeypatch.setenv("WAVESIEVE_UNIT", "ms")
    monkeypatch.setenv("WAVESIEVE_FORMAT", "csv")
    assert list(trace.table("kernel_summary")) == list(plain)


def test_tables_in_terminals_and_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    trace = wavesieve.open("fixtures/two_nodes")
    answer = trace.sql("SELECT '<b>&' AS text, CAST(NULL AS VARCHAR) AS nothing, * FROM kernels")
    text = repr(answer)
    assert all(len(line) <= 80 for line in text.splitlines()[:-1])
    assert "first 20 of 288 rows; more columns: " in text
    page = answer._repr_html_()
    assert "&lt;b&gt;&amp;" in page and "<b>&" not in page
    assert page.count("<tr>") == 41
    empty = trace.sql("SELECT rank FROM kernels WHERE rank > 100")
    assert len(empty) == 0 and "0 rows" in repr(empty) and "0 rows" in empty._repr_html_()


def test_other_results_of_a_trace() -> None:
    trace = wavesieve.open("fixtures/two_nodes")
    assert trace.info()["kernels"] == [72, 72, 72, 72]
    assert "not_recorded" in trace.check()["check_id"]
    assert "kernels" in trace.tables()["name"]
    assert repr(trace.filter(rank=1)) == "wavesieve.open('fixtures/two_nodes').filter(rank='1')"
    assert trace.sql("SELECT 1 AS one FROM kernels LIMIT 1").sql.startswith("SELECT 1")


def test_python_runs_the_program() -> None:
    import os
    import sys

    environment = {**os.environ, "PYTHONPATH": "python"}
    done = subprocess.run([sys.executable, "-m", "wavesieve", "--version"], capture_output=True, env=environment)
    assert done.stdout.startswith(b"wavesieve ") and done.returncode == 0
