#!/usr/bin/env python3
"""Measures how time and memory grow with the number of ranks: a straight line, and no growth, are what is wanted.

  benches/ranks.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --runs 3 --output benches/results/NAME-ranks.json

As many rocpd databases as the largest of --ranks are generated in --data, unless they are there already; a case reads the
first so many of them. `convert` writes a new dataset every time, `kernel_summary` reads the databases, `kernel_summary of
the dataset` what was converted before. For each of the three a line is fitted to the medians by least squares: seconds
per rank, seconds for no rank, the share of the variance that the line explains (R²) and the largest distance of a point
from it; beside it, how much more memory the largest case took than the smallest.

--python is only asked for versions and needs pandas and pyarrow, as in the other benchmarks.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import generating_parser, machine, results_of, run_rounds, write

KINDS = ["convert", "kernel_summary", "kernel_summary of the dataset"]


def arguments():
    parser = generating_parser(__doc__, "bench-ranks", runs=3)
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 16, 32, 64])
    parser.add_argument("--dispatches", type=int, default=200_000)
    parser.add_argument("--regions", type=int, default=0)
    parser.add_argument("--memory-limit", help="handed on to wavesieve")
    parser.add_argument("--timeout", type=float, default=1_800)
    return parser.parse_args()


def natural(path):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]


def generate(args):
    """The databases in natural order, generated if absent."""
    found = sorted(args.data.rglob("*.db"), key=natural)
    if not found:
        args.data.mkdir(parents=True, exist_ok=True)
        ranks = max(args.ranks)
        command = [args.generator, "--ranks", str(ranks), "--nodes", str(max(1, ranks // 8))]
        command += ["--dispatches", str(args.dispatches), "--regions", str(args.regions), "-o", str(args.data)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = sorted(args.data.rglob("*.db"), key=natural)
    if len(found) < max(args.ranks):
        sys.exit(f"expected {max(args.ranks)} databases in {args.data}, found {len(found)}; delete them to make new ones")
    return found


def cases_of(args, files, scratch):
    """name, rows, names of the peers, commands; the order is the order of measuring."""
    own = [args.binary, "--quiet", *(["--memory-limit", args.memory_limit] if args.memory_limit else [])]
    summary = [*own, "table", "kernel_summary", "-f", "csv"]
    cases = []
    for ranks in args.ranks:
        inputs, rows = [str(path) for path in files[:ranks]], ranks * args.dispatches
        dataset = str(scratch / f"dataset-{ranks}")
        commands = [[*own, "convert", *inputs, "-o", dataset, "--overwrite"], [*summary, *inputs], [*summary, dataset]]
        cases += [(f"{kind}, {ranks} ranks", rows, [], [command]) for kind, command in zip(KINDS, commands)]
    return cases


def fit(points):
    """The line of least squares through (ranks, seconds), and how far the points are from it."""
    count = len(points)
    mean_x, mean_y = (sum(values) / count for values in zip(*points))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    start = mean_y - slope * mean_x
    distances = [y - (start + slope * x) for x, y in points]
    variance = sum((y - mean_y) ** 2 for _, y in points)
    return {
        "seconds_per_rank": slope,
        "seconds_for_none": start,
        "r_squared": 1 - sum(d * d for d in distances) / variance if variance else 1.0,
        "largest_distance_seconds": max(map(abs, distances)),
    }


def lines_of(args, results):
    """The fit of each kind over wall and CPU seconds, and how its memory grows."""
    by_name = {result["name"]: result for result in results if "error" not in result}
    lines = {}
    for kind in KINDS:
        measured = [(ranks, by_name[name]) for ranks in args.ranks if (name := f"{kind}, {ranks} ranks") in by_name]
        if len(measured) < 3:
            continue
        memory = [result["peak_mb"] for _, result in measured]
        lines[kind] = {
            "wall": fit([(ranks, result["seconds"]) for ranks, result in measured]),
            "cpu": fit([(ranks, result["cpu_seconds"]) for ranks, result in measured]),
            "peak_mb": dict(zip((str(ranks) for ranks, _ in measured), memory)),
            "memory_of_most_to_fewest_ranks": memory[-1] / memory[0],
        }
    return lines


def main():
    args = arguments()
    described = machine(args.binary, args.python)
    files = generate(args)
    sizes = sum(path.stat().st_size for path in files[:max(args.ranks)])
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ranks-"))
    cases = cases_of(args, files, scratch)

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        results = results_of(cases, samples, warm_up, failures)
        lines = lines_of(args, results)
        text = [f"{max(args.ranks)} rocpd databases of {args.dispatches} dispatches and {args.regions} calls each, "
                f"{sizes / 1e6:.1f} MB together."]
        text += [
            f"{kind}: {line['wall']['seconds_per_rank']:.3f} s per rank and {line['wall']['seconds_for_none']:.2f} s for "
            f"none, R² {line['wall']['r_squared']:.4f} (CPU {line['cpu']['r_squared']:.4f}), no point further than "
            f"{line['wall']['largest_distance_seconds']:.2f} s from the line; peak memory of the most ranks "
            f"{line['memory_of_most_to_fewest_ranks']:.2f} times that of the fewest."
            for kind, line in lines.items()
        ]
        write(args.output, "Many ranks", described, text, {"lines": lines, "file_bytes": sizes}, results, samples, runs)

    try:
        failures = run_rounds(cases, args.runs, scratch, report, args.budget, args.timeout)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit(f"{len(failures)} of {len(cases)} cases failed")


if __name__ == "__main__":
    main()
