"""The lines at the top of an analysis, worked out anew from rocprofv3 JSON as it was recorded: the span, and what the GPU did in it, of
the steady iterations that `table run_parts` names by the starts and lengths in `table iterations`, and of the whole run. For
documents of one process with one GPU."""

import argparse
import gzip
import json
import subprocess
import sys


def ask(binary, *words):
    return json.loads(subprocess.run([binary, *words, "-f", "json"], check=True, capture_output=True).stdout)


def union_ns(times):
    """How long at least one of the intervals lasts."""
    total, end = 0, None
    for start, stop in sorted(times):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


def activities(path):
    """Kernels that compute, those that communicate, and copies, as intervals."""
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        tools = json.load(file)["rocprofiler-sdk-tool"]
    assert len(tools) == 1, f"{path} has {len(tools)} processes"
    names = {
        symbol["kernel_id"]: (symbol.get("formatted_kernel_name") or symbol["kernel_name"]).lower()
        for symbol in tools[0]["kernel_symbols"]
    }
    kinds = {"compute": [], "comm": [], "copy": []}
    records = tools[0]["buffer_records"]
    for record in records.get("kernel_dispatch", []):
        name = names[record["dispatch_info"]["kernel_id"]]
        kind = "comm" if "nccl" in name or "rccl" in name else "compute"
        kinds[kind].append((record["start_timestamp"], record["end_timestamp"]))
    for record in records.get("memory_copy", []):
        kinds["copy"].append((record["start_timestamp"], record["end_timestamp"]))
    return kinds


def expected(kinds, from_ns, to_ns):
    cut = {
        kind: [(max(start, from_ns), min(end, to_ns)) for start, end in times if end > from_ns and start < to_ns]
        for kind, times in kinds.items()
    }
    everything = [time for times in cut.values() for time in times]
    span = max(end for _, end in everything) - min(start for start, _ in everything)
    busy, compute = union_ns(everything), union_ns(cut["compute"])
    kernels = union_ns(cut["compute"] + cut["comm"])
    shares = {
        "busy_pct": busy,
        "compute_pct": compute,
        "exposed_comm_pct": kernels - compute,
        "exposed_copy_pct": busy - kernels,
        "idle_pct": span - busy,
    }
    return span, {name: 100 * part / span for name, part in shares.items()}


def check(binary, path):
    kinds = activities(path)
    parts = [part for part in ask(binary, "table", "run_parts", path) if part["kind"] == "steady"]
    iterations = ask(binary, "table", "iterations", path, "--rows", "0")
    views = {view["id"]: view for view in ask(binary, "analyze", path, "-q")["views"]}
    ends = {"whole_run": (0, 1 << 62)}
    for part in parts:
        first, last = (iterations[part[f"{which}_iteration"]] for which in ("first", "last"))
        ends["steady"] = (first["start_ns"], last["start_ns"] + last["duration_ns"])
    if views.keys() != ends.keys():
        yield f"{path}: the views are {sorted(views)} instead of {sorted(ends)}"
        return
    for name, (from_ns, to_ns) in ends.items():
        span, shares = expected(kinds, from_ns, to_ns)
        if views[name]["span_ns"] != span:
            yield f"{path}: the span of {name} is {views[name]['span_ns']} instead of {span}"
        for share, pct in shares.items():
            if abs(views[name]["shares"][share] - pct) > 1e-8:
                yield f"{path}: {share} of {name} is {views[name]['shares'][share]} instead of {pct}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", nargs="+", required=True)
    arguments = parser.parse_args()
    problems = [problem for path in arguments.inputs for problem in check(arguments.binary, path)]
    print("\n".join([*problems, f"views: {len(arguments.inputs)} documents, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
