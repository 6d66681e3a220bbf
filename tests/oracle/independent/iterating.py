"""Units of work of a process whose repetition is known because it was planted, so that nothing has to be searched for.

What was launched in the n-th range `step` is the n-th step, or, in `sampled`, what follows the n-th kernel `forward` until `update` ends
is the n-th iteration.
"""

import re

from .launching import launching_calls
from .sums import median

TEXT, FIRST, LAST = re.compile(r"step|iteration \d"), "forward", "update"
# Kernels of a layer in the input `layered`.
LAYER = 10


def steps_of(process, text=TEXT):
    """The ranges of steps, in order."""
    found = [region for region in process.valid("regions") if region["domain"] == "marker" and text.fullmatch(region["message"] or "")]
    return sorted(found, key=lambda region: region["start_ns"])


def launched_in_steps(process, text=TEXT):
    """Kernels and copies by the range in which they were launched, in the order of their first starts."""
    calls, steps = launching_calls(process), steps_of(process, text)
    launched = [[] for _ in steps]
    for work in process.valid("kernels") + process.valid("copies"):
        call = calls.get(work["correlation_id"])
        for place, step in enumerate(steps):
            if call and step["start_ns"] <= call["start_ns"] < step["end_ns"]:
                launched[place].append(work)
    with_kernels = [own for own in launched if any("dispatch_id" in work for work in own)]
    return sorted(with_kernels, key=lambda own: min(work["start_ns"] for work in own))


def between_names(kernels):
    """Kernels from the first one of a repetition to the last one of it, by name."""
    found = []
    for kernel in sorted(kernels, key=lambda kernel: kernel["start_ns"]):
        if kernel["kernel_name"] == FIRST:
            found.append([])
        if found and (not found[-1] or found[-1][-1]["kernel_name"] != LAST):
            found[-1].append(kernel)
    return found


def times_of(process, launched):
    """Start and end of units of work: each lasts until the next one starts, unless other kernels run before it."""
    starts = [min(work["start_ns"] for work in own) for own in launched]
    ends = [max(work["end_ns"] for work in own) for own in launched]
    for place, start in enumerate(starts[1:]):
        if not any(ends[place] <= kernel["start_ns"] < start for kernel in process.valid("kernels")):
            ends[place] = start
    return list(zip(starts, ends))


def ranges_of(process, name):
    """Duration and kernel time of the work launched in each range with a text."""
    rows = []
    for start, end in times_of(process, launched_in_steps(process, re.compile(re.escape(name)))):
        inside = [kernel for kernel in process.valid("kernels") if start <= kernel["start_ns"] < end]
        rows.append({"duration_ns": end - start, "kernel_ns": sum(kernel["duration_ns"] for kernel in inside)})
    return rows


def iterations_of(process):
    """Rows of the table `iterations`."""
    kernels, marked = process.valid("kernels"), launched_in_steps(process)
    launched = marked if len(marked) > 1 else between_names(kernels)
    # Without ranges and the same kernels on the same GPU nothing repeats.
    sequences = [[(one["gpu"], one["kernel_name"]) for one in sorted(own, key=lambda one: one["dispatch_id"])] for own in ([] if launched is marked else launched)]
    if launched is not marked and (len(sequences) < 3 or any(sequence != sequences[0] for sequence in sequences)):
        return []
    rows = []
    for place, (start, end) in enumerate(times_of(process, launched)):
        inside = [kernel for kernel in kernels if start <= kernel["start_ns"] < end]
        row = {"process": process.number, "rank": process.rank, "iteration": place, "start_ns": start, "end_ns": end}
        row |= {"unit": "step" if launched is marked else "iteration", "level": 0}
        row |= {"found_by": "range" if launched is marked else "kernel_sequence"}
        row |= {"duration_ns": end - start, "kernels": len(inside)}
        rows.append(row | {"kernel_ns": sum(kernel["duration_ns"] for kernel in inside)})
    counts = sorted(row["kernels"] for row in rows)
    for row, phase in zip(rows, phases([row["duration_ns"] for row in rows])):
        row |= {"phase": phase, "period": counts[len(counts) // 2]}
    return rows


def layers_of(process):
    """Rows of the table `layers` of the input `layered`: ten kernels each, in the order of their launches."""
    units, kernels = iterations_of(process), process.valid("kernels")
    launched = sorted(kernels, key=lambda kernel: kernel["dispatch_id"])
    chunks = [launched[place : place + LAYER] for place in range(0, len(launched), LAYER)]
    starts = [min(kernel["start_ns"] for kernel in chunk) for chunk in chunks]
    unit_at = lambda start: max(row["iteration"] for row in units if row["start_ns"] <= start)
    rows, counts = [], {}
    for start, following, chunk in zip(starts, [*starts[1:], None], chunks):
        unit = unit_at(start)
        is_last = following is None or following <= start or unit_at(following) != unit
        end = max(kernel["end_ns"] for kernel in chunk) if is_last else following
        # Never beyond the start of another layer or the end of the step.
        end = min([end, units[unit]["end_ns"], *(other for other in starts if other > start)])
        inside = [kernel for kernel in kernels if start <= kernel["start_ns"] < end]
        row = {"rank": process.rank, "process": process.number, "iteration": unit, "layer": counts.get(unit, 0), "kind": 0}
        row |= {"start_ns": start, "duration_ns": end - start, "kernels": len(inside)}
        rows.append(row | {"kernel_ns": sum(kernel["duration_ns"] for kernel in inside)})
        counts[unit] = counts.get(unit, 0) + 1
    return rows


def phases(durations):
    """Repetitions at both ends that exceed the median by more than 10 % and three scaled deviations are no steady ones."""
    if not durations:
        return []
    middle = median(durations)
    limit = max(1.1 * middle, middle + 3 * 1.4826 * median(abs(duration - middle) for duration in durations))
    slow = [duration > limit for duration in durations]
    first = slow.index(False)
    last = len(slow) - slow[::-1].index(False)
    return ["warmup"] * first + ["steady"] * (last - first) + ["cooldown"] * (len(slow) - last)


def steady(rows):
    return [row["duration_ns"] for row in rows if row["phase"] == "steady"]
