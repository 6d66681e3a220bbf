"""Evaluates the formulas of share/metrics for one dispatch, as one numerator over one denominator.

A formula is parsed as Python (`if` is renamed), and a value is a pair of numbers: what is divided, and by what. None in the place
of the first stands for a number that does not exist, as 0/0.
"""

import ast
import math
import re
import tomllib

from common import REPOSITORY

METRICS = REPOSITORY / "share" / "metrics"
REDUCTIONS = {"sum_inst": "sum", "max_inst": "max", "min_inst": "min", "avg_inst": "mean"}
# A counter whose name says how its instances were taken together.
SUFFIXES = {"sum": "_sum", "max": "_max", "min": "_min", "mean": "_avr"}


class Missing(Exception):
    """Names that have no value: counters that were not collected, or constants that are not known."""

    def __init__(self, *names):
        super().__init__(*names)
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
    """What a metric is on an architecture: by its name, else by that of its family."""
    for name in (architecture, re.sub(r"..$", "", architecture)):
        for definition in metric["on"]:
            if name in definition["architectures"]:
                return definition
    return None


def quotient(numerator, denominator):
    """The value of a pair, nothing where there is none."""
    return numerator / denominator if numerator is not None and denominator else None


def parsed(formula):
    return ast.parse(re.sub(r"\bif\(", "choose(", formula), mode="eval").body


class Evaluator:
    """Formulas over the counters of a dispatch (by name and reduction), its properties and the constants of its GPU."""

    def __init__(self, architecture, counters, properties, constants, per="wave"):
        self.architecture = architecture
        self.counters = counters
        self.properties = properties
        self.constants = constants
        self.per = per
        self.depth = 0

    def pair(self, formula):
        """Numerator and denominator of a formula."""
        return self.of(parsed(formula))

    def value(self, node):
        return quotient(*self.of(node))

    def of(self, node):
        if isinstance(node, ast.Constant):
            return float(node.value), 1.0
        if isinstance(node, ast.Name):
            return self.named(node.id)
        if isinstance(node, ast.BinOp):
            return self.arithmetic(node)
        if isinstance(node, ast.Call):
            return self.call(node.func.id, node.args)
        raise ValueError(ast.dump(node))

    def arithmetic(self, node):
        (a, b), (c, d) = self.both(node.left, node.right)
        if isinstance(node.op, ast.Mult):
            return product(a, c), product(b, d)
        if isinstance(node.op, ast.Div):
            return product(a, d), product(b, c)
        sign = 1 if isinstance(node.op, ast.Add) else -1
        if self.same_divisor(node.left, node.right):
            return total(a, c, sign), b
        return total(product(a, d), product(c, b), sign), product(b, d)

    def both(self, left, right):
        """Both sides; what either lacks is told together."""
        found, missing = [], set()
        for node in (left, right):
            try:
                found.append(self.of(node))
            except Missing as error:
                missing |= error.names
        if missing:
            raise Missing(*missing)
        return found

    def same_divisor(self, left, right):
        """Whether two terms are divided by the same, so that they can be added as they are."""
        return [ast.dump(part) for part in divisors(left)] == [ast.dump(part) for part in divisors(right)]

    def named(self, name):
        if name == "denom":
            return self.pair(VARIABLES["normalizations"][self.per])
        if name in VARIABLES["formulas"]:
            return self.pair(VARIABLES["formulas"][name])
        if name in VARIABLES["dispatch"]:
            return self.known(self.properties, name)
        if name in VARIABLES["constants"]:
            return self.known(self.constants, name)
        return self.counter(name, "sum")

    def known(self, values, name):
        if values.get(name) is None:
            raise Missing(name)
        return float(values[name]), 1.0

    def counter(self, name, reduction):
        """A counter by its name, under the name of its sum, or made from others as a derived counter."""
        for spelled in (name, name + SUFFIXES[reduction], name.removesuffix(SUFFIXES[reduction])):
            instances = self.counters.get(spelled)
            if instances is not None:
                return reduced(instances, reduction), 1.0
        definition = on(DERIVED[name], self.architecture) if name in DERIVED else None
        if definition is None or self.depth > 8:
            raise Missing(name)
        self.depth += 1
        try:
            return self.pair(definition["formula"])
        except Missing:
            raise Missing(name) from None
        finally:
            self.depth -= 1

    def call(self, function, arguments):
        if function in REDUCTIONS:
            return self.counter(self.counted(arguments[0]), REDUCTIONS[function])
        if function == "choose":
            condition, then, otherwise = arguments
            assert isinstance(condition.ops[0], ast.Eq)
            sides = [quotient(*pair) for pair in self.both(condition.left, condition.comparators[0])]
            return self.value(then if None not in sides and sides[0] == sides[1] else otherwise), 1.0
        values = [self.value(argument) for argument in arguments]
        known = None not in values
        functions = {"min": min, "max": max, "round": round, "floor": math.floor, "mod": lambda a, b: a % b if b else None}
        return (float(functions[function](*values)) if known else None), 1.0

    def counted(self, node):
        """The counter that a reduction is over; what was accumulated of one has a name of its own."""
        return f"{node.args[0].id}_ACCUM" if isinstance(node, ast.Call) else node.id


def divisors(node):
    """What a product of names and numbers is divided by, in order."""
    if not isinstance(node, ast.BinOp) or isinstance(node.op, (ast.Add, ast.Sub)):
        return []
    of_right = divisors(node.right) if isinstance(node.op, ast.Mult) else [node.right]
    return divisors(node.left) + of_right


def product(a, b):
    return None if a is None or b is None else a * b


def total(a, b, sign):
    return None if a is None or b is None else a + sign * b


def reduced(instances, reduction):
    """One value of the instances of a counter."""
    if reduction == "mean":
        return math.fsum(instances) / len(instances)
    return {"sum": math.fsum, "max": max, "min": min}[reduction](instances)
