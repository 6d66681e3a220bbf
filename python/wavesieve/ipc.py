"""Reads Arrow IPC streams without any library: column names, types, units, and values of the usual types.

This is what shows results where neither pyarrow nor polars is installed. Conversions use those libraries.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from typing import NamedTuple

from .flatbuffer import FlatTable

_CONTINUATION = b"\xff\xff\xff\xff"
_END = _CONTINUATION + b"\0\0\0\0"
_FILE_MAGIC = b"ARROW1"
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
_INT, _FLOAT, _UTF8, _BOOL, _DURATION, _LARGE_UTF8 = 2, 3, 5, 6, 18, 20
_DURATION_UNITS = ("s", "ms", "us", "ns")
_INTEGERS = {
    (8, 1): "b",
    (16, 1): "h",
    (32, 1): "i",
    (64, 1): "q",
    (8, 0): "B",
    (16, 0): "H",
    (32, 0): "I",
    (64, 0): "Q",
}


class UnsupportedTypeError(ValueError):
    """A column or a buffer that only a library can read."""


class Buffers(NamedTuple):
    """Where the values of a column lie in the body of a batch."""

    rows: int
    nulls: int
    parts: list[memoryview]


@dataclass
class Field:
    """A column of a stream: its name, its type in words, and the metadata of the program."""

    name: str
    type: str
    code: str
    metadata: dict[str, str]
    nullable: bool
    dictionary: int | None
    chunks: list[Buffers] = field(default_factory=list)


def is_file(data: bytes | mmap | memoryview) -> bool:
    """Whether the data is an IPC file, which holds a stream between a mark and an index."""
    return memoryview(data)[: len(_FILE_MAGIC)] == _FILE_MAGIC


def as_stream(data: bytes | mmap) -> memoryview:
    """The stream within an IPC file, or the stream itself."""
    view = memoryview(data)
    if not is_file(view):
        return view
    start = 8
    while start + 4 <= len(view) and view[start : start + 4] != _CONTINUATION:
        start += 4
    return view[start:]


class Stream:
    """A stream in memory."""

    def __init__(self, data: memoryview) -> None:
        self.fields: list[Field] = []
        self.rows = 0
        self._dictionaries: dict[int, list[object]] = {}
        self._values: dict[int, Field] = {}
        self._problem = ""
        for kind, header, body in _messages(data):
            if kind == _SCHEMA:
                self.fields = [_field(part, self._values) for part in header.tables(1)]
            elif kind == _BATCH:
                self.rows += header.number(0, "q")
                self._add(header, body, self.fields)
            elif kind == _DICTIONARY:
                self._add_dictionary(header, body)

    def _add(self, header: FlatTable, body: memoryview, fields: Sequence[Field]) -> None:
        if header.has(3):
            self._problem = "the buffers are compressed"
        buffers = header.pairs(2)
        place = 0
        for column, (rows, nulls) in zip(fields, header.pairs(1)):
            if not column.code:
                self._problem = self._problem or f"column {column.name} has the type {column.type}"
                return
            count = 3 if column.code == "text" or column.code == "large_text" else 2
            parts = [body[start : start + length] for start, length in buffers[place : place + count]]
            place += count
            column.chunks.append(Buffers(rows, nulls, parts))

    def _add_dictionary(self, header: FlatTable, body: memoryview) -> None:
        number = header.number(0, "q")
        batch, column = header.table(1), self._values.get(number)
        if batch is None or column is None:
            return
        column.chunks = []
        self._add(batch, body, [column])
        values = [value for chunk in column.chunks for value in _values(column.code, chunk, chunk.rows)]
        old = self._dictionaries.get(number, []) if header.number(2, "b") else []
        self._dictionaries[number] = old + values

    def column(self, index: int, limit: int | None = None) -> list[object]:
        """The first values of a column, all of them by default."""
        if self._problem:
            raise UnsupportedTypeError(self._problem)
        column = self.fields[index]
        left = self.rows if limit is None else min(limit, self.rows)
        values: list[object] = []
        for chunk in column.chunks:
            part = _values(column.code, chunk, min(left - len(values), chunk.rows))
            if column.dictionary is not None:
                words = self._dictionaries.get(column.dictionary, [])
                part = [None if key is None else words[key] for key in part if key is None or isinstance(key, int)]
            values += part
        return values


def _messages(data: memoryview) -> Iterator[tuple[int, FlatTable, memoryview]]:
    """Kind, header and body of each message up to the end of the stream."""
    at = 0
    while at + 8 <= len(data):
        if data[at : at + 4] == _CONTINUATION:
            at += 4
        (size,) = struct.unpack_from("<i", data, at)
        if size == 0:
            return
        message = FlatTable.root(data[at + 4 : at + 4 + size])
        at += 4 + size
        header, length = message.table(2), message.number(3, "q")
        if header is not None:
            yield message.number(1, "B"), header, data[at : at + length]
        at += length


def batches(read: Callable[[int], bytes | bytearray]) -> Iterator[bytes]:
    """A stream with one batch for each batch of a stream or file, while it is read; at least one, which can be empty.

    `read` gives so many bytes, and fewer at the end only.
    """
    schema, dictionaries = b"", dict[int, list[bytes]]()
    has_batches = False
    for kind, header, message in _read_messages(read):
        if kind == _SCHEMA:
            schema = message
        elif kind == _DICTIONARY:
            number, is_delta = header.number(0, "q"), header.number(2, "b")
            dictionaries[number] = [*(dictionaries.get(number, []) if is_delta else []), message]
        elif kind == _BATCH:
            has_batches = True
            yield b"".join([schema, *(part for parts in dictionaries.values() for part in parts), message, _END])
    if schema and not has_batches:
        yield schema + _END


def _read_messages(read: Callable[[int], bytes | bytearray]) -> Iterator[tuple[int, FlatTable, bytes]]:
    """Kind, header and bytes of each message. A stream that breaks off is an error."""
    mark = read(8)
    if mark.startswith(_FILE_MAGIC):
        mark = read(8)
        while len(mark) == 8 and not mark.startswith(_CONTINUATION):
            mark = mark[4:] + read(4)
    while mark:
        size = struct.unpack_from("<i", mark, 4)[0] if len(mark) == 8 and mark.startswith(_CONTINUATION) else -1
        if size == 0:
            return
        head = read(size) if size > 0 else b""
        if not head or len(head) < size:
            raise EOFError("the stream breaks off")
        message = FlatTable.root(memoryview(head))
        header, length = message.table(2), message.number(3, "q")
        body = read(length)
        if len(body) < length:
            raise EOFError("the stream breaks off")
        if header is not None:
            yield message.number(1, "B"), header, b"".join([mark, head, body])
        mark = read(8)
    raise EOFError("the stream breaks off")


def _field(table: FlatTable, dictionaries: dict[int, Field]) -> Field:
    kind, form = table.number(2, "B"), table.table(3)
    name, code = _type(kind, form)
    metadata = {pair.text(0): pair.text(1) for pair in table.tables(6)}
    column = Field(table.text(0), name, code, metadata, bool(table.number(1, "b")), None)
    encoding = table.table(4)
    if encoding is None:
        return column
    number, index = encoding.number(0, "q"), encoding.table(1)
    dictionaries[number] = Field(column.name, name, code, {}, True, None)
    column.dictionary = number
    column.code = _type(_INT, index)[1] if index is not None else "i"
    return column


def _type(kind: int, form: FlatTable | None) -> tuple[str, str]:
    """The type in words, and how `_values` reads it, empty if it cannot."""
    if kind == _INT and form is not None:
        bits, signed = form.number(0, "i"), form.number(1, "b")
        return f"{'' if signed else 'u'}int{bits}", _INTEGERS.get((bits, signed), "")
    if kind == _FLOAT and form is not None:
        precision = form.number(0, "h")
        return f"float{16 << precision}", {1: "f", 2: "d"}.get(precision, "")
    if kind == _DURATION and form is not None:
        # Values are whole numbers: durations of Python have no nanoseconds.
        return f"duration[{_DURATION_UNITS[form.number(0, 'h', 1)]}]", "q"
    known = {_UTF8: ("string", "text"), _LARGE_UTF8: ("string", "large_text"), _BOOL: ("bool", "bool")}
    return known.get(kind, (f"type {kind}", ""))


def _values(code: str, chunk: Buffers, count: int) -> list[object]:
    values: list[object]
    if code == "bool":
        values = [bool(chunk.parts[1][i >> 3] >> (i & 7) & 1) for i in range(count)]
    elif code in ("text", "large_text"):
        values = _texts(chunk, count, "i" if code == "text" else "q")
    else:
        values = list(_numbers(chunk.parts[1], code, count))
    if chunk.nulls and chunk.parts[0]:
        valid = chunk.parts[0]
        values = [value if valid[i >> 3] >> (i & 7) & 1 else None for i, value in enumerate(values)]
    return values


def _texts(chunk: Buffers, count: int, code: str) -> list[object]:
    if not count:
        return []
    ends = _numbers(chunk.parts[1], code, count + 1)
    characters = chunk.parts[2]
    return [str(characters[start:end], "utf-8") for start, end in zip(ends, ends[1:])]


def _numbers(part: memoryview, code: str, count: int) -> tuple[int, ...]:
    form = struct.Struct(f"<{count}{code}")
    return form.unpack(part[: form.size])
