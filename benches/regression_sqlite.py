#!/usr/bin/env python3
"""What benches/regression.py measures wavesieve beside: the same rows read by Python's sqlite3.

  benches/regression_sqlite.py kernel_summary DATABASE
  benches/regression_sqlite.py convert DATABASE

`kernel_summary` prints what the query of this name computes, as CSV. `convert` makes Python values of every row of every
table, and prints how many rows each of two tables has.
"""
import sqlite3
import statistics
import sys


def tables(connection):
    """Names of the base tables by the part that stays the same in every database."""
    names = [name for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd%'")]
    suffix = next(name for name in names if name.startswith("rocpd_metadata")).removeprefix("rocpd_metadata")
    return {name.removeprefix("rocpd_").removesuffix(suffix): name for name in names}


def kernel_summary(connection):
    """Calls, sum, median and extremes of the durations of each kernel."""
    named = tables(connection)
    durations = {}
    statement = (f'SELECT s.display_name, d."end" - d.start FROM {named["kernel_dispatch"]} AS d '
                 f'JOIN {named["info_kernel_symbol"]} AS s ON s.id = d.kernel_id')
    for name, duration in connection.execute(statement):
        durations.setdefault(name, []).append(duration)
    print("calls,total_ns,median_ns,min_ns,max_ns")
    for taken in durations.values():
        print(len(taken), sum(taken), statistics.median(taken), min(taken), max(taken), sep=",")


def convert(connection):
    """Every value of every table."""
    rows = {}
    for base, name in tables(connection).items():
        rows[base] = sum(1 for _ in connection.execute(f'SELECT * FROM "{name}"'))
    print("kernels,regions")
    print(rows["kernel_dispatch"], rows["region"], sep=",")


if __name__ == "__main__":
    question, path = sys.argv[1:]
    {"kernel_summary": kernel_summary, "convert": convert}[question](sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True))
