"""What the metrics of share/metrics come to for the dispatches of a GPU, taken together by kernel or range."""

import math
import tomllib

from common import REPOSITORY

from .counters import instances_of
from .devices import Device, recorded_in_database
from .formulas import DEFINITIONS, Known, Missing, counters_in, evaluated, on, quotient
from .markers import keyed
from .profiles import profiles_of
from .sums import grouped, mean

IMPLAUSIBLE = tomllib.loads((REPOSITORY / "share" / "implausible_counters.toml").read_text())
OUTSIDE_NS, TOLERANCE = 1_000_000, 16
PER_UNIT = {"wave": "wavefront", "cycle": "cycle", "second": "s", "kernel": "dispatch"}
WAYS = {"sum": math.fsum, "max": max, "min": min, "mean": mean}


class Gpu:
    """A GPU with its dispatches, each with `counters` by (name, reduction) and `properties` by name."""

    def __init__(self, device, dispatches):
        self.device, self.dispatches = device, dispatches
        self.architecture = device.facts["architecture"]
        collected = {key for dispatch in dispatches for key in dispatch["counters"]}
        self.known = Known(self.architecture, collected, device.constants())
        self.doubts = {}
        for (kernel,), rows in grouped(dispatches, ["kernel_name"]).items():
            self.leave_out_cycles_above_the_clock(kernel, rows)

    def leave_out_cycles_above_the_clock(self, kernel, rows):
        """Takes counters from the dispatches of a kernel that count more cycles than there are, and notes why."""
        constants, timed = self.device.constants(), [row for row in rows if row["properties"]["dur_ns"] is not None]
        clock = constants.get("sclk_mhz")
        for name, way in sorted({key for row in timed for key in row["counters"]}):
            form = next((form for form in IMPLAUSIBLE["cycles"] if name.removesuffix("_sum") in form["counters"]), None)
            instances = 1 if way != "sum" else constants.get(form["instances"]) if form else None
            if form is None or not clock or not instances:
                continue
            counted = [row for row in timed if row["counters"].get((name, way)) is not None]
            longest = sum(row["properties"]["dur_ns"] + OUTSIDE_NS for row in counted) * clock / 1000 * instances * TOLERANCE
            if sum(row["counters"][(name, way)] for row in counted) > longest:
                shown = name if way == "sum" else f"{way}_inst({name})"
                why = f"{shown} counts more cycles than the highest clock, {clock:.0f} MHz, has in the duration of its dispatches"
                self.doubts[(kernel, name, way)] = f"implausible: {why}"
                for row in rows:
                    row["counters"] = {key: value for key, value in row["counters"].items() if key != (name, way)}


def reduced(values, ways=WAYS):
    """Counters by name and reduction of their instances."""
    return {(name, way): WAYS[way](found) for name, found in values.items() for way in ways}


def gpus_of(source):
    """The GPUs whose dispatches were counted."""
    found = []
    for process in source.processes:
        if not process.raw.carries_counters():
            continue
        values = instances_of(process)
        agents = {process.raw.gpus[agent["id"]]: agent for agent in process.gpu_agents()}
        for (gpu,), kernels in grouped(process.valid("kernels"), ["gpu"]).items():
            device = Device(recorded_in_database(agents[gpu], process.detail(agents[gpu])))
            dispatches = [keyed(process, kernel) | with_counters(process, kernel, values.get(kernel["event_id"], {})) for kernel in kernels]
            found.append(Gpu(device, dispatches))
    for profile in profiles_of(source):
        found.append(Gpu(profile.device, [row | {"counters": reduced(row["values"], ["sum"])} for row in profile.dispatches]))
    return found


def with_counters(process, kernel, values):
    """Counters and properties of a dispatch of a database."""
    symbol = process.raw.keyed("info_kernel_symbol").get(kernel["kernel_id"]) or {}
    size = lambda name: float(math.prod(kernel[f"{name}_{axis}"] for axis in "xyz"))
    properties = {"dur_ns": float(kernel["duration_ns"]), "grid_size": size("grid"), "workgroup_size": size("workgroup")}
    columns = {"arch_vgpr": "arch_vgpr_count", "accum_vgpr": "accum_vgpr_count", "sgpr": "sgpr_count"}
    properties |= {name: symbol.get(column) for name, column in columns.items()}
    properties |= {"lds_per_workgroup": kernel["lds_bytes"], "scratch_per_workitem": kernel["scratch_bytes"]}
    properties = {name: value if value is None else float(value) for name, value in properties.items()}
    return {"counters": reduced(values), "properties": properties}


def ratio_of(gpu, definition, per):
    """Numerator and denominator of a metric: of its formula, else of what stands in for it; None where both lack a counter."""
    for formula in (definition["formula"], definition.get("instead")):
        try:
            return gpu.known.ratio(formula, per) if formula else None
        except Missing:
            continue
    return None


def reason(gpu, definition, parts, per, dispatches):
    """Why a metric has no value for some dispatches, if it has none."""
    if parts is None:
        try:
            gpu.known.ratio(definition["formula"], per)
        except Missing as error:
            return f"not collected: {', '.join(sorted(error.names))}"
    kernels = {dispatch["kernel_name"] for dispatch in dispatches}
    used = sorted({counter for part in parts for counter in counters_in(part)})
    doubts = [gpu.doubts[(kernel, *counter)] for kernel in sorted(kernels) for counter in used if (kernel, *counter) in gpu.doubts]
    if doubts:
        return doubts[0]
    found = {counter for dispatch in dispatches for counter in dispatch["counters"]}
    lost = {name for part in parts for name, way in counters_in(part) if (name, way) not in found}
    if lost:
        return f"not collected for this kernel: {', '.join(sorted(lost))}"
    return f"divided by 0: {', '.join(sorted(name for name, _ in counters_in(parts[1])))}"


def evaluations(gpu, parts):
    """(numerator, denominator) of each dispatch; None where it lacks a counter."""
    if parts is None:
        return [None] * len(gpu.dispatches)
    found = [tuple(evaluated(part, row["counters"], row["properties"]) for part in parts) for row in gpu.dispatches]
    return [None if None in pair else pair for pair in found]


def without_impossible_shares(gpu, metric, pairs, whole):
    """The pairs without those of kernels, or of what is taken for `whole`, whose share is far above all or below nothing, and who these are."""
    shares, wrong = IMPLAUSIBLE["shares"], {}
    if metric["id"] not in shares["metrics"]:
        return pairs, wrong
    for name, members in grouped(zip(gpu.dispatches, pairs), lambda member: whole(member[0])).items():
        counted = [pair for _, pair in members if pair is not None]
        share = quotient(math.fsum(n for n, _ in counted), math.fsum(d for _, d in counted)) if counted else None
        if share is not None and not shares["below_pct"] <= share <= shares["above_pct"]:
            wrong[name] = f"implausible: {metric['title']} is {'below 0' if share < 0 else 'above 100'} %"
    return [None if whole(row) in wrong else pair for row, pair in zip(gpu.dispatches, pairs)], wrong


def sums_of(pairs):
    """What the pairs of some dispatches come to; None stands for a dispatch that lacks something."""
    counted = [pair for pair in pairs if pair is not None]
    values = [numerator / denominator for numerator, denominator in counted if denominator]
    return {
        "kernel_dispatches": len(pairs), "dispatches": len(counted),
        "numerator": math.fsum(n for n, _ in counted) if counted else None,
        "denominator": math.fsum(d for _, d in counted) if counted else None,
        "values": values, "least": min(values, default=None), "greatest": max(values, default=None),
    }  # fmt: skip


def of_kernel(dispatch):
    return dispatch["kernel_name"]


def metric_rows(gpus, key, per="wave", panel=0, wanted=None, whole=of_kernel):
    """A row for each metric and group of the dispatches of a GPU, `key` telling the group of a dispatch."""
    rows = []
    for gpu in gpus:
        for ordinal, metric in enumerate(DEFINITIONS):
            definition = on(metric, gpu.architecture)
            if definition is None or (panel and metric["panel"] != panel) or (wanted and metric["id"] not in wanted):
                continue
            parts = ratio_of(gpu, definition, per)
            pairs, wrong = without_impossible_shares(gpu, metric, evaluations(gpu, parts), whole)
            counts_per = parts and "denom" in definition["formula"]
            row = {"panel": metric["panel"], "ordinal": ordinal, "metric": metric["id"], "title": metric["title"]}
            row |= {"unit": f"{metric['unit']}/{PER_UNIT[per]}" if counts_per else metric["unit"]}
            row["peak"] = gpu.known.constant(definition["peak"]) if "peak" in definition else None
            for group, members in grouped(zip(gpu.dispatches, pairs), lambda member: key(member[0])).items():
                sums, dispatches = sums_of([pair for _, pair in members]), [dispatch for dispatch, _ in members]
                shares = [wrong[whole(dispatch)] for dispatch in dispatches if whole(dispatch) in wrong]
                why = None if sums["values"] else shares[0] if shares else reason(gpu, definition, parts, per, dispatches)
                rows.append(row | {"group": group, "first": dispatches[0], "reason": why} | sums)
    return rows


def value_of(rows, agg="ratio"):
    """The value of a metric over several rows: ratio of the sums, or the mean of the values of dispatches."""
    if agg == "mean":
        return mean(value for row in rows for value in row["values"])
    counted = [row for row in rows if row["numerator"] is not None]
    if not counted:
        return None
    return quotient(math.fsum(row["numerator"] for row in counted), math.fsum(row["denominator"] for row in counted))


def common_peak(rows):
    """The peak of rows whose GPUs agree."""
    peaks = {row["peak"] for row in rows if row["peak"] is not None}
    return peaks.pop() if len(peaks) == 1 else None
