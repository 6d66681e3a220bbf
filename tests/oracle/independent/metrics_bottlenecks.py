"""The query `bottlenecks`: the rules of share/bottlenecks.toml over metrics of kernels."""

import tomllib

from common import REPOSITORY

from .case import Case
from .metric_table import gpus_of, metric_rows, value_of
from .sums import first_of_each, grouped, ordered, percent

RULES = tomllib.loads((REPOSITORY / "share" / "bottlenecks.toml").read_text())["bottleneck"]
EVIDENCE = {evidence["metric"] for rule in RULES for evidence in rule["evidence"]}


class Judged:
    """A rule about a kernel: its state, and its evidence in words."""

    def __init__(self, rule, rows):
        self.rule, self.told, self.missing, holds = rule, [], [], True
        for evidence in rule["evidence"]:
            row = rows.get(evidence["metric"])
            value = row and value_of([row])
            if value is None:
                self.missing.append(f"{row['title']}: {row['reason']}")
                continue
            if evidence.get("of_peak"):
                value, unit = percent(value, row["peak"]), "% of peak"
            else:
                unit = row["unit"]
            side, bound = next((side, evidence[side]) for side in ("at_least", "at_most") if side in evidence)
            holds = holds and (value >= bound if side == "at_least" else value <= bound)
            self.told.append(f"{row['title']}: {value:.1f} {unit} ({side.replace('_', ' ')} {bound:g})")
        self.state = "no" if not holds else "unknown" if self.missing else "yes"


def judged_kernels(source):
    """(columns of the kernel, rules about it) for every kernel of every GPU."""
    for gpu in gpus_of(source):
        rows = metric_rows([gpu], lambda dispatch: (dispatch["kernel_name"],), wanted=EVIDENCE)
        times = grouped(gpu.dispatches, ["kernel_name"])
        for (name,), group in grouped(rows, lambda row: row["group"]).items():
            dispatches = times[(name,)]
            kernel = {"rank": dispatches[0]["rank"], "process": dispatches[0]["process"], "gpu": dispatches[0]["gpu"], "kernel_name": name}
            kernel |= {"kernel_id": dispatches[0]["kernel_id"], "dispatches": len(dispatches)}
            kernel["time_ns"] = sum(dispatch["duration_ns"] for dispatch in dispatches)
            of = {row["metric"]: row for row in group}
            yield kernel, [Judged(rule, of) for rule in RULES]


def bottlenecks(source, options):
    records = []
    for kernel, rules in judged_kernels(source):
        found, unknown, verdict = [], [], None
        for ordinal, one in enumerate(rules):
            told = {"bottleneck": one.rule["id"], "verdict": one.rule["verdict"], "state": one.state, "ordinal": ordinal}
            record = kernel | told | {"evidence": "; ".join(one.told) or None, "missing": "; ".join(one.missing) or None}
            # Derived causes are only named if none of their own is unknown.
            if one.state == "yes" and verdict is None and not (one.rule.get("follows") and unknown):
                verdict = record
            unknown += [one] if one.state == "unknown" else []
            found.append(record)
        if verdict is None:
            name = "unknown" if unknown else "none"
            missing = "; ".join(f"{one.rule['verdict']}: {'; '.join(one.missing)}" for one in unknown)
            verdict = kernel | {"bottleneck": name, "verdict": name, "state": "unknown" if unknown else "yes", "ordinal": len(rules)}
            verdict |= {"evidence": None, "missing": missing or None}
            found.append(verdict)
        show = options.text("show", "verdict")
        records += [record for record in found if record is verdict or show == "all" or (show == "found" and record["state"] == "yes")]
    records = ordered(records, (), "-time_ns", "rank", "process", "gpu", "kernel_id", "ordinal")
    columns = ("rank", "gpu", "kernel_name", "time_ns", "dispatches", "bottleneck", "verdict", "state", "evidence", "missing")
    return [{column: record[column] for column in columns} for record in first_of_each(records, (), options.whole("top", 0))]


QUERIES = {"bottlenecks": Case(bottlenecks, ("profile", "compute"), ((), ("--show", "found"), ("--show", "all"), ("--top", "4")))}
