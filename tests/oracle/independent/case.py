"""One query with the inputs and options with which it is asked."""

from dataclasses import dataclass, field
from typing import Callable


@dataclass
class Case:
    """How a query is checked.

    `expected(source, options)` gives the records: the columns and the order of the answer. `inputs` are names of fixtures or of
    what `inputs.py` makes of them; of all inputs together at least one must give rows. Each of `options` is a tuple of command
    line words: the first input is asked with all of them, the others with the first, so that few starts of the program answer all;
    `more` holds further pairs of an input and its words. `unchecked` holds columns that are left out, with the reason. `known`
    holds inputs of which the answer is known to differ, with the reason why that is the program's fault; it fails once they
    agree. Floats may differ by `tolerance`, relative.
    """

    expected: Callable
    inputs: tuple = ("planted",)
    options: tuple = ((),)
    more: tuple = ()
    unchecked: dict = field(default_factory=dict)
    known: dict = field(default_factory=dict)
    tolerance: float = 1e-9

    def asked(self):
        """Pairs of an input and command line words."""
        others = [(given, self.options[0]) for given in self.inputs[1:]]
        return [(self.inputs[0], words) for words in self.options] + others + list(self.more)


class Options:
    """The command line words of one option set, by name."""

    def __init__(self, words):
        self.words = tuple(str(word) for word in words)
        self.given = {}
        for name, value in zip(self.words[::2], self.words[1::2]):
            self.given[name.removeprefix("--")] = value

    def by(self, *default):
        """The grouping columns: those of --by, otherwise the query's own."""
        given = self.given.get("by")
        return tuple(given.split(",")) if given else default

    def whole(self, name, default):
        return int(self.given.get(name, default))

    def number(self, name, default):
        return float(self.given.get(name, default))

    def text(self, name, default):
        return self.given.get(name, default)
