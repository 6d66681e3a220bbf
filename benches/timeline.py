#!/usr/bin/env python3
"""Pages with a time line: seconds and bytes next to `convert --to pftrace` of the same traces, first pictures and frames in Chromium.

Needs node, Chromium and the modules of tests/html (MODULES, as tests/html/run.sh sets it). A frame takes 16.7 ms at least; what a page needs
for one is `draw`; `cpu` is the CPU time of the thread with a zoom and the messages of the browser's protocol, so that the load matters less. Pages made of the pictures of the tests have no trace: `many` has as many slices as a page may hold.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def timed(command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3, 5):
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr[-300:]}")
    return round(time.perf_counter() - start, 2)


def best(runs, command):
    return min(timed(command) for _ in range(runs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", nargs="*", default=[], metavar="NAME=INPUT")
    parser.add_argument("--runs", type=int, default=3, help="the fastest of so many counts")
    parser.add_argument("--output", type=pathlib.Path, help="JSON file for the results")
    options = parser.parse_args()
    os.environ.setdefault("CHROMIUM", shutil.which("chromium") or "")
    if "MODULES" not in os.environ:
        parser.error("set MODULES to the folder of node modules of tests/html")
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        rows = {}
        for name, source in (pair.split("=", 1) for pair in options.inputs):
            page, viewer = folder / f"{name}.html", folder / f"{name}.pftrace"
            rows[name] = {"analyze_s": best(options.runs, [options.binary, "analyze", source, "-q", "-o", page]), "page_bytes": page.stat().st_size}
            converted = best(options.runs, [options.binary, "convert", source, "--to", "pftrace", "-q", "-o", viewer])
            sizes = [file.stat().st_size for file in ([viewer] if viewer.is_file() else viewer.rglob("*")) if file.is_file()]
            rows[name] |= {"pftrace_s": converted, "pftrace_bytes": sum(sizes)}
        subprocess.run([sys.executable, ROOT / "tests/html/timeline/pictures.py", folder / "made"], check=True)
        pages = [folder / f"{name}.html" for name in rows] + [folder / "made/many.html"]
        load = os.getloadavg()
        done = subprocess.run(["node", ROOT / "benches/timeline.mjs", *pages], stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        seen = json.loads(line)
        rows.setdefault(seen.pop("page"), {}).update(seen)
    result = {"load": [round(one, 1) for one in load], "pages": rows}
    print(f"load {result['load'][0]}")
    columns = ["analyze_s", "page_bytes", "pftrace_s", "pftrace_bytes", "slices", "overview_lanes", "first_ms", "draw_ms", "draw_99_ms", "cpu_ms", "cpu_99_ms", "frame_ms", "frame_99_ms"]
    print("\t".join(["page", *columns]))
    for name, row in rows.items():
        print("\t".join([name, *(str(row.get(column, "")) for column in columns)]))
    if options.output:
        options.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
