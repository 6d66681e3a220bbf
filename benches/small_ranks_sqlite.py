#!/usr/bin/env python3
"""The query `busy` over rocpd databases with Python's sqlite3: busy time and span of each GPU, as CSV.

  benches/small_ranks_sqlite.py DIRECTORY
"""
import pathlib
import sqlite3
import sys


def busy(intervals):
    """Length of the union."""
    total, last = 0, None
    for start, end in sorted(intervals):
        if last is None or start > last:
            total, last = total + end - start, end
        elif end > last:
            total, last = total + end - last, end
    return total


def main():
    print("source,gpu,busy_ns,span_ns")
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.db")):
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        names = [name for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        suffix = next(name for name in names if name.startswith("rocpd_metadata")).removeprefix("rocpd_metadata")
        gpus = {}
        dispatches = f"SELECT agent_id, start, end FROM rocpd_kernel_dispatch{suffix}"
        # A copy belongs to the GPU at its far end, or else to the one at its near end.
        copies = (f"SELECT CASE WHEN d.type = 'GPU' THEN d.id ELSE s.id END, c.start, c.end FROM rocpd_memory_copy{suffix} AS c "
                  f"LEFT JOIN rocpd_info_agent{suffix} AS d ON d.id = c.dst_agent_id "
                  f"LEFT JOIN rocpd_info_agent{suffix} AS s ON s.id = c.src_agent_id "
                  "WHERE d.type = 'GPU' OR s.type = 'GPU'")
        for agent, start, end in [*connection.execute(dispatches), *connection.execute(copies)]:
            gpus.setdefault(agent, []).append((start, end))
        connection.close()
        # The span is that of the process.
        first = min(start for intervals in gpus.values() for start, _ in intervals)
        last = max(end for intervals in gpus.values() for _, end in intervals)
        for agent, intervals in sorted(gpus.items()):
            print(f"{path.name},{agent},{busy(intervals)},{last - first}")


if __name__ == "__main__":
    main()
