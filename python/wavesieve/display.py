"""Results as text for terminals and as HTML for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence

_WIDEST = 60
_STYLE = (
    "<style>.wavesieve{border-collapse:collapse;font-size:90%}"
    ".wavesieve th{vertical-align:bottom}"
    ".wavesieve td,.wavesieve th{padding:.15em .7em .15em 0;white-space:nowrap}"
    "table.wavesieve tr .n{text-align:right;font-variant-numeric:tabular-nums}"
    "table.wavesieve tr .t{text-align:left;max-width:36em;overflow:hidden;text-overflow:ellipsis}"
    ".wavesieve small{opacity:.6;font-weight:normal}</style>"
)


def cell_text(value: object, unit: str | None) -> str:
    """A value as people read it: groups of three digits, unless it is an id.

    >>> cell_text(1234567, "ns"), cell_text(4100, "id"), cell_text(12.34567, "pct")
    ('1,234,567', '4100', '12.346')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if unit in (None, "id") else f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3f}" if 1e-3 <= abs(value) < 1e15 or value == 0 else f"{value:.6g}"
    return str(value)


def _is_number(values: Sequence[object]) -> bool:
    return any(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _left_out(shown: int, total: int) -> str:
    return f"{total:,} rows" if shown >= total else f"first {shown:,} of {total:,} rows"


def text_table(
    names: Sequence[str], units: Sequence[str | None], columns: Sequence[Sequence[object]], total: int, width: int
) -> str:
    """An aligned table that fits the width: columns that do not fit are named below it."""
    blocks: list[list[str]] = []
    for name, unit, values in zip(names, units, columns):
        cells = [name, *(_shortened(cell_text(value, unit)) for value in values)]
        size = max(len(cell) for cell in cells)
        aligned = str.rjust if _is_number(values) else str.ljust
        blocks.append([aligned(cell, size) for cell in cells])
    fitting, used = 0, 0
    for block in blocks:
        used += len(block[0]) + 2
        if fitting and used - 2 > width:
            break
        fitting += 1
    lines = ["  ".join(cells).rstrip() for cells in zip(*blocks[:fitting])]
    rest = names[fitting:]
    lines.append(
        _left_out(len(columns[0]) if columns else 0, total) + (f"; more columns: {', '.join(rest)}" if rest else "")
    )
    return "\n".join(lines)


def _shortened(text: str) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= _WIDEST else text[: _WIDEST // 2] + "…" + text[-(_WIDEST // 2 - 1) :]


def html_table(
    names: Sequence[str], units: Sequence[str | None], columns: Sequence[Sequence[object]], total: int
) -> str:
    """A table for notebooks, with units below the names and full texts on hovering."""
    numeric = [_is_number(values) for values in columns]
    parts = [_STYLE, '<table class="wavesieve"><thead><tr>']
    for name, unit, is_number in zip(names, units, numeric):
        shown = f"<br><small>{html.escape(unit)}</small>" if unit not in (None, "id", "name", "text") else ""
        kind = ' class="n"' if is_number else ' class="t"'
        parts.append(f"<th{kind}>{html.escape(name)}{shown}</th>")
    parts.append("</tr></thead><tbody>")
    for row in zip(*columns):
        parts.append("<tr>")
        for value, unit, is_number in zip(row, units, numeric):
            text = html.escape(cell_text(value, unit))
            parts.append(f'<td class="n">{text}</td>' if is_number else f'<td class="t" title="{text}">{text}</td>')
        parts.append("</tr>")
    shown_rows = len(columns[0]) if columns else 0
    parts.append(f"</tbody></table><small>{_left_out(shown_rows, total)}</small>")
    return "".join(parts)
