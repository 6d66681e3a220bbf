"""Compares statements as people write them, in `statements.sql`, and drawn ones with DuckDB over the same dataset: names of columns and
values."""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tomllib
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import duckdb

from common import ANSWERED, REPOSITORY, BinaryError, Tally, answered, read_statements, same_value
from random_statements import random_statements
from shared_datasets import dataset

STATEMENTS = Path(__file__).with_name("statements.sql")
REFUSED = "-- refused:"
STATEMENTS_OF_A_START = 40
# Drawn statements may be refused in this share at most: correlated subqueries, and values that have no type.
REFUSED_SHARE = 0.08


def statements():
    """Each statement with what its refusal must name, or None."""
    refused = None
    lines = []
    for line in STATEMENTS.read_text().splitlines():
        if line.startswith(REFUSED):
            refused = line.removeprefix(REFUSED).strip()
        elif not line.startswith("--"):
            lines.append(line)
            if line.endswith(";"):
                yield "\n".join(lines).strip(" \n;"), refused
                lines, refused = [], None


def functions():
    """A statement for each expression that the page of functions has."""
    calls = tomllib.loads((REPOSITORY / "share" / "sql" / "functions.toml").read_text())["function"]
    for call in calls:
        order = "" if call["kind"] == "aggregate" else " ORDER BY process, dispatch_id"
        yield f"SELECT {call['call']} FROM kernels{order}", None


def connect(dataset):
    """The dataset as a user would load it into DuckDB."""
    connection = duckdb.connect()
    connection.execute(f"SET GLOBAL file_search_path = '{dataset}'")
    connection.execute((Path(dataset) / "views.sql").read_text())
    return connection


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**63:
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def of_duckdb(connection, sql):
    """Names and rows; two columns of one name get a number, as in a DataFrame of DuckDB."""
    result = connection.cursor().execute(sql)
    names = []
    for column in result.description:
        number, name = 0, column[0]
        while name in names:
            number += 1
            name = f"{column[0]}_{number}"
        names.append(name)
    return names, [[plain(value) for value in row] for row in result.fetchall()]


def same(found, expected):
    """Whole floats count as integers: DuckDB adds integers up to a type that JSON does not have."""
    numbers = (int, float)
    if isinstance(found, numbers) and isinstance(expected, numbers) and not isinstance(found, bool):
        return same_value(float(found), float(expected), 1e-9) and (
            isinstance(found, int) == isinstance(expected, int) or float(found).is_integer()
        )
    return same_value(found, expected, 0.0)


def in_order(row):
    return [(value is not None, str(value)) for value in row]


def problem(records, connection, sql):
    """How the records of the binary differ from DuckDB, in words, or None."""
    names, rows = of_duckdb(connection, sql)
    if rows and records and list(records[0]) != names:
        return f"columns {list(records[0])}, expected {names}"
    found = [list(record.values()) for record in records]
    if "ORDER BY" not in sql:
        found, rows = sorted(found, key=in_order), sorted(rows, key=in_order)
    if len(found) != len(rows):
        return f"{len(found)} rows, expected {len(rows)}"
    for number, (row, expected) in enumerate(zip(found, rows)):
        for name, one, other in zip(names, row, expected):
            if not same(one, other):
                return f"row {number} {name}: {one!r}, expected {other!r}"
    return None


def refused_alone(binary, dataset, sql, words):
    """What is wrong with how the binary refuses a statement, or None."""
    finished = run(binary, sql, dataset)
    message = finished.stderr.decode()
    if finished.returncode == 2 and words in message:
        return None
    return f"exit {finished.returncode}, {message.strip()!r}, expected a refusal with {words!r}"


def refused_together(binary, dataset, refused):
    """The same for statements of one start, in which each refusal is named and one good statement is answered."""
    with tempfile.TemporaryDirectory() as work:
        sql = ";\n".join(["SELECT 1 AS one", *(sql for sql, _ in refused)])
        finished = run(binary, sql, dataset, "-f", "json", "-o", Path(work) / "answers")
        message = finished.stderr.decode()
        if finished.returncode != 5 or [path.name for path in Path(work, "answers").iterdir()] != ["statement-1.json"]:
            return [f"exit {finished.returncode}, {message.strip()!r}, expected one answer"] * len(refused)
    said = dict(re.findall(r"(?m)^error: statement-(\d+): (.*)$", message))
    return [
        None if words in said.get(str(number), "") else f"{said.get(str(number))!r}, expected a refusal with {words!r}"
        for number, (_, words) in enumerate(refused, 2)
    ]


def run(binary, sql, *words):
    command = [Path(binary).resolve(), "sql", sql, *words]
    return subprocess.run([str(word) for word in command], capture_output=True, check=False)


def compared(binary, dataset, connection, statements):
    """What is wrong with the answers of one start, statement by statement."""
    problems = []
    for sql, records in zip(statements, read_statements(binary, statements, dataset)):
        try:
            problems.append(problem(answered(records), connection, sql))
        except (BinaryError, duckdb.Error, json.JSONDecodeError) as error:
            problems.append(str(error).splitlines()[0])
    return problems


def drawn(binary, dataset, connection, statements):
    """The statements of one start that both answer, each with what is wrong, and how many are refused here alone."""
    with tempfile.TemporaryDirectory() as work:
        answers = Path(work) / "answers"
        finished = run(binary, ";\n".join(statements), dataset, "-f", "json", "-o", answers)
        said = set(re.findall(r"(?m)^error: statement-(\d+): ", finished.stderr.decode()))
        found, refused = [], 0
        for number, sql in enumerate(statements, 1):
            path = answers / f"statement-{number}.json"
            try:
                of_duckdb(connection, sql)
            except duckdb.Error:
                continue
            if str(number) in said:
                refused += 1
            elif finished.returncode not in ANSWERED:
                found.append((sql, f"exit {finished.returncode}, {finished.stderr.decode().strip()[-200:]!r}"))
            else:
                found.append((sql, problem(json.loads(path.read_text()) if path.exists() else [], connection, sql)))
    return found, refused


def check_drawn(tally, binary, source, dataset, connection, statements):
    parts = in_parts(statements, STATEMENTS_OF_A_START)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda part: drawn(binary, dataset, connection, part), parts))
    for sql, wrong in (one for found, _ in done for one in found):
        tally.check(f"{source}: {sql}", wrong)
    refused, compared = sum(part[1] for part in done), sum(len(part[0]) for part in done)
    too_many = refused > REFUSED_SHARE * (refused + compared) + 1
    tally.check(f"{source}: drawn statements", f"{refused} of {refused + compared} are refused" if too_many else None)


def in_parts(statements, size):
    return [statements[start : start + size] for start in range(0, len(statements), size)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, nargs="+", default=[REPOSITORY / "fixtures" / name for name in ("two_nodes", "hostile")])
    parser.add_argument("--random", type=int, default=240, help="drawn statements over each dataset")
    parser.add_argument("--seed", type=int, default=20, help="of the drawn statements")
    arguments = parser.parse_args()
    tally, started = Tally(), time.monotonic()
    corpus = [*statements(), *functions()]
    answerable, refused = ([one for one in corpus if bool(one[1]) == is_refused] for is_refused in (False, True))
    for number, source in enumerate(arguments.inputs):
        converted = dataset(arguments.binary, source)
        connection = connect(converted)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = in_parts([sql for sql, _ in answerable], STATEMENTS_OF_A_START)
            compare = lambda part: compared(arguments.binary, converted, connection, part)
            problems = [problem for found in pool.map(compare, parts) for problem in found]
            # The text of a refusal hardly depends on the data.
            if number == 0:
                problems += pool.map(lambda one: refused_alone(arguments.binary, converted, *one), refused)
            else:
                problems += refused_together(arguments.binary, converted, refused)
        for (sql, _), found in zip([*answerable, *refused], problems):
            tally.check(f"{source}: {sql}", found)
        check_drawn(tally, arguments.binary, source, converted, connection, random_statements(arguments.random, arguments.seed))
    if tally.failed:
        print(f"repeat: statements.py --random {arguments.random} --seed {arguments.seed}")
    print(f"{len(corpus)} statements and {arguments.random} drawn ones over {len(arguments.inputs)} datasets in {time.monotonic() - started:.1f} s")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
