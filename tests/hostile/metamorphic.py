#!/usr/bin/env python3
"""Changes captures in ways that must not change the answers, or only in a way that is known, and compares.

- All times later by a constant: the same lengths, counts, busy and idle times.
- Rows in another order, with other ids where ids are the file's own business: the same answers.
- A process taken apart into several: counts and sums of the parts are those of the whole.
- A capture given twice: read once, and said so.
- Streams and queues with other ids and names: the same sums, one for each.
"""

import argparse
import concurrent.futures
import csv
import json
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "oracle"))
import csv_of  # noqa: E402
from common import Tally  # noqa: E402

KEY = "rocprofiler-sdk-tool"
SHIFT_NS = 3_600_000_000_123
PARTS = 3
GENERATE = ["--ranks", "1", "--gpus-per-node", "2", "--gpus-per-rank", "2"]
SIZES = {
    "--streams": 3, "--threads": 2, "--iterations": 3, "--kernels": 9, "--dispatches": 120, "--regions": 240, "--copies": 14,
    "--allocations": 9, "--counters": 2, "--counter-instances": 2,
}  # fmt: skip
# The seed of the captures that a commit is judged by. Another seed makes captures of other sizes, with their rows in another order.
SEED = 11

# Named queries whose answers hold no absolute time and no number of a row.
QUERIES = [
    "kernel_summary", "kernel_by_category", "kernel_by_shape", "kernel_duration_histogram", "time_breakdown", "busy",
    "rank_summary", "api_summary", "copy_summary", "allocation_summary", "scratch_summary", "domain_summary",
    "marker_summary", "counter_summary", "short_kernels", "gpu_concurrency",
]  # fmt: skip
# Sums that are kept when a process is taken apart.
SUMS = [
    "SELECT kernel_name, COUNT(*) AS n, SUM(duration_ns) AS total_ns, MIN(duration_ns) AS least, MAX(duration_ns) AS most "
    "FROM kernels WHERE valid GROUP BY kernel_name ORDER BY kernel_name",
    "SELECT domain, name, COUNT(*) AS n, SUM(duration_ns) AS total_ns FROM regions GROUP BY domain, name ORDER BY domain, name",
    "SELECT direction, COUNT(*) AS n, SUM(duration_ns) AS total_ns, SUM(bytes) AS bytes FROM memory_copies "
    "GROUP BY direction ORDER BY direction",
]
# One row for each stream or queue, whatever it is called.
BY_STREAM = [
    f"SELECT COUNT(*) AS n, SUM(duration_ns) AS total_ns, MIN(start_ns) AS first FROM {table} "
    f"GROUP BY {column} ORDER BY n, total_ns, first"
    for table, column in [("kernels", "stream_id"), ("kernels", "queue_id"), ("memory_copies", "stream_id")]
]


class Capture:
    """A capture that is changed in place, with an order of its own for each seed."""

    def __init__(self, path, seed):
        self.path, self.seed = path, seed

    def drawn(self, purpose):
        return random.Random(f"{self.seed} {purpose}")


class Database(Capture):
    """A rocpd database."""

    form = "rocpd"

    def changed(self, change):
        connection = sqlite3.connect(self.path, isolation_level=None)
        connection.execute("BEGIN")
        change(connection)
        connection.execute("COMMIT")
        connection.close()

    def tables(self, connection):
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%'")
        return {re.sub(r"_0.*", "", name.removeprefix("rocpd_")): name for (name,) in rows}

    def columns(self, connection, table):
        return [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]

    def shift(self):
        def change(connection):
            for name in self.tables(connection).values():
                for column in self.columns(connection, name):
                    if column in ("start", "end", "timestamp", "init", "fini"):
                        connection.execute(f'UPDATE "{name}" SET "{column}" = "{column}" + {SHIFT_NS}')

        self.changed(change)

    def renumber(self, connection, base, references, keep=()):
        """Gives the rows of a table other ids, in another order."""
        tables = self.tables(connection)
        rows = [row for (row,) in connection.execute(f'SELECT id FROM "{tables[base]}"') if row not in keep]
        own = self.drawn(base)
        new = own.sample(range(1, 3 * len(rows) + 10), len(rows))
        # Negative ids stand between the old and the new ones.
        fresh = {row: -value - 1000 for row, value in zip(rows, new)}
        changes = [(tables[base], "id")]
        for name in tables.values():
            changes += [(name, column) for column in self.columns(connection, name) if column in references]
        for name, column in changes:
            connection.executemany(
                f'UPDATE "{name}" SET "{column}" = ? WHERE "{column}" = ?', [(value, row) for row, value in fresh.items()]
            )
        for name, column in changes:
            connection.execute(f'UPDATE "{name}" SET "{column}" = -("{column}" + 1000) WHERE "{column}" < -1000')

    def permute(self):
        def change(connection):
            connection.execute("PRAGMA foreign_keys = OFF")
            for base in ["region", "kernel_dispatch", "memory_copy", "memory_allocate", "sample", "arg", "pmc_event"]:
                self.renumber(connection, base, ())
            self.renumber(connection, "event", ("event_id",))
            self.renumber(connection, "string", ("name_id", "category_id", "region_name_id"))
            self.renumber(connection, "info_pmc", ("pmc_id",))

        self.changed(change)

    def rename_streams(self):
        def change(connection):
            self.renumber(connection, "info_stream", ("stream_id",), keep=(0,))
            self.renumber(connection, "info_queue", ("queue_id",), keep=(0,))
            for base in ["info_stream", "info_queue"]:
                connection.execute(f"UPDATE \"{self.tables(connection)[base]}\" SET name = 'other ' || id")

        self.changed(change)

    def part(self, number):
        def change(connection):
            tables = self.tables(connection)
            for base in ["kernel_dispatch", "region", "memory_copy"]:
                connection.execute(f'DELETE FROM "{tables[base]}" WHERE id % {PARTS} <> {number}')
            connection.execute(f'UPDATE "{tables["info_process"]}" SET pid = pid + {number}')
            # A process of its own has a guid of its own, in names, columns and metadata.
            old = connection.execute(f"SELECT value FROM \"{tables['metadata']}\" WHERE tag = 'guid'").fetchone()[0]
            new = f"{old[:-1]}{'0123456789abcdef'[(int(old[-1], 16) + number) % 16]}"
            for one, other in [(old, new), (old.replace("-", "_"), new.replace("-", "_"))]:
                connection.execute(
                    f"UPDATE \"{tables['metadata']}\" SET value = replace(value, ?, ?)", (one, other)
                )
            connection.execute("PRAGMA legacy_alter_table = ON")
            views = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
            for view in views:
                connection.execute(f'DROP VIEW "{view}"')
            for name in tables.values():
                renamed = name.replace(old.replace("-", "_"), new.replace("-", "_"))
                if renamed != name:
                    connection.execute(f'ALTER TABLE "{name}" RENAME TO "{renamed}"')

        self.changed(change)


class Document(Capture):
    """A rocprofv3 JSON file."""

    form = "json"

    def changed(self, change):
        document = json.loads(self.path.read_text())
        change(document[KEY][0])
        self.path.write_text(json.dumps(document))

    def each(self, value, visit):
        """Visits every object below a value."""
        if isinstance(value, dict):
            visit(value)
        for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
            self.each(child, visit)

    def shift(self):
        def later(record):
            for key in ("start_timestamp", "end_timestamp", "timestamp", "init_time", "fini_time"):
                if isinstance(record.get(key), int):
                    record[key] += SHIFT_NS

        self.changed(lambda process: self.each(process, later))

    def permute(self):
        def change(process):
            own = self.drawn("order")
            for group in ("buffer_records", "callback_records"):
                for name in sorted(process[group]):
                    own.shuffle(process[group][name])
            for name in ("kernel_symbols", "code_objects", "agents"):
                own.shuffle(process[name])
            # Keys of objects have no order either.
            for name in sorted(process["buffer_records"]):
                records = process["buffer_records"][name]
                process["buffer_records"][name] = [dict(own.sample(sorted(record.items()), len(record))) for record in records]

        self.changed(change)

    def rename_streams(self):
        def other(record):
            for key in ("stream_id", "queue_id"):
                if isinstance(record.get(key), dict) and record[key].get("handle"):
                    record[key]["handle"] = 900 - 7 * record[key]["handle"]

        self.changed(lambda process: self.each(process, other))

    def part(self, number):
        def change(process):
            process["metadata"]["pid"] += number
            groups = [process["buffer_records"], process["callback_records"]]
            for records in [records for group in groups for records in group.values()]:
                records[:] = [record for at, record in enumerate(records) if at % PARTS == number]

        self.changed(change)


class Tables(Capture):
    """A folder of rocprofv3 CSV."""

    form = "csv"

    def changed(self, change, prefix=0):
        for path in sorted(self.path.glob("*.csv")):
            with open(path, newline="") as file:
                header, *rows = csv.reader(file)
            rows = change(path.name, header, rows)
            pid, rest = path.name.split("_", 1)
            path.unlink()
            with open(self.path / f"{int(pid) + prefix}_{rest}", "w", newline="") as file:
                csv.writer(file, quoting=csv.QUOTE_ALL).writerows([header, *rows])

    def each(self, columns, value):
        def change(_, header, rows):
            places = [at for at, name in enumerate(header) if name in columns]
            for row in rows:
                for at in places:
                    row[at] = value(row[at])
            return rows

        return change

    def shift(self):
        self.changed(self.each(("Start_Timestamp", "End_Timestamp"), lambda time: str(int(time) + SHIFT_NS)))

    def permute(self):
        own = self.drawn("order")
        self.changed(lambda name, header, rows: rows if "agent_info" in name else own.sample(rows, len(rows)))

    def rename_streams(self):
        self.changed(self.each(("Stream_Id", "Queue_Id"), lambda number: str(900 - 7 * int(number)) if number != "0" else "0"))

    def part(self, number):
        own = lambda name, rows: rows if "agent_info" in name else rows[number::PARTS]  # noqa: E731
        self.changed(lambda name, header, rows: own(name, rows), prefix=number)
        self.changed(self.each(("Process_Id",), lambda pid: str(int(pid) + number)))


class Tester:
    """Compares the answers over captures of one form."""

    def __init__(self, binary, tally, origin, work, make, seed):
        self.binary, self.tally, self.origin, self.work, self.make, self.seed = binary, tally, origin, work, make, seed
        self.form = make.form

    def answers(self, arguments, names):
        """The answer of each name, of one start of the program that writes a file for each; what went wrong in its place."""
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            folder = pathlib.Path(scratch, "answers")
            command = [self.binary, *map(str, arguments), "-f", "json", "-q", "-o", folder]
            finished = subprocess.run(command, capture_output=True, check=False)
            if finished.returncode not in (0, 3):
                return dict.fromkeys(names, f"exit {finished.returncode}: {finished.stderr.decode(errors='replace')[-500:]}")
            return {name: json.loads((folder / f"{file}.json").read_text()) for name, file in names.items()}

    def named(self, source):
        return self.answers(["table", ",".join(QUERIES), source], {query: query for query in QUERIES})

    def asked(self, statements, source):
        names = {statement: f"statement-{number}" for number, statement in enumerate(statements, 1)}
        return self.answers(["sql", "; ".join(statements), source], names)

    def copy(self, name):
        """A copy of the capture in a folder of its own."""
        folder = self.work / name
        folder.mkdir()
        target = folder / self.origin.name
        (shutil.copytree if self.origin.is_dir() else shutil.copy)(self.origin, target)
        return self.make(target, self.seed)

    def compare(self, label, expected, found):
        for query, answer in expected.items():
            problem = None
            if isinstance(answer, str):
                problem = answer
            elif answer != found[query]:
                differing = [(one, other) for one, other in zip(answer, found[query]) if one != other]
                problem = f"{len(answer)} and {len(found[query])} rows; {str((differing or found[query])[:1])[:700]}"
            self.tally.check(f"{self.form} {label}: {query[:60]}", problem)

    def all(self):
        named, asked = self.named(self.origin), self.asked(SUMS + BY_STREAM, self.origin)
        sums, by_stream = ({statement: asked[statement] for statement in statements} for statements in (SUMS, BY_STREAM))
        for name in ["kernel_summary", "api_summary"]:
            self.tally.check(f"{self.form} {name} has rows", None if len(named[name]) > 2 else str(named[name])[:300])
        for name in ["shift", "permute"]:
            changed = self.copy(name)
            getattr(changed, name)()
            self.compare(name, named, self.named(changed.path))
            self.compare(name, sums, self.asked(SUMS, changed.path))
        for number in range(PARTS):
            part = self.copy(f"parts_{number}")
            part.part(number)
            whole = self.work / "parts" / str(number)
            shutil.move(part.path.parent, whole)
        count = "SELECT COUNT(*) AS n FROM processes"
        found = self.asked([*SUMS, count], self.work / "parts")
        self.compare("parts", sums, found)
        processes = found[count]
        self.tally.check(f"{self.form} parts: processes", None if processes == [{"n": PARTS}] else str(processes)[:300])
        renamed = self.copy("renamed")
        renamed.rename_streams()
        found = self.asked(SUMS + BY_STREAM, renamed.path)
        self.compare("renamed", by_stream, found)
        self.compare("renamed", sums, found)
        for name in ["one", "other"]:
            shutil.move(self.copy(f"twice_{name}").path.parent, self.work / "twice" / name)
        self.compare("twice", named, self.named(self.work / "twice"))
        checks = "SELECT check_id FROM anomalies"
        found = self.asked([checks, count], self.work / "twice")
        notes = found[checks]
        once = found[count] == [{"n": 1}]
        self.tally.check(f"{self.form} twice: processes", None if once else str(found[count])[:300])
        told = {"check_id": "repeated_capture"} in notes
        self.tally.check(f"{self.form} twice: it is said", None if told else str(notes)[:300])


def recipe(seed):
    """What the generator is asked for: sizes are drawn, but those of the fixed seed."""
    own = random.Random(seed)
    drawn = {option: own.randint((size + 1) // 2, 2 * size) for option, size in SIZES.items()}
    sizes = SIZES if seed == SEED else drawn
    return [*GENERATE, *(str(word) for pair in sizes.items() for word in pair), "--seed", str(seed)]


def compare_captures(options, tally, seed):
    """All changes of a capture of each form."""
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        for form in ["rocpd", "json"]:
            command = [options.generator, *recipe(seed), "--format", form, "-o", work / "made" / form]
            subprocess.run(command, check=True, capture_output=True)
        database, document = (next(path for path in sorted((work / "made" / form).rglob("*")) if path.is_file()) for form in ("rocpd", "json"))
        tables = work / "made" / "csv"
        tables.mkdir()
        csv_of.write(database, tables)
        testers = []
        for origin, make in [(database, Database), (document, Document), (tables, Tables)]:
            own = work / make.form
            (own / "parts").mkdir(parents=True)
            (own / "twice").mkdir()
            testers.append(Tester(pathlib.Path(options.binary).resolve(), tally, origin, own, make, seed))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(Tester.all, testers))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--generator", required=True, help="the built example generate_trace")
    arguments.add_argument("--seed", type=int, default=SEED, help="of the first capture")
    arguments.add_argument("--runs", type=int, default=1, help="captures, each with the next seed")
    options = arguments.parse_args()
    tally = Tally()
    for seed in range(options.seed, options.seed + options.runs):
        failed = tally.failed
        compare_captures(options, tally, seed)
        if tally.failed > failed:
            print(f"repeat: metamorphic.py --seed {seed}", flush=True)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
