#!/usr/bin/env python3
"""Times and kernels of PyTorch traces are those of exact decimals: `time_breakdown` and `kernel_summary` beside plain Python.

Each event of a GPU is taken from the JSON as it was written, in microseconds with decimals, so that nothing is rounded on the way.
"""

import argparse
import collections
import gzip
import json
import re
import sys
from decimal import Decimal
from pathlib import Path

from common import Tally, answered, read_tables

CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset")
COMMUNICATION = re.compile("nccl|rccl|cross_device_reduce", re.IGNORECASE)
# More than this in a kernel is a duration that overflowed.
LONGEST_US = Decimal(10) ** 12


def events_of(path):
    """The events of GPUs, by device."""
    opened = gzip.open(path) if path.suffix == ".gz" else path.open("rb")
    with opened as file:
        events = json.loads(file.read(), parse_float=Decimal, parse_int=Decimal, strict=False)["traceEvents"]
    by_device = collections.defaultdict(list)
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in CATEGORIES and Decimal(event["dur"]) < LONGEST_US:
            by_device[str(event.get("args", {}).get("device", event.get("pid")))].append(event)
    return by_device


def covered_ns(*groups):
    """The time that any of the events takes."""
    total, reached = Decimal(0), None
    for start, end in sorted((Decimal(e["ts"]), Decimal(e["ts"]) + Decimal(e["dur"])) for group in groups for e in group):
        reached = start if reached is None else max(reached, start)
        total += max(end - reached, 0)
        reached = max(reached, end)
    return round(total * 1000)


def breakdown(events):
    """What `time_breakdown` states of a device."""
    copies = [event for event in events if event["cat"] == "gpu_memcpy"]
    comm = [event for event in events if event["cat"] == "kernel" and COMMUNICATION.search(event["name"])]
    others = {id(event) for event in copies + comm}
    compute = [event for event in events if id(event) not in others]
    starts = [Decimal(event["ts"]) for event in events]
    ends = [Decimal(event["ts"]) + Decimal(event["dur"]) for event in events]
    busy = covered_ns(events)
    span = round((max(ends) - min(starts)) * 1000)
    return {
        "span_ns": span, "busy_ns": busy, "idle_ns": span - busy,
        "compute_ns": covered_ns(compute), "comm_ns": covered_ns(comm), "copy_ns": covered_ns(copies),
        "exposed_comm_ns": covered_ns(compute, comm) - covered_ns(compute),
        "exposed_copy_ns": busy - covered_ns(compute, comm),
    }  # fmt: skip


def kernels(by_device):
    """Calls and total time of kernels and fills by name."""
    found = collections.defaultdict(lambda: [0, Decimal(0)])
    for events in by_device.values():
        for event in events:
            if event["cat"] != "gpu_memcpy":
                found[event["name"].strip()][0] += 1
                found[event["name"].strip()][1] += Decimal(event["dur"])
    return {name: (count, round(time * 1000)) for name, (count, time) in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", nargs="+", type=Path, required=True)
    arguments = parser.parse_args()
    tally = Tally()
    paths = []
    for source in arguments.inputs:
        paths += [source] if source.is_file() else sorted(path for path in source.rglob("*.json*") if path.is_file())
    for path in paths:
        by_device = events_of(path)
        exact = [breakdown(events) for events in by_device.values()]
        answers = read_tables(arguments.binary, ["time_breakdown", "kernel_summary"], path)
        own = [{key: row[key] for key in exact[0]} for row in answered(answers["time_breakdown"])]
        own, exact = (sorted(rows, key=lambda row: list(row.values())) for rows in (own, exact))
        tally.check(f"{path.name}: time_breakdown", None if own == exact else (own, exact))
        rows = answered(answers["kernel_summary"])
        ours = {row["kernel_name"]: (row["calls"], row["total_ns"]) for row in rows}
        theirs = kernels(by_device)
        differing = {name: (ours.get(name), theirs.get(name)) for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)}
        tally.check(f"{path.name}: kernel_summary", None if not differing else dict(list(differing.items())[:3]))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
