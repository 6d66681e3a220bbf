#!/usr/bin/env python3
"""Measures what the Python package adds to the program, to polars and to Arrow.

  WAVESIEVE_BINARY=target/release/wavesieve VENV/bin/python benches/python_package.py \\
      --trace TRACE --dataset DATASET --database DATABASE --runs 7 > NAME-python.md

VENV needs what tests/requirements.txt lists; the package is that of this repository. Cases of a group are
interleaved (A B A B) after one warm-up round, all with warm files. A Markdown table of medians is printed:

- `kernel_summary` of TRACE from Python, beside the program alone with the same arguments (at most 60 ms more)
- two columns of `kernels` of DATASET by `scan`, beside `polars.scan_parquet` over the same files (at most 1.2 times);
  the first scan of a process, which compares the ends of the files with the manifest, is a line of its own
- all of `kernels` of DATABASE as Arrow, in rows per second (at least 1.5 million), and how much memory that takes beside
  the result itself
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import polars as pl  # noqa: E402
import pyarrow  # noqa: E402

import wavesieve  # noqa: E402
from wavesieve.dataset import Dataset, _hash_from  # noqa: E402

COLUMNS = ["rank", "duration_ns"]
MB = 1e6


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", default=str(ROOT / "fixtures/two_nodes"))
    parser.add_argument("--dataset", required=True, help="what `wavesieve convert` wrote")
    parser.add_argument("--database", default=str(ROOT / "fixtures/two_nodes/node0/4100_results.db"))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    return parser.parse_args()


def medians(cases, runs):
    """Median seconds of each case, interleaved, after a warm-up round. Each round starts with another case."""
    samples = {name: [] for name in cases}
    for number in range(runs + 1):
        start = number % len(cases)
        for name, case in [*cases.items()][start:] + [*cases.items()][:start]:
            began = time.perf_counter()
            case()
            if number:
                samples[name].append(time.perf_counter() - began)
    return {name: statistics.median(seconds) for name, seconds in samples.items()}


def program(words):
    """Runs the program alone; its result goes to a pipe and is dropped."""
    command = [wavesieve.find_program(), "--color=never", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as running:
        while running.stdout.read(1 << 20):
            pass
    if running.returncode:
        sys.exit(f"{' '.join(command)}: exit code {running.returncode}")


def files_of(dataset):
    found = Dataset.at(dataset)
    files = found.files("kernels") if found and found.is_intact() else []
    if not files:
        sys.exit(f"{dataset} is not a dataset that can be scanned in place")
    return files


def extra_memory(args):
    """Peak and result of `t["kernels"].to_polars()` in a process of its own, in MB above the process before."""
    command = [sys.executable, __file__, "--dataset", args.dataset, "--memory-of", args.database]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def print_memory(database):
    stream = wavesieve.open(database)["kernels"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    frame = stream.to_polars()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print((after - before) / MB, frame.estimated_size() / MB)


def main():
    args = arguments()
    if args.memory_of:
        print_memory(args.memory_of)
        return
    # A child inherits the peak of its parent: this comes first.
    extra, result = extra_memory(args)
    trace, dataset = wavesieve.open(args.trace), wavesieve.open(args.dataset)
    kernels = wavesieve.open(args.database)["kernels"]
    files = files_of(args.dataset)
    words = ["--format=arrow", "--time-unit=ns", "--output=-", "--"]

    def first_scan():
        _hash_from.cache_clear()
        dataset.scan("kernels").select(COLUMNS).collect()

    summary = medians(
        {
            "program": lambda: program(["table", "kernel_summary", *words, args.trace]),
            "package": lambda: trace.table("kernel_summary"),
        },
        args.runs,
    )
    scans = medians(
        {
            "polars": lambda: pl.scan_parquet(files, hive_partitioning=False).select(COLUMNS).collect(),
            "package": lambda: dataset.scan("kernels").select(COLUMNS).collect(),
            "first": first_scan,
            "scan": lambda: dataset.scan("kernels"),
        },
        args.runs,
    )
    streams = medians(
        {
            "program": lambda: program(["sql", *words[:-1], "--", "SELECT * FROM kernels", args.database]),
            "pyarrow": lambda: pyarrow.table(kernels),
            "polars": kernels.to_polars,
        },
        args.runs,
    )
    scanned = pl.scan_parquet(files, hive_partitioning=False).select(pl.len()).collect().item()
    rows = pyarrow.table(kernels).num_rows

    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, polars {pl.__version__}, pyarrow {pyarrow.__version__}\n")
    print("| case | rows | median | compared with | wanted |")
    print("| --- | ---: | ---: | --- | --- |")
    more = (summary["package"] - summary["program"]) * 1e3
    print(f"| `table kernel_summary`, the program alone | | {summary['program'] * 1e3:.1f} ms | | |")
    print(f"| `t.table(\"kernel_summary\")` | | {summary['package'] * 1e3:.1f} ms | {more:+.1f} ms | ≤ +60 ms |")
    print(f"| `polars.scan_parquet`, two columns | {scanned:,} | {scans['polars'] * 1e3:.1f} ms | | |")
    for name, title, wanted in (
        ("package", '`t.scan("kernels")`, the same', "≤ 1.2x"),
        ("first", "the same, first scan of a process", ""),
    ):
        ratio = scans[name] / scans["polars"]
        print(f"| {title} | {scanned:,} | {scans[name] * 1e3:.1f} ms | {ratio:.2f}x | {wanted} |")
    print(f"| of it `scan` itself: settings, manifest, sizes of files | | {scans['scan'] * 1e3:.1f} ms | | |")
    for name, title, wanted in (
        ("program", "`sql \"SELECT * FROM kernels\"`, the program alone", ""),
        ("pyarrow", '`pyarrow.table(t["kernels"])`', "≥ 1.5 M rows/s"),
        ("polars", '`t["kernels"].to_polars()`', "≥ 1.5 M rows/s"),
    ):
        speed = rows / streams[name] / 1e6
        print(f"| {title} | {rows:,} | {streams[name] * 1e3:.1f} ms | {speed:.2f} M rows/s | {wanted} |")
    print(f"\n`to_polars()` took {extra:.0f} MB at its peak for a result of {result:.0f} MB.")


if __name__ == "__main__":
    main()
