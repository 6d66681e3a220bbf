#!/usr/bin/env python3
"""Two builds of wavesieve beside each other, as after a change of profiles: programs.py --before OLD --binary NEW …

Every command runs with both in turn; the ratio is new to old, so that above 1 the new one is slower.
"""
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from harness import Failed, generating_parser, machine, measure, write_table

RANKS = 2
HEAD = ["command", "before s", "now s", "ratio", "ratio of each round"]


def cases(traces, json, scratch):
    """Commands without the program, by their names."""
    found = {
        "analyze": ["analyze", traces],
        "kernel_summary": ["table", "kernel_summary", traces],
        "idle_by_cause": ["table", "idle_by_cause", traces],
        "convert": ["convert", traces, "-o", scratch / "dataset"],
        "report": ["report", traces, "-o", scratch / "report.html"],
    }
    if json and json.exists():
        found["kernel_summary of JSON"] = ["table", "kernel_summary", json]
    return found


def main():
    parser = generating_parser(__doc__, "wavesieve-bench-programs", 7)
    parser.add_argument("--before", required=True, help="the older program")
    parser.add_argument("--dispatches", type=int, default=200_000, help=f"of each of {RANKS} ranks")
    parser.add_argument("--recorded", type=pathlib.Path, help="rocprofv3 JSON that was recorded")
    options = parser.parse_args()
    if not options.data.exists():
        subprocess.run([options.generator, "--ranks", str(RANKS), "--dispatches", str(options.dispatches), "--regions",
                        str(2 * options.dispatches), "--format", "rocpd", "-o", options.data], check=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for name, command in cases(options.data, options.recorded, scratch).items():
            seconds = {options.before: [], options.binary: []}
            for run in range(options.runs + 1):
                order = list(seconds) if run % 2 else list(reversed(seconds))
                for program in order:
                    shutil.rmtree(scratch / "dataset", ignore_errors=True)
                    try:
                        sample = measure([program, *command], scratch)
                    except Failed as error:
                        sys.exit(f"error: {error}")
                    if run:
                        seconds[program].append(sample["seconds"])
            before, now = seconds[options.before], seconds[options.binary]
            ratios = [new / old for old, new in zip(before, now)]
            medians = [statistics.median(taken) for taken in (before, now, ratios)]
            rows.append([name, *(f"{median:.3f}" for median in medians), f"{min(ratios):.2f} to {max(ratios):.2f}"])
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    note = (f"Medians of {options.runs} rounds after a warm-up, both programs in turn, over {RANKS} ranks of "
            f"{options.dispatches} dispatches. Programs: {pathlib.Path(options.before).stat().st_size} and "
            f"{pathlib.Path(options.binary).stat().st_size} bytes.")
    write_table(options.output, "Two programs", machine(options.binary), note, HEAD, rows)


if __name__ == "__main__":
    main()
