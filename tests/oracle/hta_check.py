#!/usr/bin/env python3
"""Meta's Holistic Trace Analysis reads what `convert --to chrome-json` writes, and its figures are those of our queries.

HTA rounds times inwards to microseconds, so sums may differ by a microsecond for each slice. Traces of PyTorch are read by both as
they are; HTA leaves out the last step of the profiler, so that ours are asked for the steps before it (`--pytorch DIRECTORY WINDOW`).
"""

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

from common import Tally, read_table, run_binary

warnings.filterwarnings("ignore")


def near(own, theirs, slices):
    """Whether a time in ns is that in us, but for rounding."""
    return abs(own / 1000 - theirs) <= slices + 1


def compare_times(tally, binary, source, analysis, options):
    """Compares the times of each rank that both give."""
    ours = {row["rank"]: row for row in read_table(binary, "time_breakdown", source, ["--by", "rank", *options])}
    count = sum(row["calls"] for row in read_table(binary, "kernel_summary", source, options))
    theirs = analysis.get_temporal_breakdown(visualize=False)
    for row in theirs.to_dict("records"):
        own = ours[row["rank"]]
        busy = row["compute_time(us)"] + row["non_compute_time(us)"]
        print(f"{source} rank {row['rank']}: busy {own['busy_ns'] / 1000:.0f} us, HTA {busy:.0f} us;"
              f" compute {own['compute_ns'] / 1000:.0f} us, HTA {row['compute_time(us)']:.0f} us")
        tally.check(f"{source} rank {row['rank']} busy", None if near(own["busy_ns"], busy, count) else (own, row))
        tally.check(
            f"{source} rank {row['rank']} compute",
            None if near(own["compute_ns"], row["compute_time(us)"], count) else (own, row),
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", nargs="+", type=Path, required=True)
    parser.add_argument("--pytorch", nargs=2, metavar=("DIRECTORY", "WINDOW"), action="append", default=[])
    arguments = parser.parse_args()
    from hta.trace_analysis import TraceAnalysis

    tally = Tally()
    for source in arguments.inputs:
        with tempfile.TemporaryDirectory() as directory:
            traces = Path(directory) / "traces"
            run_binary(arguments.binary, ["convert", "-q", source, "--to", "chrome-json", "-o", traces])
            analysis = TraceAnalysis(trace_dir=str(traces))
            compare_times(tally, arguments.binary, source, analysis, [])
            overlap = analysis.get_comm_comp_overlap(visualize=False)
            comm = {row["rank"]: row for row in read_table(arguments.binary, "overlap", source, ["--by", "rank"])}
            for row in overlap.to_dict("records"):
                own = comm[row["rank"]]
                print(f"{source} rank {row['rank']}: communication hidden {own['comm_hidden_pct']:.2f} %,"
                      f" HTA {row['comp_comm_overlap_pctg']} %")
            queues = analysis.get_queue_length_summary()
            tally.check(f"{source} queues", None if queues is not None and len(queues) else "HTA finds no queue")
    for source, window in arguments.pytorch:
        if not Path(source).exists():
            print(f"skipped: {source} is absent")
            continue
        compare_times(tally, arguments.binary, Path(source), TraceAnalysis(trace_dir=source), ["--window", window])
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
