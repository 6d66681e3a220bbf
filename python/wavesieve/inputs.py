"""Inputs with options and filters, and the command lines that read them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .errors import UsageError
from .filters import GLOBAL, InputOptions, PathLike, options

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Results keep nanoseconds whatever the user's settings are.
ARROW = ("--format=arrow", "--time-unit=ns", "--output=-")


class Inputs:
    """What is read, and how."""

    def __init__(
        self, inputs: Iterable[PathLike], filters: Mapping[str, object], **reading: Unpack[InputOptions]
    ) -> None:
        self.inputs = tuple(os.fspath(path) for path in inputs)
        if not self.inputs:
            raise UsageError("no input; pass a file, a directory or a pattern")
        given: Mapping[str, object] = {**reading}
        known = InputOptions.__annotations__
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise TypeError(f"unknown option {', '.join(unknown)}; choose from {', '.join(known)}")
        self.filters = dict(filters)
        self.reading = reading
        #: Options of the program before the command, and after it.
        self.before = options({name: value for name, value in given.items() if name in GLOBAL})
        self.after = options({name: value for name, value in given.items() if name not in GLOBAL})
        self.after += options(self.filters)

    def command(self, *words: str, output: Iterable[str] = ARROW) -> list[str]:
        """The arguments of a command that reads the inputs."""
        return [*self.before, *words, *self.after, *output, "--", *self.inputs]

    def sql_command(self, statement: str) -> list[str]:
        """The arguments that run a statement; it is the first of what is not an option."""
        return [*self.before, "sql", *self.after, *ARROW, "--", statement, *self.inputs]

    def __repr__(self) -> str:
        text = f"wavesieve.open({', '.join(map(repr, self.inputs))})"
        if not self.filters:
            return text
        return text + f".filter({', '.join(f'{name}={value!r}' for name, value in self.filters.items())})"
