#!/usr/bin/env python3
"""Measures wavesieve beside the pandas baseline over one generated rocpd database.

  benches/ingest.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --baseline ../shared/tools/baseline_rocpd.py --python VENV/bin/python --runs 3 \\
      --dispatches 1000000 --regions 2000000 --output benches/results/NAME.json

--python needs pandas and pyarrow; this script needs the standard library only. --data DIR is where the trace is
generated, unless it is there already. --budget SECONDS starts no further round once that much time has passed.
Whole processes are measured, interleaved (A B A B) after one warm-up round: wall seconds and peak resident memory.
A Markdown table of the medians is written beside the JSON, under the same name.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

KERNEL_SQL = """SELECT COUNT(*) AS n, SUM(duration_ns) AS a, MIN(start_ns) AS b, MAX(end_ns) AS c, SUM(queue_id) AS d,
SUM(stream_id) AS e, SUM(tid) AS f, MAX(correlation_id) AS g, SUM(grid_x) AS h, SUM(workgroup_x) AS i,
SUM(lds_bytes) AS j FROM kernels"""
BULK = re.compile(r"rocpd_(kernel_dispatch|region|memory_copy|memory_allocate|event|sample|arg|pmc_event)_?[0-9a-f]{8}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--baseline", default="../shared/tools/baseline_rocpd.py")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--dispatches", type=int, default=1_000_000)
    parser.add_argument("--regions", type=int, default=2_000_000)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "bench")
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--output", type=pathlib.Path, required=True)
    return parser.parse_args()


def generate(args):
    """The database, generated if absent."""
    found = sorted(args.data.rglob("*.db"))
    if not found:
        args.data.mkdir(parents=True, exist_ok=True)
        command = [args.generator, "--dispatches", str(args.dispatches), "--regions", str(args.regions)]
        subprocess.run([*command, "-o", str(args.data)], check=True, stdout=subprocess.DEVNULL)
        found = sorted(args.data.rglob("*.db"))
    if len(found) != 1:
        sys.exit(f"expected one database in {args.data}, found {len(found)}")
    return found[0]


def row_counts(database):
    """Rows of the activity and event tables."""
    counts = {}
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            if match := BULK.match(name):
                (count,) = connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()
                counts[match.group(1)] = counts.get(match.group(1), 0) + count
    return counts


def measure(command, scratch):
    """Wall seconds, CPU seconds and peak resident megabytes of one process. Output goes to files."""
    with open(scratch / "stdout", "wb") as out, open(scratch / "stderr", "wb") as err:
        began = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command} failed: {(scratch / 'stderr').read_text()[-2000:]}")
    return {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "load_1m": os.getloadavg()[0],
    }


def first_line(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def machine(args):
    info = pathlib.Path("/proc/cpuinfo").read_text()
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    model = re.search(r"model name\s*:\s*(.+)", info)
    peers = "import platform, pandas, pyarrow, sqlite3; " \
        "print(platform.python_version(), pandas.__version__, pyarrow.__version__, sqlite3.sqlite_version)"
    python, pandas, pyarrow, sqlite = first_line([args.python, "-c", peers]).split()
    return {
        "cpu": model.group(1) if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory.group(1)) / 2**20, 1) if memory else None,
        "kernel": platform.release(),
        "wavesieve": first_line([args.binary, "--version"]),
        "python": python, "pandas": pandas, "pyarrow": pyarrow, "sqlite_of_python": sqlite,
    }


def main():
    args = arguments()
    began = time.monotonic()
    database = generate(args)
    counts = row_counts(database)
    kernels, everything = counts["kernel_dispatch"], sum(counts.values())
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ingest-"))
    dataset, peer_dataset = scratch / "dataset", scratch / "peer"
    own, peer, db = [args.binary, "--quiet"], [args.python, args.baseline], str(database)
    # name, rows, name of the peers, command; the order is the order of measuring.
    cases = [
        ("convert", everything, ["baseline convert"], [*own, "convert", db, "-o", str(dataset), "--overwrite"]),
        ("baseline convert", everything, [], [*peer, "convert", db, str(peer_dataset)]),
        ("kernel_summary", kernels, ["baseline view", "baseline summary"],
         [*own, "table", "kernel_summary", db, "-f", "csv"]),
        ("baseline view", kernels, [], [*peer, "view", db]),
        ("kernel_summary of dataset", kernels, [], [*own, "table", "kernel_summary", str(dataset), "-f", "csv"]),
        ("baseline summary", kernels, [], [*peer, "summary", db]),
        ("time_breakdown", kernels, [], [*own, "table", "time_breakdown", db, "-f", "csv"]),
        ("sql over 10 kernel columns", kernels, [], [*own, "sql", KERNEL_SQL, db, "-f", "csv"]),
    ]
    samples = {name: [] for name, *_ in cases}
    warm_up = {}
    try:
        for run in range(args.runs + 1):
            if run > 1 and time.monotonic() - began > args.budget:
                break
            for name, _, _, command in cases:
                sample = measure(command, scratch)
                print(f"{run} {name}: {sample['seconds']:.2f} s, {sample['peak_mb']:.0f} MB", file=sys.stderr, flush=True)
                if run == 0:
                    warm_up[name] = sample
                else:
                    samples[name].append(sample)
            report(args, cases, samples if run else {n: [s] for n, s in warm_up.items()}, warm_up, counts,
                   database.stat().st_size, run)
    finally:
        shutil.rmtree(scratch)


def report(args, cases, samples, warm_up, counts, size, runs):
    """Written after every round, so that an interrupted benchmark leaves what it has."""
    median = {
        name: {key: statistics.median(sample[key] for sample in taken) for key in taken[0]}
        for name, taken in samples.items()
    }
    results = []
    for name, rows, peers, _ in cases:
        m = median[name]
        results.append({
            "name": name, "rows": rows, **m, "rows_per_second": rows / m["seconds"],
            "times_faster_than": {p: median[p]["seconds"] / m["seconds"] for p in peers},
            "memory_relative_to": {p: m["peak_mb"] / median[p]["peak_mb"] for p in peers},
            "runs": samples[name], "warm_up": warm_up[name],
        })
    described = machine(args)
    document = {"machine": described, "measured_runs": runs, "rows": counts, "database_bytes": size, "results": results}
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(document, indent=2) + "\n")
    note = f"Medians of {runs} interleaved run(s) after a warm-up." if runs else "The warm-up round only: one run each."
    loads = [sample["load_1m"] for taken in samples.values() for sample in taken]
    lines = [
        f"# Ingest, {args.output.stem}", "",
        f"{note} Load average during the runs: {min(loads):.1f} to {max(loads):.1f}.", "",
        f"Machine: {described['cpu']}, {described['cores']} cores, {described['memory_gib']} GiB, Linux "
        f"{described['kernel']}; {described['wavesieve']}, Python {described['python']}, pandas {described['pandas']}, "
        f"pyarrow {described['pyarrow']}, SQLite {described['sqlite_of_python']} (baseline).", "",
        f"Database: {size / 1e6:.0f} MB, " + ", ".join(f"{v} {k}" for k, v in sorted(counts.items())) + ".", "",
        "| case | rows | wall s | CPU s | rows/s | peak MB | times faster than | memory relative to |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for r in results:
        faster = ", ".join(f"{p}: {v:.2f}" for p, v in r["times_faster_than"].items())
        memory = ", ".join(f"{p}: {v:.2f}" for p, v in r["memory_relative_to"].items())
        lines.append(f"| {r['name']} | {r['rows']} | {r['seconds']:.2f} | {r['cpu_seconds']:.2f} | "
                     f"{r['rows_per_second']:.0f} | {r['peak_mb']:.0f} | {faster} | {memory} |")
    args.output.with_suffix(".md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
