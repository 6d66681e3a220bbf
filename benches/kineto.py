#!/usr/bin/env python3
"""Measures how fast traces of the PyTorch profiler are read, beside HTA on the same files.

  benches/kineto.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      [--python VENV/bin/python] --output benches/results/NAME-kineto.md

A trace of one rank is generated in --data for each number of --dispatches, unless it is there already. HTA reads those up to
--hta-gigabytes, because it takes several times the file in memory. The python needs `HolisticTraceAnalysis`.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

from harness import Failed, measure

HTA = """
import sys, warnings
warnings.filterwarnings("ignore")
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]})
print(analysis.get_gpu_kernel_breakdown(visualize=False)[1].to_string())
"""
QUESTIONS = [
    ("info", ["info"]),
    ("kernels by name", ["table", "kernel_summary"]),
    ("time of the GPU", ["table", "time_breakdown"]),
    ("operators", ["table", "operator_summary"]),
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--generator", required=True, type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, help="a Python with HTA; none leaves it out")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "wavesieve-kineto")
    parser.add_argument("--dispatches", type=int, nargs="*", default=[400_000, 1_750_000])
    parser.add_argument("--hta-gigabytes", type=float, default=0.6)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output", type=pathlib.Path)
    return parser.parse_args()


def trace(options, dispatches):
    """The file with so many dispatches."""
    folder = options.data / str(dispatches)
    if not folder.exists():
        words = ["--ranks", "1", "--format", "kineto", "--dispatches", str(dispatches), "--regions", str(4 * dispatches)]
        subprocess.run([options.generator, *words, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    return next(path for path in sorted(folder.rglob("*.json")))


def row(what, file, samples):
    seconds = statistics.median(sample["seconds"] for sample in samples)
    peak_mb = max(sample["peak_mb"] for sample in samples)
    size = file.stat().st_size
    return f"| {size / 1e9:.2f} | {what} | {seconds:.2f} | {size / 1e9 / seconds:.2f} | {peak_mb:.0f} | {peak_mb * 2**20 / size:.2f} |"


def main():
    options = arguments()
    lines = ["| file GB | what | s | GB/s | peak MiB | of the file |", "| ---: | --- | ---: | ---: | ---: | ---: |"]
    for dispatches in options.dispatches:
        file = trace(options, dispatches)
        commands = [(f"wavesieve: {what}", [options.binary, *words, file]) for what, words in QUESTIONS]
        if options.python and file.stat().st_size <= options.hta_gigabytes * 1e9:
            commands.append(("HTA: kernels by name", [options.python, "-c", HTA, file]))
        for what, command in commands:
            with tempfile.TemporaryDirectory() as scratch:
                runs = 1 if what.startswith("HTA") else options.runs
                try:
                    measured = row(what, file, [measure(command, pathlib.Path(scratch)) for _ in range(runs)])
                except Failed as error:
                    measured = f"| {file.stat().st_size / 1e9:.2f} | {what} | failed: {str(error).strip().splitlines()[-1][:120]} | | | |"
                print(measured, flush=True)
                lines.append(measured)
    text = "# Traces of the PyTorch profiler\n\nMade by `benches/kineto.py`: median of the runs, highest peak.\n\n" + "\n".join(lines) + "\n"
    if options.output:
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
