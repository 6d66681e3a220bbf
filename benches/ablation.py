#!/usr/bin/env python3
"""Measures what each optimization is worth: the same commands with all of them and without one, interleaved.

  benches/ablation.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --runs 7 --output benches/results/NAME-ablation.json

`WAVESIEVE_DISABLE` turns one off (crates/tables/src/ablation.rs lists them). Inputs are generated in --data unless they are there already: one
process of --dispatches dispatches (`analyze`), 8 ranks of a tenth of that each (`analyze`, queries about waiting), 64 ranks of a
twentieth (`report`), --ranks ranks of 60 dispatches (`info`, `analyze`, and `table copy_summary` over a dataset of them),
rocprofv3 JSON of one process (`table kernel_summary`), and a dataset of the one process and a small one, which is
brought up to date after the small one changed (`convert`). An optimization that changes no case by 10% of time or memory is not worth its code. Results are compared to the
byte: an optimization must not change any.

--python needs pandas and pyarrow for their versions only, as in the other benchmarks.
"""
import hashlib
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from harness import Failed, generating_parser, machine, measure, write_table

OPTIMIZATIONS = [
    "batch", "local", "grid", "sums", "groupings", "families", "evict", "deferred", "alone",
    "pages", "templates", "joined", "linked",
]
WAITING = ["idle_by_cause", "launch_summary", "rank_imbalance", "kernel_outliers"]
# Less than this share of time or memory in every case is not worth its code.
WORTH = 0.10
LEGEND = "Medians of {runs} interleaved runs after a warm-up. Ratios are to the run with all optimizations in the same round, with 95% intervals of their medians."


def arguments():
    parser = generating_parser(__doc__, "bench-ablation", runs=7)
    parser.add_argument("--dispatches", type=int, default=500_000)
    parser.add_argument("--ranks", type=int, default=100)
    return parser.parse_args()


def generate(args):
    """Directories with the inputs, by name."""
    recipes = {
        "one": ["--dispatches", args.dispatches, "--regions", 2 * args.dispatches],
        "eight": ["--ranks", 8, "--nodes", 2, "--dispatches", args.dispatches // 10, "--regions", args.dispatches // 5],
        "small": ["--ranks", args.ranks, "--nodes", -(-args.ranks // 8), "--dispatches", 60, "--regions", 120],
        "many": ["--ranks", 64, "--nodes", 8, "--dispatches", args.dispatches // 20, "--regions", 0],
        "json": ["--format", "json", "--dispatches", args.dispatches, "--regions", 2 * args.dispatches],
    }
    for name, recipe in recipes.items():
        place = args.data / name
        if not place.exists():
            command = [args.generator, *recipe, "-o", place]
            subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    places = {name: str(args.data / name) for name in recipes}
    places["dataset"] = dataset(args, "small-dataset", places["small"])
    both = args.data / "both"
    if not both.exists():
        both.mkdir()
        (both / "one").symlink_to(args.data / "one", target_is_directory=True)
        command = [args.generator, "--seed", 2, "--dispatches", 1000, "--regions", 1000, "-o", both / "other"]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    places["both"] = str(both)
    [places["changed"]] = map(str, (both / "other").rglob("*.db"))
    places["updated"] = dataset(args, "both-dataset", both, "--pack", "2")
    return places


def dataset(args, name, source, *options):
    """A dataset of an input."""
    place = args.data / name
    if not place.exists():
        subprocess.run([args.binary, "--quiet", "convert", str(source), "-o", str(place), *options], check=True)
    return str(place)


def main():
    args = arguments()
    inputs = generate(args)
    quiet = [args.binary, "--quiet"]
    cases = {
        "analyze, one process": [*quiet, "analyze", inputs["one"], "-f", "json"],
        "analyze, 8 ranks": [*quiet, "analyze", inputs["eight"], "-f", "json"],
        **{f"{query}, 8 ranks": [*quiet, "table", query, inputs["eight"], "-f", "csv"] for query in WAITING},
        "report, 64 ranks": [*quiet, "report", inputs["many"], "-f", "html", "-o", "-"],
        f"analyze, {args.ranks} small ranks": [*quiet, "analyze", inputs["small"], "-f", "json"],
        f"info, {args.ranks} small ranks": [*quiet, "info", inputs["small"]],
        "kernel_summary, JSON": [*quiet, "table", "kernel_summary", inputs["json"], "-f", "csv"],
        f"copy_summary, dataset of {args.ranks} ranks": [*quiet, "table", "copy_summary", inputs["dataset"], "-f", "csv"],
        "update of a dataset": [
            "sh", "-c", 'touch -- "$0" && exec "$@"', inputs["changed"],
            *quiet, "convert", inputs["both"], "-o", inputs["updated"], "--pack", "2",
        ],
    }
    written = {"update of a dataset": inputs["updated"]}
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ablation-"))
    samples, texts = {}, {}
    try:
        for run in range(args.runs + 1):
            for case, command in cases.items():
                for off in ["", *OPTIMIZATIONS]:
                    try:
                        sample = measure(["env", f"WAVESIEVE_DISABLE={off}", *command], scratch)
                    except Failed as failure:
                        sys.exit(f"{case} without {off or 'nothing'}: {failure}")
                    if run:
                        samples.setdefault((case, off), []).append(sample)
                    digest = digest_of(scratch / "stdout", *tables_of(written.get(case)))
                    if texts.setdefault(case, digest) != digest:
                        sys.exit(f"{case} without {off}: another result")
    finally:
        shutil.rmtree(scratch)
    rows = table(cases, samples)
    described = machine(args.binary, args.python)
    write_table(args.output, "Ablation", described, LEGEND.format(runs=args.runs), HEAD, rows)


def tables_of(dataset):
    """Files of a dataset, in order. What it notes of its inputs is left out: their times differ from run to run."""
    files = pathlib.Path(dataset).rglob("*") if dataset else []
    return sorted(file for file in files if file.is_file() and file.name != "_conversion.json")


def digest_of(*files):
    """One sum over names and contents."""
    sums = hashlib.sha256()
    for file in files:
        sums.update(file.name.encode())
        with open(file, "rb") as source:
            while part := source.read(1 << 20):
                sums.update(part)
    return sums.hexdigest()


HEAD = ["case", "without", "wall s", "CPU s", "anonymous MB", "wall", "CPU", "memory", "worth its code"]
MEASURES = ("seconds", "cpu_seconds", "anonymous_mb")


def table(cases, samples):
    """A row for each case and optimization: medians, and ratios to the run with all of them in the same round, with intervals."""
    rows = []
    for case in cases:
        for off in ["", *OPTIMIZATIONS]:
            own, base = samples[case, off], samples[case, ""]
            medians = [statistics.median(sample[name] for sample in own) for name in MEASURES]
            ratios = [interval([one[name] / max(all_[name], 1e-9) for one, all_ in zip(own, base)]) for name in MEASURES]
            shown = [f"{middle:.2f} ({low:.2f} to {high:.2f})" if off else "" for middle, low, high in ratios]
            rows.append([case, off or "nothing", *(f"{value:.3f}" for value in medians[:2]), f"{medians[2]:.0f}", *shown, verdict(ratios) if off else ""])
    return rows


def verdict(ratios):
    """Whether an optimization is worth its code, as far as the intervals tell it."""
    if any(low >= 1 + WORTH for _, low, _ in ratios):
        return "yes"
    return "no" if all(high < 1 + WORTH for _, _, high in ratios) else "open"


def interval(values):
    """The median, and the ends between which 95% of the medians of resampled values lie."""
    draws = random.Random(20)
    medians = sorted(statistics.median(draws.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), medians[50], medians[-51]


if __name__ == "__main__":
    main()
