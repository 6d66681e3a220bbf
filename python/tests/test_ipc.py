"""The reader that needs no library."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from wavesieve.answer import Answer
from wavesieve.ipc import Stream, UnsupportedTypeError, as_stream, batches


def _stream(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=3)
    return sink.getvalue()


def _file(table: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return sink.getvalue()


TABLE = pa.table(
    {
        "i8": pa.array([1, None, -3, 4, 5, None, 7, 8, 9, 10], pa.int8()),
        "u64": pa.array([2**64 - 1, *range(9)], pa.uint64()),
        "f32": pa.array([0.5, None, *([1.25] * 8)], pa.float32()),
        "f64": pa.array([float(i) for i in range(10)]),
        "truth": pa.array([True, False, None] * 3 + [True]),
        "text": pa.array(["a", None, "", "µs", "x" * 1000] * 2, pa.string()),
        "large": pa.array(["ä", "b"] * 5, pa.large_string()),
        "word": pa.array(["x", "y", None, "x", "z"] * 2).dictionary_encode(),
    }
)


@pytest.mark.parametrize("data", [_stream(TABLE), _file(TABLE)], ids=["stream", "file"])
def test_values_are_those_of_pyarrow(data: bytes) -> None:
    stream = Stream(as_stream(data))
    assert stream.rows == 10
    for i, name in enumerate(TABLE.column_names):
        assert stream.fields[i].name == name
        assert stream.column(i) == TABLE.column(i).to_pylist()
        assert stream.column(i, 4) == TABLE.column(i).to_pylist()[:4]


def test_metadata_of_columns_gives_units() -> None:
    field = pa.field("wait", pa.int64(), metadata={"unit": "us", "doc": "time of waiting"})
    answer = Answer(_stream(pa.table([pa.array([1, 2])], schema=pa.schema([field]))))
    assert (answer.columns["wait"].unit, answer.columns["wait"].about) == ("us", "time of waiting")


def test_metadata_of_columns_is_used_before_what_the_program_says_of_queries() -> None:
    fields = [
        pa.field("wait", pa.int64(), metadata={"unit": "us", "doc": "time of waiting"}),
        pa.field("n", pa.int64()),
    ]
    data = _stream(pa.table([pa.array([1]), pa.array([2])], schema=pa.schema(fields)))
    asked: list[str] = []

    def meanings() -> dict[str, str]:
        asked.append("schema")
        return {"wait": "something else", "n": "a number"}

    columns = Answer(data, meanings=meanings).columns
    assert columns["wait"].about == "time of waiting" and asked == []
    assert columns["n"].about == "a number" and asked == ["schema"]


def test_durations_are_whole_numbers() -> None:
    for unit in ("s", "ms", "us", "ns"):
        durations = pa.array([1500, None, -1], pa.duration(unit))
        answer = Answer(_stream(pa.table({"wait": durations})))
        assert answer["wait"] == [1500, None, -1] and answer.columns["wait"].type == f"duration[{unit}]"
        assert answer.to_arrow().column("wait").combine_chunks().equals(durations)


def test_other_types_and_compressed_streams_need_a_library() -> None:
    lists = pa.table({"n": pa.array([1, 2]), "list": pa.array([[1], [2, 3]])})
    with pytest.raises(UnsupportedTypeError, match="column list"):
        Stream(as_stream(_stream(lists))).column(0)
    assert Answer(_stream(lists)).to_dicts() == [{"n": 1, "list": [1]}, {"n": 2, "list": [2, 3]}]
    compressed = _stream(TABLE.select(["f64"]), compression="zstd")
    with pytest.raises(UnsupportedTypeError, match="compressed"):
        Stream(as_stream(compressed)).column(0)
    assert Answer(compressed)["f64"] == TABLE.column("f64").to_pylist()


def test_empty_results() -> None:
    empty = TABLE.slice(0, 0)
    stream = Stream(as_stream(_file(empty)))
    assert stream.rows == 0 and stream.column(5) == []
    assert list(Answer(_stream(empty))) == []


def _unread(data: bytes) -> Callable[[int], bytes]:
    return io.BytesIO(data).read


@pytest.mark.parametrize("data", [_stream(TABLE), _file(TABLE)], ids=["stream", "file"])
def test_batches_are_streams_of_their_own(data: bytes) -> None:
    parts = list(batches(_unread(data)))
    assert [Stream(memoryview(part)).rows for part in parts] == [3, 3, 3, 1]
    assert pa.concat_tables([pa.ipc.open_stream(part).read_all() for part in parts]).to_pylist() == TABLE.to_pylist()
    frames = [pl.read_ipc_stream(part) for part in parts]
    assert pl.concat(frames).rows() == [tuple(row.values()) for row in TABLE.to_pylist()]


def test_dictionaries_that_grow_or_change() -> None:
    words = [["x", "y"], ["x", "y", "z"], ["other"]]
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, len(word) - 1], pa.int32()), pa.array(word)) for word in words
    ]
    for deltas in (True, False):
        sink = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
        schema = pa.schema([("word", chunks[0].type)])
        with pa.ipc.new_stream(sink, schema, options=options) as writer:
            for chunk in chunks:
                writer.write_batch(pa.record_batch([chunk], schema=schema))
        parts = list(batches(_unread(sink.getvalue())))
        found = [pa.ipc.open_stream(part).read_all().column(0).to_pylist() for part in parts]
        assert found == [["x", "y"], ["x", "z"], ["other", "other"]]


def test_an_empty_stream_has_an_empty_batch() -> None:
    (part,) = batches(_unread(_stream(TABLE.slice(0, 0))))
    assert pl.read_ipc_stream(part).shape == (0, 8)


def test_a_stream_that_breaks_off_is_an_error() -> None:
    data = _stream(TABLE)
    for length in [0, 3, 8, 100, len(data) // 2, len(data) - 8, len(data) - 1]:
        with pytest.raises(EOFError):
            list(batches(_unread(data[:length])))
    with pytest.raises(EOFError):
        list(batches(_unread(b"no stream at all")))
