-- Counters that were recorded; AMD's lists all that the agents have.
SELECT c.counter AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, c.agent_id AS agent_abs_index, CAST(NULL AS BIGINT) AS is_constant,
    CAST(NULL AS BIGINT) AS is_derived, c.counter AS name, CAST(NULL AS VARCHAR) AS description, CAST(NULL AS VARCHAR) AS block,
    CAST(NULL AS VARCHAR) AS expression
FROM (
    SELECT DISTINCT n.process, n.counter, d.agent_id
    FROM counters AS n
    JOIN counter_dispatches AS d ON d.process = n.process AND d.pass = n.pass AND d.dispatch_id = n.dispatch_id
) AS c
JOIN processes AS p ON p.process = c.process
