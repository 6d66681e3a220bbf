"""Puts queries with options of their own together into few starts of the program."""

from functools import cache

from common import REPOSITORY, read_tables

# Options that go to every query of a list; all others are parameters of the queries that declare them.
OF_ALL = ("--by", "--name")


@cache
def front_matter(query):
    """Keys at the head of a query file; a key that is repeated becomes a list of its lines."""
    # Views of others may have the same name, without a title.
    texts = (path.read_text() for path in (REPOSITORY / "queries").rglob(f"{query}.sql"))
    keys = {}
    for line in next((text for text in texts if text.startswith("-- title:")), "").splitlines():
        if not line.startswith("--"):
            break
        key, _, value = line[2:].partition(":")
        keys.setdefault(key.strip(), []).append(value.strip())
    return keys


def words(keys, key):
    return " ".join(keys.get(key, [])).replace(",", " ").split()


@cache
def declared_flags(query):
    return {f"--{parameter.split()[0].replace('_', '-')}" for parameter in front_matter(query).get("param", [])}


def by_flag(options):
    return dict(zip(options[::2], options[1::2]))


def options_of(flags):
    return [word for option in flags.items() for word in option]


class Start:
    """Queries that one start answers, each with flags of its own: a parameter goes to the queries that declare it."""

    def __init__(self):
        self.flags, self.queries = {}, {}

    def fits(self, query, flags):
        if self.queries and any(self.flags.get(flag) != flags.get(flag) for flag in OF_ALL):
            return False
        if query in self.queries or any(self.flags.get(flag, value) != value for flag, value in flags.items()):
            return False
        together = self.flags | flags
        own = [*self.queries.items(), (query, flags)]
        return all(flag in given or flag in OF_ALL or flag not in declared_flags(one) for one, given in own for flag in together)

    def add(self, query, flags):
        self.flags |= flags
        self.queries[query] = flags

    def options(self):
        return options_of(self.flags)

    def read(self, binary, source, more=()):
        """Records of each query over an input, or the error in their place; `more` are options of all queries."""
        own = {query: [*more, *options_of(flags)] for query, flags in self.queries.items()}
        return read_tables(binary, self.queries, source, [*more, *self.options()], own)


def starts(asked):
    """The starts that ask each of the pairs of a query and its flags."""
    made = []
    for query, flags in asked:
        start = next((start for start in made if start.fits(query, flags)), None)
        if start is None:
            made.append(start := Start())
        start.add(query, flags)
    return made
