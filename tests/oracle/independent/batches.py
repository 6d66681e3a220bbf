"""Puts questions together so that few starts of the program answer all of them."""

import re

from common import REPOSITORY

# Options of every query: in one start they are the same for all.
SHARED = ("by", "name")


def parameters_of(name):
    """Options that a query alone declares, at the top of its file."""
    # Folders whose names begin with _ hold other statements, some of the same name.
    path = next((REPOSITORY / "queries").glob(f"[!_]*/{name}.sql"))
    return {found.replace("_", "-") for found in re.findall(r"^-- param: (\w+)", path.read_text(), re.MULTILINE)}


class Batch:
    """Queries that one start answers, with their options."""

    def __init__(self, given, shared):
        self.given, self.shared, self.words, self.queries = given, shared, {}, {}

    def takes(self, name, declared, own):
        """Whether a query can be added, so that no query gets an option that is another one's."""
        if name in self.queries:
            return False
        meant = all(own.get(option) == value for option, value in self.words.items() if option in declared)
        others = (option for known, _ in self.queries.values() for option in known)
        return meant and not any(self.words.get(option) != own[option] for option in others if option in own)

    def add(self, name, declared, own, words):
        self.queries[name] = (declared, words)
        self.words |= own

    def command_line(self):
        return [part for option, value in {**dict(self.shared), **self.words}.items() for part in (f"--{option}", value)]


def batches_of(cases):
    """Batches for all cases: (input, command line words, {query: its own words})."""
    found = {}
    for name, case in cases.items():
        declared = parameters_of(name)
        for given, words in case.asked():
            options = {word.removeprefix("--"): str(value) for word, value in zip(words[::2], words[1::2])}
            shared = tuple((option, options[option]) for option in SHARED if option in options)
            own = {option: value for option, value in options.items() if option not in SHARED}
            alike = found.setdefault((given, shared), [])
            batch = next((batch for batch in alike if batch.takes(name, declared, own)), None)
            if batch is None:
                batch = Batch(given, shared)
                alike.append(batch)
            batch.add(name, declared, own, words)
    every = [batch for alike in found.values() for batch in alike]
    return [(batch.given, batch.command_line(), {name: words for name, (_, words) in batch.queries.items()}) for batch in every]
