"""Compares every named query of the binary with the same SQL in DuckDB and in DataFusion."""

import argparse
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from zlib import crc32

import datafusion
import duckdb

from common import REPOSITORY, BinaryError, Tally, default_inputs, difference, run_binary, shown_statements
from sampled import sampled
from shared_datasets import dataset
from starts import by_flag, front_matter, options_of, starts, words

# A quick run asks these, with the default options of all queries: ranks of two nodes, counters, and iterations with PyTorch's ranges.
QUICK = [REPOSITORY / "fixtures" / name for name in ("two_nodes", "counters", "planted")]

# Thread traces and program counter samples, in a folder without databases.
THREAD_TRACE = REPOSITORY / "fixtures" / "thread_trace"

# Counters of many blocks, for queries about counters.
WORKLOADS = [REPOSITORY / "fixtures" / "compute", REPOSITORY / "fixtures" / "profile", REPOSITORY.parent / "shared" / "data" / "ubench"]
OF_COUNTERS = {"counters", "counter_dispatches", "metric_sums", "range_metric_sums", "kernel_bottlenecks", "kernel_resources"}

# Values of parameters to try besides their defaults.
PARAMETER_SETS = {
    "agg": [["--agg", "mean"]],
    "missing": [["--missing", "show"]],
    "panel": [["--panel", "1600"]],
    "per": [["--per", "cycle"], ["--per", "second", "--agg", "mean"], ["--per", "kernel"]],
    "scope": [["--scope", "iteration"]],
    "show": [["--show", "found"], ["--show", "all"]],
    "threshold_us": [["--threshold-us", "100"], ["--threshold-us", "12.34"], ["--threshold-us", "0"]],
    "bins": [["--bins", "1"], ["--bins", "7"], ["--bins", "7", "--threshold-us", "1000"]],
    "full": [["--full", "2"]],
    "launch_bound_pct": [["--launch-bound-pct", "0"]],
    "min_allocations": [["--min-allocations", "2"]],
    "min_iterations": [["--min-iterations", "2"]],
    "min_calls": [["--min-calls", "9", "--min-drift-pct", "0", "--min-gap-pct", "5"]],
    "min_excess_us": [["--min-excess-us", "0", "--min-ratio", "1"]],
    "min_pct": [["--min-pct", "0", "--min-z", "0"], ["--min-pct", "3"]],
    "link": [["--link", "outermost"]],
    "metric": [
        *(["--metric", metric] for metric in ("busy", "dispatches", "mean_kernel", "copied_bytes", "iteration_time")),
        ["--metric", "dispatches", "--by", "category"],
        ["--metric", "mean_kernel", "--by", "kernel_name,node"],
    ],
    "min_z": [["--min-z", "3", "--min-ratio", "1.1"]],
    "low_pct": [["--low-pct", "99", "--power-pct", "10"], ["--low-pct", "90"]],
    "short_us": [["--short-us", "100", "--pause-us", "100", "--min-occurrences", "2"]],
    "small_bytes": [["--small-bytes", "4096"]],
}


@cache
def option_sets(query):
    """Options to try a query with, as far as its front matter allows them."""
    keys = front_matter(query)
    dimensions = words(keys, "dimensions")
    sets = [[]]
    for grouping in (
        ["rank"],
        ["rank", "gpu"],
        ["process", "stream_id"],
        ["hostname"],
        ["category"],
        ["kernel_name"],
        ["node", "tid"],
        ["capture", "dispatch_id"],
        ["source", "wave_issued"],
        ["hostname", "instruction_type", "simd"],
    ):
        if all(column in dimensions for column in grouping):
            sets.append(["--by", ",".join(grouping)])
    if "kernel_symbols" in words(keys, "needs"):
        sets += [["--name", form] for form in ("short", "base", "mangled")]
        if "gpu" in dimensions:
            sets.append(["--name", "short", "--by", "gpu"])
        if "kernel_name" in dimensions:
            by = "kernel_name,rank" if "rank" in dimensions else "kernel_name"
            sets += [["--name", form, "--by", by] for form in ("short", "base", "mangled")]
    parameters = [parameter.split()[0] for parameter in keys.get("param", [])]
    for parameter in parameters:
        for options in PARAMETER_SETS.get(parameter, []):
            flags = [option[2:].replace("-", "_") for option in options if option.startswith("--")]
            if all(flag in [*parameters, "by"] for flag in flags):
                sets.append(options)
                if "rank" in dimensions and "by" not in flags:
                    sets.append([*options, "--by", "rank"])
    if "top" in parameters:
        sets.append(["--top", "5"])
        if "rank" in dimensions:
            sets.append(["--top", "5", "--by", "rank"])
    return sets


NEEDS = re.compile(r"-- reads ([a-z_, ]+): tables of a dataset made with `wavesieve convert INPUT -o DATASET(?: --with ([a-z_,]+))?`")


def turns(position, source, every_option):
    """What decides which queries and options an input is asked: the quick inputs have all queries, and others each fifth one.

    Options have fewer turns, and every set of them has one at least among twenty inputs.
    """

    def is_tried(query, options):
        turn = crc32((" ".join(options) or query).encode()) + position
        if source.resolve() in QUICK:
            return every_option or not options or turn % 6 == 0
        return every_option or turn % (20 if options else 5) == 0

    return is_tried


def asks(queries, is_tried):
    """Every query with the flags of every set of options that is tried."""
    return [(query, by_flag(options)) for query in queries for options in option_sets(query) if is_tried(query, options)]


def words_of(flags):
    return " ".join(options_of(flags))


class Statements:
    """The SQL of every query with every set of options, which is the same for all inputs."""

    def __init__(self, binary, queries, is_tried):
        self.shown = {}
        for start in starts(asks(queries, is_tried)):
            try:
                shown = shown_statements(binary, start.queries, start.options())
            except BinaryError:
                shown = {query: self.alone(binary, query, flags) for query, flags in start.queries.items()}
            self.shown |= {(query, words_of(flags)): shown[query] for query, flags in start.queries.items()}

    @staticmethod
    def alone(binary, query, flags):
        try:
            return shown_statements(binary, [query], options_of(flags))[query]
        except BinaryError as error:
            return error

    def of(self, query, flags):
        return self.shown[(query, words_of(flags))]


def what_is_missing(sql, default_tables):
    """What is wrong with what the first line says that a dataset needs, or None."""
    first = NEEDS.fullmatch(sql.splitlines()[0])
    if first is None:
        return f"the first line is {sql.splitlines()[0]!r}"
    reads, kept = set(first[1].split(", ")), set((first[2] or "").split(",")) - {""}
    if reads - kept <= default_tables and not kept & default_tables:
        return None
    return f"reads {sorted(reads)} with {sorted(kept)}, which a dataset has not"


class DuckDb:
    """A dataset in DuckDB, as it is on disk: its own views and nothing else."""

    name = "duckdb"

    def __init__(self, dataset):
        self.connection = duckdb.connect()
        self.connection.execute(f"SET file_search_path = '{dataset}'")
        self.connection.execute((Path(dataset) / "views.sql").read_text())

    def records(self, sql):
        result = self.connection.execute(sql)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row)) for row in result.fetchall()]


class DataFusion:
    """A dataset in DataFusion, as it is on disk. It has no folder to look for relative paths in, so the paths are made whole."""

    name = "datafusion"

    def __init__(self, dataset):
        self.context = datafusion.SessionContext()
        views = (Path(dataset) / "views.datafusion.sql").read_text().replace("LOCATION '", f"LOCATION '{dataset}/")
        for statement in filter(str.strip, re.sub("^--.*$", "", views, flags=re.MULTILINE).split(";")):
            self.context.sql(statement)

    def records(self, sql):
        return self.context.sql(sql).to_arrow_table().to_pylist()


def tolerance_for(engine):
    """DataFusion interpolates quantiles with a millionth of the distance between two values as its step."""

    def tolerance_of(column):
        quantile = column.startswith("p") and column[1:3].isdigit()
        return 3e-5 if quantile and engine == "datafusion" else 1e-9

    return tolerance_of


def compare_query(tally, label, direct, stored, sql, engines, default_tables):
    """All comparisons of one query with one set of options; returns the number of rows."""
    for answer in (direct, stored, sql):
        if isinstance(answer, Exception):
            tally.check(label, answer)
            return 0
    tally.check(f"{label} needs", what_is_missing(sql, default_tables))
    tally.check(f"{label} dataset", difference(stored, direct, lambda column: 0.0))
    for engine in engines:
        try:
            problem = difference(direct, engine.records(sql), tolerance_for(engine.name))
        except Exception as error:  # each engine has its own kinds
            problem = str(error).splitlines()[0]
        tally.check(f"{label} {engine.name}", problem)
    return len(direct)


class Comparison:
    """What all inputs are compared with, and how many rows each query gave."""

    def __init__(self, tally, binary, statements, default_tables, queries):
        self.tally, self.binary, self.statements, self.default_tables = tally, binary, statements, default_tables
        self.rows_seen = dict.fromkeys(queries, 0)

    def compare_input(self, source, queries, is_tried):
        """Compares every query over an input and the dataset of it; `is_tried` decides with which options."""
        try:
            stored_in = dataset(self.binary, source, "--with", "all")
            engines = [DuckDb(stored_in), DataFusion(stored_in)]
        except Exception as error:
            self.tally.check(f"{source} convert", error)
            return
        for start in starts(asks(queries, is_tried)):
            direct, stored = (start.read(self.binary, place) for place in (source, stored_in))
            for query, flags in start.queries.items():
                label = f"{source} {query} {words_of(flags)}".strip()
                sql = self.statements.of(query, flags)
                self.rows_seen[query] += compare_query(
                    self.tally, label, direct[query], stored[query], sql, engines, self.default_tables
                )


def analysis_database(binary, folder):
    """A database with metrics that rocprofiler-compute would state, which no fixture has."""
    path = Path(folder) / "analysis.db"
    run_binary(binary, ["convert", REPOSITORY / "fixtures" / "profile", "--to", "rocprof-compute-db", "-o", path])
    return path


def asked_inputs(arguments, queries, work):
    """The inputs, each with the queries that it is asked."""
    if arguments.quick:
        return [(source, queries) for source in arguments.inputs or QUICK]
    of_counters = [query for query in queries if OF_COUNTERS & set(words(front_matter(query), "needs"))]
    made = [sampled(work), analysis_database(arguments.binary, work)]
    asked = [(source, queries) for source in [*(arguments.inputs or default_inputs()), *made, THREAD_TRACE]]
    return asked + [(source, of_counters) for source in WORKLOADS if source.exists()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, nargs="+", help="directories or databases; fixtures and shared data if absent. One with telemetry, an analysis database and a thread trace are added")
    parser.add_argument("--queries", nargs="+", help="only these")
    parser.add_argument("--quick", action="store_true", help="ask three fixtures, or the inputs and no others, with the default options alone")
    parser.add_argument("--every-option", action="store_true", help="ask every input all queries with every option, and not in turns")
    parser.add_argument("--work", type=Path, help="folder for inputs that are made")
    arguments = parser.parse_args()
    tally = Tally()
    listed = json.loads(run_binary(arguments.binary, ["table", "--list", "-f", "json"]))
    queries = [record["name"] for record in listed]
    if arguments.queries:
        queries = [query for query in queries if query in arguments.queries]
    defaults = lambda query, options: not options
    any_option = defaults if arguments.quick else lambda query, options: True
    statements = Statements(arguments.binary, queries, any_option)
    # Without --with a dataset has the other tables, whatever the input is.
    plain = dataset(arguments.binary, QUICK[0])
    default_tables = {table["name"] for table in json.loads((plain / "tables.json").read_text())}
    comparison = Comparison(tally, arguments.binary, statements, default_tables, queries)
    with tempfile.TemporaryDirectory(dir=arguments.work) as work:
        # Most of the time goes into other processes; the engines of an input stay in one thread.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            compared = [
                pool.submit(
                    comparison.compare_input,
                    source,
                    its_queries,
                    defaults if arguments.quick else turns(n, source, arguments.every_option),
                )
                for n, (source, its_queries) in enumerate(asked_inputs(arguments, queries, work))
            ]
        for one in compared:
            one.result()
    # That every query gives rows is a test of the goldens (tests/cli/goldens.rs).
    with_rows = sum(rows > 0 for rows in comparison.rows_seen.values())
    print(f"{with_rows} of {len(queries)} queries gave {sum(comparison.rows_seen.values())} rows")
    if with_rows == 0:
        tally.check("all", "no query gave a row, so nothing was compared")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
