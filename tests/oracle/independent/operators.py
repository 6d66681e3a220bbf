"""The family `operators`: operators and modules of PyTorch with the work launched in them, and steps of its profiler."""

import json

from .calls import launched
from .case import Case
from .inputs import made, rows, table
from .kineto import kineto_processes
from .ranging import all_ranges, count_of, is_open, nested, self_time, time_of
from .sums import covered, first_of_each, grouped, mean, ordered, percent

MODULE, NODE = "nn.Module: ", "autograd::engine::evaluate_function: "


def operators_of(process):
    """Operators and calls of modules in the order of start; each kind nests by itself."""
    found = []
    for region in process.regions:
        if region["kind"] == "cpu_op":
            found.append(region | {"kind": "operator"})
        elif region["name"].startswith(MODULE):
            found.append(region | {"kind": "module", "name": region["name"].removeprefix(MODULE)})
    for spans in grouped(found, ["kind", "tid"]).values():
        nested(spans)
    for span in found:
        span["work"], span["own"] = [], []
    for kind, work, call in process.launched():
        for of_kind in ("operator", "module"):
            around = [span for span in found if call and span["kind"] == of_kind and span["tid"] == call["tid"] and is_open(span, call["start_ns"])]
            for span in around:
                span["work"].append((kind, work))
            if around:
                max(around, key=lambda span: span["depth"])["own"].append((kind, work))
    return sorted(found, key=lambda span: (span["start_ns"], -span["end_ns"], span["region_id"]))


def all_operators(source):
    """Operators and modules of all processes; worked out once for a source."""
    if not hasattr(source, "operators"):
        source.operators = [span | {"node": 0} for process in kineto_processes(source) for span in operators_of(process)]
    return source.operators


def operators(source, options):
    records = []
    for span in all_operators(source):
        record = {column: span[column] for column in ("rank", "tid", "kind", "depth", "name")} | {"operator_id": span["region_id"]}
        record |= {column: span[column] for column in ("start_ns", "duration_ns")} | {"self_ns": self_time(span)}
        record |= {"kernels": count_of(span["work"], "kernel"), "kernel_ns": time_of(span["work"], "kernel")}
        records.append(record | {"copy_ns": time_of(span["work"], "copy")})
    return first_of_each(records, ["rank"], options.whole("top", 0))


def summed(spans, by, labels):
    """Host and GPU time of spans by grouping columns and labels."""
    launched_in = {key: sum(time_of(span["own"]) for span in group) for key, group in grouped(spans, list(by)).items()}
    records = []
    for key, group in grouped(spans, [*by, *labels]).items():
        times = [span["duration_ns"] for span in group]
        record = dict(zip((*by, *labels), key)) | {"calls": len(group), "total_ns": sum(times)}
        record |= {"self_ns": sum(self_time(span) for span in group), "mean_ns": mean(times), "max_ns": max(times)}
        record |= {"kernels": sum(count_of(span["work"], "kernel") for span in group), "gpu_ns": sum(time_of(span["work"]) for span in group)}
        record |= {"self_kernels": sum(count_of(span["own"], "kernel") for span in group)}
        record["self_gpu_ns"] = sum(time_of(span["own"]) for span in group)
        records.append(record | {"self_gpu_pct": percent(record["self_gpu_ns"], launched_in[key[: len(by)]])})
    return records


def of_kind(source, kind):
    return [span for span in all_operators(source) if span["kind"] == kind]


def operator_summary(source, options):
    by = options.by()
    records = ordered(summed(of_kind(source, "operator"), by, ("name",)), by, "-self_gpu_ns", "-total_ns", "name")
    return first_of_each(records, by, options.whole("top", 0))


def module_summary(source, options):
    by = options.by()
    records = ordered(summed(of_kind(source, "module"), by, ("name",)), by, "-gpu_ns", "-total_ns", "name")
    return first_of_each(records, by, options.whole("top", 0))


def as_recorded(value):
    """A list of the trace as text."""
    return None if value is None else json.dumps(value)


def operator_shapes(source, options):
    by, spans = options.by(), []
    for span in of_kind(source, "operator"):
        shapes, types = (as_recorded(span["args"].get(name)) for name in ("Input Dims", "Input type"))
        spans.append(span | {"input_shapes": shapes, "input_types": types})
    labels = ("name", "input_shapes", "input_types")
    records = ordered(summed(spans, by, labels), by, "-self_gpu_ns", "-total_ns", *labels)
    return first_of_each(records, by, options.whole("top", 0))


def ran_again(span):
    """Whether autograd recorded an operator, which no thread ran before, within a node of its backward pass."""
    around, parent = [], span["parent"]
    while parent:
        around.append(parent["name"])
        parent = parent["parent"]
    recorded = "Sequence number" in span["args"] and span["args"].get("Fwd thread id") == 0
    return recorded and not span["name"].startswith("autograd::") and any(name.startswith(NODE) for name in around)


def recompute(source, options):
    by, spans, records = options.by(), of_kind(source, "operator"), []
    launched_in = {key: sum(time_of(span["own"]) for span in group) for key, group in grouped(spans, list(by)).items()}
    again = [span for span in spans if ran_again(span) and not (span["parent"] and ran_again(span["parent"]))]
    for key, group in grouped(again, [*by, "name"]).items():
        times, work = [span["duration_ns"] for span in group], sum(time_of(span["work"]) for span in group)
        record = dict(zip((*by, "name"), key)) | {"calls": len(group), "total_ns": sum(times), "mean_ns": mean(times)}
        record |= {"kernels": sum(count_of(span["work"], "kernel") for span in group), "gpu_ns": work}
        records.append(record | {"gpu_pct": percent(work, launched_in[key[: len(by)]])})
    return first_of_each(ordered(records, by, "-gpu_ns", "-total_ns", "name"), by, options.whole("top", 0))


def gpus_of(kind, work):
    """The GPUs on which some work ran: a copy between two runs on both."""
    return {work["gpu"], work.get("peer_gpu")} - {None}


def profiler_steps(source, options):
    records = []
    for process in source.traced():
        steps = [span for owner, span in all_ranges(source) if owner is process and span["message"].startswith("ProfilerStep#")]
        outer = [one for one in steps if not any(is_within(one, other) for other in steps if other is not one)]
        calls = [(kind, work, call) for kind, work, call in launched(process) if call]
        for step in outer:
            work = [(kind, one) for kind, one, call in calls if is_open(step, call["start_ns"])]
            record = {"rank": process.rank, "process": process.number, "step": step["message"], "start_ns": step["start_ns"]}
            record |= {"duration_ns": step["duration_ns"], "kernels": count_of(work, "kernel"), "kernel_ns": time_of(work, "kernel")}
            record["comm_ns"] = sum(one["duration_ns"] for kind, one in work if kind == "kernel" and one["category"] == "communication")
            record |= {"copies": count_of(work, "copy"), "copy_ns": time_of(work, "copy")}
            first, last = min((one["start_ns"] for _, one in work), default=None), max((one["end_ns"] for _, one in work), default=None)
            lanes = {}
            for kind, one in work:
                for gpu in gpus_of(kind, one):
                    lanes.setdefault(gpu, []).append((one["start_ns"], one["end_ns"]))
            busy, length = sum(covered(lane) for lane in lanes.values()), last - first if work else None
            record |= {"gpu_start_ns": first, "gpu_ns": length, "busy_ns": busy}
            records.append(record | {"busy_pct": percent(busy, length * len(lanes)) if work else None})
    return ordered(records, (), "rank", "process", "start_ns")


def is_within(one, other):
    """Whether a step lies in another one, of whatever thread."""
    inside = other["start_ns"] <= one["start_ns"] and one["end_ns"] <= other["end_ns"]
    return inside and one["duration_ns"] < other["duration_ns"]


@made("peer_copies", "two_nodes")
@made("profiled_steps", "two_nodes")
def mark_steps(connection, number):
    """The steps of a run are those of the PyTorch profiler, and the layers in them are called so too, so that steps lie in steps."""
    name = table(connection, "event")
    for place, row in enumerate(rows(connection, "event")):
        if '"step"' in row["extdata"] or '"layer 0"' in row["extdata"]:
            connection.execute(f'UPDATE "{name}" SET extdata = ? WHERE id = ?', (json.dumps({"message": f"ProfilerStep#{place}"}), row["id"]))


@made("profiled_steps", "two_nodes")
def forget_copies_between_gpus(connection, number):
    agents = {row["id"] for row in rows(connection, "info_agent") if row["type"] == "GPU"}
    for row in rows(connection, "memory_copy"):
        if row["src_agent_id"] != row["dst_agent_id"] and {row["src_agent_id"], row["dst_agent_id"]} <= agents:
            connection.execute(f'DELETE FROM "{table(connection, "memory_copy")}" WHERE id = ?', (row["id"],))


KINETO = ("kineto_two_ranks",)

QUERIES = {
    "operators": Case(operators, KINETO, ((), ("--top", "5"))),
    "operator_summary": Case(operator_summary, KINETO, ((), ("--by", "rank"), ("--by", "tid,depth", "--top", "1"))),
    "operator_shapes": Case(operator_shapes, KINETO, ((), ("--by", "rank", "--top", "3"))),
    "module_summary": Case(module_summary, KINETO, ((), ("--by", "rank,tid"))),
    "recompute": Case(recompute, KINETO, ((), ("--by", "rank"))),
    "profiler_steps": Case(
        profiler_steps,
        ("sampled", "profiled_steps", "peer_copies"),
    ),
}
