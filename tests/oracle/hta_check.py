#!/usr/bin/env python3
"""Meta's Holistic Trace Analysis reads what `convert --to chrome-json` writes, and its figures are those of our queries.

HTA rounds times inwards to microseconds, so sums may differ by a microsecond for each slice. Traces of PyTorch are read by both as
they are; HTA leaves out the last step of the profiler, so that ours are asked for the steps before it (`--pytorch DIRECTORY WINDOW`).
"""

import argparse
import collections
import itertools
import json
import sys
import tempfile
import warnings
from pathlib import Path

from common import Tally, read_table, run_binary

warnings.filterwarnings("ignore")


def near(own, theirs, slices):
    """Whether a time in ns is that in us, but for rounding."""
    return abs(own / 1000 - theirs) <= slices + 1


def slices(binary, source, options):
    """Kernels and copies of each rank."""
    count = collections.Counter()
    for query, column in (("kernel_summary", "calls"), ("copy_summary", "copies")):
        for row in read_table(binary, query, source, ["--by", "rank", *options]):
            count[row["rank"]] += row[column]
    return count


def compare_times(tally, binary, source, analysis, options):
    """Compares the times of each rank."""
    ours = {row["rank"]: row for row in read_table(binary, "time_breakdown", source, ["--by", "rank", *options])}
    count = slices(binary, source, options)
    theirs = analysis.get_temporal_breakdown(visualize=False).to_dict("records")
    tally.check(f"{source} ranks", None if sorted(ours) == sorted(row["rank"] for row in theirs) and ours else (ours, theirs))
    for row in theirs:
        rank, own = row["rank"], ours[row["rank"]]
        busy = row["compute_time(us)"] + row["non_compute_time(us)"]
        print(f"{source} rank {rank}: busy {own['busy_ns'] / 1000:.0f} us, HTA {busy:.0f} us;"
              f" compute {own['compute_ns'] / 1000:.0f} us, HTA {row['compute_time(us)']:.0f} us")
        tally.check(f"{source} rank {rank} busy", None if near(own["busy_ns"], busy, count[rank]) else (own, row))
        tally.check(
            f"{source} rank {rank} compute",
            None if near(own["compute_ns"], row["compute_time(us)"], count[rank]) else (own, row),
        )


def compare_overlap(tally, binary, source, analysis):
    """Compares the share of the communication time of each rank that kernels hide."""
    ours = {row["rank"]: row for row in read_table(binary, "overlap", source, ["--by", "rank"])}
    count = slices(binary, source, [])
    collectives = collections.Counter()
    for row in read_table(binary, "kernel_by_category", source, ["--by", "rank"]):
        collectives[row["rank"]] += row["calls"] * (row["category"] == "communication")
    theirs = {row["rank"]: row["comp_comm_overlap_pctg"] for row in analysis.get_comm_comp_overlap(visualize=False).to_dict("records")}
    tally.check(f"{source} ranks that communicate", None if sorted(theirs) == sorted(ours) and ours else (ours, theirs))
    for rank, hidden in theirs.items():
        own = ours[rank]
        # A microsecond of each slice may be missing from what is hidden, and one of each collective from the whole.
        least, most = (100 * lost / (own["comm_ns"] / 1000) + 0.01 for lost in (collectives[rank], count[rank]))
        excess = own["comm_hidden_pct"] - hidden
        print(f"{source} rank {rank}: communication hidden {own['comm_hidden_pct']:.2f} %, HTA {hidden} %")
        tally.check(f"{source} rank {rank} hidden", None if -least <= excess <= most else (own, hidden, -least, most))


def queue_lengths(binary, source):
    """Changes of the number of launched kernels and copies that did not start yet, and the most at once, by rank and stream."""
    statement = """
        SELECT l.rank, k.stream_id, l.api_start_ns, l.start_ns FROM launches AS l
        JOIN {} AS k ON k.process = l.process AND k.{} = l.target_id WHERE l.kind = '{}'"""
    events = collections.defaultdict(list)
    for table, key, kind in (("kernels", "dispatch_id", "kernel"), ("memory_copies", "copy_id", "copy")):
        answer = run_binary(binary, ["sql", statement.format(table, key, kind), source, "-f", "json", "-q"])
        for row in json.loads(answer or "[]"):
            events[(row["rank"], row["stream_id"])] += [(row["api_start_ns"], 1), (row["start_ns"], -1)]
    return {
        stream: (len(changes), max(itertools.accumulate(change for _, change in sorted(changes))))
        for stream, changes in events.items()
    }


def compare_queues(tally, binary, source, analysis):
    """Compares how long the queue of each stream gets."""
    ours = queue_lengths(binary, source)
    ranks = sorted({rank for rank, _ in ours})
    summary = analysis.get_queue_length_summary(ranks=ranks)["queue_length"]
    theirs = {stream: (int(row["count"]), int(row["max"])) for stream, row in summary.iterrows()}
    tally.check(f"{source} queues", None if ours == theirs and ours else (ours, theirs))


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
            compare_overlap(tally, arguments.binary, source, analysis)
            compare_queues(tally, arguments.binary, source, analysis)
    for source, window in arguments.pytorch:
        if not Path(source).exists():
            print(f"skipped: {source} is absent")
            continue
        compare_times(tally, arguments.binary, Path(source), TraceAnalysis(trace_dir=source), ["--window", window])
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
