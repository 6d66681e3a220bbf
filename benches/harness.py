"""What the benchmarks share: measuring whole processes, describing the machine, reporting medians.

A case is (name, rows, names of the peers, commands). The commands of a case run one after another: times add up and the
largest process counts for memory. A case that fails is reported with its error and not run again.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PEER_VERSIONS = "import platform, pandas, pyarrow, sqlite3; " \
    "print(platform.python_version(), pandas.__version__, pyarrow.__version__, sqlite3.sqlite_version)"


def generating_parser(description, data, runs):
    """The options of a benchmark whose inputs are generated, in a directory `data` of the temporary one by default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / data)
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--output", type=pathlib.Path, required=True)
    return parser


class Failed(Exception):
    """A command that could not be measured."""


def evict(paths):
    """Drops the pages of files (and of all files below directories) from the cache of the system."""
    for path in map(pathlib.Path, paths):
        for file in [path] if path.is_file() else sorted(found for found in path.rglob("*") if found.is_file()):
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


class AnonymousMemory(threading.Thread):
    """Watches how much memory of a process is not that of mapped files."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.status = pathlib.Path(f"/proc/{pid}/status")
        self.peak_mb = 0.0
        self.ended = threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.01):
            try:
                found = re.search(r"RssAnon:\s+(\d+)", self.status.read_text())
            except OSError:
                return
            if found:
                self.peak_mb = max(self.peak_mb, int(found.group(1)) / 1024)

    def finish(self):
        self.ended.set()
        self.join()
        return self.peak_mb


def measure(command, scratch, timeout=float("inf")):
    """Wall, CPU and user seconds, peak resident and peak anonymous megabytes of one process. Output goes to files.

    The anonymous peak is sampled a hundred times a second.
    """
    with open(scratch / "stdout", "wb") as out, open(scratch / "stderr", "wb") as err:
        began = time.monotonic()
        try:
            child = subprocess.Popen(command, stdout=out, stderr=err)
        except OSError as error:
            raise Failed(f"{command[0]}: {error}") from error
        timer = threading.Timer(timeout, child.kill) if timeout < float("inf") else None
        if timer:
            timer.start()
        anonymous = AnonymousMemory(child.pid)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        anonymous_mb = anonymous.finish()
        if timer:
            timer.cancel()
    if child.returncode != 0:
        said = (scratch / "stderr").read_text(errors="replace").strip()[-2000:]
        reason = f"ended after {timeout} s" if seconds >= timeout else f"exit code {child.returncode}"
        raise Failed(f"{' '.join(map(str, command))}: {reason}: {said}")
    return {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "user_seconds": usage.ru_utime,
        "peak_mb": usage.ru_maxrss / 1024,
        "anonymous_mb": anonymous_mb,
        "load_1m": os.getloadavg()[0],
    }


def measure_all(commands, scratch, timeout=float("inf")):
    """One sample of all commands of a case; with more than one, also each on its own."""
    parts = [measure(command, scratch, timeout) for command in commands]
    if len(parts) == 1:
        return parts[0]
    sample = {key: sum(part[key] for part in parts) for key in ("seconds", "cpu_seconds", "user_seconds")}
    peaks = {key: max(part[key] for part in parts) for key in ("peak_mb", "anonymous_mb")}
    return {**sample, **peaks, "load_1m": parts[-1]["load_1m"], "parts": parts}


def run_rounds(cases, runs, scratch, report, budget=float("inf"), timeout=float("inf"), fewer=None, cold=None):
    """A warm-up round and `runs` measured ones, interleaved; `report(samples, warm_up, failures, runs)` after each.

    `fewer` names cases that take part in so many measured rounds only and in no warm-up, as slow peers may. `cold` names
    cases before which the given files are dropped from the cache.
    """
    fewer, cold = fewer or {}, cold or {}
    began = time.monotonic()
    samples = {name: [] for name, *_ in cases}
    warm_up, failures = {}, {}
    for run in range(runs + 1):
        if run > 1 and time.monotonic() - began > budget:
            break
        for name, _, _, commands in cases:
            if name in failures or (name in fewer and not 1 <= run <= fewer[name]):
                continue
            try:
                evict(cold.get(name, []))
                sample = measure_all(commands, scratch, timeout)
            except Failed as error:
                failures[name] = str(error)
                print(f"{run} {name}: failed: {error}", file=sys.stderr, flush=True)
                continue
            print(f"{run} {name}: {sample['seconds']:.2f} s, {sample['peak_mb']:.0f} MB", file=sys.stderr, flush=True)
            if run == 0:
                warm_up[name] = sample
            else:
                samples[name].append(sample)
        report(samples if run else {name: [sample] for name, sample in warm_up.items()}, warm_up, failures, run)
    return failures


def first_line(command):
    """What a command says of itself; empty when it cannot be run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine(binary, python=None):
    """The machine and the versions that the numbers belong to, with those of Python's packages where peers are measured."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    model = re.search(r"model name\s*:\s*(.+)", info)
    versions = first_line([python, "-c", PEER_VERSIONS]).split() if python else []
    if python and len(versions) != 4:
        sys.exit(f"{python} needs pandas and pyarrow")
    return {
        "cpu": model.group(1) if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory.group(1)) / 2**20, 1) if memory else None,
        "kernel": platform.release(),
        "wavesieve": (first_line([binary, "--version"]) or "unknown") if binary else "not measured",
        **dict(zip(("python", "pandas", "pyarrow", "sqlite_of_python"), versions)),
    }


def results_of(cases, samples, warm_up, failures):
    """An entry per case: medians, ratios to its peers, every run."""
    median = {
        name: {key: statistics.median(sample[key] for sample in taken) for key in taken[0] if key != "parts"}
        for name, taken in samples.items() if taken
    }
    results = []
    for name, rows, peers, _ in cases:
        if name not in median or name in failures:
            results.append({"name": name, "rows": rows, "error": failures.get(name, "not run")})
            continue
        m = median[name]
        peers = [peer for peer in peers if peer in median and peer not in failures]
        results.append({
            "name": name, "rows": rows, **m, "rows_per_second": rows / m["seconds"],
            "times_faster_than": {p: median[p]["seconds"] / m["seconds"] for p in peers},
            "memory_relative_to": {p: m["peak_mb"] / median[p]["peak_mb"] for p in peers},
            "runs": samples[name], "warm_up": warm_up.get(name),
        })
    return results


def write(output, title, described, inputs, document, results, samples, runs):
    """The JSON with every run, and a Markdown table of the medians beside it. `inputs` are lines of text."""
    document = {"machine": described, "measured_runs": runs, **document, "results": results}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.with_suffix(".json").write_text(json.dumps(document, indent=2) + "\n")
    note = f"Medians of {runs} interleaved run(s) after a warm-up." if runs else "The warm-up round only: one run each."
    loads = [sample["load_1m"] for taken in samples.values() for sample in taken] or [0.0]
    lines = [
        f"# {title}, {output.stem}", "",
        f"{note} Load average during the runs: {min(loads):.1f} to {max(loads):.1f}.", "",
        f"Machine: {described['cpu']}, {described['cores']} cores, {described['memory_gib']} GiB, Linux "
        f"{described['kernel']}; {described['wavesieve']}, Python {described['python']}, pandas {described['pandas']}, "
        f"pyarrow {described['pyarrow']}, SQLite {described['sqlite_of_python']} (baseline).", "",
    ]
    for line in inputs:
        lines += [line, ""]
    lines += [
        "| case | runs | rows | wall s | CPU s | user s | rows/s | peak MB | anonymous MB | times faster than | "
        "memory relative to |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for r in results:
        if "error" in r:
            lines.append(f"| {r['name']} | {r['rows']} | failed | | | | | | | | |")
            continue
        faster = ", ".join(f"{p}: {v:.2f}" for p, v in r["times_faster_than"].items())
        memory = ", ".join(f"{p}: {v:.2f}" for p, v in r["memory_relative_to"].items())
        lines.append(f"| {r['name']} | {len(r['runs'])} | {r['rows']} | {r['seconds']:.3f} | {r['cpu_seconds']:.2f} | "
                     f"{r['user_seconds']:.2f} | {r['rows_per_second']:.0f} | {r['peak_mb']:.0f} | {r['anonymous_mb']:.0f} | "
                     f"{faster} | {memory} |")
    failed = [f"{r['name']}: {r['error']}" for r in results if "error" in r]
    if failed:
        lines += ["", "Failed:", "", "```text", *failed, "```"]
    output.with_suffix(".md").write_text("\n".join(lines) + "\n")


def write_table(output, title, described, note, head, rows):
    """A Markdown table, and the same as JSON beside it."""
    output.parent.mkdir(parents=True, exist_ok=True)
    entries = [dict(zip(head, row)) for row in rows]
    output.with_suffix(".json").write_text(json.dumps({"machine": described, "rows": entries}, indent=2) + "\n")
    lines = [f"# {title}, {output.stem}", "", note, ""]
    lines += [f"Machine: {described['cpu']}, {described['cores']} cores, {described['memory_gib']} GiB; {described['wavesieve']}.", ""]
    lines += ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    output.with_suffix(".md").write_text("\n".join(lines) + "\n")
