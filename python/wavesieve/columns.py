"""Columns of results: names, types, units and meanings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

# Units by the ends of names, for results whose columns carry none. The program names columns so.
_SUFFIXES = (
    ("gb_per_s", "gb_per_s"),
    ("_ns", "ns"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_pct", "pct"),
    ("_bytes", "bytes"),
    ("_mhz", "MHz"),
    ("_id", "id"),
)
_NAMES = {
    "bytes": "bytes",
    "pct": "pct",
    "calls": "count",
    "dispatches": "count",
    "process": "id",
    "rank": "id",
    "gpu": "id",
    "device": "id",
    "node": "id",
    "pid": "id",
    "tid": "id",
    "iteration": "id",
}


@dataclass(frozen=True)
class Column:
    """A column: its name, its Arrow type in words, its unit (`None` if it has none) and its meaning."""

    name: str
    type: str
    unit: str | None = None
    about: str = ""


def unit_of(name: str) -> str | None:
    """The unit that a name ends in.

    >>> unit_of("total_ns"), unit_of("kernel_name")
    ('ns', None)
    """
    if name in _NAMES:
        return _NAMES[name]
    return next((unit for suffix, unit in _SUFFIXES if name.endswith(suffix)), None)


class Columns(Mapping[str, Column]):
    """Columns by name, in their order. `[0]` gives the first.

    >>> import wavesieve
    >>> columns = wavesieve.open("fixtures/two_nodes").table("kernel_summary").columns
    >>> columns["total_ns"].unit
    'ns'
    >>> columns["total_ns"].about
    'sum of the durations'
    """

    def __init__(self, columns: list[Column], meanings: Callable[[], Mapping[str, str]] | None = None) -> None:
        self._columns = {column.name: column for column in columns}
        self._meanings = meanings

    def __getitem__(self, key: str | int) -> Column:
        column = list(self._columns.values())[key] if isinstance(key, int) else self._columns[key]
        if column.about or self._meanings is None:
            return column
        return Column(column.name, column.type, column.unit, self._meanings().get(column.name, ""))

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def units(self) -> list[str | None]:
        """The unit of each column."""
        return [column.unit for column in self._columns.values()]

    def __repr__(self) -> str:
        lines = [
            f"{column.name}: {column.type}{f' [{column.unit}]' if column.unit else ''}"
            for column in self._columns.values()
        ]
        return "\n".join(lines)
