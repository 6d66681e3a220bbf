-- Counters of dispatches, a row for each hardware instance.
SELECT c.instance AS id, p.guid AS guid, c.counter AS pmc_id, c.dispatch_id * 4 AS event_id, 'KERNEL_DISPATCH' AS category,
    d.kernel_name AS name, p.node AS nid, p.pid AS pid, c.dispatch_id AS dispatch_id, d.start_ns AS start, d.end_ns AS "end",
    d.end_ns - d.start_ns AS duration, c.counter AS counter_name, c.value AS counter_value
FROM counter_instances AS c
JOIN counter_dispatches AS d ON d.process = c.process AND d.pass = c.pass AND d.dispatch_id = c.dispatch_id
JOIN processes AS p ON p.process = c.process
