"""The family `metrics`: metrics over counters by kernel, by range and over all, and what limits kernels."""

from .case import Case
from .metric_table import common_peak, gpus_of, metric_rows, of_kernel, value_of
from .ranging import all_ranges
from .sums import grouped, ordered, percent


def chosen_rows(source, options, key, whole=of_kernel):
    return metric_rows(gpus_of(source), key, options.text("per", "wave"), options.whole("panel", 0), whole=whole)


def listed(rows, by, options):
    """The answer of `metrics` and `range_metrics`: a record for each metric of a group that has a value."""
    records = []
    for key, group in grouped(rows, lambda row: (*row["group"], row["ordinal"], row["unit"])).items():
        first, value = group[0], value_of(group, options.text("agg", "ratio"))
        record = dict(zip(by, key)) | {"panel": first["panel"], "metric": first["metric"], "title": first["title"], "value": value}
        least, greatest = ([row[side] for row in group if row[side] is not None] for side in ("least", "greatest"))
        record |= {"unit": first["unit"], "min": min(least, default=None), "max": max(greatest, default=None)}
        record |= {"dispatches": sum(row["dispatches"] for row in group)}
        record |= {"uncounted": sum(row["kernel_dispatches"] - row["dispatches"] for row in group), "peak": common_peak(group)}
        show, reasons = options.text("missing", "hide") == "show", [row["reason"] for row in group if row["reason"]]
        record |= {"pct_of_peak": percent(value, record["peak"]), "reason": min(reasons, default=None) if show else None}
        record["ordinal"] = first["ordinal"]
        if value is not None or show:
            records.append(record)
    records = ordered(records, by, "ordinal", "unit")
    return [{column: value for column, value in record.items() if column != "ordinal"} for record in records]


def metrics(source, options):
    by = options.by("kernel_name")
    return listed(chosen_rows(source, options, lambda dispatch: tuple(dispatch[column] for column in by)), by, options)


def speed_of_light(source, options):
    rows = metric_rows(gpus_of(source), lambda dispatch: (), panel=200)
    records = []
    for group in grouped(rows, ["ordinal", "unit"]).values():
        value, peak = value_of(group, options.text("agg", "ratio")), common_peak(group)
        record = {"metric": group[0]["title"], "value": value, "unit": group[0]["unit"], "peak": peak, "pct_of_peak": percent(value, peak)}
        if value is not None:
            records.append(record | {"dispatches": sum(row["dispatches"] for row in group)})
    return records


def range_metrics(source, options):
    paths = {}
    for process, _ in all_ranges(source):
        for row in process.range_work:
            if row["kind"] == "kernel":
                paths[(process.number, row["work"]["dispatch_id"])] = row["range"] and row["range"]["path"]
    by = options.by("path")

    def place(dispatch):
        path = paths.get((dispatch["process"], dispatch["dispatch_id"]))
        return tuple((dispatch | {"path": path})[column] for column in by)

    path = lambda dispatch: paths.get((dispatch["process"], dispatch["dispatch_id"]))
    return listed(chosen_rows(source, options, place, path), by, options)


OPTIONS = ((), ("--per", "cycle"), ("--per", "second", "--agg", "mean"), ("--per", "kernel", "--panel", "300"), ("--by", "rank"))

QUERIES = {
    "metrics": Case(metrics, ("profile", "compute", "counters", "two_devices"), (*OPTIONS, ("--missing", "show"))),
    "speed_of_light": Case(speed_of_light, ("profile", "two_devices"), ((), ("--agg", "mean"))),
    "range_metrics": Case(range_metrics, ("sampled",), ((), ("--per", "kernel", "--panel", "1000"), ("--by", "rank,gpu"))),
}
