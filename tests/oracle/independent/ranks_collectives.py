"""Collectives by call, kernel, size and time, and the GPUs that come late to them."""

from .activity import lanes
from .case import Case
from .collective import collective_kernels, waits
from .sums import grouped, mean, median, ordered, percent, ratio

INPUTS = ("two_nodes", "planted", "sized_collectives")


def kernels_of(source):
    return waits(collective_kernels(source))


def in_order_of_arrival(group):
    """Who came last stands first: by starts on one clock, otherwise by the shortest duration; a node has one clock."""
    one_clock = len({row["node"] for row in group}) == 1
    arrival = (lambda row: -row["start_ns"]) if one_clock else (lambda row: row["duration_ns"])
    return sorted(group, key=lambda row: (arrival(row), row["duration_ns"], row["rank"], row["process"], row["gpu"])), one_clock


def message_of(group):
    """The one size that all calls of a collective agree on, and what lacks otherwise."""
    sizes = {row["message_bytes"] for row in group} - {None}
    operations = {row["operation"] for row in group} - {None}
    if not sizes:
        return None, max(row["sizes"] for row in group)
    if len(sizes) > 1 or len(operations) > 1:
        return None, "sizes differ"
    return (None, "more GPUs than ranks") if len(group) > group[0]["ranks"] else (sizes.pop(), "arguments")


def collectives(source, options):
    records = []
    for (number,), group in grouped(kernels_of(source), ["collective"]).items():
        arrived, one_clock = in_order_of_arrival(group)
        size, lacking = message_of(group)
        starts, ends = [row["start_ns"] for row in group], [row["end_ns"] for row in group]
        times = [row["duration_ns"] for row in group]
        operations = {row["operation"] for row in group} - {None}
        rate = ratio(size, min(times))
        on_clock = lambda value: value if one_clock else None
        records.append(
            {
                "collective": number,
                "kernel_name": group[0]["kernel_name"],
                "communicator": group[0]["communicator"],
                "gpus": len(group),
                "missing": group[0]["expected_gpus"] - len(group),
                "matched_by": group[0]["matched_by"],
                "lowest_rank": min(row["rank"] for row in group),
                "start_ns": on_clock(min(starts)),
                "cost_ns": min(times),
                "max_ns": max(times),
                "wait_ns": sum(times) - len(times) * min(times),
                "hidden_ns": sum(row["duration_ns"] - row["exposed_ns"] for row in group),
                "skew_ns": on_clock(max(starts) - min(starts)),
                "leave_ns": on_clock(max(ends) - min(ends)),
                "overlap_ns": on_clock(min(ends) - max(starts)),
                "last_rank": arrived[0]["rank"],
                "last_gpu": arrived[0]["gpu"],
                "last_by": "start" if one_clock else "duration",
                "operation": operations.pop() if len(operations) == 1 else None,
                "ranks": group[0]["ranks"],
                "message_bytes": size,
                "algorithm_gb_per_s": rate,
                "bus_gb_per_s": None if rate is None else rate * group[0]["bus_factor"],
                "sizes": lacking,
            }
        )
    return ordered(records, (), "collective")


def collective_summary(source, options):
    by = options.by()
    rows = kernels_of(source)
    for group in grouped(rows, ["collective"]).values():
        arrived, one_clock = in_order_of_arrival(group)
        size, _ = message_of(group)
        skew = max(row["start_ns"] for row in group) - min(row["start_ns"] for row in group)
        for row in group:
            row |= {"is_last": row is arrived[0], "skew_ns": skew if one_clock else None, "size": size}
    records = []
    for key, group in grouped(rows, [*by, "kernel_name"]).items():
        total, costs = sum(row["duration_ns"] for row in group), sum(row["cost_ns"] for row in group)
        sized = [row for row in group if row["size"] is not None]
        skews = [row["skew_ns"] for row in group if row["skew_ns"] is not None]
        taken = sum(row["cost_ns"] for row in sized)
        moved = sum(row["size"] for row in sized)
        records.append(
            dict(zip([*by, "kernel_name"], key))
            | {
                "calls": len(group),
                "matched": len(group),
                "unmatched": 0,
                "total_ns": total,
                "cost_ns": costs,
                "wait_ns": total - costs,
                "wait_pct": percent(total - costs, total),
                "max_wait_ns": max(row["wait_ns"] for row in group),
                "late_ns": sum(row["late_ns"] for row in group),
                "last_calls": sum(row["is_last"] for row in group),
                "last_pct": percent(sum(row["is_last"] for row in group), len(group)),
                "median_skew_ns": median(skews),
                "max_skew_ns": max(skews, default=None),
                "sized": len(sized),
                "mean_message_bytes": ratio(moved, len(sized)),
                "algorithm_gb_per_s": ratio(moved, taken) if sized else None,
                "bus_gb_per_s": ratio(sum(row["size"] * row["bus_factor"] for row in sized), taken) if sized else None,
            }
        )
    return ordered(records, by, "-total_ns", "kernel_name")


def collective_by_size(source, options):
    by = options.by()
    keys = [*by, "operation", "element_type", "message_bytes", "ranks"]
    records = []
    for key, group in grouped(kernels_of(source), keys).items():
        times = [row["duration_ns"] for row in group]
        exposed = sum(row["exposed_ns"] for row in group)
        record = dict(zip(keys, key)) | {"kernels": len(group), "total_ns": sum(times), "exposed_ns": exposed}
        record |= {"hidden_ns": sum(times) - exposed, "hidden_pct": percent(sum(times) - exposed, sum(times))}
        partners = [row for row in group if row["wait_ns"] is not None]
        record |= {"wait_ns": sum(row["wait_ns"] for row in partners) if partners else None}
        record |= {"min_ns": min(times), "mean_ns": mean(times), "max_ns": max(times)}
        size = record["message_bytes"]
        # The bytes of every kernel over the least duration of its collective.
        rate = None if size is None else ratio(size * len(partners), sum(row["cost_ns"] for row in partners))
        record |= {"algorithm_gb_per_s": rate, "bus_gb_per_s": None if rate is None else rate * group[0]["bus_factor"]}
        records.append(record)
    return ordered(records, by, "operation", "element_type", "message_bytes", "ranks")


def lateness_map(source, options):
    bins, records = options.whole("bins", 20), []
    rows = [row for row in kernels_of(source) if row["collective"] is not None and row["gpus"] > 1]
    for (process,), group in grouped(rows, ["process"]).items():
        first, last = min(row["start_ns"] for row in group), max(row["end_ns"] for row in group)
        width = max(1, -(-(last - first) // bins))
        place = lambda row: (row["gpu"], min((row["start_ns"] - first) // width, bins - 1))
        for (gpu, number), own in grouped(group, place).items():
            late = [row["late_ns"] for row in own]
            record = {"rank": own[0]["rank"], "process": process, "gpu": gpu, "device": own[0]["device"], "bin": number}
            record |= {"begin_ns": number * width, "length_ns": width, "collectives": len(own), "late_ns": sum(late)}
            record |= {"mean_late_ns": mean(late), "max_late_ns": max(late)}
            records.append(record | {"share_pct": percent(sum(late), sum(row["longest_ns"] for row in own))})
    return ordered(records, (), "rank", "process", "gpu", "bin")


def usual_times(source):
    """Of each GPU: the time of its kernels, and what they would take at the usual mean duration of the same kernel and grid."""
    works = {}
    for kernel in source.rows("kernels"):
        if kernel["valid"] and kernel["category"] != "communication":
            work = (kernel["kernel_name"], kernel["grid_x"], kernel["grid_y"], kernel["grid_z"])
            works.setdefault(work, {}).setdefault((kernel["process"], kernel["gpu"]), []).append(kernel["duration_ns"])
    times = {}
    for gpus in works.values():
        usual = centre([mean(durations) for durations in gpus.values()])
        for gpu, durations in gpus.items():
            total, expected = times.get(gpu, (0, 0))
            times[gpu] = (total + sum(durations), expected + len(durations) * usual)
    return times


def centre(values):
    """The median; of two values the lesser, which is then what the other is compared with."""
    return min(values) if len(values) == 2 else median(values)


def lateness(source):
    """Of each GPU: how late it came where that kept a GPU from computing, how often it came last, and its collectives."""
    found = {}
    for group in grouped(kernels_of(source), ["collective"]).values():
        if group[0]["ordinal"] == 0:
            continue
        # A wait counts only while nothing else ran on the GPU that waited.
        cost = max(min(row["exposed_ns"], row["wait_ns"]) for row in group)
        for row in group:
            late, last, calls = found.get((row["process"], row["gpu"]), (0, 0, 0))
            mine = (late + min(row["late_ns"], cost), last + (row["wait_ns"] == 0), calls + 1)
            found[(row["process"], row["gpu"])] = mine
    return found


def stragglers(source, options):
    usual, late, amounts = usual_times(source), lateness(source), []
    every = lanes(source)
    for lane in every:
        key = (lane.process.number, lane.gpu)
        total, expected = usual.get(key, (0, 0))
        values = {"compute": lane.time(lambda compute, comm, copies: compute), "slow_kernels": total - expected}
        values |= {"more_work": expected, "idle": lane.last - lane.first - lane.busy}
        if key in late:
            values["late"] = late[key][0]
        for order, (what, value) in enumerate(values.items()):
            amounts.append((order, what, lane, value))
    span = median(lane.last - lane.first for lane in every)
    records = []
    for (what,), group in grouped(amounts, lambda one: (one[1],)).items():
        middle = centre([one[3] for one in group])
        spread = 1.4826 * median(abs(one[3] - middle) for one in group)
        for order, _, lane, value in group:
            excess = value - middle
            z = ratio(excess, spread) if len(group) > 2 else None
            if excess <= 0 or percent(excess, span) < options.number("min-pct", 2) or (z is not None and z < options.number("min-z", 3)):
                continue
            last = late.get((lane.process.number, lane.gpu))
            record = {"rank": lane.process.rank, "gpu": lane.gpu, "hostname": lane.process.hostname, "what": what}
            record |= {"amount_ns": value, "median_ns": middle, "excess_ns": excess, "excess_pct": percent(excess, span)}
            total, expected = usual.get((lane.process.number, lane.gpu), (0, 0))
            slower = percent(total - expected, expected)
            record |= {"z": z, "gpus": len(group), "slower_pct": slower if what == "slow_kernels" else None, "last_pct": percent(last[1], last[2]) if what == "late" else None}
            records.append(record | {"process": lane.process.number, "order": order})
    records = ordered(records, (), "-excess_ns", "rank", "process", "gpu", "order")
    return [{name: value for name, value in record.items() if name not in ("process", "order")} for record in records]


QUERIES = {
    "collectives": Case(collectives, INPUTS),
    "collective_summary": Case(collective_summary, INPUTS, ((), ("--by", "rank"), ("--by", "node,communicator"))),
    "collective_by_size": Case(collective_by_size, INPUTS, ((), ("--by", "rank"), ("--by", "node,gpu"))),
    "lateness_map": Case(lateness_map, INPUTS, ((), ("--bins", 5))),
    "stragglers": Case(stragglers, INPUTS, ((), ("--min-pct", 0, "--min-z", 0), ("--min-pct", 1, "--min-z", 1.5))),
}
