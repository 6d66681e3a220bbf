"""Reads tables of FlatBuffers, which hold the metadata of Arrow streams."""

from __future__ import annotations

import struct

_U16 = struct.Struct("<H")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")


class FlatTable:
    """A table at a position of a buffer; fields are named by their numbers."""

    def __init__(self, data: memoryview, position: int) -> None:
        self.data = data
        self.position = position

    @classmethod
    def root(cls, data: memoryview) -> FlatTable:
        """The table that a buffer begins with."""
        return cls(data, _U32.unpack_from(data, 0)[0])

    def _at(self, field: int) -> int | None:
        vtable = self.position - int(_I32.unpack_from(self.data, self.position)[0])
        entry = 4 + 2 * field
        if entry >= _U16.unpack_from(self.data, vtable)[0]:
            return None
        offset = int(_U16.unpack_from(self.data, vtable + entry)[0])
        return self.position + offset if offset else None

    def number(self, field: int, form: str, default: int = 0) -> int:
        """A whole number or truth value; `form` is that of `struct`."""
        at = self._at(field)
        return default if at is None else int(struct.unpack_from("<" + form, self.data, at)[0])

    def _target(self, field: int) -> int | None:
        at = self._at(field)
        return None if at is None else at + int(_U32.unpack_from(self.data, at)[0])

    def has(self, field: int) -> bool:
        """Whether the field is there."""
        return self._at(field) is not None

    def text(self, field: int) -> str:
        """A text, empty if it is not there."""
        at = self._target(field)
        if at is None:
            return ""
        length = int(_U32.unpack_from(self.data, at)[0])
        return str(self.data[at + 4 : at + 4 + length], "utf-8")

    def table(self, field: int) -> FlatTable | None:
        """A table or a union that a field refers to."""
        at = self._target(field)
        return None if at is None else FlatTable(self.data, at)

    def tables(self, field: int) -> list[FlatTable]:
        """A list of tables."""
        at = self._target(field)
        if at is None:
            return []
        places = [at + 4 + 4 * i for i in range(_U32.unpack_from(self.data, at)[0])]
        return [FlatTable(self.data, place + int(_U32.unpack_from(self.data, place)[0])) for place in places]

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """A list of structures of two long integers."""
        at = self._target(field)
        if at is None:
            return []
        count = int(_U32.unpack_from(self.data, at)[0])
        numbers = struct.unpack_from(f"<{2 * count}q", self.data, at + 4)
        return list(zip(numbers[::2], numbers[1::2]))
