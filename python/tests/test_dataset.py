"""Which files of a dataset are read in place, and when the program has to read it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import xxhash

import wavesieve
from wavesieve.dataset import Dataset, rank_list

from .readings import PROJECT, is_packed, parquet, parts, same_rows


def _packed(folder: Path) -> Path:
    """A dataset of layout 2: ranks 5, 7 and 5 again, with 5, 0 and 9 rows, of which 4 are a row group."""
    schema = pa.schema([(name, pa.int64()) for name in ("process", "rank", "n")])
    groups = [(0, 5, range(4)), (0, 5, range(4, 5)), (2, 5, range(4)), (2, 5, range(4, 8)), (2, 5, range(8, 9))]
    (folder / "kernels").mkdir(parents=True)
    (folder / "_schema").mkdir()
    listed = []
    for number, of_part in enumerate([groups[:1], groups[1:3], groups[3:]]):
        path = folder / "kernels" / f"part-{number:05}.parquet"
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
            for process, rank, values in of_part:
                columns = {"process": [process] * len(values), "rank": [rank] * len(values), "n": list(values)}
                writer.write_table(pa.table(columns, schema=schema))
        data = path.read_bytes()
        start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        footer = xxhash.xxh3_64_hexdigest(data[start:])
        listed.append({"bytes": len(data), "row_groups": len(of_part), "data_bytes": start, "footer": footer})
    for table in ("kernels", "regions"):
        pyarrow.parquet.write_table(schema.empty_table(), folder / "_schema" / f"{table}.parquet")
    manifest = {
        "format": "wavesieve-dataset",
        "layout_version": 2,
        "damage": [],
        "selection": [],
        "row_group_rows": 4,
        "tables": {"kernels": {"rows": [5, 0, 9], "parts": listed}, "regions": {"rows": [0, 0, 0], "parts": []}},
        "processes": [{"process": process, "rank": rank} for process, rank in enumerate([5, 7, 5])],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def _names(files: list[str]) -> list[str]:
    return ["/".join(Path(file).parts[-2:]) for file in files]


def test_parts_of_tables_and_ranks(tmp_path: Path) -> None:
    dataset = Dataset.at(str(_packed(tmp_path)))
    assert dataset is not None and dataset.is_intact() and dataset.is_whole
    assert dataset.tables == ["kernels", "regions"] and dataset.ranks == {5, 7}
    names = [f"kernels/part-0000{number}.parquet" for number in range(3)]
    assert _names(dataset.files("kernels")) == _names(dataset.files("kernels", {5})) == names
    assert dataset.files("kernels", {7}) == dataset.files("regions", {5}) == []
    assert _names(dataset.files("regions")) == ["_schema/regions.parquet"]
    assert dataset.files("launches") == []


def test_parts_without_a_rank_are_not_read(tmp_path: Path) -> None:
    manifest = json.loads((_packed(tmp_path) / "manifest.json").read_text())
    for number, rank in enumerate([3, 7, 4]):
        manifest["processes"][number]["rank"] = rank
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    dataset = Dataset.at(str(tmp_path))
    assert dataset is not None
    assert _names(dataset.files("kernels", {3})) == ["kernels/part-00000.parquet", "kernels/part-00001.parquet"]
    assert _names(dataset.files("kernels", {4})) == ["kernels/part-00001.parquet", "kernels/part-00002.parquet"]
    manifest["tables"]["kernels"]["rows"] = [1, 0, 1]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    other = Dataset.at(str(tmp_path))
    assert other is not None and len(other.files("kernels", {3})) == 3


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": lambda part: part.unlink(),
    "truncated": lambda part: part.write_bytes(part.read_bytes()[:-1]),
    "longer": lambda part: part.write_bytes(part.read_bytes() + b"x"),
    "copied": lambda part: shutil.copy(part, part.with_name("part-00009.parquet")),
    "other file": lambda part: (part.parent / "notes.txt").write_text("x"),
    "other folder": lambda part: shutil.copytree(part.parent, part.parent / "rank=0"),
    "moved": lambda part: shutil.move(part, part.parent.parent / part.name),
    "folder": lambda part: os.mkdir(part.rename(part.with_suffix("")).with_suffix(".parquet")),
    "all missing": lambda part: shutil.rmtree(part.parent),
    "of an empty table": lambda part: shutil.copytree(part.parent, part.parent.parent / "regions"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_other_files_than_those_that_were_written(kind: str, tmp_path: Path) -> None:
    _packed(tmp_path)
    DAMAGE[kind](tmp_path / "kernels" / "part-00001.parquet")
    dataset = Dataset.at(str(tmp_path))
    assert dataset is not None and not dataset.is_intact()


def test_another_file_of_the_same_size_is_not_what_was_written(tmp_path: Path) -> None:
    dataset = Dataset.at(str(_packed(tmp_path)))
    assert dataset is not None and dataset.is_as_written("kernels") and dataset.is_as_written("regions")
    part = tmp_path / "kernels" / "part-00002.parquet"
    data = bytearray(part.read_bytes())
    data[-40] ^= 1
    part.write_bytes(data)
    assert dataset.is_intact() and not dataset.is_as_written("kernels") and dataset.is_as_written("regions")
    assert dataset.is_as_written("kernels", {7})


def test_what_other_programs_keep_is_no_damage(tmp_path: Path) -> None:
    _packed(tmp_path)
    for name in (".part-00000.parquet.crc", "_SUCCESS"):
        (tmp_path / "kernels" / name).write_text("")
    dataset = Dataset.at(str(tmp_path))
    assert dataset is not None and dataset.is_intact()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "wavesieve-dataset", "layout_version": 3}'])
def test_other_manifests_are_left_to_the_program(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert Dataset.at(str(tmp_path)) is None


def test_a_manifest_without_its_keys_is_left_to_the_program(tmp_path: Path) -> None:
    wrong: list[object] = [{"kernels": {}}, {"kernels": {"parts": 3}}, {"kernels": {"parts": [{}]}}, [1]]
    for tables in wrong:
        manifest = {"format": "wavesieve-dataset", "layout_version": 2, "tables": tables}
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        dataset = Dataset.at(str(tmp_path))
        assert dataset is not None and not dataset.is_intact()


def test_lists_of_ranks() -> None:
    assert rank_list("3") == {3} and rank_list("0,4-6") == {0, 4, 5, 6}
    for text in ("", "a", "1-", "-1", "3-1", "1,,2", "0-99999999999", "٣"):
        assert rank_list(text) is None


def test_ranks_of_a_dataset_are_read_in_place(converted: Callable[[str], Path]) -> None:
    path = converted("two_nodes")
    for ranks in ([1], [0, 3], "0-2"):
        trace = wavesieve.open("fixtures/two_nodes").filter(rank=ranks)
        dataset = wavesieve.open(path).filter(rank=ranks)
        kept = trace.sql("SELECT DISTINCT rank FROM processes")["rank"]
        for table in ("kernels", "regions", "launches", "processes"):
            lazy = dataset.scan(table)
            assert "Parquet SCAN" in lazy.explain()
            expected = parquet(path, table).filter(pl.col("rank").is_in(kept))
            assert lazy.collect_schema() == expected.schema
            assert same_rows(sorted(lazy.collect().rows(), key=repr), sorted(expected.rows(), key=repr)), table
            assert same_rows(sorted(trace.scan(table).collect().rows(), key=repr), sorted(expected.rows(), key=repr))
    for trace in (wavesieve.open("fixtures/two_nodes"), wavesieve.open(path)):
        with pytest.raises(wavesieve.NoDataError, match="nothing matches --rank"):
            trace.filter(rank=1).scan("counters").collect()
    assert "Parquet SCAN" not in wavesieve.open(path).filter(rank=1, gpu=0).scan("kernels").explain()
    with pytest.raises(wavesieve.NoDataError, match="no rank matches"):
        wavesieve.open(path).filter(rank=77).sql("SELECT * FROM kernels")
    with pytest.raises(wavesieve.NoDataError, match="no rank matches"):
        wavesieve.open(path).filter(rank=77).scan("kernels").collect()


def _is_of_rank(part: Path, rank: int) -> bool:
    return rank in pl.read_parquet(part, hive_partitioning=False)["rank"].to_list()


@pytest.fixture(scope="module")
def parted(converted: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with many parts if it is packed."""
    path = converted("two_nodes")
    if is_packed(path):
        path = tmp_path_factory.mktemp("parted") / "dataset"
        wavesieve.open(PROJECT / "fixtures" / "two_nodes").convert(path, pack=1)
    return path


@pytest.fixture
def copied(parted: Path, tmp_path: Path) -> Path:
    """A dataset that a test may damage."""
    return Path(shutil.copytree(parted, tmp_path / "dataset"))


READINGS: dict[str, Callable[[wavesieve.Trace], object]] = {
    "table": lambda trace: trace.table("kernel_summary"),
    "sql": lambda trace: trace.sql("SELECT * FROM kernels"),
    "scan": lambda trace: trace.scan("kernels").collect(),
    "scan of a rank": lambda trace: trace.filter(rank=1).scan("kernels").select("duration_ns").collect(),
    "stream": lambda trace: trace["kernels"].to_arrow(),
    "frames": lambda trace: trace["kernels"].to_polars(),
    "duckdb": lambda trace: trace.duckdb().execute("SELECT * FROM kernels").fetchall(),
}


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("kind", ["missing", "truncated", "replaced", "foreign"])
def test_a_damaged_dataset_is_never_silently_healthy(
    kind: str, reading: str, copied: Path, converted: Callable[[str], Path]
) -> None:
    part = next(path for path in parts(copied, "kernels") if _is_of_rank(path, 1))
    if kind == "missing":
        part.unlink()
    elif kind == "truncated":
        part.write_bytes(part.read_bytes()[:-100])
    elif kind == "replaced":
        if not is_packed(copied):
            pytest.skip("the ends of files are compared in layout 2 only")
        data = bytearray(part.read_bytes())
        data[-40] ^= 1
        part.write_bytes(data)
    else:
        shutil.copy(parts(converted("planted"), "kernels")[0], part)
    with pytest.warns(wavesieve.PartialResultWarning, match="rank"):
        READINGS[reading](wavesieve.open(copied))


@pytest.mark.filterwarnings("default::wavesieve.errors.TraceNote")
def test_files_that_are_no_parts_add_no_rows(copied: Path) -> None:
    part = parts(copied, "kernels")[0]
    shutil.copy(part, part.with_name("part-99999.parquet"))
    trace = wavesieve.open(copied)
    with pytest.warns(wavesieve.WavesieveWarning, match="part-99999.parquet"):
        assert trace.scan("kernels").collect().height == 288
    with pytest.warns(wavesieve.WavesieveWarning, match="part-99999.parquet"):
        assert trace.duckdb().execute("SELECT COUNT(*) FROM kernels").fetchall() == [(288,)]
