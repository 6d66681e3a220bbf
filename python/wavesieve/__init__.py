"""Find out where AMD GPU time goes: traces of any number of ranks as tables, findings and SQL.

>>> import wavesieve
>>> trace = wavesieve.open("fixtures/two_nodes")
>>> answer = trace.table("kernel_summary", by=["rank"], name="base")
>>> answer.columns["total_ns"].unit
'ns'

This package runs the program `wavesieve` and takes its results as Arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .analysis import Analysis, Finding
from .answer import Answer
from .chart import Chart
from .columns import Column, Columns
from .comparison import Comparison, compare
from .errors import (
    DamagedInputError,
    NoDataError,
    NoTraceError,
    PartialResultWarning,
    ProgramNotFoundError,
    ThresholdError,
    TraceNote,
    UsageError,
    WavesieveError,
    WavesieveWarning,
)
from .filters import InputOptions, PathLike
from .iterations import Iterations, Matrix
from .program import find_program
from .stream import TableStream
from .trace import Trace
from .viewer import View

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Analysis",
    "Answer",
    "Chart",
    "Column",
    "Columns",
    "Comparison",
    "DamagedInputError",
    "Finding",
    "Iterations",
    "Matrix",
    "NoDataError",
    "NoTraceError",
    "PartialResultWarning",
    "ProgramNotFoundError",
    "TableStream",
    "ThresholdError",
    "Trace",
    "TraceNote",
    "UsageError",
    "View",
    "WavesieveError",
    "WavesieveWarning",
    "compare",
    "find_program",
    "open",
]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("wavesieve")
    except PackageNotFoundError:
        return "0+unknown"


def open(*inputs: PathLike, **reading: Unpack[InputOptions]) -> Trace:
    """Opens files, directories (searched recursively) and glob patterns as one trace.

    Nothing is read before a result is requested. `reading` are options of the program: `rank_from`, `categories`,
    `metrics`, `roofs`, `reader`, `cache`, `queries`, `threads`, `jobs` and `memory_limit`.

    >>> import wavesieve
    >>> wavesieve.open("fixtures/two_nodes", rank_from=r"node\\d/(\\d+)").info()["rank"]
    [4100, 4100, 4140, 4140]
    """
    return Trace(inputs, {}, **reading)
