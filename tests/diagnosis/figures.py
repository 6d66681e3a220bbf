"""Finds figures of a document that have two values: shares in texts of findings, in its views and among its figures."""

import re
from collections.abc import Iterator
from typing import Any

# A share in the text of a view, "exposed communication 66.3%", and one in a sentence about the same part.
IN_VIEW = re.compile(r"([a-z][a-z -]*?) (\d[\d.]*) ?%")
IN_SENTENCE = re.compile(r"(\d[\d.]*) ?% of (steady )?traced GPU time")


def two_values(document: dict[str, Any]) -> dict[str, str]:
    """Names of such figures, and both values."""
    views = document.get("views") or []
    if not views:
        return {}
    found = {}
    shares = views[0]["shares"]
    for figure in document["figures"]:
        if figure["id"] in shares and figure["value"] != shares[figure["id"]]:
            found[figure["id"]] = f"{figure['value']} and {shares[figure['id']]}"
    # The whole run comes last; what is called steady is in the first view, whatever its name.
    of_views = [{letters(name): (name, share) for name, share in IN_VIEW.findall(view["text"])} for view in views]
    for sentence in sentences(document):
        share = IN_SENTENCE.search(sentence)
        for start, (name, expected) in of_views[0 if share and share[2] else -1].items() if share else ():
            if share and letters(sentence).startswith(start) and share[1] != expected:
                found[name] = f"{share[1]}% and {expected}%: {sentence}"
    return found


def sentences(document: dict[str, Any]) -> Iterator[str]:
    for finding in document["findings"]:
        yield finding["title"]
        yield from re.split(r"(?<=[.!?])\s+", finding["explanation"])


def letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())
