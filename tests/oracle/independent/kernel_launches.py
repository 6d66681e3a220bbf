"""Calls that launch kernels, the queues that these wait in, and chains of short kernels."""

import math

import derived_check

from .activity import labels_of
from .case import Case
from .kernel_times import NAME_COLUMNS
from .launching import launching_calls, source_of
from .sums import first_of_each, grouped, mean, median, moments, ordered, percent, ratio

INPUTS = ("two_nodes", "planted", "hostile")


def labels(process, gpu):
    return labels_of(process) | {"gpu": gpu, "device": process.devices.get(gpu)}


def launch_trace(source, options):
    by, records = options.by(), []
    name = NAME_COLUMNS[options.text("name", "full")]
    details = ("kind", "rank", "process", "gpu", "api_name", "tid", "correlation_id", "target_id", "api_start_ns", "api_ns")
    details += ("queue_delay_ns", "start_ns", "duration_ns", "total_ns")
    for process in source.traced():
        calls = launching_calls(process)
        for work in process.valid("kernels") + process.valid("copies"):
            call = calls.get(work["correlation_id"])
            if not call:
                continue
            is_copy = "copy_id" in work
            row = labels(process, work["gpu"]) | {"kind": "copy" if is_copy else "kernel", "api_name": call["name"], "tid": call["tid"]}
            row |= {"name": work["direction"] if is_copy else work[name], "correlation_id": work["correlation_id"]}
            row |= {"target_id": work["copy_id"] if is_copy else work["dispatch_id"], "api_start_ns": call["start_ns"]}
            row |= {"api_ns": call["end_ns"] - call["start_ns"], "queue_delay_ns": work["start_ns"] - call["end_ns"]}
            row |= {"start_ns": work["start_ns"], "duration_ns": work["duration_ns"], "total_ns": work["end_ns"] - call["start_ns"]}
            records.append({column: row[column] for column in (*by, "name", *(one for one in details if one not in by))})
    order = [column for column in ("rank", "process", "start_ns", "kind", "target_id") if column not in by]
    return first_of_each(ordered(records, by, "-queue_delay_ns", *order), by, options.whole("top", 0))


def launches_of(process):
    """Launches by `derived_check`, and which of them bound their kernel.

    The GPU idled for longer than the kernel ran, and the queue had drained when the call returned; or the kernel started as soon as
    one does on a drained queue, give or take a half of what is usual there.
    """
    rows = {row["dispatch_id"]: row for row in derived_check.dispatch_launches(source_of(process))}
    delays = sorted(row["queue_delay_ns"] for row in rows.values() if row["launched"] and not row["prequeued"])
    usual = delays[len(delays) // 2] if delays else None
    for row in rows.values():
        if row["launched"]:
            soon = usual is not None and 2 * row["queue_delay_ns"] <= 3 * usual
            outlasted = row["kernel_ns"] < row["exposed_launch_ns"]
            row["launch_bound"] = int(outlasted and (not row["prequeued"] or soon))
    return rows


def launched_dispatches(source, options):
    """Every valid dispatch with its launch."""
    name, found = NAME_COLUMNS[options.text("name", "full")], []
    for process in source.traced():
        launches = launches_of(process)
        for kernel in process.valid("kernels"):
            call = launching_calls(process).get(kernel["correlation_id"])
            shown = {"kernel_name": kernel[name], "api_name": call and call["name"]}
            found.append(kernel | launches[kernel["dispatch_id"]] | shown)
    return found


def launch_summary(source, options):
    by, records = options.by(), []
    for key, group in grouped(launched_dispatches(source, options), [*by, "kernel_name"]).items():
        launched = [one for one in group if one["launched"]]
        values = lambda column: [one[column] for one in launched]
        times, delays = [one["kernel_ns"] for one in group], values("queue_delay_ns")
        bound = percent(sum(values("launch_bound")), len(launched))
        record = dict(zip([*by, "kernel_name"], key)) | {"calls": len(group), "without_launch": len(group) - len(launched)}
        record |= {"without_launch_pct": percent(len(group) - len(launched), len(group)), "mean_api_ns": mean(values("api_ns"))}
        record |= {"median_api_ns": median(values("api_ns")), "mean_queue_delay_ns": mean(delays)}
        record |= {"median_queue_delay_ns": median(delays), "min_queue_delay_ns": min(delays, default=None)}
        record |= {"max_queue_delay_ns": max(delays, default=None), "mean_kernel_ns": mean(times), "median_kernel_ns": median(times)}
        record |= {"total_kernel_ns": sum(times), "prequeued_pct": percent(sum(values("prequeued")), len(launched))}
        record |= {"exposed_launch_ns": sum(values("exposed_launch_ns")) if launched else None, "launch_bound_calls_pct": bound}
        limit = options.number("launch-bound-pct", 50)
        records.append(record | {"launch_bound": "unknown" if bound is None else "yes" if bound >= limit else "no"})
    return first_of_each(ordered(records, by, "-total_kernel_ns", "kernel_name"), by, options.whole("top", 0))


def queue_states(source):
    """(labels, [(start, end, waiting, running)]) of every queue, from its first issued dispatch to the end of its last."""
    found = []
    for process in source.traced():
        calls = launching_calls(process)

        def lane(kernel):
            return kernel["gpu"], kernel["queue_id"], kernel["stream_id"] if kernel["queue_id"] is None else None

        for (gpu, queue, stream), group in grouped(process.valid("kernels"), lane).items():
            pieces = []
            for kernel in group:
                call = calls.get(kernel["correlation_id"])
                issued = min(call["end_ns"], kernel["start_ns"]) if call else kernel["start_ns"]
                pieces += [(issued, kernel["start_ns"], "waiting"), (kernel["start_ns"], kernel["end_ns"], "running")]
            first, last = min(piece[0] for piece in pieces), max(piece[1] for piece in pieces)
            states = []
            for start, end, running in moments(pieces, first, last):
                kinds = [piece[2] for piece in running]
                states.append((start, end, kinds.count("waiting"), kinds.count("running")))
            found.append((labels(process, gpu) | {"queue_id": queue, "stream_id": stream}, states))
    return found


def queue_summary(source, options):
    by, full, records = options.by("rank", "gpu", "queue_id"), options.whole("full", 1024), []
    for key, lanes in grouped(queue_states(source), lambda lane: tuple(lane[0][column] for column in by)).items():
        states = [(end - start, waiting, waiting + running) for _, lane in lanes for start, end, waiting, running in lane]
        span, time = sum(state[0] for state in states), lambda holds: sum(state[0] for state in states if holds(state))
        record = dict(zip(by, key)) | {"span_ns": span, "empty_ns": time(lambda state: not state[2])}
        record |= {"empty_pct": percent(record["empty_ns"], span), "waiting_ns": time(lambda state: state[1])}
        record |= {"full_ns": time(lambda state: state[2] >= full)}
        record |= {"mean_depth": ratio(sum(state[0] * state[2] for state in states), span)}
        record |= {"mean_waiting": ratio(sum(state[0] * state[1] for state in states), span)}
        records.append(record | {"max_depth": max((state[2] for state in states), default=None)})
    return ordered(records, by, "-span_ns")


def queue_depth(source, options):
    by, bins, records = options.by("rank", "gpu", "queue_id"), options.whole("bins", 50), []
    lanes = [lane for lane in queue_states(source) if lane[1]]
    bounds = {}
    for own, states in lanes:
        first, last = bounds.get(own["process"], (states[0][0], states[-1][1]))
        bounds[own["process"]] = (min(first, states[0][0]), max(last, states[-1][1]))
    width = math.ceil(max((last - first for first, last in bounds.values()), default=0) / bins)
    pieces = []
    for own, states in lanes:
        first = bounds[own["process"]][0]
        for start, end, waiting, running in states:
            for place in range((start - first) // width, -(-(end - first) // width)):
                left, right = max(start, first + place * width), min(end, first + (place + 1) * width)
                pieces.append((*(own[column] for column in by), place, right - left, waiting, waiting + running))
    for key, group in grouped(pieces, lambda piece: piece[: len(by) + 1]).items():
        time = sum(piece[-3] for piece in group)
        record = dict(zip([*by, "bin"], key))
        record |= {"bin_start_ns": record["bin"] * width, "bin_end_ns": (record["bin"] + 1) * width}
        record |= {"mean_depth": ratio(sum(piece[-3] * piece[-1] for piece in group), time)}
        record |= {"mean_waiting": ratio(sum(piece[-3] * piece[-2] for piece in group), time)}
        record |= {"max_depth": max(piece[-1] for piece in group)}
        records.append(record | {"empty_ns": sum(piece[-3] for piece in group if not piece[-1])})
    return ordered(records, by, "bin")


def overlaps_itself(chain):
    """Chains that start as they end, or as they go on; one kernel twice stands for any number in a row."""
    return len(chain) > 2 and (chain[0] == chain[-1] or (len(chain) == 4 and chain[:2] == chain[2:]))


def kernel_sequences(source, options):
    by, name, found, records = options.by(), NAME_COLUMNS[options.text("name", "full")], {}, []
    longest, pause_most = 1000 * options.number("short-us", 10), 1000 * options.number("pause-us", 10)
    for process in source.traced():
        for (gpu, queue), group in grouped(process.valid("kernels"), ["gpu", "queue_id"]).items():
            group = sorted(group, key=lambda kernel: (kernel["start_ns"], kernel["dispatch_id"]))
            own = labels(process, gpu) | {"queue_id": queue}
            for place in range(len(group)):
                for length in (2, 3, 4):
                    chain = group[place : place + length]
                    pauses = [max(0, after["start_ns"] - before["end_ns"]) for before, after in zip(chain, chain[1:])]
                    names = tuple(kernel[name] for kernel in chain)
                    close = all(kernel["duration_ns"] <= longest for kernel in chain) and max(pauses, default=0) <= pause_most
                    if len(chain) < length or not close or overlaps_itself(names):
                        continue
                    # If one kernel repeats, each pair adds the later dispatch.
                    times = [kernel["duration_ns"] for kernel in (chain[1:] if names[0] == names[-1] else chain)]
                    key = (*(own[column] for column in by), names)
                    found.setdefault(key, []).append((sum(times), sum(pauses), chain[0]["dispatch_id"]))
    for (*key, names), chains in found.items():
        if len(chains) >= options.whole("min-occurrences", 10):
            links, pause = len(chains) * (len(names) - 1), sum(chain[1] for chain in chains)
            record = dict(zip(by, key)) | {"chain": " > ".join(names), "length": len(names), "occurrences": len(chains)}
            record |= {"kernel_ns": sum(chain[0] for chain in chains), "pause_ns": pause, "mean_pause_ns": pause / links}
            record |= {"launch_ns": links * 1000 * options.number("launch-us", 5)}
            records.append(record | {"first_dispatch_id": min(chain[2] for chain in chains)})
    return first_of_each(ordered(records, by, "-pause_ns", "-occurrences", "chain"), by, options.whole("top", 50))


FEW = ("--min-occurrences", 2, "--short-us", 300, "--pause-us", 50)
QUERIES = {
    "launch_trace": Case(launch_trace, INPUTS, ((), ("--by", "rank", "--top", 3), ("--by", "api_name,tid", "--top", 1, "--name", "base"))),
    "launch_summary": Case(
        launch_summary, (*INPUTS, "late_calls"), ((), ("--by", "gpu", "--name", "base", "--top", 2), ("--by", "api_name", "--launch-bound-pct", 5))
    ),
    "queue_summary": Case(queue_summary, INPUTS, ((), ("--by", "process", "--full", 3), ("--by", "node"))),
    "queue_depth": Case(queue_depth, INPUTS, ((), ("--bins", 7, "--by", "process"))),
    "kernel_sequences": Case(kernel_sequences, INPUTS, ((), FEW, (*FEW, "--by", "rank,queue_id", "--top", 3, "--name", "base"))),
}
