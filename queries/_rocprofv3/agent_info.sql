-- The agents of a process, by the names that rocprofv3 has for what was read of them.
SELECT {guid} a.agent_id AS "Node_Id", a.agent_id AS "Logical_Node_Id", CAST(a.agent_type AS VARCHAR) AS "Agent_Type",
    a.cu_count * a.simd_per_cu AS "Simd_Count", a.max_waves_per_simd AS "Max_Waves_Per_Simd",
    CAST(floor(a.lds_bytes / 1024.0) AS BIGINT) AS "Lds_Size_In_Kb", a.wave_size AS "Wave_Front_Size", a.num_xcc AS "Num_Xcc",
    a.cu_count AS "Cu_Count", a.shader_engines AS "Array_Count", a.shader_engines AS "Num_Shader_Banks",
    a.simd_per_cu AS "Simd_Per_Cu", a.pci_device_id AS "Device_Id", CASE WHEN a.agent_type = 'GPU' THEN a.max_clock_mhz END AS "Max_Engine_Clk_Fcompute",
    CASE WHEN a.agent_type <> 'GPU' THEN a.max_clock_mhz END AS "Max_Engine_Clk_Ccompute",
    a.max_waves_per_cu AS "Max_Waves_Per_Cu", a.mem_bytes AS "Local_Mem_Size", a.name AS "Name", a.product_name AS "Product_Name"
FROM agents AS a
JOIN processes AS p ON p.process = a.process
WHERE a.process = {process}
ORDER BY a.agent_id
