"""Opens datasets in pandas, DuckDB and polars, and checks types and row counts."""

import argparse
import json
import sys
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

from common import Tally

PANDAS_TYPES = {"Int64", "Float64", "boolean", "category", "string", "str"}
DUCKDB_TYPES = {"BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR"}
POLARS_TYPES = {polars.Int64, polars.Float64, polars.Boolean, polars.String, polars.Categorical}


def is_text(data_type):
    kinds = (pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_string_view)
    return any(kind(data_type) for kind in kinds)


def is_promised(data_type):
    """Whether a column is of one of the types that the canonical tables have."""
    if pyarrow.types.is_dictionary(data_type):
        return is_text(data_type.value_type)
    plain = (pyarrow.types.is_int64, pyarrow.types.is_float64, pyarrow.types.is_boolean)
    return is_text(data_type) or any(kind(data_type) for kind in plain)


def check_schemas(tally, table, files):
    """Every file of a table has the promised types, and all have the same."""
    first = pyarrow.parquet.read_schema(files[0])
    wrong = [f"{field.name} is {field.type}" for field in first if not is_promised(field.type)]
    if first.names[:2] != ["process", "rank"]:
        wrong.append(f"it begins with {first.names[:2]}")
    for path in files[1:]:
        if not pyarrow.parquet.read_schema(path).equals(first):
            wrong.append(f"{path.name} has another schema than {files[0].name}")
    tally.check(f"{table} types", "; ".join(wrong) or None)


def unexpected(types, allowed):
    strange = [f"{column} is {data_type}" for column, data_type in types if data_type not in allowed]
    return "; ".join(strange) or None


def rows_in_pandas(tally, table, files):
    rows = 0
    for path in files:
        frame = pandas.read_parquet(path, partitioning=None, dtype_backend="numpy_nullable")
        types = [(column, data_type.name) for column, data_type in frame.dtypes.items()]
        tally.check(f"{path} pandas types", unexpected(types, PANDAS_TYPES))
        rows += len(frame)
    return rows


def rows_in_duckdb(tally, table, files):
    listed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in files)
    relation = duckdb.sql(f"SELECT * FROM read_parquet([{listed}], hive_partitioning = false)")
    types = zip(relation.columns, map(str, relation.types))
    tally.check(f"{table} duckdb types", unexpected(types, DUCKDB_TYPES))
    return relation.aggregate("COUNT(*)").fetchall()[0][0]


def rows_in_polars(tally, table, files):
    frame = polars.scan_parquet(files, hive_partitioning=False).collect()
    types = [(column, data_type.base_type()) for column, data_type in frame.schema.items()]
    tally.check(f"{table} polars types", unexpected(types, POLARS_TYPES))
    return frame.height


READERS = {"pandas": rows_in_pandas, "duckdb": rows_in_duckdb, "polars": rows_in_polars}


def rows_in_manifest(dataset):
    """Rows by table over all processes."""
    manifest = json.loads((dataset / "manifest.json").read_text())
    rows = {}
    for process in manifest["processes"]:
        for table, count in process["rows"].items():
            rows[table] = rows.get(table, 0) + count
    return rows


def check_dataset(tally, dataset):
    promised = rows_in_manifest(dataset)
    folders = {path.name for path in dataset.iterdir() if path.is_dir()}
    tally.check(f"{dataset} tables", None if folders == set(promised) else f"{sorted(folders ^ set(promised))} differ")
    for table, expected in sorted(promised.items()):
        files = sorted((dataset / table).rglob("*.parquet"))
        label = f"{dataset} {table}"
        if not files:
            tally.check(label, "it has no files")
            continue
        check_schemas(tally, label, files)
        for reader, count_rows in READERS.items():
            try:
                found = count_rows(tally, label, files)
                problem = None if found == expected else f"{found} rows, the manifest says {expected}"
            except Exception as error:  # each reader has its own kinds
                problem = str(error).splitlines()[0]
            tally.check(f"{label} {reader}", problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=Path, nargs="+")
    tally = Tally()
    for dataset in parser.parse_args().datasets:
        check_dataset(tally, dataset)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
