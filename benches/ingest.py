#!/usr/bin/env python3
"""Measures wavesieve beside the pandas baseline over one generated rocpd database.

  benches/ingest.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --baseline ../shared/tools/baseline_rocpd.py --python VENV/bin/python --runs 3 \\
      --dispatches 1000000 --regions 2000000 --output benches/results/NAME.json

--python needs pandas and pyarrow; this script needs the standard library only. --data DIR is where the trace is
generated, unless it is there already. --budget SECONDS starts no further round once that much time has passed.
Whole processes are measured, interleaved (A B A B) after one warm-up round: wall seconds, peak resident memory and
peak anonymous memory. The pandas baselines that take minutes take part in --peer-runs rounds and in no warm-up. Cases
named cold are measured with the database dropped from the cache of the system first.
A Markdown table of the medians is written beside the JSON, under the same name.
"""
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from harness import generating_parser, machine, results_of, run_rounds, write

KERNEL_SQL = """SELECT COUNT(*) AS n, SUM(duration_ns) AS a, MIN(start_ns) AS b, MAX(end_ns) AS c, SUM(queue_id) AS d,
SUM(stream_id) AS e, SUM(tid) AS f, MAX(correlation_id) AS g, SUM(grid_x) AS h, SUM(workgroup_x) AS i,
SUM(lds_bytes) AS j FROM kernels"""
VIEW = pathlib.Path(__file__).with_name("pandas_view.py")
BULK = re.compile(r"rocpd_(kernel_dispatch|region|memory_copy|memory_allocate|event|sample|arg|pmc_event)_?[0-9a-f]{8}")


def arguments():
    parser = generating_parser(__doc__, "bench", runs=3)
    parser.add_argument("--baseline", default="../shared/tools/baseline_rocpd.py")
    parser.add_argument("--peer-runs", type=int, default=3)
    parser.add_argument("--dispatches", type=int, default=1_000_000)
    parser.add_argument("--regions", type=int, default=2_000_000)
    return parser.parse_args()


def generate(args):
    """The database, generated if absent."""
    found = sorted(args.data.rglob("*.db"))
    if not found:
        args.data.mkdir(parents=True, exist_ok=True)
        command = [args.generator, "--dispatches", str(args.dispatches), "--regions", str(args.regions)]
        subprocess.run([*command, "-o", str(args.data)], check=True, stdout=subprocess.DEVNULL)
        found = sorted(args.data.rglob("*.db"))
    if len(found) != 1:
        sys.exit(f"expected one database in {args.data}, found {len(found)}")
    return found[0]


def row_counts(database):
    """Rows of the activity and event tables."""
    counts = {}
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            if match := BULK.match(name):
                (count,) = connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()
                counts[match.group(1)] = counts.get(match.group(1), 0) + count
    return counts


def main():
    args = arguments()
    database = generate(args)
    counts = row_counts(database)
    kernels, everything = counts["kernel_dispatch"], sum(counts.values())
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ingest-"))
    dataset, peer_dataset = scratch / "dataset", scratch / "peer"
    own, peer, db = [args.binary, "--quiet"], [args.python, args.baseline], str(database)
    # name, rows, name of the peers, command; the order is the order of measuring.
    cases = [
        ("convert", everything, ["baseline convert"], [*own, "convert", db, "-o", str(dataset), "--overwrite"]),
        ("convert, cold", everything, [], [*own, "convert", db, "-o", str(dataset), "--overwrite"]),
        ("baseline convert", everything, [], [*peer, "convert", db, str(peer_dataset)]),
        ("kernel_summary", kernels, ["baseline view", "pandas through the view", "baseline summary"],
         [*own, "table", "kernel_summary", db, "-f", "csv"]),
        ("kernel_summary, cold", kernels, [], [*own, "table", "kernel_summary", db, "-f", "csv"]),
        ("pandas through the view", kernels, [], [args.python, str(VIEW), db]),
        ("kernel_summary by sqlite", kernels, [],
         [*own, "table", "kernel_summary", db, "-f", "csv", "--reader", "sqlite"]),
        ("baseline view", kernels, [], [*peer, "view", db]),
        ("kernel_summary of dataset", kernels, [], [*own, "table", "kernel_summary", str(dataset), "-f", "csv"]),
        ("baseline summary", kernels, [], [*peer, "summary", db]),
        ("time_breakdown", kernels, [], [*own, "table", "time_breakdown", db, "-f", "csv"]),
        ("sql over 10 kernel columns", kernels, [], [*own, "sql", KERNEL_SQL, db, "-f", "csv"]),
    ]
    described = machine(args.binary, args.python)

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        size = database.stat().st_size
        tables = ", ".join(f"{count} {table}" for table, count in sorted(counts.items()))
        write(args.output, "Ingest", described, [f"Database: {size / 1e6:.0f} MB, {tables}."],
              {"rows": counts, "database_bytes": size}, results_of(cases, samples, warm_up, failures), samples, runs)

    try:
        fewer = {"baseline convert": args.peer_runs, "pandas through the view": args.peer_runs}
        cold = {name: [database] for name, *_ in cases if name.endswith(", cold")}
        rounds = [(*case, [command]) for *case, command in cases]
        failures = run_rounds(rounds, args.runs, scratch, report, args.budget, fewer=fewer, cold=cold)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit("\n".join(failures.values()))


if __name__ == "__main__":
    main()
