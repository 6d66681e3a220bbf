"""The family `markers`: ROCTx ranges, the work launched in them, and marks."""

import json
import math

from .case import Case
from .inputs import insert, made, rows, text
from .kernel_times import SHAPE
from .ranging import all_ranges, count_of, projected, self_time, time_of
from .sums import deviation, first_of_each, grouped, mean, median, ordered, percent


def keyed(process, record):
    """A record with the columns that any grouping by process may name."""
    return record | {"rank": process.rank, "process": process.number, "node": process.node, "hostname": process.hostname}


def answer(record, by, *columns):
    """The columns of an answer, grouping columns first."""
    return {column: record[column] for column in (*by, *columns)}


def of_each_process(source, records, top):
    """The first rows of each process."""
    return first_of_each(records, ["process"], top)


def marker_summary(source, options):
    by, markers = options.by(), []
    for process in source.traced():
        for region in process.valid("regions"):
            if region["domain"] == "marker":
                kind = "process" if region["name"] == "roctxProcessRangeA" else "thread"
                markers.append(keyed(process, region) | {"kind": kind, "length": region["duration_ns"]})
        markers += [keyed(process, mark) | {"kind": "mark", "length": 0} for mark in process.marks if mark["domain"] == "marker"]
    for marker in markers:
        marker["message"] = marker["name"] if marker["message"] is None else marker["message"]
    records = []
    for key, group in grouped(markers, [*by, "message", "kind"]).items():
        lengths = [marker["length"] for marker in group]
        record = dict(zip((*by, "message", "kind"), key))
        record |= {"calls": len(group), "total_ns": sum(lengths), "mean_ns": mean(lengths), "median_ns": median(lengths)}
        records.append(record | {"min_ns": min(lengths), "max_ns": max(lengths)})
    return first_of_each(ordered(records, by, "-total_ns", "message", "kind"), by, options.whole("top", 0))


def ranges(source, options):
    records = []
    for process, span in all_ranges(source):
        record = span | {"kernels": count_of(span["work"], "kernel")}
        record |= {"kernel_ns": time_of(span["work"], "kernel"), "copy_ns": time_of(span["work"], "copy")}
        records.append(keyed(process, record))
    columns = ("rank", "tid", "kind", "depth", "path", "iteration", "start_ns", "duration_ns", "kernels", "kernel_ns", "copy_ns")
    return [answer(record, (), *columns) for record in of_each_process(source, records, options.whole("top", 0))]


def range_gpu_projection(source, options):
    records = []
    for process, span in all_ranges(source):
        if not span["work"]:
            continue
        start, end = projected(span["work"])
        record = {column: span[column] for column in ("tid", "kind", "path", "iteration", "start_ns", "duration_ns")}
        record |= {"gpu_start_ns": start, "gpu_duration_ns": end - start, "launch_delay_ns": start - span["start_ns"]}
        record |= {"overhang_ns": end - span["end_ns"], "kernels": count_of(span["work"], "kernel"), "work_ns": time_of(span["work"])}
        record["work_pct"] = percent(record["work_ns"], end - start)
        records.append(keyed(process, record))
    columns = ("rank", "tid", "kind", "path", "iteration", "start_ns", "duration_ns", "gpu_start_ns", "gpu_duration_ns")
    columns += ("launch_delay_ns", "overhang_ns", "kernels", "work_ns", "work_pct")
    return [answer(record, (), *columns) for record in of_each_process(source, records, options.whole("top", 0))]


def range_projection_summary(source, options):
    by, spans = options.by(), [keyed(process, span) for process, span in all_ranges(source)]
    records = []
    for key, group in grouped(spans, [*by, "path"]).items():
        with_work = [span for span in group if span["work"]]
        times = [end - start for start, end in (projected(span["work"]) for span in with_work)]
        work = sum(time_of(span["work"]) for span in with_work)
        record = dict(zip((*by, "path"), key)) | {"ranges": len(group), "projected": len(with_work)}
        record |= {"total_ns": sum(times), "mean_ns": mean(times), "median_ns": median(times)}
        record |= {"min_ns": min(times, default=None), "max_ns": max(times, default=None), "std_ns": deviation(times)}
        records.append(record | {"work_ns": work, "work_pct": percent(work, sum(times))})
    return first_of_each(ordered(records, by, "-total_ns", "path"), by, options.whole("top", 0))


def range_summary(source, options):
    by, spans = options.by(), [keyed(process, span) for process, span in all_ranges(source)]
    for span in spans:
        # Over ranges of threads each piece of work counts once; those of the process have no GPU time of their own.
        span |= {"self_ns": self_time(span), "self_gpu_ns": time_of(span["own"])}
    of_group = {key: sum(span["self_gpu_ns"] for span in group) for key, group in grouped(spans, list(by)).items()}
    records = []
    for key, group in grouped(spans, [*by, "path", "kind"]).items():
        lengths = [span["duration_ns"] for span in group]
        record = dict(zip((*by, "path", "kind"), key)) | {"calls": len(group), "total_ns": sum(lengths)}
        record |= {"self_ns": sum(span["self_ns"] for span in group), "mean_ns": mean(lengths), "median_ns": median(lengths)}
        record |= {"min_ns": min(lengths), "max_ns": max(lengths)}
        record |= {"kernels": sum(count_of(span["work"], "kernel") for span in group)}
        record |= {"gpu_ns": sum(time_of(span["work"]) for span in group)}
        record |= {"self_kernels": sum(count_of(span["own"], "kernel") for span in group)}
        record["self_gpu_ns"] = sum(span["self_gpu_ns"] for span in group)
        records.append(record | {"self_gpu_pct": percent(record["self_gpu_ns"], of_group[key[: len(by)]])})
    records = ordered(records, by, "-self_gpu_ns", "-total_ns", "path", "kind")
    return first_of_each(records, by, options.whole("top", 0))


def work_of(source):
    """Every valid kernel and copy, with where it was launched."""
    all_ranges(source)
    for process in source.traced():
        for row in process.range_work:
            yield keyed(process, row["work"]) | {"kind": row["kind"], "launch": row["launch"], "range": row["range"]}


def range_coverage(source, options):
    by, work = options.by("rank"), list(work_of(source))
    of_group = {key: sum(one["duration_ns"] for one in group) for key, group in grouped(work, list(by)).items()}
    records = []
    for key, group in grouped(work, [*by, "launch"]).items():
        record = dict(zip((*by, "launch"), key))
        for kind, plural in (("kernel", "kernels"), ("copy", "copies")):
            times = [one["duration_ns"] for one in group if one["kind"] == kind]
            record |= {plural: len(times), f"{kind}_ns": sum(times)}
        record["gpu_ns"] = record["kernel_ns"] + record["copy_ns"]
        records.append(record | {"pct": percent(record["gpu_ns"], of_group[key[: len(by)]])})
    return ordered(records, by, "-gpu_ns", "launch")


def range_kernels(source, options):
    by, form = options.by(), {"full": "kernel_name", "short": "short_name", "base": "base_name"}[options.text("name", "full")]
    kernels = [one | {"kernel_name": one[form]} for one in work_of(source) if one["kind"] == "kernel"]
    for kernel in kernels:
        kernel["path"] = kernel["range"]["path"] if kernel["range"] else None
    of_group = {key: sum(one["duration_ns"] for one in group) for key, group in grouped(kernels, list(by)).items()}
    records = []
    for key, group in grouped(kernels, [*by, "path", "kernel_name"]).items():
        times = [one["duration_ns"] for one in group]
        record = dict(zip((*by, "path", "kernel_name"), key)) | {"calls": len(times), "total_ns": sum(times), "mean_ns": mean(times)}
        records.append(record | {"pct": percent(sum(times), of_group[key[: len(by)]])})
    return first_of_each(ordered(records, by, "-total_ns", "path", "kernel_name"), by, options.whole("top", 0))


def slope(points):
    """Least-squares slope of (place, value), nothing where all have one place."""
    middle, level = mean(x for x, _ in points), mean(y for _, y in points)
    spread = sum((x - middle) ** 2 for x, _ in points) if points else 0
    return sum((x - middle) * (y - level) for x, y in points) / spread if spread else None


def in_errors(points):
    """The slope over its standard error; residuals are at least 20 ns, two ticks of the clock."""
    trend = slope(points)
    if trend is None or len(points) < 3:
        return None
    middle, level = mean(x for x, _ in points), mean(y for _, y in points)
    left = sum((y - level - trend * (x - middle)) ** 2 for x, y in points) / (len(points) - 2)
    return trend * math.sqrt(sum((x - middle) ** 2 for x, _ in points)) / math.sqrt(max(left, 400))


def are_far(lengths):
    """Which lengths are further from their median than five scaled distances and a twentieth of it, and the median."""
    middle = median(lengths)
    scatter = median(abs(length - middle) for length in lengths)
    return [abs(length - middle) > max(5 * 1.4826 * scatter, middle / 20) for length in lengths], middle, scatter


def usual_times(source):
    """Median duration of the same work in its process, rounded down, by process, kind and id."""
    usual = {}
    for process in source.traced():
        for rows, kind, key, same in (
            ("kernels", "kernel", "dispatch_id", ("kernel_name", "gpu", *SHAPE)),
            ("copies", "copy", "copy_id", ("gpu", "direction", "bytes")),
        ):
            for group in grouped(process.valid(rows), list(same)).values():
                middle = int(median(row["duration_ns"] for row in group))
                usual |= {(process.number, kind, row[key]): middle for row in group}
    return usual


def gpu_drift(group, process, usual):
    """The trend of the time of the work of ranges, from its first start to its last end, and the parts of it; no clock is sampled."""
    none = dict.fromkeys(("gpu_span_ns", "gpu_drift_pct", "more_work_pct", "clock_pct", "slower_pct", "waiting_pct", "gpu_drift_errors"))
    with_work = [span for span in group if span["work"]]
    if not with_work:
        return none
    times = [end - start for start, end in (projected(span["work"]) for span in with_work)]
    far, middle, _ = are_far(times)
    parts = {"gpu_drift_pct": [], "more_work_pct": [], "slower_pct": [], "waiting_pct": []}
    for span, took, outlier in zip(with_work, times, far):
        if not outlier:
            keys = {"kernel": "dispatch_id", "copy": "copy_id"}
            expected = sum(usual[(process, kind, row[keys[kind]])] for kind, row in span["work"])
            work = time_of(span["work"])
            values = (took, expected, work - expected, took - work)
            for points, value in zip(parts.values(), values):
                points.append((span["iteration"], value))
    record = none | {"gpu_span_ns": middle, "gpu_drift_errors": in_errors(parts["gpu_drift_pct"])}
    for name, points in parts.items():
        trend = slope(points)
        record[name] = None if trend is None else percent(trend * (len(group) - 1), middle)
    return record


def repeating(source):
    """Ranges by process, thread and path, in order; those of the process are of no thread."""
    spans = [keyed(process, span) for process, span in all_ranges(source)]
    for span in spans:
        span["tid"] = span["tid"] if span["kind"] == "thread" else None
    return grouped(spans, ["rank", "process", "tid", "kind", "path"])


def gaps(spans):
    return [after["start_ns"] - before["start_ns"] for before, after in zip(spans, spans[1:])]


def range_pace(source, options):
    records, usual = [], usual_times(source)
    for key, group in repeating(source).items():
        if len(group) < options.whole("min-iterations", 3):
            continue
        lengths = [span["duration_ns"] for span in group]
        far, middle, scatter = are_far(lengths)
        points = [(span["iteration"], span["duration_ns"]) for span, outlier in zip(group, far) if not outlier]
        trend = slope(points)
        record = dict(zip(("rank", "process", "tid", "kind", "path"), key))
        record |= {"iterations": len(group), "total_ns": sum(lengths), "first_ns": lengths[0], "median_ns": middle, "mad_ns": scatter}
        record |= {"jitter_pct": percent(scatter, middle), "pace_ns": median(gaps(group)), "trend_ns": trend}
        record |= {"drift_pct": None if trend is None else percent(trend * (len(group) - 1), middle), "drift_errors": in_errors(points)}
        record |= {"outliers": sum(far)}
        longest = max(group, key=lambda span: (span["duration_ns"], -span["iteration"]))
        record |= {"max_ns": max(lengths), "worst_iteration": longest["iteration"]}
        record |= {"gpu_ns": median(time_of(span["work"]) for span in group)}
        record |= {"gpu_iterations": sum(1 for span in group if span["work"])}
        records.append(record | gpu_drift(group, record["process"], usual))
    records = ordered(records, (), "-total_ns", "rank", "process", "tid", "kind", "path")
    columns = ("rank", "tid", "path", "iterations", "total_ns", "first_ns", "median_ns", "mad_ns", "jitter_pct", "pace_ns")
    columns += ("trend_ns", "drift_pct", "drift_errors", "outliers", "max_ns", "worst_iteration", "gpu_ns", "gpu_iterations", "gpu_span_ns")
    columns += ("gpu_drift_pct", "more_work_pct", "clock_pct", "slower_pct", "waiting_pct", "gpu_drift_errors")
    return [answer(record, (), *columns) for record in first_of_each(records, (), options.whole("top", 0))]


def add_range(connection, thread, name, message, start, end):
    """A marker of a thread, with its event."""
    stack = 1 + max(row["stack_id"] for row in rows(connection, "event"))
    category, detail = text(connection, "MARKER_CORE_RANGE_API"), json.dumps({} if message is None else {"message": message})
    event = insert(connection, "event", category_id=category, stack_id=stack, parent_stack_id=0, correlation_id=0, extdata=detail)
    insert(connection, "region", tid=thread, start=start, end=end, name_id=text(connection, name), event_id=event)


@made("odd_ranges", "two_nodes")
def odd_ranges(connection, number):
    """Ranges around the first two copies of a thread: signs that part paths, no text, ends and starts at a call, the same twice, a pause."""
    named = text(connection, "hipMemcpyAsync")
    first, second = [row for row in rows(connection, "region") if row["name_id"] == named][:2]
    thread, push = first["tid"], "roctxThreadRangeA"
    add_range(connection, thread, push, "a/b\\c", first["start"] - 400, second["end"] + 400)
    add_range(connection, thread, push, None, first["start"] - 300, first["end"] + 20)
    add_range(connection, thread, push, "until the second", first["end"] + 30, second["start"])
    add_range(connection, thread, push, "from the second", second["start"], second["start"] + 1)
    add_range(connection, thread, push, "same", second["start"] + 10, second["start"] + 20)
    add_range(connection, thread, push, "same", second["start"] + 10, second["start"] + 20)
    add_range(connection, thread, push, "no length", second["end"] + 100, second["end"] + 100)
    add_range(connection, thread, "roctxProfilerPauseA", None, second["end"] + 120, second["end"] + 130)
    add_range(connection, thread, "roctxProcessRangeA", "all threads", first["start"] - 1000, second["start"] + 5)


BY_RANK, BY_NAME = ("--by", "rank"), ("--name", "base", "--by", "rank,gpu")

QUERIES = {
    "marker_summary": Case(marker_summary, ("two_nodes", "hostile", "odd_ranges"), ((), BY_RANK, ("--by", "tid", "--top", "2"))),
    "ranges": Case(ranges, ("two_nodes", "hostile", "merged", "odd_ranges"), ((), ("--top", "3"))),
    "range_gpu_projection": Case(range_gpu_projection, ("two_nodes", "hostile", "odd_ranges")),
    "range_projection_summary": Case(range_projection_summary, ("two_nodes", "hostile", "odd_ranges"), ((), BY_RANK, ("--by", "hostname,tid", "--top", "1"))),
    "range_summary": Case(range_summary, ("two_nodes", "hostile", "odd_ranges"), ((), BY_RANK, ("--by", "depth,message"))),
    "range_coverage": Case(range_coverage, ("two_nodes", "hostile", "odd_ranges"), ((), ("--by", "kind,gpu"))),
    "range_kernels": Case(range_kernels, ("two_nodes", "hostile", "odd_ranges"), ((), BY_NAME, ("--by", "category", "--top", "2"))),
    "range_pace": Case(range_pace, ("two_nodes", "planted", "merged", "odd_ranges"), ((), ("--min-iterations", "2", "--top", "5"))),
}
