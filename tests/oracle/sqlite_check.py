"""Compares the binary with answers that are worked out from the databases by small code of their own.

Only Python's sqlite3 and the base tables are used, and intervals are united by brute force.
"""

import argparse
import math
import os
import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import numpy

import edge_cases
from captures import open_processes, union_length, without_counter_passes
from common import Findings, Tally, database_files, default_inputs, difference
from duration_bins import duration_bins, histogram_width
from starts import by_flag, options_of, starts


def grouped(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def kernel_summary(processes):
    kernels = [kernel for process in processes for kernel in process.kernels()]
    records = []
    for name, group in grouped(kernels, lambda kernel: kernel[0]).items():
        durations = [end - start for _, _, start, end in group]
        records.append(
            {
                "kernel_name": name,
                "calls": len(durations),
                "total_ns": sum(durations),
                "mean_ns": sum(durations) / len(durations),
                "median_ns": float(statistics.median(durations)),
                "std_ns": statistics.stdev(durations) if len(durations) > 1 else None,
                "min_ns": min(durations),
                "max_ns": max(durations),
            }
        )
    return sorted(records, key=lambda record: (-record["total_ns"], record["kernel_name"]))


def copies_by_lane(processes):
    """Copies by process, GPU and direction: those of a lane may overlap, and the time of lanes adds up."""
    copies = [(number, *copy) for number, process in enumerate(processes) for copy in process.copies()]
    return copies, lambda group: grouped(group, lambda copy: (copy[0], copy[1], copy[2])).values()


def covered(lanes, has_size=False):
    """Time in which at least one copy of each lane runs; only of those with a size, where that is asked for."""
    chosen = ([copy for copy in lane if not has_size or copy[4] is not None] for lane in lanes)
    return sum(union_length([(copy[5], copy[6]) for copy in lane]) for lane in chosen)


def copy_summary(processes):
    copies, lanes_of = copies_by_lane(processes)
    records = []
    for direction, group in grouped(copies, lambda copy: copy[1]).items():
        durations = [copy[6] - copy[5] for copy in group]
        sizes = [copy[4] for copy in group if copy[4] is not None]
        # A copy without a size has unknown bytes: neither bytes nor time of it are in the bandwidth.
        sized_busy = covered(lanes_of(group), has_size=True)
        records.append(
            {
                "direction": direction,
                "copies": len(group),
                "copies_without_size": len(group) - len(sizes),
                "total_bytes": sum(sizes) if sizes else None,
                "mean_bytes": sum(sizes) / len(sizes) if sizes else None,
                "total_ns": sum(durations),
                "busy_ns": covered(lanes_of(group)),
                "sized_busy_ns": sized_busy,
                "gb_per_s": sum(sizes) / sized_busy if sizes and sized_busy else None,
                "min_ns": min(durations),
                "max_ns": max(durations),
            }
        )
    return sorted(records, key=lambda record: (-record["total_ns"], record["direction"]))


def bin_edges(process, bins):
    """Start and end of every bin of the activity of a process: as wide as each other in whole nanoseconds, the last one cut."""
    times = [times for *_, start, end in [*process.kernels(), *process.copies()] for times in (start, end)]
    if not times:
        return []
    first, last = min(times), max(times)
    # Spans of more than 2^53 ns, of which some captures are made, are divided as floating point numbers.
    width = max(1, math.ceil(float(last - first) / bins))
    starts = range(first, max(last, first + 1), width)
    return [(start, min(start + width, last)) for start in starts]


def copy_bandwidth_over_time(processes, bins):
    """By process, direction and bin, GPUs together: each copy is cut at the edges, and its bytes go with its time."""
    records = []
    for number, process in enumerate(processes):
        edges = bin_edges(process, bins)
        for direction, group in grouped(process.copies(), lambda copy: copy[0]).items():
            for place, (left, right) in enumerate(edges):
                last = place == len(edges) - 1
                pieces = []
                for _, gpu, _, size, start, end in group:
                    if start == end:
                        inside = left <= start < right or (last and start == right)
                        share = 1.0
                    else:
                        inside = start < right and end > left
                        share = (min(end, right) - max(start, left)) / (end - start)
                    if inside:
                        moved = None if size is None else size * share
                        pieces.append((number, direction, gpu, None, moved, max(start, left), min(end, right)))
                if not pieces:
                    continue
                moved = [piece[4] for piece in pieces if piece[4] is not None]
                lanes = list(grouped(pieces, lambda piece: piece[2]).values())
                sized_busy = covered(lanes, has_size=True)
                records.append(
                    {
                        "process": number,
                        "direction": direction,
                        "bin": place,
                        "start_ns": left,
                        "end_ns": right,
                        "copies": len(pieces),
                        "copies_without_size": len(pieces) - len(moved),
                        "bytes": float(sum(moved)) if moved else None,
                        "busy_ns": covered(lanes),
                        "sized_busy_ns": sized_busy,
                        "gb_per_s": sum(moved) / sized_busy if moved and sized_busy else None,
                    }
                )
    return sorted(records, key=lambda record: (record["process"], record["direction"], record["bin"]))


def gpu_activity(process):
    """Intervals of everything that ran, by GPU; a copy between two GPUs runs on both."""
    activity = {}
    for _, gpu, start, end in process.kernels():
        activity.setdefault(gpu, []).append((start, end))
    for _, gpu, other, _, start, end in process.copies():
        for place in {gpu, other} - {None}:
            activity.setdefault(place, []).append((start, end))
    activity.pop(None, None)
    return activity


def time_breakdown(processes):
    """GPU times in an order that needs no process numbers, which only the program gives."""
    records = []
    for process in processes:
        activity = gpu_activity(process)
        ends = [interval for intervals in activity.values() for interval in intervals]
        for gpu, intervals in activity.items():
            span = max(end for _, end in ends) - min(start for start, _ in ends)
            busy = union_length(intervals)
            records.append({"gpu": gpu, "span_ns": span, "busy_ns": busy, "idle_ns": span - busy})
    return sorted(records, key=lambda record: tuple(record.values()))


def statistics_of(durations):
    return {
        "calls": len(durations),
        "total_ns": sum(durations),
        "mean_ns": sum(durations) / len(durations),
        "min_ns": min(durations),
        "max_ns": max(durations),
    }


def share(part, whole):
    return 100 * part / whole if whole else None


def by_total(records, *ties):
    return sorted(records, key=lambda record: (-record["total_ns"], *(record[tie] for tie in ties)))


def stretches(intervals):
    """(length, kinds running) of every stretch between two neighbouring ends, asked for one by one."""
    points = sorted({point for _, start, end in intervals for point in (start, end)})
    by_start = sorted(intervals, key=lambda interval: interval[1])
    taken, running = 0, []
    for left, right in zip(points, points[1:]):
        while taken < len(by_start) and by_start[taken][1] <= left:
            running.append(by_start[taken])
            taken += 1
        running = [interval for interval in running if interval[2] >= right]
        yield right - left, [kind for kind, _, _ in running]


def gpu_work(process):
    """(kind, start, end) of everything that ran, by GPU; a copy between two GPUs runs on both."""
    work = {}
    for _, gpu, start, end in process.kernels():
        work.setdefault(gpu, []).append(("kernel", start, end))
    for _, gpu, other, _, start, end in process.copies():
        for place in {gpu, other} - {None}:
            work.setdefault(place, []).append(("copy", start, end))
    work.pop(None, None)
    return work


def gpu_timeline(processes):
    parts = {"total_time": [], "kernel": [], "memory": [], "busy_time": [], "idle": []}
    for process in processes:
        work = [interval for intervals in gpu_work(process).values() for interval in intervals]
        covered = {}
        for name, kinds in (("kernel", {"kernel"}), ("memory", {"copy"}), ("busy_time", {"kernel", "copy"})):
            covered[name] = union_length([(start, end) for kind, start, end in work if kind in kinds])
            parts[name].append(covered[name])
        known = process.start_ns is not None and process.end_ns is not None
        total = process.end_ns - process.start_ns if known else None
        parts["total_time"].append(total)
        parts["idle"].append(max(0, total - covered["busy_time"]) if known else None)
    if not sum(parts["busy_time"]):
        return []
    sums = {name: None if None in values else sum(values) for name, values in parts.items()}
    total = sums["total_time"]
    return [
        {
            "type": name,
            "time_ms": None if value is None else value / 1e6,
            "percent": None if total is None or value is None else 100 * value / total if total else 0.0,
        }
        for name, value in sums.items()
    ]


def busy_and_concurrency(processes):
    """Answers of `busy` and `gpu_concurrency` in an order that needs no process numbers."""
    busy, concurrency = [], []
    for process in processes:
        work = gpu_work(process)
        ends = [interval for intervals in work.values() for interval in intervals]
        span = max(end for _, _, end in ends) - min(start for _, start, _ in ends) if ends else 0
        for gpu, intervals in work.items():
            times, copies = {}, {}
            for length, kinds in stretches(intervals):
                kernels = kinds.count("kernel")
                times[kernels] = times.get(kernels, 0) + length
                copies[kernels] = copies.get(kernels, 0) + (length if "copy" in kinds else 0)
            outside = span - sum(times.values())
            if outside:
                times[0] = times.get(0, 0) + outside
            if not span:
                continue
            idle = times.get(0, 0) - copies.get(0, 0)
            busy.append({"gpu": gpu, "busy_ns": span - idle, "span_ns": span, "busy_pct": share(span - idle, span)})
            for kernels, time in times.items():
                record = {"gpu": gpu, "kernels_running": kernels, "time_ns": time, "copies_ns": copies.get(kernels, 0)}
                concurrency.append(record | {"pct": share(time, span)})
    return sorted(busy, key=in_order), sorted(concurrency, key=in_order)


def in_order(record):
    """A key for records in whatever order."""
    return tuple((value is not None, value if value is not None else 0) for value in record.values())


def kernel_by_shape(processes):
    shapes = [shape for process in processes for shape in process.shapes()]
    total = sum(shape[3] for shape in shapes)
    records = []
    for (name, grid, workgroup), group in grouped(shapes, lambda shape: shape[:3]).items():
        durations = [shape[3] for shape in group]
        groups = None if 0 in workgroup else numpy.prod([-(-g // w) for g, w in zip(grid, workgroup)]).item()
        record = {"kernel_name": name} | dict(zip(("grid_x", "grid_y", "grid_z"), grid))
        record |= dict(zip(("workgroup_x", "workgroup_y", "workgroup_z"), workgroup)) | {"workgroups": groups}
        record |= statistics_of(durations) | {"median_ns": float(statistics.median(durations))}
        records.append(record | {"pct": share(sum(durations), total)})
    axes = [f"{size}_{axis}" for size in ("grid", "workgroup") for axis in "xyz"]
    return by_total(records, "kernel_name", *axes)


def short_kernels(processes, threshold_us):
    kernels = [(name, end - start) for process in processes for name, _, start, end in process.kernels()]
    total = sum(duration for _, duration in kernels)
    records = []
    for name, group in grouped([kernel for kernel in kernels if kernel[1] < threshold_us * 1000], lambda k: k[0]).items():
        part = sum(duration for _, duration in group)
        record = {"kernel_name": name, "calls": len(group), "total_ns": part, "mean_ns": part / len(group)}
        records.append(record | {"pct_of_kernel_time": share(part, total)})
    return by_total(records, "kernel_name")


def short_kernel_histogram(processes, threshold_us, bins):
    durations = [end - start for process in processes for _, _, start, end in process.kernels()]
    short = [duration / 1000 for duration in durations if duration < threshold_us * 1000]
    if not short:
        return []
    counts, edges = numpy.histogram(short, bins=bins)
    return [
        {"bin_start_us": start, "bin_end_us": end, "calls": calls}
        for start, end, calls in zip(edges.tolist(), edges[1:].tolist(), counts.tolist())
    ]


def kernel_duration_histogram(processes):
    durations = [end - start for process in processes for _, _, start, end in process.kernels()]
    rows = []
    for start, end in duration_bins(durations, histogram_width(durations)):
        inside = [duration for duration in durations if start <= duration < end]
        row = {"bin_start_ns": start, "bin_end_ns": end, "calls": len(inside), "total_ns": sum(inside)}
        shares = {"pct": share(len(inside), len(durations)), "pct_of_time": share(sum(inside), sum(durations))}
        rows.append(row | shares)
    return rows


def marker_summary(processes):
    markers = []
    for process in processes:
        for domain, name, message, duration in process.regions():
            if domain == "marker":
                kind = "process" if name == "roctxProcessRangeA" else "thread"
                markers.append((name if message is None else message, kind, duration))
        for domain, name, message in process.marks():
            if domain == "marker":
                markers.append((name if message is None else message, "mark", 0))
    records = []
    for (message, kind), group in grouped(markers, lambda marker: marker[:2]).items():
        durations = [marker[2] for marker in group]
        record = {"message": message, "kind": kind} | statistics_of(durations)
        records.append(record | {"median_ns": float(statistics.median(durations))})
    return by_total(records, "message", "kind")


def allocation_records(allocations, labels):
    records = []
    for key, group in grouped(allocations, lambda allocation: tuple(allocation[at] for at in labels.values())).items():
        sizes, durations = [allocation[4] for allocation in group], [allocation[5] for allocation in group]
        record = dict(zip(labels, key)) | statistics_of(durations)
        del record["min_ns"]
        record |= {"total_bytes": sum(sizes), "mean_bytes": sum(sizes) / len(sizes)}
        records.append(record | {"min_bytes": min(sizes), "max_bytes": max(sizes)})
    return sorted(records, key=in_order)


def domain_summary(processes):
    rows = []
    for process in processes:
        rows += [("regions", domain, duration) for domain, _, _, duration in process.regions()]
        rows += [("kernels", "kernel", end - start) for _, _, start, end in process.kernels()]
        rows += [("copies", "copy", copy[5] - copy[4]) for copy in process.copies()]
        for allocation in process.allocations():
            domain = "scratch" if allocation[1] == "SCRATCH" else "allocation"
            rows.append(("allocations", domain, allocation[5]))
    total = sum(row[2] for row in rows)
    records = []
    for (source, domain), group in grouped(rows, lambda row: row[:2]).items():
        durations = [row[2] for row in group]
        record = {"source": source, "domain": domain} | statistics_of(durations)
        record["std_ns"] = statistics.stdev(durations) if len(durations) > 1 else None
        records.append(record | {"pct": share(sum(durations), total)})
    return by_total(records, "source", "domain")


def top(processes):
    """Kernels by name alone: their categories are the program's own."""
    rows = []
    for process in processes:
        rows += [("regions", domain, name, duration) for domain, name, _, duration in process.regions()]
        rows += [("kernels", None, name, end - start) for name, _, start, end in process.kernels()]
        rows += [("copies", "copy", copy[0], copy[5] - copy[4]) for copy in process.copies()]
    total = sum(row[3] for row in rows)
    records = []
    for (source, _, name), group in grouped(rows, lambda row: row[:3]).items():
        durations = [row[3] for row in group]
        record = {"source": source, "name": name} | statistics_of(durations)
        records.append(record | {"pct": share(sum(durations), total)})
    return sorted(records, key=in_order)


def counter_summary(processes, labels):
    counters = [counter for process in processes for counter in process.counters()]
    records = []
    for key, group in grouped(counters, lambda counter: tuple(counter[at] for at in labels.values())).items():
        values = [counter[2] for counter in group]
        record = dict(zip(labels, key)) | {"dispatches": len(values), "total": sum(values)}
        record |= {"mean": statistics.fmean(values), "median": statistics.median(values)}
        record["std"] = statistics.stdev(values) if len(values) > 1 else None
        records.append(record | {"min": min(values), "max": max(values)})
    return sorted(records, key=lambda record: tuple(record[label] for label in labels))


def picked(records, columns):
    return [{column: record.get(column) for column in columns} for record in records]


def compare(findings, source, query, flags, found, expected, order):
    label = f"{source} {query} {' '.join(options_of(flags))}".rstrip()
    if isinstance(found, Exception):
        findings.check(label, found)
        return
    found = picked(found, list(expected[0]) if expected else [])
    if order:
        found.sort(key=order)
    findings.check(label, difference(found, expected))


def check_input(binary, source):
    """What was found about an input, and how many rows of each query were compared."""
    findings, compared = Findings(), {}
    check(findings, binary, source, compared)
    return findings, compared


def check(findings, binary, source, compared):
    processes = [process for path in database_files(source) for process in open_processes(path)]
    if any(process.several for process in processes):
        findings.check(source, "captures with several processes are beyond this check")
        return
    all_processes, processes = processes, without_counter_passes(processes)
    busy, concurrency = busy_and_concurrency(processes)
    allocations = [allocation for process in processes for allocation in process.allocations()]
    scratch = [allocation for allocation in allocations if allocation[1] == "SCRATCH"]
    others = [allocation for allocation in allocations if allocation[1] != "SCRATCH"]
    by_gpu = ("--by", "process,gpu")
    answers = [
        ("kernel_summary", kernel_summary(processes), (), None),
        ("copy_summary", copy_summary(processes), (), None),
        ("time_breakdown", time_breakdown(processes), by_gpu, lambda record: tuple(record.values())),
        ("gpu_timeline", gpu_timeline(processes), (), None),
        ("busy", busy, by_gpu, in_order),
        ("gpu_concurrency", concurrency, by_gpu, in_order),
        ("kernel_by_shape", kernel_by_shape(processes), (), None),
        ("kernel_duration_histogram", kernel_duration_histogram(processes), (), None),
        ("marker_summary", marker_summary(processes), (), None),
        ("allocation_summary", allocation_records(others, {"operation": 0, "level": 1}), (), in_order),
        ("allocation_summary", allocation_records(others, {"gpu": 2, "operation": 0}), ("--by", "gpu"), in_order),
        (
            "scratch_summary",
            allocation_records(scratch, {"gpu": 2, "queue_id": 3, "operation": 0}),
            ("--by", "gpu,queue_id"),
            in_order,
        ),
        ("domain_summary", domain_summary(processes), (), None),
        ("top", top(processes), ("--top", "0"), in_order),
        ("counter_summary", counter_summary(all_processes, {"counter": 0}), (), None),
        (
            "counter_summary",
            counter_summary(all_processes, {"kernel_name": 1, "counter": 0}),
            ("--by", "kernel_name"),
            None,
        ),
    ]
    for bins in (1, 7, 50):
        expected = copy_bandwidth_over_time(processes, bins)
        options = ("--by", "process", "--bins", str(bins))
        answers.append(("copy_bandwidth_over_time", expected, options, None))
    for threshold in (10, 12.34, 100, 1000):
        options = ("--threshold-us", str(threshold))
        answers.append(("short_kernels", short_kernels(processes, threshold), options, None))
        for bins in (1, 7, 100, 1000):
            expected = short_kernel_histogram(processes, threshold, bins)
            answers.append(("short_kernel_histogram", expected, (*options, "--bins", str(bins)), None))
    asked = [(query, by_flag(options)) for query, _, options, _ in answers]
    found = {}
    for start in starts(asked):
        records = start.read(binary, source)
        found |= {(query, *options_of(flags)): records[query] for query, flags in start.queries.items()}
    for (query, flags), (_, expected, options, order) in zip(asked, answers):
        compared[query] = compared.get(query, 0) + len(expected)
        compare(findings, source, query, flags, found[(query, *options)], expected, order)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, nargs="+", help="directories or databases; fixtures and shared data if absent")
    arguments = parser.parse_args()
    tally, compared = Tally(), {}
    with tempfile.TemporaryDirectory() as work, ProcessPoolExecutor(os.cpu_count()) as pool:
        sources = [*(arguments.inputs or default_inputs()), *edge_cases.make(work)]
        for findings, rows in pool.map(check_input, repeat(arguments.binary), sources):
            tally.add(findings)
            for query, count in rows.items():
                compared[query] = compared.get(query, 0) + count
    for query, rows in compared.items():
        if rows == 0:
            tally.check(query, "no input gave it a row, so nothing was compared")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
