"""The family `memory`: faults and migrations of pages, from events of the kernel driver in arguments or in details of events."""

import re

from .case import Case
from .markers import keyed
from .sums import grouped, mean, ordered, ratio

PAGE, LARGE_PAGE = 4096, 2**21
TRIGGERS = {"PREFETCH": "prefetch", "PAGEFAULT_GPU": "GPU page fault", "PAGEFAULT_CPU": "CPU page fault", "TTM_EVICTION": "eviction"}


def found_in(value, found):
    """Numbers of a detail, whatever they are wrapped in."""
    for name, inner in value.items():
        if isinstance(inner, dict):
            found_in(inner, found)
        else:
            found[name] = inner
    return found


def details(process, region):
    """What an event of the driver says: arguments of rocprofiler-systems, or a detail that rocprofv3 keeps."""
    values = {row["name"]: row["value"] for row in process.args(region["event_id"])}
    values |= found_in({"kfd": process.detail(process.event(region)).get("kfd", {})}, {})
    return {name: int(str(value), 0) for name, value in values.items() if re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", str(value))}


def agent(process, values, name):
    """The agent that an event names: by its id, or by its place among all, which rocprofiler-systems counts from 0."""
    if f"{name}_id" in values:
        return process.agents.get(values[f"{name}_id"])
    places = sorted(process.agents)
    return process.agents[places[values[name]]] if values.get(name, len(places)) < len(places) else None


def driver_events(source, word):
    """(region, details, process) of paired events, whose operation names `word`."""
    for process in source.traced():
        for region in process.valid("regions"):
            if f"PAGE_{word}" in region["name"].upper():
                yield keyed(process, region), details(process, region), process


def identity(one):
    return one["id"] if one else None


def gpu_of(process, one):
    return process.raw.gpus.get(one["id"]) if one else None


def page_faults(source, options):
    by, faults = options.by("rank"), []
    for region, values, process in driver_events(source, "FAULT"):
        name = region["name"].upper()
        access = "write" if "WRITE_FAULT" in name else "read" if "READ_FAULT" in name else region["name"]
        outcome = "migrated" if name.endswith("MIGRATED") else "updated" if name.endswith("UPDATED") else None
        place = agent(process, values, "agent")
        fault = {"agent_id": identity(place), "gpu": gpu_of(process, place), "access": access, "outcome": outcome}
        faults.append(region | fault | {"address": values.get("address")})
    labels, records = ("agent_id", "gpu", "access", "outcome"), []
    for key, group in grouped(faults, [*by, *labels]).items():
        times = [fault["duration_ns"] for fault in group]
        record = dict(zip((*by, *labels), key)) | {"faults": len(group)}
        for column, size in (("pages", PAGE), ("ranges", LARGE_PAGE)):
            record[column] = len({fault["address"] // size for fault in group if fault["address"] is not None})
        records.append(record | {"total_ns": sum(times), "mean_ns": mean(times), "max_ns": max(times)})
    return ordered(records, by, "-total_ns", "agent_id", "access", "outcome")


def direction(origin, target):
    """Direction of a migration, nothing where an agent is not recorded."""
    if origin is None or target is None:
        return None
    way = "2".join("D" if one["type"] == "GPU" else "H" for one in (origin, target))
    return "P2P" if way == "D2D" and origin["id"] != target["id"] else way


def page_migrations(source, options):
    by, migrations = options.by("rank"), []
    for region, values, process in driver_events(source, "MIGRATE"):
        ends = [text for word, text in TRIGGERS.items() if region["name"].upper().endswith(word)]
        origin, target = agent(process, values, "src_agent"), agent(process, values, "dst_agent")
        migration = {"trigger": ends[0] if ends else region["name"], "direction": direction(origin, target)}
        migration |= {"src_agent_id": identity(origin), "src_gpu": gpu_of(process, origin)}
        migration |= {"dst_agent_id": identity(target), "dst_gpu": gpu_of(process, target)}
        known = "start_address" in values and "end_address" in values
        size = values["end_address"] - values["start_address"] if known else 0
        migrations.append(region | migration | {"size": size, "error": values.get("error_code", 0) != 0})
    labels, records = ("trigger", "direction", "src_agent_id", "src_gpu", "dst_agent_id", "dst_gpu"), []
    for key, group in grouped(migrations, [*by, *labels]).items():
        times, size = [one["duration_ns"] for one in group], sum(one["size"] for one in group)
        record = dict(zip((*by, *labels), key)) | {"migrations": len(group), "failed": sum(one["error"] for one in group)}
        record |= {"total_bytes": size, "pages": size // PAGE, "total_ns": sum(times), "mean_ns": mean(times), "max_ns": max(times)}
        records.append(record | {"gb_per_s": ratio(size, sum(times))})
    return ordered(records, by, "-total_ns", "trigger", "src_agent_id", "dst_agent_id")


QUERIES = {
    "page_faults": Case(page_faults, ("sampled",), ((), ("--by", "hostname"))),
    "page_migrations": Case(page_migrations, ("sampled",), ((), ("--by", "node"))),
}
