"""Polars expressions as SQL conditions, as far as both mean the same.

Polars serializes expressions in a form that may change between its versions. What is not understood is not handed to
the program; polars applies the whole expression afterwards in any case.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars

_COMPARISONS = {"Eq": "=", "NotEq": "<>", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_BETWEEN = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
_TEXT_TESTS = {"StartsWith": "starts_with", "EndsWith": "ends_with"}


class Condition(NamedTuple):
    """SQL that keeps at least the rows of an expression."""

    sql: str


class _Unknown(Exception):
    """A part that is not translated."""


def condition(expression: polars.Expr, types: Mapping[str, str]) -> Condition:
    """The parts of an expression that SQL can test; empty if there are none.

    >>> import polars
    >>> wanted = (polars.col("rank") == 1) & polars.col("kernel_name").str.starts_with("nccl")
    >>> condition(wanted, {"rank": "int64", "kernel_name": "string"}).sql
    '("rank" = 1) AND starts_with("kernel_name", \\'nccl\\')'
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = json.loads(expression.meta.serialize(format="json"))
    except Exception:  # polars raises many kinds here, and none is a failure
        return Condition("")
    parts = []
    for conjunct in _conjuncts(tree):
        try:
            parts.append(_truth(conjunct, types))
        except (_Unknown, KeyError, TypeError, ValueError):
            continue
    return Condition(" AND ".join(parts))


def _conjuncts(tree: Any) -> list[Any]:
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if binary and binary.get("op") in ("And", "LogicalAnd"):
        return [*_conjuncts(binary["left"]), *_conjuncts(binary["right"])]
    return [tree]


def _truth(tree: Any, types: Mapping[str, str]) -> str:
    """An expression whose value is true, false or null."""
    kind, node = _only(tree)
    if kind == "Column":
        if types.get(node) != "bool":
            raise _Unknown
        return _name(node)
    if kind == "BinaryExpr":
        operator = node["op"]
        if operator in ("And", "Or", "LogicalAnd", "LogicalOr"):
            word = "AND" if operator.endswith("And") else "OR"
            return f"({_truth(node['left'], types)} {word} {_truth(node['right'], types)})"
        left, right = _value(node["left"], types), _value(node["right"], types)
        if left[1] != right[1]:
            raise _Unknown
        return f"({left[0]} {_COMPARISONS[operator]} {right[0]})"
    if kind == "Function":
        return _function(node, types)
    raise _Unknown


def _function(node: Any, types: Mapping[str, str]) -> str:
    family, function = _only(node["function"])
    inputs = node["input"]
    if family == "StringExpr":
        return _text_test(function, _value(inputs[0], types), inputs[1])
    if family != "Boolean":
        raise _Unknown
    name, details = (function, {}) if isinstance(function, str) else _only(function)
    if name == "Not":
        return f"(NOT {_truth(inputs[0], types)})"
    if name in ("IsNull", "IsNotNull"):
        return f"({_column(inputs[0], types)[0]} IS {'NOT ' if name == 'IsNotNull' else ''}NULL)"
    value, kind = _value(inputs[0], types)
    if name == "IsBetween":
        bounds = [_value(part, types) for part in inputs[1:]]
        if any(bound[1] != kind for bound in bounds):
            raise _Unknown
        lower, upper = _BETWEEN[details["closed"]]
        return f"({value} {lower} {bounds[0][0]} AND {value} {upper} {bounds[1][0]})"
    if name == "IsIn" and not details.get("nulls_equal"):
        items = [_literal(item) for item in _items(inputs[1])]
        if not items or any(item[1] != kind for item in items):
            raise _Unknown
        return f"({value} IN ({', '.join(item[0] for item in items)}))"
    raise _Unknown


def _text_test(function: Any, value: tuple[str, str], argument: Any) -> str:
    pattern = _only(_only(argument)[1]["Scalar"])[1]
    if value[1] != "string" or not isinstance(pattern, str):
        raise _Unknown
    if isinstance(function, str):
        return f"{_TEXT_TESTS[function]}({value[0]}, {_literal(pattern)[0]})"
    name, details = _only(function)
    if name != "Contains":
        raise _Unknown
    test = "contains" if details["literal"] else "regexp_matches"
    return f"{test}({value[0]}, {_literal(pattern)[0]})"


def _value(tree: Any, types: Mapping[str, str]) -> tuple[str, str]:
    """A column or a literal, with its type."""
    kind, node = _only(tree)
    if kind == "Literal":
        form, value = _only(node)
        return _literal(_only(value)[1]) if form in ("Dyn", "Scalar") else _literal(None)
    return _column(tree, types)


def _column(tree: Any, types: Mapping[str, str]) -> tuple[str, str]:
    kind, node = _only(tree)
    # Floats are left to polars: engines differ in how NaN compares.
    if kind != "Column" or types[node] not in ("int64", "string", "bool"):
        raise _Unknown
    return _name(node), types[node]


def _literal(value: Any) -> tuple[str, str]:
    if isinstance(value, bool):
        return ("TRUE" if value else "FALSE"), "bool"
    if isinstance(value, int) and -(2**63) < value < 2**63:
        return str(value), "int64"
    if isinstance(value, str) and "\0" not in value:
        return "'" + value.replace("'", "''") + "'", "string"
    raise _Unknown


def _items(tree: Any) -> list[Any]:
    """The values of a list, which polars keeps as an Arrow stream."""
    import polars

    data = bytes(tree["Literal"]["Scalar"]["List"])
    column = polars.read_ipc_stream(io.BytesIO(data)).to_series(0)
    values: list[Any] = (column.explode() if column.dtype == polars.List else column).to_list()
    return values


def _only(tree: Any) -> tuple[str, Any]:
    """The name and the content of a node."""
    if not isinstance(tree, dict) or len(tree) != 1:
        raise _Unknown
    ((name, content),) = tree.items()
    return name, content


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
