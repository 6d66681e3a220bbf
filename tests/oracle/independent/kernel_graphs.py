"""HIP graphs: replays, nodes, and the captures that name their kernels."""

from .activity import labels_of
from .case import Case
from .launching import launching_calls
from .made_inputs import GRAPHS
from .sums import first_of_each, grouped, mean, ordered, percent

INPUTS = ("two_nodes", "merged", GRAPHS)


def launches_graphs(call):
    return call is not None and call["name"].lower().startswith("hipgraphlaunch")


def replays_of(process):
    """Replays in the order of first work, each a list of its work by start; what names a graph execution is recorded so."""
    calls, replays = launching_calls(process), {}
    for work in process.valid("kernels") + process.valid("copies"):
        call = calls.get(work["correlation_id"])
        if work["graph_exec_id"] is None and not launches_graphs(call):
            continue
        is_copy = "copy_id" in work
        row = {"kind": "copy" if is_copy else "kernel", "target_id": work["copy_id"] if is_copy else work["dispatch_id"]}
        row |= {"symbol": work["direction"] if is_copy else work["kernel_id"]}
        row |= {"name": work["direction"] if is_copy else work["kernel_name"], "node_id": work.get("graph_node_id"), "call": call}
        row |= {column: work[column] for column in ("correlation_id", "graph_exec_id", "start_ns", "end_ns")}
        row["work_ns"] = work["duration_ns"]
        replays.setdefault((work["graph_exec_id"], work["correlation_id"]), []).append(row)
    for rows in replays.values():
        rows.sort(key=lambda row: (row["start_ns"], row["kind"] == "copy", row["target_id"]))
        for position, row in enumerate(rows):
            row["position"] = position
    return sorted(replays.values(), key=lambda rows: (rows[0]["start_ns"], rows[0]["target_id"]))


def numbered_replays(process):
    """(graph, known_by, replay, rows) of every replay; without a recorded execution the same work is the same graph."""
    graphs, counts, found = {}, {}, []
    for rows in replays_of(process):
        recorded = rows[0]["graph_exec_id"]
        key = recorded if recorded is not None else tuple(sorted((row["kind"], row["symbol"]) for row in rows))
        graph = graphs.setdefault(key, len(graphs))
        counts[graph] = counts.get(graph, -1) + 1
        found.append((graph, "same work" if recorded is None else "graph_exec_id", counts[graph], rows))
    return found


def measured(rows):
    """The columns of a replay."""
    call = rows[0]["call"]
    start, end = min(row["start_ns"] for row in rows), max(row["end_ns"] for row in rows)
    return {
        "api_name": call and call["name"],
        "api_ns": call and call["end_ns"] - call["start_ns"],
        "queue_delay_ns": call and start - call["end_ns"],
        "start_ns": start,
        "span_ns": end - start,
        "kernels": sum(row["kind"] == "kernel" for row in rows),
        "copies": sum(row["kind"] == "copy" for row in rows),
        "nodes": len({row["node_id"] for row in rows} - {None}),
        "work_ns": sum(row["work_ns"] for row in rows),
    }


def graph_replays(source, options):
    by, records = options.by(), []
    for process in source.traced():
        for graph, known_by, replay, rows in numbered_replays(process):
            record = {column: labels_of(process)[column] for column in (*by, *(one for one in ("rank", "process") if one not in by))}
            record |= {"graph": graph, "known_by": known_by, "graph_exec_id": rows[0]["graph_exec_id"], "replay": replay}
            record |= {"correlation_id": rows[0]["correlation_id"]}
            records.append((process.number, record | measured(rows)))
    order = [column for column in ("rank", "process", "graph", "replay") if column not in by]
    return ordered([record for _, record in records], by, *order)


def graph_summary(source, options):
    by, replays, records = options.by("rank"), [], []
    for process in source.traced():
        for graph, known_by, _, rows in numbered_replays(process):
            replays.append(labels_of(process) | {"graph": graph, "known_by": known_by} | measured(rows))
    for key, group in grouped(replays, [*by, "graph", "known_by"]).items():
        known = lambda column: [replay[column] for replay in group if replay[column] is not None]
        spans, work = known("span_ns"), [replay["kernels"] + replay["copies"] for replay in group]
        record = dict(zip([*by, "graph", "known_by"], key)) | {"replays": len(group)}
        record |= {"without_call": len(group) - len(known("api_ns")), "kernels": sum(known("kernels")), "copies": sum(known("copies"))}
        record |= {"least_work": min(work), "most_work": max(work), "mean_api_ns": mean(known("api_ns"))}
        record |= {"mean_queue_delay_ns": mean(known("queue_delay_ns")), "mean_span_ns": mean(spans)}
        record |= {"min_span_ns": min(spans), "max_span_ns": max(spans), "mean_work_ns": mean(known("work_ns"))}
        records.append(record | {"total_work_ns": sum(known("work_ns"))})
    return ordered(records, by, "-total_work_ns", "graph", "known_by")


def graph_nodes(source, options):
    by, works, records = options.by("rank"), [], []
    for process in source.traced():
        for graph, _, _, rows in numbered_replays(process):
            for row in rows:
                position = row["position"] if row["node_id"] is None else None
                works.append(labels_of(process) | row | {"graph": graph, "position": position})
    keys = [*by, "graph", "node_id", "position", "name", "kind"]
    totals = {key: sum(row["work_ns"] for row in group) for key, group in grouped(works, [*by, "graph"]).items()}
    for key, group in grouped(works, keys).items():
        times = [row["work_ns"] for row in group]
        record = dict(zip(keys, key)) | {"runs": len(times), "total_ns": sum(times), "mean_ns": mean(times)}
        record |= {"min_ns": min(times), "max_ns": max(times), "pct": percent(sum(times), totals[key[: len(by) + 1]])}
        records.append(record)
    return first_of_each(ordered(records, by, "-total_ns", "graph", "node_id", "position", "name", "kind"), by, options.whole("top", 0))


def captures_of(process):
    """Names of the launches of each finished capture of a thread, by the kernel in their arguments."""
    found = []
    for _, calls in grouped(sorted(process.valid("regions"), key=lambda region: region["start_ns"]), ["tid"]).items():
        names = None
        for call in calls:
            if call["name"] == "hipStreamBeginCapture":
                names = []
            elif call["name"] == "hipStreamEndCapture" and names is not None:
                found += [names] if names else []
                names = None
            elif call["name"] in ("hipLaunchKernel", "hipExtLaunchKernel", "hipModuleLaunchKernel") and names is not None:
                names.append({arg["name"]: arg["value"] for arg in process.args(call["event_id"])}.get("kernel"))
    return found


def graph_kernels(source, options):
    records = []
    for process in source.traced():
        captures = captures_of(process)
        for (graph,), replays in grouped(numbered_replays(process), lambda replay: (replay[0],)).items():
            kernels = [[row for row in replay[3] if row["kind"] == "kernel"] for replay in replays]
            sizes = {len(rows) for rows in kernels}
            alike = [names for names in captures if {len(names)} == sizes]
            total = sum(row["work_ns"] for rows in kernels for row in rows)
            for position in range(max(sizes)):
                here = [rows[position] for rows in kernels if position < len(rows)]
                names = [None if row["name"].lower() == "task" else row["name"] for row in here]
                usual = min(set(names), key=lambda name: (-names.count(name), name is None, name or ""))
                captured = {capture[position] for capture in alike}
                captured = captured.pop() if len(captured) == 1 else None
                times = [row["work_ns"] for row in here]
                known = usual is not None and captured is not None
                record = {"rank": process.rank, "process": process.number, "graph": graph}
                record |= {"graph_exec_id": here[0]["graph_exec_id"], "position": position, "kernel_name": usual}
                record |= {"captured_name": captured, "agrees": ("yes" if usual == captured else "no") if known else None}
                record |= {"captures": len(alike) if captures else None, "replays": len(here), "kernels": len(set(names))}
                record |= {"total_ns": sum(times), "mean_ns": mean(times), "min_ns": min(times), "max_ns": max(times)}
                records.append(record | {"pct": percent(sum(times), total)})
    records = ordered(records, (), "rank", "process", "graph", "position")
    return first_of_each(records, ("process", "graph"), options.whole("top", 0))


QUERIES = {
    "graph_replays": Case(graph_replays, INPUTS, ((), ("--by", "node"))),
    "graph_summary": Case(graph_summary, INPUTS, ((), ("--by", "process"), ("--by", "hostname"))),
    "graph_nodes": Case(graph_nodes, INPUTS, ((), ("--by", "process", "--top", 2))),
    "graph_kernels": Case(graph_kernels, INPUTS, ((), ("--top", 1))),
}
