"""What `analyze` found."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_MARKS = {"high": "#c62828", "medium": "#e08a00", "low": "#3367d6", "info": "#777777"}


@dataclass(frozen=True)
class Finding:
    """Something that costs time, with its cause, evidence and advice."""

    id: str
    rule: str
    priority: str
    category: str
    title: str
    explanation: str
    confidence: float
    #: At most this much wall-clock time of a GPU can be saved in a unit: an iteration, or the part of the run that the finding is
    #: about (`record["saving"]`); `None` if that is not known.
    saving_ns: int | None
    advice: list[str]
    #: The whole finding, with its evidence and commands (`wavesieve schema document`).
    record: dict[str, Any] = field(repr=False)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Finding:
        """The finding of a document."""
        saving = record.get("saving") or {}
        return cls(
            id=record["id"],
            rule=record["rule"],
            priority=record["priority"],
            category=record["category"],
            title=record["title"],
            explanation=record["explanation"],
            confidence=record["confidence"],
            saving_ns=saving.get("wall_ns"),
            advice=record["advice"],
            record=record,
        )


class Analysis:
    """The guided analysis of a trace: findings, most important first.

    >>> import wavesieve
    >>> analysis = wavesieve.open("fixtures/planted").analyze()
    >>> analysis.findings[0].rule, analysis.findings[0].priority
    ('straggler', 'high')
    >>> analysis.figures["gpus"]
    3
    """

    def __init__(self, document: dict[str, Any], render: Callable[[str], str]) -> None:
        self._document = document
        self._render = render
        self.findings = [Finding.from_record(record) for record in document["findings"]]

    @property
    def summary(self) -> str:
        """The analysis in a sentence."""
        return str(self._document["summary"])

    @property
    def figures(self) -> dict[str, Any]:
        """Key figures by id, such as `span_ns` and `busy_pct`."""
        return {figure["id"]: figure["value"] for figure in self._document["figures"]}

    def to_dict(self) -> dict[str, Any]:
        """The whole document; `wavesieve schema document` prints its JSON Schema."""
        return self._document

    def to_html(self) -> str:
        """The whole report as a page that needs no network."""
        return self._render("html")

    def to_markdown(self) -> str:
        """The whole report as Markdown."""
        return self._render("markdown")

    def __repr__(self) -> str:
        lines = [view["text"] if "label" not in view else f"{view['label']}: {view['text']}" for view in self._views()]
        lines += [f"{finding.priority:<6}  {finding.title}" for finding in self.findings]
        return "\n".join([*lines, self.summary])

    def _views(self) -> list[dict[str, Any]]:
        views: list[dict[str, Any]] = self._document.get("views", [])
        return views

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(str(self._document['title']))}</b>. {html.escape(self.summary)}</p>"]
        parts += [f"<div>{html.escape(view['label'])}: {html.escape(view['text'])}</div>" for view in self._views()]
        for finding in self.findings:
            color = _MARKS.get(finding.priority, "#777777")
            advice = "".join(f"<li>{html.escape(text)}</li>" for text in finding.advice)
            parts.append(
                f'<details style="border-left:4px solid {color};padding-left:.6em;margin:.4em 0">'
                f"<summary><b>{html.escape(finding.priority)}</b> {html.escape(finding.title)}</summary>"
                f"<p>{html.escape(finding.explanation)}</p><ul>{advice}</ul></details>"
            )
        return "".join(parts)
