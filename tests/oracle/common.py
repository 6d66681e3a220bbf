"""What the oracle scripts share: running the binary, comparing values, counting results."""

import json
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# Exit codes with which a query still gives an answer: done, no data of the kind, partial input.
ANSWERED = (0, 3, 5)


class Tally:
    """Counts comparisons and prints those that fail."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, label, problem):
        if problem is None:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {label}: {problem}", flush=True)

    def finish(self):
        """Prints the closing line and returns the exit code."""
        if self.passed + self.failed == 0:
            self.check("all", "nothing was compared")
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


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
