-- Counters that were recorded; their names are their ids.
SELECT c.counter AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, c.agent_id AS agent_id, CAST(NULL AS VARCHAR) AS target_arch,
    CAST(NULL AS BIGINT) AS event_code, CAST(NULL AS BIGINT) AS instance_id, c.counter AS name, c.counter AS symbol,
    CAST(NULL AS VARCHAR) AS description, CAST(NULL AS VARCHAR) AS long_description, CAST(NULL AS VARCHAR) AS component,
    CAST(NULL AS VARCHAR) AS units, CAST(NULL AS VARCHAR) AS value_type, CAST(NULL AS VARCHAR) AS block,
    CAST(NULL AS VARCHAR) AS expression, CAST(NULL AS BIGINT) AS is_constant, CAST(NULL AS BIGINT) AS is_derived,
    CAST(NULL AS VARCHAR) AS extdata
FROM (
    SELECT DISTINCT n.process, n.counter, d.agent_id
    FROM counters AS n
    JOIN counter_dispatches AS d ON d.process = n.process AND d.pass = n.pass AND d.dispatch_id = n.dispatch_id
) AS c
JOIN processes AS p ON p.process = c.process
