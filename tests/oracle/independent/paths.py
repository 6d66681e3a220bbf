"""The critical path of each process, the slack of its dispatches, and what a kernel without time would save."""

from .activity import labels_of
from .case import Case
from .iterating import iterations_of
from .kernel_times import NAME_COLUMNS
from .launching import source_of
from .made_inputs import DRAINED, STEPS
from .path_graph import NEAR_NS, Graph
from .sums import first_of_each, grouped, mean, median, ordered, percent, ratio

INPUTS = (STEPS, "two_nodes", "sampled", DRAINED)
GRAPHS = {}


def graph_of(process):
    if process.raw not in GRAPHS:
        GRAPHS[process.raw] = Graph(process)
    return GRAPHS[process.raw]


def step(graph, moment):
    """The part of the path before a moment, as (start, end, kind, what, reached_by), and the moment before that."""
    kind, place, side = moment
    if kind == "work":
        work = graph.works[place]
        bound = work["causes"][0] if work["causes"] else None
        if side == "end":
            edge = {"stream": "stream", "inferred": "inferred", None: "start"}.get(bound and bound[0], "launch")
            return (work["start_ns"], work["end_ns"], work["kind"], work, edge), ("work", place, "start")
        if bound is None:
            return (graph.first, work["start_ns"], "unknown", work, "start"), None
        cause, other, time = bound
        if cause == "launched":
            return (time, work["start_ns"], "launch_latency", work, "launch"), ("call", other, "end")
        if cause == "launching":
            return (time, work["start_ns"], "api", graph.calls[other], "thread"), ("call", other, "start")
        late = work["call"] is None and work["start_ns"] - time > NEAR_NS
        return (time, work["start_ns"], "unknown" if late else "queue_wait", work, cause), ("work", other, "end")
    call = graph.calls[place]
    if side == "end":
        if call["waited"] is not None:
            return (graph.works[call["waited"]]["end_ns"], call["end"], "sync_wakeup", call, "wait"), ("work", call["waited"], "end")
        return (call["start"], call["end"], "api", call, "thread"), ("call", place, "start")
    before = graph.before(call)
    if before is None:
        return (graph.first, call["start"], "host", call, "start"), None
    if before["end"] <= call["start"]:
        return (before["end"], call["start"], "host", call, "thread"), ("call", before["place"], "end")
    return (before["start"], call["start"], "api", before, "thread"), ("call", before["place"], "start")


def longest_path(process):
    """Parts of the path in order, from the first start of work to the last end."""
    graph = graph_of(process)
    ends = [work["place"] for work in graph.works if work["end_ns"] == graph.last]
    parts, moment = [], ("work", ends[-1], "end") if ends else None
    while moment is not None:
        (start, end, kind, what, edge), moment = step(graph, moment)
        start = max(start, graph.first)
        if start < end:
            parts.append((start, end, kind, what, edge))
        if start <= graph.first:
            break
    return parts[::-1]


def host_pieces(process, tid, start, end):
    """(start, end, call) of a time outside of launching and waiting calls: inside other calls, and outside of all."""
    own = [one for one in source_of(process).functions if one[0] == tid]
    first = min((one[2] for one in own), default=end)
    pieces = [(start, min(first, end), "unknown", None)] if start < first else []
    points = sorted({max(start, first), end} | {p for one in own for p in one[2:4] if max(start, first) < p < end})
    for left, right in zip(points, points[1:]):
        around = [one for one in own if one[2] <= left and right <= one[3]]
        inner = max(around, key=lambda one: (one[2], -one[3]), default=None)
        kind, name = ("api", inner[1]) if inner else ("host", None)
        if pieces and pieces[-1][1:] == (left, kind, inner):
            pieces[-1] = (pieces[-1][0], right, kind, inner)
        else:
            pieces.append((left, right, kind, inner))
    return [(left, right, kind, inner and inner[1]) for left, right, kind, inner in pieces if left < right]


def cut_at_iterations(rows, start, end):
    """(start, end, iteration) of a part, cut where iterations start and end."""
    points = sorted({start, end} | {p for row in rows for p in (row["start_ns"], row["end_ns"]) if start < p < end})
    for left, right in zip(points, points[1:]):
        inside = [row["iteration"] for row in rows if row["start_ns"] <= left and right <= row["end_ns"]]
        yield left, right, inside[0] if inside else None


def path_rows(process):
    """Rows of the table `critical_path`; `names` has the forms of the name of a kernel."""
    rows, iterations = [], iterations_of(process)
    for start, end, kind, what, edge in longest_path(process):
        if kind == "host":
            pieces = [(*piece, what["tid"], None) for piece in host_pieces(process, what["tid"], start, end)]
        elif kind in ("api", "sync_wakeup"):
            pieces = [(start, end, kind, what["name"], what["tid"], None)]
        else:
            pieces = [(start, end, kind, what["kernel_name"], None, what)]
        for begin, until, sort, name, tid, work in pieces:
            for left, right, iteration in cut_at_iterations(iterations, begin, until):
                row = labels_of(process) | {"ordinal": len(rows), "kind": sort, "name": name, "tid": tid, "start_ns": left}
                row |= {"duration_ns": right - left, "reached_by": edge, "gpu": work and work["gpu"], "target_id": work and work["id"]}
                rows.append(row | {"iteration": iteration, "work": work})
    return rows


def named(row, column):
    """The name of a part in the form that is asked for; directions and functions have but one."""
    work = row["work"]
    return work[column] if work and work["kind"] == "kernel" else row["name"]


def every_part(source, options):
    column, found = NAME_COLUMNS[options.text("name", "full")], []
    for process in source.traced():
        rows = path_rows(process)
        length = sum(row["duration_ns"] for row in rows)
        found += [row | {"name": named(row, column), "path_pct": percent(row["duration_ns"], length)} for row in rows]
    return found


def critical_path(source, options):
    by, parts = options.by(), every_part(source, options)
    shown = ("kind", "rank", "process", "ordinal", "start_ns", "duration_ns", "path_pct", "reached_by", "gpu", "tid")
    shown += ("target_id", "iteration")
    if top := options.whole("top", 0):
        parts = first_of_each(ordered(parts, by, "-duration_ns", "rank", "process", "ordinal"), by, top)
    parts = ordered(parts, by, "rank", "process", "ordinal")
    return [{column: row[column] for column in (*by, "name", *(one for one in shown if one not in by))} for row in parts]


def critical_path_by_iteration(source, options):
    kinds = ("kernel", "copy", "api", "host", "launch_latency", "queue_wait", "sync_wakeup", "unknown")
    records = []
    for process in source.traced():
        parts = grouped(path_rows(process), ["iteration"])
        for iteration in iterations_of(process):
            own = parts.get((iteration["iteration"],), [])
            record = {column: iteration[column] for column in ("rank", "process", "iteration", "phase", "duration_ns")}
            record |= {f"{kind}_ns": sum(row["duration_ns"] for row in own if row["kind"] == kind) for kind in kinds}
            if own:
                records.append(record | {"gpu_pct": percent(record["kernel_ns"] + record["copy_ns"], iteration["duration_ns"])})
    return ordered(records, (), "rank", "process", "iteration")


def critical_path_summary(source, options):
    by, column, records = options.by("rank"), NAME_COLUMNS[options.text("name", "full")], []
    parts, works = every_part(source, options), []
    for process in source.traced():
        for work in graph_of(process).works:
            name = work[column] if work["kind"] == "kernel" else work["kernel_name"]
            works.append(labels_of(process) | {"kind": work["kind"], "name": name, "duration_ns": work["duration_ns"]})
    keys = [*by, "kind", "name"]
    lengths = {key: sum(row["duration_ns"] for row in group) for key, group in grouped(parts, list(by)).items()}
    of_parts, of_works = grouped(parts, keys), grouped(works, keys)
    for key in {**of_parts, **of_works}:
        times = [row["duration_ns"] for row in of_parts.get(key, [])]
        record = dict(zip(keys, key)) | {"parts": len(times), "path_ns": sum(times)}
        record |= {"path_pct": percent(sum(times), lengths[key[: len(by)]])}
        runs = record["kind"] in ("kernel", "copy")
        total = sum(row["duration_ns"] for row in of_works.get(key, []))
        record |= {"mean_ns": mean(times), "max_ns": max(times, default=None), "total_ns": total if runs else None}
        records.append(record | {"critical_pct": percent(sum(times), total) if runs else None})
    return first_of_each(ordered(records, by, "-path_ns", "-total_ns", "kind", "name"), by, options.whole("top", 0))


def on_path(process):
    """Time on the path by place of work."""
    times = {}
    for start, end, kind, what, _ in longest_path(process):
        if kind in ("kernel", "copy"):
            times[what["place"]] = times.get(what["place"], 0) + end - start
    return times


def kernel_slack(source, options):
    by, column, rows, records = options.by("rank"), NAME_COLUMNS[options.text("name", "full")], [], []
    for process in source.traced():
        graph, path = graph_of(process), on_path(process)
        slack = graph.slack()
        for work in graph.works:
            if work["kind"] == "kernel":
                rows.append(work | {"kernel_name": work[column], "path_ns": path.get(work["place"], 0), "slack_ns": slack[work["place"]]})
    for key, group in grouped(rows, [*by, "kernel_name"]).items():
        total, path = (sum(row[name] for row in group) for name in ("duration_ns", "path_ns"))
        slacks = [row["slack_ns"] for row in group]
        record = dict(zip([*by, "kernel_name"], key)) | {"calls": len(group), "critical_calls": sum(row["path_ns"] > 0 for row in group)}
        record |= {"total_ns": total, "path_ns": path, "critical_pct": percent(path, total), "without_slack": slacks.count(0)}
        records.append(record | {"min_slack_ns": min(slacks), "median_slack_ns": median(slacks), "max_slack_ns": max(slacks)})
    return first_of_each(ordered(records, by, "-path_ns", "-total_ns", "kernel_name"), by, options.whole("top", 0))


# For how many kernels of a process, those with most time on the path, the end is worked out.
MOST = 16


def what_if_free(source, options):
    by, records = options.by(), []
    for process in source.traced():
        graph, path = graph_of(process), on_path(process)
        span = graph.last - graph.first
        groups = grouped([work for work in graph.works if work["kind"] == "kernel"], ["kernel_name"])
        at_most = {name: sum(path.get(work["place"], 0) for work in works) for (name,), works in groups.items()}
        most = sorted(at_most, key=lambda name: -at_most[name])[:MOST]
        for (name,), works in groups.items():
            saved = 0 if not at_most[name] else graph.last - graph.end_without(name) if name in most else None
            likely = at_most[name] if saved is None else saved
            record = labels_of(process) | {"kernel_name": name, "calls": len(works), "total_ns": sum(work["duration_ns"] for work in works)}
            record |= {"at_most_ns": at_most[name], "saved_ns": saved, "saved_pct": percent(saved, span)}
            records.append(record | {"speedup_at_most": ratio(span, span - likely), "likely_ns": likely})
    shown = ("rank", "process", "kernel_name", "calls", "total_ns", "at_most_ns", "saved_ns", "saved_pct", "speedup_at_most")
    records = first_of_each(ordered(records, by, "-likely_ns", "-total_ns", "process", "kernel_name"), by, options.whole("top", 0))
    return [{column: record[column] for column in (*by, *(one for one in shown if one not in by))} for record in records]


QUERIES = {
    "critical_path": Case(critical_path, INPUTS, ((), ("--by", "kind", "--top", 2), ("--by", "rank,reached_by", "--name", "base"))),
    "critical_path_by_iteration": Case(critical_path_by_iteration, (STEPS, "sampled")),
    "critical_path_summary": Case(critical_path_summary, INPUTS, ((), ("--by", "process", "--name", "base", "--top", 3), ("--by", "node"))),
    "kernel_slack": Case(kernel_slack, INPUTS, ((), ("--by", "gpu", "--name", "base"), ("--by", "category", "--top", 1))),
    "what_if_free": Case(what_if_free, INPUTS, ((), ("--by", "rank", "--top", 2))),
}
