"""Results of the program: Arrow IPC streams, which nanoarrow reads."""

from __future__ import annotations

import io
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, Protocol, cast

import nanoarrow
from nanoarrow.c_array_stream import CArrayStream
from nanoarrow.ipc import InputStream

_NAMES = {"float": "float32", "double": "float64", "half_float": "float16", "large_string": "string"}
_DURATION_UNITS = ("s", "ms", "us", "ns")


class ArrowStream(Protocol):
    """An object of the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an Arrow C stream."""


class Field(NamedTuple):
    """A column: its name, its type in words, and the metadata of the program."""

    name: str
    type: str
    metadata: dict[str, str]


class ArrowTable:
    """A stream in memory. Rows are decoded when they are first used."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._fields = [nanoarrow.Schema(child) for child in _opened(data).get_schema().children]
        self.fields = [Field(field.name, _type(field), _metadata(field)) for field in self._fields]

    def stream(self) -> ArrowStream:
        """The stream once more."""
        return cast(ArrowStream, _opened(self._data))

    @cached_property
    def _array(self) -> Any:
        return nanoarrow.ArrayStream(_opened(self._data)).read_all()

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._array)

    def column(self, index: int, limit: int | None = None) -> list[object]:
        """The first values of a column, all of them by default. Durations are whole numbers: those of Python have no nanoseconds."""
        values = self._array.child(index)
        if self._fields[index].type == nanoarrow.Type.DURATION:
            parts = [_as_integers(chunk) for chunk in values.iter_chunks()]
            return list(islice((value for part in parts for value in part), limit))
        return list(islice(values.iter_py(), limit))


def arrays_of(source: Any) -> Any:
    """The batches of a stream as objects of the Arrow PyCapsule interface, while `source` is read with `readinto`.

    `get_schema()` of the result is the schema.
    """
    return nanoarrow.c_array_stream(InputStream.from_readable(source))


def stream_of(schema: Any, arrays: list[Any]) -> ArrowStream:
    """Batches as one stream."""
    return cast(ArrowStream, CArrayStream.from_c_arrays(arrays, schema))


def _opened(data: bytes) -> Any:
    return arrays_of(io.BytesIO(data))


def _metadata(field: Any) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in field.metadata.items()} if field.metadata else {}


def _type(field: Any) -> str:
    if field.type == nanoarrow.Type.DICTIONARY:
        return _type(field.value_type)
    if field.type == nanoarrow.Type.DURATION:
        return f"duration[{_DURATION_UNITS[field.unit.value]}]"
    name: str = field.type.name.lower()
    return _NAMES.get(name, name)


def _as_integers(chunk: Any) -> Any:
    array = nanoarrow.c_array(chunk)
    buffers = list(array.view().buffers)
    integers = nanoarrow.c_array_from_buffers(nanoarrow.int64(), array.length, buffers, offset=array.offset)
    return nanoarrow.Array(integers).iter_py()
