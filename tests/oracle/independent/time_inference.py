"""Steps of LLM servers that mark them with ranges."""

import functools
import re
import tomllib

from common import REPOSITORY

from . import names
from .case import Case
from .kernel_graphs import launches_graphs
from .launching import launching_calls
from .sums import covered, grouped, mean, median, ordered, percent, quantile

COUNTS = ("prefill_requests", "prefill_tokens", "decode_requests", "decode_tokens")


@functools.cache
def markers():
    """Texts of ranges that servers write, as share/inference.toml quotes them from their sources, and kernels with a workgroup a token."""
    document = tomllib.loads((REPOSITORY / "share" / "inference.toml").read_text())
    found = [(re.compile(marker["regex"].replace("(?<", "(?P<")), marker) for marker in document["marker"]]
    return found, document["sizes"]["grid_is_tokens"]


def marker_of(text):
    """The counts and the kind that a text states, nothing for other texts."""
    for regex, marker in markers()[0]:
        match = regex.match(text or "")
        if match:
            counts = {name: int(value) for name, value in match.groupdict().items()}
            if marker.get("one_token"):
                counts["decode_tokens"] = counts["decode_requests"]
            return counts, marker.get("kind")
    return None


def step_ranges(process):
    """Outermost ranges of steps, in order."""
    own = [r for r in process.valid("regions") if r["domain"] == "marker" and r["name"] != "roctxProcessRangeA" and marker_of(r["message"])]
    inside = lambda one, other: one is not other and one["tid"] == other["tid"] and other["start_ns"] <= one["start_ns"] < other["end_ns"]
    return sorted((one for one in own if not any(inside(one, other) for other in own)), key=lambda one: one["start_ns"])


def kind_of(counts, kind):
    if kind:
        return kind
    prefill, decode = (counts.get(f"{name}_requests", 0) for name in ("prefill", "decode"))
    return "mixed" if prefill and decode else "prefill" if prefill else "decode" if decode else "other"


def workgroups(kernel):
    total = 1
    for axis in "xyz":
        total *= -(-kernel[f"grid_{axis}"] // kernel[f"workgroup_{axis}"])
    return total


def steps_of(process):
    """Rows of the table `inference_steps` of a process with markers."""
    calls, found = launching_calls(process), []
    works = process.valid("kernels") + process.valid("copies")
    for step in step_ranges(process):
        within = lambda call: call and call["tid"] == step["tid"] and step["start_ns"] <= call["start_ns"] < step["end_ns"]
        own = [work for work in works if within(calls.get(work["correlation_id"]))]
        if own:
            found.append((step, own))
    found.sort(key=lambda item: (min(work["start_ns"] for work in item[1]), item[0]["region_id"]))
    rows, reached = [], None
    for number, (step, own) in enumerate(found):
        counts, kind = marker_of(step["message"])
        kernels = [work for work in own if "dispatch_id" in work]
        start, end = min(work["start_ns"] for work in own), max(work["end_ns"] for work in own)
        of_gpu = grouped([work for work in own if work["gpu"] is not None], ["gpu"]).values()
        graphs = [kernel for kernel in kernels if launches_graphs(calls[kernel["correlation_id"]])]
        tokens = [workgroups(kernel) for kernel in kernels if kernel["base_name"] in markers()[1]]
        row = {"rank": process.rank, "process": process.number, "node": process.node, "hostname": process.hostname}
        row |= {"step": number, "kind": kind_of(counts, kind), "known_by": "marker"}
        row |= {name: counts.get(name) for name in COUNTS} | {"grid_tokens": max(tokens, default=None)}
        row |= {"start_ns": start, "duration_ns": end - start, "gap_before_ns": None if reached is None else max(0, start - reached)}
        busy = sum(covered([(work["start_ns"], work["end_ns"]) for work in group]) for group in of_gpu)
        row |= {"busy_ns": busy, "busy_pct": percent(busy, (end - start) * len(of_gpu)), "kernels": len(kernels)}
        row |= {"graph_launches": len({kernel["correlation_id"] for kernel in graphs}), "graph_kernels": len(graphs)}
        for role in ("prefill_attention", "decode_attention", "shared_attention"):
            times = [one["duration_ns"] for one in kernels if names.category(one["kernel_name"], "inference_kernels") == role]
            row |= {role: len(times), f"{role}_ns": sum(times)}
        row |= {"marker": step["message"], "gpus": len(of_gpu), "kernel_ns": sum(kernel["duration_ns"] for kernel in kernels)}
        rows.append(row)
        reached = end if reached is None else max(reached, end)
    return rows


def inference_steps(source, options):
    rows = ordered([row for process in source.traced() for row in steps_of(process)], (), "rank", "process", "step")
    left_out = ("node", "hostname", "gpus", "kernel_ns")
    return [{name: value for name, value in row.items() if name not in left_out} | {"evidence": None} for row in rows]


def inference_summary(source, options):
    by, records = options.by("rank"), []
    rows = [row for process in source.traced() for row in steps_of(process)]
    totals = {key: sum(row["duration_ns"] for row in group) for key, group in grouped(rows, list(by)).items()}
    for key, group in grouped(rows, [*by, "kind"]).items():
        times = [row["duration_ns"] for row in group]
        add = lambda *columns, of=group: sum(row[column] or 0 for row in of for column in columns)
        told = [row for row in group if None not in (row["prefill_tokens"], row["decode_tokens"])]
        tokens = add("prefill_tokens", "decode_tokens", of=told)
        length = add("duration_ns", of=told)
        record = dict(zip([*by, "kind"], key)) | {"steps": len(group), "total_ns": sum(times)}
        record |= {"share_pct": percent(sum(times), totals[key[: len(by)]]), "mean_ns": mean(times), "p50_ns": median(times)}
        record |= {"p99_ns": quantile(times, 0.99), "max_ns": max(times), "gap_ns": add("gap_before_ns")}
        record |= {"busy_pct": percent(add("busy_ns"), sum(row["duration_ns"] * row["gpus"] for row in group)), "kernels": add("kernels")}
        record |= {"graph_kernel_pct": percent(add("graph_kernels"), add("kernels"))}
        attention = add("prefill_attention_ns", "decode_attention_ns", "shared_attention_ns")
        record |= {"attention_pct": percent(attention, add("kernel_ns")), "with_tokens": len(told)}
        for name in ("prefill_requests", "decode_requests", "prefill_tokens", "decode_tokens"):
            known = [row[name] for row in group if row[name] is not None]
            record[name] = sum(known) if known else None
        rate = lambda time: 1e9 * tokens / time if told and time else None
        record |= {"tokens_per_s": rate(length), "tokens_per_s_with_gaps": rate(length + add("gap_before_ns", of=told))}
        records.append(record)
    return ordered(records, by, "kind")


QUERIES = {
    "inference_steps": Case(inference_steps, ("sampled",), unchecked={"evidence": "its words are free"}),
    "inference_summary": Case(inference_summary, ("sampled",), ((), ("--by", "hostname"))),
}
