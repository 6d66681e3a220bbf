-- Counters of dispatches, a row each.
SELECT {guid} d.correlation_id AS "Correlation_Id", d.dispatch_id AS "Dispatch_Id",
    'Agent ' || CAST(d.agent_id AS VARCHAR) AS "Agent_Id", d.queue_id AS "Queue_Id", p.pid AS "Process_Id", d.tid AS "Thread_Id",
    d.grid_x * d.grid_y * d.grid_z AS "Grid_Size", d.kernel_id AS "Kernel_Id", d.kernel_name AS "Kernel_Name",
    d.workgroup_x * d.workgroup_y * d.workgroup_z AS "Workgroup_Size", {lds} AS "LDS_Block_Size",
    d.scratch_bytes AS "Scratch_Size", s.vgpr AS "VGPR_Count", s.accum_vgpr AS "Accum_VGPR_Count", s.sgpr AS "SGPR_Count",
    c.counter AS "Counter_Name", c.value AS "Counter_Value", d.start_ns AS "Start_Timestamp", d.end_ns AS "End_Timestamp"
FROM counters AS c
JOIN counter_dispatches AS d ON d.process = c.process AND d.pass = c.pass AND d.dispatch_id = c.dispatch_id
LEFT JOIN kernel_symbols AS s ON s.process = d.process AND s.kernel_id = d.kernel_id
JOIN processes AS p ON p.process = c.process
WHERE c.process = {process}
ORDER BY d.start_ns, d.end_ns DESC, d.dispatch_id, c.counter
