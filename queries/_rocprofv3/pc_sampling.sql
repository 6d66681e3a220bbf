-- Samples of the program counter: those of traps of the host, or the stochastic ones, which know whether the wavefront issued.
SELECT {guid} s.time_ns AS "Sample_Timestamp", s.exec_mask AS "Exec_Mask", s.dispatch_id AS "Dispatch_Id",
    s.instruction AS "Instruction", COALESCE(s.comment, '') AS "Instruction_Comment", k.correlation_id AS "Correlation_Id"{issued}
FROM pc_samples AS s
JOIN processes AS p ON p.process = s.process
LEFT JOIN kernels AS k ON k.process = s.process AND k.dispatch_id = s.dispatch_id
WHERE s.process = {process} AND (s.wave_issued IS NOT NULL) = {is_stochastic}
ORDER BY s.time_ns, s.dispatch_id, s.wave
