"""Clock, power and energy of kernels on sampled GPUs."""

from .case import Case
from .hardware_samples import kernel_conditions
from .kernel_times import NAME_COLUMNS
from .sums import first_of_each, grouped, ordered, percent, ratio

INPUTS = ("sampled", "powered")


def conditions(source, options):
    name = NAME_COLUMNS[options.text("name", "full")]
    return [one | {"kernel_name": one[name]} for process in source.traced() for one in kernel_conditions(process)]


def weighted(kernels, value):
    """Mean of a condition by duration, a nanosecond more than it is, so that kernels that take no time weigh something too."""
    known = [kernel for kernel in kernels if kernel[value] is not None]
    return ratio(sum(kernel[value] * (kernel["duration_ns"] + 1) for kernel in known), sum(kernel["duration_ns"] + 1 for kernel in known))


def clock_by_kernel(source, options):
    by, records = options.by(), []
    every = conditions(source, options)
    totals = {key: sum(kernel["duration_ns"] for kernel in group) for key, group in grouped(every, list(by)).items()}
    for key, group in grouped(every, [*by, "kernel_name"]).items():
        known = lambda value: [kernel[value] for kernel in group if kernel[value] is not None]
        total = sum(kernel["duration_ns"] for kernel in group)
        record = dict(zip([*by, "kernel_name"], key)) | {"calls": len(group), "total_ns": total, "clock_calls": len(known("clock"))}
        record |= {"mean_mhz": weighted(group, "clock"), "min_mhz": min(known("clock"), default=None)}
        record |= {"max_mhz": max(known("clock"), default=None), "mean_w": weighted(group, "power")}
        record |= {"max_w": max(known("power"), default=None), "mean_c": weighted(group, "heat"), "max_c": max(known("heat"), default=None)}
        records.append(record | {"pct": percent(total, totals[key[: len(by)]])})
    return first_of_each(ordered(records, by, "-total_ns", "kernel_name"), by, options.whole("top", 0))


def energy_by_kernel(source, options):
    by, records = options.by(), []
    powered = [kernel for kernel in conditions(source, options) if kernel["power"] is not None]
    every = [kernel | {"nj": kernel["power"] * kernel["duration_ns"]} for kernel in powered]
    totals = {key: sum(kernel["nj"] for kernel in group) for key, group in grouped(every, list(by)).items()}
    for key, group in grouped(every, [*by, "kernel_name"]).items():
        energy, time = sum(kernel["nj"] for kernel in group), sum(kernel["duration_ns"] for kernel in group)
        record = dict(zip([*by, "kernel_name"], key)) | {"dispatches": len(group), "kernel_ns": time, "energy_j": energy / 1e9}
        record |= {"energy_pct": percent(energy, totals[key[: len(by)]]), "mean_w": ratio(energy, time)}
        records.append(record | {"max_w": max(kernel["power"] for kernel in group), "mean_mj": energy / 1e6 / len(group)})
    return first_of_each(ordered(records, by, "-energy_j", "kernel_name"), by, options.whole("top", 0))


QUERIES = {
    "clock_by_kernel": Case(clock_by_kernel, INPUTS, ((), ("--by", "rank", "--name", "base"), ("--by", "category", "--top", 1))),
    "energy_by_kernel": Case(energy_by_kernel, INPUTS, ((), ("--by", "rank", "--name", "base"), ("--by", "category", "--top", 1))),
}
