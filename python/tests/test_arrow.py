"""Results as nanoarrow reads them, beside pyarrow."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest

import wavesieve
from wavesieve import stream
from wavesieve.answer import Answer
from wavesieve.arrow import ArrowTable, arrays_of


def _stream(table: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
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
        "list": pa.array([[1], None, [], [2, 3], [4]] * 2),
    }
)


def test_values_are_those_of_pyarrow() -> None:
    table = ArrowTable(_stream(TABLE))
    assert table.rows == 10
    assert [field.type for field in table.fields] == [
        "int8", "uint64", "float32", "float64", "bool", "string", "string", "string", "list",
    ]  # fmt: skip
    for i, name in enumerate(TABLE.column_names):
        assert table.fields[i].name == name
        assert table.column(i) == TABLE.column(i).to_pylist()
        assert table.column(i, 4) == TABLE.column(i).to_pylist()[:4]
    assert pa.table(table.stream()).to_pylist() == TABLE.to_pylist()


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
        durations = pa.array([1500, None, -1, 2, None], pa.duration(unit))
        answer = Answer(_stream(pa.table({"wait": durations})))
        assert answer["wait"] == [1500, None, -1, 2, None] and answer.columns["wait"].type == f"duration[{unit}]"
        assert answer.to_arrow().column("wait").combine_chunks().equals(durations)


def test_empty_results() -> None:
    empty = _stream(TABLE.slice(0, 0))
    table = ArrowTable(empty)
    assert table.rows == 0 and table.column(5) == []
    assert list(Answer(empty)) == []


def test_dictionaries_that_change() -> None:
    words = [["x", "y"], ["x", "y", "z"], ["other"]]
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, len(word) - 1], pa.int32()), pa.array(word)) for word in words
    ]
    sink = io.BytesIO()
    schema = pa.schema([("word", chunks[0].type)])
    with pa.ipc.new_stream(sink, schema) as writer:
        for chunk in chunks:
            writer.write_batch(pa.record_batch([chunk], schema=schema))
    assert ArrowTable(sink.getvalue()).column(0) == ["x", "y", "x", "z", "other", "other"]


def test_a_stream_that_breaks_off_is_an_error() -> None:
    data = _stream(TABLE)
    for length in [0, 3, 8, 100, len(data) // 2, len(data) - 9, len(data) - 1]:
        with pytest.raises(RuntimeError):
            list(arrays_of(io.BytesIO(data[:length])))
    with pytest.raises(RuntimeError):
        list(arrays_of(io.BytesIO(b"no stream at all")))


@pytest.mark.parametrize("reads", [0, 1, 2, 3, 4])
def test_what_interrupts_or_cuts_a_stream_is_an_error(reads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = stream._fill
    kernels = wavesieve.open("fixtures/two_nodes")["kernels"]
    left = 0

    def interrupted(output: Any, view: memoryview) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return fill(output, view)

    def cut(output: Any, view: memoryview) -> int:
        nonlocal left
        left -= 1
        return fill(output, view) if left >= 0 else 0

    for change, error in ((interrupted, KeyboardInterrupt), (cut, wavesieve.WavesieveError)):
        left = reads
        monkeypatch.setattr(stream, "_fill", change)
        with pytest.raises(error):
            list(kernels.frames())
