"""Matrix products that libraries name in ranges and marks."""

import math
import re

from .case import Case
from .devices import Device, recorded_in_database
from .launching import launching_calls
from .sums import first_of_each, grouped, median, ordered, percent, ratio

SHAPE = ("library", "m", "n", "k", "batch", "problems", "transposed", "type", "compute_type", "solution_index")
# Peaks of matrix units by the beginning of the type of A.
PEAKS = (("f64", "fp64"), ("f32", "fp32"), ("f16", "fp16"), ("bf16", "bf16"))


def problem_of(text):
    """The product that a line of hipblaslt-bench or rocblas-bench describes, nothing for other texts."""
    program = re.match(r"\S*(hipblaslt|rocblas)-bench ", text or "")
    if not program:
        return None
    options = dict(re.findall(r"--?(\w+) (\S+)", text))
    if not {"m", "n", "k"} <= options.keys():
        return None
    m, n, k, batch = (int(options.get(name, 1)) for name in ("m", "n", "k", "batch_count"))
    transposed = "".join(options.get(f"trans{side}", options.get(f"transpose{side}", "?")) for side in "AB")
    types = " ".join(options.get(f"{operand}_type", "?") for operand in "abd")
    solution = options.get("solution_index")
    facts = {"library": program[1], "m": m, "n": n, "k": k, "batch": batch, "problems": 1, "transposed": transposed, "type": types}
    facts |= {"compute_type": options.get("compute_type"), "solution_index": None if solution is None else int(solution)}
    return facts | {"flop": 2 * m * n * k * batch}


def innermost(ranges, call):
    """Ranges of the thread of a call that were open when it started, the innermost first."""
    around = [one for one in ranges if one["tid"] == call["tid"] and one["start_ns"] <= call["start_ns"] < one["end_ns"]]
    return sorted(around, key=lambda one: -one["start_ns"])


def product_of(kernel, call, ranges, marks):
    """The line that a kernel belongs to: that of its range or of the one around, otherwise of the last mark of its thread."""
    for one in innermost(ranges, call)[:2]:
        if problem_of(one["message"]):
            return ("range", one["region_id"], one["message"])
    before = [mark for mark in marks if mark["tid"] == call["tid"] and mark["time_ns"] <= call["start_ns"]]
    if before and kernel["category"] == "gemm":
        last = max(before, key=lambda mark: mark["time_ns"])
        return ("mark", last["mark_id"], last["message"])
    return None


def peak_of(process, kernel, kind):
    """The peak of matrix units for a type in TFLOP/s."""
    agent = process.agents.get(kernel["agent_id"])
    if agent is None:
        return None
    figures = Device(recorded_in_database(agent, process.detail(agent))).figures
    name = next((name for prefix, name in PEAKS if kind.startswith(prefix)), None)
    value = figures.get(f"peak_matrix_{name}_gflops", (None,))[0]
    return None if value is None else value / 1000


def solved(source, by):
    """(labels, facts, kernels) of every call of a library with kernels, by GPU."""
    found = {}
    for process in source.traced():
        calls = launching_calls(process)
        ranges = [one for one in process.valid("regions") if one["domain"] == "marker"]
        marks = [mark for mark in process.marks if mark["domain"] == "marker" and problem_of(mark["message"])]
        for kernel in process.valid("kernels"):
            call = calls.get(kernel["correlation_id"])
            owner = call and product_of(kernel, call, ranges, marks)
            if owner:
                peak = peak_of(process, kernel, problem_of(owner[2])["type"])
                facts = problem_of(owner[2]) | {column: kernel[column] for column in by} | {"peak": peak}
                found.setdefault((process.number, kernel["gpu"], *owner), (facts, []))[1].append(kernel)
    return [facts | {"kernels": len(kernels), "total_ns": sum(one["duration_ns"] for one in kernels)} for facts, kernels in found.values()]


def gemm_shapes(source, options):
    by, records = options.by(), []
    for key, group in grouped(solved(source, by), [*by, *SHAPE]).items():
        add = lambda column: sum(call[column] for call in group)
        peaks = {call["peak"] for call in group}
        record = dict(zip([*by, *SHAPE], key)) | {"calls": len(group), "kernels": add("kernels"), "total_ns": add("total_ns")}
        record |= {"mean_ns": add("total_ns") / len(group), "tflop_per_s": ratio(add("flop") / 1000, add("total_ns"))}
        record |= {"peak_tflop_per_s": peaks.pop() if len(peaks) == 1 else None}
        record |= {"pct_of_peak": percent(record["tflop_per_s"], record["peak_tflop_per_s"])}
        records.append(record | {"magnitude": math.floor(math.log2(add("flop") / len(group)) / 2)})
    for group in grouped(records, [*by, "type", "magnitude"]).values():
        usual = median(record["tflop_per_s"] for record in group) if len(group) > 1 else None
        for record in group:
            record |= {"similar_tflop_per_s": usual}
            record["vs_similar_pct"] = None if usual is None else percent(record["tflop_per_s"] - usual, usual)
            del record["magnitude"]
    return first_of_each(ordered(records, by, "-total_ns", *SHAPE), by, options.whole("top", 0))


QUERIES = {
    "gemm_shapes": Case(
        gemm_shapes,
        ("sampled", "products", "products_twice"),
        ((), ("--by", "gpu"), ("--by", "hostname", "--top", 2)),
    )
}
