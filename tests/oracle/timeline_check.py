#!/usr/bin/env python3
"""Computes the time line of pages again, from rows: timeline_check.py --binary BINARY --inputs INPUT…

Of every input: the picture of `analyze -o page.html` by its schema; shares of the overview from kernels and copies, by a plain sweep; slices of
windows against the rows that they show, by id, start and length, with counts and covered time where rows are summed up; flows from calls to
their kernels; links of findings. Kernels of rocprofv3's JSON and of rocpd databases are read from the files, not from the program's tables.
"""

import argparse
import base64
import bisect
import gzip
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import jsonschema

LARGEST_PAGE, LARGEST_OVERVIEW, LARGEST_WINDOWS = 2_000_000, 400_000, 900_000


def rows(binary, source, statement):
    done = subprocess.run([binary, "sql", statement, source, "-f", "json", "-q"], capture_output=True)
    if done.returncode not in (0, 3, 5):
        raise RuntimeError(f"{statement}: {done.stderr.decode()[-300:]}")
    return json.loads(done.stdout or b"[]")


def picture_of(binary, source, directory):
    page = Path(directory) / "page.html"
    done = subprocess.run([binary, "analyze", source, "-q", "--name", "full", "-o", page], capture_output=True)
    if done.returncode not in (0, 3, 5):
        raise RuntimeError(done.stderr.decode()[-300:])
    text = page.read_text()
    held = re.search(r'<script type="application/json" id="wavesieve-timeline">(.*?)</script>', text, re.DOTALL)
    return text, json.loads(held[1])


def kernels_of_files(source):
    """Start and end of every dispatch, from the files; None if the format is read by the program only."""
    path = Path(source)
    if path.name.endswith(".json.gz"):
        held = json.loads(gzip.open(path).read())
        if "rocprofiler-sdk-tool" not in held:
            return None
        found = [one for tool in held["rocprofiler-sdk-tool"] for one in tool["buffer_records"]["kernel_dispatch"]]
        return sorted((one["start_timestamp"], one["end_timestamp"]) for one in found)
    files = sorted(path.glob("*.db")) if path.is_dir() else [path] if path.suffix == ".db" else []
    found = []
    for file in files:
        base = sqlite3.connect(f"file:{file.resolve()}?mode=ro&immutable=1", uri=True)
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        named = [name for name in tables if re.match(r"rocpd_kernel_dispatch(_|$)", name)]
        if not named:
            return None
        found += [row for name in named for row in base.execute(f'SELECT start, "end" FROM "{name}"')]
    return sorted(found) if files else None


class Sweep:
    """Time of a GPU until any moment, by what it did."""

    def __init__(self, events):
        edges = defaultdict(lambda: [0, 0, 0])
        for start, end, what in events:
            edges[start][what] += 1
            edges[end][what] -= 1
        self.times, self.sums = sorted(edges), [(0, 0, 0)]
        running, total = [0, 0, 0], [0, 0, 0]
        self.active = []
        for time, after in zip(self.times, [*self.times[1:], None]):
            running = [a + b for a, b in zip(running, edges[time])]
            # Compute hides communication, and both hide copies.
            kind = next((what for what in range(3) if running[what]), None)
            self.active.append(kind)
            if kind is not None and after is not None:
                total[kind] += after - time
            self.sums.append(tuple(total))

    def until(self, time, what):
        at = bisect.bisect_right(self.times, time) - 1
        if at < 0:
            return 0
        return self.sums[at][what] + (time - self.times[at] if self.active[at] == what else 0)


def shares_of(text):
    """The bytes of a row of shares; after `~` as runs and literals."""
    if not text.startswith("~"):
        return base64.b64decode(text)
    packed, out, at = base64.b64decode(text[1:]), b"", 0
    while at < len(packed):
        first = packed[at]
        if first < 128:
            out += packed[at + 1 : at + 2 + first]
            at += 2 + first
        else:
            out += packed[at + 1 : at + 2] * (first - 126)
            at += 2
    return out


def group_of(row, gpu):
    return f"r{row['rank']}g{gpu}"


def of_overview(picture, kernels, copies, shift):
    """Differences between shares and what the rows give; a share is off by less than one 255th, or three where short intervals were summed up."""
    events = defaultdict(list)
    for row in kernels:
        events[group_of(row, row["gpu"])].append((row["start_ns"], row["end_ns"], 1 if row["category"] == "communication" else 0))
    for row in copies:
        for gpu in {row["gpu"], row["peer_gpu"]} - {None}:
            events[group_of(row, gpu)].append((row["start_ns"], row["end_ns"], 2))
    overview, span = picture["overview"], picture["span_ns"]
    ids = [kind["id"] for kind in picture["kinds"]]
    slack = 3 if any("approximate" in note for note in picture["notes"]) else 1
    edges = [at * span // overview["bins"] for at in range(overview["bins"] + 1)]
    for lane in overview["lanes"]:
        shares = {ids[int(kind)]: shares_of(row) for kind, row in lane["shares"].items()}
        for name, row in shares.items():
            if len(row) != overview["bins"]:
                yield f"{lane['label']}: {name} has {len(row)} bins"
        totals = [sum(row[at] for row in shares.values()) for at in range(overview["bins"])]
        if any(total not in (254, 255, 256) for total in totals):
            yield f"{lane['label']}: shares of a bin add up to {min(totals)} to {max(totals)}"
        # A lane of several GPUs is about those without a lane of their own.
        single = {one["group"] for one in overview["lanes"] if one["count"] == 1}
        groups = [lane["group"]] if lane["count"] == 1 else sorted(set(events) - single)
        if len(groups) != lane["count"]:
            yield f"{lane['label']}: sums up {lane['count']} GPUs, {len(groups)} have no lane"
        sweeps = [Sweep(events[group]) for group in groups]
        for what, name in enumerate(("compute", "exposed_communication", "exposed_copy")):
            row = shares.get(name, bytes(overview["bins"]))
            for at, (start, end) in enumerate(zip(edges, edges[1:])):
                covered = sum(sweep.until(end - shift, what) - sweep.until(start - shift, what) for sweep in sweeps)
                wanted = covered * 255 / max(1, (end - start) * len(sweeps))
                # Shares below 1 are raised to 1, and the largest gives way.
                raised = sum(other[at] == 1 for other in shares.values())
                is_lost = slack == 1 and wanted > 0 and not row[at]
                if is_lost or not -slack - raised - 1e-6 < row[at] - wanted < slack + 1e-6:
                    yield f"{lane['label']}: {name} in bin {at} is {row[at]}, rows give {wanted:.2f}"
                    break


def slices(lane, start):
    columns = lane["slices"]
    size = len(columns["start_ns"])
    if any(len(column) != size for column in columns.values()):
        raise ValueError(f"{lane['id']}: columns differ in length")
    at = start
    for place in range(size):
        at += columns["start_ns"][place]
        one = {name: column[place] for name, column in columns.items()}
        yield {"level": 0, "count": 1, "busy_ns": one["length_ns"], **one, "start_ns": at, "end_ns": at + one["length_ns"]}


def of_windows(picture, tables, shift):
    names = picture["names"]
    used = {number for window in picture["windows"] for lane in window["lanes"] for column in ("name", "about") for number in lane["slices"].get(column, [])}
    if used - {-1} != set(range(len(names))):
        yield f"{len(names)} names, windows use {len(used - {-1})}"
    for window in picture["windows"]:
        start, end = window["start_ns"], window["end_ns"]
        shown = defaultdict(list)
        held = []
        for lane in window["lanes"]:
            own = list(slices(lane, start))
            held.append(own)
            ends = {}
            for one in own:
                if one["start_ns"] < ends.get(one["level"], -(1 << 62)):
                    yield f"{window['id']} {lane['id']}: slices of level {one['level']} overlap"
                    break
                ends[one["level"]] = one["end_ns"]
                if one["level"] >= lane["levels"]:
                    yield f"{window['id']} {lane['id']}: level {one['level']} of {lane['levels']}"
            if lane["resolution_ns"] == 0 and any(one["count"] != 1 for one in own):
                yield f"{window['id']} {lane['id']}: sums without a resolution"
            if any(one["count"] > 1 and one["length_ns"] > 4 * lane["resolution_ns"] for one in own):
                yield f"{window['id']} {lane['id']}: a sum is longer than four resolutions"
            shown[lane["kind"]] += [(lane, one) for one in own]
        for kind, rows_of in tables.items():
            known = {row["id"]: row for row in rows_of(window["group"])}
            inside = [row for row in known.values() if row["start"] + shift < end and (row["end"] + shift > start or row["start"] + shift >= start)]
            own = shown[kind]
            # More than 64 events at a time do not fit into the rows; a note has the number of those without a slice.
            is_crowded = any(note.startswith(f"{window['label']}: ") and "rows of overlapping events" in note for note in picture["notes"])
            if not is_crowded and sum(one["count"] for _, one in own) != len(inside):
                yield f"{window['id']}: {sum(one['count'] for _, one in own)} {kind}, rows give {len(inside)}"
            wanted = sum(row["end"] - row["start"] for row in inside)
            if not is_crowded and sum(one["busy_ns"] for _, one in own) != wanted:
                yield f"{window['id']}: {kind} cover {sum(one['busy_ns'] for _, one in own)} ns, rows give {wanted}"
            for lane, one in own:
                row = known.get(one["id"])
                if one["count"] == 1 and (row is None or (row["start"] + shift, row["end"] + shift) != (one["start_ns"], one["end_ns"])):
                    yield f"{window['id']} {lane['id']}: slice {one['id']} is not its row"
                    break
                if one["count"] == 1 and row.get("name") and not (names[one["name"]] == row["name"] or "…" in names[one["name"]]):
                    yield f"{window['id']} {lane['id']}: slice {one['id']} is named {names[one['name']]}"
                    break
        for from_lane, call, to_lane, work in window["flows"]:
            if window["lanes"][from_lane]["kind"] != "calls" or held[from_lane][call]["start_ns"] > held[to_lane][work]["end_ns"]:
                yield f"{window['id']}: a flow starts after its work"
                break
        at = start
        for step, length in zip(window["path"]["start_ns"], window["path"]["length_ns"]):
            at += step
            if length < 0:
                yield f"{window['id']}: a part of the path has no length"


def of_places(text, picture):
    document = json.loads(re.search(r'<script type="application/json" id="wavesieve-document">(.*?)</script>', text, re.DOTALL)[1])
    findings = {finding["id"] for finding in document["findings"]}
    groups = {group["id"] for group in picture["groups"]}
    linked = set(re.findall(r'data-place="([^"]*)"', text))
    for place in picture["places"]:
        if place["id"] not in findings:
            yield f"a place of {place['id']}, which is no finding"
        if place["group"] not in groups:
            yield f"a place in {place['group']}, which is no group"
        if not 0 <= place["start_ns"] <= place["end_ns"] <= picture["span_ns"]:
            yield f"the place of {place['id']} is outside the run"
    if len(linked) != len({place["id"] for place in picture["places"]}):
        yield f"{len(linked)} findings link to places, {len({place['id'] for place in picture['places']})} have any"


def of_source(binary, schema, source):
    with tempfile.TemporaryDirectory() as directory:
        text, picture = picture_of(binary, source, directory)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(picture):
        yield f"{'/'.join(map(str, error.path))}: {error.message[:200]}"
    sizes = [len(text), len(json.dumps(picture["overview"])), len(json.dumps(picture["windows"], separators=(",", ":")))]
    for name, size, most in zip(("page", "overview", "windows"), sizes, (LARGEST_PAGE, LARGEST_OVERVIEW, LARGEST_WINDOWS)):
        if size > most:
            yield f"the {name} has {size} bytes"
    if '<div class="tl-still"><svg' not in text:
        yield "the page has no picture without scripts"
    kernels = rows(binary, source, "SELECT rank, gpu, dispatch_id AS id, kernel_name AS name, category, start_ns, end_ns FROM kernels WHERE valid AND gpu IS NOT NULL")
    copies = rows(binary, source, "SELECT rank, gpu, peer_gpu, copy_id AS id, start_ns, end_ns FROM memory_copies WHERE valid")
    of_files = kernels_of_files(source)
    if of_files is not None:
        read = sorted((row["start_ns"], row["end_ns"]) for row in kernels)
        if read != [one for one in of_files if one[0] > 0 and one[1] >= one[0]]:
            yield "kernels differ from those of the files"
    if len({row["clock"] for row in rows(binary, source, "SELECT clock FROM clocks")}) > 1:
        yield from of_places(text, picture)
        return
    shift = -int(picture["origin_ns"])
    yield from of_overview(picture, kernels, copies, shift)
    gaps = rows(binary, source, "SELECT rank, gpu, gap_id AS id, start_ns, end_ns FROM idle_gaps")

    def of_gpu(table):
        def choose(group):
            own = [row for row in table if group in {group_of(row, gpu) for gpu in (row["gpu"], row.get("peer_gpu"))}]
            return [{"id": row["id"], "start": row["start_ns"], "end": row["end_ns"], "name": row.get("name")} for row in own]
        return choose

    def gaps_of(group):
        # The parts of an interval by cause share its id.
        return [{**row, "id": place} for place, row in enumerate(of_gpu(gaps)(group))]

    yield from of_windows(picture, {"kernels": of_gpu(kernels), "copies": of_gpu(copies)}, shift)
    for window in picture["windows"]:
        own = [one for lane in window["lanes"] if lane["kind"] == "gaps" for one in slices(lane, window["start_ns"])]
        start, end = window["start_ns"], window["end_ns"]
        wanted = [row for row in gaps_of(window["group"]) if row["start"] + shift < end and row["end"] + shift > start]
        if sum(one["count"] for one in own) != len(wanted):
            yield f"{window['id']}: {sum(one['count'] for one in own)} gaps, rows give {len(wanted)}"
    yield from of_places(text, picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", nargs="+", required=True)
    parser.add_argument("--generator", help="the built example generate_trace, for a run of more GPUs than have lanes")
    options = parser.parse_args()
    schema = json.loads(subprocess.run([options.binary, "schema", "timeline"], capture_output=True, check=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        inputs = list(options.inputs)
        if options.generator:
            many = Path(directory) / "many"
            sizes = {"ranks": 44, "gpus-per-node": 44, "dispatches": 80, "regions": 160, "iterations": 2, "output": many}
            subprocess.run([options.generator, *(word for name, value in sizes.items() for word in (f"--{name}", str(value)))], check=True, capture_output=True)
            inputs.append(str(many))
        for source in inputs:
            found = list(of_source(options.binary, schema, source))
            failed += bool(found)
            for problem in found[:20]:
                print(f"{source}: {problem}", file=sys.stderr)
    print(f"time lines: {len(inputs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
