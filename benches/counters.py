#!/usr/bin/env python3
"""Measures metrics over many counters, for two sizes, beside a plain scan of them and pandas.

  benches/counters.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --runs 3 --output benches/results/NAME-counters.json

--data DIR is where the datasets are made, unless they are there already: --dispatches kernels with 10 counters each, and a
quarter of that. --python needs pandas and pyarrow; this script needs the standard library only. Whole processes are
measured, interleaved (A B A B) after one warm-up round.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import generating_parser, machine, results_of, run_rounds, write

PEER = pathlib.Path(__file__).with_name("counters_pandas.py")
COUNTERS = 10


def arguments():
    parser = generating_parser(__doc__, "bench-counters", runs=3)
    parser.add_argument("--dispatches", type=int, default=2_000_000)
    return parser.parse_args()


def made(args, dispatches):
    """The dataset of so many dispatches with counters, made if absent."""
    folder = args.data / str(dispatches)
    dataset = folder / "dataset"
    if not (dataset / "manifest.json").exists():
        options = ["--dispatches", dispatches, "--counters", COUNTERS, "--counter-instances", 1]
        options += ["--regions", 0, "--copies", 0, "--allocations", 0, "-o", folder / "traces"]
        subprocess.run([args.generator, *map(str, options)], check=True, stdout=subprocess.DEVNULL)
        convert = [args.binary, "--quiet", "convert", str(folder / "traces"), "-o", str(dataset)]
        subprocess.run(convert, check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(folder / "traces")
    return dataset


def main():
    args = arguments()
    cases, counted = [], []
    for dispatches in (args.dispatches // 4, args.dispatches):
        dataset = str(made(args, dispatches))
        stored = json.loads((pathlib.Path(dataset) / "manifest.json").read_text())["processes"]
        rows = sum(process["rows"].get("counters", 0) for process in stored)
        counted.append(f"{rows} counters of {dispatches} dispatches")
        peers = [f"scan of {rows}", f"pandas of {rows}"]
        ours = [args.binary, "--quiet", "table"]
        cases += [
            (f"metrics of {rows}", rows, peers, [[*ours, "metrics", dataset, "-f", "csv"]]),
            (f"bottlenecks of {rows}", rows, peers, [[*ours, "bottlenecks", dataset, "-f", "csv"]]),
            (peers[0], rows, [], [[*ours, "counter_summary", dataset, "-f", "csv"]]),
            (peers[1], rows, [], [[args.python, str(PEER), dataset]]),
        ]
    described = machine(args.binary, args.python)
    inputs = [
        f"Datasets: {', '.join(counted)}. The scan is the query counter_summary, which sums every counter. What is 0.2 times "
        "faster takes five times as long.",
    ]

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        results = results_of(cases, samples, warm_up, failures)
        write(args.output, "Counters", described, inputs, {"datasets": counted}, results, samples, runs)

    scratch = pathlib.Path(tempfile.mkdtemp(prefix="counters-"))
    try:
        failures = run_rounds(cases, args.runs, scratch, report, args.budget)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit("\n".join(failures.values()))


if __name__ == "__main__":
    main()
