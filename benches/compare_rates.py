#!/usr/bin/env python3
"""Measures how often `compare` raises a false alarm, and how often it finds a change.

  benches/compare_rates.py --binary target/release/wavesieve --generator target/release/examples/generate_trace \\
      --data ../shared/data --python VENV/bin/python --output benches/results/NAME-compare-rates.md

Pairs in which nothing changed are halves and thirds of one run (by iterations or by time), ranks of one job, and generated runs that
differ by their seed only. A kernel that is flagged there is a false alarm. Then the durations of all kernels on the new side are made
5% and 10% longer, in its digest, and the kernels that are flagged are counted.

Beside it stand what people do today, over the same durations: a fixed threshold of 5% on the mean, and the Mann-Whitney test
(p < 0.05). This script needs pyarrow and scipy; nothing is asserted, the rates are printed.
"""
import argparse
import csv
import io
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy.stats import mannwhitneyu


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--generator")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=10, help="generated runs; all pairs of neighbors are compared")
    parser.add_argument("--output", type=pathlib.Path)
    return parser.parse_args()


def sides(args, scratch):
    """Names with the options of both sides."""
    data = args.data
    json_trace = data / "rocprofv3-json" / "908_results.json.gz"
    markers = data / "rocpd-markers" / "rank2_1560_results.db"
    ranks = sorted((data / "rocpd-ranks").glob("*.db"))
    rpd = [data / "rpd-ranks" / f"trace_{rank}.rpd" for rank in range(4)]
    pairs = {"halves of 908": [((json_trace, "--iter", "3..25"), (json_trace, "--iter", "26..48"))]}
    pairs["thirds of 908"] = [
        ((json_trace, "--iter", one), (json_trace, "--iter", other))
        for one, other in itertools.combinations(["3..17", "18..32", "33..47"], 2)
    ]
    pairs["halves of markers"] = [((markers, "--window", "60%:78%"), (markers, "--window", "78%:96%"))]
    pairs["halves of RPD ranks"] = [((path, "--window", "10%:50%"), (path, "--window", "50%:90%")) for path in rpd]
    pairs["rank against rank, rocpd"] = [((one,), (other,)) for one, other in itertools.combinations(ranks, 2)]
    pairs["rank against rank, RPD"] = [((one,), (other,)) for one, other in itertools.combinations(rpd, 2)]
    if args.generator:
        runs = []
        for seed in range(1, args.seeds + 1):
            place = scratch / f"seed{seed}"
            command = [args.generator, "--seed", str(seed), "--ranks", "1", "--dispatches", "20000", "--regions", "0", "-o", place]
            subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
            runs.append(place)
        pairs["generated, other seeds"] = [((one,), (other,)) for one, other in itertools.pairwise(runs)]
        runs = []
        for seed in range(1, args.seeds + 1):
            place = scratch / f"ranks{seed}"
            command = [args.generator, "--seed", str(seed), "--ranks", "4", "--plant", "none", "-o", place]
            subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
            runs.append(place)
        pairs["generated, 4 ranks"] = [((one,), (other,)) for one, other in itertools.pairwise(runs)]
    return pairs


def run(args, *words):
    done = subprocess.run([args.binary, "-q", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):
        sys.exit(f"{words}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def digest(args, side, path):
    trace, *filters = side
    run(args, "compare", trace, trace, *filters, "--save", path, "-f", "json")


def slower(path, factor, to):
    """The digest with all durations times a factor."""
    table, metadata = pq.read_table(path), {b"wavesieve.digest": pq.read_metadata(path).metadata[b"wavesieve.digest"]}
    shift = math.log(factor)
    # Rows of counters and paths have negative numbers in place of a GPU, and rows of GPUs no names.
    kernels = [gpu >= 0 and name is not None for gpu, name in zip(*(table.column(name).to_pylist() for name in ("gpu", "name")))]
    for name in ["run_blocks", "steady_blocks", "iteration_blocks", "shape_levels"]:
        rows = zip(kernels, table.column(name).to_pylist())
        values = [[value + shift for value in row] if is_kernel else row for is_kernel, row in rows]
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values, pa.large_list(pa.float64())))
    # The level and the cycles, of the run and of its iterations.
    rows = zip(kernels, table.column("levels").to_pylist())
    levels = [[value + shift * (place % 2 == 0) for place, value in enumerate(row)] if is_kernel else row for is_kernel, row in rows]
    table = table.set_column(table.schema.get_field_index("levels"), "levels", pa.array(levels, pa.large_list(pa.float64())))
    rows = zip(kernels, table.column("places").to_pylist())
    places = [[round(value * factor) for value in row] if is_kernel else row for is_kernel, row in rows]
    table = table.set_column(table.schema.get_field_index("places"), "places", pa.array(places, pa.large_list(pa.int64())))
    pq.write_table(table.replace_schema_metadata(metadata), to)


def durations(args, side):
    """Durations of the dispatches by kernel."""
    trace, *filters = side
    statement = "SELECT kernel_name, duration_ns FROM kernels WHERE valid"
    if "--iter" not in filters and "--window" not in filters:
        filters = [*filters, "--window", "steady"]
    found = {}
    for name, duration in itertools.islice(csv.reader(io.StringIO(run(args, "sql", statement, trace, *filters, "-f", "csv"))), 1, None):
        found.setdefault(name, []).append(int(duration))
    return found


def peers(base, new):
    """Kernels of both sides that a fixed threshold and the Mann-Whitney test flag, and how many there are."""
    names = [name for name in base if len(base[name]) >= 8 and len(new.get(name, [])) >= 8]
    mean = lambda values: sum(values) / len(values)
    fixed = sum(abs(mean(new[name]) / mean(base[name]) - 1) > 0.05 for name in names)
    tested = sum(mannwhitneyu(base[name], new[name]).pvalue < 0.05 for name in names)
    return len(names), fixed, tested


def flagged(comparison):
    return [kernel for kernel in comparison["kernels"] if kernel["verdict"] in ("slower", "faster")]


def main():
    args = arguments()
    lines = ["| pairs in which nothing changed | pairs | kernels tested | false alarms | +5% found | +10% found | fixed 5% (kernels) | Mann-Whitney |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    with tempfile.TemporaryDirectory(prefix="rates-") as scratch:
        scratch = pathlib.Path(scratch)
        for name, pairs in sides(args, scratch).items():
            counts = dict.fromkeys(["tested", "false", "five", "ten", "kernels", "fixed", "ranked"], 0)
            for number, (base, new) in enumerate(pairs):
                paths = [scratch / f"{number}-{side}.wsd" for side in ("base", "new")]
                for side, path in zip((base, new), paths):
                    digest(args, side, path)
                compare = lambda new: json.loads(run(args, "compare", paths[0], new, "-f", "json"))
                found = compare(paths[1])
                counts["tested"] += sum(kernel["p_holm"] is not None for kernel in found["kernels"])
                alarms = flagged(found)
                counts["false"] += len(alarms)
                for kernel in alarms:
                    print(f"{name}: {kernel['key'][:70]} {kernel['ratio']:.3f} {kernel['unit']} {kernel['samples']}", file=sys.stderr)
                for key, factor in (("five", 1.05), ("ten", 1.10)):
                    other = scratch / f"{number}-{key}.wsd"
                    slower(paths[1], factor, other)
                    counts[key] += sum(kernel["verdict"] == "slower" for kernel in compare(other)["kernels"])
                kernels, fixed, ranked = peers(durations(args, base), durations(args, new))
                counts["kernels"] += kernels
                counts["fixed"] += fixed
                counts["ranked"] += ranked
            share = lambda count, of: f"{count} ({100 * count / of:.1f}%)" if of else "0"
            tested, kernels = counts["tested"], counts["kernels"]
            lines.append(
                f"| {name} | {len(pairs)} | {tested} | {share(counts['false'], tested)} | {share(counts['five'], tested)} | "
                f"{share(counts['ten'], tested)} | {share(counts['fixed'], kernels)} of {kernels} | {share(counts['ranked'], kernels)} |"
            )
            print(lines[-1], flush=True)
    if args.output:
        args.output.write_text("\n".join(["# How often `compare` is wrong", "", *lines, ""]))


if __name__ == "__main__":
    main()
