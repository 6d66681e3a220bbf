#!/usr/bin/env python3
"""What people do today to compare two rocpd databases: pandas over both tables of kernels.

  compare_peers.py merge BASE NEW     sums by kernel, merged by name
  compare_peers.py ranked BASE NEW    scipy's Mann-Whitney test of the durations of each kernel
"""
import pathlib
import sqlite3
import sys

import pandas as pd

QUERY = 'SELECT s.display_name AS name, k."end" - k.start AS ns FROM {kernels} k JOIN {symbols} s ON s.id = k.kernel_id'


def kernels(path):
    """Name and duration of every dispatch of the databases below a folder."""
    frames = []
    for file in sorted(pathlib.Path(path).rglob("*.db")):
        with sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True) as database:
            names = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            find = lambda prefix: next(f'"{name}"' for name in names if name.startswith(prefix))
            tables = {"kernels": find("rocpd_kernel_dispatch"), "symbols": find("rocpd_info_kernel_symbol")}
            frames.append(pd.read_sql_query(QUERY.format(**tables), database))
    return pd.concat(frames)


def main():
    what, base, new = sys.argv[1:]
    base, new = kernels(base), kernels(new)
    if what == "merge":
        sums = [frame.groupby("name")["ns"].agg(["count", "sum", "mean", "median"]) for frame in (base, new)]
        merged = sums[0].merge(sums[1], on="name", how="outer", suffixes=("_base", "_new"))
        merged["delta_ns"] = merged["sum_new"] - merged["sum_base"]
        print(merged.sort_values("delta_ns").to_csv())
        return
    from scipy.stats import mannwhitneyu

    groups = dict(list(new.groupby("name")["ns"]))
    for name, of_base in base.groupby("name")["ns"]:
        if name in groups:
            print(f"{mannwhitneyu(of_base, groups[name]).pvalue:.3g},{name[:60]}")


if __name__ == "__main__":
    main()
