#!/usr/bin/env python3
"""Measures wavesieve beside Python over rocprofv3 JSON: a large generated file, a recorded one, and the recorded one with
its dispatches many times over.

  benches/rocprofv3_json.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --python VENV/bin/python --runs 3 --dispatches 1000000 --regions 2000000 --output benches/results/NAME.json

(A script named json.py would hide Python's own json module from its neighbours.)

--python needs pandas and pyarrow; this script needs the standard library only. Without --binary the baselines are
measured alone. --data DIR is where the trace is generated, unless it is there already. --recorded FILE is measured when
it exists: its six TraceLens tables, by one wavesieve process, against one process of the baseline that makes all six.
--repeat N adds a file with the dispatches of the recorded one N times over (115 give 2.2 GB and 5 million of them), which
is kept beside --data: kernel_summary and sums over three columns. --json-load-repeat N measures Python's json.load alone
on such a file; 115 take it minutes and 25 GB, so that one with fewer, whose seconds per byte count, may have to do.
--budget SECONDS starts no further round after that time, --timeout SECONDS ends a single process. Whole processes are
measured, interleaved (A B A B) after one warm-up round. A case that fails is reported as failed; the others go on.
"""
import argparse
import gzip
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import machine, results_of, run_rounds, write

TRACELENS_TABLES = [
    "gpu_timeline", "kernel_summary", "kernel_by_category", "kernel_details", "short_kernels", "short_kernel_histogram",
]
JSON_LOAD = "import json, sys; json.load(open(sys.argv[1], 'rb'))"
COUNT_EVERYTHING = "SELECT COUNT(*) AS n, MIN(start_ns) AS a, MAX(end_ns) AS b, SUM(grid_x) AS c FROM kernels"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary")
    parser.add_argument("--generator", required=True)
    parser.add_argument("--baseline", default="../shared/tools/baseline_json.py")
    parser.add_argument("--tracelens", default="../shared/tools/baseline_tracelens.py")
    parser.add_argument("--recorded", type=pathlib.Path,
                        default=pathlib.Path("../shared/data/rocprofv3-json/908_results.json.gz"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--json-load-repeat", type=int, default=0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--dispatches", type=int, default=1_000_000)
    parser.add_argument("--regions", type=int, default=2_000_000)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "bench-json")
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--timeout", type=float, default=1_800)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    return parser.parse_args()


def generate(args):
    """The JSON file, generated if absent."""
    found = sorted(args.data.rglob("*.json"))
    if not found:
        args.data.mkdir(parents=True, exist_ok=True)
        command = [args.generator, "--format", "json", "--dispatches", str(args.dispatches)]
        command += ["--regions", str(args.regions), "-o", str(args.data)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = sorted(args.data.rglob("*.json"))
    if len(found) != 1:
        sys.exit(f"expected one JSON file in {args.data}, found {len(found)}")
    return found[0]


def repeated(args, times):
    """The recorded file with the records of its dispatches repeated, made if absent."""
    target = args.data.parent / f"{args.data.name}-repeated-{times}" / "908_results.json"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with (gzip.open if args.recorded.suffix == ".gz" else open)(args.recorded, "rb") as file:
            text = file.read()
        start = text.rindex(b'"kernel_dispatch":[') + len(b'"kernel_dispatch":[')
        # Records of dispatches hold no lists.
        end = text.index(b"]", start)
        with open(target.with_suffix(".part"), "wb") as file:
            file.write(text[:end])
            for _ in range(times - 1):
                file.write(b"," + text[start:end])
            file.write(text[end:])
        target.with_suffix(".part").rename(target)
    return target


def records(path):
    """Dispatches and records of any kind, counted by what each of them has exactly once, without parsing the file."""
    marks = {"dispatches": b'"dispatch_id":', "records": b'"start_timestamp":'}
    counts = dict.fromkeys(marks, 0)
    overlap = max(map(len, marks.values())) - 1
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        tail = b""
        while chunk := file.read(1 << 20):
            for name, mark in marks.items():
                counts[name] += (tail + chunk).count(mark) - tail.count(mark)
            tail = (tail + chunk)[-overlap:]
    return counts


def cases_of(args, files, counts, scratch):
    """name, rows, names of the peers, commands; the order is the order of measuring."""
    cases = []
    own = [args.binary, "--quiet"] if args.binary else None
    path, kernels = str(files["generated"]), counts["generated"]["dispatches"]
    if own:
        dataset = str(scratch / "dataset")
        cases += [
            ("kernel_summary", kernels, ["baseline kernels"], [[*own, "table", "kernel_summary", path, "-f", "csv"]]),
            ("convert", counts["generated"]["records"], ["baseline kernels"],
             [[*own, "convert", path, "-o", dataset, "--overwrite"]]),
        ]
    baseline = [args.python, args.baseline, path, str(scratch / "kernels.parquet")]
    cases.append(("baseline kernels", kernels, [], [baseline]))
    if "recorded" in counts:
        path, kernels = str(args.recorded), counts["recorded"]["dispatches"]
        if own:
            tables = [*own, "table", ",".join(TRACELENS_TABLES), path, "--name", "short", "-f", "csv"]
            tables += ["-o", str(scratch / "tables")]
            cases.append(("six TraceLens tables", kernels, ["baseline TraceLens"], [tables]))
        baseline = [args.python, args.tracelens, path, str(scratch / "tracelens")]
        cases.append(("baseline TraceLens", kernels, [], [baseline]))
    if own and "repeated" in counts:
        path, kernels = str(files["repeated"]), counts["repeated"]["dispatches"]
        peers = ["json.load"] if files.get("loaded") == files["repeated"] else []
        cases.append(("kernel_summary of many", kernels, peers, [[*own, "table", "kernel_summary", path, "-f", "csv"]]))
        cases.append(("sums over many", kernels, peers, [[*own, "sql", COUNT_EVERYTHING, path, "-f", "csv"]]))
    if "loaded" in counts:
        command = [args.python, "-c", JSON_LOAD, str(files["loaded"])]
        cases.append(("json.load", counts["loaded"]["dispatches"], [], [command]))
    return cases


def with_bytes(results, sizes):
    """Adds gigabytes per second to what reads the repeated file, and its ratio to json.load where that read a smaller file,
    whose seconds per byte count."""
    by_name = {result["name"]: result for result in results if "error" not in result}
    loaded = by_name.get("json.load")
    for name in ["kernel_summary of many", "sums over many"]:
        result = by_name.get(name)
        if result is None:
            continue
        result["gb_per_second"] = sizes["repeated"] / result["seconds"] / 1e9
        if loaded and sizes["loaded"] != sizes["repeated"]:
            seconds = loaded["seconds"] / sizes["loaded"] * sizes["repeated"]
            result["times_faster_than"]["json.load (by bytes)"] = seconds / result["seconds"]
    return results


def speeds(results):
    """Lines for the reader of the table."""
    return [f"{result['name']}: {result['gb_per_second']:.2f} GB/s." for result in results if "gb_per_second" in result]


def main():
    args = arguments()
    described = machine(args.binary, args.python)
    files = {"generated": generate(args)}
    if args.recorded.exists():
        files["recorded"] = args.recorded
        if args.repeat:
            files["repeated"] = repeated(args, args.repeat)
        if args.json_load_repeat:
            files["loaded"] = repeated(args, args.json_load_repeat)
    else:
        print(f"{args.recorded} is not there: not measured", file=sys.stderr)
    counts = {name: records(path) for name, path in files.items()}
    sizes = {name: path.stat().st_size for name, path in files.items()}
    inputs = [
        f"{name.capitalize()} file: {path.name}, {sizes[name] / 1e6:.1f} MB, {counts[name]['dispatches']} dispatches, "
        f"{counts[name]['records']} records." for name, path in files.items()
    ]
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="json-"))
    cases = cases_of(args, files, counts, scratch)

    def report(samples, warm_up, failures, runs):
        """Written after every round, so that an interrupted benchmark leaves what it has."""
        results = with_bytes(results_of(cases, samples, warm_up, failures), sizes)
        write(args.output, "rocprofv3 JSON", described, inputs + speeds(results), {"rows": counts, "file_bytes": sizes},
              results, samples, runs)

    try:
        failures = run_rounds(cases, args.runs, scratch, report, args.budget, args.timeout)
    finally:
        shutil.rmtree(scratch)
    if failures:
        sys.exit(f"{len(failures)} of {len(cases)} cases failed")


if __name__ == "__main__":
    main()
