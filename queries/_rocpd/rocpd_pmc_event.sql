-- Counters of dispatches, a row for each hardware instance; the names of counters are their ids.
SELECT c.instance AS id, p.guid AS guid, c.dispatch_id * 4 AS event_id, c.counter AS pmc_id, c.value AS value, CAST(NULL AS VARCHAR) AS extdata
FROM counter_instances AS c
JOIN processes AS p ON p.process = c.process
