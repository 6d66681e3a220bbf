"""Communication kernels and the collectives that they are part of, for traces in which every GPU has as many calls of a kernel."""

import functools
import tomllib

from common import REPOSITORY

from .activity import kind_of
from .launching import launching_calls
from .sums import common, covered, grouped


@functools.cache
def facts():
    """Operations by call, and types by spelling, as share/collectives.toml quotes them from rccl-tests and rccl.h."""
    document = tomllib.loads((REPOSITORY / "share" / "collectives.toml").read_text())
    operations = {call.lower(): operation for operation in document["operation"] for call in operation["calls"]}
    types = {spelling: one for one in document["type"] for spelling in one["spellings"]}
    return operations, types


def bus_factor(operation, ranks):
    return {"2(n-1)/n": 2 * (ranks - 1) / ranks, "(n-1)/n": (ranks - 1) / ranks, "1": 1.0}[operation["bus"]]


def message_of(process, kernel):
    """What the RCCL call around the launch of a kernel says: operation, type, count, communicator, and why one is missing."""
    launch = launching_calls(process).get(kernel["correlation_id"])
    operations, types = facts()
    if not launch:
        return {"sizes": "no call"}
    around = [
        region
        for region in process.valid("regions")
        if region["domain"] == "rccl"
        and region["tid"] == launch["tid"]
        and region["start_ns"] <= launch["start_ns"] <= region["end_ns"]
        and region["name"].lower() in operations
    ]
    if not around:
        return {"sizes": "no call"}
    call = max(around, key=lambda region: region["start_ns"])
    operation = operations[call["name"].lower()]
    args = {arg["name"]: arg["value"] for arg in process.args(call["event_id"])}
    if not args:
        return {"operation": operation, "sizes": "no arguments"}
    kind = types[args["datatype"]]
    return {"operation": operation, "type": kind, "count": int(args[operation["count"]]), "comm": args["comm"], "sizes": "arguments"}


def communication_kernels(process):
    return [kernel for kernel in process.valid("kernels") if kernel["category"] == "communication"]


def made_ranks(process):
    """Number of ranks of each communicator whose creation is recorded."""
    found = {}
    for region in process.valid("regions"):
        if region["name"].lower().startswith("ncclcomminitrank"):
            args = {arg["name"]: arg["value"] for arg in process.args(region["event_id"])}
            if {"nranks", "newcomm"} <= args.keys():
                found[args["newcomm"]] = int(args["nranks"])
    return found


def collective_kernels(trace):
    """Rows of valid communication kernels with their collective, as docs/tables.md describes them."""
    rows = []
    for process in trace.traced():
        others = {
            gpu: [(one["start_ns"], one["end_ns"]) for one in group if kind_of(one) == "compute"]
            for gpu, group in grouped(process.valid("kernels"), lambda one: one["gpu"]).items()
        }
        for kernel in communication_kernels(process):
            hidden = covered(common([(kernel["start_ns"], kernel["end_ns"])], others[kernel["gpu"]]))
            row = kernel | {"exposed_ns": kernel["duration_ns"] - hidden, "of": process}
            rows.append(row | {"message": message_of(process, kernel)})
    for group in grouped(rows, communicators(rows)).values():
        match(group)
    number(rows)
    return rows


def communicators(rows):
    """A key of the communicator: what its call names, otherwise the place of the stream among those of its GPU."""
    streams = {}
    for row in rows:
        streams.setdefault((row["process"], row["gpu"]), set()).add(row["stream_id"])

    def key(row):
        place = sorted(streams[(row["process"], row["gpu"])]).index(row["stream_id"])
        return row["kernel_name"], row["message"].get("comm", place)

    return key


def match(group):
    """Calls of one kernel on one communicator: the n-th call of each GPU belongs to the n-th collective."""
    lanes = grouped(sorted(group, key=lambda row: (row["start_ns"], row["dispatch_id"])), ["process", "gpu"])
    if len({len(lane) for lane in lanes.values()}) > 1:
        raise ValueError("GPUs have different numbers of calls, for which there is no computation here")
    recorded = {made_ranks(row["of"]).get(row["message"].get("comm")) for row in group} - {None}
    ranks = min(recorded) if recorded else len(lanes)
    for lane in lanes.values():
        for ordinal, row in enumerate(lane):
            row |= {"ordinal": ordinal, "gpus": len(lanes), "expected_gpus": len(lanes), "ranks": ranks, "lane_calls": len(lane)}
            row["group"] = group
            describe(row)


def describe(row):
    message = row["message"]
    operation, kind = message.get("operation"), message.get("type")
    row |= {"operation": operation and operation["name"], "element_type": kind and kind["name"], "sizes": message["sizes"]}
    row |= {"message_bytes": None, "bus_factor": None}
    if operation:
        row["bus_factor"] = bus_factor(operation, row["ranks"])
    if kind:
        row["message_bytes"] = message["count"] * kind["bytes"] * (row["ranks"] if operation["per_rank"] else 1)


def number(rows):
    """Numbers collectives in the order of time on the GPU with most calls, and communicators by their first collective."""
    heads = []
    for group in {id(row["group"]): row["group"] for row in rows}.values():
        lane = min(grouped(group, ["process", "gpu"]).items(), key=lambda item: (-len(item[1]), item[0]))[0]
        heads += [row for row in group if (row["process"], row["gpu"]) == lane]
    heads.sort(key=lambda row: (row["start_ns"], row["process"], row["dispatch_id"]))
    communicator = {}
    for place, head in enumerate(heads):
        mine = communicator.setdefault(id(head["group"]), len(communicator))
        for row in head["group"]:
            if row["ordinal"] == head["ordinal"]:
                row |= {"collective": place if row["gpus"] > 1 else None, "communicator": mine}
                row["matched_by"] = "order" if row["gpus"] > 1 else None


def waits(rows):
    """Adds to each kernel what it took above the shortest of its collective, nothing where it has no partner."""
    for group in grouped([row for row in rows if row["collective"] is not None], ["collective"]).values():
        least = min(row["duration_ns"] for row in group)
        most = max(row["duration_ns"] for row in group)
        for row in group:
            row |= {"wait_ns": row["duration_ns"] - least, "late_ns": most - row["duration_ns"], "cost_ns": least, "longest_ns": most}
    for row in rows:
        row.setdefault("wait_ns", None)
    return rows
