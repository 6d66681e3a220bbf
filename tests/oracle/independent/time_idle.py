"""Idle time of GPUs: what the host did before each launch, moment by moment."""

from derived_check import waits

from .activity import labels_of, lanes
from .case import Case
from .kernel_times import NAME_COLUMNS
from .launching import launching_calls, source_of
from .sums import Least, cut, first_of_each, grouped, ordered, percent
from .time_gpus import pauses_of

NO_IDLENESS = ("paused", "copy_only", "lead", "tail")
# Domains of what is no call of an interface and no range.
FUNCTIONS = ("host", "torch", "python")


class Host:
    """What the threads of a process did: calls, waiting calls, and ranges by thread."""

    def __init__(self, process):
        self.process, self.calls, self.waiting, self.ranges, self.functions = process, {}, {}, {}, {}
        self.pauses = pauses_of(process)
        for call in source_of(process).calls:
            self.calls.setdefault(call["tid"], []).append(call)
            if waits(call["name"]):
                self.waiting.setdefault(call["tid"], []).append((call["start"], call["end"]))
        for region in process.valid("regions"):
            if region["domain"] == "marker" and region["name"] != "roctxProcessRangeA" and not region["name"].startswith("roctxProfiler"):
                self.ranges.setdefault(region["tid"], []).append(region)
            elif region["domain"] in FUNCTIONS:
                self.functions.setdefault(region["tid"], []).append(region)

    def outermost(self, tid):
        """The calls of a thread that lie in no other, in their order."""
        found = []
        for call in sorted(self.calls.get(tid, []), key=lambda call: (call["start"], -call["end"])):
            if not found or call["end"] > found[-1]["end"]:
                found.append(call)
        return found

    def pieces(self, tid, start, end):
        """(length, call, function, range) of each moment of a time, by names, and the lengths of function and range."""
        for left, right, call in innermost(self.outermost(tid), start, end, "start", "end"):
            for first, last, function in innermost(self.functions.get(tid, []), left, right, "start_ns", "end_ns"):
                for begin, finish, range_ in innermost(self.ranges.get(tid, []), first, last, "start_ns", "end_ns"):
                    lengths = {"function_name": function and function["end_ns"] - function["start_ns"], "range": range_ and range_["end_ns"] - range_["start_ns"]}
                    names = (call and call["name"], function and function["name"], range_ and (range_["message"] or range_["name"]))
                    yield finish - begin, *names, lengths

    def longest_call(self, tid, start, end):
        """The call with the largest overlap, and that overlap; of several the one that ends first, which may lie in another."""
        overlaps = [(min(call["end"], end) - max(call["start"], start), call) for call in self.calls.get(tid, [])]
        best = max(overlaps, key=lambda one: (one[0], -one[1]["end"]), default=(0, None))
        return (best[0], best[1]["name"]) if best[0] > 0 else (0, None)

    def range(self, tid, start, end):
        """The range that is the innermost for most of the time, nothing where outside of ranges is most."""
        times, own = {}, self.ranges.get(tid, [])
        for left, right, inner in innermost(own, start, end, "start_ns", "end_ns"):
            key = None if inner is None else inner["region_id"]
            times[key] = times.get(key, 0) + right - left
        most = max(times, key=lambda key: times[key], default=None)
        return next((one["message"] or one["name"] for one in own if one["region_id"] == most), None)


def innermost(ones, start, end, begins, ends):
    """(start, end, one) of a time, with the one that started last of those that last then, or nothing."""
    points = sorted({start, end} | {p for one in ones for p in (one[begins], one[ends]) if start < p < end})
    for left, right in zip(points, points[1:]):
        around = [one for one in ones if one[begins] <= left and one[ends] >= right]
        yield left, right, max(around, key=lambda one: (one[begins], -one[ends]), default=None)


def work_of(lane):
    """Kernels and copies of a GPU that take time, in the order of their starts; kernels come before copies."""
    kernels = [kernel for kernel in lane.process.valid("kernels") if kernel["gpu"] == lane.gpu]
    copies = [copy for copy in lane.process.valid("copies") if lane.gpu in (copy["gpu"], copy["peer_gpu"])]
    order = lambda one: (one["start_ns"], "copy_id" in one, one.get("copy_id") or one.get("dispatch_id"))
    return sorted((one for one in kernels + copies if one["duration_ns"]), key=order)


def handed_over(process):
    """When each launch was handed over: as its call returned, or as its first work started if that is earlier."""
    calls, times = launching_calls(process), {}
    for one in process.valid("kernels") + process.valid("copies"):
        call = calls.get(one["correlation_id"])
        if call:
            times[one["correlation_id"]] = min(times.get(one["correlation_id"], call["end_ns"]), one["start_ns"])
    return times


def intervals(lane, work):
    """(start, end, next work, inside) of every interval without kernels: without anything, or with copies alone."""
    points = sorted({lane.first, lane.last} | {point for one in work for point in (one["start_ns"], one["end_ns"])})
    found = []
    for left, right in zip(points, points[1:]):
        running = [one for one in work if one["start_ns"] <= left and one["end_ns"] >= right]
        kind = "kernel" if any("dispatch_id" in one for one in running) else "copy" if running else "idle"
        if found and found[-1][2] == kind:
            found[-1][1] = right
        else:
            found.append([left, right, kind])
    return [one for one in found if one[2] != "kernel"]


def causes(host, following, before, start, end, times):
    """(start, end, cause) of an idle interval, split where the cause changes."""
    process = host.process
    calls = launching_calls(process)
    call = calls.get(following["correlation_id"]) if following else None
    if call is not None:
        tid, launched = call["tid"], times[following["correlation_id"]]
    else:
        # No record shows which thread launches the next work: take the thread of the work before it.
        earlier = calls.get(before["correlation_id"]) if before else None
        tid, launched = (earlier["tid"] if earlier else before and before["tid"]), end
        if following is not None:
            return tid, [(start, end, "no_record")]
    parts = []
    waiting = host.waiting.get(tid, [])
    points = sorted({start, end} | {p for p in (launched, *(p for pair in waiting for p in pair)) if start < p < end})
    for left, right in zip(points, points[1:]):
        if left >= launched:
            cause = "launch_delay"
        elif any(begin <= left and right <= finish for begin, finish in waiting):
            cause = "sync"
        else:
            cause = "host_bound"
        if parts and parts[-1][2] == cause:
            parts[-1] = (parts[-1][0], right, cause)
        else:
            parts.append((left, right, cause))
    return tid, parts


def paused_parts(parts, pauses):
    """Parts with the time in which the recording was stopped cut out of them as a cause of its own."""
    found = []
    for start, end, cause in parts:
        stopped = cut(pauses, start, end)
        points = sorted({start, end} | {point for piece in stopped for point in piece})
        for left, right in zip(points, points[1:]):
            now = "paused" if any(begin <= left and right <= finish for begin, finish in stopped) else cause
            if found and found[-1][2] == now and found[-1][1] == left:
                found[-1] = (found[-1][0], right, now)
            else:
                found.append((left, right, now))
    return found


def gaps_of(lane, host):
    """Rows of the table `idle_gaps` of one GPU."""
    work, rows, times = work_of(lane), [], handed_over(lane.process)
    outside = [(lane.process.start_ns, lane.first, "lead"), (lane.last, lane.process.end_ns, "tail")]
    own = [[start, end, kind] for start, end, kind in outside if None not in (start, end) and start < end]
    own = own[:1] * (bool(own) and own[0][2] == "lead") + intervals(lane, work) + [one for one in own if one[2] == "tail"]
    for number, (start, end, kind) in enumerate(own):
        # While copies run, the next kernel is what is waited for.
        following = next((one for one in work if one["start_ns"] >= end and (kind != "copy" or "dispatch_id" in one)), None)
        earlier = [one for one in work if one["end_ns"] <= start]
        before = earlier[-1] if earlier else None
        tid, parts = causes(host, following, before, start, end, times)
        if kind != "idle":
            parts = [(start, end, "copy_only" if kind == "copy" else kind)]
        else:
            parts = paused_parts(parts, host.pauses)
        kernel_before = max((one for one in earlier if "dispatch_id" in one), key=lambda one: one["end_ns"], default=None)
        kernel_after = next((one for one in work if one["start_ns"] >= end and "dispatch_id" in one), None)
        for left, right, cause in parts:
            api_ns, api_name = host.longest_call(tid, left, right)
            row = labels_of(lane.process) | {"gpu": lane.gpu, "device": lane.labels["device"], "gap_id": number}
            row |= {"start_ns": left, "end_ns": right, "duration_ns": right - left, "cause": cause, "tid": tid}
            row |= {"next_kind": following and ("copy" if "copy_id" in following else "kernel")}
            row |= {"before": kernel_before, "after": kernel_after, "api_name": api_name, "api_ns": api_ns if api_name else None}
            rows.append(row | {"range": host.range(tid, left, right)})
    return rows


def every_gap(source, options):
    name = NAME_COLUMNS[options.text("name", "full")]
    hosts = {process.number: Host(process) for process in source.traced()}
    rows = [row for lane in lanes(source) for row in gaps_of(lane, hosts[lane.process.number])]
    for row in rows:
        row |= {"kernel_before": row["before"] and row["before"][name], "kernel_after": row["after"] and row["after"][name]}
    return rows


def idle_by_cause(source, options):
    by, records = options.by("rank", "gpu"), []
    for key, group in grouped(every_gap(source, options), [*by, "cause"]).items():
        times = [row["duration_ns"] for row in group]
        record = dict(zip([*by, "cause"], key)) | {"stretches": len(group), "total_ns": sum(times)}
        record |= {"idle_ns": 0 if record["cause"] in NO_IDLENESS else sum(times), "mean_ns": sum(times) / len(times)}
        records.append(record | {"max_ns": max(times)})
    for group in grouped(records, list(by)).values():
        total = sum(record["idle_ns"] for record in group)
        for record in group:
            record["idle_pct"] = percent(record["idle_ns"], total)
    return ordered(records, by, "-idle_ns", "-total_ns", "cause")


def idle_by_call(source, options):
    by, records = options.by("rank", "gpu"), []
    hosts = {process.number: Host(process) for process in source.traced()}
    short_ns = int(options.number("short-us", 100) * 1000)
    pieces = []
    for gap in grouped(every_gap(source, options), ["process", "gpu", "gap_id"]).values():
        length = sum(row["duration_ns"] for row in gap)
        for row in gap:
            if row["cause"] in NO_IDLENESS:
                continue
            for piece, call, function, range_, lengths in hosts[row["process"]].pieces(row["tid"], row["start_ns"], row["end_ns"]):
                longest_ns = next((lengths[column] for column in ("range", "function_name") if column in by), None)
                labels = {"name": call or "no call recorded", "function_name": function, "range": range_}
                pieces.append(row | labels | {"idle_ns": piece, "short_ns": piece if length <= short_ns else 0, "longest_ns": longest_ns})
    for key, group in grouped(pieces, [*by, "cause", "name"]).items():
        record = dict(zip([*by, "cause", "name"], key))
        record |= {column: sum(piece[column] for piece in group) for column in ("idle_ns", "short_ns")}
        records.append(record | {"longest_ns": max((piece["longest_ns"] for piece in group if piece["longest_ns"] is not None), default=None)})
    for group in grouped(records, list(by)).values():
        total, of_cause = sum(record["idle_ns"] for record in group), {}
        for record in group:
            of_cause[record["cause"]] = of_cause.get(record["cause"], 0) + record["idle_ns"]
        for record in group:
            record["cause_pct"] = percent(record["idle_ns"], of_cause[record["cause"]])
            record["idle_pct"] = percent(record["idle_ns"], total)
    return ordered(records, by, "-idle_ns", "cause", "name")


def idle_gaps(source, options):
    by, records = options.by(), []
    shown = ("rank", "process", "gpu", "gap_id", "start_ns", "duration_ns", "cause", "cause_pct", "host_bound_ns", "sync_ns")
    shown += ("launch_delay_ns", "next_kind", "kernel_before", "kernel_after", "tid", "api_name", "api_pct", "range")
    inside = [row for row in every_gap(source, options) if row["cause"] not in ("copy_only", "lead", "tail")]
    for group in grouped(inside, ["process", "gpu", "gap_id"]).values():
        times = {}
        for row in group:
            times[row["cause"]] = times.get(row["cause"], 0) + row["duration_ns"]
        length = sum(times.values())
        main = min(times, key=lambda cause: (-times[cause], cause))
        part = min((row for row in group if row["cause"] == main), key=lambda row: (-row["duration_ns"], row["start_ns"]))
        record = part | {"start_ns": min(row["start_ns"] for row in group), "duration_ns": length, "cause": main}
        record |= {"cause_pct": percent(times[main], length), "api_pct": percent(part["api_ns"], part["duration_ns"])}
        record |= {f"{cause}_ns": times.get(cause, 0) for cause in ("host_bound", "sync", "launch_delay")}
        order = [record[column] if record[column] is not None else Least() for column in by]
        place = (order, -length, record["process"], record["gpu"], record["start_ns"])
        records.append((place, {column: record[column] for column in (*by, *(one for one in shown if one not in by))}))
    records = [record for _, record in sorted(records, key=lambda one: one[0])]
    return first_of_each(records, by, options.whole("top", 50))


INPUTS = ("two_nodes", "planted", "shared_gpus", "sampled", "hostile")
QUERIES = {
    "idle_by_cause": Case(idle_by_cause, INPUTS, ((), ("--by", "rank"), ("--by", "api_name,range"), ("--by", "kernel_before,next_kind"))),
    "idle_by_call": Case(idle_by_call, INPUTS, ((), ("--by", "rank"), ("--by", "range,function_name"), ("--by", "tid", "--short-us", 20))),
    "idle_gaps": Case(idle_gaps, INPUTS, ((), ("--by", "cause", "--top", 2), ("--by", "rank,gpu", "--top", 3, "--name", "base"))),
}
