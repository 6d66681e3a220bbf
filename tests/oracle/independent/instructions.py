"""The family `instructions`: thread traces by instruction, class and source line, and program counter samples."""

import csv
import re
import shutil
import tomllib
from pathlib import Path

from common import REPOSITORY

from .case import Case
from .inputs import WRITTEN
from .sums import first_of_each, grouped, ordered, percent, ratio

RULES = tomllib.loads((REPOSITORY / "share" / "instructions.toml").read_text())
SUMS = ("instructions", "ran", "hitcount", "hit_pct", "latency_cycles", "stall_cycles", "idle_cycles")
SHARES = ("stall_pct", "latency_pct", "stalled_pct", "latency_per_hit")


def class_of(instruction):
    """What an instruction is for: the first class with a pattern for its mnemonic."""
    mnemonic = instruction.split()[0].lower()
    matching = (one["class"] for one in RULES["class"] if any(re.fullmatch(pattern, mnemonic) for pattern in one["mnemonics"]))
    return next(matching, "other")


def line_of(place):
    """File and number of a source line, nothing where there is none."""
    found = re.fullmatch(r"(.+):(\d+)", place.strip())
    return (found[1], int(found[2])) if found else (None, None)


def whole(row, column):
    return int(row[column]) if row.get(column) not in (None, "") else None


def listings(source):
    """(process, capture, dispatch, instructions) of every thread trace; other files of the input are the process before."""
    files = sorted(source.path.rglob("stats_*.csv"))
    others = [path for path in source.path.rglob("*.csv") if path not in files]
    for number, path in enumerate(files, 1 if others else 0):
        capture, kernel, rows = path.stem.removeprefix("stats_"), None, []
        dispatch = re.search(r"dispatch_(\d+)", capture)
        with path.open(newline="") as file:
            for ordinal, row in enumerate(csv.DictReader(file, skipinitialspace=True), 1):
                text = row["Instruction"]
                if text.startswith(";"):
                    kernel = row["Source"] or text.removeprefix(";").strip()
                    continue
                lines = [line_of(place) for place in (row["Source"] or "").split("->")]
                rows.append({
                    "rank": 0, "process": number, "capture": capture, "dispatch_id": int(dispatch[1]) if dispatch else None,
                    "kernel_name": kernel, "vaddr": int(row["Vaddr"]), "code_object_id": int(row["CodeObj"]), "instruction": text,
                    "class": class_of(text), "hitcount": int(row["Hitcount"]), "latency_cycles": int(row["Latency"]),
                    "stall_cycles": whole(row, "Stall"), "idle_cycles": whole(row, "Idle"), "ordinal": ordinal,
                    "innermost": lines[0], "outermost": lines[-1],
                })  # fmt: skip
        yield rows


def instructions_of(source):
    return [row for rows in listings(source) for row in rows]


def cost(row):
    """Stall, and latency where no stall is recorded."""
    return row["latency_cycles"] if row["stall_cycles"] is None else row["stall_cycles"]


def added(rows, column):
    """Sum of a column, nothing where no row has it."""
    values = [row[column] for row in rows if row[column] is not None]
    return sum(values) if values else None


def by_label(source, options, labels, rows):
    """Hits, latency and stall by grouping columns and labels."""
    by, records = options.by("kernel_name"), []
    of_group = grouped(rows, list(by))
    for key, group in grouped(rows, [*by, *labels]).items():
        every, stalled = of_group[key[: len(by)]], [row for row in group if row["stall_cycles"] is not None]
        record = dict(zip((*by, *labels), key)) | {"instructions": len(group), "ran": sum(row["hitcount"] > 0 for row in group)}
        for column in ("hitcount", "latency_cycles", "stall_cycles", "idle_cycles"):
            record[column] = added(group, column)
        record |= {"hit_pct": percent(record["hitcount"], added(every, "hitcount"))}
        record |= {"stall_pct": percent(record["stall_cycles"], added(every, "stall_cycles"))}
        record |= {"latency_pct": percent(record["latency_cycles"], added(every, "latency_cycles"))}
        record |= {"stalled_pct": percent(record["stall_cycles"], added(stalled, "latency_cycles"))}
        record |= {"latency_per_hit": ratio(record["latency_cycles"], record["hitcount"]), "cost": sum(cost(row) for row in group)}
        records.append(record)
    records = first_of_each(ordered(records, by, "-cost", "-hitcount", *labels), by, options.whole("top", 0))
    return [{column: record[column] for column in (*by, *labels, *SUMS, *SHARES)} for record in records]


def att_by_class(source, options):
    return by_label(source, options, ("class",), instructions_of(source))


def att_by_line(source, options):
    link = options.text("link", "innermost")
    rows = [row | dict(zip(("source_file", "source_line"), row[link])) for row in instructions_of(source)]
    return by_label(source, options, ("source_file", "source_line"), rows)


def att_hotspots(source, options):
    rows, records = instructions_of(source), []
    for group in grouped(rows, ["process", "kernel_name"]).values():
        total = sum(cost(row) for row in group)
        for row in group:
            if not row["hitcount"] or 100 * cost(row) < options.number("min-pct", 0) * total:
                continue
            record = row | dict(zip(("source_file", "source_line"), row["innermost"])) | {"cost": cost(row)}
            record |= {"stall_pct": percent(row["stall_cycles"], added(group, "stall_cycles"))}
            record |= {"latency_pct": percent(row["latency_cycles"], added(group, "latency_cycles"))}
            record |= {"stalled_pct": percent(row["stall_cycles"], row["latency_cycles"])}
            records.append(record | {"latency_per_hit": ratio(row["latency_cycles"], row["hitcount"])})
    records = first_of_each(ordered(records, (), "-cost", "-latency_cycles", "process", "ordinal"), (), options.whole("top", 0))
    columns = ("rank", "capture", "dispatch_id", "kernel_name", "vaddr", "instruction", "class", "source_file", "source_line", "hitcount")
    columns += ("latency_cycles", "stall_cycles", "idle_cycles", *SHARES, "ordinal", "process")
    return [{column: record[column] for column in columns} for record in records]


def samples_of(source):
    """Program counter samples of both methods, with the kernel of their dispatch where it is recorded."""
    kernels = {}
    for _, rows in source.csv_rows("*_kernel_trace.csv"):
        kernels |= {row["Dispatch_Id"]: row["Kernel_Name"] for row in rows}
    for _, rows in source.csv_rows("*_pc_sampling_*.csv"):
        for row in rows:
            issued = {"0": False, "1": True}.get(row.get("Wave_Issued_Instruction"))
            reason = re.sub(r".*_NOT_ISSUED_REASON_", "", row.get("Stall_Reason") or "") or None
            kind = re.sub(r".*_INSTRUCTION_TYPE_", "", row.get("Instruction_Type") or "") or None
            yield {
                "rank": 0, "process": 0, "dispatch_id": int(row["Dispatch_Id"]), "kernel_name": kernels.get(row["Dispatch_Id"]),
                "instruction": row["Instruction"], "source": row["Instruction_Comment"] or None, "wave_issued": issued,
                "stall_reason": None if issued else reason, "instruction_type": kind,
            }  # fmt: skip


def pc_hotspots(source, options):
    by, samples, records = options.by("kernel_name", "instruction", "stall_reason"), list(samples_of(source)), []
    for key, group in grouped(samples, list(by)).items():
        known = [sample["wave_issued"] for sample in group if sample["wave_issued"] is not None]
        record = dict(zip(by, key)) | {"samples": len(group), "pct": percent(len(group), len(samples))}
        record |= {"issued": sum(known) if known else None, "stalled": len(known) - sum(known) if known else None}
        records.append(record | {"issued_pct": percent(sum(known), len(known))})
    # Null comes first in each of the grouping columns, after the samples.
    records = ordered(ordered(records, by), (), "-samples")
    return first_of_each(records, (), options.whole("top", 0))


def more_captures(folder):
    """The thread traces, and one more of the same kernels that ran half as often."""
    origin = REPOSITORY / "fixtures" / "thread_trace"
    for path in origin.iterdir():
        shutil.copyfile(path, Path(folder) / path.name)
    third = (origin / "stats_ui_output_agent_4_dispatch_3.csv").read_text()
    (Path(folder) / "stats_ui_output_agent_4_dispatch_8.csv").write_text(third.replace(",192,", ",96,").replace(",16,", ",8,"))


WRITTEN["more_captures"] = more_captures

TRACES = ("thread_trace",)
# The numbers of processes without a guid are documented by nothing, so that queries that show them leave out what has more.
CAPTURES = ("thread_trace", "more_captures")

QUERIES = {
    "att_by_class": Case(att_by_class, CAPTURES, ((), ("--by", "capture,dispatch_id"), ("--top", "2"))),
    "att_by_line": Case(att_by_line, CAPTURES, ((), ("--link", "outermost"), ("--by", "code_object_id", "--top", "4"))),
    "att_hotspots": Case(att_hotspots, TRACES, ((), ("--min-pct", "3"), ("--top", "7"))),
    "pc_hotspots": Case(pc_hotspots, TRACES, ((), ("--by", "source,wave_issued"), ("--by", "kernel_name,instruction_type", "--top", "2"))),
}
