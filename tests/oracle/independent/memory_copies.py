"""The family `memory`: copies between memories, and fills by kernels of HIP."""

import tomllib

from common import REPOSITORY

from .calls import class_of, launched
from .case import Case
from .inputs import made, table
from .markers import answer, keyed
from .sums import covered, cut, equal_bins, grouped, mean, median, ordered, percent, ratio

LINKS = {one["name"]: one for one in tomllib.loads((REPOSITORY / "share" / "links.toml").read_text())["architecture"]}


def copies_of(source):
    return [keyed(process, copy) for process in source.traced() for copy in process.valid("copies")]


def interval(one):
    return one["start_ns"], one["end_ns"]


def busy(copies, lanes=("process", "gpu", "direction")):
    """Time in which at least one copy runs, added up over the lanes."""
    return sum(covered([interval(copy) for copy in group]) for group in grouped(copies, list(lanes)).values())


def sized(copies):
    return [copy for copy in copies if copy["bytes"] is not None]


def total_bytes(copies):
    """Bytes of the copies that have a size, nothing where none has."""
    sizes = [copy["bytes"] for copy in sized(copies)]
    return sum(sizes) if sizes else None


def copy_summary(source, options):
    by, records = options.by(), []
    for key, group in grouped(copies_of(source), [*by, "direction"]).items():
        times, sizes, sized_busy = [copy["duration_ns"] for copy in group], [copy["bytes"] for copy in sized(group)], busy(sized(group))
        record = dict(zip((*by, "direction"), key)) | {"copies": len(group), "copies_without_size": len(group) - len(sizes)}
        record |= {"total_bytes": total_bytes(group), "mean_bytes": mean(sizes), "total_ns": sum(times), "busy_ns": busy(group)}
        record |= {"sized_busy_ns": sized_busy, "gb_per_s": ratio(total_bytes(group), sized_busy)}
        records.append(record | {"min_ns": min(times), "max_ns": max(times)})
    return ordered(records, by, "-total_ns", "direction")


def size_bin(size):
    """Bounds of the bin of a size: from a power of two to the next; of what is empty, and of what has no size."""
    if size is None:
        return -2, (None, None)
    if size == 0:
        return -1, (0, 1)
    return size.bit_length() - 1, (2 ** (size.bit_length() - 1), 2 ** size.bit_length())


def copy_size_histogram(source, options):
    by, records = options.by("direction"), []
    for key, group in grouped(copies_of(source), list(by)).items():
        bins = grouped(group, lambda copy: size_bin(copy["bytes"])[0])
        used = [place for place in bins if place >= 0]
        places = [place for place in (-2, -1) if place in bins] + (list(range(min(used), max(used) + 1)) if used else [])
        for place in places:
            found = bins.get(place, [])
            bounds = (None, None) if place == -2 else (0, 1) if place == -1 else (2**place, 2 ** (place + 1))
            rates = [copy["bytes"] / copy["duration_ns"] for copy in sized(found) if copy["duration_ns"]]
            record = dict(zip(by, key)) | {"bin": place, "bin_start_bytes": bounds[0], "bin_end_bytes": bounds[1], "copies": len(found)}
            size = None if place == -2 else sum(copy["bytes"] for copy in found)
            record |= {"total_bytes": size, "total_ns": sum(copy["duration_ns"] for copy in found)}
            record |= {"median_ns": median(copy["duration_ns"] for copy in found), "median_gb_per_s": median(rates)}
            record |= {"pct": percent(len(found), len(group)), "pct_of_bytes": percent(size or 0, total_bytes(group))}
            records.append(record)
    records = ordered(records, (*by, "bin"))
    return [{column: value for column, value in record.items() if column != "bin"} for record in records]


def piece_in(copy, left, right, is_last):
    """What of a copy lies in a bin, with its bytes, which go with its time; nothing where it does not touch the bin."""
    start, end = interval(copy)
    if start == end:
        inside = left <= start < right or (is_last and start == right)
        return copy if inside else None
    if start >= right or end <= left:
        return None
    part = {"start_ns": max(start, left), "end_ns": min(end, right)}
    moved = None if copy["bytes"] is None else copy["bytes"] * (part["end_ns"] - part["start_ns"]) / (end - start)
    return copy | part | {"bytes": moved}


def copy_bandwidth_over_time(source, options):
    by, pieces = options.by("rank", "gpu"), []
    for process in source.traced():
        work = [interval(one) for one in process.valid("kernels") + process.valid("copies")]
        bins = equal_bins(min(work)[0], max(end for _, end in work), options.whole("bins", 50)) if work else []
        for copy in process.valid("copies"):
            for place, (left, right) in enumerate(bins):
                piece = piece_in(copy, left, right, place == len(bins) - 1)
                if piece:
                    pieces.append(keyed(process, piece) | {"bin": place, "left": left, "right": right})
    records = []
    for key, group in grouped(pieces, [*by, "direction", "bin"]).items():
        one_process = len({piece["process"] for piece in group}) == 1
        lengths = [lane[0]["right"] - lane[0]["left"] for lane in grouped(group, ["process", "gpu"]).values()]
        moved = total_bytes(group)
        record = dict(zip((*by, "direction", "bin"), key))
        record |= {"start_ns": group[0]["left"] if one_process else None, "end_ns": group[0]["right"] if one_process else None}
        record |= {"copies": len(group), "copies_without_size": len(group) - len(sized(group))}
        record |= {"bytes": None if moved is None else float(moved), "busy_ns": busy(group), "sized_busy_ns": busy(sized(group))}
        record |= {"gb_per_s": ratio(record["bytes"], record["sized_busy_ns"]), "busy_pct": percent(record["busy_ns"], sum(lengths))}
        records.append(record)
    return ordered(records, by, "direction", "bin")


def kind_of_call(call, classes):
    """What the name of a call says: `classes` are those of calls that do such work."""
    if call is None:
        return "unknown"
    if class_of(call["name"]) not in classes:
        return "other"
    return "asynchronous" if "async" in call["name"].lower() else "blocking"


def held(work, call):
    """Time of some work within the call that launched it, in which its thread can do nothing else."""
    return sum(right - left for left, right in cut([interval(work)], *interval(call))) if call else 0


def by_call(source, kind, classes, is_wanted):
    """Work of a kind with the call that launched it."""
    for process in source.traced():
        for one, work, call in launched(process):
            if one == kind and is_wanted(work):
                record = keyed(process, work) | {"api_name": call["name"] if call else None, "kind": kind_of_call(call, classes)}
                yield record | {"held": held(work, call), "returned_after": bool(call) and call["end_ns"] >= work["end_ns"]}


def copy_calls(source, options):
    by, records = options.by(), []
    copies = by_call(source, "copy", ("copy", "blocking_copy"), lambda copy: True)
    for key, group in grouped(copies, [*by, "direction", "api_name", "kind"]).items():
        time, after = sum(copy["duration_ns"] for copy in group), sum(copy["returned_after"] for copy in group)
        record = dict(zip((*by, "direction", "api_name", "kind"), key)) | {"copies": len(group), "total_bytes": total_bytes(group)}
        record |= {"copy_ns": time, "held_ns": sum(copy["held"] for copy in group)}
        record |= {"held_pct": percent(record["held_ns"], time), "returned_after": after}
        suspected = 2 * after > len(group) and record["held_ns"] > 0
        of_kind = {"blocking": "blocking", "asynchronous": "pageable memory suspected" if suspected else "asynchronous"}
        records.append(record | {"verdict": of_kind.get(record["kind"])})
    return ordered(records, by, "-copy_ns", "direction", "api_name")


def fill_summary(source, options):
    by, records = options.by(), []
    fills = by_call(source, "kernel", ("memset",), lambda kernel: kernel["kernel_name"].startswith("__amd_rocclr_fill"))
    for key, group in grouped(fills, [*by, "api_name", "kind"]).items():
        times, after = [fill["duration_ns"] for fill in group], sum(fill["returned_after"] for fill in group)
        record = dict(zip((*by, "api_name", "kind"), key)) | {"fills": len(group), "fill_ns": sum(times), "mean_ns": mean(times)}
        record |= {"max_ns": max(times), "held_ns": sum(fill["held"] for fill in group)}
        record |= {"held_pct": percent(record["held_ns"], sum(times)), "returned_after": after}
        blocks = record["kind"] == "blocking" or 2 * after > len(group)
        known = record["kind"] in ("blocking", "asynchronous")
        records.append(record | {"verdict": ("blocking" if blocks else "asynchronous") if known else None})
    return ordered(records, by, "-fill_ns", "api_name")


def peak(agent, detail, direction):
    """Highest bandwidth of the link of a copy in one direction, from what is recorded or listed of the GPU."""
    link = LINKS.get(agent["name"])
    if link is None:
        return None
    if direction in ("H2D", "D2H"):
        return link.get("host")
    if direction == "P2P":
        return link.get("peer")
    # A copy within a GPU reads and writes.
    bank = next(iter(detail.get("mem_banks", [])), {})
    recorded = bank.get("mem_clk_max") and bank.get("width")
    memory = bank["mem_clk_max"] * bank["width"] / 8 * link["transfers_per_clock"] / 1000 if recorded else link.get("memory")
    return memory / 2 if memory else None


def link_utilization(source, options):
    by, small, copies = options.by("rank", "gpu"), options.whole("small-bytes", 2**20), []
    for process in source.traced():
        agent_of = {process.raw.gpus[agent["id"]]: agent for agent in process.gpu_agents()}
        for copy in process.valid("copies"):
            if copy["direction"] in ("H2D", "D2H", "D2D", "P2P"):
                agent = agent_of.get(copy["gpu"], {"name": None})
                link = {"architecture": agent["name"], "peak": peak(agent, process.detail(agent), copy["direction"])}
                copies.append(keyed(process, copy) | link)
    records = []
    for key, every in grouped(copies, [*by, "direction", "architecture"]).items():
        group, highest = sized(every), {copy["peak"] for copy in every}
        time, running = sum(copy["duration_ns"] for copy in group), busy(group, ("process", "gpu", "peer_gpu", "direction"))
        record = dict(zip((*by, "direction", "architecture"), key)) | {"copies": len(group), "total_bytes": total_bytes(group)}
        record |= {"busy_ns": running, "gb_per_s": ratio(record["total_bytes"], running)}
        record["peak_gb_per_s"] = highest.pop() if len(highest) == 1 else None
        record["utilization_pct"] = percent(record["gb_per_s"], record["peak_gb_per_s"])
        record["small_pct"] = percent(sum(copy["duration_ns"] for copy in group if copy["bytes"] < small), time)
        records.append(record | {"copies_without_size": len(every) - len(group)})
    return ordered(records, by, "direction", "architecture")


@made("sizes", "two_nodes")
def odd_sizes(connection, number):
    """An empty copy, one at a power of two, one below it, one with a size that no memory has, and one without a length."""
    name = table(connection, "memory_copy")
    rows = [row for (row,) in connection.execute(f'SELECT id FROM "{name}" ORDER BY id')]
    for row, size in zip(rows, (0, 4096, 4095, -1)):
        connection.execute(f'UPDATE "{name}" SET size = ? WHERE id = ?', (size, row))
    connection.execute(f'UPDATE "{name}" SET "end" = "start" WHERE id = ?', (rows[4],))


COPIES = ("two_nodes", "sizes", "sampled")

QUERIES = {
    "copy_summary": Case(copy_summary, (*COPIES, "hostile"), ((), ("--by", "rank,gpu"), ("--by", "hostname,peer_gpu"))),
    "copy_size_histogram": Case(copy_size_histogram, COPIES, ((), ("--by", "rank,gpu")), more=(("sizes", ("--by", "rank,gpu")),)),
    "copy_bandwidth_over_time": Case(copy_bandwidth_over_time, COPIES, ((), ("--bins", "7", "--by", "process")), more=(("sizes", ("--bins", "3", "--by", "process")),)),
    "copy_calls": Case(copy_calls, COPIES, ((), ("--by", "rank,gpu"), ("--by", "stream_id"))),
    "fill_summary": Case(fill_summary, ("sampled",), ((), ("--by", "rank,gpu"))),
    "link_utilization": Case(link_utilization, (*COPIES, "hostile"), ((), ("--by", "gpu,peer_gpu"), ("--small-bytes", "4096", "--by", "hostname"))),
}
