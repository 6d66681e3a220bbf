#!/usr/bin/env python3
"""Measures why GPUs wait and what is unequal, over many kernels and calls, beside plain scans of what these questions read.

  benches/waiting.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --runs 3 --output benches/results/NAME-waiting.json

--data DIR is where the dataset is generated, unless it is there already: --ranks times --dispatches kernels and twice as
many API calls and ranges. --python needs duckdb, pandas and pyarrow; this script needs the standard library only. Whole
processes are measured, interleaved (A B A B) after one warm-up round. A scan takes every column that a question reads of
the source tables through the same program, one statement for each table: sums of integers, how often a truth holds, how
many texts there are. DuckDB runs the same statements.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import first_line, generating_parser, machine, results_of, run_rounds, write

PEER = pathlib.Path(__file__).with_name("dataset_duckdb.py")
CALLS = ["domain", "name", "correlation_id", "start_ns", "end_ns", "valid"]
MARKS = ["domain", "name", "tid", "correlation_id", "time_ns"]
COPIES = ["gpu", "peer_gpu", "start_ns", "end_ns", "valid"]
QUEUED = ["kernel_name", "gpu", "queue_id", "stream_id", "correlation_id", "start_ns", "end_ns", "valid"]
LAUNCHED = ["dispatch_id", "gpu", "tid", "correlation_id", "start_ns", "end_ns", "valid"]
SHAPED = [
    "dispatch_id", "kernel_name", "category", "gpu", "queue_id", "stream_id", "correlation_id", "start_ns", "end_ns",
    "duration_ns", "grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z", "valid",
]
# Source tables and columns that each question reads.
READ = {
    "launch_summary": {"kernels": QUEUED, "memory_copies": COPIES, "regions": CALLS, "marks": MARKS},
    "idle_by_cause": {
        "kernels": LAUNCHED, "memory_copies": [*COPIES, "copy_id", "correlation_id", "tid"],
        "regions": [*CALLS, "tid"], "marks": MARKS,
    },
    # The dataset has RCCL calls; only the columns that show which calls belong together are read.
    "kernel_outliers": {"kernels": SHAPED, "regions": [*CALLS[1:], "region_id", "tid"]},
    "rank_imbalance": {"kernels": ["gpu", "duration_ns", "valid"]},
}
TEXTS = {"domain", "name", "message", "kernel_name", "short_name", "category"}


def arguments():
    parser = generating_parser(__doc__, "bench-waiting", runs=3)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--dispatches", type=int, default=6_250_000, help="kernels of each rank")
    return parser.parse_args()


def scan(table, columns):
    """A statement that takes every value of some columns and does as little as can be with it."""
    def taken(column):
        if column in TEXTS:
            return f"COUNT(DISTINCT {column})"
        return f"SUM(CASE WHEN {column} THEN 1 ELSE 0 END)" if column == "valid" else f"SUM({column})"

    return f"SELECT COUNT(*) AS n, {', '.join(f'{taken(column)} AS {column}_' for column in columns)} FROM {table}"


def generated(args):
    """The dataset, generated if absent."""
    dataset = args.data / "dataset"
    if not (dataset / "manifest.json").exists():
        options = {"--ranks": args.ranks, "--dispatches": args.dispatches, "--regions": 2 * args.dispatches}
        options = [str(word) for option in options.items() for word in option]
        command = [args.generator, "--format", "dataset", "-o", str(args.data), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return dataset


def main():
    args = arguments()
    dataset = generated(args)
    stored = json.loads((dataset / "manifest.json").read_text())["processes"]
    rows = {table: sum(process["rows"].get(table, 0) for process in stored) for table in READ["launch_summary"]}
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="waiting-"))
    times = scratch / "statement_times"

    cases = []
    for question, tables in READ.items():
        scans = [scan(table, columns) for table, columns in tables.items()]
        read = sum(rows[table] for table in tables)
        ours = [[args.binary, "--quiet", "sql", sql, str(dataset), "-f", "csv"] for sql in scans]
        theirs = []
        for number, sql in enumerate(scans):
            path = scratch / f"{question}-{number}.sql"
            path.write_text(sql)
            theirs.append([args.python, str(PEER), str(dataset), str(path), str(os.cpu_count()), question, str(times)])
        peers = [f"scan for {question}", f"duckdb scan for {question}"]
        cases += [
            (question, read, peers, [[args.binary, "--quiet", "table", question, str(dataset), "-f", "csv"]]),
            (peers[0], read, [], ours),
            (peers[1], read, [], theirs),
        ]
    described = machine(args.binary, args.python)
    duckdb = first_line([args.python, "-c", "import duckdb; print(duckdb.__version__)"])

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        counts = ", ".join(f"{count} {table}" for table, count in rows.items())
        inputs = [
            f"Dataset: {counts}, {len(stored)} ranks; DuckDB {duckdb}. A scan reads the same columns in one statement for "
            "each table, each its own process. What is 0.2 times faster takes five times as long.",
        ]
        document = {"rows": rows, "duckdb": duckdb}
        write(args.output, "Waiting", described, inputs, document,
              results_of(cases, samples, warm_up, failures), samples, runs)

    try:
        failures = run_rounds(cases, args.runs, scratch, report, args.budget)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit("\n".join(failures.values()))


if __name__ == "__main__":
    main()
