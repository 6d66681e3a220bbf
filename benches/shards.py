#!/usr/bin/env python3
"""Measures a conversion that several processes share: what a shard takes, what `--finish` takes, and what the dataset is like.

  benches/shards.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --output benches/results/NAME-shards.md

Two inputs are generated in --data, unless they are there already:

- `large`: --large-ranks databases of --dispatches dispatches. They are converted by one process and by 2 and 4 shards, each shard
  bound to one processor and alone on it, as on a node of its own. A shard of N has so many of the ranks.
- `small`: as many small databases as the largest of --ranks. Of each number of them, 8 shards are finished.

Each result is compared with that of one process, file by file, up to --compared ranks. The python runs DuckDB, and needs `duckdb`.
"""
import argparse
import concurrent.futures
import filecmp
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading

from harness import Failed, measure

DUCKDB = """
import duckdb, sys, time
folder, where = sys.argv[1:]
connection = duckdb.connect()
began = time.monotonic()
connection.execute(f"SELECT kernel_name, COUNT(*), SUM(duration_ns) FROM read_parquet('{folder}/kernels/*.parquet') {where} GROUP BY ALL").fetchall()
print(time.monotonic() - began)
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--generator", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "bench-shards")
    parser.add_argument("--ranks", type=lambda text: sorted(map(int, text.split(","))), default=[64, 1000, 10000])
    parser.add_argument("--large-ranks", type=int, default=8)
    parser.add_argument("--dispatches", type=int, default=500_000)
    parser.add_argument("--compared", type=int, default=10000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=1, help="how many shards of the small ranks run at the same time")
    parser.add_argument("--note", default="", help="a sentence about the binary, such as that it is a debug build")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    return parser.parse_args()


def generate(args, folder, ranks, dispatches):
    """Databases in folders of 8, generated if absent."""
    if not folder.exists():
        command = [args.generator, "--ranks", ranks, "--nodes", -(-ranks // 8), "--dispatches", dispatches]
        command += ["--regions", 2 * dispatches, "-o", folder]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    files = sorted(folder.rglob("*.db"), key=lambda path: (int(path.parent.name.removeprefix("node")), path.name))
    if len(files) < ranks:
        sys.exit(f"expected {ranks} databases in {folder}, found {len(files)}; delete it to make new ones")
    return files


def first(files, ranks, folder):
    """The first of the databases, as links in folders of their own."""
    if len(files) == ranks:
        return files[0].parent.parent
    shutil.rmtree(folder, ignore_errors=True)
    for file in files[:ranks]:
        place = folder / file.parent.name / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(file, place)
    return folder


class Converter:
    """Converts an input, in parts or as a whole."""

    def __init__(self, args, scratch):
        self.binary, self.scratch = str(args.binary), scratch

    def run(self, traces, output, *more, bound=True):
        command = [self.binary, "convert", str(traces), "-o", str(output), "-q", *more]
        # Each worker of a pool has a processor of its own.
        name = threading.current_thread().name
        processor = str(int(name.rpartition("_")[2]) % os.cpu_count() if "_" in name else 0)
        with tempfile.TemporaryDirectory(dir=self.scratch) as said:
            return measure(["taskset", "-c", processor, *command] if bound else command, pathlib.Path(said))

    def shards(self, traces, output, count, at_once=1):
        shutil.rmtree(output.with_name(f".wavesieve-shards-{output.name}"), ignore_errors=True)
        shutil.rmtree(output, ignore_errors=True)
        shares = [f"{number}/{count}" for number in range(1, count + 1)]
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(lambda share: self.run(traces, output, "--shard", share), shares))


def same(one, other):
    """Whether two folders have the same files with the same bytes."""
    def names(folder):
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())

    found = names(one)
    return found == names(other) and not any(filecmp.cmpfiles(one, other, found, shallow=False)[1:])


def seconds(runs, command):
    def once():
        with tempfile.TemporaryDirectory() as scratch:
            return measure([str(word) for word in command], pathlib.Path(scratch))["seconds"]

    return min(once() for _ in range(runs))


def duckdb_seconds(args, folder, where):
    def once():
        command = [args.python, "-c", DUCKDB, str(folder), where]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    try:
        return f"{min(once() for _ in range(args.runs)):.3f}"
    except subprocess.CalledProcessError as error:
        return error.stderr.strip().splitlines()[-1][:60]


def straight(points):
    """Slope and start of the straight line through points, and R²."""
    slope, start = statistics.linear_regression(*zip(*points))
    correlation = statistics.correlation(*zip(*points))
    return slope, start, correlation**2


def large(args, converter):
    """Shards of the large ranks; lines of a table."""
    traces = args.data / "large"
    files = generate(args, traces, args.large_ranks, args.dispatches)
    size = sum(file.stat().st_size for file in files) / 2**20
    one, output = args.data / "large-one", args.data / "large-shards"
    lines = [
        f"{args.large_ranks} ranks of {args.dispatches:,} dispatches and {2 * args.dispatches:,} calls each ({size:,.0f} MiB), every "
        "process on one processor.", "",
        "| | ranks a process | slowest, s | all, s | peak MB | anonymous MB | finish, s | finish, peak MB | as one process |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    shutil.rmtree(one, ignore_errors=True)
    whole = converter.run(traces, one)
    lines.append(f"| one process | {args.large_ranks} | {whole['seconds']:.1f} | {whole['seconds']:.1f} | {whole['peak_mb']:.0f} | "
                 f"{whole['anonymous_mb']:.0f} | | | |")
    for count in (1, 2, 4):
        shards = converter.shards(traces, output, count)
        finish = converter.run(traces, output, "--finish")
        equal = "to the byte" if same(one, output) else "**different**"
        lines.append(f"| {count} shards | {args.large_ranks / count:g} | {max(s['seconds'] for s in shards):.1f} | "
                     f"{sum(s['seconds'] for s in shards):.1f} | {max(s['peak_mb'] for s in shards):.0f} | "
                     f"{max(s['anonymous_mb'] for s in shards):.0f} | {finish['seconds']:.2f} | {finish['peak_mb']:.0f} | {equal} |")
        print(lines[-1], file=sys.stderr, flush=True)
    mebibytes = sum(path.stat().st_size for path in one.rglob("*") if path.is_file()) / 2**20
    lines += ["", f"The dataset has {mebibytes:,.1f} MiB."]
    for folder in (one, output):
        shutil.rmtree(folder)
    return lines


def small(args, converter):
    """Shards of many small ranks, put together; lines of tables."""
    files = generate(args, args.data / "small", args.ranks[-1], 60)
    finishes, datasets, points = [], [], []
    for ranks in args.ranks:
        traces = first(files, ranks, args.data / f"small-{ranks}")
        output, one = args.data / "small-shards", args.data / "small-one"
        shards = converter.shards(traces, output, 8, args.at_once)
        kept = sum(path.is_file() for path in output.with_name(f".wavesieve-shards-{output.name}").rglob("*"))
        finish = converter.run(traces, output, "--finish")
        equal = "not compared"
        if ranks <= args.compared:
            shutil.rmtree(one, ignore_errors=True)
            converter.run(traces, one, bound=False)
            equal = "to the byte" if same(one, output) else "**different**"
            shutil.rmtree(one)
        points.append((ranks, finish["seconds"], finish["cpu_seconds"], finish["peak_mb"]))
        finishes.append(
            f"| {ranks:,} | {max(s['seconds'] for s in shards):.1f} | {max(s['peak_mb'] for s in shards):.0f} | "
            f"{max(s['anonymous_mb'] for s in shards):.0f} | {kept} | "
            f"{finish['seconds']:.2f} | {finish['cpu_seconds']:.2f} | {finish['peak_mb']:.0f} | {finish['anonymous_mb']:.0f} | {equal} |")
        print(finishes[-1], file=sys.stderr, flush=True)
        there = [path for path in output.rglob("*") if path.is_file()]
        summary = [args.binary, "table", "kernel_summary", output, "-q", "-f", "csv"]
        cells = [
            f"{ranks:,}", str(len(there)), f"{sum(path.stat().st_size for path in there) / 2**20:.1f}",
            f"{(output / 'manifest.json').stat().st_size / 2**10:.0f}", f"{(output / '_processes.json.zst').stat().st_size / 2**10:.0f}",
            f"{seconds(args.runs, [args.binary, 'info', output, '-q']):.2f}", f"{seconds(args.runs, summary):.2f}",
            f"{seconds(args.runs, [*summary, '--rank', '17']):.2f}",
            duckdb_seconds(args, output, ""), duckdb_seconds(args, output, "WHERE rank = 17"),
        ]
        datasets.append("| " + " | ".join(cells) + " |")
        print(datasets[-1], file=sys.stderr, flush=True)
        shutil.rmtree(output)
    lines = [
        "60 dispatches and 120 calls a rank, 8 shards, every process on one processor.", "",
        "| ranks | slowest shard, s | peak MB | anonymous MB | files of the shards | finish, s | CPU s | peak MB | anonymous MB | as one process |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |", *finishes, "",
    ]
    if len(points) > 2:
        (wall, wall_start, wall_fit), (cpu, cpu_start, cpu_fit), (memory, least, memory_fit) = (
            straight([(point[0], point[place]) for point in points]) for place in (1, 2, 3))
        lines += [f"`--finish`: {1000 * wall:.2f} ms a rank and {wall_start:.2f} s for none, R² {wall_fit:.4f}; of CPU time {1000 * cpu:.2f} ms "
                  f"and {cpu_start:.2f} s, R² {cpu_fit:.4f}; {1000 * memory:.0f} kB a rank and {least:.0f} MB for none, R² {memory_fit:.4f}.", ""]
    lines += [
        "## The dataset", "",
        f"The least of {args.runs} runs, with warm caches.", "",
        "| ranks | files | MiB | manifest KiB | facts KiB | `info` s | `kernel_summary` s | `--rank 17` s | DuckDB s | DuckDB, rank 17 s |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", *datasets,
    ]
    return lines


def main():
    args = arguments()
    args.data.mkdir(parents=True, exist_ok=True)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="shards-"))
    converter = Converter(args, scratch)
    try:
        lines = [f"# Conversions in shards, {args.output.stem}", "", f"`benches/shards.py`, {os.cpu_count()} processors. {args.note}".strip(), "",
                 "## Shards", "", *large(args, converter), "", "## Finishing", "", *small(args, converter)]
    except Failed as error:
        sys.exit(str(error))
    finally:
        shutil.rmtree(scratch)
    args.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
