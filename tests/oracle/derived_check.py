"""Compares derived tables with what small code of its own works out from the base tables of the databases.

The engines that check queries read tables that the program derived. Here launches, causes of idle time, collectives, the critical
path and sums of metrics are worked out of source rows with Python's sqlite3, moment by moment, by the descriptions of the tables.
"""

import argparse
import os
import re
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

from captures import open_processes, whole
from common import REPOSITORY, BinaryError, Findings, Tally, answered, database_files, default_inputs, difference, read_statements

# Beginnings of the names in domains that hold an interface; annotations are not calls.
INTERFACES = {"hip": ("hip", "__hip"), "hsa": ("hsa_",)}
ANNOTATIONS = ("marker", "host")


class Source:
    """What one process of one database says of its calls and its GPU work."""

    def __init__(self, process):
        self.process = process
        self.threads = {row["id"]: row["tid"] for row in process.rows("info_thread")}
        self.calls, self.functions, self.pauses = [], [], False
        for row in process.rows("region"):
            self.add_call(row)
        self.kernels = []
        for row, start, end in process.kernel_rows():
            work = self.work("kernel", row, row["dispatch_id"], start, end)
            self.kernels.append(work | {"name": process.kernel_name(row), "queue": row.get("queue_id")})
        self.copies = []
        for row in process.rows("memory_copy"):
            times = process.valid_times(row)
            if times:
                self.copies += [self.work("copy", row, row["id"], *times)]
        self.by_id = self.innermost()

    def event(self, row):
        return self.process.keyed("event").get(row.get("event_id")) or {}

    def tid(self, row):
        return self.threads.get(row.get("tid"))

    def add_call(self, row):
        domain, _ = self.process.domain_and_message(row)
        name = self.process.string(row["name_id"], "unknown")
        self.pauses |= name.startswith("roctxProfilerPause")
        times = self.process.valid_times(row)
        begins = INTERFACES.get(domain)
        if times and domain != "marker":
            self.functions.append((self.tid(row), name, *times))
        if not times or domain in ANNOTATIONS or (begins and not name.lower().startswith(begins)):
            return
        identity = whole(self.event(row).get("stack_id"))
        self.calls.append({"id": identity, "row": row["id"], "name": name, "tid": self.tid(row), "start": times[0], "end": times[1]})

    def work(self, kind, row, number, start, end):
        if kind == "kernel":
            gpus = [self.process.gpus.get(row.get("agent_id"))]
        else:
            near, far = (self.process.gpus.get(row[side]) for side in ("src_agent_id", "dst_agent_id"))
            gpus = [far if near is None else near]
            if near is not None and far is not None and near != far:
                gpus.append(far)
        identity = whole(self.event(row).get("stack_id"))
        return {"kind": kind, "number": number, "gpus": gpus, "id": identity, "tid": self.tid(row), "start": start, "end": end}

    def innermost(self):
        """The call of each id: one that lasts before one that does not, then the one that starts last and ends first."""
        chosen = {}
        for call in self.calls:
            if call["id"]:
                rank = (call["end"] > call["start"], call["start"], -call["end"], call["row"])
                if call["id"] not in chosen or rank > chosen[call["id"]][0]:
                    chosen[call["id"]] = (rank, call)
        return {identity: call for identity, (_, call) in chosen.items()}


def launches(source):
    """Every kernel and copy whose call is recorded."""
    records = []
    for work in source.kernels + source.copies:
        call = source.by_id.get(work["id"])
        if call:
            records.append(
                {
                    "kind": work["kind"],
                    "target_id": work["number"],
                    "correlation_id": work["id"],
                    "api_name": call["name"],
                    "tid": call["tid"],
                    "api_start_ns": call["start"],
                    "api_end_ns": call["end"],
                    "start_ns": work["start"],
                    "end_ns": work["end"],
                    "queue_delay_ns": work["start"] - call["end"],
                }
            )
    return sorted(records, key=lambda record: (record["kind"], record["target_id"]))


def dispatch_launches(source):
    """What each dispatch waited for: the call, its queue, and what ran on its GPU before."""
    records, of_gpu, of_queue = [], {}, {}
    copies, taken = sorted(source.copies, key=lambda copy: copy["start"]), 0
    for kernel in sorted(source.kernels, key=lambda kernel: (kernel["start"], kernel["number"])):
        while taken < len(copies) and copies[taken]["start"] < kernel["start"]:
            for gpu in copies[taken]["gpus"]:
                of_gpu[gpu] = max(of_gpu.get(gpu, 0), copies[taken]["end"])
            taken += 1
        gpu, call = kernel["gpus"][0], source.by_id.get(kernel["id"])
        record = {"dispatch_id": kernel["number"], "launched": int(call is not None), "kernel_ns": kernel["end"] - kernel["start"]}
        record |= {"api_ns": None, "queue_delay_ns": None, "prequeued": None, "exposed_launch_ns": None, "launch_bound": None}
        if call:
            prequeued = of_queue.get((gpu, kernel["queue"]), 0) > call["end"]
            exposed = max(0, kernel["start"] - max(call["start"], of_gpu.get(gpu, 0)))
            record |= {"api_ns": call["end"] - call["start"], "queue_delay_ns": kernel["start"] - call["end"]}
            record |= {"prequeued": int(prequeued), "exposed_launch_ns": exposed}
            record |= {"launch_bound": int(not prequeued and record["kernel_ns"] < exposed)}
        records.append(record)
        of_gpu[gpu] = max(of_gpu.get(gpu, 0), kernel["end"])
        of_queue[(gpu, kernel["queue"])] = max(of_queue.get((gpu, kernel["queue"]), 0), kernel["end"])
    return sorted(records, key=lambda record: record["dispatch_id"])


def waits(name):
    """Whether a call returns only after work of the GPU is done."""
    name = name.lower()
    if re.match(r"n?rccl|nccl|hipgraph|hipdrvgraph", name) or "launch" in name:
        return False
    if "synchronize" in name or name.startswith(("hsa_signal_wait", "hsa_amd_signal_wait")):
        return True
    copies = "memcpy" in name or "hsa_memory_copy" in name
    return copies and "async" not in name


def idle_causes(source):
    """Time without kernels within the span by GPU and cause, asked for between every two moments at which anything changes."""
    work = [one for one in source.kernels + source.copies if one["start"] < one["end"]]
    if not work:
        return []
    handed_over = {}
    for one in source.kernels + source.copies:
        call = source.by_id.get(one["id"])
        if call:
            handed_over[one["id"]] = min(handed_over.get(one["id"], call["end"]), one["start"])
    # The span is that of all work with a GPU, also of what takes no time.
    spans = [one for one in source.kernels + source.copies if any(gpu is not None for gpu in one["gpus"])]
    first, last = min(one["start"] for one in spans), max(one["end"] for one in spans)
    waiting = {}
    for call in source.calls:
        if waits(call["name"]):
            waiting.setdefault(call["tid"], []).append((call["start"], call["end"]))
    totals = {}
    for gpu in sorted({gpu for one in spans for gpu in one["gpus"] if gpu is not None}):
        # Kernels come before copies that start with them; ids break ties.
        own = sorted((one for one in work if gpu in one["gpus"]), key=lambda one: (one["start"], one["kind"] == "copy", one["number"]))
        points = {first, last} | {time for one in own for time in (one["start"], one["end"])}
        points |= {time for intervals in waiting.values() for pair in intervals for time in pair} | set(handed_over.values())
        points = sorted(point for point in points if first <= point <= last)
        taken, running = 0, []
        for left, right in zip(points, points[1:]):
            while taken < len(own) and own[taken]["start"] <= left:
                running.append(own[taken])
                taken += 1
            running = [one for one in running if one["end"] > left]
            kinds = {one["kind"] for one in running}
            if "kernel" in kinds:
                continue
            if "copy" in kinds:
                cause = "copy_only"
            elif taken == len(own):
                # Nothing comes next on this GPU: its thread is that of what ran before.
                cause = cause_before(None, own[taken - 1], source, waiting, left) if own else "host_bound"
            else:
                call = source.by_id.get(own[taken]["id"])
                launched = handed_over.get(own[taken]["id"])
                if call is None:
                    cause = "no_record"
                elif launched <= left:
                    cause = "launch_delay"
                else:
                    cause = cause_before(call["tid"], None, source, waiting, left)
            totals[(gpu, cause)] = totals.get((gpu, cause), 0) + right - left
    return [{"gpu": gpu, "cause": cause, "idle_ns": total} for (gpu, cause), total in sorted(totals.items())]


def cause_before(tid, last, source, waiting, moment):
    if last is not None:
        call = source.by_id.get(last["id"])
        tid = call["tid"] if call else last["tid"]
    inside = any(start <= moment < end for start, end in waiting.get(tid, ()))
    return "sync" if inside else "host_bound"


def exposed_collectives(source, numbers):
    """Of the given dispatches the time in which no other kind of kernel runs on their GPU."""
    records = []
    of_collectives = [kernel for kernel in source.kernels if kernel["number"] in numbers]
    others = [kernel for kernel in source.kernels if kernel["number"] not in numbers]
    for kernel in of_collectives:
        hides = [other for other in others if other["gpus"] == kernel["gpus"] and other["start"] < kernel["end"] and other["end"] > kernel["start"]]
        points = {kernel["start"], kernel["end"]} | {time for other in hides for time in (other["start"], other["end"])}
        points = sorted(point for point in points if kernel["start"] <= point <= kernel["end"])
        hidden = lambda left: any(other["start"] <= left < other["end"] for other in hides)
        exposed = sum(right - left for left, right in zip(points, points[1:]) if not hidden(left))
        records.append({"dispatch_id": kernel["number"], "duration_ns": kernel["end"] - kernel["start"], "exposed_ns": exposed})
    return sorted(records, key=lambda record: record["dispatch_id"])


def check_path(parts, source):
    """The first thing that is wrong about a path: it must lead from the first start to the last end through work that ran then."""
    work = [one for one in source.kernels + source.copies if one["gpus"][0] is not None]
    if not work:
        return None if not parts else "parts without work"
    first, last = min(one["start"] for one in work), max(one["end"] for one in work)
    if not parts:
        return "no parts"
    if (parts[0]["start_ns"], parts[-1]["end_ns"]) != (first, last):
        return f"{parts[0]['start_ns']} to {parts[-1]['end_ns']}, expected {first} to {last}"
    times, names = {}, {}
    # Work whose GPU is not known is part of the path as well.
    for one in source.kernels + source.copies:
        times.setdefault((one["kind"], one["number"]), []).append((one["start"], one["end"]))
    for tid, name, start, end in source.functions:
        names.setdefault((tid, name), []).append((start, end))
    for before, part in zip([None, *parts], parts):
        if before and before["end_ns"] != part["start_ns"]:
            return f"part {part['ordinal']} does not follow the one before"
        if part["duration_ns"] != part["end_ns"] - part["start_ns"] or part["duration_ns"] < 0:
            return f"part {part['ordinal']} has another length"
        if part["kind"] in ("kernel", "copy"):
            spans = times.get((part["kind"], part["target_id"]), [])
            if not any(start <= part["start_ns"] and part["end_ns"] <= end for start, end in spans):
                return f"part {part['ordinal']} is no {part['kind']} that ran then"
        elif part["kind"] == "api":
            spans = names.get((part["tid"], part["name"]), [])
            if not any(start <= part["start_ns"] and part["end_ns"] <= end for start, end in spans):
                return f"part {part['ordinal']} is not a call of {part['name']} then"
    return None


def plain_metrics():
    """Metrics that are a counter for each of something: name and counter."""
    found = {}
    for path in sorted((REPOSITORY / "share" / "metrics").glob("*.toml")):
        for metric in tomllib.loads(path.read_text()).get("metric", []):
            formulas = {one.get("formula", "") for one in metric.get("on", [])}
            match = re.fullmatch(r"([A-Z][A-Za-z0-9_]*)/denom", next(iter(formulas)) if len(formulas) == 1 else "")
            if match:
                found[metric["id"]] = match[1]
    return found


def metric_sums(process, metrics):
    """Sums by metric and kernel of a counter over all its instances, with the number of dispatches that have it."""
    dispatches = {row["event_id"]: row for row in process.rows("kernel_dispatch") if row.get("event_id") is not None}
    sums, counted = {}, {}
    for row in process.rows("pmc_event"):
        dispatch = dispatches.get(row["event_id"])
        if dispatch is None or row.get("sample_id") is not None:
            continue
        counter = (process.keyed("info_pmc").get(row["pmc_id"]) or {}).get("name", "unknown")
        key = (counter, dispatch["kernel_id"])
        sums[key] = sums.get(key, 0.0) + row["value"]
        counted.setdefault(key, set()).add(dispatch["dispatch_id"])
    records = {}
    for metric, counter in metrics.items():
        for (name, kernel), total in sums.items():
            if name == counter:
                records[(metric, kernel)] = (total, len(counted[(name, kernel)]))
    return records


def compare_metrics(rows, process, metrics, compared):
    expected = metric_sums(process, metrics)
    waves = metric_sums(process, {"waves": "SQ_WAVES"})
    for row in rows:
        if row["metric"] not in metrics or row["dispatches"] != row["kernel_dispatches"]:
            continue
        total, dispatches = expected[(row["metric"], row["kernel_id"])]
        denominators = {"kernel": dispatches, "wave": waves.get(("waves", row["kernel_id"]), (None,))[0]}
        denominator = denominators.get(row["per"])
        if denominator:
            compared["metric_sums"] = compared.get("metric_sums", 0) + 1
            found, wanted = row["numerator"] / row["denominator"], total / denominator
            if abs(found - wanted) > 1e-9 * abs(wanted):
                return f"{row['metric']} per {row['per']} of kernel {row['kernel_id']}: {found}, expected {wanted}"
    return None


# Questions to the program. Which kernels communicate is inferred from their names, which rules of the program's own sort.
STATEMENTS = {
    "communicating": "SELECT dispatch_id FROM kernels WHERE category = 'communication' ORDER BY dispatch_id",
    "launches": "SELECT kind, target_id, correlation_id, api_name, tid, api_start_ns, api_end_ns, start_ns, end_ns, queue_delay_ns "
    "FROM launches ORDER BY kind, target_id",
    "dispatch_launches": "SELECT dispatch_id, launched, kernel_ns, api_ns, queue_delay_ns, prequeued, exposed_launch_ns, launch_bound "
    "FROM dispatch_launches ORDER BY dispatch_id",
    "collective_kernels": "SELECT dispatch_id, duration_ns, exposed_ns FROM collective_kernels ORDER BY dispatch_id",
    "idle_gaps": "SELECT gpu, cause, SUM(duration_ns) AS idle_ns FROM idle_gaps WHERE cause NOT IN ('lead', 'tail') "
    "GROUP BY gpu, cause ORDER BY gpu, cause",
    "critical_path": "SELECT ordinal, kind, name, target_id, tid, start_ns, end_ns, duration_ns FROM critical_path ORDER BY ordinal",
    "metric_sums": "SELECT metric, kernel_id, per, numerator, denominator, dispatches, kernel_dispatches FROM metric_sums "
    "WHERE numerator IS NOT NULL ORDER BY metric, kernel_id, gpu, per_ordinal",
}


def check_process(findings, binary, path, process, metrics, compared):
    source = Source(process)
    found = dict(zip(STATEMENTS, map(answered, read_statements(binary, list(STATEMENTS.values()), path))))
    tables = {
        "launches": launches(source),
        "dispatch_launches": dispatch_launches(source),
        "collective_kernels": exposed_collectives(source, {row["dispatch_id"] for row in found["communicating"]}),
    }
    if not source.pauses:
        tables["idle_gaps"] = idle_causes(source)
    for table, expected in tables.items():
        compared[table] = compared.get(table, 0) + len(expected)
        findings.check(f"{path} {table}", difference(found[table], expected))
    parts = found["critical_path"]
    compared["critical_path"] = compared.get("critical_path", 0) + len(parts)
    findings.check(f"{path} critical_path", check_path(parts, source))
    if process.carries_counters():
        findings.check(f"{path} metric_sums", compare_metrics(found["metric_sums"], process, metrics, compared))


def check_database(binary, metrics, path):
    """What was found about a database, and how many rows of each table were compared."""
    findings, compared = Findings(), {}
    processes = open_processes(path)
    if len(processes) != 1 or processes[0].several:
        print(f"SKIPPED {path}: it holds several processes", flush=True)
        return findings, compared
    try:
        check_process(findings, binary, path, processes[0], metrics, compared)
    except BinaryError as error:
        findings.check(path, error)
    return findings, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, nargs="+", help="directories or databases; fixtures and shared data if absent")
    arguments = parser.parse_args()
    tally, compared = Tally(), {}
    paths = [path for source in arguments.inputs or default_inputs() for path in database_files(source)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for findings, rows in pool.map(check_database, repeat(arguments.binary), repeat(plain_metrics()), paths):
            tally.add(findings)
            for table, count in rows.items():
                compared[table] = compared.get(table, 0) + count
    for table in ("launches", "dispatch_launches", "idle_gaps", "collective_kernels", "critical_path", "metric_sums"):
        if not compared.get(table):
            tally.check(table, "no input gave it a row, so nothing was compared")
    print(", ".join(f"{table}: {rows} rows" for table, rows in compared.items()))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
