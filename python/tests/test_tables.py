"""Whole tables: as streams, as lazy frames and in DuckDB."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pyarrow
import pytest

import wavesieve
from wavesieve import scan, shared, stream

from .readings import FIXTURES, parquet, same_rows

TABLES = (
    "processes",
    "agents",
    "kernels",
    "memory_copies",
    "regions",
    "marks",
    "counters",
    "kernel_symbols",
    "launches",
)


def _sorted(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    return sorted(frame.rows(), key=repr)


@pytest.mark.parametrize("fixture", FIXTURES)
def test_streams_are_the_parquet_files(fixture: str, converted: Callable[[str], Path]) -> None:
    trace = wavesieve.open(f"fixtures/{fixture}")
    for table in TABLES:
        expected = parquet(converted(fixture), table)
        streamed = pl.DataFrame(pyarrow.table(trace[table]))
        assert streamed.columns == expected.columns
        assert same_rows(_sorted(streamed), _sorted(expected)), table
        assert trace[table].to_polars().equals(streamed)


@pytest.mark.parametrize("fixture", FIXTURES)
def test_scans_have_the_same_types_and_rows_from_traces_and_datasets(
    fixture: str, converted: Callable[[str], Path]
) -> None:
    trace, dataset = wavesieve.open(f"fixtures/{fixture}"), wavesieve.open(converted(fixture))
    for table in TABLES:
        expected = parquet(converted(fixture), table)
        assert trace.scan(table).collect_schema() == dataset.scan(table).collect_schema() == expected.schema
        assert "Parquet SCAN" in dataset.scan(table).explain()
        for lazy in (trace.scan(table), dataset.scan(table)):
            assert same_rows(_sorted(lazy.collect()), _sorted(expected)), table


KEPT = [
    pl.col("rank") == 1,
    (pl.col("rank") > 0) & (pl.col("duration_ns") <= 20_000),
    (pl.col("rank") == 0) | (pl.col("category") == "gemm"),
    pl.col("category") != "gemm",
    pl.col("valid"),
    ~pl.col("valid"),
    pl.col("region_name").is_null(),
    pl.col("stream_id").is_not_null() & pl.col("gpu").is_in([1, 2]),
    pl.col("category").is_in(["gemm", "it's", ""]),
    ~pl.col("category").is_in(["gemm"]),
    pl.col("duration_ns").is_between(10_000, 100_000),
    pl.col("duration_ns").is_between(10_000, 100_000, closed="none"),
    pl.col("kernel_name").str.starts_with("nccl"),
    pl.col("kernel_name").str.ends_with(")"),
    pl.col("kernel_name").str.contains("at::(native|x).*array"),
    pl.col("kernel_name").str.contains("::native", literal=True),
    pl.col("kernel_name") == 'it\'s "quoted" \\ %',
    pl.col("duration_ns") > 1000.5,
    pl.col("duration_ns") % 2 == 0,
    (pl.col("end_ns") - pl.col("start_ns")) > 100_000,
    (pl.col("rank") == 1) & (pl.col("kernel_name").str.len_chars() > 60),
    pl.col("rank") == pl.col("gpu"),
    pl.lit(True),
    pl.col("graph_exec_id") == 1,
]


@pytest.mark.parametrize("number", range(len(KEPT)))
def test_conditions_keep_the_rows_that_polars_keeps(number: int, converted: Callable[[str], Path]) -> None:
    kept = KEPT[number]
    expected = parquet(converted("two_nodes"), "kernels").filter(kept)
    for trace in (wavesieve.open("fixtures/two_nodes"), wavesieve.open(converted("two_nodes"))):
        lazy = trace.scan("kernels").filter(kept)
        whole = lazy.collect()
        # The program reads rows in the order of the file, and datasets are sorted.
        assert _sorted(whole) == _sorted(expected)
        assert lazy.select("dispatch_id", "rank").collect().equals(whole.select("dispatch_id", "rank"))
        assert lazy.head(3).collect().equals(whole.head(3))
        assert lazy.select(pl.len()).collect().item() == expected.height


def test_random_combinations_of_conditions(converted: Callable[[str], Path]) -> None:
    draw = random.Random(7)
    whole = parquet(converted("two_nodes"), "kernels")
    lazy = wavesieve.open("fixtures/two_nodes").scan("kernels")
    for _ in range(40):
        kept = draw.choice(KEPT)
        for other in draw.sample(KEPT, 2):
            kept = draw.choice([kept & other, kept | other, kept & ~other])
        found = lazy.filter(kept).select("process", "dispatch_id").collect()
        assert _sorted(found) == _sorted(whole.filter(kept).select("process", "dispatch_id")), str(kept)


def test_rows_are_cut_and_filtered_in_the_order_of_the_calls(converted: Callable[[str], Path]) -> None:
    kept = pl.col("duration_ns") > 20_000
    rare = pl.col("category") == "optimizer"
    steps: list[Callable[[pl.LazyFrame], pl.LazyFrame]] = [
        lambda lazy: lazy.head(100).filter(kept),
        lambda lazy: lazy.filter(kept).head(100),
        lambda lazy: lazy.head(100).filter(kept).head(7),
        lambda lazy: lazy.head(100).select("duration_ns", "rank").filter(kept),
        lambda lazy: lazy.head(100).filter(kept, rare).select("gpu"),
        lambda lazy: lazy.filter(rare).head(9).filter(kept),
        lambda lazy: lazy.slice(5, 60).filter(kept),
        lambda lazy: lazy.filter(kept).slice(5, 60).filter(rare),
        lambda lazy: lazy.tail(50).filter(kept),
        lambda lazy: lazy.head(100).filter(kept).select(pl.len()),
        lambda lazy: lazy.head(10).filter(pl.col("duration_ns") < 0),
        lambda lazy: lazy.head(40).with_columns(long=kept).filter("long"),
    ]
    for trace in (wavesieve.open("fixtures/two_nodes"), wavesieve.open(converted("two_nodes"))):
        lazy = trace.scan("kernels")
        whole = lazy.collect()
        for number, step in enumerate(steps):
            assert step(lazy).collect().equals(step(whole.lazy()).collect()), number


def test_the_program_gets_columns_conditions_and_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[str] = []

    def listen(arguments: list[str]) -> Iterator[pl.DataFrame]:
        statements.append(arguments[arguments.index("--") + 1])
        return stream.read_frames(arguments)

    monkeypatch.setattr(scan, "read_frames", listen)
    lazy = wavesieve.open("fixtures/two_nodes").scan("kernels")
    lazy.filter(pl.col("rank") == 1, pl.col("duration_ns") % 2 == 0).select("gpu").collect()
    lazy.filter(pl.col("category") == "gemm").group_by("rank").agg(pl.col("duration_ns").sum()).collect()
    lazy.select("rank", "gpu").head(5).collect()
    assert statements[0] == 'SELECT "rank", "gpu", "duration_ns" FROM kernels WHERE ("rank" = 1)'
    assert statements[1] == 'SELECT "rank", "category", "duration_ns" FROM kernels WHERE ("category" = \'gemm\')'
    assert statements[2] == 'SELECT "rank", "gpu" FROM kernels LIMIT 5'


def test_a_filtered_dataset_is_read_by_the_program(
    converted: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = wavesieve.open(converted("two_nodes"))
    assert dataset.filter(rank=1).scan("kernels").collect().height == 72
    monkeypatch.setenv("WAVESIEVE_RANK", "0,1")
    assert dataset.scan("kernels").collect().height == 144


@pytest.mark.parametrize("place", ["project", "HOME", "XDG_CONFIG_HOME"])
def test_settings_filter_a_scan_wherever_they_are(
    place: str, converted: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = wavesieve.open(converted("two_nodes").absolute())
    files = {
        "project": "wavesieve.toml",
        "HOME": ".config/wavesieve/config.toml",
        "XDG_CONFIG_HOME": "wavesieve/config.toml",
    }
    file = tmp_path / files[place]
    file.parent.mkdir(parents=True, exist_ok=True)
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.setenv("WAVESIEVE_BINARY", str(Path(wavesieve.find_program()).absolute()))
    monkeypatch.chdir(below)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    if place != "project":
        monkeypatch.setenv(place, str(tmp_path))
    assert dataset.scan("kernels").collect().height == 288
    file.write_text('rank = "1"\n')
    assert dataset.scan("kernels").collect().height == 72


def test_scanning_a_filtered_dataset_gives_the_note_of_the_program(tmp_path: Path) -> None:
    dataset = wavesieve.open("fixtures/two_nodes").filter(rank=[0, 1]).convert(tmp_path / "part")
    with pytest.warns(wavesieve.TraceNote) as program_notes:
        dataset.sql("SELECT * FROM kernels")
    with pytest.warns(wavesieve.TraceNote) as scan_notes:
        assert dataset.scan("kernels").collect().height == 144
    assert [str(note.message) for note in scan_notes] == [str(note.message) for note in program_notes]


def test_duckdb_has_all_tables(converted: Callable[[str], Path]) -> None:
    for trace in (wavesieve.open("fixtures/two_nodes"), wavesieve.open(converted("two_nodes"))):
        connection = trace.duckdb(derived="launches")
        for table in TABLES:
            expected = parquet(converted("two_nodes"), table)
            rows = connection.execute(f"SELECT * FROM {table}").fetchall()
            assert same_rows(sorted(rows, key=repr), _sorted(expected)), table


def test_the_files_of_duckdb_go_with_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    connection = wavesieve.open("fixtures/two_nodes").filter(rank=1).duckdb()
    assert connection.execute("SELECT DISTINCT rank FROM kernels").fetchall() == [(1,)]
    assert len(list(tmp_path.iterdir())) == 1
    del connection
    assert list(tmp_path.iterdir()) == []


def test_a_stream_reports_what_went_wrong() -> None:
    trace = wavesieve.open("fixtures/source")
    with pytest.raises(wavesieve.NoTraceError):
        pyarrow.table(trace["kernels"])
    with pytest.raises(wavesieve.NoTraceError):
        trace["kernels"].to_polars()
    assert "duration_ns: int64 [ns]" in repr(trace["kernels"])
    with pytest.raises(TypeError):
        trace[0]  # type: ignore[index]


@pytest.mark.skipif(sys.platform != "linux", reason="shared memory is used on Linux")
def test_memory_that_is_shared_holds_what_a_pipe_carries(monkeypatch: pytest.MonkeyPatch) -> None:
    table = wavesieve.open("fixtures/two_nodes")["kernels"]
    piped = table.batches().read_all()
    assert shared.run_shared(table._arguments) is not None
    assert table.to_arrow().equals(piped) and pyarrow.table(table).equals(piped)
    for bytes_available in (0, 2, 20_000):
        monkeypatch.setattr(shared, "_available_bytes", lambda left=bytes_available: left)
        assert shared.run_shared(table._arguments) is None
        assert table.to_arrow().equals(piped) and pyarrow.table(table).equals(piped)


def test_errors_are_those_of_the_program_where_memory_is_shared() -> None:
    table = wavesieve.open("fixtures/no/such/trace")["kernels"]
    with pytest.raises(wavesieve.UsageError):
        pyarrow.table(table)
    with pytest.raises(wavesieve.UsageError):
        table.to_arrow()
