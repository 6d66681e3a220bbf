"""Compares the layouts of datasets: the same ranks with a file for each table and rank (layout 1), and with shared files (layout 2).

Usage: layouts.py BINARY LAYOUT_1 LAYOUT_2 [--rank N] [--runs N]

Layout 1 is written by a version before layout 2. Prints a table of files, bytes and seconds; each time is the least of some runs, with
warm caches. Readers of layout 1 get the options that it needs.
"""

import argparse
import json
import os
import subprocess
import time
from pathlib import Path

import duckdb
import pandas
import pyarrow.dataset

SUMMARY = "SELECT kernel_name, COUNT(*) AS calls, SUM(duration_ns) AS total_ns FROM kernels GROUP BY kernel_name ORDER BY 1"


def least(runs, work):
    """Seconds of the fastest run, and what it gave."""
    seconds = []
    for _ in range(runs):
        began = time.monotonic()
        result = work()
        seconds.append(time.monotonic() - began)
    return min(seconds), result


def program(binary, *words):
    return lambda: subprocess.run([binary, *words], check=True, capture_output=True).stdout


def of_pandas(folder, layout):
    options = {"partitioning": None} if layout == 1 else {}
    return lambda: int(pandas.read_parquet(folder / "kernels", columns=["rank", "duration_ns"], **options)["duration_ns"].sum())


def of_pyarrow(folder, layout, rank):
    field = pyarrow.dataset.field
    dataset = lambda: pyarrow.dataset.dataset(folder / "kernels")  # noqa: E731
    return lambda: dataset().to_table(columns=["duration_ns"], filter=field("rank") == rank).num_rows


def of_duckdb(folder, layout, sql):
    files = "*/*.parquet" if layout == 1 else "*.parquet"
    hive = ", hive_partitioning = false" if layout == 1 else ""

    def work():
        connection = duckdb.connect()
        connection.execute(f"CREATE VIEW kernels AS SELECT * FROM read_parquet('{folder}/kernels/{files}'{hive})")
        return connection.execute(sql).fetchall()

    return work


def measured(binary, folder, layout, rank, runs):
    files = [path for path in folder.rglob("*") if path.is_file()]
    rows = {
        "files": len(files),
        "MiB": sum(path.stat().st_size for path in files) / 2**20,
        "manifest KiB": (folder / "manifest.json").stat().st_size / 2**10,
    }
    results = {}
    for name, work in {
        "info s": program(binary, "info", folder),
        "kernel_summary s": program(binary, "table", "kernel_summary", folder, "-f", "csv"),
        f"kernel_summary --rank {rank} s": program(binary, "table", "kernel_summary", folder, "--rank", str(rank), "-f", "csv"),
        "pandas, two columns s": of_pandas(folder, layout),
        f"pyarrow, rank {rank} s": of_pyarrow(folder, layout, rank),
        "DuckDB, summary s": of_duckdb(folder, layout, SUMMARY),
        f"DuckDB, rank {rank} s": of_duckdb(folder, layout, f"SELECT SUM(duration_ns) FROM kernels WHERE rank = {rank}"),
    }.items():
        try:
            rows[name], results[name] = least(runs, work)
        except Exception as error:  # what a reader cannot do is a result too
            rows[name] = str(error).splitlines()[0][:60]
    return rows, results


def shown(value):
    return value if isinstance(value, str) else f"{value:.3f}" if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("one", type=Path)
    parser.add_argument("two", type=Path)
    parser.add_argument("--rank", type=int, default=17)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    processes = len(json.loads((arguments.two / "manifest.json").read_text())["processes"])
    one, answers = measured(arguments.binary, arguments.one, 1, arguments.rank, arguments.runs)
    two, others = measured(arguments.binary, arguments.two, 2, arguments.rank, arguments.runs)
    print(f"{processes} ranks, {os.cpu_count()} processors\n")
    print("| | layout 1 | layout 2 | ratio |\n| --- | ---: | ---: | ---: |")
    for name, value in one.items():
        numbers = not isinstance(value, str) and not isinstance(two[name], str)
        ratio = f"{value / two[name]:.1f}" if numbers and two[name] else ""
        print(f"| {name} | {shown(value)} | {shown(two[name])} | {ratio} |")
    for name, answer in answers.items():
        if name.startswith("info"):
            continue  # it names the folder
        assert answer == others.get(name, answer), f"{name}: the layouts give other answers"


if __name__ == "__main__":
    main()
