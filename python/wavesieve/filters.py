"""Filters and inputs as options of the program."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, TypedDict

Numbers: TypeAlias = int | Iterable[int] | str
Names: TypeAlias = str | Iterable[str]
PathLike: TypeAlias = str | os.PathLike[str]


class FilterOptions(TypedDict, total=False):
    """The filters of `Trace.filter`, named as the options of the program.

    `unit` filters nothing: it chooses the unit of work, of which iterations, layers and steady parts are.
    """

    window: str | None
    iter: str | int | tuple[int, int] | None
    window_mode: Literal["overlap", "inside", "clip"] | None
    rank: Numbers | None
    gpu: Numbers | None
    kernel: str | re.Pattern[str] | None
    category: Names | None
    stream: Numbers | None
    queue: Numbers | None
    domain: Names | None
    min_duration: str | None
    where: str | None
    unit: str | None


class InputOptions(TypedDict, total=False):
    """How `open` reads the inputs, named as the options of the program."""

    rank_from: str | re.Pattern[str] | None
    categories: PathLike | None
    metrics: PathLike | None
    roofs: PathLike | None
    reader: Literal["auto", "sqlite", "pages"] | None
    cache: PathLike | None
    queries: PathLike | None
    threads: int | None
    jobs: int | None
    memory_limit: str | None


# Options that stand before the command.
GLOBAL = ("queries", "threads", "jobs", "memory_limit")


def option_text(name: str, value: object) -> str:
    """The value of an option as the program takes it.

    >>> option_text("rank", [0, 4])
    '0,4'
    >>> option_text("iter", (5, 10))
    '5..10'
    """
    if isinstance(value, bool):
        raise TypeError(f"{name}={value!r} is no value; pass a text or number")
    if isinstance(value, re.Pattern):
        return f"{value.pattern}"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if name == "iter" and isinstance(value, int):
        return f"{value}..{value}"
    if name == "iter" and isinstance(value, tuple):
        first, last = value
        return f"{int(first)}..{int(last)}"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, Iterable):
        items = [str(item) for item in value]
        if not items:
            raise ValueError(f"{name} is empty, and would keep nothing; leave it out or name what to keep")
        return ",".join(items)
    raise TypeError(f"{name}={value!r}: expected a text, a number or a list of them")


def options(values: Mapping[str, object]) -> list[str]:
    """The options of the program for named values.

    `None` and `False` leave an option out, `True` is an option without value, and a mapping repeats the option.

    >>> options({"rank": range(3), "whole_run": True, "top": None})
    ['--rank=0,1,2', '--whole-run']
    >>> options({"set": {"exposed_copy.high_pct": 30}})
    ['--set=exposed_copy.high_pct=30']
    """
    words: list[str] = []
    for name, value in values.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            words += [f"{option}={key}={option_text(name, item)}" for key, item in value.items()]
        else:
            words.append(f"{option}={option_text(name, value)}")
    return words


def merged(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """The filters of `old` and `new` together; `None` removes a filter.

    Conditions of `where` add up. For any other filter that is set already the program could not take both.
    """
    result = dict(old)
    for name, value in new.items():
        if name not in FilterOptions.__annotations__:
            known = ", ".join(FilterOptions.__annotations__)
            raise TypeError(f"unknown filter {name}; choose from {known}")
        if value is None:
            result.pop(name, None)
        elif name == "where" and name in result:
            result[name] = f"({result[name]}) AND ({value})"
        elif name in result and result[name] != option_text(name, value):
            raise ValueError(f"filter {name} is set to {result[name]} already; remove it first with {name}=None")
        else:
            result[name] = option_text(name, value)
    return result
