,
    CAST(s.wave_issued AS BIGINT) AS "Wave_Issued_Instruction", CAST(s.instruction_type AS VARCHAR) AS "Instruction_Type",
    CAST(s.stall_reason AS VARCHAR) AS "Stall_Reason", CAST(NULL AS BIGINT) AS "Wave_Count"
