"""The family `counters`: values of hardware counters by dispatch and over dispatches."""

import math

from .case import Case
from .markers import answer, keyed
from .profiles import profiles_of
from .sums import deviation, first_of_each, grouped, mean, median, ordered

REDUCTIONS = {"sum": math.fsum, "min": min, "max": max, "mean": mean}


def instances_of(process):
    """Values of the hardware instances of every counter of a dispatch: by event and counter."""
    values = {}
    for row in process.raw.rows("pmc_event"):
        if row.get("sample_id") is None:
            counter = (process.raw.keyed("info_pmc").get(row["pmc_id"]) or {}).get("name", "unknown")
            values.setdefault(row["event_id"], {}).setdefault(counter, []).append(row["value"])
    return values


def counted_dispatches(source):
    """Every dispatch with counters, with `values`: the instances of each counter."""
    for process in source.processes:
        values = instances_of(process)
        for kernel in process.kernels:
            if kernel["event_id"] in values:
                yield keyed(process, kernel) | {"pass": 0, "values": values[kernel["event_id"]]}
    for profile in profiles_of(source):
        for dispatch in profile.dispatches:
            yield dispatch | {"pass": 0}


def counter_values(source, options):
    records = []
    for dispatch in counted_dispatches(source):
        for counter, values in dispatch["values"].items():
            record = {"counter": counter, "value": math.fsum(values), "min": min(values), "max": max(values), "mean": mean(values)}
            records.append(dispatch | record | {"instances": len(values)})
    records = ordered(records, (), "rank", "process", "pass", "start_ns", "dispatch_id", "counter")
    columns = ("rank", "process", "pass", "dispatch_id", "gpu", "kernel_name", "start_ns", "duration_ns", "counter")
    columns += ("value", "min", "max", "mean", "instances")
    return [answer(record, (), *columns) for record in first_of_each(records, (), options.whole("top", 0))]


def counter_summary(source, options):
    by, found, records = options.by(), [], []
    for dispatch in counted_dispatches(source):
        found += [dispatch | {"counter": counter, "value": math.fsum(values)} for counter, values in dispatch["values"].items()]
    for key, group in grouped(found, [*by, "counter"]).items():
        values = [row["value"] for row in group]
        record = dict(zip((*by, "counter"), key)) | {"dispatches": len(values), "total": math.fsum(values), "mean": mean(values)}
        records.append(record | {"median": median(values), "std": deviation(values), "min": min(values), "max": max(values)})
    return first_of_each(ordered(records, by, "counter"), by, options.whole("top", 0))


INPUTS = ("counters", "sampled", "profile")

QUERIES = {
    "counter_values": Case(counter_values, INPUTS, ((), ("--top", "5"))),
    "counter_summary": Case(counter_summary, INPUTS, ((), ("--by", "rank,kernel_name"), ("--by", "gpu", "--top", "2"))),
}
