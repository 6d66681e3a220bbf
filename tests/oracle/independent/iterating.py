"""Iterations of a process whose repetition is known because it was planted, so that nothing has to be searched for.

The program finds iterations without markers. Here the kernels that were launched in the n-th range `step` are the n-th iteration,
or, in `sampled`, what follows the n-th kernel `forward` until `update` ends.
"""

from .launching import launching_calls
from .sums import median

TEXT, FIRST, LAST = "step", "forward", "update"


def steps_of(process):
    """The ranges of steps, in order."""
    found = [region for region in process.valid("regions") if region["domain"] == "marker" and region["message"] == TEXT]
    return sorted(found, key=lambda region: region["start_ns"])


def launched_in_steps(process):
    """Kernels by the range in which they were launched."""
    calls, steps = launching_calls(process), steps_of(process)
    launched = [[] for _ in steps]
    for kernel in process.valid("kernels"):
        call = calls.get(kernel["correlation_id"])
        for place, step in enumerate(steps):
            if call and step["start_ns"] <= call["start_ns"] < step["end_ns"]:
                launched[place].append(kernel)
    return launched


def between_names(kernels):
    """Kernels from the first one of a repetition to the last one of it, by name."""
    found = []
    for kernel in sorted(kernels, key=lambda kernel: kernel["start_ns"]):
        if kernel["kernel_name"] == FIRST:
            found.append([])
        if found and (not found[-1] or found[-1][-1]["kernel_name"] != LAST):
            found[-1].append(kernel)
    return found


def iterations_of(process):
    """Rows of the table `iterations`."""
    kernels = process.valid("kernels")
    launched = launched_in_steps(process) or between_names(kernels)
    # Without the same kernels on the same GPU in every step nothing repeats.
    sequences = [[(one["gpu"], one["kernel_name"]) for one in sorted(own, key=lambda one: one["dispatch_id"])] for own in launched]
    if len(sequences) < 3 or any(sequence != sequences[0] for sequence in sequences):
        return []
    starts = [min(kernel["start_ns"] for kernel in own) for own in launched]
    ends = [*starts[1:], *([max(kernel["end_ns"] for kernel in launched[-1])] if launched else [])]
    period = round(median(len(own) for own in launched)) if launched else None
    rows = []
    for place, (start, end) in enumerate(zip(starts, ends)):
        inside = [kernel for kernel in kernels if start <= kernel["start_ns"] < end]
        row = {"process": process.number, "rank": process.rank, "iteration": place, "start_ns": start, "end_ns": end}
        row |= {"duration_ns": end - start, "kernels": len(inside), "period": period}
        rows.append(row | {"kernel_ns": sum(kernel["duration_ns"] for kernel in inside)})
    for row, phase in zip(rows, phases([row["duration_ns"] for row in rows])):
        row["phase"] = phase
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
