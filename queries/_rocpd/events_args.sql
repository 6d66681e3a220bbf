-- Arguments with the events that they belong to.
SELECT CASE CAST(a.owner AS VARCHAR) WHEN 'kernel' THEN a.owner_id * 4 WHEN 'copy' THEN a.owner_id * 4 + 1 ELSE a.owner_id * 4 + 2 END AS event_id,
    CASE CAST(a.owner AS VARCHAR) WHEN 'kernel' THEN 'KERNEL_DISPATCH' WHEN 'copy' THEN 'MEMORY_COPY' ELSE CAST(r.category AS VARCHAR) END
        AS category,
    r.correlation_id AS stack_id, r.parent_correlation_id AS parent_stack_id, r.external_id AS correlation_id,
    a.position AS arg_position, a.type AS arg_type, a.name AS arg_name, a.value AS arg_value, r.call_stack AS call_stack,
    CAST(NULL AS VARCHAR) AS line_info, CAST(NULL AS VARCHAR) AS extdata
FROM (SELECT *, CASE CAST(owner AS VARCHAR) WHEN 'region' THEN owner_id END AS region_id FROM args) AS a
LEFT JOIN regions AS r ON r.process = a.process AND r.region_id = a.region_id
