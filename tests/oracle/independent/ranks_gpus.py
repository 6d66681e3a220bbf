"""Ranks compared by what their GPUs did."""

import math
import statistics

from .activity import lanes
from .case import Case
from .iterating import iterations_of, steady
from .made_inputs import STEPS
from .kernel_times import NAME_COLUMNS, dispatches
from .sums import Least, covered, cut, grouped, mean, median, merged, ordered, percent, ratio

INPUTS = ("two_nodes", "planted", "shared_gpus")
MESSAGES = ("mpi", "ucx", "shmem", "openshmem", "rocshmem")


def rank_summary(source, options):
    records = []
    for (rank,), processes in grouped(source.traced(), lambda process: (process.rank,)).items():
        own = [lane for lane in lanes(source) if lane.process in processes]
        kernels = [kernel for process in processes for kernel in process.valid("kernels")]
        hosts = {process.hostname for process in processes}
        record = {"rank": rank, "processes": len(processes), "hostname": hosts.pop() if len(hosts) == 1 else None}
        record |= {"pid": processes[0].pid if len(processes) == 1 else None}
        record |= {"gpus": len({lane.labels["device"] for lane in own}), "kernels": len(kernels)}
        record |= {"kernel_sum_ns": sum(kernel["duration_ns"] for kernel in kernels)}
        record |= {"span_ns": sum(lane.last - lane.first for lane in own), "busy_ns": sum(lane.busy for lane in own)}
        records.append(record | {"idle_ns": record["span_ns"] - record["busy_ns"]})
    for column, name in (("busy_ns", "busy_vs_mean_pct"), ("kernel_sum_ns", "kernel_sum_vs_mean_pct")):
        usual = mean(record[column] for record in records)
        for record in records:
            record[name] = percent(record[column] - usual, usual)
    return ordered(records, (), "rank")


def of_one_program(one, other):
    """Whether two processes communicate, ran at the same time, or have the same command line or most kernels."""
    mine, others = one.valid("kernels"), other.valid("kernels")
    if all(any(kernel["category"] == "communication" for kernel in kernels) for kernels in (mine, others)):
        return True
    command = one.raw.info.get("command") or ""
    if len(command.split()) > 1 and command == other.raw.info.get("command"):
        return True
    span = [(min(k["start_ns"] for k in kernels), max(k["end_ns"] for k in kernels)) for kernels in (mine, others)]
    if one.node == other.node and span[0][0] < span[1][1] and span[1][0] < span[0][1]:
        return True
    names = {kernel["kernel_name"] for kernel in mine} & {kernel["kernel_name"] for kernel in others}
    times = [[kernel["duration_ns"] for kernel in kernels if kernel["kernel_name"] in names] for kernels in (mine, others)]
    return all(2 * sum(own) >= sum(k["duration_ns"] for k in kernels) for own, kernels in zip(times, (mine, others)))


def programs(source, options):
    left = [process for process in source.processes if process.valid("kernels")]
    groups = []
    while left:
        group = [left.pop(0)]
        for one in group:
            joining = [process for process in left if of_one_program(one, process)]
            left = [process for process in left if process not in joining]
            group += joining
        groups.append(group)
    sizes = [len(group) for group in groups]
    run = 0 if len(groups) == 1 else sizes.index(max(sizes)) if max(sizes) > 1 else None
    records = []
    for number, group in enumerate(groups):
        own = [process for process in group if process.role == "trace"]
        kernels = [kernel for process in own for kernel in process.valid("kernels")]
        ranks = [process.rank for process in own]
        record = {"program": number, "processes": len(own), "first_rank": min(ranks), "last_rank": max(ranks)}
        record |= {"compared": "yes" if number == run else "no", "kernels": len(kernels)}
        records.append(record | {"kernel_sum_ns": sum(kernel["duration_ns"] for kernel in kernels)})
    return ordered(records, (), "program")


def rank_by_kernel(source, options):
    by, records = options.by(), []
    every = dispatches(source, options)
    of_gpu = {key: sum(one["duration_ns"] for one in group) for key, group in grouped(every, ["process", "gpu"]).items()}
    keys = [*by, "kernel_name"]
    for key, group in grouped(every, keys).items():
        cells = []
        for (process, gpu), own in grouped(group, ["process", "gpu"]).items():
            total = sum(kernel["duration_ns"] for kernel in own)
            cell = dict(zip(keys, key)) | {"rank": own[0]["rank"], "gpu": gpu, "calls": len(own), "total_ns": total}
            cell |= {"mean_ns": total / len(own), "pct": percent(total, of_gpu[(process, gpu)]), "process": process}
            cells.append(cell)
        for cell in cells:
            cell["gpus"] = len(cells)
            for column, name in (("calls", "calls_vs_median"), ("total_ns", "total_vs_median"), ("mean_ns", "mean_vs_median")):
                cell[name] = ratio(cell[column], median(one[column] for one in cells))
            cell["of_all"] = sum(one["total_ns"] for one in cells)
        records += cells
    records = ordered(records, by, "-of_all", "kernel_name", "rank", "process", "gpu")
    if top := options.whole("top", 0):
        chosen = {}
        for record in records:
            chosen.setdefault(tuple(record[column] for column in by), {})[record["kernel_name"]] = None
        records = [r for r in records if r["kernel_name"] in list(chosen[tuple(r[column] for column in by)])[:top]]
    return [{name: value for name, value in record.items() if name not in ("of_all", "process")} for record in records]


SEGMENTS = ("span", "busy", "idle", "compute", "communication", "exposed_communication", "copy", "exposed_copy")


def amount(lane, metric):
    """The time of a metric on one GPU."""
    holds = {
        "span": lambda compute, comm, copies: True,
        "busy": lambda compute, comm, copies: compute or comm or copies,
        "idle": lambda compute, comm, copies: not compute and not comm and not copies,
        "compute": lambda compute, comm, copies: compute,
        "communication": lambda compute, comm, copies: comm,
        "exposed_communication": lambda compute, comm, copies: comm and not compute,
        "copy": lambda compute, comm, copies: copies,
        "exposed_copy": lambda compute, comm, copies: copies and not compute and not comm,
    }
    return lane.time(holds[metric])


def copied_bytes(lane):
    """Bytes of the copies of a GPU, a copy between two for both; nothing where a size is not known."""
    sizes = [copy["bytes"] for copy in lane.process.valid("copies") if lane.gpu in (copy["gpu"], copy["peer_gpu"])]
    return None if None in sizes else sum(sizes)


def measured(source, metric, options, work):
    """(labels, rank, process, gpu, value) of each GPU, or of each process of iteration_time."""
    found = []
    if metric == "iteration_time":
        for process in source.traced():
            if times := steady(iterations_of(process)):
                found.append(({}, process.rank, process.number, None, median(times), process.node, process.hostname))
        return found
    name = NAME_COLUMNS[options.text("name", "full")]
    every = [kernel | {"kernel_name": kernel[name]} for kernel in source.rows("kernels") if kernel["valid"]]
    cases = sorted({tuple(kernel[column] for column in work) for kernel in every})
    for lane in lanes(source):
        place = (lane.process.rank, lane.process.number, lane.gpu)
        where = (lane.process.node, lane.process.hostname)
        if metric in SEGMENTS or metric == "copied_bytes":
            found.append(({}, *place, amount(lane, metric) if metric in SEGMENTS else copied_bytes(lane), *where))
            continue
        for case in cases:
            times = [
                kernel["duration_ns"]
                for kernel in every
                if (kernel["process"], kernel["gpu"]) == place[1:] and tuple(kernel[column] for column in work) == case
            ]
            value = {"kernel_time": sum(times), "dispatches": len(times), "mean_kernel": mean(times)}[metric]
            found.append((dict(zip(work, case)), *place, value, *where))
    return found


def rank_imbalance(source, options):
    by = options.by()
    work = [column for column in by if column in ("category", "kernel_name")]
    places = [column for column in by if column not in work]
    metric = options.text("metric", "all")
    every = (["kernel_time", "mean_kernel"] if work else ["kernel_time", *SEGMENTS]) if metric == "all" else [metric]
    unit = {"dispatches": "dispatches", "copied_bytes": "bytes"}.get(metric, "ns")
    records = []
    for order, one in enumerate(every):
        rows = [row for row in measured(source, one, options, work) if row[4] is not None]
        label = lambda row: tuple({**row[0], "node": row[5], "hostname": row[6]}[column] for column in by)
        for key, group in grouped(rows, label).items():
            values = [row[4] for row in group]
            usual = mean(values)
            worst = min(group, key=lambda row: (-row[4], row[1], row[2], row[3] if row[3] is not None else -1))
            least = min(group, key=lambda row: (row[4], row[1], row[2], row[3] if row[3] is not None else -1))
            record = dict(zip(by, key)) | {"metric": one, "gpus": len(values), f"min_{unit}": min(values)}
            record |= {f"median_{unit}": median(values), f"mean_{unit}": usual, f"max_{unit}": max(values)}
            record |= {"excess_pct": percent(max(values) - usual, usual), "cov_pct": percent(statistics.pstdev(values), usual)}
            record |= {"max_vs_median": ratio(max(values), median(values)), "worst_rank": worst[1], "worst_gpu": worst[3]}
            records.append(((order, max(values)), record | {"least_rank": least[1], "least_gpu": least[3]}))
    null_first = lambda record, columns: [Least() if record[column] is None else record[column] for column in columns]
    # By where, then by metric; of kinds of work the one with the greatest value comes first.
    rank_of = lambda item: (null_first(item[1], places), item[0][0], -item[0][1] if work else 0, null_first(item[1], work))
    return [record for _, record in sorted(records, key=rank_of)]


def gpu_utilization_map(source, options):
    every, records = lanes(source), []
    longest = max((lane.last - lane.first for lane in every), default=0)
    width = max(1, math.ceil(longest / options.whole("bins", 20)))
    for lane in every:
        for place, left in enumerate(range(lane.first, max(lane.last, lane.first + 1), width)):
            right = min(left + width, lane.last)
            inside = lambda *kinds: cut(merged(lane.intervals(*kinds)), left, right)
            length = max(right - left, 1)
            comm, compute = inside("comm"), inside("compute")
            record = {"rank": lane.process.rank, "gpu": lane.gpu, "device": lane.labels["device"], "bin": place}
            record |= {"begin_ns": left - lane.first, "length_ns": length, "busy_ns": covered(inside("compute", "comm", "copy"))}
            record |= {"busy_pct": percent(record["busy_ns"], length), "compute_pct": percent(covered(compute), length)}
            record |= {"comm_pct": percent(covered(comm), length), "copy_pct": percent(covered(inside("copy")), length)}
            record |= {"exposed_comm_pct": percent(covered(comm + compute) - covered(compute), length), "axis": "own start"}
            records.append(record | {"process": lane.process.number})
    records = ordered(records, (), "rank", "process", "gpu", "bin")
    return [{name: value for name, value in record.items() if name != "process"} for record in records]


def efficiency_tree(source, options):
    by, records = options.by(), []
    rows = []
    for lane in lanes(source):
        if options.text("scope", "run") == "run":
            rows.append((lane, None, lane.first, lane.last))
        else:
            rows += [(lane, one["iteration"], one["start_ns"], one["end_ns"]) for one in iterations_of(lane.process)]
    key = lambda row: (*(row[0].labels[column] for column in by), row[1])
    for labels, group in grouped(rows, key).items():
        computed = [covered(cut(merged(lane.intervals("compute")), start, end)) for lane, _, start, end in group]
        used = [covered(cut(merged(lane.intervals("compute", "comm", "copy")), start, end)) for lane, _, start, end in group]
        longest, usual = max(end - start for _, _, start, end in group), mean(computed)
        record = dict(zip([*by, "iteration"], labels)) | {"gpus": len(group), "time_ns": longest, "mean_compute_ns": usual}
        record |= {"max_compute_ns": max(computed), "max_busy_ns": max(used), "parallel_pct": percent(usual, longest)}
        record |= {"balance_pct": percent(usual, max(computed)), "communication_pct": percent(max(computed), max(used))}
        records.append(record | {"orchestration_pct": percent(max(used), longest)})
    return ordered(records, by, "iteration")


def mpi_share_map(source, options):
    records = []
    for process in source.traced():
        calls = [(one["start_ns"], one["end_ns"]) for one in process.valid("regions") if one["domain"] in MESSAGES]
        if not calls:
            continue
        work = [piece for lane in lanes(source) if lane.process is process for piece in lane.intervals("compute", "comm", "copy")]
        work = [piece for piece in work if piece[0] < piece[1]]
        first, last = min(one[0] for one in calls + work), max(one[1] for one in calls + work)
        width = max(1, math.ceil((last - first) / options.whole("bins", 20)))
        for place, left in enumerate(range(first, last, width)):
            right = min(left + width, last)
            call, busy = covered(cut(merged(calls), left, right)), covered(cut(merged(work), left, right))
            both = call + busy - covered(cut(merged(calls + work), left, right))
            record = {"rank": process.rank, "process": process.number, "bin": place, "begin_ns": left - first, "length_ns": right - left}
            record |= {"call_ns": call, "busy_ns": busy, "both_ns": both, "call_pct": percent(call, right - left)}
            records.append(record | {"busy_pct": percent(busy, right - left), "both_pct": percent(both, right - left)})
    return ordered(records, (), "rank", "process", "bin")


IMBALANCE = [("--metric", one) for one in ("dispatches", "mean_kernel", "copied_bytes", "exposed_communication")]
IMBALANCE += [("--by", "category"), ("--by", "node"), ("--by", "node,kernel_name", "--metric", "kernel_time", "--name", "base")]
QUERIES = {
    "rank_summary": Case(rank_summary, INPUTS),
    "programs": Case(programs, INPUTS),
    "rank_by_kernel": Case(rank_by_kernel, INPUTS, ((), ("--top", 2), ("--by", "category", "--top", 1), ("--by", "node"))),
    "rank_imbalance": Case(rank_imbalance, INPUTS, ((), *IMBALANCE), more=((STEPS, ("--metric", "iteration_time")),)),
    "gpu_utilization_map": Case(gpu_utilization_map, INPUTS, ((), ("--bins", 7))),
    "efficiency_tree": Case(
        efficiency_tree,
        INPUTS,
        ((), ("--by", "rank")),
        more=((STEPS, ("--scope", "iteration")), (STEPS, ("--scope", "iteration", "--by", "rank"))),
    ),
    "mpi_share_map": Case(mpi_share_map, ("messages",), ((), ("--bins", 7))),
}
