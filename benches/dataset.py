#!/usr/bin/env python3
"""Measures questions to a dataset of many kernels beside DuckDB over the same Parquet files.

  benches/dataset.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --runs 5 --output benches/results/NAME-dataset.json

--python needs duckdb, pandas and pyarrow; this script needs the standard library only. --data DIR is where the datasets
are generated, unless they are there already: `kernels` with --ranks times --dispatches kernels, and `many` with 64 ranks
of a thousand kernels. Whole processes are measured, interleaved (A B A B) after one warm-up round. DuckDB runs the
statements that `--show-sql` prints, with as many threads as there are cores; the time of its statement alone, without
the start of Python, is in the JSON. A Markdown table of the medians is written beside the JSON, under the same name.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from harness import first_line, generating_parser, machine, results_of, run_rounds, write

PEER = pathlib.Path(__file__).with_name("dataset_duckdb.py")
UNION = pathlib.Path(__file__).with_name("interval_union.sql")
QUICK = "kernel_name,category,calls,total_ns,mean_ns,std_ns,min_ns,max_ns,pct,cumulative_pct"


def arguments():
    parser = generating_parser(__doc__, "bench-dataset", runs=5)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--dispatches", type=int, default=6_250_000, help="kernels of each rank")
    return parser.parse_args()


def generate(args, name, *options):
    """A dataset below the data directory, generated if absent."""
    directory = args.data / name
    if not (directory / "dataset" / "manifest.json").exists():
        command = [args.generator, "--format", "dataset", "-o", str(directory), *map(str, options)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return directory / "dataset"


def without_segments(dataset, directory):
    """The same dataset, by links, but for the derived table of segments."""
    directory.mkdir()
    for entry in dataset.iterdir():
        if entry.name != "gpu_segments":
            (directory / entry.name).symlink_to(entry.resolve())
    return directory


def statement(args, scratch, name, *options):
    """The file of a query's statement."""
    sql = subprocess.run([args.binary, "table", *options, "--show-sql"], capture_output=True, text=True, check=True)
    path = scratch / f"{name}.sql"
    path.write_text(sql.stdout)
    return path


def main():
    args = arguments()
    dataset = generate(args, "kernels", "--ranks", args.ranks, "--dispatches", args.dispatches, "--regions", 0)
    many = generate(args, "many", "--ranks", 64, "--nodes", 8, "--dispatches", 1000)
    stored = json.loads((dataset / "manifest.json").read_text())["processes"]
    rows = {table: sum(process["rows"][table] for process in stored) for table in ("kernels", "gpu_segments")}
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="dataset-"))
    derived = without_segments(dataset, scratch / "derived")
    statement_times = scratch / "statement_times"

    def own(*words):
        return [args.binary, "--quiet", *words, "-f", "csv"]

    def peer(name, sql):
        return [args.python, str(PEER), str(dataset), str(sql), str(os.cpu_count()), name, str(statement_times)]

    summary = statement(args, scratch, "summary", "kernel_summary")
    quick = statement(args, scratch, "quick", "kernel_summary", "--columns", QUICK)
    breakdown = statement(args, scratch, "breakdown", "time_breakdown")
    kernels, data = rows["kernels"], str(dataset)
    cases = [
        ("kernel_summary", kernels, ["duckdb kernel_summary"], own("table", "kernel_summary", data)),
        ("duckdb kernel_summary", kernels, [], peer("kernel_summary", summary)),
        ("kernel_summary without median", kernels, ["duckdb kernel_summary without median"],
         own("table", "kernel_summary", "--columns", QUICK, data)),
        ("duckdb kernel_summary without median", kernels, [], peer("kernel_summary without median", quick)),
        ("time_breakdown", kernels, ["duckdb interval union", "duckdb time_breakdown"],
         own("table", "time_breakdown", data)),
        ("time_breakdown without stored segments", kernels, ["duckdb interval union"],
         own("table", "time_breakdown", str(derived))),
        ("duckdb time_breakdown", kernels, [], peer("time_breakdown", breakdown)),
        ("duckdb interval union", kernels, [], peer("interval union", UNION)),
        ("info of 64 ranks", 64, [], own("info", str(many))),
    ]
    described = machine(args.binary, args.python)
    duckdb = first_line([args.python, "-c", "import duckdb; print(duckdb.__version__)"])

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        taken = {}
        for line in statement_times.read_text().splitlines() if statement_times.exists() else []:
            name, seconds = line.split("\t")
            taken.setdefault(name, []).append(float(seconds))
        # The first of each is that of the warm-up round.
        alone = {name: statistics.median(seconds[1:] or seconds) for name, seconds in taken.items()}
        described_rows = ", ".join(f"{count} {table}" for table, count in rows.items())
        inputs = [
            f"Dataset: {described_rows}, {len(stored)} ranks; DuckDB {duckdb}.",
            "DuckDB's statements alone: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in alone.items()) + ".",
        ]
        write(args.output, "Dataset", described, inputs, {"rows": rows, "duckdb": duckdb, "statement_seconds": alone},
              results_of(cases, samples, warm_up, failures), samples, runs)

    try:
        failures = run_rounds([(*case, [command]) for *case, command in cases], args.runs, scratch, report, args.budget)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit("\n".join(failures.values()))


if __name__ == "__main__":
    main()
