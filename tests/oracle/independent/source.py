"""Source rows of an input as plain dictionaries: rocpd databases by sqlite3, everything else by csv and json.

The dictionaries have the column names of docs/tables.md, since these are what the documents describe, and are made here from
the rows of each database alone.
"""

import csv
import gzip
import json
import shutil
from pathlib import Path

import captures
from captures import possible_size, whole

from . import names


class Trace:
    """All processes of an input, in the order in which the program numbers them: by rank, then by guid."""

    def __init__(self, path, work):
        self.path = Path(path)
        self.processes = []
        for file in database_files(self.path, Path(work)):
            self.processes += [SourceProcess(process, file) for process in captures.open_processes(file)]
        self.set_ranks()
        self.processes.sort(key=lambda process: (process.rank, process.guid))
        nodes = []
        for number, process in enumerate(self.processes):
            if process.machine not in nodes:
                nodes.append(process.machine)
            process.number, process.node = number, nodes.index(process.machine)
        self.set_roles()
        self.set_devices()
        for process in self.processes:
            process.label()

    def set_ranks(self):
        """The recorded environment tells the rank; processes without one get the next numbers."""
        highest = max((p.raw.environment_rank() for p in self.processes if p.raw.environment_rank() is not None), default=-1)
        for process in self.processes:
            process.rank = process.raw.environment_rank()
            if process.rank is None:
                highest += 1
                process.rank = highest

    def set_roles(self):
        plain = {process.rank for process in self.processes if not process.raw.carries_counters()}
        for process in self.processes:
            process.role = "counters" if process.raw.carries_counters() and process.rank in plain else "trace"

    def set_devices(self):
        """Physical GPUs by node and place on its bus, numbered in the order of nodes and places."""
        places = {(process.node, process.place(agent)) for process in self.processes for agent in process.gpu_agents()}
        numbers = {place: number for number, place in enumerate(sorted(places))}
        for process in self.processes:
            of_agent = {agent["id"]: numbers[(process.node, process.place(agent))] for agent in process.gpu_agents()}
            process.devices = {process.raw.gpus[agent]: device for agent, device in of_agent.items()}

    def traced(self):
        """Processes whose kernels count: counter passes next to a trace are left out."""
        return [process for process in self.processes if process.role == "trace"]

    def rows(self, table):
        """Rows of a table over all traced processes."""
        return [row for process in self.traced() for row in getattr(process, table)]

    def csv_rows(self, pattern):
        """(file, rows) of every matching CSV file below the input, by name."""
        return [(file, list(csv.DictReader(file.open(newline="")))) for file in sorted(self.path.rglob(pattern))]

    def documents(self, pattern="*.json*"):
        """(file, document) of every matching JSON file below the input, by name; packed ones are unpacked."""
        found = []
        for file in sorted(self.path.rglob(pattern)):
            with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
                found.append((file, json.load(opened)))
        return found


def database_files(source, work):
    """The databases of an input; packed ones are unpacked below `work`, since Python's sqlite3 reads files alone."""
    if source.is_file():
        return [source]
    files = sorted(source.rglob("*.db"))
    for packed in sorted(source.rglob("*.db.gz")):
        unpacked = work / "unpacked" / source.name / packed.relative_to(source).with_suffix("")
        if not unpacked.exists():
            unpacked.parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(packed) as opened, unpacked.open("wb") as target:
                shutil.copyfileobj(opened, target)
        files.append(unpacked)
    return files


class SourceProcess:
    """One traced process. `raw` is the process of `captures`, for rows that nothing here reads."""

    def __init__(self, raw, file):
        self.raw, self.file = raw, file
        self.guid = raw.suffix.strip("_").replace("_", "-")
        node = next(iter(raw.rows("info_node")), {})
        self.machine = node.get("machine_id") or node.get("hostname")
        self.hostname = node.get("hostname")
        self.pid = raw.info.get("pid")
        self.start_ns, self.end_ns = raw.start_ns, raw.end_ns
        self.number = self.rank = self.node = self.role = None
        self.devices = {}
        self.threads = {row["id"]: row["tid"] for row in raw.rows("info_thread")}
        self.agents = {row["id"]: row for row in raw.rows("info_agent")}
        self.events = raw.keyed("event")

    def gpu_agents(self):
        return [agent for agent in self.agents.values() if agent["type"] == "GPU"]

    def place(self, agent):
        """Where a GPU sits on its machine."""
        return agent["absolute_index"]

    def detail(self, row):
        """What the column with further values of a row holds."""
        try:
            return json.loads(row.get("extdata") or "{}") or {}
        except ValueError:
            return {}

    def event(self, row):
        return self.events.get(row.get("event_id")) or {}

    def common(self, row):
        """Columns that events of every kind have."""
        start, end = whole(row.get("start")), whole(row.get("end"))
        known = start is not None and end is not None
        return {
            "process": self.number,
            "rank": self.rank,
            "node": self.node,
            "hostname": self.hostname,
            "tid": self.threads.get(row.get("tid"), row.get("tid")),
            "correlation_id": whole(self.event(row).get("stack_id")) or None,
            "start_ns": start,
            "end_ns": end,
            "duration_ns": end - start if known else None,
            "valid": self.raw.is_valid(start, end),
        }

    def label(self):
        """Reads the rows, once the number and the rank of the process are known."""
        self.kernels = [self.kernel(row) for row in self.raw.rows("kernel_dispatch") if not row.get("replay_pass")]
        self.copies = [self.copy(row) for row in self.raw.rows("memory_copy")]
        self.allocations = [self.allocation(row) for row in self.raw.rows("memory_allocate")]
        every = [self.region(row) for row in self.raw.rows("region")]
        self.regions = [region for region in every if region["start_ns"] != region["end_ns"]]
        instants = [region for region in every if region["start_ns"] == region["end_ns"]]
        self.marks = [self.mark(row) for row in self.raw.rows("sample")] + [self.instant(region) for region in instants]

    def kernel(self, row):
        """A dispatch, with the columns of the table `kernels` that are recorded."""
        gpu = self.raw.gpus.get(row.get("agent_id"))
        name = self.raw.kernel_name(row)
        symbol = self.raw.keyed("info_kernel_symbol").get(row["kernel_id"]) or {}
        record = self.common(row) | {
            "dispatch_id": row["dispatch_id"],
            "kernel_id": row["kernel_id"],
            "kernel_name": name,
            "short_name": names.short_name(name, self.detail(symbol).get("truncated_kernel_name")),
            "base_name": names.base_name(name),
            "category": names.category(name),
            "agent_id": row.get("agent_id"),
            "gpu": gpu,
            "device": self.devices.get(gpu),
            "queue_id": row.get("queue_id"),
            "stream_id": row.get("stream_id"),
            "region_name": self.raw.string(row.get("region_name_id")) or None,
            "lds_bytes": row.get("group_segment_size"),
            "scratch_bytes": row.get("private_segment_size"),
            "event_id": row.get("event_id"),
        }
        for axis in "xyz":
            record[f"grid_{axis}"], record[f"workgroup_{axis}"] = row[f"grid_size_{axis}"], row[f"workgroup_size_{axis}"]
        graph = whole(row.get("graph_exec_id")) or None
        return record | {"graph_exec_id": graph, "graph_node_id": whole(row.get("graph_node_id")) if graph else None}

    def copy(self, row):
        """A copy, with the columns of the table `memory_copies`."""
        source, destination = (self.raw.gpus.get(row[f"{side}_agent_id"]) for side in ("src", "dst"))
        between = source is not None and destination is not None and source != destination
        gpu = destination if source is None else source
        return self.common(row) | {
            "copy_id": row["id"],
            "direction": captures.copy_direction(self.raw.string(row["name_id"], ""), between),
            "src_agent_id": row["src_agent_id"],
            "dst_agent_id": row["dst_agent_id"],
            "gpu": gpu,
            "peer_gpu": destination if between else None,
            "device": self.devices.get(gpu),
            "bytes": possible_size(row["size"]),
            "queue_id": row.get("queue_id"),
            "stream_id": row.get("stream_id"),
            "graph_exec_id": whole(row.get("graph_exec_id")) or None,
        }

    def allocation(self, row):
        """An operation on memory, with the columns of the table `memory_allocations`."""
        return self.common(row) | {
            "alloc_id": row["id"],
            "operation": row["type"],
            "level": row["level"],
            "agent_id": row["agent_id"],
            "gpu": self.raw.gpus.get(row["agent_id"]),
            "address": whole(row["address"]),
            "bytes": row["size"] or 0,
            "queue_id": row["queue_id"],
            "stream_id": row["stream_id"],
        }

    def region(self, row):
        """A call or range, with the columns of the table `regions`."""
        domain, message = self.raw.domain_and_message(row)
        return self.common(row) | {
            "region_id": row["id"],
            "domain": domain,
            "category": self.raw.string(self.event(row).get("category_id")),
            "name": self.raw.string(row["name_id"], "unknown"),
            "message": message,
            "event_id": row.get("event_id"),
        }

    def mark(self, row):
        """A record of one moment, with the columns of the table `marks`."""
        track = self.raw.keyed("track").get(row["track_id"]) or {}
        region = self.region(row | {"name_id": track.get("name_id"), "tid": track.get("tid")})
        return self.instant(region | {"name": self.raw.string(track.get("name_id")), "start_ns": whole(row["timestamp"])})

    def instant(self, region):
        return region | {"mark_id": region["region_id"], "time_ns": region["start_ns"]}

    def args(self, event_id):
        """Arguments of an event, in their order."""
        if not hasattr(self, "arguments"):
            self.arguments = {}
            for row in self.raw.rows("arg"):
                self.arguments.setdefault(row["event_id"], []).append(row)
        return sorted(self.arguments.get(event_id, []), key=lambda row: row["position"])

    def valid(self, table):
        return [row for row in getattr(self, table) if row["valid"]]
