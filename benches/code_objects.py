#!/usr/bin/env python3
"""Measures how fast kernels of large code objects are listed.

  benches/code_objects.py --binary target/release/wavesieve --runs 21 --output benches/results/NAME-code-objects.json

Makes code objects of --megabytes in a temporary directory: most of it instructions, and metadata of 1, 1000 and 10000 kernels
with three arguments of their own and 13 hidden ones, as clang writes them. `lab code --kernel` lists one kernel of each;
what the program takes to start is measured with --version. Whole processes, interleaved, after a warm-up round; files are in
the cache of the system, except in the case named cold. A build for debugging is about ten times slower.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/fuzz"))

from code_objects import GPU, elf, kernel, note, packed
from harness import evict

HIDDEN = [
    ("block_count_x", 4), ("block_count_y", 4), ("block_count_z", 4), ("group_size_x", 2), ("group_size_y", 2),
    ("group_size_z", 2), ("remainder_x", 2), ("remainder_y", 2), ("remainder_z", 2), ("global_offset_x", 8),
    ("global_offset_y", 8), ("global_offset_z", 8), ("grid_dims", 2),
]


def large(kernels, megabytes):
    """A code object of so many kernels and so many megabytes."""
    pointer = {".address_space": "global", ".size": 8, ".value_kind": "global_buffer"}
    arguments = [pointer | {".offset": 0}, pointer | {".offset": 8}, {".offset": 16, ".size": 8, ".value_kind": "by_value"}]
    arguments += [{".offset": 24 + 8 * at, ".size": size, ".value_kind": "hidden_" + name} for at, (name, size) in enumerate(HIDDEN)]
    listed = [kernel(f"_ZN2ns6kernelILi{number}EfEEvPT0_PKS1_i", arguments, agpr_count=0, uses_dynamic_stack=False)
              for number in range(kernels)]
    content = {"amdhsa.kernels": listed, "amdhsa.target": "amdgcn-amd-amdhsa--gfx942", "amdhsa.version": [1, 2]}
    metadata = note(packed(content))
    return elf(GPU, [(b".note", 7, metadata), (b".text", 1, os.urandom(megabytes * 1_000_000 - len(metadata)))]), len(metadata)


def milliseconds(command):
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = {"start of the program": ([options.binary, "--version"], None, 0)}
        for kernels in [1, 1000, 10000]:
            path = pathlib.Path(folder, f"{kernels}.hsaco")
            code, metadata = large(kernels, options.megabytes)
            path.write_bytes(code)
            command = [options.binary, "lab", "code", str(path), "--kernel", "kernelILi0E", "-f", "json"]
            cases[f"{kernels} kernels"] = (command, None, metadata)
            if kernels == 1000:
                cases["1000 kernels, cold"] = (command, path, metadata)
        times = {name: [] for name in cases}
        for number in range(options.runs + 1):
            for name, (command, cold, _) in cases.items():
                if cold:
                    evict([cold])
                taken = milliseconds(command)
                if number:
                    times[name].append(taken)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    start = medians["start of the program"]
    results = {
        name: {"metadata_bytes": cases[name][2], "median_ms": round(median, 2), "min_ms": round(min(times[name]), 2),
               "without_start_ms": round(median - start, 2)}
        for name, median in medians.items()
    }
    options.output.write_text(json.dumps({"megabytes": options.megabytes, "runs": options.runs, "cases": results}, indent=1) + "\n")
    for name, result in results.items():
        print(f"{name:22} {result['median_ms']:8.2f} ms, {result['without_start_ms']:8.2f} without the start, {result['metadata_bytes']} B of metadata")


if __name__ == "__main__":
    main()
