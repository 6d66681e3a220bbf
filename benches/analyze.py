#!/usr/bin/env python3
"""Measures the guided analysis: beside TraceLens's work on the same file, beside converting the same database, and a report of many ranks.

  benches/analyze.py --binary target/release/wavesieve --json 908_results.json.gz --baseline baseline_tracelens.py \\
      --database 4100_results.db --dataset RANKS --python VENV/bin/python --runs 5 --output benches/results/NAME-analyze.json

Whatever input is left out is not measured. --python needs pandas; this script needs the standard library only. Whole processes
are measured, interleaved (A B A B) after one warm-up round.
"""
import argparse
import pathlib
import shutil
import sys
import tempfile

from harness import machine, results_of, run_rounds, write


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--baseline", type=pathlib.Path)
    parser.add_argument("--database", type=pathlib.Path)
    parser.add_argument("--dataset", type=pathlib.Path, help="a converted trace of many ranks")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--output", type=pathlib.Path, required=True)
    args = parser.parse_args()
    if not args.json and not args.database and not args.dataset:
        parser.error("nothing to measure: name --json, --database or --dataset")
    return args


def main():
    args = arguments()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="analyze-"))
    ours = [args.binary, "--quiet", "analyze"]
    cases, inputs = [], []
    if args.json:
        document = ["-f", "json", "-o", str(scratch / "908.json")]
        peers = ["TraceLens's work"] if args.baseline else []
        cases.append(("analyze JSON", 1, peers, [[*ours, str(args.json), *document]]))
        if args.baseline:
            peer = [args.python, str(args.baseline), str(args.json), str(scratch / "sheets")]
            cases.append((peers[0], 1, [], [peer]))
        inputs.append(f"JSON: {args.json.name}, {args.json.stat().st_size} bytes.")
    if args.database:
        document = ["-f", "json", "-o", str(scratch / "database.json")]
        peers = ["convert database"]
        cases.append(("analyze database", 1, peers, [[*ours, str(args.database), *document]]))
        dataset = str(scratch / "dataset")
        convert = [args.binary, "--quiet", "convert", str(args.database), "-o", dataset]
        cases.append((peers[0], 1, [], [["rm", "-rf", dataset], convert]))
        inputs.append(f"Database: {args.database.stat().st_size} bytes. Converting is what reads every table once.")
    if args.dataset:
        page = ["-f", "html", "-o", str(scratch / "ranks.html")]
        cases.append(("report of ranks", 1, [], [[args.binary, "--quiet", "report", str(args.dataset), *page]]))
        size = sum(file.stat().st_size for file in args.dataset.rglob("*") if file.is_file())
        inputs.append(f"Dataset of ranks: {size} bytes.")
    described = machine(args.binary, args.python)

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        results = results_of(cases, samples, warm_up, failures)
        write(args.output, "Guided analysis", described, inputs, {}, results, samples, runs)

    try:
        failures = run_rounds(cases, args.runs, scratch, report, args.budget)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit("\n".join(failures.values()))


if __name__ == "__main__":
    main()
