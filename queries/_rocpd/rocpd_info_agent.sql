-- Agents.
SELECT a.agent_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, a.agent_type AS type, a.agent_id AS absolute_index,
    CAST(NULL AS BIGINT) AS logical_index, a.gpu AS type_index, a.uuid AS uuid, a.name AS name,
    CAST(NULL AS VARCHAR) AS model_name, CAST(NULL AS VARCHAR) AS vendor_name, a.product_name AS product_name, CAST(NULL AS VARCHAR) AS user_name,
    CAST(NULL AS VARCHAR) AS extdata
FROM agents AS a
JOIN processes AS p ON p.process = a.process
