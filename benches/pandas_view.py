#!/usr/bin/env python3
"""Statistics of every kernel the way a notebook gets them: a view shaped like rocpd's `kernels`, read whole by pandas.

  pandas_view.py DATABASE

Needs pandas. The view joins the dispatches to their event, category, agent, queue, stream, symbol, process and thread.
"""
import re
import sqlite3
import sys

import pandas

VIEW = """
SELECT k.id, k.guid, c.string AS category, k.kernel_id, s.display_name AS name, k.nid, p.pid, h.tid, a.absolute_index,
  a.type_index, u.name AS queue, t.name AS stream, k.dispatch_id, k.start, k."end", k."end" - k.start AS duration,
  k.grid_size_x, k.grid_size_y, k.grid_size_z, k.workgroup_size_x, k.workgroup_size_y, k.workgroup_size_z,
  k.group_segment_size, k.private_segment_size, e.stack_id, e.parent_stack_id, e.correlation_id
FROM {kernel_dispatch} k
JOIN {event} e ON e.id = k.event_id AND e.guid = k.guid
JOIN {string} c ON c.id = e.category_id AND c.guid = k.guid
JOIN {info_agent} a ON a.id = k.agent_id AND a.guid = k.guid
JOIN {info_queue} u ON u.id = k.queue_id AND u.guid = k.guid
JOIN {info_stream} t ON t.id = k.stream_id AND t.guid = k.guid
JOIN {info_kernel_symbol} s ON s.id = k.kernel_id AND s.guid = k.guid
JOIN {info_process} p ON p.id = k.pid AND p.guid = k.guid
JOIN {info_thread} h ON h.id = k.tid AND h.guid = k.guid
"""


def main():
    connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    names = {}
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
        if match := re.match(r"rocpd_([a-z_]+?)(_?[0-9a-f]{8}[_-].*)$", name):
            names[match.group(1)] = f'"{name}"'
    kernels = pandas.read_sql(VIEW.format(**names), connection)
    summary = kernels.groupby("name").duration.agg(["count", "sum", "mean", "median", "std", "min", "max"])
    print(len(kernels), "dispatches,", len(summary), "kernels")


if __name__ == "__main__":
    main()
