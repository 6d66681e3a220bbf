"""What ran when on each GPU of each process, from valid kernels and copies."""

from .sums import covered, grouped, moments


class Lane:
    """One used GPU of one process: (start, end, kind) of its work, and the span of its process."""

    def __init__(self, process, gpu, work, span):
        self.process, self.gpu, self.work = process, gpu, work
        self.first, self.last = span
        self.labels = labels_of(process) | {"gpu": gpu, "device": process.devices.get(gpu)}

    def intervals(self, *kinds):
        return [one[:2] for one in self.work if one[2] in kinds]

    def time(self, holds):
        """Time in which a condition on the numbers of computing and communicating kernels and copies holds."""
        return sum(end - start for start, end, *counts in self.states() if holds(*counts))

    def states(self):
        """(start, end, compute, comm, copies) over the span of the process."""
        for start, end, running in moments(self.work, self.first, self.last):
            kinds = [one[2] for one in running]
            yield start, end, kinds.count("compute"), kinds.count("comm"), kinds.count("copy")

    @property
    def busy(self):
        return covered(self.intervals("compute", "comm", "copy"))


def labels_of(process):
    return {"process": process.number, "rank": process.rank, "node": process.node, "hostname": process.hostname}


def kind_of(kernel):
    return "comm" if kernel["category"] == "communication" else "compute"


def work_of(process):
    """(start, end, kind) by GPU; a copy between two GPUs runs on both. Work whose GPU is not known is on none."""
    work = {}
    for kernel in process.valid("kernels"):
        work.setdefault(kernel["gpu"], []).append((kernel["start_ns"], kernel["end_ns"], kind_of(kernel)))
    for copy in process.valid("copies"):
        for gpu in {copy["gpu"], copy["peer_gpu"]} - {None}:
            work.setdefault(gpu, []).append((copy["start_ns"], copy["end_ns"], "copy"))
    work.pop(None, None)
    return work


def lanes_of(process):
    work = work_of(process)
    every = [one for of_gpu in work.values() for one in of_gpu]
    span = (min(one[0] for one in every), max(one[1] for one in every)) if every else None
    return [Lane(process, gpu, work[gpu], span) for gpu in sorted(work)]


def lanes(trace):
    """Every used GPU of every traced process, in the order of processes and GPUs."""
    return [lane for process in trace.traced() for lane in lanes_of(process)]


def by_group(lanes, by):
    """Lanes by the values of the grouping columns, as dictionaries."""
    groups = grouped(lanes, lambda lane: tuple(lane.labels[column] for column in by))
    return [(dict(zip(by, key)), group) for key, group in groups.items()]
