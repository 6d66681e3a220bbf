#!/usr/bin/env python3
"""Metrics of kernels the way a notebook gets them from a dataset: counters as columns of a row per dispatch, then ratios.

  counters_pandas.py DATASET

Needs pandas and pyarrow. Hit rates of the L2 cache per kernel as the ratio of the sums, and every counter per wavefront.
"""
import pathlib
import sys

import pandas
import pyarrow.parquet

dataset = pathlib.Path(sys.argv[1])


def table(name, columns):
    parts = [pyarrow.parquet.read_table(path, columns=columns) for path in sorted((dataset / name).rglob("*.parquet"))]
    return pandas.concat([part.to_pandas() for part in parts], ignore_index=True)


counters = table("counters", ["process", "pass", "dispatch_id", "counter", "value"])
dispatches = table("counter_dispatches", ["process", "pass", "dispatch_id", "kernel_name"])
key = ["process", "pass", "dispatch_id"]
wide = counters.pivot_table(index=key, columns="counter", values="value", aggfunc="first", observed=True)
sums = dispatches.merge(wide.reset_index(), on=key).drop(columns=key).groupby("kernel_name", observed=True).sum()
print("kernel_name", "l2_hit_pct", *[f"{name}_per_wave" for name in sums.columns], sep=",")
for name, row in sums.iterrows():
    hits, misses = row.get("TCC_HIT_sum", 0.0), row.get("TCC_MISS_sum", 0.0)
    print(name, 100 * hits / (hits + misses) if hits + misses else "", *(row / row["SQ_WAVES"]), sep=",")
