SELECT rank, CAST(kernel_name AS VARCHAR) AS kernel_name, dispatch_id, agent_id, start_ns, end_ns
FROM kernels
ORDER BY rank, process, start_ns, dispatch_id
