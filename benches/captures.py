#!/usr/bin/env python3
"""Measures how fast `lab capture` writes memory, and `lab replay` restores it.

  cargo build --release --bin wavesieve && cargo build --release -p wavesieve-capture -p fake-hsa
  benches/captures.py --build target/release --output benches/results/NAME-captures.json

The program of the tests fills regions of --gigabytes together, on the HSA runtime of the tests, whose memory is that of the
processor. They are captured into --folder and replayed from it. Beside it stand what limits both: copying memory by one thread
and by two, and `dd` of as many bytes into the folder. All interleaved, --runs times; medians.
"""
import argparse
import json
import mmap
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from harness import machine

ROOT = pathlib.Path(__file__).resolve().parents[1]
CASES = {"1 region": 1, "64 regions": 64}


def timed(work):
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def touch(size):
    """Writes to so much memory and frees it: a virtual machine gets memory from its host when it first uses it, which is slow."""
    if os.fork() == 0:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, size, mmap.PAGESIZE):
            memory[at] = 1
        os._exit(0)
    os.wait()


def copy_rates(threads):
    """Gigabytes per second that so many threads copy, each from memory of its own into memory of its own."""
    size = 1 << 29
    pairs = []
    for _ in range(threads):
        pair = mmap.mmap(-1, size), mmap.mmap(-1, size)
        for one in pair:
            one[:] = b"\1" * size
        pairs.append(pair)
    began = time.perf_counter()
    children = []
    for source, target in pairs:
        child = os.fork()
        if child == 0:
            memoryview(target)[:] = memoryview(source)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return threads * size / (time.perf_counter() - began) / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/dev/shm"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    build = options.build.resolve()
    whole = int(options.gigabytes * 1e9)
    rates = {}

    def keep(name, rate):
        rates.setdefault(name, []).append(round(rate, 3))

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        runtime = folder / "runtime"
        runtime.mkdir()
        (runtime / "libhsa-runtime64.so.1").symlink_to(build / "libhsa_runtime64.so")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(runtime)}
        environment["WAVESIEVE_CAPTURE_LIBRARY"] = str(build / "libwavesieve_capture.so")
        for _ in range(options.runs):
            for threads in [1, 2]:
                keep(f"copying memory, {threads} thread{'s' * (threads > 1)}", copy_rates(threads))
            touch(3 * whole)
            blocks = whole >> 20
            seconds, _ = timed(lambda: subprocess.run(
                ["dd", "if=/dev/zero", f"of={folder / 'dd'}", "bs=1M", f"count={blocks}", "status=none"], check=True))
            keep("dd of zeros", (blocks << 20) / seconds / 1e9)
            seconds, _ = timed(lambda: subprocess.run(
                ["dd", f"if={folder / 'dd'}", "of=/dev/null", "bs=1M", "status=none"], check=True))
            keep("dd, reading", (blocks << 20) / seconds / 1e9)
            (folder / "dd").unlink()
            for name, regions in CASES.items():
                touch(3 * whole)
                captures = folder / "captures"
                command = [str(build / "wavesieve"), "lab", "capture", "--quiet", "--kernel", "^add$", "-o", str(captures), "--",
                           str(build / "hsa_application"), str(ROOT / "tests/fake_hsa/kernels.hsaco"), "--dispatches", "1",
                           "--regions", str(regions), "--region-bytes", str(whole // regions)]
                subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
                events = [json.loads(line) for line in (captures / "events.jsonl").read_text().splitlines()]
                [captured] = [event for event in events if event["event"] == "captured"]
                keep(f"capture, {name}", captured["bytes"] / captured["seconds"] / 1e9)
                command = [str(build / "wavesieve"), "lab", "replay", str(captures / captured["directory"]), "-n", "1", "-f", "json"]
                seconds, done = timed(lambda: subprocess.run(command, check=True, env=environment, capture_output=True))
                memory = json.loads(done.stdout)["replays"][0]["memory"]
                keep(f"replay, {name}", memory["bytes"] / memory["restore_seconds"] / 1e9)
                # Memory is restored twice: before the dispatch that warms up, and before the one that counts.
                keep(f"replay, whole process, {name}", 2 * memory["bytes"] / seconds / 1e9)
                shutil.rmtree(captures)
    results = {name: {"median_gb_per_s": statistics.median(taken), "gb_per_s": taken} for name, taken in rates.items()}
    options.output.write_text(json.dumps({"machine": machine(build / "wavesieve"), "bytes": whole, "results": results}, indent=1) + "\n")
    for name, result in results.items():
        print(f"{name:40} {result['median_gb_per_s']:6.2f} GB/s  {result['gb_per_s']}")


if __name__ == "__main__":
    main()
