"""Turns the exit code and the messages of the program into exceptions and warnings."""

from __future__ import annotations

import os
import sys
import warnings

from .errors import (
    DamagedInputError,
    NoDataError,
    NoTraceError,
    PartialResultWarning,
    ThresholdError,
    TraceNote,
    UsageError,
    WavesieveError,
)

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Prefixes of the program's lines, for people who read a terminal.
_NOTES = ("note: ", "warning: ")
_DAMAGE = ("damaged: ",)
_NO_ROWS = ("no rows: ", "no match: ")
_ERROR = "error: "


def check(code: int, text: str, accepted: tuple[int, ...] = ()) -> None:
    """Warns of what the program reported, and raises the exception of its exit code.

    Codes in `accepted` are no errors. Neither is 5 without an error: then there is a result, and it is partial.
    """
    lines = text.splitlines()
    for text_of_note in _starting_with(lines, _NOTES):
        note(text_of_note)
    if code == 5 and not _error_text(text):
        _warn("\n".join(["the result is partial", *_starting_with(lines, _DAMAGE)]), PartialResultWarning)
    elif code != 0 and code not in accepted:
        raise _failure(code, text)


def note(text: str) -> None:
    """Warns of what the program would have noted."""
    _warn(text, TraceNote)


def _failure(code: int, text: str) -> WavesieveError:
    lines = text.splitlines()
    no_rows = _starting_with(lines, _NO_ROWS)
    message = _error_text(text) or "\n".join(no_rows) or text.strip()
    if code == 2:
        return UsageError(message, code)
    if code == 3:
        return NoDataError(message, code) if no_rows else NoTraceError(message, code)
    if code in (4, 7):
        return ThresholdError(message or "a threshold was exceeded", code)
    if code == 5:
        return DamagedInputError("\n".join(_starting_with(lines, _DAMAGE)) or message, code)
    if code < 0:
        return WavesieveError(message or f"signal {-code} ended wavesieve", code)
    return WavesieveError(message or f"wavesieve failed with exit code {code}", code)


def _error_text(text: str) -> str:
    """What follows `error: `, without the usage of the command line."""
    _, found, message = ("\n" + text).partition("\n" + _ERROR)
    if not found:
        return ""
    for end in ("\n\nUsage: ", "\n\nFor more information"):
        message = message.partition(end)[0]
    return message.strip()


def _starting_with(lines: list[str], prefixes: tuple[str, ...]) -> list[str]:
    return [line.partition(": ")[2] for line in lines if line.startswith(prefixes)]


def _warn(message: str, category: type[Warning]) -> None:
    warnings.warn(message, category, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """The stack level of the first frame outside of this package, as `warnings.warn` in `_warn` counts."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level
