"""Exceptions and warnings: one class for each way in which the program can fail.

The exit codes are those of the program (docs/guide/exit-codes.md).
"""

from __future__ import annotations

__all__ = [
    "DamagedInputError",
    "NoDataError",
    "NoTraceError",
    "PartialResultWarning",
    "ProgramNotFoundError",
    "ThresholdError",
    "TraceNote",
    "UsageError",
    "WavesieveError",
    "WavesieveWarning",
]


class WavesieveError(Exception):
    """The program failed; base class of all exceptions here.

    `code` is the exit code of the program, `None` if it did not run to its end.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class ProgramNotFoundError(WavesieveError):
    """The program `wavesieve` is not installed."""


class UsageError(WavesieveError, ValueError):
    """An argument is wrong, or names a file that does not exist (exit code 2).

    >>> import wavesieve
    >>> wavesieve.open("fixtures/two_nodes").sql("SELECT nothing FROM kernels")
    Traceback (most recent call last):
    wavesieve.errors.UsageError: cannot run the statement: no column is named nothing in kernels; ...
    """


class NoTraceError(WavesieveError):
    """The inputs hold no trace (exit code 3)."""


class NoDataError(WavesieveError):
    """The trace holds no data for this query, or nothing matches a filter (exit code 3)."""


class ThresholdError(WavesieveError):
    """A threshold was exceeded, or cannot be decided (exit codes 4 and 7)."""


class DamagedInputError(WavesieveError):
    """The inputs are damaged, and there is no result (exit code 5)."""


class WavesieveWarning(UserWarning):
    """Base class of all warnings here."""


class TraceNote(WavesieveWarning):
    """A note of the program about the inputs or the result."""


class PartialResultWarning(WavesieveWarning):
    """An input is damaged, and the result is partial (exit code 5)."""
