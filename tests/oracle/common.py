"""What the oracle scripts share: running the binary, comparing values, counting results."""

import json
import re
import subprocess
import tempfile
import threading
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# Exit codes with which a query still gives an answer: done, no data of the kind, partial input.
ANSWERED = (0, 3, 5)


class Tally:
    """Counts comparisons, of several threads too, and prints those that fail."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.lock = threading.Lock()

    def check(self, label, problem):
        with self.lock:
            if problem is None:
                self.passed += 1
            else:
                self.failed += 1
                print(f"FAILED {label}: {problem}", flush=True)

    def add(self, findings):
        """Counts what another process found."""
        for label, problem in findings.all:
            self.check(label, problem)

    def finish(self):
        """Prints the closing line and returns the exit code."""
        if self.passed + self.failed == 0:
            self.check("all", "nothing was compared")
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


class Findings:
    """Labels with what is wrong, if anything; made in one process, counted in another."""

    def __init__(self):
        self.all = []

    def check(self, label, problem):
        self.all.append((label, None if problem is None else str(problem)))


class BinaryError(Exception):
    """The binary gave no answer."""


def run_binary(binary, arguments):
    """Standard output of the binary, or None when it says that there is no data of the kind."""
    command = [str(Path(binary).resolve()), *map(str, arguments)]
    finished = subprocess.run(command, capture_output=True, check=False)
    if finished.returncode not in ANSWERED:
        message = finished.stderr.decode(errors="replace").strip()
        last_line = message.splitlines()[-1] if message else "no message"
        raise BinaryError(f"exit {finished.returncode} from {' '.join(command[1:])}: {last_line}")
    return None if finished.returncode == 3 else finished.stdout.decode()


def read_table(binary, query, source, options=()):
    """Records that the binary gives for a query."""
    output = run_binary(binary, ["table", query, source, "-f", "json", *options])
    return [] if output is None else json.loads(output)


def read_tables(binary, queries, source, options=(), own=None):
    """Records of each query, of one start for all of them; a query that fails alone has the error in their place.

    `own` has the options of each query alone, if these are not the same for all.
    That a list of queries is answered as each alone is a test of `table` (tests/cli/tables.rs).
    """
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "answers"
        try:
            # With a comma it is a list, however long.
            run_binary(binary, ["table", ",".join(queries) + ",", source, "-f", "json", "-o", folder, *options])
            return {query: json.loads((folder / f"{query}.json").read_text()) for query in queries}
        except (BinaryError, OSError, json.JSONDecodeError):
            return {query: read_alone(binary, query, source, own[query] if own else options) for query in queries}


def read_alone(binary, query, source, options=()):
    """Records of a query, or the error in their place."""
    try:
        return read_table(binary, query, source, options)
    except (BinaryError, json.JSONDecodeError) as error:
        return error


def shown_statements(binary, queries, options=()):
    """The SQL of each query, of one start for all of them."""
    shown = run_binary(binary, ["table", ",".join(queries) + ",", "--show-sql", *options])
    parts = re.split(r"(?m)^-- (\w+)\n(?=-- reads )", shown)
    # Statements follow one another with an empty line between them.
    statements = {name: sql.rstrip("\n") + "\n" for name, sql in zip(parts[1::2], parts[2::2])}
    if list(statements) != list(queries):
        raise BinaryError(f"statements of {', '.join(statements)}, expected those of {', '.join(queries)}")
    return statements


def read_statements(binary, statements, source, options=()):
    """Records of each statement, of one start for all of them; a statement that fails alone has the error in their place.

    That statements are answered together as each alone is a test of `sql` (tests/cli/sql.rs).
    """
    alone = lambda statement: read_statement(binary, statement, source, options)
    if len(statements) == 1:
        return [alone(statements[0])]
    joined = ";\n".join(statement.rstrip().rstrip(";") for statement in statements)
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "answers"
        try:
            run_binary(binary, ["sql", joined, source, "-f", "json", "-o", folder, "-q", *options])
        except BinaryError:
            return [alone(statement) for statement in statements]
        paths = [folder / f"statement-{number}.json" for number in range(1, len(statements) + 1)]
        return [
            json.loads(path.read_text()) if path.exists() else alone(statement)
            for path, statement in zip(paths, statements)
        ]


def read_statement(binary, statement, source, options=()):
    """Records of a statement, none where nothing matches, or the error in their place."""
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / "answer.json"
        try:
            run_binary(binary, ["sql", statement, source, "-f", "json", "-o", path, "-q", *options])
            return json.loads(path.read_text()) if path.exists() else []
        except (BinaryError, json.JSONDecodeError) as error:
            return error


def answered(records):
    """The records, if these are no error."""
    if isinstance(records, Exception):
        raise records
    return records


def default_inputs():
    """The fixtures, and the real traces where they are present."""
    fixtures = REPOSITORY / "fixtures"
    data = REPOSITORY.parent / "shared" / "data"
    candidates = sorted(path for path in fixtures.glob("*") if path.is_dir()) if fixtures.is_dir() else []
    real = ("rocpd-ranks", "rocpd-markers/rank2_1560_results.db", "rocpd-pmc", "rocpd-real")
    candidates += [data / name for name in real]
    return [path for path in candidates if path.is_file() or any(path.rglob("*.db"))]


def database_files(source):
    """The databases of an input."""
    source = Path(source)
    return sorted(source.rglob("*.db")) if source.is_dir() else [source]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same_value(found, expected, tolerance):
    """Integers, text and null must be equal; floats may differ by the relative tolerance."""
    if is_number(found) and is_number(expected):
        if isinstance(found, int) and isinstance(expected, int):
            return found == expected
        return found == expected or abs(found - expected) <= tolerance * max(abs(found), abs(expected))
    return type(found) is type(expected) and found == expected


def difference(found, expected, tolerance_of=lambda column: 1e-9):
    """The first difference between two lists of records, in words, or None."""
    if len(found) != len(expected):
        return f"{len(found)} rows, expected {len(expected)}"
    for row, (left, right) in enumerate(zip(found, expected)):
        if list(left) != list(right):
            return f"columns {list(left)}, expected {list(right)}"
        for column, value in left.items():
            if not same_value(value, right[column], tolerance_of(column)):
                return f"row {row}, {column}: {value!r}, expected {right[column]!r}"
    return None
