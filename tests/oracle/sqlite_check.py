"""Compares the binary with answers that are worked out from the databases by small code of their own.

Only Python's sqlite3 and the base tables are used, intervals are united by brute force, and the names, the validity of
rows and the counter passes follow the descriptions of the tables, not the program.
"""

import argparse
import json
import re
import sqlite3
import statistics
import sys
from pathlib import Path

from common import BinaryError, Tally, database_files, default_inputs, difference, read_table

DAY_NS = 86_400 * 10**9
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "MPI_RANKID")
RANK_VARIABLES += ("SLURM_PROCID", "PALS_RANKID", "FLUX_TASK_RANK", "RANK")


def whole(value):
    """An integer column: SQLite keeps what does not fit as a real, and text is no number."""
    return int(value) if isinstance(value, (int, float)) else None


class Process:
    """One process of one capture: the tables whose names end in the same suffix."""

    def __init__(self, connection, tables, suffix):
        self.connection = connection
        self.tables = tables
        self.suffix = suffix
        info = self.rows("info_process")
        self.info = info[0] if info else {}
        self.several = len(info) > 1
        self.start_ns = whole(self.info.get("start")) or whole(self.info.get("init"))
        self.end_ns = whole(self.info.get("end")) or whole(self.info.get("fini"))
        self.gpus = self.number_gpus()

    def rows(self, base):
        """Rows of a base table as dictionaries; none when the table is missing."""
        table = f"rocpd_{base}{self.suffix}"
        if table not in self.tables:
            return []
        cursor = self.connection.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]

    def number_gpus(self):
        """Index among the GPUs by agent."""
        agents = [agent for agent in self.rows("info_agent") if agent["type"] == "GPU"]
        recorded = {agent.get("type_index") for agent in agents} - {None}
        index = "type_index" if len(recorded) == len(agents) else "absolute_index"
        agents.sort(key=lambda agent: (agent.get(index) is None, agent.get(index) or 0, agent["id"]))
        return {agent["id"]: number for number, agent in enumerate(agents)}

    def environment_rank(self):
        try:
            environment = json.loads(self.info.get("environment") or "{}")
        except ValueError:
            return None
        values = [environment.get(variable) for variable in RANK_VARIABLES if variable in environment]
        return int(values[0]) if values and str(values[0]).isdigit() else None

    def carries_counters(self):
        counted = {row["event_id"] for row in self.rows("pmc_event")}
        return any(row.get("event_id") in counted for row in self.rows("kernel_dispatch"))

    def is_valid(self, start, end):
        if start is None or end is None or start <= 0 or end < start:
            return False
        early = self.start_ns is not None and start < self.start_ns - DAY_NS
        late = self.end_ns is not None and end > self.end_ns + DAY_NS
        return not early and not late

    def valid_times(self, row):
        start, end = whole(row["start"]), whole(row["end"])
        return (start, end) if self.is_valid(start, end) else None

    def kernels(self):
        """(name, gpu, start, end) of every valid dispatch."""
        names = {symbol["id"]: symbol_name(symbol) for symbol in self.rows("info_kernel_symbol")}
        found = []
        for row in self.rows("kernel_dispatch"):
            times = self.valid_times(row)
            if times and not row.get("replay_pass"):
                name = names.get(row["kernel_id"]) or f"kernel_{row['kernel_id']}"
                found.append((name, self.gpus.get(row.get("agent_id")), *times))
        return found

    def copies(self):
        """(direction, gpu, other gpu, bytes, start, end) of every valid copy."""
        strings = {string["id"]: string["string"] for string in self.rows("string")}
        found = []
        for row in self.rows("memory_copy"):
            times = self.valid_times(row)
            if not times:
                continue
            source = self.gpus.get(row["src_agent_id"])
            destination = self.gpus.get(row["dst_agent_id"])
            between = source is not None and destination is not None and source != destination
            gpu = destination if source is None else source
            direction = copy_direction(strings.get(row["name_id"]) or "", between)
            found.append((direction, gpu, destination if between else None, whole(row["size"]), *times))
        return found


def symbol_name(symbol):
    return symbol["display_name"] or re.sub(r"\.kd$", "", symbol["kernel_name"] or "")


def copy_direction(name, between_gpus):
    match = re.search(r"(HOST|DEVICE)_TO_(HOST|DEVICE)$", name.upper())
    if not match:
        return "NONE"
    direction = f"{match[1][0]}2{match[2][0]}"
    return "P2P" if direction == "D2D" and between_gpus else direction


def open_processes(path):
    """The processes of a database file."""
    connection = sqlite3.connect(f"file:{path.resolve()}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    prefix = "rocpd_metadata"
    suffixes = sorted(table.removeprefix(prefix) for table in tables if table.startswith(prefix))
    return [Process(connection, tables, suffix) for suffix in suffixes]


def without_counter_passes(processes):
    """Leaves out processes with counters whose rank has one without, by the recorded environment."""
    plain = [process.environment_rank() for process in processes if not process.carries_counters()]
    claimed = [rank for rank in plain if rank is not None]
    if len(set(claimed)) < len(claimed):
        return processes
    return [
        process for process in processes if not (process.carries_counters() and process.environment_rank() in claimed)
    ]


def union_length(intervals):
    """Time covered, worked out second by second so to speak: every stretch between two ends is asked for."""
    points = sorted({point for interval in intervals for point in interval})
    by_start = sorted(intervals)
    covered, taken, running = 0, 0, []
    for left, right in zip(points, points[1:]):
        while taken < len(by_start) and by_start[taken][0] <= left:
            running.append(by_start[taken])
            taken += 1
        running = [interval for interval in running if interval[1] >= right]
        covered += right - left if running else 0
    return covered


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


def copy_summary(processes):
    copies = [(number, *copy) for number, process in enumerate(processes) for copy in process.copies()]
    records = []
    for direction, group in grouped(copies, lambda copy: copy[1]).items():
        durations = [copy[6] - copy[5] for copy in group]
        sizes = [copy[4] for copy in group if copy[4] is not None]
        lanes = grouped(group, lambda copy: (copy[0], copy[2])).values()
        busy = sum(union_length([(copy[5], copy[6]) for copy in lane]) for lane in lanes)
        records.append(
            {
                "direction": direction,
                "copies": len(group),
                "total_bytes": sum(sizes) if sizes else None,
                "mean_bytes": sum(sizes) / len(sizes) if sizes else None,
                "total_ns": sum(durations),
                "busy_ns": busy,
                "gb_per_s": sum(sizes) / busy if sizes and busy else None,
                "min_ns": min(durations),
                "max_ns": max(durations),
            }
        )
    return sorted(records, key=lambda record: (-record["total_ns"], record["direction"]))


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


def picked(records, columns):
    return [{column: record.get(column) for column in columns} for record in records]


def compare(tally, binary, source, query, expected, columns, options=(), order=None):
    try:
        found = picked(read_table(binary, query, source, options), columns)
    except (BinaryError, ValueError) as error:
        tally.check(f"{source} {query}", error)
        return
    if order:
        found.sort(key=order)
    tally.check(f"{source} {query}", difference(found, expected))


def check_input(tally, binary, source, compared):
    processes = [process for path in database_files(source) for process in open_processes(path)]
    if any(process.several for process in processes):
        tally.check(source, "captures with several processes are beyond this check")
        return
    processes = without_counter_passes(processes)
    answers = {
        "kernel_summary": (kernel_summary(processes), (), None),
        "copy_summary": (copy_summary(processes), (), None),
        "time_breakdown": (time_breakdown(processes), ("--by", "process,gpu"), lambda record: tuple(record.values())),
    }
    for query, (expected, options, order) in answers.items():
        compared[query] = compared.get(query, 0) + len(expected)
        columns = list(expected[0]) if expected else []
        compare(tally, binary, source, query, expected, columns, options, order)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, nargs="+", help="directories or databases; fixtures and shared data if absent")
    arguments = parser.parse_args()
    tally = Tally()
    compared = {}
    for source in arguments.inputs or default_inputs():
        check_input(tally, arguments.binary, source, compared)
    for query, rows in compared.items():
        if rows == 0:
            tally.check(query, "no input gave it a row, so nothing was compared")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
