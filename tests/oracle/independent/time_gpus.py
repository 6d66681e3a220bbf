"""Time of GPUs: spans, overlaps, devices, bins, and lists of what ran."""

from .activity import by_group, labels_of, lanes, work_of
from .case import Case
from .sums import common, covered, cut, equal_bins, first_of_each, grouped, merged, moments, ordered, percent, ratio

INPUTS = ("two_nodes", "shared_gpus", "hostile")
BY = ((), ("--by", "rank"), ("--by", "node"), ("--by", "process,gpu"), ("--by", "hostname,device"))


def spans(group):
    return sum(lane.last - lane.first for lane in group)


def time_of(group, holds):
    return sum(lane.time(holds) for lane in group)


def busy(source, options):
    by = options.by("rank", "gpu")
    records = []
    for labels, group in by_group(lanes(source), by):
        work, span = sum(lane.busy for lane in group), spans(group)
        records.append(labels | {"busy_ns": work, "span_ns": span, "busy_pct": percent(work, span)})
    return ordered(records, by, "-span_ns")


def time_breakdown(source, options):
    by = options.by("rank", "gpu")
    records = []
    for labels, group in by_group(lanes(source), by):
        span, work = spans(group), sum(lane.busy for lane in group)
        kernels = [
            kernel["duration_ns"] for lane in group for kernel in lane.process.valid("kernels") if kernel["gpu"] == lane.gpu
        ]
        leads = [None if lane.process.start_ns is None else lane.first - lane.process.start_ns for lane in group]
        tails = [None if lane.process.end_ns is None else lane.process.end_ns - lane.last for lane in group]
        records.append(
            labels
            | {
                "span_ns": span,
                "busy_ns": work,
                "idle_ns": span - work,
                "compute_ns": sum(covered(lane.intervals("compute")) for lane in group),
                "comm_ns": sum(covered(lane.intervals("comm")) for lane in group),
                "copy_ns": sum(covered(lane.intervals("copy")) for lane in group),
                "exposed_comm_ns": time_of(group, lambda compute, comm, copies: comm and not compute),
                "exposed_copy_ns": time_of(group, lambda compute, comm, copies: copies and not compute and not comm),
                "compute_comm_overlap_ns": time_of(group, lambda compute, comm, copies: compute and comm),
                "kernel_sum_ns": sum(kernels),
                "lead_ns": None if None in leads else sum(leads),
                "tail_ns": None if None in tails else sum(tails),
                "busy_pct": percent(work, span),
                "idle_pct": percent(span - work, span),
            }
        )
    return ordered(records, by, "-span_ns")


def overlap(source, options):
    by = options.by("rank", "gpu")
    records = []
    for labels, group in by_group(lanes(source), by):
        both = lambda *kinds: sum(
            covered(common(lane.intervals(kinds[0]), lane.intervals(kinds[1]))) for lane in group
        )
        work = sum(lane.busy for lane in group)
        comm, copy = (sum(covered(lane.intervals(kind)) for lane in group) for kind in ("comm", "copy"))
        exposed_comm = comm - both("comm", "compute")
        kernels = sum(covered(common(lane.intervals("copy"), lane.intervals("compute", "comm"))) for lane in group)
        records.append(
            labels
            | {
                "span_ns": spans(group),
                "busy_ns": work,
                "compute_ns": sum(covered(lane.intervals("compute")) for lane in group),
                "compute_alone_ns": work - sum(covered(lane.intervals("comm", "copy")) for lane in group),
                "comm_ns": comm,
                "compute_comm_overlap_ns": both("compute", "comm"),
                "exposed_comm_ns": exposed_comm,
                "copy_ns": copy,
                "compute_copy_overlap_ns": both("compute", "copy"),
                "comm_copy_overlap_ns": both("comm", "copy"),
                "all_overlap_ns": time_of(group, lambda compute, comm, copies: compute and comm and copies),
                "exposed_copy_ns": copy - kernels,
                "comm_hidden_pct": percent(comm - exposed_comm, comm),
                "copy_hidden_pct": percent(kernels, copy),
                "exposed_pct": percent(exposed_comm + copy - kernels, work),
            }
        )
    return ordered(records, by, "-span_ns")


def gpu_concurrency(source, options):
    by = options.by("rank", "gpu")
    records = []
    for labels, group in by_group(lanes(source), by):
        times = {}
        for lane in group:
            for start, end, compute, comm, copies in lane.states():
                time, copied = times.get(compute + comm, (0, 0))
                times[compute + comm] = (time + end - start, copied + (end - start if copies else 0))
        for kernels, (time, copied) in times.items():
            record = {"kernels_running": kernels, "time_ns": time, "copies_ns": copied}
            records.append(labels | record | {"pct": percent(time, spans(group))})
    return ordered(records, by, "kernels_running")


def gpu_timeline(source, options):
    by = options.by()
    records = []
    if not any(lane.busy for lane in lanes(source)):
        return []
    for key, group in grouped(source.traced(), lambda process: tuple(labels_of(process)[column] for column in by)).items():
        sums = {"total_time": 0, "kernel": 0, "memory": 0, "busy_time": 0, "idle": 0}
        for process in group:
            work = [one for of_gpu in work_of(process).values() for one in of_gpu]
            pick = lambda *kinds: covered([one[:2] for one in work if one[2] in kinds])
            life = None if None in (process.start_ns, process.end_ns) else process.end_ns - process.start_ns
            parts = {"kernel": pick("compute", "comm"), "memory": pick("copy"), "busy_time": pick("compute", "comm", "copy")}
            parts |= {"total_time": life, "idle": None if life is None else max(0, life - parts["busy_time"])}
            for name, value in parts.items():
                sums[name] = None if None in (sums[name], value) else sums[name] + value
        for name, value in sums.items():
            record = {"type": name, "time_ms": None if value is None else value / 1e6}
            share = None if value is None else percent(value, sums["total_time"])
            records.append(dict(zip(by, key)) | record | {"percent": share})
    return ordered(records, by)


def pauses_of(process):
    """From each call of roctxProfilerPause to the return of the next roctxProfilerResume."""
    found, since = [], None
    for region in sorted(process.valid("regions"), key=lambda region: region["start_ns"]):
        if region["name"].startswith("roctxProfilerPause") and since is None:
            since = region["start_ns"]
        elif region["name"].startswith("roctxProfilerResume") and since is not None:
            found.append((since, region["end_ns"]))
            since = None
    return found + ([(since, process.end_ns)] if since is not None else [])


def device_summary(source, options):
    records = []
    for device, group in grouped(lanes(source), lambda lane: (lane.labels["device"],)).items():
        first, last = min(lane.first for lane in group), max(lane.last for lane in group)
        pick = lambda *kinds: [one for lane in group for one in lane.intervals(*kinds)]
        work = pick("compute", "comm", "copy")
        paused = [piece for lane in group for piece in cut(pauses_of(lane.process), lane.first, lane.last)]
        several = [(*piece, number) for number, lane in enumerate(group) for piece in merged(lane.intervals("compute", "comm", "copy"))]
        shared = sum(end - start for start, end, running in moments(several) if len(running) > 1)
        agents = [a for a in group[0].process.gpu_agents() if group[0].process.raw.gpus[a["id"]] == group[0].gpu]
        busy_ns, known = covered(work), covered(work + paused)
        records.append(
            {
                "device": device[0],
                "node": group[0].process.node,
                "hostname": group[0].process.hostname,
                "gpu_name": agents[0]["name"],
                "processes": len({lane.process.number for lane in group}),
                "span_ns": last - first,
                "busy_ns": busy_ns,
                "idle_ns": last - first - known,
                "paused_ns": known - busy_ns,
                "compute_ns": covered(pick("compute")),
                "comm_ns": covered(pick("comm")),
                "copy_ns": covered(pick("copy")),
                "busy_sum_ns": sum(lane.busy for lane in group),
                "shared_ns": shared,
                "busy_pct": percent(busy_ns, last - first),
                "shared_pct": percent(shared, busy_ns),
            }
        )
    return ordered(records, (), "device")


def utilization_ranges(source, options):
    records = []
    for lane in lanes(source):
        run = []
        work = merged(lane.intervals("compute", "comm", "copy"))
        for left, right in equal_bins(lane.first, lane.last, options.whole("bins", 100)):
            used = covered(cut(work, left, right))
            if 100 * used < options.number("low-pct", 50) * (right - left):
                run.append((left, right, used))
            elif run:
                records.append(low_range(lane, run))
                run = []
        if run:
            records.append(low_range(lane, run))
    return first_of_each(ordered(records, (), "-idle_ns", "rank", "process", "gpu", "begin_ns"), (), options.whole("top", 0))


def low_range(lane, run):
    length, used = run[-1][1] - run[0][0], sum(one[2] for one in run)
    record = {name: lane.labels[name] for name in ("rank", "process", "gpu", "device")}
    record |= {"begin_ns": run[0][0] - lane.first, "length_ns": length, "bins": len(run)}
    return record | {"busy_ns": used, "idle_ns": length - used, "busy_pct": percent(used, length)}


def timeline(source, options):
    by = options.by()
    details = [column for column in ("rank", "process", "gpu", "stream_id") if column not in by]
    records = []
    for row in source.rows("kernels") + source.rows("copies"):
        if not row["valid"]:
            continue
        is_copy = "copy_id" in row
        kind = "copy" if is_copy else "fill" if row["category"] == "fill" else "kernel"
        record = {column: row[column] for column in (*by, *details)}
        record |= {"start_ns": row["start_ns"], "duration_ns": row["duration_ns"], "kind": kind}
        record |= {"name": row["direction"] if is_copy else row["kernel_name"], "bytes": row["bytes"] if is_copy else None}
        record |= {"gb_per_s": ratio(record["bytes"], row["duration_ns"]), "correlation_id": row["correlation_id"]}
        records.append(record | {"id": row["copy_id"] if is_copy else row["dispatch_id"]})
    order = [column for column in ("rank", "process", "start_ns", "kind", "id") if column not in by]
    return first_of_each(ordered(records, by, *order), by, options.whole("top", 0))


def top(source, options):
    by = options.by()
    rows = []
    for table, origin, domain, name in (
        ("regions", "regions", "domain", "name"),
        ("kernels", "kernels", "category", options.text("name", "full")),
        ("copies", "copies", None, "direction"),
    ):
        name = {"full": "kernel_name", "short": "short_name", "base": "base_name"}.get(name, name)
        for row in source.rows(table):
            if row["valid"]:
                labels = {column: row[column] for column in by}
                what = {"source": origin, "domain": row[domain] if domain else "copy", "name": row[name]}
                rows.append(labels | what | {"ns": row["duration_ns"]})
    totals = {key: sum(row["ns"] for row in group) for key, group in grouped(rows, list(by)).items()}
    records = []
    for key, group in grouped(rows, [*by, "source", "domain", "name"]).items():
        times = [row["ns"] for row in group]
        record = dict(zip([*by, "source", "domain", "name"], key)) | {"calls": len(times), "total_ns": sum(times)}
        record |= {"mean_ns": sum(times) / len(times), "min_ns": min(times), "max_ns": max(times)}
        records.append(record | {"pct": percent(sum(times), totals[key[: len(by)]])})
    return first_of_each(ordered(records, by, "-total_ns", "source", "domain", "name"), by, options.whole("top", 20))


QUERIES = {
    "busy": Case(busy, INPUTS, BY),
    "time_breakdown": Case(time_breakdown, INPUTS, BY),
    "overlap": Case(overlap, INPUTS, BY),
    "gpu_concurrency": Case(gpu_concurrency, INPUTS, BY),
    "gpu_timeline": Case(gpu_timeline, INPUTS, ((), ("--by", "rank"), ("--by", "node"))),
    "device_summary": Case(device_summary, INPUTS),
    "utilization_ranges": Case(utilization_ranges, INPUTS, ((), ("--bins", 7, "--low-pct", 80, "--top", 5))),
    "timeline": Case(timeline, INPUTS, ((), ("--by", "stream_id", "--top", 3))),
    "top": Case(top, INPUTS, ((), ("--by", "rank", "--top", 4), ("--name", "base", "--top", 0), ("--by", "tid"))),
}
