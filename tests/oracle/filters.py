"""Compares filtered answers of the binary with filters worked out row by row from its unfiltered tables.

Every case is asked of the input, of a dataset made of it, and by way of a dataset that was made with the filter. Time
accounting within windows is compared with intervals that are cut and united one stretch at a time.
"""

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

from common import ANSWERED, BinaryError, Tally, answered, default_inputs, difference, read_statements, read_table, run_binary
from shared_datasets import dataset
from starts import starts

TABLES = (
    "processes agents queues streams threads code_objects kernel_symbols kernels memory_copies memory_allocations"
    " regions marks args graph_launches hip_events counter_dispatches counters counter_instances samples pc_samples"
    " recorded_metrics"
    " gpu_segments region_self_times anomalies"
).split()
DERIVED = ("gpu_segments", "region_self_times", "anomalies")
MODES = ("overlap", "inside", "clip")
DISPATCH_KEYS = ("pass", "dispatch_id")
# Self times of more calls than this on one thread are not worked out by comparing each with each.
COMPARED_CALLS = 1_500
# Inputs with more rows are asked fewer questions.
MANY_ROWS = 12_000


def first(extent):
    return extent and extent[0]


def last(extent):
    return extent and extent[1]


def first_by_kernel(rows):
    found = {}
    for row in rows:
        found.setdefault(row["kernel_id"], row)
    return found


class Process:
    """Rows of one process by table, and what times on its command line mean."""

    def __init__(self, number):
        self.number = number
        self.tables = {table: [] for table in TABLES}

    def valid(self, *tables):
        return [row for table in tables for row in self.tables[table] if row["valid"]]

    def span(self):
        for group in (("kernels", "memory_copies"), ("counter_dispatches",), ("regions",)):
            rows = self.valid(*group)
            if rows:
                return min(row["start_ns"] for row in rows), max(row["end_ns"] for row in rows)
        return None

    def share(self, percent):
        """A time by its percentage, given as a whole number of thousandths."""
        span = self.span()
        return span and span[0] + (span[1] - span[0]) * percent // 100_000

    def after(self, offset):
        span = self.span()
        return span and span[0] + offset

    def before(self, offset):
        span = self.span()
        return span and span[1] - offset

    def marker(self, text, index=0):
        found = [(row["start_ns"], row["end_ns"]) for row in self.valid("regions") if row["message"] == text]
        found += [(row["time_ns"],) * 2 for row in self.tables["marks"] if row["message"] == text]
        found.sort()
        return found[index] if index < len(found) else None

    @cached_property
    def symbols(self):
        return first_by_kernel(self.tables["kernel_symbols"])

    @cached_property
    def dispatches(self):
        return first_by_kernel(self.tables["kernels"] + self.tables["counter_dispatches"])

    def kernel_names(self, row):
        symbol = self.symbols.get(row["kernel_id"])
        return (symbol["kernel_name"], symbol["short_name"]) if symbol else (f"kernel_{row['kernel_id']}",) * 2

    def kernel_category(self, row):
        found = self.symbols.get(row["kernel_id"]) or self.dispatches.get(row["kernel_id"])
        return found and found["category"]


class Side:
    """A side of a window: how it is written, and its time in a process."""

    def __init__(self, written, time):
        self.written = written
        self.time = time


OPEN = Side("", None)


class Window:
    """What a window keeps of a process."""

    def __init__(self, written, sides, mode):
        self.written = written
        self.sides = sides
        self.mode = mode

    def within(self, process):
        """First and last time, infinite where a side is open; None where it cannot be told or is turned round."""
        times = []
        for side, infinite in zip(self.sides, (float("-inf"), float("inf"))):
            if side is OPEN:
                times.append(infinite)
                continue
            time = side.time(process)
            if time is None:
                return None
            times.append(time)
        return times if times[0] <= times[1] else None

    def options(self):
        return [f"--window={self.written}", "--window-mode", self.mode]

    def apply(self, process, table, rows):
        if not rows or not {"duration_ns", "time_ns"} & set(rows[0]) and table != "processes":
            return rows
        within = self.within(process)
        if table == "processes":
            return [cut_process(row, within) for row in rows]
        if within is None:
            return []
        start, end = within
        if "time_ns" in rows[0]:
            return [row for row in rows if start <= row["time_ns"] <= end]
        if table in DERIVED:
            cuts = [(row, max(row["start_ns"], start), min(row["end_ns"], end)) for row in rows]
            return [cut_row(row, left, right) for row, left, right in cuts if left < right]
        kept = [row for row in rows if self.keeps(row, start, end)]
        if self.mode == "clip":
            return [
                cut_row(row, max(row["start_ns"], start), min(row["end_ns"], end)) if row["valid"] else row
                for row in kept
            ]
        return kept

    def keeps(self, row, start, end):
        inside = start <= row["start_ns"] <= end and start <= row["end_ns"] <= end
        if self.mode == "inside":
            return inside
        touching = row["start_ns"] < end and row["end_ns"] > start
        return touching or (inside and row["start_ns"] == row["end_ns"])


def cut_row(row, start, end):
    return row | {"start_ns": start, "end_ns": end, "duration_ns": end - start}


def cut_process(row, within):
    if within is None:
        return row | {"end_ns": row["start_ns"]}
    start, end = within
    return row | {
        side: None if row[side] is None else min(max(row[side], start), end) for side in ("start_ns", "end_ns")
    }


class RowFilter:
    """A filter by the columns of a table."""

    def __init__(self, options, columns, keeps, source_only=False):
        self.written = options
        self.columns = set(columns)
        self.keep = keeps
        self.source_only = source_only

    def options(self):
        return self.written

    def apply(self, process, table, rows):
        if not rows or not self.columns <= set(rows[0]) or (self.source_only and table in DERIVED):
            return rows
        return [row for row in rows if self.keep(process, row)]


def numbers(flag, column, chosen):
    """`--gpu` and its like."""
    listed = ",".join(str(number) for number in chosen)
    if column == "gpu":
        keeps = lambda process, row: row["gpu"] in chosen or row.get("peer_gpu") in chosen
    else:
        keeps = lambda process, row: row[column] in chosen
    return RowFilter([flag, listed], [column], keeps)


def kernel(pattern):
    search = re.compile(pattern).search
    return RowFilter(
        ["--kernel", pattern], ["kernel_id"], lambda process, row: any(map(search, process.kernel_names(row)))
    )


def category(*names):
    return RowFilter(
        ["--category", ",".join(names)], ["kernel_id"], lambda process, row: process.kernel_category(row) in names
    )


def domain(*names):
    return RowFilter(["--domain", ",".join(names)], ["domain"], lambda process, row: row["domain"] in names)


def min_duration(written, least):
    return RowFilter(
        ["--min-duration", written], ["duration_ns"], lambda process, row: row["duration_ns"] >= least, source_only=True
    )


def where(sql, columns, keeps):
    return RowFilter(["--where", sql], columns.split(), lambda process, row: keeps(row))


class Ranks:
    """`--rank`, which leaves out whole processes."""

    def __init__(self, written, chosen):
        self.written = written
        self.chosen = chosen

    def options(self):
        return ["--rank", self.written]

    def apply(self, process, table, rows):
        return [row for row in rows if row["rank"] in self.chosen]


OWNERS = {"region": ("regions", "region_id"), "kernel": ("kernels", "dispatch_id"), "copy": ("memory_copies", "copy_id")}


def filtered(process, filters):
    """All tables of a process after the filters."""
    kept = {}
    for table, rows in process.tables.items():
        for chosen in filters:
            rows = chosen.apply(process, table, rows)
        kept[table] = rows
    # A row whose owner was there and is not any more goes with it.
    dispatches = {tuple(row[key] for key in DISPATCH_KEYS) for row in kept["counter_dispatches"]}
    for table in ("counters", "counter_instances"):
        kept[table] = [row for row in kept[table] if tuple(row[key] for key in DISPATCH_KEYS) in dispatches]
    for word, (table, key) in OWNERS.items():
        all_ids, ids = ({row[key] for row in tables[table]} for tables in (process.tables, kept))
        gone = all_ids - ids
        kept["args"] = [row for row in kept["args"] if row["owner"] != word or row["owner_id"] not in gone]
    regions = {row["region_id"] for row in kept["regions"]}
    kept["region_self_times"] = [row for row in kept["region_self_times"] if row["region_id"] in regions]
    windows = [chosen for chosen in filters if isinstance(chosen, Window) and chosen.mode == "clip"]
    if windows and kept["region_self_times"]:
        times = cut_self_times(process, windows[0])
        kept["region_self_times"] = times and [
            row | {"self_ns": times[row["region_id"]]} for row in kept["region_self_times"]
        ]
    return kept


def cut_self_times(process, window):
    """Self time of the calls cut at the window, by comparing each with each; None where there are too many."""
    within = window.within(process)
    threads = {}
    times = {}
    for place, row in enumerate(process.tables["regions"]):
        if not row["valid"] or within is None or not window.keeps(row, *within):
            continue
        start, end = max(row["start_ns"], within[0]), min(row["end_ns"], within[1])
        if row["tid"] is None or row["name"] == "roctxProcessRangeA":
            times[row["region_id"]] = end - start
        else:
            order = (row["start_ns"], -row["end_ns"], place)
            threads.setdefault(row["tid"], []).append((start, end, order, row["region_id"]))
    for calls in threads.values():
        if len(calls) > COMPARED_CALLS:
            return None
        for start, end, order, region in calls:
            inner = [call[:2] for call in calls if start <= call[0] and call[1] <= end and order < call[2]]
            times[region] = end - start - covered(inner)
    return times


def covered(intervals):
    """Time covered, stretch by stretch between neighbouring ends."""
    reached, total = None, 0
    for start, end in sorted(intervals):
        if reached is None or start > reached:
            reached = start
        if end > reached:
            total += end - reached
            reached = end
    return total


def unfiltered(binary, source):
    """The processes of an input with all their rows, and the names of the tables that have any."""
    processes = {}
    filled = []
    answers = read_statements(binary, [f"SELECT * FROM {table}" for table in TABLES], source)
    for table, rows in zip(TABLES, map(answered, answers)):
        if rows:
            filled.append(table)
        for row in rows:
            processes.setdefault(row["process"], Process(row["process"])).tables[table].append(row)
    return [processes[number] for number in sorted(processes)], filled


def fetch(binary, source, table, options=()):
    """Rows of a table, also where a filter matches nothing and the exit code says so."""
    command = [binary, "sql", f"SELECT * FROM {table}", source, "-f", "json", "-q", *options]
    finished = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if finished.returncode not in ANSWERED:
        raise BinaryError(f"exit {finished.returncode}: {finished.stderr.decode(errors='replace').strip()[-300:]}")
    return json.loads(finished.stdout or "[]")


def converted(binary, source, target, options=()):
    """All tables by way of `convert --to json`: one start of the binary for all of them."""
    run_binary(binary, ["convert", source, "-o", target, "--to", "json", "-q", *options])
    tables = {}
    for table in TABLES:
        paths = sorted(Path(target, table).rglob("*.json"), key=lambda path: int(path.stem.rpartition("-")[2]))
        tables[table] = [row for path in paths for row in json.loads(path.read_text())]
    return tables


def in_any_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


class Expected:
    """Rows of a table in whatever order, sorted once for all that is compared with them."""

    def __init__(self, rows):
        self.rows = rows
        self.texts = sorted(map(json.dumps, rows))

    def problem(self, found):
        """How other rows differ. Most are equal to the letter; others may still be within the tolerance."""
        if sorted(map(json.dumps, found)) == self.texts:
            return None
        return difference(in_any_order(found), in_any_order(self.rows))


def renumbered(rows):
    """Rows without what depends on which other processes there are."""
    return [{name: value for name, value in row.items() if name not in ("process", "device", "node")} for row in rows]


class Subject:
    """An input, its dataset, and its rows."""

    def __init__(self, binary, source, work):
        self.binary = binary
        self.source = source
        self.work = Path(work)
        self.processes, self.filled = unfiltered(binary, source)
        self.dataset = dataset(binary, source)
        self.rows = sum(len(rows) for process in self.processes for rows in process.tables.values())

    def every(self, table):
        return [row for process in self.processes for row in process.tables[table]]

    def common(self, table, column):
        """Values of a column, the most frequent first."""
        counts = Counter(row[column] for row in self.every(table) if row[column] is not None)
        return sorted(counts, key=lambda value: (-counts[value], str(value)))


def sides(subject):
    """Every form of a side, as pairs of sides that make a window."""

    def share(text, thousandths):
        return Side(f"{text}%", lambda process: process.share(thousandths))

    def after(text, offset):
        return Side(f"+{text}", lambda process: process.after(offset))

    def before(text, offset):
        return Side(f"-{text}", lambda process: process.before(offset))

    def at(written, time):
        return Side(str(written), lambda process: time)

    activity = [row for process in subject.processes for row in process.valid("kernels", "memory_copies", "regions")]
    activity = activity or [row for process in subject.processes for row in process.valid("counter_dispatches")]
    middle = sorted(activity, key=lambda row: row["start_ns"])[len(activity) // 2]
    start, end = middle["start_ns"], middle["end_ns"]
    pairs = [
        (OPEN, OPEN),
        (share("0", 0), share("100", 100_000)),
        (share("10", 10_000), share("90", 90_000)),
        (share("33.333", 33_333), OPEN),
        (OPEN, share("50", 50_000)),
        (after("100us", 100_000), after("0.5ms", 500_000)),
        (after("0", 0), after("1234567ns", 1_234_567)),
        (before("300us", 300_000), before("0", 0)),
        (before("1µs", 1_000), OPEN),
        (OPEN, before("0.001s", 1_000_000)),
        (at(start, start), at(f"{end} ns", end)),
        (at(end, end), at(end, end)),
        (at(start, start), at(start, start)),
        (at((start + end) // 2, (start + end) // 2), at((start + end) // 2, (start + end) // 2)),
        (at(0, 0), at(2**63 - 1, 2**63 - 1)),
        (at(2**63 - 1, 2**63 - 1), OPEN),
        (OPEN, at("0.5min", 30_000_000_000)),
        (share("60", 60_000), after("1us", 1_000)),
        (before("1us", 1_000), share("10", 10_000)),
    ]
    return pairs


def marker_windows(subject):
    """Windows by markers: one for itself, one with an index, from one to another, and none there is."""
    texts = [text for text in subject.common("regions", "message") if '"' not in text]
    texts += [text for text in subject.common("marks", "message") if '"' not in text]

    def side(written, text, index, edge):
        return Side(written, lambda process: edge(process.marker(text, index)))

    def alone(written, text, index=0):
        return written, (side(written, text, index, first), side(written, text, index, last))

    def quoted(text):
        return f'@"{text}"'

    windows = [alone("@no such text", "no such text")]
    for text in texts[:2] + texts[-1:]:
        windows.append(alone(quoted(text), text))
        windows.append(alone(f"{quoted(text)}/1", text, 1))
        if not set(text) & set(":/"):
            windows.append(alone(f"@{text}/2", text, 2))
    if len(texts) > 1:
        a, b = texts[:2]
        windows.append(
            (f"{quoted(a)}:{quoted(b)}/2", (side(quoted(a), a, 0, first), side(f"{quoted(b)}/2", b, 2, last)))
        )
        windows.append((f"{quoted(b)}:80%", (side(quoted(b), b, 0, first), Side("", lambda p: p.share(80_000)))))
    return windows


def windows(subject):
    pairs = [(f"{left.written}:{right.written}", (left, right)) for left, right in sides(subject)]
    return pairs + marker_windows(subject)


def other_filters(subject):
    """Every filter but the window."""
    filters = []
    table = "kernels" if "kernels" in subject.filled else "counter_dispatches"
    names = subject.common(table, "kernel_name")
    categories = subject.common(table, "category")
    gpus = subject.common(table, "gpu")
    filters += [[numbers("--gpu", "gpu", gpus[:1])], [numbers("--gpu", "gpu", [*gpus[1:], 7])]]
    for flag, column in (("--stream", "stream_id"), ("--queue", "queue_id")):
        found = subject.common(table, column)
        if found:
            filters += [[numbers(flag, column, found[:1])], [numbers(flag, column, found[1:] + [1_000])]]
    filters += [
        [kernel(re.escape(names[0]))],
        [kernel("^" + re.escape(names[-1]) + "$")],
        [kernel("kernel_[0-9]+$|[aeiou]{2}")],
        [kernel("no such kernel")],
    ]
    filters += [[category(categories[0])], [category(*categories[1:], "nonsense")]]
    domains = subject.common("regions", "domain")
    if domains:
        filters += [[domain(domains[0])], [domain(*domains[1:])]]
    lengths = sorted(row["duration_ns"] for row in subject.every(table))
    typical = max(1, lengths[len(lengths) // 2])
    filters += [
        [min_duration("0", 0)],
        [min_duration("0.1us", 100)],
        [min_duration(str(typical), typical)],
        [min_duration(str(2**63 - 1), 2**63 - 1)],
    ]
    filters += conditions(typical, categories[0])
    ranks = sorted({row["rank"] for row in subject.every("processes")})
    filters += [[Ranks(str(ranks[0]), ranks[:1])], [Ranks(f"{ranks[-1]}-99", ranks[-1:])]]
    return filters


def conditions(typical, name):
    known = lambda value, condition: value is not None and condition(value)
    return [
        [where(f"duration_ns > {typical}", "duration_ns", lambda row: row["duration_ns"] > typical)],
        [
            where(
                f"duration_ns > {typical} AND valid", "duration_ns valid", lambda row: row["valid"] and row["duration_ns"] > typical
            )
        ],
        [where("NOT valid", "valid", lambda row: not row["valid"])],
        [where(f"category = '{name}'", "category", lambda row: row["category"] == name)],
        [where("category LIKE '%e%'", "category", lambda row: known(row["category"], lambda text: "e" in text))],
        [where("category > 'e' AND tid IS NOT NULL", "category tid", lambda row: known(row["category"], lambda text: text > "e") and row["tid"] is not None)],
        [where("UPPER(kernel_name) IN ('A') OR LENGTH(short_name) < 20", "kernel_name short_name", lambda row: len(row["short_name"]) < 20)],
        [where("category NOT IN ('gemm', 'x''y')", "category", lambda row: known(row["category"], lambda text: text not in ("gemm", "x'y")))],
        [where("gpu IS NULL OR gpu = 0", "gpu", lambda row: row["gpu"] in (None, 0))],
        [where("rank = 1 OR process = 0", "rank process", lambda row: row["rank"] == 1 or row["process"] == 0)],
        [where("rank = 0 AND duration_ns BETWEEN 1 AND 100000", "rank duration_ns", lambda row: row["rank"] == 0 and 1 <= row["duration_ns"] <= 100_000)],
        [where("COALESCE(stream_id, 7) = 7", "stream_id", lambda row: row["stream_id"] in (None, 7))],
    ]


def together(subject, written):
    """Several filters at once."""
    gpus = subject.common("kernels", "gpu") or [0]
    names = subject.common("kernels", "kernel_name") or [""]
    domains = subject.common("regions", "domain") or ["hip"]
    for mode in MODES:
        window = Window(written[0], written[1], mode)
        yield [window, numbers("--gpu", "gpu", gpus[:1]), min_duration("1us", 1_000)]
        yield [window, domain(domains[0]), kernel(re.escape(names[0]))]
        yield [window, where("duration_ns > 5000", "duration_ns", lambda row: row["duration_ns"] > 5_000)]
        yield [window, Ranks("0-1", [0, 1]), where("valid", "valid", lambda row: row["valid"])]


def drawn(subject, position, share):
    """The cases of an input whose turn it is, with their places: one of `share`, so that inputs in a row have them all."""
    return [(place, filters) for place, filters in enumerate(cases(subject)) if (place + position) % share == 0]


def cases(subject):
    forms = windows(subject)
    for place, (written, pair) in enumerate(forms):
        if subject.rows > MANY_ROWS and place % 4:
            continue
        for mode in MODES if len(subject.processes) == 1 and subject.rows < MANY_ROWS else MODES[place % 3 :: 3]:
            yield [Window(written, pair, mode)]
    filters = other_filters(subject)
    yield from filters[:: 6 if subject.rows > MANY_ROWS else 1]
    narrow = next(form for form in forms if form[0].startswith("10%"))
    yield from list(together(subject, narrow))[:: 5 if subject.rows > MANY_ROWS else 1]


def compare_case(tally, subject, place, filters, kept):
    """One set of filters, asked in every way."""
    options = [word for chosen in filters for word in chosen.options()]
    label = f"{subject.source} {' '.join(options)}"
    expected = {table: [] for table in TABLES}
    for process in subject.processes:
        for table, rows in filtered(process, filters).items():
            expected[table] = None if rows is None or expected[table] is None else expected[table] + rows
    kept.append(sum(len(rows or ()) for rows in expected.values()))
    ranks = any(isinstance(chosen, Ranks) for chosen in filters)
    ready = {}

    def check(way, found, tables, same_numbers=True):
        for table in tables:
            if expected[table] is None:
                continue
            key, given = (table, same_numbers), (lambda rows: rows) if same_numbers else renumbered
            if key not in ready:
                ready[key] = Expected(given(expected[table]))
            tally.check(f"{label} {table} {way}", ready[key].problem(given(found[table])))

    try:
        folder = subject.work / f"case-{place}"
        check("converted", converted(subject.binary, subject.source, folder / "raw", options), TABLES)
        asked = [subject.filled[place % len(subject.filled)]]
        for way, source in (("input", subject.source), ("dataset", subject.dataset)):
            check(way, {table: fetch(subject.binary, source, table, options) for table in asked}, asked)
        if place % 3 == 0:
            check("dataset converted", converted(subject.binary, subject.dataset, folder / "again", options), TABLES)
        if place % 3 == 1:
            run_binary(subject.binary, ["convert", subject.source, "-o", folder / "part", "-q", *options])
            found = converted(subject.binary, folder / "part", folder / "back")
            # A dataset keeps all processes and agents, because ranks and GPUs are numbered by them.
            whole = {"agents", "anomalies"}
            if any("rank" in getattr(chosen, "columns", ()) for chosen in filters):
                whole.add("processes")
            check("read back", found, [table for table in TABLES if table not in whole], not ranks)
    except (BinaryError, ValueError) as error:
        tally.check(label, error)


def cut_work(process, within):
    """(kind, start, end) of everything that ran within, by GPU, and the span that is left; kinds are those of segments."""
    start, end = within
    work, ends = {}, []
    for row in process.valid("kernels"):
        kind = "comm" if row["category"] == "communication" else "compute"
        work.setdefault(row["gpu"], []).append((kind, row["start_ns"], row["end_ns"]))
    for row in process.valid("memory_copies"):
        for gpu in {row["gpu"], row["peer_gpu"]}:
            work.setdefault(gpu, []).append(("copy", row["start_ns"], row["end_ns"]))
    work.pop(None, None)
    ends = [interval for intervals in work.values() for interval in intervals]
    if not ends:
        return {}, None
    span = (max(start, min(left for _, left, _ in ends)), min(end, max(right for _, _, right in ends)))
    if span[0] >= span[1]:
        return {}, None
    cut = {
        gpu: [
            (kind, max(left, span[0]), min(right, span[1]))
            for kind, left, right in intervals
            if max(left, span[0]) < min(right, span[1])
        ]
        for gpu, intervals in work.items()
    }
    return cut, span


def stretches(intervals, span):
    """Length of every stretch between two neighbouring ends, and how much of each kind runs in it."""
    points = sorted({*span, *(point for _, left, right in intervals for point in (left, right))})
    counts = [dict.fromkeys(("compute", "comm", "copy"), 0) for _ in points]
    places = {point: place for place, point in enumerate(points)}
    for kind, left, right in intervals:
        for place in range(places[left], places[right]):
            counts[place][kind] += 1
    return [(right - left, count) for left, right, count in zip(points, points[1:], counts)]


def accounting(subject, window):
    """Expected records of time_breakdown, busy and gpu_concurrency by process and GPU, and of gpu_timeline."""
    breakdown, busy, concurrency = [], [], []
    life = {"total_time": 0, "kernel": 0, "memory": 0, "busy_time": 0, "idle": 0}
    unknown = False
    for process in subject.processes:
        row = process.tables["processes"][0]
        if row["role"] == "counters":
            continue
        within = window.within(process)
        cut = cut_process(row, within)
        known = cut["start_ns"] is not None and cut["end_ns"] is not None
        unknown |= not known
        total = cut["end_ns"] - cut["start_ns"] if known else 0
        work, span = cut_work(process, within) if within else ({}, None)
        everything = [interval for intervals in work.values() for interval in intervals]
        lengths = {
            "kernel": covered((left, right) for kind, left, right in everything if kind != "copy"),
            "memory": covered((left, right) for kind, left, right in everything if kind == "copy"),
            "busy_time": covered((left, right) for _, left, right in everything),
        }
        lengths |= {"total_time": total, "idle": max(0, total - lengths["busy_time"])}
        life = {name: value + lengths[name] for name, value in life.items()}
        for gpu, intervals in sorted(work.items()):
            parts = stretches(intervals, span)
            time = lambda condition: sum(length for length, count in parts if condition(count))
            length = span[1] - span[0]
            running = time(lambda count: any(count.values()))
            durations = [r["duration_ns"] for r in window.apply(process, "kernels", process.valid("kernels")) if r["gpu"] == gpu]
            record = {
                "process": process.number,
                "gpu": gpu,
                "span_ns": length,
                "busy_ns": running,
                "idle_ns": length - running,
                "compute_ns": time(lambda count: count["compute"]),
                "comm_ns": time(lambda count: count["comm"]),
                "copy_ns": time(lambda count: count["copy"]),
                "exposed_comm_ns": time(lambda count: count["comm"] and not count["compute"]),
                "exposed_copy_ns": time(lambda count: count["copy"] and not count["compute"] and not count["comm"]),
                "compute_comm_overlap_ns": time(lambda count: count["comm"] and count["compute"]),
                "kernel_sum_ns": sum(durations),
                "lead_ns": None if cut["start_ns"] is None else span[0] - cut["start_ns"],
                "tail_ns": None if cut["end_ns"] is None else cut["end_ns"] - span[1],
            }
            breakdown.append(record)
            busy.append({name: record[name] for name in ("process", "gpu", "busy_ns", "span_ns")})
            for kernels in sorted({count["compute"] + count["comm"] for _, count in parts}):
                matching = [part for part in parts if part[1]["compute"] + part[1]["comm"] == kernels]
                concurrency.append(
                    {
                        "process": process.number,
                        "gpu": gpu,
                        "kernels_running": kernels,
                        "time_ns": sum(length for length, _ in matching),
                        "copies_ns": sum(length for length, count in matching if count["copy"]),
                    }
                )
    timeline = [
        {"type": name, "time_ms": None if unknown and name in ("total_time", "idle") else value / 1e6}
        for name, value in life.items()
    ]
    return breakdown, busy, concurrency, timeline if life["busy_time"] else []


def sums_problem(breakdown, concurrency, window, subject):
    """Whether the parts of the binary's own answers add up."""
    for record in breakdown:
        if record["busy_ns"] + record["idle_ns"] != record["span_ns"]:
            return f"busy and idle are not the span: {record}"
        if record["compute_ns"] + record["exposed_comm_ns"] + record["exposed_copy_ns"] != record["busy_ns"]:
            return f"the parts of busy are not busy: {record}"
        rows = [row for row in concurrency if (row["process"], row["gpu"]) == (record["process"], record["gpu"])]
        if sum(row["time_ns"] for row in rows) != record["span_ns"]:
            return f"the rows of gpu_concurrency are not the span: {record}"
        process = next(process for process in subject.processes if process.number == record["process"])
        cut = cut_process(process.tables["processes"][0], window.within(process))
        if record["lead_ns"] is not None and record["tail_ns"] is not None:
            if record["lead_ns"] + record["span_ns"] + record["tail_ns"] != cut["end_ns"] - cut["start_ns"]:
                return f"lead, span and tail are not the lifetime: {record}"
    return None


def random_windows(subject, count, seed):
    """Windows of any kind: within the activity, beyond it, of no length, and at the sides of events."""
    generator = random.Random(seed)
    events = [row for process in subject.processes for row in process.valid("kernels", "memory_copies")]
    if not events:
        return
    ends = sorted({time for row in events for time in (row["start_ns"], row["end_ns"])})
    for place in range(count):
        if place % 4 == 0:
            low, high = sorted(generator.choices(ends, k=2))
        elif place % 4 == 1:
            row = generator.choice(events)
            offset = generator.choice((-1, 0, 1))
            low, high = sorted((row["start_ns"] + offset, row["end_ns"] + generator.choice((-1, 0, 1))))
        elif place % 4 == 2:
            process = generator.choice(subject.processes)
            start, end = process.span() or (1, 2)
            width = max(1, end - start)
            low, high = sorted(generator.randrange(max(0, start - width), end + width) for _ in range(2))
        else:
            low = generator.choice(ends) + generator.choice((-10, 0, 1, 10**12))
            high = low + generator.choice((0, 0, 1, 5, 10**7))
        side = lambda time: Side(str(time), lambda process: time)
        yield Window(f"{low}:{high}", (side(low), side(high)), MODES[place % 3])


def compare_accounting(tally, subject, window):
    label = f"{subject.source} {' '.join(window.options())}"
    expected = accounting(subject, window)
    of_gpus = {"--by": "process,gpu"}
    asked = [(query, of_gpus) for query in ("time_breakdown", "busy", "gpu_concurrency")] + [("gpu_timeline", {})]
    # Which are asked of the input and which of its dataset alternates.
    places = {query: (subject.source, subject.dataset)[(place + len(window.written)) % 2] for place, (query, _) in enumerate(asked)}
    found = {}
    for source in (subject.source, subject.dataset):
        for start in starts((query, flags) for query, flags in asked if places[query] == source):
            found |= start.read(subject.binary, source, window.options())
    try:
        answers = []
        for place, (query, _) in enumerate(asked):
            columns = list(expected[place][0]) if expected[place] else []
            picked = [{column: row.get(column) for column in columns} for row in answered(found[query])]
            order = (lambda row: 0) if query == "gpu_timeline" else (lambda row: list(row.values())[:3])
            tally.check(f"{label} {query}", difference(sorted(picked, key=order), sorted(expected[place], key=order)))
            answers.append(found[query])
        tally.check(f"{label} sums", sums_problem(answers[0], answers[2], window, subject))
    except (BinaryError, ValueError) as error:
        tally.check(label, error)


def compare_summary(tally, subject, window):
    """Grouping after the filters must be grouping of what they leave, whatever is read for it."""
    names = subject.common("kernels", "kernel_name")
    pattern = kernel("|".join(re.escape(name) for name in names[:2]) or "x")
    options = [*window.options(), *pattern.options()]
    groups = {}
    for process in subject.processes:
        rows = process.tables["kernels"]
        for chosen in (window, pattern):
            rows = chosen.apply(process, "kernels", rows)
        for row in rows:
            if row["valid"]:
                groups.setdefault(row["kernel_name"], []).append(row["duration_ns"])
    expected = [
        {
            "kernel_name": name,
            "calls": len(durations),
            "total_ns": sum(durations),
            "median_ns": float(statistics.median(durations)),
            "min_ns": min(durations),
            "max_ns": max(durations),
        }
        for name, durations in groups.items()
    ]
    expected.sort(key=lambda record: (-record["total_ns"], record["kernel_name"]))
    try:
        found = read_table(subject.binary, "kernel_summary", subject.source, options)
        found = [{column: row[column] for column in expected[0]} if expected else row for row in found]
        tally.check(f"{subject.source} kernel_summary {' '.join(options)}", difference(found, expected))
    except (BinaryError, ValueError) as error:
        tally.check(f"{subject.source} kernel_summary {' '.join(options)}", error)


def check_input(tally, binary, source, position, share, count, seed):
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        subject = Subject(binary, source, work)
        kept = []
        jobs = [pool.submit(compare_case, tally, subject, place, filters, kept) for place, filters in drawn(subject, position, share)]
        for window in random_windows(subject, count if subject.rows < MANY_ROWS else count // 4, seed):
            jobs.append(pool.submit(compare_summary, tally, subject, window))
            if subject.rows < MANY_ROWS:
                jobs.append(pool.submit(compare_accounting, tally, subject, window))
        for job in jobs:
            job.result()
        if not any(0 < rows < subject.rows for rows in kept):
            tally.check(source, "no filter left some rows and not others")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, nargs="+", help="directories or databases; fixtures and shared data if absent")
    parser.add_argument("--windows", type=int, default=12, help="random windows of an input")
    parser.add_argument("--share", type=int, default=1, help="each input has one case of so many, and inputs take turns")
    parser.add_argument("--seed", type=int, default=20, help="of the random windows")
    arguments = parser.parse_args()
    tally = Tally()
    for position, source in enumerate(arguments.inputs or default_inputs()):
        try:
            check_input(tally, arguments.binary, source, position, arguments.share, arguments.windows, arguments.seed)
        except (BinaryError, ValueError) as error:
            tally.check(source, error)
    if tally.failed:
        print(f"repeat: filters.py --seed {arguments.seed}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
