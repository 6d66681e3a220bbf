#!/usr/bin/env python3
"""Measures how fast traces of the PyTorch profiler are read, beside HTA and TraceLens on the same files.

  benches/kineto.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      [--python VENV/bin/python] [--tracelens VENV/bin/python] [--traces FILE…] --output benches/results/NAME-kineto.md

A trace of one rank is generated in --data for each number of --dispatches, unless it is there already. The peers read those up to
--peer-gigabytes, because they take several times the file in memory. The Python of --python needs `HolisticTraceAnalysis`, that of
--tracelens the package `TraceLens`, which is in no registry (PYTHONPATH may name a checkout).
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
TRACELENS = """
import sys
from TraceLens.TreePerf.tree_perf import TreePerfAnalyzer
analysis = TreePerfAnalyzer.from_file(sys.argv[1])
analysis.include_unlinked_kernels = True
print(analysis.get_df_gpu_timeline().to_string())
kernels = analysis.get_df_kernels(launcher_detail=True)
print(kernels.groupby("Kernel name")["Kernel duration (\u00b5s)"].agg(["count", "sum"]).to_string())
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
    parser.add_argument("--tracelens", type=pathlib.Path, help="a Python with TraceLens; none leaves it out")
    parser.add_argument("--traces", type=pathlib.Path, nargs="*", default=[], help="further files, such as recorded ones")
    parser.add_argument("--peer-gigabytes", type=float, default=0.6)
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
    return f"| {file.stem[:40]} | {size / 1e9:.2f} | {what} | {seconds:.2f} | {size / 1e9 / seconds:.2f} | {peak_mb:.0f} | {peak_mb * 2**20 / size:.2f} |"


def main():
    options = arguments()
    lines = ["| file | GB | what | s | GB/s | peak MiB | of the file |", "| --- | ---: | --- | ---: | ---: | ---: | ---: |"]
    files = [*options.traces, *(trace(options, dispatches) for dispatches in options.dispatches)]
    for file in files:
        commands = [(f"wavesieve: {what}", [options.binary, *words, file]) for what, words in QUESTIONS]
        if file.stat().st_size <= options.peer_gigabytes * 1e9:
            peers = [("HTA: kernels by name", options.python, HTA), ("TraceLens: time of the GPU, kernels by name", options.tracelens, TRACELENS)]
            commands += [(what, [python, "-c", program, file]) for what, python, program in peers if python]
        for what, command in commands:
            with tempfile.TemporaryDirectory() as scratch:
                runs = options.runs if what.startswith("wavesieve") else 1
                try:
                    measured = row(what, file, [measure(command, pathlib.Path(scratch)) for _ in range(runs)])
                except Failed as error:
                    words = str(error).strip().splitlines()[-1][:120]
                    measured = f"| {file.stem[:40]} | {file.stat().st_size / 1e9:.2f} | {what} | failed: {words} | | | |"
                print(measured, flush=True)
                lines.append(measured)
    text = "# Traces of the PyTorch profiler\n\nMade by `benches/kineto.py`: median of the runs, highest peak.\n\n" + "\n".join(lines) + "\n"
    if options.output:
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
