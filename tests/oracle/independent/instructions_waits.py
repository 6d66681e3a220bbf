"""The query `att_waits`: memory operations behind waits, by following straight code with what each counter counts."""

import re

from .case import Case
from .instructions import RULES, cost, listings
from .sums import first_of_each, grouped, ordered, percent, ratio

GENERATION = next(one for one in RULES["generation"] if one["name"] == "gfx9")


def operation_of(instruction):
    """The kind of a memory operation, nothing for other instructions."""
    text = instruction.lower()
    kinds = (one["kind"] for one in RULES["operation"] if any(re.fullmatch(pattern, text) for pattern in one["instructions"]))
    kind = next(kinds, "none")
    return None if kind == "none" else kind


def target_of(row):
    """Address that a direct branch leads to: its last operand is a distance in words, after the branch."""
    words = int(row["instruction"].split()[-1])
    return row["vaddr"] + 4 + 4 * (words - 65536 if words >= 32768 else words)


def is_branch(row, group):
    return any(re.fullmatch(pattern, row["instruction"].split()[0].lower()) for pattern in RULES["branches"][group])


def branch_targets(rows):
    """Places that a branch was taken to: it ran more often than what is behind it."""
    found = set()
    for row, behind in zip(rows, rows[1:]):
        if row["hitcount"] and is_branch(row, "direct") and (is_branch(row, "final") or behind["hitcount"] != row["hitcount"]):
            found.add(target_of(row))
    return found


def finish_in_order(kinds):
    return any(all(kind in group for kind in kinds) for group in GENERATION["ordered"])


def parts_of(rows):
    """(wait, counter, operation or reason, part, number of parts) of every wait of a kernel that ran."""
    counters, targets, before = GENERATION["counters"], branch_targets(rows), None
    is_open = dict.fromkeys(counters, False)
    queues = {counter: [] for counter in counters}
    for row in rows:
        # Work that runs more often than the work before it is also reached otherwise.
        if before and (is_branch(before, "final") or row["vaddr"] in targets or row["hitcount"] > before["hitcount"]):
            queues, is_open = {counter: [] for counter in counters}, dict.fromkeys(counters, True)
        before = row
        if row["class"] == "wait":
            if row["hitcount"]:
                yield from split(row, queues, is_open)
        elif row["hitcount"] and operation_of(row["instruction"]):
            for counter, kinds in counters.items():
                if operation_of(row["instruction"]) in kinds:
                    queues[counter].append(row)


def split(wait, queues, is_open):
    """The equal parts of a wait, for each operation that it waits for and each counter of which that is not known."""
    parts = []
    for counter, limit in re.findall(r"(\w+cnt)\((\d+)\)", wait["instruction"]):
        queue, kept = queues[counter], int(limit)
        unknown = "other_path" if is_open[counter] else "nothing_under_way"
        if kept and kept >= len(queue):
            parts.append((counter, unknown))
        elif kept and not finish_in_order([operation_of(row["instruction"]) for row in queue]):
            parts.append((counter, "any_order"))
        else:
            done, queues[counter] = queue[: len(queue) - kept], queue[len(queue) - kept :]
            parts += [(counter, row) for row in done] or [(counter, unknown)]
            is_open[counter] = False
    # An operation that two counters count is waited for once, and a wait waits for nothing only if no counter has anything.
    once = [part for place, part in enumerate(parts) if isinstance(part[1], str) or part[1] not in [other for _, other in parts[:place]]]
    some = [part for part in once if part[1] != "nothing_under_way"] or once[:1]
    for place, (counter, what) in enumerate(some):
        yield wait, counter, what, place, len(some)


def part_of(total, place, parts):
    """A part of some cycles, as equal as whole numbers allow."""
    return None if total is None else total // parts + (place < total % parts)


def att_waits(source, options):
    found = []
    for rows in listings(source):
        for kernel in grouped(rows, ["kernel_name"]).values():
            for wait, counter, what, place, parts in parts_of(kernel):
                known = not isinstance(what, str)
                record = {column: wait[column] for column in ("rank", "process", "capture", "kernel_name")}
                record |= {column: what[column] if known else None for column in ("vaddr", "instruction", "class")}
                record |= dict(zip(("source_file", "source_line"), what["innermost"] if known else (None, None)))
                record |= {"counter": counter, "reason": None if known else what, "wait": wait["ordinal"]}
                record |= {column: part_of(wait[column], place, parts) for column in ("stall_cycles", "latency_cycles")}
                record |= {"operation_ordinal": what["ordinal"] if known else None, "hits": what["hitcount"] if known else None}
                found.append(record | {"cost": part_of(cost(wait), place, parts)})
    records, labels = [], ("process", "kernel_name", "operation_ordinal", "counter", "reason")
    of_kernel = {key: sum(row["cost"] for row in group) for key, group in grouped(found, ["process", "kernel_name"]).items()}
    for key, group in grouped(found, list(labels)).items():
        record = group[0] | {"waits": len({row["wait"] for row in group}), "cost": sum(row["cost"] for row in group)}
        stall = [row["stall_cycles"] for row in group if row["stall_cycles"] is not None]
        record |= {"stall_cycles": sum(stall) if stall else None, "latency_cycles": sum(row["latency_cycles"] for row in group)}
        record |= {"wait_pct": percent(record["cost"], of_kernel[key[:2]]), "cycles_per_hit": ratio(record["cost"], record["hits"])}
        records.append(record | {"first": min(row["wait"] for row in group)})
    records = ordered(records, (), "-cost", "process", "operation_ordinal", "first", "counter", "reason")
    columns = ("rank", "capture", "kernel_name", "vaddr", "instruction", "class", "source_file", "source_line", "counter", "reason")
    columns += ("waits", "stall_cycles", "latency_cycles", "wait_pct", "cycles_per_hit", "operation_ordinal", "process")
    return [{column: record[column] for column in columns} for record in first_of_each(records, (), options.whole("top", 0))]


QUERIES = {"att_waits": Case(att_waits, ("thread_trace",), ((), ("--top", "5")))}
