"""Evaluates the formulas of share/metrics for one dispatch: what is divided, and by what.

A formula is parsed as Python (`if` is renamed), names that stand for formulas are put in, and what is left is taken apart into one
numerator over one denominator, which are summed over dispatches before they are divided.
"""

import ast
import functools
import math
import re
import tomllib

from common import REPOSITORY

METRICS = REPOSITORY / "share" / "metrics"
REDUCTIONS = {"sum_inst": "sum", "max_inst": "max", "min_inst": "min", "avg_inst": "mean"}
WORDS = {reduction: word for word, reduction in REDUCTIONS.items()}
# Endings of the names of counters whose instances were taken together before they were recorded.
ENDINGS = {"sum": "_sum", "max": "_max", "min": "_min", "mean": "_avr"}
ONE = ast.Constant(1.0)
DEEPEST = 16


class Missing(Exception):
    """Counters that were not collected, or constants that are not known."""

    def __init__(self, names):
        super().__init__(sorted(names))
        self.names = set(names)


def definitions():
    """All metrics in the order in which they are shown: by panel, then as their files have them."""
    files = [tomllib.loads(path.read_text()) for path in METRICS.glob("*.toml")]
    panels = sorted((file for file in files if "panel" in file), key=lambda file: file["panel"])
    return [metric | {"panel": panel["panel"]} for panel in panels for metric in panel["metric"]]


VARIABLES = tomllib.loads((METRICS / "variables.toml").read_text())
DEFINITIONS = definitions()
DERIVED = {metric["title"]: metric for metric in DEFINITIONS if metric["panel"] == 900}


def on(metric, architecture):
    """The definition of a metric for an architecture: by its name, its family's, or that for all others; None where it has none.

    Families are those of RDNA: chips of CDNA have other counters than gfx9, and gfx125x than gfx12.
    """
    family = architecture[:-2] if len(architecture) > 6 and not architecture.startswith("gfx125") else architecture
    for name in (architecture, family, "*"):
        for definition in metric["on"]:
            if name in definition["architectures"]:
                return definition
    return None


@functools.cache
def parsed(formula):
    return ast.parse(re.sub(r"\bif\(", "choose(", formula), mode="eval").body


def quotient(numerator, denominator):
    """The value of a pair, nothing where there is none."""
    return numerator / denominator if numerator is not None and denominator else None


class Known:
    """The names that formulas can use on a GPU: the counters that were collected, as (name, reduction), and constants."""

    def __init__(self, architecture, counters, constants):
        self.architecture = architecture
        self.counters = counters
        self.constants = constants

    def ratio(self, formula, per="wave"):
        """A formula with all names put in, as numerator and denominator; raises what it lacks."""
        missing = set()
        expression = self.expanded(parsed(formula), per, missing, 0)
        if missing:
            raise Missing(missing)
        return apart(expression)

    def expanded(self, node, per, missing, depth):
        """An expression in which only counters, with their reductions, and properties of the dispatch are names."""
        put_in = functools.partial(self.expanded, per=per, missing=missing, depth=depth)
        if isinstance(node, ast.BinOp):
            return ast.BinOp(put_in(node.left), node.op, put_in(node.right))
        if isinstance(node, ast.Compare):
            return ast.Compare(put_in(node.left), node.ops, [put_in(side) for side in node.comparators])
        if isinstance(node, ast.Call):
            if node.func.id in REDUCTIONS:
                return self.counter(counted(node.args[0]), REDUCTIONS[node.func.id], missing, depth)
            return ast.Call(node.func, [put_in(argument) for argument in node.args], [])
        if isinstance(node, ast.Name):
            return self.name(node, per, missing, depth)
        return ast.Constant(float(node.value))

    def name(self, node, per, missing, depth):
        formulas = VARIABLES["formulas"] | {"denom": VARIABLES["normalizations"][per]}
        if node.id in formulas:
            return self.expanded(parsed(formulas[node.id]), per, missing, depth + 1)
        if node.id in VARIABLES["dispatch"]:
            return node
        if node.id not in VARIABLES["constants"]:
            return self.counter(node.id, "sum", missing, depth)
        if self.constants.get(node.id) is None:
            missing.add(node.id)
            return ONE
        return ast.Constant(float(self.constants[node.id]))

    def counter(self, name, reduction, missing, depth):
        """A counter as it was collected, or made from others."""
        # `X_max` is the greatest of the instances of X, whichever of both was recorded.
        spellings = [(name, reduction), (name + ENDINGS[reduction], "sum")]
        spellings += [(name.removesuffix(ending), way) for way, ending in ENDINGS.items() if reduction == "sum" and name.endswith(ending)]
        for spelled in spellings:
            if spelled in self.counters:
                return ast.Tuple([ast.Constant(part) for part in spelled])
        # Every die counts the same cycles, so that one of them is the sum over their number.
        if name.startswith("GRBM_") and reduction != "sum" and (name, "sum") in self.counters and self.constants.get("num_xcd"):
            whole = ast.Tuple([ast.Constant(name), ast.Constant("sum")])
            return ast.BinOp(whole, ast.Div(), ast.Constant(float(self.constants["num_xcd"])))
        definition = on(DERIVED[name], self.architecture) if name in DERIVED and reduction == "sum" else None
        if definition is None or depth > DEEPEST:
            missing.add(name if reduction == "sum" else f"{WORDS[reduction]}({name})")
            return ONE
        return self.expanded(parsed(definition["formula"]), "wave", missing, depth + 1)

    def constant(self, formula):
        """The value of a formula over constants, such as a peak; None where one is not known."""
        try:
            return quotient(*(evaluated(part, {}, {}) for part in self.ratio(formula)))
        except Missing:
            return None


def counters_in(node):
    """The counters of an expression, as (name, reduction)."""
    return {tuple(part.value for part in one.elts) for one in ast.walk(node) if isinstance(one, ast.Tuple)}


def counted(node):
    """The counter that a reduction is over; what the hardware accumulated of one has a name of its own."""
    return f"{node.args[0].id}_ACCUM" if isinstance(node, ast.Call) else node.id


def apart(node):
    """Numerator and denominator of an expression. Functions stay whole, as numerators."""
    if not isinstance(node, ast.BinOp):
        return node, ONE
    (a, b), (c, d) = apart(node.left), apart(node.right)
    if isinstance(node.op, ast.Mult):
        return product(a, c), product(b, d)
    if isinstance(node.op, ast.Div):
        return product(a, d), product(b, c)
    if ast.dump(b) == ast.dump(d):
        return ast.BinOp(a, node.op, c), b
    return ast.BinOp(product(a, d), node.op, product(c, b)), product(b, d)


def product(left, right):
    if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
        return ast.Constant(left.value * right.value)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, ast.Constant) and one.value == 1.0:
            return other
    return ast.BinOp(left, ast.Mult(), right)


def evaluated(node, counters, properties):
    """The value of an expression for a dispatch: None where a counter is missing, or it has no value."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        return counters.get(tuple(part.value for part in node.elts))
    if isinstance(node, ast.Name):
        return properties.get(node.id)
    if isinstance(node, ast.Call) and node.func.id == "choose":
        sides = [evaluated(side, counters, properties) for side in (node.args[0].left, node.args[0].comparators[0])]
        if None in sides:
            return None
        return evaluated(node.args[1 if sides[0] == sides[1] else 2], counters, properties)
    parts = node.args if isinstance(node, ast.Call) else (node.left, node.right)
    values = [evaluated(part, counters, properties) for part in parts]
    if None in values:
        return None
    if isinstance(node, ast.Call):
        functions = {"min": min, "max": max, "round": round, "floor": math.floor, "mod": lambda a, b: a % b if b else None}
        return functions[node.func.id](*values)
    operations = {ast.Add: float.__add__, ast.Sub: float.__sub__, ast.Mult: float.__mul__, ast.Div: quotient}
    return operations[type(node.op)](*map(float, values))
