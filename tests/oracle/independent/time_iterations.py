"""Iterations, the parts of a run, and energy by iteration."""

import math

from .activity import lanes_of
from .case import Case
from .iterating import LAYER, iterations_of, layers_of, ranges_of, steady
from .made_inputs import LAYERED, STEPS
from .sums import deviation, grouped, mean, median, ordered, percent, ratio
from .telemetry import samples_of, steps

INPUTS = (STEPS, "sampled", "planted")

def iterations(source, options):
    records = []
    for process in source.traced():
        rows = iterations_of(process)
        middle = median(steady(rows))
        for row in rows:
            columns = ("rank", "process", "iteration", "unit", "found_by", "phase", "level", "start_ns", "duration_ns")
            record = {column: row[column] for column in columns}
            record |= {"vs_median_pct": percent(row["duration_ns"] - middle, middle)}
            records.append(record | {column: row[column] for column in ("kernels", "kernel_ns", "period")})
    return without_process(ordered(records, (), "rank", "process", "iteration"))


def without_process(records):
    return [{name: value for name, value in record.items() if name != "process"} for record in records]


def iteration_summary(source, options):
    records = []
    for process in source.traced():
        rows, kernels = iterations_of(process), process.valid("kernels")
        if not rows:
            continue
        phase = lambda name: [row for row in rows if row["phase"] == name]
        time = lambda name: sum(row["duration_ns"] for row in phase(name))
        times = steady(rows)
        record = {"rank": process.rank, "process": process.number} | {name: rows[0][name] for name in ("unit", "found_by", "period")}
        record |= {"iterations": len(rows)} | {name: len(phase(name)) for name in ("warmup", "steady", "prefill", "cooldown")}
        record |= {"before_ns": max(0, rows[0]["start_ns"] - min(kernel["start_ns"] for kernel in kernels))}
        record |= {f"{name}_ns": time(name) for name in ("warmup", "steady", "prefill", "cooldown")}
        record |= {"after_ns": max(0, max(kernel["end_ns"] for kernel in kernels) - max(row["end_ns"] for row in rows))}
        record |= {"median_ns": median(times), "longer_ns": sum(max(0, took - median(times)) for took in times), "mean_ns": mean(times), "std_ns": deviation(times), "min_ns": min(times)}
        work = sum(row["kernel_ns"] for row in phase("steady"))
        record |= {"max_ns": max(times), "kernel_pct": percent(work, time("steady"))}
        records.append(record | {"levels": 1, "jump_at": None, "before_jump_ns": None, "after_jump_ns": None})
    return without_process(ordered(records, (), "rank", "process"))


def steady_part(rows):
    """First and last of the longest interval of steady iterations that takes at most twice the time of as many medians."""
    middle, best = median(steady(rows)), None
    for first in range(len(rows)):
        for last in range(first, len(rows)):
            if any(row["phase"] != "steady" for row in rows[first : last + 1]):
                break
            length = rows[last]["end_ns"] - rows[first]["start_ns"]
            if length <= 2 * middle * (last - first + 1) and (best is None or last - first > best[1] - best[0]):
                best = (first, last)
    return best


def parts_of(process):
    """(kind, start, end, iterations) of the run of a process, one after the other."""
    own = lanes_of(process)
    if not own:
        return []
    first, last, rows = own[0].first, own[0].last, iterations_of(process)
    if not rows:
        return dense_parts(own, first, last)
    best = steady_part(rows)
    kinds = []
    for place, row in enumerate(rows):
        steadily = best and best[0] <= place <= best[1]
        kinds.append("steady" if steadily else "uneven" if row["phase"] == "steady" else row["phase"])
    parts = [("set_up", first, rows[0]["start_ns"], [])]
    for kind, row in zip(kinds, rows):
        if parts[-1][0] == kind:
            parts[-1] = (kind, parts[-1][1], row["end_ns"], [*parts[-1][3], row])
        else:
            parts += [("pause", parts[-1][2], row["start_ns"], []), (kind, row["start_ns"], row["end_ns"], [row])]
    parts.append(("tail", parts[-1][2], last, []))
    return [part for part in parts if part[1] < part[2]]


def dense_parts(own, first, last):
    """Of a run without iterations: what lies between long sparse intervals at both ends."""
    edges = [first + (last - first) * place / 100 for place in range(101)]
    work = []
    for left, right in zip(edges, edges[1:]):
        pieces = [(start, end) for lane in own for start, end, _ in lane.work if start < right and end > left]
        work.append(sum(min(end, right) - max(start, left) for start, end in pieces))
    usual = sum(one * one for one in work) / sum(work) if sum(work) else 0
    sparse = [one < 0.2 * usual for one in work]
    head = sparse.index(False) if False in sparse else 0
    tail = sparse[::-1].index(False) if False in sparse else 0
    head, tail = (count if count >= 10 else 0 for count in (head, tail))
    if sum(work[head : 100 - tail]) < 0.8 * sum(work):
        head = tail = 0
    start = first + math.ceil((last - first) * head / 100) if head else first
    end = last - math.ceil((last - first) * tail / 100) if tail else last
    parts = [("set_up", first, start, []), ("dense", start, end, []), ("tail", end, last, [])]
    return [part for part in parts if part[1] < part[2]]


def run_parts(source, options):
    records = []
    for process in source.traced():
        parts = parts_of(process)
        whole = sum(end - start for _, start, end, _ in parts)
        for number, (kind, start, end, rows) in enumerate(parts):
            inside = sum(row["duration_ns"] for row in rows)
            record = {"rank": process.rank, "process": process.number, "part": number, "kind": kind, "start_ns": start}
            record |= {"duration_ns": end - start, "pct": percent(end - start, whole)}
            record |= {name: rows[0][name] if rows else None for name in ("unit", "found_by")} | {"iterations": len(rows)}
            record |= {"first_iteration": rows[0]["iteration"] if rows else None, "last_iteration": rows[-1]["iteration"] if rows else None}
            record |= {"pause_ns": end - start - inside if rows else 0, "mean_ns": ratio(end - start, len(rows)), "layers": 0}
            records.append(record)
    return without_process(ordered(records, (), "rank", "process", "part"))


def layers(source, options):
    records = []
    for process in source.traced():
        rows = layers_of(process)
        middle = median([row["duration_ns"] for row in rows])
        for row in rows:
            after = {"vs_median_pct": percent(row["duration_ns"] - middle, middle), "kernels": row["kernels"], "kernel_ns": row["kernel_ns"]}
            row = row | {"pass": None}
            records.append({column: row[column] for column in ("rank", "process", "iteration", "layer", "pass", "kind", "start_ns", "duration_ns")} | after)
    return without_process(ordered(records, (), "rank", "process", "iteration", "layer"))


def unit_row(process, rows, unit, option, confidence, name=None, found_by="kernel_sequence"):
    """A row of the query `units` for units with their durations and kernel time."""
    all_ns = sum(kernel["duration_ns"] for kernel in process.valid("kernels"))
    times, own = sorted(row["duration_ns"] for row in rows), sum(row["kernel_ns"] for row in rows)
    if 2 * own < all_ns:
        confidence = {"high": "medium", "medium": "low"}[confidence]
    row = {"rank": process.rank, "process": process.number, "unit": unit, "name": name, "found_by": found_by, "count": len(rows)}
    row |= {"median_ns": times[(len(times) - 1) // 2], "covered_pct": percent(own, all_ns), "confidence": confidence}
    return row | {"is_chosen": 0, "option": option}


def units(source, options):
    records = []
    for process in source.traced():
        rows, own = iterations_of(process), []
        if rows:
            sure = "high" if rows[0]["found_by"] == "range" else "medium"
            own.append(unit_row(process, rows, rows[0]["unit"], rows[0]["unit"], sure, found_by=rows[0]["found_by"]) | {"is_chosen": 1})
        if rows and len(rows) * LAYER * 2 <= sum(row["kernels"] for row in rows):
            own.append(unit_row(process, layers_of(process), "layer", "layer", "medium"))
            own.append(unit_row(process, ranges_of(process, "layer"), "range", "range:layer", "high", "layer", "range"))
        records += own
    return records


def layer_summary(source, options):
    records = []
    for process in source.traced():
        rows = layers_of(process)
        times = [row["duration_ns"] for row in rows]
        for (layer,), group in grouped(rows, ["layer"]).items():
            own = [row["duration_ns"] for row in group]
            record = {"rank": process.rank, "process": process.number, "layer": layer, "pass": None, "kind": 0, "units": len(group), "total_ns": sum(own)}
            record |= {"pct": percent(sum(own), sum(times)), "mean_ns": mean(own), "median_ns": median(own), "min_ns": min(own)}
            record |= {"max_ns": max(own), "vs_median_pct": percent(median(own) - median(times), median(times))}
            record |= {"kernels": ratio(sum(row["kernels"] for row in group), len(group))}
            records.append(record | {"kernel_ns": sum(row["kernel_ns"] for row in group)})
    return without_process(ordered(records, (), "rank", "process", "layer"))


def is_power(sample):
    return sample["unit"] in ("W", "mW") and not any(word in sample["name"].lower() for word in ("cap", "limit", "max", "default"))


def energy_by_iteration(source, options):
    records = []
    for process in source.traced():
        tracks = grouped([sample for sample in samples_of(process) if is_power(sample)], ["gpu", "track", "name"])
        for row in iterations_of(process):
            of_gpu = {}
            for (gpu, *_), samples in tracks.items():
                scale = 0.001 if samples[0]["unit"] == "mW" else 1
                pieces = [(max(start, row["start_ns"]), min(end, row["end_ns"]), scale * watts) for start, end, watts in steps(samples)]
                pieces = [piece for piece in pieces if piece[0] < piece[1]]
                energy, time = (sum((end - start) * watts for start, end, watts in pieces), sum(end - start for start, end, _ in pieces))
                if time and (gpu not in of_gpu or energy > of_gpu[gpu][0]):
                    of_gpu[gpu] = (energy, time)
            if of_gpu:
                energy, time = (sum(one[place] for one in of_gpu.values()) for place in (0, 1))
                record = {column: row[column] for column in ("rank", "process", "iteration", "phase", "duration_ns")}
                record |= {"gpus": len(of_gpu), "sampled_ns": time, "energy_j": energy / 1e9}
                records.append(record | {"mean_w": energy / time})
    return ordered(records, (), "rank", "process", "iteration")


QUERIES = {
    "iterations": Case(iterations, INPUTS),
    "iteration_summary": Case(iteration_summary, INPUTS),
    "run_parts": Case(run_parts, (STEPS, "sampled", "two_nodes", "graphs")),
    "layers": Case(layers, (LAYERED,)),
    "units": Case(units, (LAYERED, STEPS)),
    "layer_summary": Case(layer_summary, (LAYERED,)),
    "energy_by_iteration": Case(energy_by_iteration, ("sampled",)),
}
