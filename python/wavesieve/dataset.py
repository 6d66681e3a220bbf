"""Datasets: which Parquet files hold a table, if they can be read in place of the program."""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Set
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import xxhash

from .catalog import records

MANIFEST = "manifest.json"
_FORMAT = "wavesieve-dataset"
# Settings that change rows or texts of tables; they have no default.
_SETTINGS = {
    "rank-from", "categories", "window", "iter", "rank", "gpu", "kernel", "category", "stream", "queue", "domain",
    "min-duration", "where",
}  # fmt: skip
_MOST_RANKS = 1 << 20


class Dataset(ABC):
    """A directory that `convert` wrote."""

    def __init__(self, directory: Path, manifest: dict[str, Any]) -> None:
        self.directory = directory
        self._manifest = manifest

    @classmethod
    def at(cls, path: str) -> Dataset | None:
        """The dataset of a directory, `None` if it is none, or of a layout that is not known here."""
        directory = Path(path)
        try:
            manifest = json.loads((directory / MANIFEST).read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
            return None
        layout = _LAYOUTS.get(manifest.get("layout_version", 0))
        return layout(directory, manifest) if layout else None

    @property
    def is_whole(self) -> bool:
        """Whether no input was damaged when it was made; otherwise the program reports what is missing."""
        return not self._manifest.get("damage")

    @property
    def selection(self) -> list[str]:
        """The filters that it was made with."""
        return list(self._manifest.get("selection", []))

    @property
    def ranks(self) -> set[int]:
        """The ranks of its processes."""
        return {process["rank"] for process in self._processes}

    @property
    def _processes(self) -> list[dict[str, Any]]:
        processes: list[dict[str, Any]] = self._manifest.get("processes", [])
        return processes

    @property
    @abstractmethod
    def tables(self) -> list[str]:
        """The tables that it holds, empty ones too."""

    @abstractmethod
    def files(self, table: str, ranks: Set[int] | None = None) -> list[str]:
        """Files with all rows of a table, in the order of processes; none if it is not there.

        With ranks the files with their rows; none if they have no rows, of which the program makes an error.
        """

    @abstractmethod
    def _parts(self, table: str) -> dict[str, int | None]:
        """The files that belong into the folder of a table, with their sizes as far as they are recorded."""

    def is_intact(self) -> bool:
        """Whether its files are those that were written, as far as names and sizes show, and there are no others.

        Otherwise the program reports what is wrong.
        """
        try:
            return all(self._is_intact(table) for table in self.tables)
        except (OSError, LookupError, TypeError):
            return False  # a folder or manifest that cannot be read is for the program to judge

    def is_as_written(self, table: str, ranks: Set[int] | None = None) -> bool:
        """Whether the ends of the files of a table are those that were written: other files can have the same size."""
        return True

    def _is_intact(self, table: str) -> bool:
        parts, folder = self._parts(table), self.directory / table
        found = dict(_sizes(str(folder))) if folder.is_dir() else {}
        return found.keys() == parts.keys() and all(size in (None, found[name]) for name, size in parts.items())


class _FilesOfProcesses(Dataset):
    """Layout 1: a file for each table and process."""

    @property
    def tables(self) -> list[str]:
        return sorted({table for process in self._processes for table in process["rows"]})

    def files(self, table: str, ranks: Set[int] | None = None) -> list[str]:
        if table not in self.tables:
            return []
        wanted = [process for process in self._processes if ranks is None or process["rank"] in ranks]
        if ranks is not None and not any(process["rows"].get(table) for process in wanted):
            return []
        return [str(self.directory / table / _name(process)) for process in wanted]

    def _parts(self, table: str) -> dict[str, int | None]:
        return {_name(process): process.get("bytes", {}).get(table) for process in self._processes}


class _PackedFiles(Dataset):
    """Layout 2: parts with row groups of all processes, one after another."""

    @property
    def _tables(self) -> dict[str, Any]:
        tables: dict[str, Any] = self._manifest.get("tables", {})
        return tables

    @property
    def tables(self) -> list[str]:
        return sorted(self._tables)

    def files(self, table: str, ranks: Set[int] | None = None) -> list[str]:
        if table not in self._tables:
            return []
        names = list(self._parts(table))
        if ranks is not None:
            names = self._holding(table, names, ranks)
        elif not names:
            return [str(self.directory / "_schema" / f"{table}.parquet")]
        return [str(self.directory / table / name) for name in names]

    def _holding(self, table: str, names: list[str], ranks: Set[int]) -> list[str]:
        """The parts that hold these ranks: a row group holds rows of one process, and all but its last one are full."""
        rows, full = self._tables[table]["rows"], self._manifest["row_group_rows"]
        of_groups = [process["rank"] for process, count in zip(self._processes, rows) for _ in range(0, count, full)]
        ends = list(accumulate(part["row_groups"] for part in self._tables[table]["parts"]))
        if [len(of_groups)] != ends[-1:]:
            return names
        return [name for name, start, end in zip(names, [0, *ends], ends) if ranks & set(of_groups[start:end])]

    def _parts(self, table: str) -> dict[str, int | None]:
        return {f"part-{number:05}.parquet": part["bytes"] for number, part in enumerate(self._tables[table]["parts"])}

    def is_as_written(self, table: str, ranks: Set[int] | None = None) -> bool:
        """Whether the index and footer of each part have the hash that the manifest lists."""
        read = set(self.files(table, ranks))
        parts = zip(self._parts(table), self._tables[table]["parts"])
        listed = [(str(self.directory / table / name), part) for name, part in parts]
        try:
            return all(_hash_of_end(path, part) == part["footer"] for path, part in listed if path in read)
        except (OSError, LookupError):
            return False

    def _is_intact(self, table: str) -> bool:
        return super()._is_intact(table) and (self.directory / "_schema" / f"{table}.parquet").is_file()


_LAYOUTS: dict[int, type[Dataset]] = {1: _FilesOfProcesses, 2: _PackedFiles}


def _hash_of_end(path: str, part: dict[str, Any]) -> str:
    changed = os.stat(path).st_mtime_ns
    return _hash_from(path, part["data_bytes"], part["bytes"], changed)


@lru_cache(maxsize=4096)
def _hash_from(path: str, start: int, end: int, changed: int) -> str:
    """The hash of a file from a place on; once, as long as the file does not change."""
    with open(path, "rb") as file:
        file.seek(start)
        return xxhash.xxh3_64_hexdigest(file.read(end - start))


def _name(process: dict[str, Any]) -> str:
    return f"rank={process['rank']}/process-{process['process']}.parquet"


def _sizes(folder: str, below: str = "") -> Iterator[tuple[str, int]]:
    """Names and sizes of the files below a folder; what other programs keep there is hidden."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith((".", "_")):
                continue
            if entry.is_dir():
                yield from _sizes(entry.path, f"{below}{entry.name}/")
            else:
                yield below + entry.name, entry.stat().st_size


def rank_list(text: str) -> set[int] | None:
    """The ranks of a filter, `None` if they are not written as numbers.

    >>> sorted(rank_list("0,4-7"))
    [0, 4, 5, 6, 7]
    """
    ranks: set[int] = set()
    for item in text.split(","):
        found = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", item, re.ASCII)
        if not found:
            return None
        first, last = int(found[1]), int(found[2] or found[1])
        if not first <= last < _MOST_RANKS:
            return None
        ranks.update(range(first, last + 1))
    return ranks


def settings_filter() -> bool:
    """Whether the user's settings filter traces or rename what is in them (`wavesieve.toml`, variables)."""
    if not _has_settings():
        return False
    rows = records(["config", "show", "sql"])
    return any(row["setting"] in _SETTINGS and row["value"] is not None for row in rows)


def _has_settings() -> bool:
    """Whether there can be settings: a file at one of the places where the program looks for them, or a variable.

    Asking the program takes longer than all else that a scan does before it reads.
    """
    variables = (name.removeprefix("WAVESIEVE_") for name in os.environ if name.startswith("WAVESIEVE_"))
    if any(name.lower().replace("_", "-") in _SETTINGS for name in variables):
        return True
    homes = [Path(os.environ.get("HOME", ""), ".config"), Path(os.environ.get("XDG_CONFIG_HOME", ""))]
    current = Path.cwd()
    files = [directory / "wavesieve.toml" for directory in (current, *current.parents)]
    return any(file.exists() for file in [*files, *(home / "wavesieve" / "config.toml" for home in homes)])
