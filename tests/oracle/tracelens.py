"""Compares the binary with what TraceLens answers for one rocprofv3 JSON file.

The answers are those of `csv_default` (the timeline) and of `csv_units_fixed` (TraceLens after dividing durations by
1000, without which it takes nanoseconds for microseconds). Where the binary cannot read JSON, it gets a rocpd database
with the same dispatches.
"""

import argparse
import csv
import gzip
import io
import json
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from common import REPOSITORY, BinaryError, Tally, database_files, difference, read_table
from edge_cases import FIXTURE, table_named

DATA = REPOSITORY.parent / "shared" / "data"
EMPTIED = ("pmc_event", "arg", "sample", "region", "kernel_dispatch", "memory_copy", "memory_allocate", "event")
EMPTIED += ("track", "info_thread", "info_queue", "info_stream", "info_code_object", "info_kernel_symbol", "info_agent")


def as_database(json_path, work):
    """A rocpd database with the process, GPUs, symbols and dispatches of the JSON file."""
    root = json.loads(gzip.decompress(json_path.read_bytes()))["rocprofiler-sdk-tool"][0]
    target = Path(work) / "908_results.db"
    shutil.copyfile(database_files(FIXTURE)[0], target)
    connection = sqlite3.connect(target)
    for base in EMPTIED:
        connection.execute(f'DELETE FROM "{table_named(connection, f"rocpd_{base}")}"')
    process = table_named(connection, "rocpd_info_process")
    times = [root["metadata"]["init_time"], root["metadata"]["fini_time"]] * 2
    connection.execute(f'UPDATE "{process}" SET init = ?, fini = ?, start = ?, "end" = ?', times)
    ((guid, node, pid),) = connection.execute(f'SELECT guid, nid, id FROM "{process}"')

    def insert(base, row):
        row = {"guid": guid, "nid": node, "pid": pid} | row
        columns = ", ".join(f'"{column}"' for column in row)
        places = ", ".join("?" * len(row))
        table = table_named(connection, f"rocpd_{base}")
        connection.execute(f'INSERT INTO "{table}" ({columns}) VALUES ({places})', list(row.values()))

    for agent in root["agents"]:
        kind = "GPU" if agent["type"] == 2 else "CPU"
        place = {"absolute_index": agent["node_id"], "type_index": agent["logical_node_type_id"]}
        insert("info_agent", {"id": agent["id"]["handle"], "type": kind, "name": agent["name"]} | place)
    insert("info_code_object", {"id": 1})
    for symbol in root["kernel_symbols"]:
        details = {"truncated_kernel_name": symbol["truncated_kernel_name"]}
        row = {"id": symbol["kernel_id"], "code_object_id": 1, "kernel_name": symbol["kernel_name"]}
        row |= {"display_name": symbol["formatted_kernel_name"], "extdata": json.dumps(details)}
        insert("info_kernel_symbol", row)
    dispatches = root["buffer_records"]["kernel_dispatch"]
    for thread in sorted({record["thread_id"] for record in dispatches}):
        insert("info_thread", {"id": thread, "tid": thread})
    for base, key in (("info_queue", "queue_id"), ("info_stream", "stream_id")):
        handles = {record["dispatch_info"].get(key, record.get(key))["handle"] for record in dispatches}
        for handle in sorted(handles):
            insert(base, {"id": handle, "name": str(handle)})
    for record in dispatches:
        info = record["dispatch_info"]
        row = {"id": info["dispatch_id"], "dispatch_id": info["dispatch_id"], "kernel_id": info["kernel_id"]}
        row |= {"agent_id": info["agent_id"]["handle"], "queue_id": info["queue_id"]["handle"]}
        row |= {"stream_id": record["stream_id"]["handle"], "tid": record["thread_id"]}
        row |= {"start": record["start_timestamp"], "end": record["end_timestamp"]}
        row |= {f"grid_size_{axis}": info["grid_size"][axis] for axis in "xyz"}
        row |= {f"workgroup_size_{axis}": info["workgroup_size"][axis] for axis in "xyz"}
        insert("kernel_dispatch", row)
    connection.commit()
    connection.close()
    return target


def golden(folder, name):
    """Records of one of TraceLens's tables, numbers as numbers."""
    path = folder / name
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(text))]


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None


def renamed(records, names, factors):
    """Records with the columns of the other side, by their places."""
    return [
        {
            name: value if factor is None or value is None else value / factor
            for name, value, factor in zip(names, record.values(), factors)
        }
        for record in records
    ]


def by_name(records):
    return sorted(records, key=lambda record: str(record["name"]))


def by_dispatch(records):
    return sorted(records, key=lambda record: record["dispatch"])


def picked(records, columns):
    """The columns, as pairs of TraceLens's name and ours."""
    return [{theirs: record[ours] for theirs, ours in columns.items()} for record in records]


def cumulative_problem(records):
    shares = [record["cumulative_pct"] for record in records]
    if shares != sorted(shares):
        return "it decreases"
    return None if abs(shares[-1] - 100) < 1e-9 else f"it ends at {shares[-1]}"


def compare(tally, binary, source, default, fixed):
    found = read_table(binary, "gpu_timeline", source)
    expected = renamed(golden(default, "gpu_timeline.csv"), ("type", "time_ms", "percent"), (None, 1.0, 1.0))
    tally.check("gpu_timeline", difference(found, expected))

    names = ("name", "calls", "total_ns", "mean_ns", "pct")
    found = read_table(binary, "short_kernels", source, ("--name", "short"))
    totals = [record["total_ns"] for record in found]
    tally.check("short_kernels order", None if totals == sorted(totals, reverse=True) else "totals increase")
    found = picked(found, dict(zip(names, ("kernel_name", "calls", "total_ns", "mean_ns", "pct_of_kernel_time"))))
    expected = renamed(golden(fixed, "short_kernels_summary.csv"), names, (None, None, 1e-3, 1e-3, 1.0))
    tally.check("short_kernels", difference(by_name(found), by_name(expected)))

    found = read_table(binary, "short_kernel_histogram", source)
    names = ("bin_start_us", "bin_end_us", "calls")
    expected = renamed(golden(fixed, "short_kernel_histogram.csv"), names, (1.0, 1.0, None))
    tally.check("short_kernel_histogram", difference(found, expected))

    found = read_table(binary, "kernel_summary", source, ("--name", "short"))
    tally.check("kernel_summary cumulative_pct", cumulative_problem(found))
    by_category = read_table(binary, "kernel_by_category", source)
    tally.check("kernel_by_category cumulative_pct", cumulative_problem(by_category))
    names = ("name", "calls", "mean_ns", "median_ns", "std_ns", "min_ns", "max_ns", "pct", "cumulative", "total_ns")
    factors = (None, None, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1.0, 1.0, 1e-6)
    expected = renamed(golden(fixed, "kernel_summary.csv"), names, factors)
    columns = {name: name for name in names if name not in ("name", "cumulative")}
    # TraceLens adds up the cumulative share in alphabetical order.
    expected = picked(expected, {"name": "name"} | columns)
    found = picked(found, {"name": "kernel_name"} | columns)
    tally.check("kernel_summary", difference(by_name(found), by_name(expected)))

    columns = {"name": "kernel_name", "duration": "duration_ns", "stream": "stream_id", "dispatch": "dispatch_id"}
    columns |= {f"grid_{axis}": f"grid_{axis}" for axis in "xyz"}
    columns |= {f"block_{axis}": f"workgroup_{axis}" for axis in "xyz"}
    found = picked(read_table(binary, "kernel_details", source, ("--name", "short")), columns)
    factors = (None, 1e-3, *[None] * 8)
    expected = renamed(golden(fixed, "kernel_details.csv.gz"), tuple(columns), factors)
    tally.check("kernel_details", difference(by_dispatch(found), by_dispatch(expected)))

    tally.check("cross-check of calls", calls_problem(binary, source, len(expected)))


def calls_problem(binary, source, calls):
    """Every way to count the dispatches must give their number."""
    for query in ("kernel_by_shape", "kernel_duration_histogram", "kernel_by_category"):
        counted = sum(record["calls"] for record in read_table(binary, query, source))
        if counted != calls:
            return f"{query} counts {counted} dispatches of {calls}"
    return None


def readable(binary, path):
    try:
        return bool(read_table(binary, "gpu_timeline", path))
    except BinaryError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--json", type=Path, default=DATA / "rocprofv3-json" / "908_results.json.gz")
    parser.add_argument("--answers", type=Path, default=DATA / "tracelens-908")
    arguments = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as work:
        source = arguments.json
        if not readable(arguments.binary, source):
            print("the binary does not read JSON: it gets a rocpd database with the same dispatches", flush=True)
            source = as_database(source, work)
        compare(tally, arguments.binary, source, arguments.answers / "csv_default", arguments.answers / "csv_units_fixed")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
