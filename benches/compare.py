#!/usr/bin/env python3
"""Measures `compare` beside reading its inputs, and beside what people do today.

  benches/compare.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --runs 5 --output benches/results/NAME-compare.json

Inputs are generated in --data unless they are there: two databases of --dispatches dispatches and two calls each that differ by their
seed, and two datasets of 64 ranks. `read both` answers kernel_summary and time_breakdown of both databases. The peers
(compare_peers.py) read both tables of kernels with sqlite3 into pandas and merge them by name, and run scipy's Mann-Whitney
test over them. --python needs pandas, pyarrow and scipy.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import generating_parser, machine, results_of, run_rounds, write

MERGE, RANKED = "pandas merge", "Mann-Whitney by scipy"


def arguments():
    parser = generating_parser(__doc__, "bench-compare", runs=5)
    parser.add_argument("--dispatches", type=int, default=2_000_000)
    parser.add_argument("--rank-dispatches", type=int, default=200_000)
    return parser.parse_args()


def generate(args):
    """Paths of both databases and both datasets."""
    made = []
    for seed in (1, 2):
        database, dataset = args.data / f"one{seed}", args.data / f"ranks{seed}"
        if not database.exists():
            recipe = ["--seed", seed, "--dispatches", args.dispatches, "--regions", 2 * args.dispatches, "-o", database]
            subprocess.run([str(word) for word in [args.generator, *recipe]], check=True, stdout=subprocess.DEVNULL)
        if not dataset.exists():
            traces = args.data / "traces"
            recipe = ["--seed", seed, "--ranks", 64, "--nodes", 8, "--dispatches", args.rank_dispatches, "--regions", 0, "-o", traces]
            subprocess.run([str(word) for word in [args.generator, *recipe]], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([args.binary, "-q", "convert", traces, "-o", dataset], check=True)
            shutil.rmtree(traces)
        made.append((database, dataset))
    return [[str(path) for path in paths] for paths in zip(*made)]


def main():
    args = arguments()
    (base, new), (base_ranks, new_ranks) = generate(args)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="compare-"))
    ours = [args.binary, "--quiet"]
    digests = [str(scratch / f"{side}.wsd") for side in ("base", "new")]
    for side, digest in zip((base_ranks, new_ranks), digests):
        subprocess.run([*ours, "compare", side, side, "--save", digest, "-f", "json"], check=True, stdout=subprocess.DEVNULL)
    peer = [args.python, str(pathlib.Path(__file__).with_name("compare_peers.py"))]
    compare = lambda *sides: [[*ours, "compare", *sides, "-f", "json"]]
    tables = str(scratch / "tables")
    read = lambda side: [["rm", "-rf", tables], [*ours, "table", "kernel_summary,time_breakdown", side, "-f", "csv", "-o", tables]]
    rows = 2 * args.dispatches
    cases = [
        ("compare databases", rows, ["read both", MERGE, RANKED], compare(base, new)),
        ("read both", rows, [], [*read(base), *read(new)]),
        (MERGE, rows, [], [[*peer, "merge", base, new]]),
        (RANKED, rows, [], [[*peer, "ranked", base, new]]),
        ("compare datasets", 2 * 64 * args.rank_dispatches, [], compare(base_ranks, new_ranks)),
        ("compare digests", 2 * 64 * args.rank_dispatches, [], compare(*digests)),
    ]
    sizes = [pathlib.Path(digest).stat().st_size for digest in digests]
    text = [f"Two databases of {args.dispatches} dispatches, two datasets of 64 ranks of {args.rank_dispatches}; digests of {sizes[0]} and {sizes[1]} bytes."]
    described = machine(args.binary, args.python)

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        results = results_of(cases, samples, warm_up, failures)
        write(args.output, "Comparing runs", described, text, {"digest_bytes": sizes}, results, samples, runs)

    try:
        failures = run_rounds(cases, args.runs, scratch, report, args.budget)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit("\n".join(failures.values()))


if __name__ == "__main__":
    main()
