"""The query `iteration_ranges`: iterations found in the kernels beside repeating ROCTx ranges."""

from .case import Case
from .inputs import made, rows, table
from .iterating import iterations_of
from .markers import gaps, repeating
from .ranging import count_of
from .sums import median


def iteration_ranges(source, options):
    records = []
    for process in source.traced():
        iterations, found = iterations_of(process), []
        for (_, number, tid, _, path), spans in repeating(source).items():
            spans = [span for span in spans if count_of(span["work"], "kernel") and span["depth"] <= options.whole("depth", 3)]
            if number != process.number or len(spans) < 2 or not iterations:
                continue
            kernels = median(count_of(span["work"], "kernel") for span in spans)
            record = {"rank": process.rank, "tid": tid, "path": path, "ranges": len(spans), "iterations": len(iterations)}
            record |= {"ranges_per_iteration": len(spans) / len(iterations), "kernels_per_range": kernels}
            record |= {"period": iterations[0]["period"], "pace_ns": median(gaps(spans))}
            found.append(record | {"iteration_ns": median(iteration["duration_ns"] for iteration in iterations)})
        # Names with as many ranges as iterations fit best, then those that launched most.
        found.sort(key=lambda row: (abs(row["ranges"] - row["iterations"]), -row["kernels_per_range"], row["path"], row["tid"] is None, row["tid"]))
        records += found[: options.whole("top", 5) or None]
    return records


@made("steps_alone", "planted")
def forget_what_comes_before(connection, number):
    """A run without kernels before its first step."""
    first = min(row["start"] for row in rows(connection, "region") if row["event_id"] in marked(connection))
    connection.execute(f'DELETE FROM "{table(connection, "kernel_dispatch")}" WHERE "start" < ?', (first,))


def marked(connection):
    return {row["id"] for row in rows(connection, "event") if '"step"' in row["extdata"]}


QUERIES = {"iteration_ranges": Case(iteration_ranges, ("steps_alone",), ((), ("--top", "1", "--depth", "0")))}
