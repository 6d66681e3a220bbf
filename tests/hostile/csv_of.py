"""Writes a generated rocpd database as the CSV files of rocprofv3."""

import csv
import sqlite3

KERNELS = """
SELECT 'KERNEL_DISPATCH', 'Agent ' || a.absolute_index, d.queue_id, d.stream_id, t.tid, d.dispatch_id, d.kernel_id,
  s.display_name, e.stack_id, d.start, d."end", d.group_segment_size, d.private_segment_size, 16, 0, 32,
  d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.grid_size_x, d.grid_size_y, d.grid_size_z
FROM {kernel_dispatch} d JOIN {info_agent} a ON a.id = d.agent_id JOIN {info_thread} t ON t.id = d.tid
JOIN {info_kernel_symbol} s ON s.id = d.kernel_id JOIN {event} e ON e.id = d.event_id ORDER BY d.id
"""
KERNEL_COLUMNS = [
    "Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
    "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count",
    "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z",
]  # fmt: skip
CALLS = """
SELECT 'HIP_RUNTIME_API_EXT', n.string, p.pid, t.tid, e.stack_id, r.start, r."end"
FROM {region} r JOIN {string} n ON n.id = r.name_id JOIN {info_thread} t ON t.id = r.tid
JOIN {info_process} p ON p.id = r.pid JOIN {event} e ON e.id = r.event_id ORDER BY r.id
"""
CALL_COLUMNS = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
COPIES = """
SELECT 'MEMORY_COPY', n.string, c.stream_id, 'Agent ' || src.absolute_index, 'Agent ' || dst.absolute_index, e.stack_id,
  c.start, c."end"
FROM {memory_copy} c JOIN {string} n ON n.id = c.name_id JOIN {info_agent} src ON src.id = c.src_agent_id
JOIN {info_agent} dst ON dst.id = c.dst_agent_id JOIN {event} e ON e.id = c.event_id ORDER BY c.id
"""
COPY_COLUMNS = [
    "Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp",
    "End_Timestamp",
]  # fmt: skip
AGENTS = """
SELECT absolute_index, logical_index, type, name FROM {info_agent} ORDER BY id
"""
AGENT_COLUMNS = ["Node_Id", "Logical_Node_Id", "Agent_Type", "Name"]


def write(database, folder):
    """Writes the files of a capture, named by the process."""
    connection = sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    bases = ["kernel_dispatch", "info_agent", "info_thread", "info_kernel_symbol", "event", "region", "string",
             "info_process", "memory_copy"]  # fmt: skip
    tables = {base: f'"{next(name for name in names if name.startswith(f"rocpd_{base}_0"))}"' for base in bases}
    (pid,) = connection.execute("SELECT pid FROM {info_process}".format(**tables)).fetchone()
    for ending, columns, statement in [
        ("kernel_trace", KERNEL_COLUMNS, KERNELS),
        ("hip_api_trace", CALL_COLUMNS, CALLS),
        ("memory_copy_trace", COPY_COLUMNS, COPIES),
        ("agent_info", AGENT_COLUMNS, AGENTS),
    ]:
        with open(folder / f"{pid}_{ending}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
            writer.writerow(columns)
            writer.writerows(connection.execute(statement.format(**tables)))
    connection.close()
