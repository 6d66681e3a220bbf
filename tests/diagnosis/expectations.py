"""Judges what a document says of a run by an expectation about it."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from truths import Expectation, Number, Pattern

Document = dict[str, Any]
Finding = dict[str, Any]
# Sums that the generator knows of each rank.
RankTruths = list[dict[str, float]]

NANOSECONDS = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}


def problem(expected: Expectation, document: Document, ranks: RankTruths) -> str | None:
    """What is wrong, or None if the expectation holds."""
    return JUDGES[expected.kind](expected, document, ranks)


def finds(expected: Expectation, document: Document, ranks: RankTruths) -> str | None:
    found = matching(expected.pattern, document)
    if not found:
        return "no such finding"
    if expected.number is None:
        return None
    if any(has_number(expected, finding, ranks) for finding in found):
        return None
    values = [value for finding in found for value in numbers(expected.number, expected.pattern, finding)]
    low, high = bounds(expected.number, ranks)
    return f"{values or 'no number'}, expected {low:g} to {high:g}"


def finds_none(expected: Expectation, document: Document, ranks: RankTruths) -> str | None:
    found = matching(expected.pattern, document)
    found = [finding for finding in found if has_number(expected, finding, ranks)]
    return f"says: {found[0]['title']}" if found else None


def finds_only(expected: Expectation, document: Document, _: RankTruths) -> str | None:
    """No finding of the priorities is of another rule."""
    pattern = expected.pattern
    findings = (finding for finding in document["findings"] if finding["priority"] in pattern.priority)
    others = [finding["title"] for finding in findings if not re.fullmatch(pattern.rule, finding["rule"])]
    return f"says: {'; '.join(others)}" if others else None


def says(expected: Expectation, document: Document, _: RankTruths) -> str | None:
    found = any(re.search(expected.pattern.text, text) for text in texts_in(expected.where, document))
    return None if found else f"not in {', '.join(expected.where)}"


def never_says(expected: Expectation, document: Document, _: RankTruths) -> str | None:
    lines = (line for text in texts_in(expected.where, document) for line in text.splitlines())
    first = next((line for line in lines if re.search(expected.pattern.text, line)), None)
    return None if first is None else f"says: {first}"


def unit(expected: Expectation, document: Document, _: RankTruths) -> str | None:
    """The summary or the first view counts units of this name: "20 of 22 decode steps", "1 step"."""
    name = rf"(?:of \d[\d,]* )?(?:[\w-]+ ){{0,2}}?{expected.unit}s?\b"
    counted = re.compile(rf"(?<![\d,.])(?:{expected.count}) {name}", re.IGNORECASE)
    texts = [document["summary"], *(view["text"] for view in document.get("views", []))]
    return None if any(map(counted.search, texts)) else f"not stated in: {texts[-1] if texts[1:] else texts[0]}"


def before(expected: Expectation, document: Document, _: RankTruths) -> str | None:
    """The first of some findings comes before all of the others; without any of these, there must be one alone."""
    places = [
        [place for place, finding in enumerate(document["findings"]) if matches(pattern, finding)]
        for pattern in (expected.pattern, expected.then)
    ]
    first, then = places
    if not first:
        return "no such finding"
    return None if not then or first[0] < then[0] else f"{document['findings'][then[0]]['title']} comes first"


def savings_fit(_: Expectation, document: Document, __: RankTruths) -> str | None:
    """No saving by GPU and unit is more than the unit takes."""
    for finding in document["findings"]:
        saving = finding["saving"] or {}
        if saving.get("wall_ns", 0) > saving.get("unit_ns", 0):
            return f"saves {saving['wall_ns'] / 1e6:.3g} of {saving['unit_ns'] / 1e6:.3g} ms: {finding['title']}"
    return None


JUDGES: dict[str, Callable[[Expectation, Document, RankTruths], str | None]] = {
    judge.__name__: judge for judge in (finds, finds_none, finds_only, says, never_says, unit, before, savings_fit)
}


def matching(pattern: Pattern, document: Document) -> list[Finding]:
    return [finding for finding in document["findings"] if matches(pattern, finding)]


def matches(pattern: Pattern, finding: Finding) -> bool:
    return (
        re.fullmatch(pattern.rule, finding["rule"]) is not None
        and finding["priority"] in pattern.priority
        and re.search(pattern.title, finding["title"]) is not None
        and any(re.search(pattern.text, text) for text in finding_texts(finding))
    )


def finding_texts(finding: Finding) -> Iterator[str]:
    yield finding["title"]
    yield finding["explanation"]
    yield from finding["advice"]
    yield from (command["line"] for command in finding["commands"])


def texts_in(places: tuple[str, ...], document: Document) -> Iterator[str]:
    """Texts of these parts of a document; of one of another command, all its texts."""
    if "findings" not in document:
        yield from texts(document)
        return
    for place in places:
        if place == "findings":
            for finding in document["findings"]:
                yield from finding_texts(finding)
        else:
            yield from texts(document.get(place))


def texts(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from texts(child)
    elif isinstance(value, list):
        for child in value:
            yield from texts(child)


def has_number(expected: Expectation, finding: Finding, ranks: RankTruths) -> bool:
    """Whether a finding has a number where it must be."""
    if expected.number is None:
        return True
    low, high = bounds(expected.number, ranks)
    return any(low <= value <= high for value in numbers(expected.number, expected.pattern, finding))


def numbers(number: Number, pattern: Pattern, finding: Finding) -> list[float]:
    """The numbers of a finding that are meant."""
    part, _, name = number.of.partition(".")
    match part:
        case "saving":
            values = [(finding["saving"] or {}).get(name)]
        case "evidence":
            values = [row.get(name) for table in finding["evidence"] for row in table["rows"]]
        case _:
            found = re.search(pattern.title, finding["title"])
            values = [in_base_unit(found.group(1))] if found else []
    return [value for value in values if isinstance(value, (int, float))]


def in_base_unit(text: str) -> float:
    """A number of a text, which may be a duration: in nanoseconds."""
    figure, _, name = text.replace(",", "").strip().partition(" ")
    return float(figure) * NANOSECONDS.get(name, 1)


def bounds(number: Number, ranks: RankTruths) -> tuple[float, float]:
    if number.between is not None:
        return number.between
    name = number.truth or ""
    known = ranks[number.rank][name] if number.rank is not None else sum(rank[name] for rank in ranks)
    room = abs(known) * number.within_pct / 100
    return known - room, known + room
