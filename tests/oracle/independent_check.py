"""Compares every named query with records that plain Python works out from source rows.

The engines that check queries run the same SQL, so that a wrong query agrees with itself. Here each query has a computation of
its own in a module of its family; a query without one is a failure.
"""

import argparse
import importlib
import re
import sys
import tempfile
import traceback
from pathlib import Path

from common import REPOSITORY, Tally, difference
from independent.asking import ask
from independent.batches import batches_of
from independent.case import Options
from independent.elsewhere import ELSEWHERE
from independent.inputs import path_of
from independent.source import Trace

QUERIES = REPOSITORY / "queries"


def families():
    return sorted(folder.name for folder in QUERIES.iterdir() if folder.is_dir() and not folder.name.startswith("_"))


def known_queries():
    """Names of all queries by family."""
    return {path.stem: family for family in families() for path in sorted((QUERIES / family).glob("*.sql"))}


def all_cases():
    """Cases of every family; a family is one module or several whose names begin with its own."""
    cases = {}
    for path in sorted((Path(__file__).parent / "independent").glob("*.py")):
        module = importlib.import_module(f"independent.{path.stem}")
        for name, case in getattr(module, "QUERIES", {}).items():
            if name in cases:
                raise SystemExit(f"{name} is computed twice, the second time in {path.name}")
            cases[name] = case
    return cases


def without(records, columns):
    return [{name: value for name, value in record.items() if name not in columns} for record in records]


def compared(found, case, source, options):
    """The number of expected records, and the first difference, or nothing."""
    if isinstance(found, str):
        return 0, found
    try:
        expected = case.expected(source, options)
    except Exception as error:  # The other queries are still compared.
        return 0, "".join(traceback.format_exception(error)[-2:]).strip()
    left_out = case.unchecked
    if found and left_out.keys() - found[0].keys():
        return len(expected), f"left out columns that it does not have: {sorted(left_out.keys() - found[0].keys())}"
    found, expected = without(found, left_out), without(expected, left_out)
    return len(expected), difference(found, expected, lambda column: case.tolerance)


def check_cases(tally, skipped, binary, cases, work, extra):
    """Asks for everything in as few starts as possible and compares."""
    sources, rows = {}, dict.fromkeys(cases, 0)
    batches = batches_of(cases)
    for given, command_line, queries in batches:
        path = path_of(given, work)
        if given not in sources:
            sources[given] = Trace(path, work)
        answers = ask(binary, list(queries), path, command_line, extra)
        for name, words in queries.items():
            number, problem = compared(answers[name], cases[name], sources[given], Options(words))
            rows[name] += number
            label = " ".join([name, given, *map(str, words)])
            if given not in cases[name].known:
                tally.check(label, problem)
            elif problem is None:
                tally.check(label, "it agrees now: take it off the known differences")
            else:
                skipped.append((label, f"known to differ: {cases[name].known[given]}: {problem}"))
    print(f"{len(batches)} starts of the program, {sum(rows.values())} records of {len(cases)} queries")
    return rows


def check_elsewhere(tally, name):
    file, reason = ELSEWHERE[name]
    path = REPOSITORY / file
    mentions = path.is_file() and re.search(rf"\b{name}\b", path.read_text())
    tally.check(name, None if mentions else f"{file} does not mention it")
    if mentions:
        print(f"ELSEWHERE {name}: {file}: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--only", nargs="+", metavar="QUERY", help="these queries alone")
    parser.add_argument("--queries", type=Path, help="a directory of queries that the program takes in place of its own")
    arguments = parser.parse_args()
    known, cases = known_queries(), all_cases()
    unknown = sorted((set(arguments.only or ()) | cases.keys() | ELSEWHERE.keys()) - known.keys())
    if unknown:
        raise SystemExit(f"no queries: {', '.join(unknown)}")
    asked = [name for name in known if not arguments.only or name in arguments.only]
    tally, skipped = Tally(), []
    extra = ("--queries", arguments.queries) if arguments.queries else ()
    with tempfile.TemporaryDirectory() as work:
        cases_asked = {name: cases[name] for name in asked if name in cases}
        rows = check_cases(tally, skipped, arguments.binary, cases_asked, work, extra)
    for name in asked:
        if name in cases:
            skipped += [(name, f"column {column} is not checked: {reason}") for column, reason in cases[name].unchecked.items()]
            if not rows[name]:
                tally.check(name, "no input gave it a row, so nothing was compared")
        elif name in ELSEWHERE:
            check_elsewhere(tally, name)
        else:
            tally.check(name, f"nothing computes it anew; add it to tests/oracle/independent/{known[name]}.py")
    for name, reason in skipped:
        print(f"SKIPPED {name}: {reason}")
    failed = tally.failed + (tally.passed == 0)
    print(f"{tally.passed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
