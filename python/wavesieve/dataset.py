"""Datasets: which Parquet files hold a table, if they can be read in place of the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .catalog import records

MANIFEST = "manifest.json"
_FORMAT = "wavesieve-dataset"
_LAYOUT = 1
# Settings that change rows or texts of tables; they have no default.
_SETTINGS = {
    "rank-from", "categories", "window", "iter", "rank", "gpu", "kernel", "category", "stream", "queue", "domain",
    "min-duration", "where",
}  # fmt: skip


class Dataset:
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
        return cls(directory, manifest) if manifest.get("layout_version") == _LAYOUT else None

    @property
    def is_whole(self) -> bool:
        """Whether no input was damaged when it was made; otherwise the program reports what is missing."""
        return not self._manifest.get("damage")

    @property
    def selection(self) -> list[str]:
        """The filters that it was made with."""
        return list(self._manifest.get("selection", []))

    def tables(self) -> list[str]:
        """The tables with files."""
        return sorted(
            path.name for path in self.directory.iterdir() if path.is_dir() and not path.name.startswith((".", "_"))
        )

    def files(self, table: str) -> list[str]:
        """The files of a table in the order of processes; none if one is missing."""
        files = []
        for process in self._manifest.get("processes", []):
            number, rank = process["process"], process["rank"]
            path = self.directory / table / f"rank={rank}" / f"process-{number}.parquet"
            if not path.is_file():
                return []
            files.append(str(path))
        return files


def settings_filter() -> bool:
    """Whether the user's settings filter traces or rename what is in them (`wavesieve.toml`, variables)."""
    rows = records(["config", "show", "sql"])
    return any(row["setting"] in _SETTINGS and row["value"] is not None for row in rows)
