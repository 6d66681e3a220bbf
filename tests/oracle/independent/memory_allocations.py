"""The family `memory`: allocations, what became of them, and how much is live."""

from .case import Case
from .inputs import MADE, insert, made, rows
from .markers import keyed
from .sums import first_of_each, grouped, mean, median, ordered, percent, ratio

OPERATIONS = {"calls": 0, "total_bytes": 0, "mean_bytes": 0, "min_bytes": 0, "max_bytes": 0, "total_ns": 0, "mean_ns": 0, "max_ns": 0}


def operations(source, scratch):
    for process in source.traced():
        for one in process.valid("allocations"):
            if (one["level"] == "SCRATCH") == scratch:
                yield keyed(process, one)


def summary(found, by, labels):
    """Number, bytes and time of operations by grouping columns and labels."""
    records = []
    for key, group in grouped(found, [*by, *labels]).items():
        sizes, times = [one["bytes"] for one in group], [one["duration_ns"] for one in group]
        values = (len(group), sum(sizes), mean(sizes), min(sizes), max(sizes), sum(times), mean(times), max(times))
        records.append(dict(zip((*by, *labels), key)) | dict(zip(OPERATIONS, values)))
    return records


def allocation_summary(source, options):
    records = summary(operations(source, scratch=False), options.by(), ("operation", "level"))
    return ordered(records, options.by(), "-total_bytes", "operation", "level")


def scratch_summary(source, options):
    by = options.by("rank", "gpu", "queue_id")
    return ordered(summary(operations(source, scratch=True), by, ("operation",)), by, "-total_bytes", "operation")


def outermost_calls(process):
    """The outermost call of each correlation id: the one that begins first and ends last."""
    chosen = {}
    for region in process.valid("regions"):
        identity, place = region["correlation_id"], (region["start_ns"], -region["end_ns"], region["region_id"])
        if identity and region["domain"] != "marker" and (identity not in chosen or place < chosen[identity][0]):
            chosen[identity] = (place, region["name"])
    return {identity: name for identity, (_, name) in chosen.items()}


def moments(process):
    """(moment, operation) in order: memory is live from the end of the call that allocates to the start of the one that frees."""
    found = []
    for one in process.valid("allocations"):
        if one["level"] != "SCRATCH" and one["operation"] in ("ALLOC", "FREE"):
            found.append((one["start_ns"] if one["operation"] == "FREE" else one["end_ns"], one["operation"] == "ALLOC", one["alloc_id"], one))
    return [(moment, one) for moment, _, _, one in sorted(found, key=lambda entry: entry[:3])]


def lifetimes(process):
    """Every allocation with its fate, and every change of live memory as (moment, level, gpu, bytes, count)."""
    live, found, changes, names = {}, [], [], outermost_calls(process)
    for moment, one in moments(process):
        place = (one["level"], one["address"])
        if one["operation"] == "FREE":
            ended = live.pop(place, None) if one["address"] else None
            if ended:
                ended |= {"fate": "freed", "ended_ns": moment, "call_ns": ended["call_ns"] + one["duration_ns"]}
                changes.append((moment, ended["level"], ended["gpu"], -ended["bytes"], -1))
            continue
        allocation = keyed(process, one) | {"time_ns": moment, "ended_ns": None, "call_ns": one["duration_ns"], "fate": "unpaired"}
        allocation["api_name"] = names.get(one["correlation_id"])
        found.append(allocation)
        if not one["address"]:
            continue
        replaced = live.get(place)
        if replaced:
            replaced |= {"fate": "replaced", "ended_ns": moment}
            changes.append((moment, replaced["level"], replaced["gpu"], -replaced["bytes"], -1))
        allocation["fate"] = "live"
        live[place] = allocation
        changes.append((moment, one["level"], allocation["gpu"], allocation["bytes"], 1))
    return found, changes


def all_lifetimes(source):
    return [allocation for process in source.traced() for allocation in lifetimes(process)[0]]


def allocation_churn(source, options):
    by, allocations = options.by("rank", "gpu"), all_lifetimes(source)
    of_group, records = grouped(allocations, list(by)), []
    for key, group in grouped(allocations, [*by, "bytes", "level"]).items():
        if len(group) < options.whole("min-allocations", 2):
            continue
        others = of_group[key[: len(by)]]
        lives = [one["ended_ns"] - one["time_ns"] for one in group if one["fate"] == "freed"]
        spent = sum(one["call_ns"] for one in group)
        times = [[one["time_ns"] for one in every] for every in grouped(others, ["process"]).values()]
        spans = [max(moments) - min(moments) for moments in times]
        record = dict(zip((*by, "bytes", "level"), key)) | {"allocations": len(group), "freed": len(lives)}
        record |= {"total_bytes": sum(one["bytes"] for one in group), "median_life_ns": median(lives), "call_ns": spent}
        record |= {"mean_call_ns": spent / len(group), "per_second": ratio(1e9 * len(group), sum(spans))}
        records.append(record | {"pct": percent(spent, sum(one["call_ns"] for one in others))})
    return first_of_each(ordered(records, by, "-call_ns", "bytes", "level"), by, options.whole("top", 0))


def end_of(process):
    """End of the process, or of what it did last."""
    rows = process.valid("kernels") + process.valid("copies") + process.valid("regions") + process.valid("allocations")
    return process.end_ns if process.end_ns is not None else max((row["end_ns"] for row in rows), default=None)


def is_growing(overdue, first, ends):
    """Whether three or more are overdue, a third of them at least made in the second half of the time that is left."""
    late = [one for one in overdue if 2 * (one["time_ns"] - first[one["process"]]) >= ends[one["process"]] - first[one["process"]]]
    return len(overdue) >= 3 and 3 * len(late) >= len(overdue)


def leak_candidates(source, options):
    by, allocations = options.by("rank", "gpu"), all_lifetimes(source)
    alike = grouped(allocations, [*by, "process", "api_name", "bytes", "level"])
    of_size = grouped(allocations, [*by, "api_name", "bytes", "level"])
    ends, records = {process.number: end_of(process) for process in source.traced()}, []
    leaked = [one for one in allocations if one["fate"] in ("live", "replaced", "unpaired")]
    for key, group in grouped(leaked, [*by, "api_name", "bytes", "level", "fate"]).items():
        overdue, first = [], {}
        for process, mine in grouped(group, lambda one: one["process"]).items():
            same = alike[(*key[: len(by)], process, *key[len(by) : -1])]
            last = max(one["time_ns"] for one in same)
            returned = [one["ended_ns"] - one["time_ns"] for one in same if one["fate"] == "freed" and one["ended_ns"] <= last]
            overdue += [one for one in mine if last - one["time_ns"] >= max(returned, default=0)]
            first[process] = min((one["time_ns"] for one in overdue), default=None)
        times, alone = sorted(one["time_ns"] for one in group), len(first) == 1
        record = dict(zip((*by, "api_name", "bytes", "level", "fate"), key)) | {"allocations": len(group)}
        record |= {"leaked_bytes": sum(one["bytes"] for one in group), "of_size": len(of_size[key[:-1]])}
        record |= {"first_time_ns": times[0] if alone else None, "last_time_ns": times[-1] if alone else None}
        # Allocations without a recorded release have no known lifetime, and clocks of several processes differ.
        told = key[-1] == "live" and alone
        verdict = "growing" if is_growing(overdue, first, ends) else "kept"
        record |= {"overdue": len(overdue) if told else None, "verdict": verdict if told else None}
        records.append(record | {"first_alloc_id": min(group, key=lambda one: one["time_ns"])["alloc_id"]})
    records = ordered(records, by, "-leaked_bytes", "bytes", "api_name", "level", "fate")
    return first_of_each(records, by, options.whole("top", 0))


def memory_of(process, gpu):
    """Bytes of memory of a GPU, nothing where it is not recorded."""
    for agent in process.gpu_agents():
        if process.raw.gpus[agent["id"]] == gpu:
            banks = process.detail(agent).get("mem_banks", [])
            return sum(bank.get("size_in_bytes", 0) for bank in banks) or None
    return None


def memory_high_water(source, options):
    by, curves = options.by("rank", "gpu"), []
    for process in source.traced():
        allocations, changes = lifetimes(process)
        for (level, gpu), steps in grouped(changes, lambda change: change[1:3]).items():
            curve = keyed(process, {"gpu": gpu, "level": level, "peak": 0, "at": None, "peak_count": 0, "bytes": 0, "count": 0})
            for place, (moment, _, _, size, step) in enumerate(steps):
                curve["bytes"], curve["count"] = curve["bytes"] + size, curve["count"] + step
                if curve["at"] is None or curve["bytes"] > curve["peak"]:
                    curve |= {"peak": curve["bytes"], "at": moment, "peak_count": curve["count"]}
            curve |= {"changes": len(steps), "allocated": sum(size for _, _, _, size, step in steps if step > 0)}
            curves.append(curve | {"memory": memory_of(process, gpu)})
    records = []
    for curve in curves:
        curve["kept"] = curve.pop("memory")
        curve["memory"] = "host" if curve["gpu"] is None else "GPU"
    for key, group in grouped(curves, [*by, "memory", "level"]).items():
        memories = [curve["kept"] for curve in group]
        record = dict(zip((*by, "memory", "level"), key)) | {"peak_bytes": sum(curve["peak"] for curve in group)}
        record["peak_pct"] = None if None in memories else percent(record["peak_bytes"], sum(memories))
        record |= {"peak_time_ns": group[0]["at"] if len(group) == 1 else None}
        for column, value in (("peak_allocations", "peak_count"), ("end_bytes", "bytes"), ("end_allocations", "count")):
            record[column] = sum(curve[value] for curve in group)
        record |= {"changes": sum(curve["changes"] for curve in group), "allocated_bytes": sum(curve["allocated"] for curve in group)}
        records.append(record)
    return ordered(records, by, "memory", "level")


@made("churn", "two_nodes")
def more_memory(connection, number):
    """Sizes that come again and again, one of which stays live ever more often, an address that is taken twice, and one that is unknown."""
    known = rows(connection, "memory_allocate")[0]
    begin = known["end"]
    shared = {"tid": known["tid"], "agent_id": known["agent_id"], "level": "REAL", "event_id": known["event_id"]}
    for turn in range(12):
        start, address = begin + 100_000 * turn, 0x7000_0000 + 0x1000 * turn
        insert(connection, "memory_allocate", **shared, type="ALLOC", start=start, end=start + 700 + turn, address=address, size=4096)
        if turn % 3:
            free = shared | {"agent_id": None, "type": "FREE", "address": address, "size": 0}
            insert(connection, "memory_allocate", **free, start=start + 20_000, end=start + 20_300)
        insert(connection, "memory_allocate", **shared, type="ALLOC", start=start + 40_000, end=start + 40_100, address=0x6000_0000, size=65536)
    for place, size in enumerate((1024, 2048, 512)):
        scratch = shared | {"level": "SCRATCH", "queue_id": 1 + place % 2, "size": size, "address": 0x8000_0000}
        insert(connection, "memory_allocate", **scratch, type="ALLOC", start=begin + 70_000, end=begin + 70_100 + 10 * place)
        insert(connection, "memory_allocate", **scratch | {"size": 0}, type="RECLAIM", start=begin + 80_000, end=begin + 80_009 - place)
    insert(connection, "memory_allocate", **shared, type="FREE", start=begin + 50_000, end=begin + 50_100, address=0x1234, size=0)
    insert(connection, "memory_allocate", **shared, type="ALLOC", start=begin + 60_000, end=begin + 60_100, address=None, size=256)
    insert(connection, "memory_allocate", **shared | {"level": "VIRTUAL"}, type="ALLOC", start=begin, end=begin + 10, address=0x6000_0000, size=1 << 30)


# Allocations of one size and call in processes of two nodes, as they are.
MADE["several_clocks"] = ("two_nodes", [])

MEMORY = ("two_nodes", "churn", "sampled", "planted")

QUERIES = {
    "allocation_summary": Case(allocation_summary, (*MEMORY, "hostile"), ((), ("--by", "gpu"), ("--by", "rank,tid"))),
    "scratch_summary": Case(scratch_summary, MEMORY, ((), ("--by", "hostname"))),
    "allocation_churn": Case(allocation_churn, MEMORY, ((), ("--min-allocations", "1", "--top", "1")), more=(("churn", ("--by", "gpu")),)),
    "leak_candidates": Case(
        leak_candidates,
        MEMORY,
        ((), ("--top", "2")),
        more=(("several_clocks", ("--by", "gpu")),),
    ),
    "memory_high_water": Case(memory_high_water, MEMORY, ((), ("--by", "hostname"), ("--by", "rank"))),
}
