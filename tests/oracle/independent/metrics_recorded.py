"""The query `recorded_metrics`: values that an analysis database of rocprofiler-compute states, as SQLite reads them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from common import REPOSITORY

from .case import Case
from .inputs import WRITTEN
from .sums import first_of_each, ordered

SCHEMA = REPOSITORY / "tests" / "cli" / "compute_database" / "schema_2_0.sql"
ROWS = REPOSITORY / "tests" / "cli" / "compute_database" / "analysis.sql"


def write(folder):
    """An analysis of two workloads."""
    with closing(sqlite3.connect(Path(folder) / "analysis.db")) as connection:
        for script in (SCHEMA, ROWS):
            connection.executescript(script.read_text())


WRITTEN["recorded_analysis"] = write


class Analysis:
    """The rows of an analysis database, and (workload, kernel, values) of what it states."""

    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.row_factory = sqlite3.Row
        self.kernels = self.keyed("kernel", "kernel_uuid")
        self.definitions = self.keyed("metric_definition", "metric_uuid")
        self.lines = self.keyed("instruction_line", "instruction_uuid")
        self.objects = self.keyed("code_object_store", "code_object_uuid")

    def rows(self, table):
        return [dict(row) for row in self.connection.execute(f"SELECT * FROM compute_{table} ORDER BY 1")]

    def keyed(self, table, key):
        return {row[key]: row for row in self.rows(table)}

    def workload_of(self, row):
        kernel = row.get("kernel_uuid")
        return self.kernels[kernel]["workload_id"] if kernel else row["workload_id"]

    def metrics(self):
        """Metrics of kernels and of whole workloads, in the order of their definitions."""
        for table in ("kernel_metric_value", "workload_metric_value"):
            for row in self.rows(table):
                definition = self.definitions[row["metric_uuid"]]
                values = {column: definition[column] for column in ("table_name", "sub_table_name", "metric_id", "unit")}
                values |= {"metric": definition["name"], "value_name": row["value_name"], "value": row["value"]}
                yield self.workload_of(row), row.get("kernel_uuid"), values | {"place": (0, row["metric_uuid"])}

    def points(self):
        """Points of rooflines: FLOPs a second, and FLOPs per byte of each level."""
        for table in ("kernel_roofline_data", "workload_roofline_data"):
            for row in self.rows(table):
                for place, (name, value) in enumerate(row.items()):
                    if value is not None and (name == "total_flops" or name.endswith("_cache_data")):
                        values = {"table_name": "Roofline", "sub_table_name": "Points", "metric_id": f"roofline.{name}", "metric": name}
                        values |= {"value_name": "Value", "value": value, "unit": "GFLOP/s" if name == "total_flops" else "FLOP/byte"}
                        yield self.workload_of(row), row.get("kernel_uuid"), values | {"place": (1, place)}

    def ceilings(self):
        for row in self.rows("workload"):
            for name, value in json.loads(row["roofline_bench_extdata"] or "{}").items():
                values = {"table_name": "Roofline", "sub_table_name": "Measured ceilings", "metric_id": f"roofline_ceiling.{name}"}
                values |= {"metric": name, "value_name": "Peak", "value": value, "unit": None, "place": (2, name)}
                yield row["workload_id"], None, values

    def samples(self):
        """Counts of program counter samples of an instruction: all, by whether it was issued, and by reason and type."""
        counts = {row["pc_sample_state_uuid"]: {} for row in self.rows("pc_sample_state")}
        for row in self.rows("pc_sample_state"):
            counts[row["pc_sample_state_uuid"]] |= {"samples": row["total_count"], "issued": row["issue_count"], "stalled": row["stall_count"]}
        for table, word in (("pc_sample_stall_reason", "stall_reason"), ("instruction_sample", "instruction_type")):
            kind = f"{table}_type"
            texts = {row[f"{kind}_uuid"]: row["text"] for row in self.rows(kind)}
            for row in self.rows(table):
                counts[row["pc_sample_state_uuid"]][f"{word} {texts[row[f'{kind}_uuid']]}"] = row["count"]
        for row in self.rows("pc_sample_state"):
            line = self.lines[row["instruction_uuid"]]
            code = self.objects[line["code_object_uuid"]]
            values = {"table_name": "PC sampling", "sub_table_name": line["comment"], "metric": line["instruction"], "unit": "samples"}
            values |= {"metric_id": f"pc.{code['code_object_id']}.{line['code_object_offset']:#x}", "place": (3, line["instruction_uuid"])}
            for name, count in counts[row["pc_sample_state_uuid"]].items():
                if count is None:
                    continue
                yield code["workload_id"], line["kernel_uuid"], values | {"value_name": name, "value": count}


def recorded_metrics(source, options):
    (path,) = source.path.glob("*.db")
    analysis, records = Analysis(path), []
    workloads = [row["workload_id"] for row in analysis.rows("workload")]
    stated = [*analysis.metrics(), *analysis.points(), *analysis.ceilings(), *analysis.samples()]
    for workload, kernel, values in stated:
        of_kernels = options.text("of", "all") in ("all", "kernels" if kernel else "workload")
        if of_kernels and (values["value"] is not None or options.text("missing", "hide") == "show"):
            record = values | {"rank": workloads.index(workload), "kernel_id": kernel}
            records.append(record | {"kernel_name": analysis.kernels[kernel]["kernel_name"] if kernel else None})
    records = first_of_each(ordered(records, (), "rank", "kernel_id", "place", "value_name", "value"), (), options.whole("top", 0))
    columns = ("rank", "kernel_name", "table_name", "sub_table_name", "metric_id", "metric", "value_name", "value", "unit")
    return [{column: record[column] for column in columns} for record in records]


OPTIONS = ((), ("--of", "kernels"), ("--of", "workload", "--missing", "show"), ("--missing", "show", "--top", "7"))

QUERIES = {"recorded_metrics": Case(recorded_metrics, ("recorded_analysis",), OPTIONS)}
