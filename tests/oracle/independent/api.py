"""The family `api`: calls of interfaces with their purpose, and what GPUs did meanwhile; time of every domain."""

from .calls import calls_of, class_of, waits
from .case import Case
from .markers import keyed
from .ranging import kind_of, nested, self_time
from .sums import common, covered, deviation, first_of_each, grouped, mean, median, merged, ordered, percent, quantile


def with_self_time(process):
    """Every valid region with the time in which no other runs in it on its thread; start/stop ranges of the process lie in no thread."""
    regions = [region | {"range_id": region["region_id"], "children": []} for region in process.valid("regions")]
    of_threads = [region for region in regions if region["domain"] != "marker" or kind_of(region) == "thread"]
    for spans in grouped(of_threads, ["tid"]).values():
        nested(spans)
    return [keyed(process, region) | {"self_ns": self_time(region)} for region in regions]


def calls_with_gpu(source):
    """Calls with their class, and the part of them in which a GPU of the process ran a kernel or copy."""
    found = []
    for process in source.traced():
        work = [one for one in process.valid("kernels") + process.valid("copies") if one["gpu"] is not None]
        work = merged((one["start_ns"], one["end_ns"]) for one in work)
        known = {call["region_id"] for call in calls_of(process)}
        for region in with_self_time(process):
            if region["region_id"] in known:
                meanwhile = [(start, end) for start, end in work if start < region["end_ns"] and end > region["start_ns"]]
                busy = covered(common([(region["start_ns"], region["end_ns"])], meanwhile))
                found.append(region | {"class": class_of(region["name"]), "busy_ns": busy, "waits": waits(region["name"])})
    return found


def total(rows, column):
    return sum(row[column] for row in rows)


def api_classes(source, options):
    by, calls, records = options.by(), calls_with_gpu(source), []
    of_group = {key: total(group, "self_ns") for key, group in grouped(calls, list(by)).items()}
    for key, group in grouped(calls, [*by, "domain", "class"]).items():
        times, busy = [call["duration_ns"] for call in group], total(group, "busy_ns")
        record = dict(zip((*by, "domain", "class"), key)) | {"calls": len(group), "total_ns": sum(times)}
        record |= {"self_ns": total(group, "self_ns"), "mean_ns": mean(times), "max_ns": max(times)}
        record |= {"gpu_busy_ns": busy, "gpu_idle_ns": sum(times) - busy, "gpu_idle_pct": percent(sum(times) - busy, sum(times))}
        records.append(record | {"self_pct": percent(record["self_ns"], of_group[key[: len(by)]])})
    return ordered(records, by, "-self_ns", "domain", "class")


def api_sync(source, options):
    by, records = options.by(), []
    calls = [call for call in calls_with_gpu(source) if call["waits"]]
    for key, group in grouped(calls, [*by, "domain", "name", "class"]).items():
        times, busy = [call["duration_ns"] for call in group], total(group, "busy_ns")
        record = dict(zip((*by, "domain", "name", "class"), key)) | {"calls": len(group), "blocked_ns": sum(times)}
        record |= {"gpu_busy_ns": busy, "gpu_idle_ns": sum(times) - busy, "gpu_idle_pct": percent(sum(times) - busy, sum(times))}
        records.append(record | {"mean_ns": mean(times), "median_ns": median(times), "max_ns": max(times)})
    return first_of_each(ordered(records, by, "-blocked_ns", "domain", "name"), by, options.whole("top", 0))


def api_summary(source, options):
    by, records = options.by(), []
    regions = [region for process in source.traced() for region in with_self_time(process)]
    for key, group in grouped(regions, [*by, "domain", "name"]).items():
        times = [region["duration_ns"] for region in group]
        record = dict(zip((*by, "domain", "name"), key)) | {"calls": len(group), "total_ns": sum(times)}
        record |= {"self_ns": total(group, "self_ns"), "mean_ns": mean(times), "median_ns": median(times)}
        records.append(record | {"p95_ns": quantile(times, 0.95), "max_ns": max(times)})
    return first_of_each(ordered(records, by, "-total_ns", "domain", "name"), by, options.whole("top", 0))


def rows_by_domain(process):
    for region in process.valid("regions"):
        yield "regions", region["domain"], region
    for source, domain, table in (("kernels", "kernel", "kernels"), ("copies", "copy", "copies")):
        for row in process.valid(table):
            yield source, domain, row
    for row in process.valid("allocations"):
        yield "allocations", "scratch" if row["level"] == "SCRATCH" else "allocation", row


def domain_summary(source, options):
    by, rows, records = options.by(), [], []
    for process in source.traced():
        rows += [keyed(process, row) | {"source": table, "domain": domain} for table, domain, row in rows_by_domain(process)]
    of_group = {key: total(group, "duration_ns") for key, group in grouped(rows, list(by)).items()}
    for key, group in grouped(rows, [*by, "source", "domain"]).items():
        times = [row["duration_ns"] for row in group]
        record = dict(zip((*by, "source", "domain"), key)) | {"calls": len(group), "total_ns": sum(times), "mean_ns": mean(times)}
        record |= {"min_ns": min(times), "max_ns": max(times), "std_ns": deviation(times)}
        records.append(record | {"pct": percent(sum(times), of_group[key[: len(by)]])})
    return ordered(records, by, "-total_ns", "source", "domain")


INPUTS, GROUPS = ("two_nodes", "sampled", "merged"), ((), ("--by", "rank"), ("--by", "hostname,tid"))

QUERIES = {
    "api_classes": Case(api_classes, INPUTS, GROUPS),
    "api_sync": Case(api_sync, INPUTS, (*GROUPS, ("--top", "1"))),
    "api_summary": Case(api_summary, INPUTS, (*GROUPS, ("--by", "category", "--top", "2"))),
    "domain_summary": Case(domain_summary, (*INPUTS, "hostile"), GROUPS),
}
