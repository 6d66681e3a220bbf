"""Named queries over one dataset: local, on Ballista with one and two executors, and in DuckDB.

  benches/ballista.py --programs target/release --generator target/release/examples/generate_trace --python VENV/bin/python \\
      --dispatches 1000000 --ranks 4 --output benches/results/DATE-ballista.md

PYTHON has DuckDB; without it that column stays empty. All processes share one machine, so that a second executor adds threads only
where cores are idle. The median of --runs whole processes, in seconds.
"""
import argparse
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "cluster"))
from cluster import Cluster  # noqa: E402

QUERIES = ["kernel_summary", "api_summary", "time_breakdown", "idle_by_cause", "kernel_pace", "stragglers"]


def timed(command, runs, environment=None):
    """The median time of a command, or why it failed."""
    times = []
    for _ in range(runs):
        start = time.monotonic()
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                              env={**os.environ, **(environment or {})})
        times.append(time.monotonic() - start)
        if done.returncode not in (0, 5):
            return "failed: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:80].replace("|", "/")
    return f"{statistics.median(times):.2f}"


def rows_of(dataset):
    """Rows of the tables of a dataset, by its manifest."""
    counts = re.findall(r'"rows":\[([0-9,]+)\]', (dataset / "manifest.json").read_text())
    return sum(int(count) for listed in counts for count in listed.split(","))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--generator", type=pathlib.Path)
    parser.add_argument("--dataset", type=pathlib.Path, help="an existing dataset in place of a generated one")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--dispatches", type=int, default=100_000, help="per rank")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--vcores", type=int, default=2, help="of each executor")
    parser.add_argument("--build", default="release", help="how the programs were built")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    binary, client = arguments.programs / "wavesieve", arguments.programs / "wavesieve-ballista"
    results = {query: {} for query in QUERIES}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        dataset = arguments.dataset or folder / "dataset"
        if not arguments.dataset:
            subprocess.run([arguments.generator, "--ranks", str(arguments.ranks), "--dispatches", str(arguments.dispatches),
                            "--regions", str(2 * arguments.dispatches), "-o", folder / "traces"], check=True)
            subprocess.run([binary, "convert", folder / "traces", "-o", dataset, "--with", "all"], check=True)
        has_duckdb = subprocess.run([arguments.python, "-c", "import duckdb"], capture_output=True, check=False).returncode == 0
        for query in QUERIES:
            table = [binary, "table", query, dataset, "-f", "csv", "-o", folder / "out.csv"]
            results[query]["local"] = timed(table, arguments.runs)
            statement = folder / "statement.sql"
            statement.write_text(subprocess.run([binary, "table", query, "--show-sql"], capture_output=True, text=True, check=True).stdout)
            duckdb = [arguments.python, REPOSITORY / "benches/dataset_duckdb.py", dataset, statement, os.cpu_count(), query, folder / "times"]
            results[query]["DuckDB"] = timed(duckdb, arguments.runs) if has_duckdb else "-"
        for executors in (1, 2):
            with Cluster(client, executors, arguments.vcores) as cluster:
                for query in QUERIES:
                    table = [binary, "table", query, dataset, "-f", "csv", "-o", folder / "out.csv", "--engine", cluster.address]
                    results[query][f"{executors} executor{'s' * (executors > 1)}"] = timed(
                        table, arguments.runs, {"WAVESIEVE_BALLISTA": str(client.resolve())})
        rows, size = rows_of(dataset), sum(path.stat().st_size for path in dataset.rglob("*.parquet"))
    columns = ["local", "1 executor", "2 executors", "DuckDB"]
    lines = ["# Queries on Ballista beside local polars and DuckDB", "",
             f"`benches/ballista.py` over {rows:,} rows of all tables ({size / 1e6:.0f} MB of Parquet), {os.cpu_count()} cores of {platform.machine()},",
             f"{arguments.build} builds, executors with {arguments.vcores} threads each on the same machine. Seconds of whole processes, median of {arguments.runs}.", "",
             f"| query | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    lines += [f"| `{query}` | {' | '.join(results[query][column] for column in columns)} |" for query in QUERIES]
    arguments.output.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
