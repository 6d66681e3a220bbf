"""Compares `compare` with sums that are worked out from the databases by small code of their own.

For each pair of inputs, per run: the span, busy and idle time of each GPU, the time and calls of each kernel and of each direction of
copies, all averaged over the GPUs; what must add up; and that swapped sides negate everything.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from pathlib import Path

from captures import open_processes, union_length, without_counter_passes
from common import Tally, database_files

EFFECTS = ("calls_effect_ns", "speed_effect_ns", "mix_effect_ns", "selection_effect_ns")


@cache
def side(source):
    """Means over the GPUs that worked: span, busy, kernels by name (calls, time), copies by direction."""
    gpus = {}
    processes = [process for file in database_files(source) for process in open_processes(file)]
    for number, process in enumerate(without_counter_passes(processes)):
        at = lambda gpu: gpus.setdefault((number, gpu), {"intervals": [], "kernels": {}, "copies": {}})
        for name, gpu, start, end in process.kernels():
            if gpu is not None:
                at(gpu)["intervals"].append((start, end))
                calls, total = at(gpu)["kernels"].get(name, (0, 0))
                at(gpu)["kernels"][name] = (calls + 1, total + end - start)
        for direction, gpu, peer, _, start, end in process.copies():
            for one in {gpu, peer} - {None}:
                at(one)["intervals"].append((start, end))
                at(one)["copies"][direction] = at(one)["copies"].get(direction, 0) + end - start
    mean = lambda values: Fraction(sum(values), max(len(gpus), 1))
    # The span of a GPU is that of its process.
    ends = {}
    for (number, _), gpu in gpus.items():
        ends.setdefault(number, []).extend(gpu["intervals"])
    spans = {number: max(end for _, end in all_of) - min(start for start, _ in all_of) for number, all_of in ends.items()}
    names = {name for gpu in gpus.values() for name in gpu["kernels"]}
    directions = {direction for gpu in gpus.values() for direction in gpu["copies"]}
    return {
        "gpus": len(gpus),
        "span": mean([spans[number] for number, _ in gpus]),
        "busy": mean([union_length(gpu["intervals"]) for gpu in gpus.values()]),
        "kernels": {
            name: tuple(mean([gpu["kernels"].get(name, (0, 0))[part] for gpu in gpus.values()]) for part in (0, 1))
            for name in names
        },
        "copies": {name: mean([gpu["copies"].get(name, 0) for gpu in gpus.values()]) for name in directions},
    }


def compared(binary, base, new):
    command = [binary, "compare", "-q", base, new, "-f", "json", "--basis", "run", "--path", "always"]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if run.returncode not in (0, 5):
        raise SystemExit(f"{command}: {run.stderr}")
    return json.loads(run.stdout)


def near(found, expected):
    """Whole nanoseconds; means of means may be rounded twice."""
    return abs(found - expected) <= 2


def check(tally, comparison, swapped, base, new):
    expected = {"base": side(base), "new": side(new)}
    label = lambda what: f"{base} {new}: {what}"
    totals = {row["metric"]: row for row in comparison["totals"]}
    parts = {row["part"]: row for row in comparison["decomposition"] if row["gpu"] is None}
    waits = parts.get("comm_wait", {"base_ns": 0, "new_ns": 0})
    for name, of in expected.items():
        tally.check(label("gpus"), None if comparison[name]["gpus"] == of["gpus"] else comparison[name]["gpus"])
        for metric, value in (("span", of["span"]), ("busy", of["busy"]), ("idle", of["span"] - of["busy"])):
            found = totals.get(metric, {"base_ns": 0, "new_ns": 0})[f"{name}_ns"]
            tally.check(label(f"{name} {metric}"), None if near(found, value) else f"{found} for {float(value)}")
        kernels = {row[f"{name}_name"]: row for row in comparison["kernels"] if row[f"{name}_name"] is not None}
        tally.check(label(f"{name} kernels"), None if set(kernels) == set(of["kernels"]) else sorted(set(kernels) ^ set(of["kernels"])))
        comm = 0
        for kernel, (calls, total) in of["kernels"].items():
            row = kernels.get(kernel)
            if row is None:
                continue
            is_close = abs(row[f"{name}_calls"] - float(calls)) <= 1e-9 * max(1, float(calls))
            tally.check(label(f"{name} calls of {kernel[:40]}"), None if is_close else row[f"{name}_calls"])
            if row["category"] == "communication":
                comm += total - row[f"{name}_total_ns"]
                continue
            found = row[f"{name}_total_ns"]
            tally.check(label(f"{name} time of {kernel[:40]}"), None if near(found, total) else f"{found} for {float(total)}")
        tally.check(label(f"{name} waits"), None if abs(waits[f"{name}_ns"] - comm) <= 2 + len(kernels) else f"{waits} for {float(comm)}")
        for direction, value in of["copies"].items():
            found = parts.get(f"copies_{direction}", {"base_ns": 0, "new_ns": 0})[f"{name}_ns"]
            tally.check(label(f"{name} copies {direction}"), None if near(found, value) else f"{found} for {float(value)}")
        if of["gpus"] == comparison[name]["ranks"]:
            path = sum(row[f"{name}_ns"] for row in comparison["path"])
            is_close = not comparison["path"] or near(path, of["span"])
            tally.check(label(f"{name} path"), None if is_close else f"{path} for {float(of['span'])}")
    for parent in comparison["decomposition"]:
        children = [row for row in comparison["decomposition"] if (row["gpu"], row["parent"]) == (parent["gpu"], parent["part"])]
        for column in ("base_ns", "new_ns", "delta_ns") if children else ():
            total = sum(row[column] for row in children)
            tally.check(label(f"{parent['part']} {column}"), None if total == parent[column] else f"{parent[column]} for {total}")
    for row in comparison["kernels"]:
        if row["calls_effect_ns"] is not None:
            total = sum(row[effect] for effect in EFFECTS)
            tally.check(label(f"effects of {row['key'][:40]}"), None if total == row["delta_ns"] else f"{row['delta_ns']} for {total}")
    others = {(row["new_name"], row["base_name"]): row for row in swapped["kernels"]}
    for row in comparison["kernels"]:
        other = others.get((row["base_name"], row["new_name"]))
        problem = None if other and all((row[column] or 0) == -(other[column] or 0) for column in ("delta_ns", *EFFECTS)) else other
        tally.check(label(f"swapped {row['key'][:40]}"), problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, nargs="+", required=True, help="databases and directories; all pairs are compared")
    arguments = parser.parse_args()
    tally = Tally()
    pairs = list(itertools.permutations(arguments.inputs, 2))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        comparisons = dict(zip(pairs, pool.map(lambda pair: compared(arguments.binary, *pair), pairs)))
    for base, new in itertools.combinations(arguments.inputs, 2):
        check(tally, comparisons[base, new], comparisons[new, base], base, new)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
