"""What is odd about a trace, counted from its rows."""

import tomllib

from common import REPOSITORY
from derived_check import ANNOTATIONS, INTERFACES

from .case import Case
from .inputs import made, table
from .metric_table import gpus_of, metric_rows
from .sums import grouped, ordered

KEYS = {"kernels": "dispatch_id", "copies": "copy_id", "allocations": "alloc_id", "regions": "region_id"}
TABLES = {"kernels": "kernels", "copies": "memory_copies", "allocations": "memory_allocations", "regions": "regions"}
SOURCES = {"kernels": "kernel_dispatch", "copies": "memory_copy", "allocations": "memory_allocate", "regions": "region"}
SEVERITIES = ("error", "warning", "info")
SECOND = 10**9


class Found:
    """The anomalies of one process: (check, severity, table) with the keys of their rows."""

    def __init__(self):
        self.rows = []

    def add(self, check, severity, name, keys, count=None):
        keys = list(keys)
        if keys or count is not None:
            first = min((key for key in keys if key is not None), default=None)
            number = len(keys) if count is None else count
            self.rows.append({"check_id": check, "severity": severity, "table_name": name, "count": number, "first_key": first})


def of_times(process, found):
    """Times that cannot be true, and lengths of zero."""
    for rows, key in KEYS.items():
        name = TABLES[rows]
        if rows == "kernels" and process.role == "counters":
            name = "counter_dispatches"
        zero, negative, far, instant, outside = [], [], [], [], []
        for row in getattr(process, rows):
            start, end = row["start_ns"], row["end_ns"]
            if start is None or end is None:
                continue
            kind = zero if start <= 0 else negative if end < start else far if not row["valid"] else None
            if kind is not None:
                kind.append(row[key])
                continue
            if start == end:
                instant.append(row[key])
            before = process.start_ns is not None and start < process.start_ns
            if before or (process.end_ns is not None and end > process.end_ns):
                outside.append(row[key])
        found.add("zero_timestamp", "warning", name, zero)
        found.add("negative_duration", "warning", name, negative)
        found.add("far_outside_process", "warning", name, far)
        found.add("zero_length", "info", name, instant)
        found.add("outside_process", "info", name, outside)


def of_queues(process, found):
    """Dispatches of one queue that overlap, come again, or run long before those dispatched before them."""
    valid = [kernel for kernel in process.valid("kernels") if kernel["agent_id"] is not None and kernel["queue_id"] is not None]
    overlapping, back = [], []
    for group in grouped(valid, ["agent_id", "queue_id"]).values():
        group.sort(key=lambda kernel: (kernel["start_ns"], kernel["end_ns"], kernel["dispatch_id"]))
        for place, kernel in enumerate(group):
            if any(before["end_ns"] > kernel["start_ns"] for before in group[:place]):
                overlapping.append(kernel["dispatch_id"])
        group.sort(key=lambda kernel: kernel["dispatch_id"])
        for place, kernel in enumerate(group):
            if any(before["start_ns"] - kernel["start_ns"] > SECOND for before in group[:place]):
                back.append(kernel["dispatch_id"])
    found.add("queue_overlap", "info", "kernels", overlapping)
    numbers = [kernel["dispatch_id"] for kernel in process.kernels]
    again = [number for number in set(numbers) for _ in range(numbers.count(number) - 1)]
    found.add("repeated_dispatch", "warning", "kernels", again)
    if not again:
        found.add("clock_jump", "warning", "kernels", back)


def of_gaps(process, found):
    """Gaps of ten minutes that take nearly all of the recorded time, and gaps of a day."""
    times = []
    for rows, key in KEYS.items():
        if rows == "allocations":
            continue
        for row in process.valid(rows):
            place = (TABLES[rows], row[key])
            # A call that waits covers no gap.
            ends = [(row["start_ns"], row["end_ns"])] if rows != "regions" else [(row[end], row[end]) for end in ("start_ns", "end_ns")]
            times += [(start, place, end) for start, end in ends]
    times.sort()
    gaps, reached = [], times[0][0] if times else 0
    for start, place, end in times:
        if start - reached >= 600 * SECOND:
            gaps.append((start - reached, place))
        reached = max(reached, end)
    most = times and sum(gap for gap, _ in gaps) * 100 >= 95 * (reached - times[0][0])
    jumps = [place for gap, place in gaps if most or gap >= 86_400 * SECOND]
    if jumps:
        found.add("clock_jump", "warning", jumps[0][0], [jumps[0][1]], len(jumps))


def of_references(process, found):
    """Rows that refer to a symbol, agent or string that is not there, and work without a GPU."""
    raw = process.raw
    dispatches = raw.rows("kernel_dispatch")
    symbols, agents, strings = raw.keyed("info_kernel_symbol"), process.agents, raw.keyed("string")
    found.add("missing_symbol", "warning", "kernels", [row["dispatch_id"] for row in dispatches if row["kernel_id"] not in symbols])
    unknown = [row["dispatch_id"] for row in dispatches if row["agent_id"] is not None and row["agent_id"] not in agents]
    found.add("missing_agent", "warning", "kernels", unknown)
    found.add("missing_string", "warning", "regions", [row["id"] for row in raw.rows("region") if row["name_id"] not in strings])
    for rows, severity in (("kernels", "warning"), ("copies", "info")):
        without = [row for row in getattr(process, rows) if row["gpu"] is None]
        if without:
            found.add("no_gpu", severity, TABLES[rows], [], len(without))


def of_launches(process, found):
    """Work against the calls that launched it; without any call there is nothing to compare with."""
    starts, of_calls = {}, []
    for region in process.regions:
        if region["correlation_id"] is not None and region["start_ns"] is not None:
            starts[region["correlation_id"]] = min(starts.get(region["correlation_id"], region["start_ns"]), region["start_ns"])
            begins = INTERFACES.get(region["domain"], "")
            if region["domain"] not in ANNOTATIONS and region["name"].startswith(begins):
                of_calls.append(region["correlation_id"])
    if not starts:
        return
    for rows in ("kernels", "copies"):
        own, key = process.valid(rows), KEYS[rows]
        identity = lambda row: row["correlation_id"]
        found.add("no_correlation", "info", TABLES[rows], [row[key] for row in own if identity(row) is None])
        first = min((identity for identity in of_calls if identity > 0), default=0)
        alone = [row for row in own if identity(row) is not None and identity(row) not in starts]
        found.add("launched_before_recording", "info", TABLES[rows], [row[key] for row in alone if 0 < identity(row) < first])
        unmatched = [row[key] for row in alone if not 0 < identity(row) < first]
        found.add("unmatched_correlation", "warning", TABLES[rows], unmatched)
        early = [row[key] for row in own if identity(row) in starts and row["start_ns"] < starts[identity(row)]]
        found.add("starts_before_launch", "warning", TABLES[rows], early)


# Columns that the tables take whole numbers from.
INTEGERS = {
    "kernel_dispatch": ("start", "end", "kernel_id", "dispatch_id", "queue_id", "stream_id", "agent_id"),
    "memory_copy": ("start", "end", "size", "queue_id", "stream_id"),
    "region": ("start", "end"),
    "memory_allocate": ("start", "end", "address", "size"),
    "info_code_object": ("load_base", "load_size"),
}
NAMES = {"kernel_dispatch": "kernels", "memory_copy": "memory_copies", "region": "regions", "memory_allocate": "memory_allocations"}
NAMES |= {"info_code_object": "code_objects"}


def of_types(process, found):
    """Columns of whole numbers with other values; each column is an anomaly of its own."""
    for base, columns in INTEGERS.items():
        for column in columns:
            odd = [row for row in process.raw.rows(base) if row.get(column) is not None and not isinstance(row[column], int)]
            if odd:
                found.add("unexpected_type", "info", NAMES[base], [row.get("dispatch_id", row["id"]) for row in odd])


KNOWN = {"metadata", "string", "info_node", "info_process", "info_thread", "info_agent", "info_queue", "info_stream", "info_pmc"}
KNOWN |= {"info_code_object", "info_kernel_symbol", "track", "event", "arg", "pmc_event", "region", "sample", "kernel_dispatch"}
KNOWN |= {"memory_copy", "memory_allocate"}


def of_capture(process, found):
    """Tables that nobody knows, and times of the process that are not recorded."""
    suffix = process.raw.suffix
    unknown = [name for name in process.raw.tables if name.endswith(suffix) and name[6 : -len(suffix)] not in KNOWN]
    if unknown:
        found.add("unknown_table", "info", "processes", [str(process.file)], 1)
    if process.start_ns is None or process.end_ns is None:
        found.add("unknown_process_times", "info", "processes", [], 1)
    if process.raw.carries_counters():
        if process.role == "trace":
            found.add("serialised_run", "warning", "kernels", [], 1)
        else:
            found.add("counter_pass", "info", "counter_dispatches", [], 1)


def of_absence(process, source, found):
    """Kinds of records that a trace lacks; counters of another process count as well."""
    if process.role != "trace":
        return
    domains = {region["domain"] for region in process.regions + process.marks}
    sampled = {row["event_id"] for row in process.raw.rows("sample")}
    counted = {row["event_id"] for row in process.raw.rows("kernel_dispatch")}
    values = process.raw.rows("pmc_event")
    here = {"kernels": process.kernels, "memory_copies": process.copies, "memory_allocations": process.allocations}
    here |= {"counters": any(one.raw.carries_counters() for one in source.processes)}
    here |= {"samples": [row for row in values if row["event_id"] in sampled and row["event_id"] not in counted]}
    lacking = set()
    for kind in tomllib.loads((REPOSITORY / "share" / "not_recorded.toml").read_text())["kind"]:
        recorded = domains & set(kind["domains"]) if kind.get("domains") else here.get(kind["table"])
        if not recorded:
            lacking.add(kind["table"])
    for name in lacking:
        found.add("not_recorded", "info", name, [], 0)
    launches = [one["region_id"] for one in process.regions if one["name"].startswith("hip") and "Launch" in one["name"]]
    if not process.kernels and launches:
        found.add("launches_without_dispatches", "error", "kernels", launches)


def anomalies(source):
    rows = []
    for process in source.processes:
        found = Found()
        of_times(process, found)
        of_capture(process, found)
        if process.role == "trace":
            of_queues(process, found)
            of_gaps(process, found)
            of_references(process, found)
            of_launches(process, found)
        of_types(process, found)
        of_absence(process, source, found)
        rows += [{"process": process.number, "rank": process.rank} | row for row in found.rows]
    return rows


def trace_health(source, options):
    by, records = options.by(), []
    for key, group in grouped(anomalies(source), [*by, "check_id", "severity", "table_name"]).items():
        lowest = min((row["process"] for row in group if row["first_key"] is not None), default=None)
        keys = [row["first_key"] for row in group if row["process"] == lowest and row["first_key"] is not None]
        record = dict(zip([*by, "check_id", "severity", "table_name"], key)) | {"count": sum(row["count"] for row in group)}
        record |= {"first_key": str(min(keys)) if keys else None, "detail": None}
        records.append(record | {"order": SEVERITIES.index(record["severity"])})
    rows = metric_rows(gpus_of(source), lambda row: (*(row[name] for name in by), row["kernel_name"]))
    doubtful = [row for row in rows if (row["reason"] or "").startswith("implausible: ")]
    for key, group in grouped(doubtful, lambda row: (*row["group"][:-1], row["reason"])).items():
        record = dict(zip(by, key)) | {"check_id": "implausible_counters", "severity": "warning", "table_name": "counters"}
        record |= {"count": len(group), "first_key": min(row["metric"] for row in group), "detail": None}
        records.append(record | {"order": SEVERITIES.index("warning")})
    records = ordered(records, by, "order", "check_id", "table_name")
    return [{name: value for name, value in record.items() if name != "order"} for record in records]


@made("odd_columns", "hostile")
def spoil_columns(connection, _):
    """Two columns of a table have values of another type, each in one row."""
    kernels = table(connection, "kernel_dispatch")
    connection.execute(f'UPDATE "{kernels}" SET "start" = "start" + 0.5 WHERE dispatch_id = 10')
    connection.execute(f'UPDATE "{kernels}" SET "end" = "end" + 0.5 WHERE dispatch_id = 9')


@made("odd_rows", "two_nodes")
def spoil_rows(connection, number):
    """Times, references and types that cannot be true, of all processes but the third; the fourth has no dispatches."""
    kernels, copies = table(connection, "kernel_dispatch"), table(connection, "memory_copy")
    if number == 3:
        connection.execute(f'DELETE FROM "{kernels}"')
    if number in (0, 1):
        connection.execute(f'UPDATE "{kernels}" SET "start" = 0 WHERE dispatch_id % 20 = {5 + number}')
        connection.execute(f'UPDATE "{kernels}" SET "end" = "start" - 7 WHERE dispatch_id % 30 = 9')
        connection.execute(f'UPDATE "{kernels}" SET "end" = "start" WHERE dispatch_id IN (12, 50)')
        connection.execute(f'UPDATE "{kernels}" SET dispatch_id = 40 WHERE dispatch_id IN (41, 42)')
        connection.execute(f'UPDATE "{kernels}" SET agent_id = 99 WHERE dispatch_id = 60')
        connection.execute(f'UPDATE "{copies}" SET src_agent_id = 0, dst_agent_id = 0 WHERE id = 2')
        connection.execute(f'UPDATE "{kernels}" SET event_id = NULL WHERE dispatch_id > 69')
        connection.execute(f'UPDATE "{kernels}" SET "end" = "end" + 0.5 WHERE dispatch_id IN (9, 10)')
        later = f'"start" = "start" + {90_000 * SECOND}, "end" = "end" + {90_000 * SECOND}'
        connection.execute(f'UPDATE "{kernels}" SET {later} WHERE dispatch_id = 33')
        connection.execute(f'UPDATE "{copies}" SET "end" = "end" + 60000000000 WHERE id = {3 + number}')


QUERIES = {
    "trace_health": Case(
        trace_health,
        ("two_nodes", "hostile", "counters", "sampled", "odd_rows", "odd_columns"),
        ((), ("--by", "process")),
        more=(("odd_rows", ("--by", "process")),),
        unchecked={"detail": "its words are free"},
    )
}
