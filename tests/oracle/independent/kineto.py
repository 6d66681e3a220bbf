"""Reads traces of the PyTorch profiler: events as rows with the columns of docs/tables.md, in exact nanoseconds."""

import gzip
import json
from decimal import Decimal

HOST = ("cpu_op", "cuda_runtime", "cuda_driver", "python_function", "user_annotation")


class KinetoProcess:
    """One file: operators, calls and functions of the host in the order of the file, and the work that they launched."""

    def __init__(self, document, number):
        self.number = number
        self.rank = document["distributedInfo"]["rank"]
        self.base_ns = int(document["baseTimeNanoseconds"])
        events = [event for event in document["traceEvents"] if event.get("ph") == "X"]
        self.regions = [self.row(event) for event in events if event.get("cat") in HOST]
        for place, region in enumerate(self.regions, 1):
            region["region_id"] = region["range_id"] = place
        self.work = [("kernel", self.row(event)) for event in events if event["cat"] in ("kernel", "gpu_memset")]
        self.work += [("copy", self.row(event)) for event in events if event["cat"] == "gpu_memcpy"]

    def row(self, event):
        start, length = (int(Decimal(event[column]) * 1000) for column in ("ts", "dur"))
        return {
            "rank": self.rank, "process": self.number, "kind": event["cat"], "name": event["name"], "tid": event["tid"],
            "args": event.get("args", {}), "start_ns": self.base_ns + start, "end_ns": self.base_ns + start + length, "duration_ns": length,
        }  # fmt: skip

    def launched(self):
        """(kind, work, call) of every kernel and copy, by its correlation id; the call is None where none is recorded."""
        calls = {region["args"].get("correlation"): region for region in self.regions if region["kind"] in ("cuda_runtime", "cuda_driver")}
        return [(kind, work, calls.get(work["args"].get("correlation"))) for kind, work in self.work]


def kineto_processes(source):
    """The processes of an input in the order of their ranks; numbers are read as they are written."""
    found = []
    for path in sorted(source.path.rglob("*.pt.trace.json*")):
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            found.append(json.load(file, parse_float=Decimal))
    found.sort(key=lambda document: document["distributedInfo"]["rank"])
    return [KinetoProcess(document, number) for number, document in enumerate(found)]
