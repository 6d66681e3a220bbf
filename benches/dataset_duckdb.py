"""Runs a statement on DuckDB over the tables of a dataset: DATASET STATEMENT THREADS NAME TIMES.

A line with the name and the seconds of the statement alone is added to the file TIMES.
"""
import pathlib
import sys
import time

import duckdb

dataset, statement, threads, name, times = sys.argv[1:]
connection = duckdb.connect()
connection.execute(f"SET threads = {int(threads)}")
for table in sorted(path.name for path in pathlib.Path(dataset).iterdir() if path.is_dir()):
    connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{dataset}/{table}/*.parquet')")
sql = pathlib.Path(statement).read_text()
began = time.monotonic()
rows = connection.execute(sql).fetchall()
seconds = time.monotonic() - began
with open(times, "a") as file:
    file.write(f"{name}\t{seconds}\n")
for row in rows:
    print(*row, sep=",")
