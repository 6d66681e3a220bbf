"""Comparisons of runs."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .filters import options
from .program import run

if TYPE_CHECKING:
    from .trace import Trace

# Notebooks give `pre` the font of their text, and break its lines.
_STYLE = "font-family:monospace;font-size:90%;line-height:1.3;white-space:pre;overflow-x:auto"
_GATES = {0: "passed", 5: "passed", 4: "failed", 7: "undecided"}


class Comparison:
    """What changed between two runs, and how sure that is."""

    def __init__(self, document: dict[str, Any], gate: str, render: Callable[[str], str]) -> None:
        self._document = document
        self._render = render
        #: `passed`, `failed` or `undecided`: the rules of `fail_on`.
        self.gate = gate

    @property
    def verdict(self) -> str:
        """`slower`, `faster`, `same`, `unclear` or `not_comparable`."""
        return str(self._document["verdict"])

    @property
    def reason(self) -> str:
        """What the verdict rests on."""
        return str(self._document["reason"])

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """The kernels of both sides with their changes."""
        kernels: list[dict[str, Any]] = self._document["kernels"]
        return kernels

    def to_dict(self) -> dict[str, Any]:
        """All figures; `wavesieve schema compare` prints their JSON Schema."""
        return self._document

    def to_html(self) -> str:
        """The whole comparison as a page that needs no network."""
        return self._render("html")

    def to_markdown(self) -> str:
        """The comparison as a comment for a merge request."""
        return self._render("markdown")

    def __repr__(self) -> str:
        return self._render("text").rstrip()

    def _repr_html_(self) -> str:
        return f'<pre style="{_STYLE}">{html.escape(repr(self))}</pre>'


def compare(base: Trace, new: Trace, **settings: Any) -> Comparison:
    """Compares two runs, or two sets of runs. `settings` are options of `wavesieve compare`, such as `effect=5`.

    Both sides are read with the same filters and options.

    >>> import wavesieve
    >>> trace = wavesieve.open("fixtures/planted")
    >>> wavesieve.compare(trace, trace).verdict
    'same'
    >>> wavesieve.compare(trace, trace, fail_on="new").gate
    'passed'
    """
    if (base.before, base.after) != (new.before, new.after):
        raise ValueError("the sides differ in their filters or options; open and filter both in the same way")
    sides = [f"--base={path}" for path in base.inputs] + [f"--new={path}" for path in new.inputs]

    def render(form: str) -> tuple[bytes, int]:
        words = [*base.before, "compare", *base.after, *options(settings), *sides, f"--format={form}", "--output=-"]
        return run(words, (4, 7))

    data, code = render("json")
    return Comparison(json.loads(data), _GATES.get(code, "passed"), lambda form: render(form)[0].decode())
