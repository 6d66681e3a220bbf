"""Reads the files that state what is true of a trace, and refuses keys that they cannot have.

A file names a trace and lists what must be said of it:

    trace = ["kineto/single/a.json.gz"]    inputs below WAVESIEVE_DATA; or
    fixture = ["fixtures/planted"]         inputs of the repository; or
    plant = "straggler"                    a run of the generator, with `ranks`, and `without` for ranks whose files are lost
    command = ["analyze"]                  what is run, with its options; this is the default, with `format = "json"`
    truth = "..."                          what is wrong with the run, and how that is known

    [[expect]]
    kind = "finds"                         one of KINDS
    rule = "straggler"                     regular expressions: the whole id of the rule, parts of the title, of all texts
    title = "rank 2"
    holds = false                          a known gap, with its reason; it fails as soon as it holds
    gap = "..."
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Kinds, each with the column of the score in which it counts if it does not hold.
KINDS = {
    "finds": "missed",
    "finds_none": "false",
    "finds_only": "false",
    "says": "missed",
    "never_says": "false",
    "unit": "missed",
    "before": "misordered",
    "savings_fit": "false",
}
# Parts of a document in which `says` and `never_says` look; without `where`, in all of them.
PLACES = ("title", "summary", "views", "notes", "findings", "sections")
PRIORITIES = ("high", "medium", "low", "info")


class TruthError(Exception):
    """A file that states a truth cannot be read."""


@dataclass(frozen=True)
class Pattern:
    """Findings that are meant."""

    rule: str = ".*"
    title: str = ""
    text: str = ""
    priority: tuple[str, ...] = PRIORITIES


@dataclass(frozen=True)
class Number:
    """A number of a finding, and where it must be."""

    # `saving.NAME`, `evidence.COLUMN`, or `title`: the group of the pattern of the title.
    of: str
    between: tuple[float, float] | None = None
    # Instead of bounds, a sum that the generator knows: of a rank, or of all of them.
    truth: str | None = None
    rank: int | None = None
    within_pct: float = 5.0


@dataclass(frozen=True)
class Expectation:
    """One thing that must hold."""

    kind: str
    pattern: Pattern = Pattern()
    then: Pattern = Pattern()
    number: Number | None = None
    where: tuple[str, ...] = PLACES
    # Units of work: how many there are, as a regular expression if ranks are counted or not, and their name.
    count: int | str = r"\d[\d,]*"
    unit: str = ""
    gap: str | None = None

    @property
    def label(self) -> str:
        """The expectation in words."""
        parts = {"rule": self.pattern.rule, "title": self.pattern.title, "text": self.pattern.text}
        words = [f"{name}~{value}" for name, value in parts.items() if value not in ("", ".*")]
        if self.kind == "unit":
            words = [f"{self.count} {self.unit}"]
        if self.kind == "before":
            words.append(f"before rule~{self.then.rule} title~{self.then.title}")
        if self.number is not None:
            words.append(f"with {self.number.of} of {self.number.truth or self.number.between}")
        return " ".join([self.kind, *words])


@dataclass(frozen=True)
class Truth:
    """What is true of a trace."""

    name: str
    truth: str
    expectations: tuple[Expectation, ...]
    trace: tuple[str, ...] = ()
    fixture: tuple[str, ...] = ()
    plant: str | None = None
    ranks: int = 4
    without: tuple[int, ...] = ()
    # Runs that take long are made fewer times.
    most_seeds: int | None = None
    command: tuple[str, ...] = ("analyze",)
    format: str = "json"
    # Names of figures that have two values, which is a known gap.
    two_values: tuple[str, ...] = ()


def read_all(folder: Path) -> list[Truth]:
    """All files below a folder, by name."""
    return [read(path, path.relative_to(folder).with_suffix("").as_posix()) for path in sorted(folder.rglob("*.toml"))]


def read(path: Path, name: str) -> Truth:
    """One file."""
    try:
        values = tomllib.loads(path.read_text())
        expectations = tuple(expectation(entry) for entry in values.pop("expect", []))
        made = Truth(name=name, expectations=expectations, **tuples(values))
    except (tomllib.TOMLDecodeError, TypeError, KeyError, re.error, TruthError) as error:
        raise TruthError(f"{path}: {error}") from error
    if sum(map(bool, (made.trace, made.fixture, made.plant))) != 1:
        raise TruthError(f"{path}: needs one of `trace`, `fixture` and `plant`")
    return made


def expectation(entry: dict[str, Any]) -> Expectation:
    """One table of the list."""
    holds = entry.pop("holds", True)
    if holds == ("gap" in entry):
        raise TruthError(f"`holds = false` and `gap` belong together: {entry}")
    number = entry.pop("number", None)
    made = Expectation(
        kind=entry.pop("kind"),
        pattern=pattern({key: entry.pop(key) for key in ("rule", "title", "text", "priority") if key in entry}),
        then=pattern(entry.pop("then", {})),
        number=Number(**tuples(number)) if number else None,
        **tuples(entry),
    )
    if made.kind not in KINDS or not set(made.where) <= set(PLACES):
        raise TruthError(f"unknown kind or place: {made}")
    return made


def pattern(values: dict[str, Any]) -> Pattern:
    """Findings that are meant, with expressions that can be compiled."""
    made = Pattern(**tuples(values))
    for expression in (made.rule, made.title, made.text):
        re.compile(expression)
    if not set(made.priority) <= set(PRIORITIES):
        raise TruthError(f"unknown priority: {made.priority}")
    return made


def tuples(values: dict[str, Any]) -> dict[str, Any]:
    """The values with lists that cannot be changed."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
