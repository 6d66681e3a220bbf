"""Dispatches of the same kernel, GPU and launch shape: outliers, first calls, drift and modes."""

import math

from .case import Case
from .collective import collective_kernels, made_ranks, waits
from .kernel_times import NAME_COLUMNS, SHAPE, spread
from .sums import first_of_each, grouped, median, ordered, percent, ratio

INPUTS = ("planted", "two_nodes", "uneven_kernels")
# Least unit of noise: two ticks of the clock that stamps dispatches, or a hundredth of the median.
LEAST_NOISE_NS, LEAST_NOISE_SHARE = 20, 0.01
# Standard error of the median of normal values, in standard deviations over the root of their number.
MEDIAN_ERROR = 1.2533


def noise(middle, deviation):
    return max(1.4826 * deviation, LEAST_NOISE_SHARE * middle, LEAST_NOISE_NS)


def named_kernels(source, options):
    """Valid dispatches with `shown`, the name that is asked for, and what collectives waited."""
    column = NAME_COLUMNS[options.text("name", "full")]
    collectives = collective_kernels(source)
    waited = {(row["process"], row["dispatch_id"]): row for row in waits(collectives)}
    messages = {(row["process"], row["dispatch_id"]): message_text(row, collectives) for row in collectives}
    found = []
    for kernel in source.rows("kernels"):
        if kernel["valid"]:
            collective = waited.get((kernel["process"], kernel["dispatch_id"]), {})
            together = {"wait_ns": collective.get("wait_ns") or 0, "gpus": collective.get("gpus", 1)}
            together["inputs"] = messages.get((kernel["process"], kernel["dispatch_id"]))
            found.append(kernel | {"shown": kernel[column]} | together)
    return sorted(found, key=lambda kernel: (kernel["process"], kernel["start_ns"], kernel["dispatch_id"]))


def message_text(row, collectives):
    """The message of a collective in words, where its call is recorded with its arguments."""
    message = row["message"]
    if message["sizes"] != "arguments":
        return None
    words = f"{message['operation']['name']} {message['count'] * message['type']['bytes']} bytes {message['type']['name']}"
    ranks = made_ranks(row["of"]).get(message["comm"])
    own = [other["message"]["comm"] for other in collectives if other["of"] is row["of"] and "comm" in other["message"]]
    own = list(dict.fromkeys(own))
    words += f" of {ranks} ranks" if ranks else ""
    return words + (f" on communicator {own.index(message['comm'])}" if len(own) > 1 else "")


def works(kernels, by_stream=False):
    """Dispatches that do the same work, by their starts; calls of collectives by stream as well, where that is wanted."""

    def work(kernel):
        stream = kernel["stream_id"] if by_stream and kernel["category"] == "communication" else None
        return (kernel["process"], kernel["kernel_name"], kernel["gpu"], stream, kernel["inputs"], *(kernel[column] for column in SHAPE))

    return list(grouped(kernels, work).values())


def outliers(source, options):
    """Dispatches that are outliers, with the measures of their group."""
    found = []
    for group in works(named_kernels(source, options), by_stream=True):
        if len(group) < 5:
            continue
        middle, deviation = spread([kernel["duration_ns"] for kernel in group])
        own = []
        for place, kernel in enumerate(group):
            took = kernel["duration_ns"] - kernel["wait_ns"]
            z = (took - middle) / noise(middle, deviation)
            # Only what took three units longer, waits included, is looked at.
            if (kernel["duration_ns"] - middle) / noise(middle, deviation) < 3 or z < options.number("min-z", 5):
                continue
            if took >= options.number("min-ratio", 1.5) * middle:
                measures = {"took_ns": took, "median_ns": float(middle), "excess_ns": took - middle, "robust_z": z}
                own.append(kernel | measures | {"ordinal": place + 1, "calls": len(group), "group": id(group)})
        if group[0]["category"] != "communication" or len(own) == 1 or 10 * len(own) <= len(group):
            found += own
    return found


def outlier_dispatches(source, options):
    by, records = options.by(), []
    shown = [*by, *(column for column in ("process",) if column not in by), "dispatch_id", "kernel_name"]
    shown += [column for column in ("gpu", "queue_id") if column not in by]
    shown += ["start_ns", "duration_ns", "wait_ns", "median_ns", "ordinal", "calls", "robust_z", "excess_ns"]
    for kernel in outliers(source, options):
        kernel |= {"kernel_name": kernel["shown"]}
        records.append({column: kernel[column] for column in shown})
    return first_of_each(ordered(records, by, "-excess_ns", "process", "dispatch_id"), by, options.whole("top", 100))


def kernel_outliers(source, options):
    by, records = options.by("rank", "gpu"), []
    found = [kernel | {"kernel_name": kernel["shown"]} for kernel in outliers(source, options)]
    for key, group in grouped(found, [*by, "kernel_name", *SHAPE]).items():
        of_work = list({kernel["group"]: kernel for kernel in group}.values())
        usual, calls = sum(kernel["median_ns"] * kernel["calls"] for kernel in of_work), sum(kernel["calls"] for kernel in of_work)
        excess = math.fsum(kernel["excess_ns"] for kernel in group)
        worst = min(group, key=lambda kernel: (-kernel["robust_z"], kernel["process"], kernel["dispatch_id"]))
        record = dict(zip([*by, "kernel_name", *SHAPE], key)) | {"calls": calls, "outliers": len(group)}
        record |= {"first_calls": sum(kernel["ordinal"] == 1 for kernel in group), "median_ns": usual / calls}
        record |= {"worst_ns": max(kernel["took_ns"] for kernel in group), "worst_z": worst["robust_z"], "excess_ns": excess}
        record |= {"excess_pct": percent(excess, usual), "worst_dispatch_id": worst["dispatch_id"]}
        records.append(record | {"worst_process": worst["process"]})
    return first_of_each(ordered(records, by, "-excess_ns", "kernel_name", *SHAPE), by, options.whole("top", 0))


def kernel_warmup(source, options):
    by, records = options.by("rank", "gpu"), []
    every = named_kernels(source, options)
    firsts = []
    for group in grouped(every, ["process", "gpu", "shown"]).values():
        first = group[0]
        same = [kernel for kernel in group if kernel["kernel_name"] == first["kernel_name"] and shape(kernel) == shape(first)]
        later, took = [kernel["duration_ns"] for kernel in same[1:]], first["duration_ns"] - first["wait_ns"]
        usual = median(later)
        slow = len(later) >= 3 and took >= options.number("min-ratio", 2) * usual
        slow = slow and took - usual >= 1000 * options.number("min-excess-us", 10)
        firsts.append(first | {"calls": len(group), "later": len(later), "took": took, "usual": usual, "slow": slow})
    for key, group in grouped(firsts, [*by, "shown"]).items():
        usual = [first["usual"] for first in group if first["usual"] is not None]
        slow = [first for first in group if first["slow"]]
        record = dict(zip([*by, "kernel_name"], key)) | {"calls": sum(first["calls"] for first in group)}
        record |= {"comparable": sum(first["later"] for first in group), "first_ns": max(first["took"] for first in group)}
        record |= {"rest_median_ns": max(usual, default=None)}
        record |= {"ratio": ratio(record["first_ns"], record["rest_median_ns"])}
        record |= {"excess_ns": math.fsum(first["took"] - first["usual"] for first in slow), "slow_first_calls": len(slow)}
        few = max(first["later"] for first in group) < 3
        record |= {"verdict": "slow first call" if slow else "too few calls" if few else "steady"}
        records.append(record | {"first_dispatch_id": min(first["dispatch_id"] for first in group)})
    return first_of_each(ordered(records, by, "-excess_ns", "-first_ns", "kernel_name"), by, options.whole("top", 0))


def shape(kernel):
    return tuple(kernel[column] for column in SHAPE)


def modes(durations):
    """Medians of both sides of the split with the largest variance between them, calls of the longer, and the empty share."""
    trimmed = len(durations) // 20
    values = sorted(durations)[trimmed : len(durations) - trimmed]
    if len(values) < 10:
        return None
    least, best = math.ceil(len(values) / 10), None
    for split in range(least, len(values) - least + 1):
        low, high = values[:split], values[split:]
        if low[-1] < high[0]:
            between = (sum(high) / len(high) - sum(low) / len(low)) ** 2 * len(low) * len(high)
            if best is None or between > best[0] * (1 + 1e-12):
                best = (between, low, high)
    if best is None:
        return None
    _, low, high = best
    empty = max(0, high[len(high) // 10] - low[len(low) * 9 // 10])
    return median(low), median(high), len(high) + trimmed, empty / (median(high) - median(low))


def drift(durations):
    """Medians of the first and the last third, and the standard error of their difference."""
    if len(durations) < 9:
        return None
    third = len(durations) // 3
    sides = [spread(durations[:third]), spread(durations[-third:])]
    errors = [(MEDIAN_ERROR * noise(*side)) ** 2 / third for side in sides]
    return float(sides[0][0]), float(sides[1][0]), math.sqrt(sum(errors))


def kernel_pace(source, options):
    by, records = options.by(), []
    every = named_kernels(source, options)
    partners = {}
    for kernel in every:
        key = (kernel["process"], kernel["kernel_name"])
        partners[key] = max(partners.get(key, 1), kernel["gpus"])
    for group in works(every):
        first, times = group[0], [kernel["duration_ns"] for kernel in group]
        middle, deviation = spread(times)
        changes = [abs(after - before) for before, after in zip(times, times[1:])]
        early, late, error = drift(times) or (None, None, None)
        low, high, high_calls, gap = modes(times) or (None, None, None, None)
        record = {column: first[column] for column in by}
        record |= {"process": first["process"], "gpu": first["gpu"], "kernel_name": first["shown"]}
        record |= {column: first[column] for column in SHAPE} | {"inputs": first["inputs"], "position": None}
        record |= {"calls": len(times), "total_ns": sum(times)}
        record |= {"median_ns": float(middle), "spread_pct": percent(1.4826 * deviation, middle)}
        record |= {"jitter_pct": percent(median(changes), middle), "early_median_ns": early, "late_median_ns": late}
        change = None if early is None else late - early
        record |= {"drift_pct": percent(change, early), "run_drift_pct": run_drift(early, late)}
        record |= {"drift_errors": ratio(change, error), "low_mode_ns": low, "high_mode_ns": high}
        record |= {"high_mode_pct": percent(high_calls, len(times)), "mode_gap_pct": None if gap is None else 100 * gap}
        record["verdict"] = verdict(record, partners[(first["process"], first["kernel_name"])], options)
        records.append(record | {"first": first["dispatch_id"]})
    records = first_of_each(ordered(records, by, "-total_ns", "process", "first"), by, options.whole("top", 0))
    return [{name: value for name, value in record.items() if name != "first"} for record in records]


def run_drift(early, late):
    """From the first dispatch to the last along the line through the middles of both thirds, at a sixth and five sixths."""
    if early is None:
        return None
    slope = (late - early) / (5 / 6 - 1 / 6)
    begin, end = early - slope / 6, late + slope / 6
    return 100 * (end - begin) / begin if begin > 0 else None


def verdict(record, gpus, options):
    if record["calls"] < options.whole("min-calls", 30):
        return "too few calls"
    drifting = record["drift_pct"] is not None and abs(record["drift_pct"]) >= options.number("min-drift-pct", 3)
    drifting = drifting and abs(record["drift_errors"]) >= 5
    two = record["mode_gap_pct"] is not None and record["mode_gap_pct"] >= options.number("min-gap-pct", 50)
    two = two and record["high_mode_ns"] >= options.number("min-mode-ratio", 1.2) * record["low_mode_ns"]
    if gpus > 1 and (drifting or two):
        return "collective"
    return {(True, True): "both", (True, False): "drifting", (False, True): "two modes"}.get((drifting, two), "steady")


LOOSE = ("--min-z", 3, "--min-ratio", 1.1)
QUERIES = {
    "outlier_dispatches": Case(outlier_dispatches, INPUTS, ((), LOOSE, ("--by", "rank,gpu", "--top", 2), ("--name", "base"))),
    "kernel_outliers": Case(kernel_outliers, INPUTS, ((), LOOSE, ("--by", "category", "--name", "base"), ("--by", "process", "--top", 1))),
    "kernel_warmup": Case(
        kernel_warmup,
        INPUTS,
        ((), ("--by", "process", "--name", "base"), ("--min-ratio", 1.2, "--min-excess-us", 0), ("--by", "node", "--top", 3)),
    ),
    "kernel_pace": Case(
        kernel_pace, INPUTS, ((), ("--min-calls", 9, "--min-drift-pct", 1), ("--by", "category", "--top", 1, "--name", "base"))
    ),
}
