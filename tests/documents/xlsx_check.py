#!/usr/bin/env python3
"""Reads workbooks and folders of `analyze` back and compares them with TraceLens and with one another.

- The sheets of TraceLens for one rocprofv3 JSON file: with right units as in `csv_units_fixed`, with --tracelens-compat as in
  `csv_default`, and what TraceLens would say of short kernels, worked out here with numpy.
- Of every input: the workbook, the folders of CSV and Parquet and the JSON document carry the same numbers; headings stay in sight,
  every table has a filter, numbers have formats, no cell is a formula, and writing twice gives the same bytes.
"""

import argparse
import csv
import gzip
import io
import json
import math
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import openpyxl
import pandas
import pyarrow.parquet

FOREIGN = ["gpu_timeline", "kernel_summary", "kernel_summary_by_category", "kernel_details", "short_kernels_summary"]
FOREIGN += ["short_kernel_histogram"]
# Endings of columns that a unit in a heading stands for, with what the unit is of that of the column.
TIMES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
SIZES = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
ENDINGS = {unit: [("ns", factor)] for unit, factor in TIMES.items()}
ENDINGS |= {unit: [("bytes", factor)] for unit, factor in SIZES.items()} | {"GB/s": [("gb_per_s", 1)]}
ENDINGS["us"].append(("us", 1))
ENDINGS["ms"].append(("ms", 1))
# A bar of a picture of times: its value and unit.
TIP = re.compile("<title>[^<]*: [^<]*? ([0-9.e+-]+)\u00a0([nµm]?s) \\(")


def analyze(binary, *options):
    done = subprocess.run([binary, "analyze", "--quiet", *map(str, options)], capture_output=True)
    if done.returncode not in (0, 5):
        raise RuntimeError(f"analyze {options} exits with {done.returncode}: {done.stderr.decode()[-400:]}")
    return done.stdout


def close(one, other, tolerance=1e-9):
    """Whether two values are the same, numbers within a relative tolerance; missing is what is empty or no number."""
    one, other = (None if value in ("", None) or value != value else value for value in (one, other))
    if one is None or other is None or isinstance(one, str) or isinstance(other, str):
        return one == other or one is not None and other is not None and str(one) == str(other)
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-9)


def rows_of(sheet):
    """The records of a sheet by its headings, and the headings."""
    rows = list(sheet.iter_rows(values_only=True))
    heading = [name for name in rows[0] if name is not None]
    return heading, [dict(zip(heading, row)) for row in rows[1:]]


def golden(folder, name):
    path = folder / name
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()

    def value(text):
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                pass
        return text or None

    records = [{key: value(text) for key, text in row.items()} for row in csv.DictReader(io.StringIO(text))]
    return text.splitlines()[0].split(","), records


def differences(name, found, expected, key, but=()):
    """Where the records of two sides differ, matched by a column."""
    (headings, found), (wanted, expected) = found, expected
    if headings != wanted:
        yield f"{name}: headings {headings}, expected {wanted}"
        return
    if len(found) != len(expected):
        yield f"{name}: {len(found)} rows, expected {len(expected)}"
        return
    for mine, theirs in zip(sorted(found, key=lambda row: row[key]), sorted(expected, key=lambda row: row[key])):
        for column in wanted:
            if column not in but and not close(mine[column], theirs[column]):
                yield f"{name}: {column} of {theirs[key]} is {mine[column]}, expected {theirs[column]}"
                return


def descends(name, records, column):
    values = [record[column] for record in records]
    if values != sorted(values, reverse=True):
        yield f"{name}: {column} does not descend"


def against_tracelens(binary, source, answers, work):
    fixed, default = answers / "csv_units_fixed", answers / "csv_default"
    path = work / "fixed.xlsx"
    analyze(binary, source, "-o", path, "--kernel_details", "--short_kernel_study")
    book = openpyxl.load_workbook(path, read_only=True)
    if [name for name in book.sheetnames if name in FOREIGN] != FOREIGN:
        yield f"sheets of TraceLens in the workbook: {book.sheetnames}"
        return
    read = {name: rows_of(book[name]) for name in FOREIGN}
    # TraceLens shows opaque handles of agents, we the indices that stand for them elsewhere.
    root = json.loads(gzip.decompress(source.read_bytes()))["rocprofiler-sdk-tool"][0]
    handles = {agent["node_id"]: agent["id"]["handle"] for agent in root["agents"]}
    for row in read["kernel_details"][1]:
        row["agent_id"] = handles[row["agent_id"]]
    yield from differences("gpu_timeline", read["gpu_timeline"], golden(default, "gpu_timeline.csv"), "type")
    # Categories and the order of the cumulative share are ours.
    ours = ("Category", "Cumulative Percentage (%)")
    yield from differences("kernel_summary", read["kernel_summary"], golden(fixed, "kernel_summary.csv"), "name", ours)
    yield from differences("kernel_details", read["kernel_details"], golden(fixed, "kernel_details.csv.gz"), "dispatch_id")
    short = golden(fixed, "short_kernels_summary.csv")
    yield from differences("short_kernels_summary", read["short_kernels_summary"], short, "name")
    bins = golden(fixed, "short_kernel_histogram.csv")
    yield from differences("short_kernel_histogram", read["short_kernel_histogram"], bins, "bin_start")
    yield from descends("kernel_summary", read["kernel_summary"][1], "Total Kernel Time (ms)")
    yield from descends("kernel_details", read["kernel_details"][1], "Kernel duration (µs)")
    for name in ("kernel_summary", "kernel_summary_by_category"):
        shares = [row["Cumulative Percentage (%)"] for row in read[name][1]]
        if shares != sorted(shares) or not close(shares[-1], 100):
            yield f"{name}: the cumulative share is not one: {shares[:3]} … {shares[-1]}"
    total = sum(row["Total Kernel Time (ms)"] for row in read["kernel_summary"][1])
    by_category = read["kernel_summary_by_category"][1]
    if not close(total, sum(row["total_direct_kernel_time_ms"] for row in by_category)):
        yield "categories do not add up to the kernels"
    if read["kernel_summary_by_category"][0] != golden(fixed, "kernel_summary_by_category.csv")[0]:
        yield "kernel_summary_by_category has other headings"

    # Sheets that TraceLens really writes, and those it would write for short kernels.
    threshold, bins = 20000, 50
    options = ("--tracelens-compat", "--short_kernel_study", "--short_kernel_threshold_us", threshold)
    analyze(binary, source, *options, "--short_kernel_histogram_bins", bins, "-o", path)
    book = openpyxl.load_workbook(path, read_only=True)
    if book.sheetnames != [name for name in FOREIGN if name != "kernel_details"]:
        yield f"--tracelens-compat writes {book.sheetnames}"
        return
    for name in FOREIGN[:3]:
        key = {"gpu_timeline": "type", "kernel_summary": "name"}.get(name, "op category")
        yield from differences(f"compat {name}", rows_of(book[name]), golden(default, f"{name}.csv"), key)
    dispatches = golden(fixed, "kernel_details.csv.gz")[1]
    for name, key, expected in original_short_kernels(dispatches, threshold, bins):
        yield from differences(f"compat {name}", rows_of(book[name]), expected, key)
    options = ("--tracelens-compat", "--disable_kernel_summary", "--kernel_details", "--topk_kernels", "7", "-o", path)
    analyze(binary, source, *options)
    book = openpyxl.load_workbook(path, read_only=True)
    longest = sorted((round(row["Kernel duration (µs)"] * 1000) for row in dispatches), reverse=True)[:7]
    if book.sheetnames != ["gpu_timeline", "kernel_details"]:
        yield f"--disable_kernel_summary leaves {book.sheetnames}"
    elif [row["Kernel duration (µs)"] for row in rows_of(book["kernel_details"])[1]] != longest:
        yield "--topk_kernels 7 has other dispatches than the longest"


def original_short_kernels(dispatches, threshold, bins):
    """What TraceLens says of short kernels: its threshold in microseconds is compared with nanoseconds."""
    frame = pandas.DataFrame(dispatches)
    frame["ns"] = (frame["Kernel duration (µs)"] * 1000).round().astype("int64")
    short = frame[frame["ns"] < threshold]
    groups = short.groupby("name")["ns"].agg(["count", "sum", "mean"]).reset_index()
    quantity = "Short Kernel duration (µs)"
    groups.columns = ["name", "Short Kernel count", f"{quantity} sum", f"{quantity} mean"]
    groups[f"{quantity} percent of total time"] = groups[f"{quantity} sum"] / frame["ns"].sum() * 100
    yield "short_kernels_summary", "name", ([*groups.columns], groups.to_dict("records"))
    counts, edges = numpy.histogram(short["ns"], bins=bins)
    rows = zip(edges.tolist(), edges[1:].tolist(), counts.tolist())
    names = ["bin_start", "bin_end", "count"]
    yield "short_kernel_histogram", "bin_start", (names, [dict(zip(names, row)) for row in rows])


def raw_name(heading, names):
    """The column that a heading of a sheet stands for, and what its unit is of the column's."""
    if heading in names:
        return heading, 1
    stem, _, unit = heading.rpartition(" ")
    for ending, factor in ENDINGS.get(unit, []):
        for name in (f"{stem}_{ending}", f"{stem}{ending}"):
            if name in names:
                return name, factor
    return None, 1


def looks(book):
    """What is wrong with how sheets look, and with what is in their cells."""
    for sheet in book:
        if sheet.title in ("overview", "charts"):
            continue
        if sheet.freeze_panes != "A2":
            yield f"{sheet.title}: headings are frozen at {sheet.freeze_panes}"
        if not (sheet.auto_filter.ref or "").startswith("A1"):
            yield f"{sheet.title}: the filter is at {sheet.auto_filter.ref}"
        if not all(cell.font.bold for cell in sheet[1] if cell.value is not None and cell.column <= sheet.max_column):
            heading = [cell for cell in sheet[1] if cell.value is not None]
            if not heading[0].font.bold:
                yield f"{sheet.title}: headings are not bold"
        for row in sheet.iter_rows(min_row=2):
            for cell in row:
                if cell.data_type == "f":
                    yield f"{sheet.title}: {cell.coordinate} is a formula"
                    return
                if isinstance(cell.value, str) and len(cell.value.encode("utf-16-le")) // 2 > 32767:
                    yield f"{sheet.title}: {cell.coordinate} is too long"
        for cell in sheet[2] if sheet.max_row > 1 else ():
            heading = str(sheet.cell(1, cell.column).value)
            if isinstance(cell.value, float) and heading.rpartition(" ")[2] in ("us", "ms", "s", "(µs)", "(ms)"):
                if "0.000" not in cell.number_format:
                    yield f"{sheet.title}: {heading} has the format {cell.number_format}"
            if heading.lower().endswith(("pct", "percentage (%)", "percent")) and isinstance(cell.value, float):
                if "0.00" not in cell.number_format:
                    yield f"{sheet.title}: {heading} has the format {cell.number_format}"


def cells_of(book, reference):
    """The cells of a reference such as 'a sheet'!$A$2:$A$9, in one column."""
    sheet, _, cells = reference.rpartition("!")
    found = book[sheet.strip("'").replace("''", "'")][cells.replace("$", "")]
    return [cell for row in found for cell in row] if isinstance(found, tuple) else [found]


def charted(book, work, binary, source):
    """What is wrong with the native charts: references without numbers, or numbers that pictures of the charts do not have."""
    if "charts" not in book.sheetnames:
        yield "no charts"
        return
    drawn = {}
    for chart in book["charts"]._charts:
        title = "".join(run.t for run in chart.title.tx.rich.p[0].r)
        for series in chart.series:
            across = series.xVal or series.cat
            of_x, of_y = across.numRef or across.strRef, (series.yVal or series.val).numRef
            labels, values = cells_of(book, of_x.f), cells_of(book, of_y.f)
            if not values or not all(isinstance(cell.value, (int, float)) for cell in values if cell.value is not None):
                yield f"chart {title}: {of_y.f} holds no numbers"
            if len(labels) != len(values) or all(cell.value is None for cell in values):
                yield f"chart {title}: {of_x.f} and {of_y.f} do not fit"
            # A title ends with the part of the run, and with the number of what is shown.
            drawn.setdefault(title.partition(", ")[0].partition(" (first ")[0], []).append((labels, values))
    if not drawn:
        yield "the sheet charts has no charts"
    # The tips of the bars in the picture say what the cells hold.
    pictures = work / "pictures"
    analyze(binary, source, "--charts", pictures, "--chart-format", "svg", "-o", work / "page.html")
    picture = pictures / "time-time_breakdown.svg"
    if "Time of each GPU" in drawn and picture.exists():
        shown = sum(float(value) * TIMES[unit.replace("µ", "u")] for value, unit in TIP.findall(picture.read_text()))
        cells = [cell for _, values in drawn["Time of each GPU"] for cell in values]
        held = sum((cell.value or 0) * TIMES[cells_unit(book, cell)] for cell in cells)
        if not math.isclose(shown, held, rel_tol=0.01):
            yield f"the bars of the picture add up to {shown} ns, the cells of the chart to {held} ns"


def cells_unit(book, cell):
    """The unit in the heading above a cell."""
    return cell.parent.cell(1, cell.column).value.rpartition(" ")[2].replace("µ", "u")


def agreement(binary, source, work):
    """Where the formats of one analysis do not carry the same numbers."""
    book_path, again = work / "own.xlsx", work / "again.xlsx"
    analyze(binary, source, "-o", book_path, "--top-details", 5)
    analyze(binary, source, "-o", again, "--top-details", 5, "--threads", 1)
    if book_path.read_bytes() != again.read_bytes():
        yield "a workbook written again has other bytes"
    book = openpyxl.load_workbook(book_path)
    yield from looks(book)
    yield from charted(book, work, binary, source)
    document = json.loads(analyze(binary, source, "--format", "json"))
    folders = {}
    for form in ("csv", "parquet"):
        folder = work / form
        analyze(binary, source, "--format", form, "-o", folder, "--top-details", 5)
        if json.loads((folder / "document.json").read_text()) != document:
            yield f"{form}: document.json is another document"
        index = json.loads((folder / "tables.json").read_text())
        listed = sorted(table["file"] for table in index["tables"])
        there = sorted(str(path.relative_to(folder)) for path in folder.rglob(f"*.{form}"))
        if listed != there:
            yield f"{form}: tables.json lists {listed}, the folder has {there}"
        folders[form] = {(table["section"], table["name"]): table for table in index["tables"]}
    if folders["csv"].keys() != folders["parquet"].keys():
        yield "csv and parquet have other tables"
    links = {str(row[0].value): row for row in book["overview"].iter_rows() if row[0].hyperlink}
    if [*links] != book.sheetnames[1:]:
        yield f"the overview lists {[*links]}, the workbook has {book.sheetnames[1:]}"
    shown = {(section["id"], table["id"]): table for section in document["sections"] for table in section["tables"]}
    missing = shown.keys() - folders["csv"].keys()
    if missing:
        yield f"the folder lacks {missing}"
    by_title = {name: (str(row[2].value or ""), name.removeprefix(f"{row[2].value}.")) for name, row in links.items()}
    for name, (section, table) in by_title.items():
        if name in ("provenance", "charts"):
            continue
        key = next((key for key in folders["csv"] if key[0] == section and key[1].startswith(table)), None)
        if key is None:
            yield f"the folder lacks the sheet {name} of {section}"
            continue
        entry = folders["csv"][key]
        raw = golden(work / "csv", entry["file"])
        packed = pyarrow.parquet.read_table(work / "parquet" / folders["parquet"][key]["file"]).to_pylist()
        heading, records = rows_of(book[name])
        if not len(records) == len(raw[1]) == len(packed) == entry["rows"]:
            yield f"{name}: {len(records)} rows on the sheet, {len(raw[1])} in csv, {len(packed)} in parquet"
            continue
        columns = {text: raw_name(text, [column["name"] for column in entry["columns"]]) for text in heading}
        if any(column is None for column, _ in columns.values()):
            yield f"{name}: headings without a column: {columns}"
            continue
        expected = shown.get(key, {"rows": [], "total_rows": len(records)})
        if expected["total_rows"] != len(records):
            yield f"{name}: {len(records)} rows, the document says {expected['total_rows']}"
        for place, record in enumerate(records):
            values = expected["rows"][place]["values"] if place < len(expected["rows"]) else {}
            for text, (column, factor) in columns.items():
                own = record[text]
                own = own * factor if isinstance(own, (int, float)) and not isinstance(own, bool) else own
                sides = [raw[1][place][column], packed[place][column]] + ([values[column]] if column in values else [])
                for side in sides:
                    if isinstance(side, float) and not math.isfinite(side):
                        side = None
                    if isinstance(side, bool) or isinstance(own, bool):
                        side, own = str(side).lower(), str(own).lower()
                    if isinstance(side, str) and not side.isprintable():
                        continue
                    if not close(own, side):
                        yield f"{name}: {text} of row {place} is {record[text]!r}, elsewhere {side!r}"
                        break
                else:
                    continue
                break
            else:
                continue
            break


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", nargs="+", required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--answers", type=Path)
    options = parser.parse_args()
    checks = [(source, agreement, (options.binary, source)) for source in options.inputs]
    if options.json and options.json.exists() and options.answers.is_dir():
        arguments = (options.binary, options.json, options.answers)
        checks.insert(0, (f"TraceLens, {options.json}", against_tracelens, arguments))
    else:
        print("WARNING: TraceLens's answers are absent: its sheets are not compared (set WAVESIEVE_DATA)", file=sys.stderr)
    def problems(named):
        _, check, arguments = named
        with tempfile.TemporaryDirectory() as work:
            return list(check(*arguments, Path(work)))

    passed, failed = 0, 0
    with ThreadPoolExecutor(2) as pool:
        for (name, _, _), found in zip(checks, pool.map(problems, checks)):
            passed, failed = passed + (not found), failed + bool(found)
            for problem in found[:20]:
                print(f"{name}: {problem}", file=sys.stderr)
    print(f"workbooks: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
