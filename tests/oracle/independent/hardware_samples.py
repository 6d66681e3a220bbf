"""The families `hardware` and `counters`: sampled metrics by themselves, over time, and beside the kernels that ran meanwhile."""

import sqlite3
from contextlib import closing

from sampled import sampled

from .case import Case
from .inputs import WRITTEN, table
from .markers import answer, keyed
from .memory_allocations import lifetimes, memory_of
from .sums import deviation, equal_bins, grouped, mean, median, ordered, percent, ratio
from .telemetry import mean_while, samples_of, steps, tracks_of


def metric_summary(source, options):
    by, samples, records = options.by("rank", "gpu"), [], []
    for process in source.traced():
        samples += [keyed(process, sample) for sample in samples_of(process)]
    for key, group in grouped(samples, [*by, "name", "track", "unit"]).items():
        values, tracks = [sample["value"] for sample in group], grouped(group, ["process", "agent_id"]).values()
        weighted = [step for track in tracks for step in steps(track)]
        record = dict(zip((*by, "name", "track", "unit"), key)) | {"samples": len(group), "min": min(values), "mean": mean(values)}
        time = sum(end - start for start, end, _ in weighted)
        record["mean_over_time"] = ratio(sum((end - start) * value for start, end, value in weighted), time)
        records.append(record | {"median": median(values), "max": max(values), "std": deviation(values), "sampled_ns": time})
    return ordered(records, by, "name", "track", "unit")


def metric_map(source, options):
    records = []
    for process in source.traced():
        times = [sample["time_ns"] for sample in samples_of(process)]
        bins = equal_bins(min(times), max(times), options.whole("bins", 20)) if times else []
        for (name, track, unit, agent, gpu), samples in tracks_of(process).items():
            cells = []
            for place, (left, right) in enumerate(bins):
                parts = [(min(end, right) - max(start, left), value) for start, end, value in steps(samples) if start < right and end > left]
                if parts:
                    average = sum(length * value for length, value in parts) / sum(length for length, _ in parts)
                    record = {"name": name, "track": track, "unit": unit, "gpu": gpu, "bin": place, "begin_ns": left - bins[0][0]}
                    cells.append(keyed(process, record) | {"length_ns": right - left, "mean": average})
            highest = max((cell["mean"] for cell in cells), default=0)
            records += [cell | {"share_pct": percent(cell["mean"], highest) if highest > 0 else None} for cell in cells]
    records = ordered(records, (), "rank", "process", "gpu", "name", "track", "unit", "bin")
    columns = ("rank", "process", "gpu", "name", "track", "unit", "bin", "begin_ns", "length_ns", "mean", "share_pct")
    return [answer(record, (), *columns) for record in records]


def link_of(sample):
    """Link, direction and bytes of a unit, of tracks that add up what went over a link."""
    name = sample["name"].upper()
    if "XGMI" in name and "DATA" in name:
        return "XGMI", "read" if "READ" in name else "write", 1000
    if "PCIE" in name and name.endswith("ACC"):
        return "PCIe", None, 1
    return None


def link_traffic(source, options):
    by, tracks, records = options.by("rank", "gpu"), [], []
    for process in source.traced():
        for samples in tracks_of(process).values():
            link = link_of(samples[0])
            if link and len(samples) > 1:
                # An accumulator that falls started again: that step has no bytes.
                moved = [link[2] * max(0, after["value"] - one["value"]) for one, after in zip(samples, samples[1:])]
                times = [end - start for start, end, _ in steps(samples)]
                rates = [size / time for size, time in zip(moved, times) if time]
                track = samples[0] | {"link": link[0], "direction": link[1], "samples": len(samples), "bytes": sum(moved)}
                tracks.append(keyed(process, track) | {"sampled_ns": sum(times), "max_gb_per_s": max(rates, default=None)})
    for key, group in grouped(tracks, [*by, "link", "direction", "track"]).items():
        record = dict(zip((*by, "link", "direction", "track"), key)) | {"samples": sum(track["samples"] for track in group)}
        record |= {"bytes": int(sum(track["bytes"] for track in group)), "sampled_ns": sum(track["sampled_ns"] for track in group)}
        record["gb_per_s"] = ratio(record["bytes"], record["sampled_ns"])
        records.append(record | {"max_gb_per_s": max(track["max_gb_per_s"] for track in group)})
    return ordered(records, by, "link", "direction", "track")


def most_live(process, gpu):
    """Most bytes of device memory of a GPU that are live at once, nothing where no allocation is recorded."""
    live, most = 0, None
    for _, level, place, size, _ in lifetimes(process)[1]:
        if level == "REAL" and place == gpu:
            live += size
            most = live if most is None else max(most, live)
    return most


def vram_usage(source, options):
    records = []
    for process in source.traced():
        samples = [sample for sample in samples_of(process) if sample["name"] == "Memory Usage"]
        for (gpu, agent), group in grouped(samples, ["gpu", "agent_id"]).items():
            sizes = [sample["value"] * 2**20 for sample in group]
            allocated, memory = most_live(process, gpu), memory_of(process, gpu)
            record = {"gpu": gpu, "samples": len(group), "min_bytes": int(min(sizes)), "mean_bytes": mean(sizes), "max_bytes": int(max(sizes))}
            record |= {"max_pct": percent(max(sizes), memory), "allocated_bytes": allocated, "agent_id": agent}
            records.append(keyed(process, record) | {"other_bytes": None if allocated is None else int(max(sizes)) - allocated})
    columns = ("rank", "process", "gpu", "samples", "min_bytes", "mean_bytes", "max_bytes", "max_pct", "allocated_bytes", "other_bytes")
    return [answer(record, (), *columns) for record in ordered(records, (), "rank", "process", "gpu", "agent_id")]


def kernel_conditions(process):
    """Valid dispatches of GPUs that were sampled, with clock, power and temperature while they ran."""
    tracks = {}
    for (name, _, _, _, gpu), samples in tracks_of(process).items():
        for condition, word in (("clock", "GFX Clock"), ("power", "Power"), ("heat", "Temperature")):
            if word in name:
                tracks.setdefault(gpu, {})[condition] = samples
    for kernel in process.valid("kernels"):
        if kernel["gpu"] in tracks:
            found = {c: mean_while(tracks[kernel["gpu"]].get(c, []), kernel["start_ns"], kernel["end_ns"]) for c in ("clock", "power", "heat")}
            yield keyed(process, kernel) | found


def verdict(record, least_pct):
    """What is suspected where the clock was low for a relevant part of the time."""
    if not record["kernel_ns"] or record["low_pct_of_time"] < least_pct:
        return "none" if record["kernel_ns"] else None
    for column, text in (("low_hot_ns", "temperature"), ("low_power_ns", "power")):
        if percent(record[column], record["kernel_ns"]) >= least_pct:
            return f"throttling by {text} suspected"
    return "low clock without a recorded cause"


def throttling(source, options):
    by, kernels, records = options.by("rank", "gpu"), [], []
    for process in source.traced():
        of_gpu = {process.raw.gpus[agent["id"]]: process.detail(agent) for agent in process.gpu_agents()}
        for kernel in kernel_conditions(process):
            kernels.append(kernel | {"recorded": of_gpu[kernel["gpu"]].get("max_engine_clk_fcompute")})
    for key, group in grouped(kernels, list(by)).items():
        clocked = [kernel for kernel in group if kernel["clock"] is not None]
        time = lambda chosen: sum(kernel["duration_ns"] for kernel in chosen)
        power = [kernel["power"] for kernel in group if kernel["power"] is not None]
        heat = [kernel["heat"] for kernel in group if kernel["heat"] is not None]
        record = dict(zip(by, key)) | {"kernel_ns": time(clocked), "unknown_ns": time(group) - time(clocked)}
        tops = [kernel["recorded"] or kernel["clock"] for kernel in group]
        top = max((clock for clock in tops if clock is not None), default=None)
        low = [kernel for kernel in clocked if kernel["clock"] < top * options.number("low-pct", 85) / 100]
        high = [k for k in low if k["power"] is not None and k["power"] >= max(power) * options.number("power-pct", 90) / 100]
        hot = [kernel for kernel in low if kernel["heat"] is not None and kernel["heat"] >= options.number("hot-c", 90)]
        # Each weighs a nanosecond more than it took, so that kernels that take no time count.
        weight = sum(kernel["duration_ns"] + 1 for kernel in clocked)
        record |= {"top_mhz": top, "mean_mhz": ratio(sum(k["clock"] * (k["duration_ns"] + 1) for k in clocked), weight)}
        record |= {"min_mhz": min((kernel["clock"] for kernel in clocked), default=None), "low_ns": time(low)}
        record |= {"low_power_ns": time(high), "low_hot_ns": time(hot), "low_pct_of_time": percent(time(low), time(clocked))}
        record |= {"max_w": max(power, default=None), "max_c": max(heat, default=None)}
        records.append(record | {"verdict": verdict(record, options.number("min-pct", 5))})
    return ordered(records, by, "kernel_ns")


def recorded_clocks(folder):
    """The sampled GPUs with the highest clock that their agents state."""
    with closing(sqlite3.connect(sampled(folder))) as connection:
        name = table(connection, "info_agent")
        connection.execute(f"UPDATE \"{name}\" SET extdata = '{{\"max_engine_clk_fcompute\":1700}}' WHERE type = 'GPU'")
        connection.commit()


WRITTEN["recorded_clocks"] = recorded_clocks

SAMPLED, BY_NODE = ("sampled",), ("--by", "hostname")

QUERIES = {
    "metric_summary": Case(metric_summary, SAMPLED, ((), BY_NODE)),
    "metric_map": Case(metric_map, SAMPLED, ((), ("--bins", "7"), ("--bins", "10000"))),
    "link_traffic": Case(link_traffic, SAMPLED, ((), BY_NODE)),
    "vram_usage": Case(vram_usage, SAMPLED),
    "throttling": Case(
        throttling,
        ("sampled", "recorded_clocks"),
        ((), ("--hot-c", "100"), ("--hot-c", "100", "--power-pct", "100"), ("--low-pct", "60"), ("--min-pct", "60"), BY_NODE),
    ),
}
