"""Kernels by name, category, shape and duration, and how they overlap."""

import statistics
from decimal import Decimal
from fractions import Fraction

from duration_bins import duration_bins, histogram_width

from .activity import labels_of
from .case import Case
from .sums import deviation, first_of_each, grouped, median, moments, ordered, percent

INPUTS = ("two_nodes", "planted", "hostile")
SHAPE = ("grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z")
NAME_COLUMNS = {"full": "kernel_name", "short": "short_name", "base": "base_name"}


def dispatches(source, options):
    """Valid dispatches, with the name in the form that is asked for."""
    name = NAME_COLUMNS[options.text("name", "full")]
    return [kernel | {"kernel_name": kernel[name]} for kernel in source.rows("kernels") if kernel["valid"]]


def statistics_of(times):
    return {
        "calls": len(times),
        "total_ns": sum(times),
        "mean_ns": sum(times) / len(times),
        "median_ns": median(times),
        "std_ns": deviation(times),
        "min_ns": min(times),
        "max_ns": max(times),
    }


def add_shares(records, by, cumulative=True):
    """Adds the share of each record of sorted ones in the time of its group, and of it and all above it."""
    for group in grouped(records, list(by)).values():
        total, reached = sum(record["total_ns"] for record in group), 0
        for record in group:
            reached += record["total_ns"]
            record["pct"] = percent(record["total_ns"], total)
            if cumulative:
                record["cumulative_pct"] = percent(reached, total)
    return records


def kernel_summary(source, options):
    by = options.by()
    records = []
    for key, group in grouped(dispatches(source, options), [*by, "kernel_name"]).items():
        record = dict(zip([*by, "kernel_name"], key))
        times = grouped(group, ["category"])
        totals = {category[0]: sum(one["duration_ns"] for one in of) for category, of in times.items()}
        if "category" not in by:
            record["category"] = min(totals, key=lambda category: (-totals[category], category))
        records.append(record | statistics_of([kernel["duration_ns"] for kernel in group]))
    records = add_shares(ordered(records, by, "-total_ns", "kernel_name"), by)
    return first_of_each(records, by, options.whole("top", 0))


def kernel_by_category(source, options):
    by = options.by()
    records = []
    for key, group in grouped(dispatches(source, options), [*by, "category"]).items():
        total = sum(kernel["duration_ns"] for kernel in group)
        record = dict(zip([*by, "category"], key)) | {"kernels": len({kernel["kernel_name"] for kernel in group})}
        records.append(record | {"calls": len(group), "total_ns": total, "mean_ns": total / len(group)})
    return add_shares(ordered(records, by, "-total_ns", "category"), by)


def kernel_by_shape(source, options):
    by = options.by()
    records = []
    for key, group in grouped(dispatches(source, options), [*by, "kernel_name", *SHAPE]).items():
        record = dict(zip([*by, "kernel_name", *SHAPE], key))
        workgroups = 1
        for axis in "xyz":
            size = record[f"workgroup_{axis}"]
            workgroups = None if not size or workgroups is None else workgroups * -(-record[f"grid_{axis}"] // size)
        record["workgroups"] = workgroups
        measured = statistics_of([kernel["duration_ns"] for kernel in group])
        del measured["std_ns"]
        records.append(record | measured)
    records = add_shares(ordered(records, by, "-total_ns", "kernel_name", *SHAPE), by, cumulative=False)
    return first_of_each(records, by, options.whole("top", 0))


DETAILS = ("category", "rank", "process", "gpu", "queue_id", "stream_id", "dispatch_id", "start_ns", "duration_ns")
DETAILS += ("workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z", "lds_bytes", "scratch_bytes", "agent_id", "tid")


def kernel_details(source, options):
    by = options.by()
    columns = [*by, "kernel_name", *(column for column in DETAILS if column not in by)]
    records = [{column: kernel[column] for column in columns} for kernel in dispatches(source, options)]
    order = [column for column in ("rank", "process", "dispatch_id", "start_ns") if column not in by]
    return first_of_each(ordered(records, by, "-duration_ns", *order), by, options.whole("top", 0))


def kernel_duration_histogram(source, options):
    by = options.by()
    records = []
    every = dispatches(source, options)
    width = histogram_width([kernel["duration_ns"] for kernel in every])
    for key, group in grouped(every, list(by)).items():
        times = [kernel["duration_ns"] for kernel in group]
        for start, end in duration_bins(times, width):
            inside = [time for time in times if start <= time < end]
            record = {"bin_start_ns": start, "bin_end_ns": end, "calls": len(inside)}
            record |= {"total_ns": sum(inside), "pct": percent(len(inside), len(times))}
            records.append(dict(zip(by, key)) | record | {"pct_of_time": percent(sum(inside), sum(times))})
    return ordered(records, by, "bin_start_ns")


def short(kernel, options):
    return kernel["duration_ns"] < Decimal(options.text("threshold-us", "10")) * 1000


def short_kernels(source, options):
    by = options.by()
    every = dispatches(source, options)
    totals = {key: sum(kernel["duration_ns"] for kernel in group) for key, group in grouped(every, list(by)).items()}
    records = []
    for key, group in grouped([kernel for kernel in every if short(kernel, options)], [*by, "kernel_name"]).items():
        total = sum(kernel["duration_ns"] for kernel in group)
        record = dict(zip([*by, "kernel_name"], key)) | {"calls": len(group), "total_ns": total, "mean_ns": total / len(group)}
        records.append(record | {"pct_of_kernel_time": percent(total, totals[key[: len(by)]])})
    return first_of_each(ordered(records, by, "-total_ns", "kernel_name"), by, options.whole("top", 0))


def short_kernel_histogram(source, options):
    """Equal bins from the shortest to the longest short dispatch; the last one includes its end."""
    by, bins = options.by(), options.whole("bins", 100)
    records = []
    for key, group in grouped([kernel for kernel in dispatches(source, options) if short(kernel, options)], list(by)).items():
        times = [Fraction(kernel["duration_ns"], 1000) for kernel in group]
        low, high = min(times), max(times)
        if low == high:
            # Bins around a single value, as numpy has them.
            low, high = low - Fraction(1, 2), high + Fraction(1, 2)
        step = (high - low) / bins
        counts = [0] * bins
        for time in times:
            counts[min(int((time - low) / step), bins - 1)] += 1
        for place, count in enumerate(counts):
            edges = {"bin_start_us": float(low + place * step), "bin_end_us": float(low + (place + 1) * step)}
            records.append(dict(zip(by, key)) | edges | {"calls": count})
    return ordered(records, by, "bin_start_us")


def kernel_overlap_matrix(source, options):
    by = options.by()
    times, categories = {}, {}
    for process in source.traced():
        for gpu, group in grouped(process.valid("kernels"), lambda kernel: kernel["gpu"]).items():
            if gpu is None:
                continue
            labels = labels_of(process) | {"gpu": gpu, "device": process.devices.get(gpu)}
            key = tuple(labels[column] for column in by)
            last = {}
            for start, end, running in moments([(kernel["start_ns"], kernel["end_ns"], kernel["category"]) for kernel in group]):
                kinds = [one[2] for one in running]
                pairs = {(one, other) for one in kinds for other in kinds if one != other or kinds.count(one) > 1}
                for pair in pairs:
                    overlap, stretches = times.get((key, *pair), (0, 0))
                    follows = last.get(pair) == start
                    times[(key, *pair)] = (overlap + end - start, stretches + (not follows))
                    last[pair] = end
                for kind in set(kinds):
                    categories[(key, kind)] = categories.get((key, kind), 0) + end - start
                    times.setdefault((key, kind, kind), (0, 0))
    records = []
    for (key, one, other), (overlap, stretches) in times.items():
        record = dict(zip(by, key)) | {"category": one, "other_category": other, "overlap_ns": overlap, "stretches": stretches}
        record |= {"category_ns": categories[(key, one)], "other_ns": categories[(key, other)]}
        records.append(record | {"pct": percent(overlap, categories[(key, one)])})
    return ordered(records, by, "-overlap_ns", "category", "other_category")


def spread(values):
    """Median and median absolute deviation."""
    middle = statistics.median(values)
    return middle, statistics.median([abs(value - middle) for value in values])


BY = ((), ("--by", "rank"), ("--name", "base", "--by", "gpu"))
TOP = (*BY, ("--by", "process", "--top", 2))
QUERIES = {
    "kernel_summary": Case(kernel_summary, INPUTS, (*TOP, ("--by", "category"))),
    "kernel_by_category": Case(kernel_by_category, INPUTS, BY),
    "kernel_by_shape": Case(kernel_by_shape, INPUTS, TOP),
    "kernel_details": Case(kernel_details, INPUTS, TOP),
    "kernel_duration_histogram": Case(kernel_duration_histogram, INPUTS, BY),
    "short_kernels": Case(short_kernels, INPUTS, (*TOP, ("--threshold-us", "123.45"))),
    "short_kernel_histogram": Case(
        short_kernel_histogram, INPUTS, ((), ("--threshold-us", "123.45"), ("--bins", 7, "--threshold-us", "1000", "--by", "rank"))
    ),
    "kernel_overlap_matrix": Case(kernel_overlap_matrix, INPUTS, ((), ("--by", "rank"), ("--by", "process,gpu"))),
}
