#!/usr/bin/env python3
"""Reads time lines with the readers of others, and compares what they count with the databases.

Perfetto's own messages (PyPI `perfetto`) read pftrace files, Debian's `otf2-print` and Python's `otf2` read archives. What they are
compared with are sums over the base tables by Python's sqlite3.
"""

import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from captures import open_processes, whole
from common import Tally, database_files, run_binary
from derived_check import Source
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos


# Flows that a viewer is given of one call.
MOST_FLOWS = 64

# Python's reader of archives comes with Debian's python, and no other.
OTF2 = """
import collections, json, sys, otf2
found = collections.defaultdict(lambda: [0, 0])
metrics = 0
with otf2.reader.open(sys.argv[1]) as trace:
    open_regions = collections.defaultdict(list)
    for location, event in trace.events:
        if isinstance(event, otf2.events.Enter):
            open_regions[location].append((event.region, event.time))
        elif isinstance(event, otf2.events.Leave):
            region, start = open_regions[location].pop()
            assert region == event.region
            entry = found[region.description]
            entry[0] += 1
            entry[1] += event.time - start
        elif isinstance(event, otf2.events.Metric):
            metrics += 1
    assert not any(open_regions.values())
print(json.dumps({"slices": found, "metrics": metrics, "locations": len(trace.definitions.locations)}))
"""


def expected(source):
    """Rows and sums of lengths by category, from the base tables."""
    sums = {"kernel_dispatch": [0, 0], "memory_copy": [0, 0], "hip_api": [0, 0]}
    for process in (process for path in database_files(source) for process in open_processes(path)):
        for base in ("kernel_dispatch", "memory_copy"):
            for row in process.rows(base):
                add_row(sums[base], row)
        for row in process.rows("region"):
            event = process.keyed("event").get(row["event_id"], {})
            if "HIP" in (process.string(event.get("category_id")) or "").upper():
                add_row(sums["hip_api"], row)
    return sums


def expected_flows(source):
    """How many kernels and copies start when the call that launched them did, or later; those of one call up to a limit."""
    flows = 0
    for process in (process for path in database_files(source) for process in open_processes(path)):
        launched, own = collections.Counter(), Source(process)
        for work in own.kernels + own.copies:
            call = own.by_id.get(work["id"])
            launched[work["id"]] += bool(call and work["start"] >= call["start"])
        flows += sum(min(count, MOST_FLOWS) for count in launched.values())
    return flows


def flow_problem(flows, wanted):
    """What is wrong with the flows of a file: each starts once and ends once, and there are as many as the database has."""
    starts, ends = flows
    if starts != ends:
        return "a flow has one end"
    if any(count != 1 for count in starts.values()):
        return "a flow starts more than once"
    return None if len(starts) == wanted else f"{len(starts)} flows in the file, {wanted} in the database"


def add_row(to, row):
    """A row without a start is in no time line, and one that ends before it starts has no length."""
    start, end = whole(row["start"]), whole(row["end"])
    if (start or 0) > 0:
        add(to, (1, max((start if end is None else end) - start, 0)))


def add(to, values):
    to[0] += values[0]
    to[1] += values[1]


def perfetto(path):
    """Rows and sums of lengths by category, and ends of flows, as the messages of Perfetto say."""
    trace = protos.Trace()
    trace.ParseFromString(path.read_bytes())
    found = collections.defaultdict(lambda: [0, 0])
    flows = [collections.Counter(), collections.Counter()]
    times, names, stacks = collections.defaultdict(int), collections.defaultdict(dict), collections.defaultdict(list)
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        for entry in packet.interned_data.event_categories:
            names[sequence][entry.iid] = entry.name
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        shared = packet.timestamp_clock_id == 6
        times[sequence] = packet.timestamp if shared else times[sequence] + packet.timestamp
        track = event.track_uuid if shared else sequence
        flows[0].update(event.flow_ids)
        flows[1].update(event.terminating_flow_ids)
        if event.type == event.TYPE_SLICE_BEGIN:
            category = event.categories[0] if shared else names[sequence][event.category_iids[0]]
            stacks[track].append((category, times[sequence]))
        elif event.type == event.TYPE_SLICE_END:
            category, start = stacks[track].pop()
            add(found[category], (1, times[sequence] - start))
    assert not any(stacks.values()), "a slice does not end"
    return found, flows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", nargs="+", type=Path, required=True)
    arguments = parser.parse_args()
    tally, drawn = Tally(), 0
    for source in arguments.inputs:
        wanted = expected(source)
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "a.pftrace"
            run_binary(arguments.binary, ["convert", "-q", source, "--to", "pftrace", "-o", file])
            found, flows = perfetto(file)
            for category, sums in wanted.items():
                problem = None if list(found[category]) == sums else f"{list(found[category])} in the file, {sums} in the database"
                tally.check(f"{source} pftrace {category}", problem)
            wanted_flows = expected_flows(source)
            drawn += wanted_flows
            tally.check(f"{source} pftrace flows", flow_problem(flows, wanted_flows))
            archive = Path(directory) / "archive"
            run_binary(arguments.binary, ["convert", "-q", source, "--to", "otf2", "-o", archive])
            anchor = archive / "traces.otf2"
            printed = subprocess.run(["otf2-print", "--silent", "-Werror", anchor], capture_output=True, text=True)
            tally.check(f"{source} otf2-print", None if printed.returncode == 0 else printed.stderr.strip())
            read = subprocess.run(["/usr/bin/python3", "-c", OTF2, anchor], capture_output=True, text=True)
            if read.returncode != 0:
                tally.check(f"{source} otf2", read.stderr.strip().splitlines()[-1])
                continue
            found = json.loads(read.stdout)["slices"]
            for category, sums in wanted.items():
                own = found.get(category, [0, 0])
                tally.check(f"{source} otf2 {category}", None if own == sums else f"{own} in the archive, {sums} in the database")
    tally.check("flows", None if drawn else "no input has a flow, so that none was compared")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
