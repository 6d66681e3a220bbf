"""Charts of queries."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .answer import Answer


@dataclass(frozen=True, repr=False)
class Chart:
    """A chart as SVG, and the rows that it draws. Notebooks show it.

    >>> import wavesieve
    >>> chart = wavesieve.open("fixtures/two_nodes").plot("gpu_utilization_map")
    >>> chart.svg[:4], chart.answer.columns["busy_pct"].unit
    ('<svg', 'pct')
    """

    name: str
    svg: str
    answer: Answer

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<chart of {self.name}, {len(self.answer)} rows>"
