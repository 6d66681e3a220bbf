#!/usr/bin/env python3
"""Lanes and overview of `wavesieve view` beside the rows of the sources, which this script reads with the libraries of Python.

    view_check.py --program PROGRAM INPUT...

An input is a rocprofv3 JSON file, a rocpd database or a Kineto trace, also with gzip. For random ranges, the kernels and copies that
touch the range are those of the source, to the nanosecond; over the whole run, counts and covered times add up whatever the width is. In the
overview, exactly the bins with kernels or copies show work, however short it is.
"""
import argparse
import collections
import decimal
import gzip
import http.client
import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import urllib.parse

from timeline_check import shares_of

RANGES = 40


def read_json(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        return json.loads(file.read(), parse_float=decimal.Decimal)


def of_rocprofv3(document):
    """Dispatches and copies of rocprofv3's JSON."""
    events = collections.defaultdict(list)
    for tool in document["rocprofiler-sdk-tool"]:
        records = tool["buffer_records"]
        for row in records.get("kernel_dispatch", []):
            events["kernels"].append((row["start_timestamp"], row["end_timestamp"]))
        gpus = {agent["id"]["handle"] for agent in tool["agents"] if agent["type"] == 2}
        for row in records.get("memory_copy", []):
            if gpus & {row["src_agent_id"]["handle"], row["dst_agent_id"]["handle"]}:
                events["copies"].append((row["start_timestamp"], row["end_timestamp"]))
    return events


def of_rocpd(path):
    """Dispatches and copies of a database."""
    database = sqlite3.connect(f"file:{urllib.parse.quote(str(path))}?mode=ro&immutable=1", uri=True)
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    events = collections.defaultdict(list)
    for name in names:
        if name.startswith("rocpd_kernel_dispatch"):
            events["kernels"] += database.execute(f'SELECT start, "end" FROM "{name}"').fetchall()
        if name.startswith("rocpd_memory_copy"):
            agents = next(table for table in names if table.startswith("rocpd_info_agent"))
            gpu = f'''SELECT id FROM "{agents}" WHERE type = 'GPU' '''
            copies = f'SELECT start, "end" FROM "{name}" WHERE src_agent_id IN ({gpu}) OR dst_agent_id IN ({gpu})'
            events["copies"] += database.execute(copies).fetchall()
    return events


def of_kineto(document):
    """Kernels and copies of PyTorch's profiler, whose times are microseconds with decimals from a base."""
    base = int(document.get("baseTimeNanoseconds", 0))
    events = collections.defaultdict(list)
    for event in document["traceEvents"]:
        if event.get("ph") != "X" or event.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        start = base + int(decimal.Decimal(event["ts"]) * 1000)
        kind = "copies" if event["cat"] == "gpu_memcpy" else "kernels"
        events[kind].append((start, start + int(decimal.Decimal(event["dur"]) * 1000)))
    return events


def source(path):
    name = path.name.removesuffix(".gz")
    if name.endswith(".db"):
        return of_rocpd(path)
    document = read_json(path)
    return of_rocprofv3(document) if "rocprofiler-sdk-tool" in document else of_kineto(document)


class Server:
    def __init__(self, program, path):
        command = [program, "view", "--until-closed", "0", str(path)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        parts = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        self.headers = {"X-Wavesieve-Token": urllib.parse.parse_qs(parts.query)["token"][0]}
        self.connection = http.client.HTTPConnection(parts.netloc, timeout=600)

    def get(self, target):
        self.connection.request("GET", target, headers=self.headers)
        answer = self.connection.getresponse()
        body = json.loads(answer.read())
        assert answer.status == 200, (target, body)
        return body

    def end(self):
        self.process.terminate()
        self.process.wait()


def slices(answer, kind, origin):
    """(start, end, id, count, busy) of the slices of a kind of lanes."""
    found = []
    for lane in answer["lanes"]:
        if lane["kind"] != kind:
            continue
        columns, at = lane["slices"], answer["start_ns"] + origin
        lengths = columns["length_ns"]
        counts, busy = columns.get("count", [1] * len(lengths)), columns.get("busy_ns", lengths)
        for row, delta in enumerate(columns["start_ns"]):
            at += delta
            found.append((at, at + lengths[row], columns["id"][row], counts[row], busy[row]))
    return found


def bins_with_work(picture, expected):
    """Bins of the overview that show work of all GPUs together, and those that have some by the source."""
    origin, span, bins = int(picture["origin_ns"]), picture["span_ns"], picture["overview"]["bins"]
    shown, wanted = set(), set()
    for lane in picture["overview"]["lanes"]:
        for kind, text in lane["shares"].items():
            if picture["kinds"][int(kind)]["id"] in ("compute", "exposed_communication", "exposed_copy"):
                shown.update(at for at, share in enumerate(shares_of(text)) if share)
    for rows in expected.values():
        for first, last in rows:
            if first < last:
                # The bins of the first and the last nanosecond: bins start at rounded down shares of the span.
                ends = [((at - origin + 1) * bins - 1) // span for at in (first, last - 1)]
                wanted.update(range(ends[0], ends[1] + 1))
    return shown, wanted


def check(program, path):
    expected = {kind: [row for row in rows if 0 < row[0] <= row[1]] for kind, rows in source(path).items()}
    server = Server(program, path)
    faults, compared = [], 0
    try:
        picture = server.get("/api/picture")
        origin, span = int(picture["origin_ns"]), picture["span_ns"]
        groups = ",".join(group["id"] for group in picture["groups"] if group["gpu"] is not None)
        shown, wanted = bins_with_work(picture, expected)
        if shown != wanted:
            faults.append(f"{path.name}: bins with work: missing {sorted(wanted - shown)[:5]}, too many {sorted(shown - wanted)[:5]}")
        chosen = random.Random(path.name)
        events = [row for rows in expected.values() for row in rows]
        for number in range(RANGES):
            # Around an event, so that ranges are not empty.
            center = chosen.choice(events)[0] - origin
            length = int(span * 10 ** chosen.uniform(-7, -1)) + 1
            start = center - chosen.randrange(length)
            end = start + length
            answer = server.get(f"/api/lanes?groups={groups}&start_ns={start}&end_ns={end}&pixels=65536")
            for kind, rows in expected.items():
                touching = [row for row in rows if row[0] < end + origin and row[1] > start + origin]
                found = slices(answer, kind, origin)
                if any(count > 1 for *_, count, _ in found):
                    width = length // 65536
                    found = [row for row in found if row[2] >= 0 and row[1] - row[0] >= max(1, width)]
                    touching = [row for row in touching if row[1] - row[0] >= max(1, width)]
                given = collections.Counter((first, last) for first, last, *_ in found if first < last)
                wanted = collections.Counter(row for row in touching if row[0] < row[1])
                compared += len(touching)
                if given != wanted:
                    faults.append(f"{path.name}: {kind} in {start}..{end}: missing {list((wanted - given).items())[:3]}, too many {list((given - wanted).items())[:3]}")
        for pixels in (1, 7, 1000, 65536):
            answer = server.get(f"/api/lanes?groups={groups}&start_ns={-span}&end_ns={2 * span}&pixels={pixels}")
            for kind, rows in expected.items():
                found = slices(answer, kind, origin)
                sums = (sum(row[3] for row in found), sum(row[4] for row in found))
                wanted = (len(rows), sum(last - first for first, last in rows))
                if sums != wanted:
                    faults.append(f"{path.name}: {kind} at {pixels} pixels: {sums} is not {wanted}")
    finally:
        server.end()
    print(f"{path.name}: {sum(map(len, expected.values()))} events, {compared} rows compared in {RANGES} ranges, {len(faults)} faults")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("inputs", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    faults = [fault for path in arguments.inputs for fault in check(arguments.program, path)]
    print("\n".join(faults[:20]))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
