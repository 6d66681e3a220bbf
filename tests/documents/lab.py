#!/usr/bin/env python3
"""Validates the documents of `lab profile` by the published schema, and computes their numbers again with sqlite3.

A profile of a program that does nothing, under the profiler of the tests, which writes databases of a list of kernels.
"""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

KERNELS = """kernel 'void gemm<float>(float*)' 40 100000 3
kernel axpy 20 10000 3
kernel __amd_rocclr_fillBufferAligned 10 2000000 3
"""
PARTS = {"profile": "profile", "roofline": "roofline_document", "dag": "dag", "analysis": "analysis"}
KERNEL = "void gemm<float>(float*)"


def part(schema, name):
    return {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{name}"}


def problems(schema, document):
    for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
        yield f"{'/'.join(map(str, error.path))}: {error.message[:200]}"


def strict(schema):
    """The schema with no room for keys that it does not name, where it names any."""
    if isinstance(schema, dict):
        is_closed = schema.get("additionalProperties") is True and "properties" in schema
        return {key: False if is_closed and key == "additionalProperties" else strict(value) for key, value in schema.items()}
    return [strict(one) for one in schema] if isinstance(schema, list) else schema


def durations(database):
    """Durations by kernel, from the tables themselves."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = lambda start: next(name for name in names if name.startswith(start))
        dispatches, symbols = table("rocpd_kernel_dispatch"), table("rocpd_info_kernel_symbol")
        rows = connection.execute(
            f"SELECT s.display_name, d.end - d.start FROM {dispatches} d JOIN {symbols} s ON s.id = d.kernel_id"
        )
        found = {}
        for name, duration in rows:
            found.setdefault(name, []).append(duration)
        return found


def wrong(found, expected, what):
    if abs(found - expected) > 1e-9 * max(abs(expected), 1e-9):
        yield f"{what}: {found}, computed again {expected}"


def numbers(folder, profile, dag):
    """What the documents have, and the databases do not."""
    runs = [durations(trace) for run in profile["runs"] for trace in run["traces"]]
    totals = [sum(run[KERNEL]) for run in runs]
    for run, total in zip(profile["runs"], totals):
        yield from wrong(run["total_ns"], total, "total of a run")
    yield from wrong(profile["runtime_ms"], statistics.median(totals) / 1e6, "median")
    stability = profile["stability"]
    yield from wrong(stability["mean_ms"], statistics.mean(totals) / 1e6, "mean")
    yield from wrong(stability["stddev_ms"], statistics.stdev(totals) / 1e6, "standard deviation")
    yield from wrong(stability["cv"], statistics.stdev(totals) / statistics.mean(totals), "cv")
    yield from wrong(profile["times"]["longest_dispatch_ns"], max(max(run[KERNEL]) for run in runs), "longest dispatch")
    everything = sum(sum(sum(values) for values in run.values()) for run in runs)
    yield from wrong(profile["times"]["share_of_kernel_time"], sum(totals) / everything, "share")
    (timeline,) = (folder / "traces/timeline").glob("*.db")
    path = dag["critical_path"]
    # Kernels run one after the other: all of their time is on the path.
    yield from wrong(path["symbol_fractions"][KERNEL], sum(durations(timeline)[KERNEL]) / path["critical_path_ns"], "path")
    if sum(node["duration_ns"] for node in dag["nodes"]) != path["critical_path_ns"]:
        yield "the parts of the path do not add up to it"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    binary = Path(options.binary).resolve()
    schema = json.loads(subprocess.run([binary, "schema", "lab-profile"], capture_output=True, check=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    failed = []
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "bin").mkdir()
        (folder / "bin/rocprofv3").symlink_to(binary.parent / "examples/fake_rocprofv3")
        (folder / "kernels.txt").write_text(KERNELS)
        (folder / "bin/fake_rocprofv3.env").write_text(f"FAKE_ROCPROFV3_KERNELS={folder}/kernels.txt\n")
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "TMPDIR": directory}
        for number, flags in enumerate(([], ["--counters", "--att"], ["--counters", "--att", "--compat"])):
            output = folder / f"out{number}"
            command = [binary, "lab", "profile", "--runs", "7", "--quiet", *flags, "-o", output, "--", "true"]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            documents = {name: json.loads((output / f"{name}.json").read_text()) for name in PARTS}
            for name, document in documents.items():
                failed += [f"{flags} {name}: {problem}" for problem in problems(part(schema, PARTS[name]), document)]
                failed += [f"{flags} {name}: {problem}" for problem in problems(part(strict(schema), PARTS[name]), document)]
            failed += [f"{flags}: {problem}" for problem in problems(schema, documents)]
            if "--compat" not in flags:
                failed += [f"{flags}: {problem}" for problem in numbers(output, documents["profile"], documents["dag"])]
    # A document that rocm-perf-lab promises is valid, and an empty document is not.
    minimal = {
        "schema_version": "1.0",
        "kernel": {"name": "k", "grid": [1, 1, 1], "block": [64, 1, 1]},
        "gpu": {"architecture": "gfx942", "wave_size": 64, "compute_units": 304},
        "runtime_ms": 1.0,
        "stability": {"runs": 3, "mean_ms": 1.0, "stddev_ms": 0.01, "cv": 0.01, "classification": "stable"},
        "resources": {"vgpr_per_thread": 32, "sgpr_per_wave": 16, "lds_bytes": 0},
        "occupancy": {"theoretical": 1.0, "threads_per_block": 64, "wave_size": 64},
    }
    failed += [f"a minimal profile: {problem}" for problem in problems(part(schema, "profile"), minimal)]
    if not list(problems(part(schema, "profile"), {"schema_version": "1.0"})):
        failed.append("a profile of nothing but a version is not refused")
    for problem in failed[:30]:
        print(problem, file=sys.stderr)
    print(f"lab profile: {len(failed)} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
