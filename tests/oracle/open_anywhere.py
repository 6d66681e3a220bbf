"""Opens datasets with the libraries of data science, with no option, and compares every table with what the binary reads.

Prints a line for each reader: what it opened, and what it cannot do.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

import datafusion
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

from common import REPOSITORY, Tally, answered, read_statements
from shared_datasets import dataset

INPUTS = [REPOSITORY / "fixtures" / name for name in ("two_nodes", "hostile", "counters", "planted")]


def of_pandas(folder):
    frame = pandas.read_parquet(folder)
    return arrow_rows(pyarrow.Table.from_pandas(frame, preserve_index=False)), {}


def of_pandas_nullable(folder):
    frame = pandas.read_parquet(folder, dtype_backend="numpy_nullable")
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    return arrow_rows(pyarrow.Table.from_pandas(frame, preserve_index=False)), kinds


def arrow_rows(table):
    return table.to_pylist()


def arrow_kinds(table):
    return {field.name: str(field.type) for field in table.schema}


def of_read_table(folder):
    table = pyarrow.parquet.read_table(folder)
    return arrow_rows(table), arrow_kinds(table)


def of_dataset(folder):
    table = pyarrow.dataset.dataset(folder).to_table()
    return arrow_rows(table), arrow_kinds(table)


def of_hive_dataset(folder):
    table = pyarrow.dataset.dataset(folder, partitioning="hive").to_table()
    return arrow_rows(table), arrow_kinds(table)


def of_polars(folder):
    frame = polars.scan_parquet(folder).collect()
    return frame.to_dicts(), {name: str(kind) for name, kind in frame.schema.items()}


def of_duckdb(folder):
    table = duckdb.connect().sql(f"SELECT * FROM '{folder}/*.parquet'").to_arrow_table()
    return arrow_rows(table), arrow_kinds(table)


def of_datafusion(folder):
    context = datafusion.SessionContext()
    context.sql(f"CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '{folder}/'")
    table = context.sql("SELECT * FROM t").to_arrow_table()
    return arrow_rows(table), arrow_kinds(table)


READERS = {
    "pandas.read_parquet": of_pandas,
    "pandas.read_parquet (nullable)": of_pandas_nullable,
    "pyarrow.parquet.read_table": of_read_table,
    "pyarrow.dataset": of_dataset,
    "pyarrow.dataset (hive)": of_hive_dataset,
    "polars.scan_parquet": of_polars,
    "DuckDB": of_duckdb,
    "DataFusion": of_datafusion,
}
# Integers with gaps become floats in numpy, so pandas alone has no integers left unless it is asked for its own types.
WITHOUT_INTEGERS = {"pandas.read_parquet"}


def plain(value):
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def of_binary(binary, tables, dataset):
    """The rows of each table in order, of one start of the binary."""
    answers = read_statements(binary, [f"SELECT * FROM {table}" for table in tables], dataset)
    return {table: in_order(answered(rows)) for table, rows in zip(tables, answers)}


def key(row):
    return [(value is not None, str(value)) for value in row.values()]


def in_order(rows):
    """Rows as they are compared; identity comes first, so that an order by it is nearly total."""
    return sorted(map(normal, rows), key=key)


def differs(found, expected):
    """How rows differ from those that are in order, whatever their own order is."""
    if len(found) != len(expected):
        return f"{len(found)} rows, expected {len(expected)}"
    if expected and list(found[0]) != list(expected[0]):
        return f"columns {list(found[0])}, expected {list(expected[0])}"
    for one, other in zip(in_order(found), expected):
        for name, value in other.items():
            if value != one[name] and not close(value, one[name]):
                return f"{name}: {one[name]!r}, expected {value!r}"
    return None


def normal(row):
    values = {name: plain(value) for name, value in row.items()}
    return {name: float(v) if isinstance(v, int) and not isinstance(v, bool) else v for name, v in values.items()}


def close(one, other):
    return isinstance(one, float) and isinstance(other, float) and math.isclose(one, other, rel_tol=1e-9)


def wrong_kinds(kinds, described):
    """Integer columns that a reader has as something else."""
    integers = [column["name"] for column in described["columns"] if column["type"] == "i64"]
    wrong = [name for name in integers if kinds and "int" not in kinds[name].lower()]
    return f"no integers any more: {wrong}" if wrong else None


def is_promised(kind):
    """Whether a column is of one of the types that the canonical tables have."""
    if pyarrow.types.is_dictionary(kind):
        return kind.index_type == pyarrow.int32() and pyarrow.types.is_string(kind.value_type)
    texts = (pyarrow.types.is_string, pyarrow.types.is_large_string)
    return any(test(kind) for test in (pyarrow.types.is_int64, pyarrow.types.is_float64, pyarrow.types.is_boolean, *texts))


def wrong_layout(path, described):
    """What a file promises and does not keep: types, units, order, one process in a row group, bounds and page indexes."""
    file = pyarrow.parquet.ParquetFile(path)
    schema, metadata = file.schema_arrow, file.metadata
    wrong = [f"{field.name} is {field.type}" for field in schema if not is_promised(field.type)]
    for column in described["columns"]:
        told = {key.decode(): value.decode() for key, value in (schema.field(column["name"]).metadata or {}).items()}
        if told.get("unit", "") != column["unit"] or told["doc"] != column["doc"]:
            wrong.append(f"{column['name']} has the metadata {told}")
    told = json.loads(metadata.metadata[b"wavesieve.columns"])
    if schema.names[:2] != ["process", "rank"] or told != described["columns"]:
        wrong.append("the columns are not those of tables.json")
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in (0, 1):
            bounds = group.column(place).statistics
            if not bounds.has_min_max or bounds.min != bounds.max:
                wrong.append(f"row group {number} holds several of {schema.names[place]}")
        order = [schema.names[column.column_index] for column in group.sorting_columns]
        if order != described["sorted_by"]:
            wrong.append(f"row group {number} declares the order {order}")
        indexed = [group.column(place).has_offset_index for place in range(group.num_columns)]
        bounded = [group.column(place).has_column_index for place in (0, 1)]
        if not all(indexed) or not all(bounded):
            wrong.append(f"row group {number} has no page index")
    return "; ".join(wrong) or None


def spark(datasets, tally, python):
    """The same in Spark, in a process of its own."""
    script = Path(__file__).with_name("open_in_spark.py")
    for dataset, tables in datasets.items():
        ended = subprocess.run([python, script, dataset, *tables], capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            tally.check(f"Spark {dataset}", ended.stderr.strip().splitlines()[-1])
            continue
        for table, rows in json.loads(ended.stdout).items():
            tally.check(f"Spark {table}", differs(rows, tables[table]))


def check_table(tally, checked, source, converted, described, rows_of):
    """A table of a dataset as each reader has it."""
    table = described["name"]
    empty = not described["files"]
    for path in sorted((converted / table).glob("*.parquet")):
        tally.check(f"{source.name} {table}/{path.name}", wrong_layout(path, described))
    expected = [] if empty else rows_of[table]
    folder = converted / "_schema" / f"{table}.parquet" if empty else converted / table
    for reader, read in READERS.items():
        if empty and reader in ("DuckDB", "DataFusion"):
            continue  # their views name the file; the statements of the engines are checked over them
        try:
            rows, kinds = read(str(folder))
        except Exception as error:  # each library has its own kinds
            tally.check(f"{reader} {source.name} {table}", str(error).splitlines()[0])
            continue
        tally.check(f"{reader} {source.name} {table}", differs(rows, expected))
        if reader not in WITHOUT_INTEGERS:
            tally.check(f"{reader} {source.name} {table} types", wrong_kinds(kinds, described))
        checked[reader] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--spark", help="a Python that has pyspark")
    arguments = parser.parse_args()
    tally = Tally()
    checked = dict.fromkeys(READERS, 0)
    datasets = {}
    for source in INPUTS:
        converted = dataset(arguments.binary, source, "--with", "all")
        tables = json.loads((converted / "tables.json").read_text())
        rows_of = of_binary(arguments.binary, [table["name"] for table in tables if table["files"]], converted)
        datasets[converted] = rows_of
        for described in tables:
            check_table(tally, checked, source, converted, described, rows_of)
    if arguments.spark:
        spark(dict([next(iter(datasets.items()))]), tally, arguments.spark)
    else:
        print("skipped: Spark (name a Python with pyspark by --spark)")
    for reader, tables in checked.items():
        print(f"{reader}: {tables} tables opened and compared")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
