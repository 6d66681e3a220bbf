#!/usr/bin/env python3
"""Measures what a rank costs by itself: many databases with few rows, beside plain Python that sums up the same databases.

  benches/small_ranks.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --runs 5 --output benches/results/NAME-small-ranks.json

--ranks databases of --dispatches dispatches are generated in --data, unless they are there already. `busy by sqlite3`
(small_ranks_sqlite.py) answers what `busy` does with Python's sqlite3; both answers are compared before anything is measured.
Milliseconds per rank are wall and CPU time of a whole process, divided by the number of ranks.

--python needs pandas and pyarrow for their versions only, as in the other benchmarks.
"""
import csv
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import generating_parser, machine, results_of, run_rounds, write

PEER = "busy by sqlite3"
# Wall time per rank that is wanted, in milliseconds.
WANTED = {"info": 1.0, "busy": 1.0, "analyze": 5.0}


def arguments():
    parser = generating_parser(__doc__, "bench-small-ranks", runs=5)
    parser.add_argument("--ranks", type=int, default=500)
    parser.add_argument("--dispatches", type=int, default=60)
    parser.add_argument("--regions", type=int, default=120)
    return parser.parse_args()


def generate(args):
    """The databases, generated if absent."""
    if not args.data.exists():
        command = [args.generator, "--ranks", args.ranks, "--nodes", -(-args.ranks // 8), "--dispatches", args.dispatches]
        command += ["--regions", args.regions, "-o", args.data]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    found = list(args.data.rglob("*.db"))
    if len(found) != args.ranks:
        sys.exit(f"expected {args.ranks} databases in {args.data}, found {len(found)}; delete them to make new ones")
    return sum(path.stat().st_size for path in found)


def rows_of(command):
    """Busy time and span by process id and GPU of process, without an order."""
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return sorted((int(row["busy_ns"]), int(row["span_ns"])) for row in csv.DictReader(io.StringIO(text)))


def compare(ours, peer):
    """Ends the benchmark when the two answers differ: then they are not the same work."""
    ours, theirs = rows_of(ours), rows_of(peer)
    if ours != theirs:
        sys.exit(f"the answers differ: {len(ours)} and {len(theirs)} rows, {sum(x for x, _ in ours)} and {sum(x for x, _ in theirs)} ns")


def main():
    args = arguments()
    described = machine(args.binary, args.python)
    size = generate(args)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="small-ranks-"))
    ours = [args.binary, "--quiet"]
    peer = [args.python, str(pathlib.Path(__file__).with_name("small_ranks_sqlite.py")), str(args.data)]
    commands = {
        "info": ([*ours, "info", str(args.data), "-f", "json"], []),
        "busy": ([*ours, "table", "busy", str(args.data), "-f", "csv"], [PEER]),
        PEER: (peer, []),
        "analyze": ([*ours, "analyze", str(args.data), "-f", "json"], []),
    }
    compare(commands["busy"][0], peer)
    cases = [(name, args.ranks * args.dispatches, peers, [command]) for name, (command, peers) in commands.items()]

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        results = results_of(cases, samples, warm_up, failures)
        per_rank = {
            result["name"]: {key: 1_000 * result[f"{key}seconds"] / args.ranks for key in ("", "cpu_")}
            for result in results if "error" not in result
        }
        text = [f"{args.ranks} rocpd databases of {args.dispatches} dispatches and {args.regions} calls each, {size / 1e6:.1f} MB together."]
        for name, spent in per_rank.items():
            wanted = f", wanted: {WANTED[name]:.0f} ms of wall time" if name in WANTED else ""
            text.append(f"{name}: {spent['']:.2f} ms of wall and {spent['cpu_']:.2f} ms of CPU time a rank{wanted}.")
        document = {"milliseconds_per_rank": {name: {"wall": spent[""], "cpu": spent["cpu_"]} for name, spent in per_rank.items()}}
        write(args.output, "Many small ranks", described, text, {**document, "file_bytes": size}, results, samples, runs)

    try:
        failures = run_rounds(cases, args.runs, scratch, report, args.budget)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit("\n".join(failures.values()))


if __name__ == "__main__":
    main()
