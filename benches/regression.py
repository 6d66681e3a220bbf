#!/usr/bin/env python3
"""Fails when `table kernel_summary` or `convert` takes much more time or memory than it did.

  benches/regression.py --binary target/release/wavesieve --generator target/release/examples/generate_trace

Times depend on the machine, so that none is compared with a time of another one: Python's sqlite3 reads the same rows in the
same run (regression_sqlite.py), a process of ours and one of the peer in turn, and the ratio of the medians must stay below a
bound of regression.toml. CPU seconds are compared, which another process changes less than wall time. Of memory it is judged how
much the peak grows with the database, from a quarter of the rows to all of them: most of a small peak is the program itself.
The answers are compared first: a program that does less is not faster.
"""
import argparse
import csv
import io
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib

from harness import Failed, measure

PEER = pathlib.Path(__file__).with_name("regression_sqlite.py")
BOUNDS = pathlib.Path(__file__).with_suffix(".toml")
# Columns of `kernel_summary` that both compute.
COLUMNS = ("calls", "total_ns", "median_ns", "min_ns", "max_ns")
FEWEST_RUNS = 5


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--generator", type=pathlib.Path, required=True)
    parser.add_argument("--profile", choices=["release", "debug"], help="whose bounds hold; by the directory of the program if absent")
    parser.add_argument("--runs", type=int, default=FEWEST_RUNS, help=f"measured runs of each process, at least {FEWEST_RUNS}")
    options = parser.parse_args()
    options.profile = options.profile or ("debug" if options.binary.resolve().parent.name == "debug" else "release")
    if options.runs < FEWEST_RUNS:
        parser.error(f"--runs {options.runs}: a median needs {FEWEST_RUNS}")
    return options


def generated(options, folder, dispatches, regions):
    """A database of so many rows."""
    traces = folder / f"traces-{dispatches}"
    command = [options.generator, "--ranks", 1, "--dispatches", dispatches, "--regions", regions, "-o", traces]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    [database] = traces.rglob("*.db")
    return database


def rows_of(command):
    """Rows of a CSV that a command prints, as numbers, sorted."""
    text = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    return sorted(tuple(float(row[name]) for name in row) for row in csv.DictReader(io.StringIO(text)))


def commands(options, database, dataset):
    """The two processes of each case: ours and the peer's."""
    peer = [sys.executable, PEER]
    summary = ["table", "kernel_summary", database, "-q", "-f", "csv", "--columns", ",".join(COLUMNS)]
    return {
        "kernel_summary": ([options.binary, *summary], [*peer, "kernel_summary", database]),
        "convert": ([options.binary, "convert", database, "-q", "-o", dataset], [*peer, "convert", database]),
    }


def assert_same_work(options, name, pair, dataset):
    """Ends the check when the program and the peer do not read the same."""
    ours, peer = pair
    if name == "kernel_summary":
        found = rows_of(ours)
    else:
        subprocess.run([str(word) for word in ours], check=True)
        count = "SELECT COUNT(*) AS n FROM {}"
        counts = ([options.binary, "sql", count.format(table), dataset, "-q", "-f", "csv"] for table in ("kernels", "regions"))
        found = [tuple(int(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[1]) for words in counts)]
    if not found or found != rows_of(peer):
        sys.exit(f"error: {name} differs from sqlite3: {found} and {rows_of(peer)}")


def samples(command, dataset, scratch, runs):
    """Measures a process so often, each time without the dataset that an earlier one wrote."""
    for _ in range(runs):
        shutil.rmtree(dataset, ignore_errors=True)
        yield measure([str(word) for word in command], scratch)


def cpu_ratio(options, pair, dataset, scratch):
    """Medians of the CPU seconds of both, in turn after a run of each that does not count, and our peak in bytes."""
    rounds = list(zip(*(samples(command, dataset, scratch, options.runs + 1) for command in pair)))[1:]
    ours, peer = (statistics.median(sample["cpu_seconds"] for sample in taken) for taken in zip(*rounds))
    return ours, peer, statistics.median(sample["peak_mb"] for sample, _ in rounds) * 2**20


def check_case(options, name, bounds, folder):
    """Measures a case; gives what exceeds its bounds."""
    dataset = folder / "dataset"
    few, whole = (generated(options, folder / name, bounds["dispatches"] // part, bounds["regions"] // part) for part in (4, 1))
    pair = commands(options, whole, dataset)[name]
    assert_same_work(options, name, pair, dataset)
    ours, peer, peak = cpu_ratio(options, pair, dataset, folder)
    small = samples(commands(options, few, dataset)[name][0], dataset, folder, FEWEST_RUNS)
    growth = peak - statistics.median(sample["peak_mb"] for sample in small) * 2**20
    print(f"{name} of {bounds['dispatches']} dispatches and {bounds['regions']} calls, {whole.stat().st_size / 2**20:.0f} MB: {ours:.2f} CPU s "
          f"beside {peer:.2f} of sqlite3; peak {peak / 2**20:.0f} MB, {growth / 2**20:.0f} more than of a quarter of the rows")
    found = {"cpu": ours / peer, "memory": growth / (whole.stat().st_size - few.stat().st_size)}
    for what, value in found.items():
        print(f"  {what} {value:.2f}, at most {bounds[what]:.2f}", flush=True)
    return [f"{name}: {what} {value:.2f} is more than {bounds[what]:.2f}" for what, value in found.items() if value > bounds[what]]


def main():
    options = arguments()
    bounds = tomllib.loads(BOUNDS.read_text()).get(options.profile)
    if not bounds:
        sys.exit(f"error: {BOUNDS.name} has no bounds of the profile {options.profile}")
    exceeded = []
    with tempfile.TemporaryDirectory(prefix="wavesieve-regression-") as folder:
        for name, case in bounds.items():
            try:
                exceeded += check_case(options, name, case, pathlib.Path(folder))
            except (Failed, subprocess.CalledProcessError) as error:
                sys.exit(f"error: {error}")
    for problem in exceeded:
        print(f"FAILED {problem}", file=sys.stderr)
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
