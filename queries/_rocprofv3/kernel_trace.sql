-- Dispatches, as rocprofv3 lists them. Its LDS is what the kernel has statically, in blocks of 512 bytes.
SELECT {guid} 'KERNEL_DISPATCH' AS "Kind", 'Agent ' || CAST(k.agent_id AS VARCHAR) AS "Agent_Id", k.queue_id AS "Queue_Id",
    k.stream_id AS "Stream_Id", k.tid AS "Thread_Id", k.dispatch_id AS "Dispatch_Id", k.kernel_id AS "Kernel_Id",
    k.kernel_name AS "Kernel_Name", k.correlation_id AS "Correlation_Id", k.start_ns AS "Start_Timestamp",
    k.end_ns AS "End_Timestamp", {duration} {lds} AS "LDS_Block_Size", k.scratch_bytes AS "Scratch_Size",
    s.vgpr AS "VGPR_Count", s.accum_vgpr AS "Accum_VGPR_Count", s.sgpr AS "SGPR_Count",
    k.workgroup_x AS "Workgroup_Size_X", k.workgroup_y AS "Workgroup_Size_Y", k.workgroup_z AS "Workgroup_Size_Z",
    k.grid_x AS "Grid_Size_X", k.grid_y AS "Grid_Size_Y", k.grid_z AS "Grid_Size_Z"
FROM kernels AS k
JOIN processes AS p ON p.process = k.process
LEFT JOIN kernel_symbols AS s ON s.process = k.process AND s.kernel_id = k.kernel_id
WHERE k.process = {process}
ORDER BY k.start_ns, k.end_ns DESC, k.dispatch_id
