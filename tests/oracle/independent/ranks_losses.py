"""Where the time of GPUs goes, from the whole down to the least time that their work needs."""

import csv
import shutil

from .activity import lanes
from .case import Case
from .inputs import FIXTURES, WRITTEN
from .metric_table import gpus_of, metric_rows
from .metrics_roofline import BYTES, MATRIX, VECTOR, WHOLE, WORK, added
from .profiles import profiles_of
from .sums import covered, grouped, mean, ordered, percent, ratio

CYCLES = "wave.702.kernel_time_cycles"


def gpu_times(source):
    """Of each GPU: its labels, span, busy and computing time, and the durations of its kernels, communication apart."""
    found = []
    for lane in lanes(source):
        own = [kernel for kernel in lane.process.valid("kernels") if kernel["gpu"] == lane.gpu and kernel["category"] != "communication"]
        times = {name: sum(one["duration_ns"] for one in group) for (name,), group in grouped(own, ["kernel_name"]).items()}
        found.append((lane.labels, lane.last - lane.first, lane.busy, covered(lane.intervals("compute")), times))
    for profile in profiles_of(source):
        own = [(row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in profile.dispatches]
        times = {name: sum(row["duration_ns"] for row in group) for (name,), group in grouped(profile.dispatches, ["kernel_name"]).items()}
        labels = {"rank": profile.rank, "process": profile.rank, "gpu": 0}
        found.append((labels, max(end for _, end in own) - min(start for start, _ in own), covered(own), covered(own), times))
    return found


def shares(source):
    """By rank, GPU and kernel: the share of its time that its roof needs, and its clock over the highest one."""
    found = {}
    for gpu in gpus_of(source):
        own = lambda dispatch: (dispatch["kernel_name"],)
        cycles = {row["group"]: row for row in metric_rows([gpu], own, wanted={CYCLES})}
        for group, rows in grouped(metric_rows([gpu], own, panel=400), ["group"]).items():
            of = {row["metric"].removeprefix("roof."): row for row in rows}
            first, time = of["time"]["first"], of["time"]["numerator"]
            rates = {name: ratio(of[name]["numerator"], of[name]["denominator"]) for name in WORK if name in of}
            work = {name: None if rate is None else rate * time for name, rate in rates.items()}
            kernel = {"work": work, "peaks": {name: of[name]["peak"] for name in rates}}
            parts = [added([kernel], names, True) for names in (VECTOR, (*MATRIX, WHOLE), *([name] for name in BYTES))]
            roof = None if None in parts else max(parts)
            if roof:
                key = (first["rank"], first["gpu"], first["kernel_name"])
                found[key] = (min(1, roof / time), pace(cycles.get(group[0]), of["time"], gpu.known.constant("sclk_mhz")))
    return found


def pace(row, time, highest_mhz):
    """Cycles of a dispatch over its time are its clock; 1 where it is not known, or not lower than the highest one."""
    if row is None or not row["denominator"] or not highest_mhz:
        return 1
    cycles, length = row["numerator"] / row["denominator"], time["numerator"] / time["dispatches"]
    return min(1, 1000 * cycles / length / highest_mhz)


def loss_waterfall(source, options):
    by, known, gpus, records = options.by(), shares(source), [], []
    for labels, span, busy, compute, times in gpu_times(source):
        whole = sum(times.values())
        lost = {"uncounted": 0, "clock": 0, "roof": 0}
        for name, time in times.items():
            of_roof, of_clock = known.get((labels["rank"], labels["gpu"], name), (None, None))
            if of_roof is None:
                lost["uncounted"] += time
            else:
                lost["roof"] += time * of_roof
                lost["clock"] += time * min(1 - of_clock, 1 - of_roof)
        # Kernels that overlap share the time with a compute kernel in proportion to their durations.
        scaled = {part: compute * value / whole if whole else 0 for part, value in lost.items()}
        scaled["uncounted"] = scaled["uncounted"] if whole else compute
        gpus.append(labels | scaled | {"span": span, "busy": busy, "compute": compute})
    for key, group in grouped(gpus, list(by)).items():
        most = lambda part: max(gpu[part] for gpu in group)
        usual = lambda part: mean(gpu[part] for gpu in group)
        losses = {"launch": most("span") - most("busy"), "exposed": most("busy") - most("compute")}
        losses |= {"imbalance": most("compute") - usual("compute"), "uncounted": usual("uncounted"), "clock": usual("clock")}
        losses["units"] = usual("compute") - usual("uncounted") - usual("clock") - usual("roof")
        left, rows = most("span"), [("time", most("span"), most("span"))]
        for part, loss in losses.items():
            left -= loss
            rows.append((part, loss, left))
        rows.append(("roof", usual("roof"), usual("roof")))
        for number, (part, loss, rest) in enumerate(rows):
            record = dict(zip(by, key)) | {"step": number + 1, "part": part, "mean_ns": loss, "pct": percent(loss, most("span"))}
            records.append(record | {"left_ns": rest, "gpus": len(group)})
    return ordered(records, by, "step")


def slow_clocks(folder):
    """Two profiles: every third dispatch of the first ran at a lower clock, and the second one took longer and stood idle more."""
    for number, name in enumerate(("9100", "9140")):
        shutil.copytree(FIXTURES / "profile", folder / name)
        path = folder / name / "pmc_perf.csv"
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        for place, row in enumerate(rows):
            if number == 0 and place // 2 % 3 == 0:
                row["GRBM_GUI_ACTIVE"] = int(row["GRBM_GUI_ACTIVE"]) * 4 // 5
            if number == 1:
                row["Start_Timestamp"] = int(row["Start_Timestamp"]) + 10_000 * place
                row["End_Timestamp"] = int(row["End_Timestamp"]) + 10_000 * place + 1_000 * (place % 4)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


WRITTEN["slow_clocks"] = slow_clocks
INPUTS = ("two_nodes", "profile", "slow_clocks", "counters", "shared_gpus")
QUERIES = {"loss_waterfall": Case(loss_waterfall, INPUTS, ((), ("--by", "rank")), more=(("slow_clocks", ("--by", "rank")),))}
