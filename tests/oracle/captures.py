"""Reads rocpd databases with Python's sqlite3 and the base tables alone.

Names, the validity of rows and the counter passes follow the descriptions of the tables, not the program.
"""

import json
import math
import re
import sqlite3

DAY_NS = 86_400 * 10**9
MOST_BYTES = 2**48
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "MPI_RANKID")
RANK_VARIABLES += ("SLURM_PROCID", "PALS_RANKID", "FLUX_TASK_RANK", "RANK")


def whole(value):
    """An integer column: SQLite keeps what does not fit as a real, and text is not a number."""
    return int(value) if isinstance(value, (int, float)) else None


def possible_size(value):
    """A number of bytes, or nothing where no memory has as many."""
    size = whole(value)
    return size if size is not None and 0 <= size <= MOST_BYTES else None


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
        self.cache = {}

    def rows(self, base):
        """Rows of a base table as dictionaries; none when the table is missing."""
        table = f"rocpd_{base}{self.suffix}"
        if table not in self.tables:
            return []
        cursor = self.connection.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]

    def keyed(self, base):
        """Rows of a base table by id, read once."""
        if base not in self.cache:
            self.cache[base] = {row["id"]: row for row in self.rows(base)}
        return self.cache[base]

    def string(self, number, default=None):
        row = self.keyed("string").get(number)
        return default if row is None or row["string"] is None else row["string"]

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

    def kernel_name(self, row):
        symbol = self.keyed("info_kernel_symbol").get(row["kernel_id"])
        return (symbol and symbol_name(symbol)) or f"kernel_{row['kernel_id']}"

    def kernel_rows(self):
        """(row, start, end) of every valid dispatch."""
        found = []
        for row in self.rows("kernel_dispatch"):
            times = self.valid_times(row)
            if times and not row.get("replay_pass"):
                found.append((row, *times))
        return found

    def kernels(self):
        """(name, gpu, start, end) of every valid dispatch."""
        return [
            (self.kernel_name(row), self.gpus.get(row.get("agent_id")), start, end)
            for row, start, end in self.kernel_rows()
        ]

    def shapes(self):
        """(name, grid, workgroup, duration) of every valid dispatch."""
        return [
            (
                self.kernel_name(row),
                tuple(row[f"grid_size_{axis}"] for axis in "xyz"),
                tuple(row[f"workgroup_size_{axis}"] for axis in "xyz"),
                end - start,
            )
            for row, start, end in self.kernel_rows()
        ]

    def domain_and_message(self, row):
        """Domain and text of the event of a row."""
        event = self.keyed("event").get(row.get("event_id")) or {}
        category = self.string(event.get("category_id"), "unknown").lower().removeprefix("rocm_")
        try:
            message = json.loads(event.get("extdata") or "{}").get("message")
        except ValueError:
            message = None
        return category.split("_")[0] or "unknown", message

    def regions(self):
        """(domain, name, message, duration) of every valid region that has a length."""
        found = []
        for row in self.rows("region"):
            times = self.valid_times(row)
            if times and row["start"] != row["end"]:
                domain, message = self.domain_and_message(row)
                found.append((domain, self.string(row["name_id"], "unknown"), message, times[1] - times[0]))
        return found

    def marks(self):
        """(domain, name, message) of every record without a length."""
        found = []
        for row in self.rows("sample"):
            track = self.keyed("track").get(row["track_id"]) or {}
            domain, message = self.domain_and_message(row)
            found.append((domain, self.string(track.get("name_id")), message))
        for row in self.rows("region"):
            if row["start"] is not None and row["start"] == row["end"]:
                domain, message = self.domain_and_message(row)
                found.append((domain, self.string(row["name_id"]), message))
        return found

    def allocations(self):
        """(operation, level, gpu, queue, bytes, duration) of every valid operation."""
        found = []
        for row in self.rows("memory_allocate"):
            times = self.valid_times(row)
            if times:
                gpu = self.gpus.get(row["agent_id"])
                found.append((row["type"], row["level"], gpu, row["queue_id"], row["size"] or 0, times[1] - times[0]))
        return found

    def counters(self):
        """(counter, kernel, value) of every counter of a dispatch: the sum over its instances."""
        dispatches = {row["event_id"]: row for row in self.rows("kernel_dispatch") if row.get("event_id") is not None}
        sums = {}
        for row in self.rows("pmc_event"):
            dispatch = dispatches.get(row["event_id"])
            if dispatch is not None and row.get("sample_id") is None:
                counter = (self.keyed("info_pmc").get(row["pmc_id"]) or {}).get("name", "unknown")
                key = (dispatch["dispatch_id"], counter, self.kernel_name(dispatch))
                sums.setdefault(key, []).append(row["value"])
        return [(counter, kernel, math.fsum(values)) for (_, counter, kernel), values in sums.items()]

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
            found.append((direction, gpu, destination if between else None, possible_size(row["size"]), *times))
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
