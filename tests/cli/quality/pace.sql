-- To base.sql: twelve ranges of a thread, each with three dispatches of one kernel. The first and the third have the same shape and take
-- different time, by their place. The clock falls from range to range, and the first takes longer in proportion.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (90, 'GFX Clock [0]'), (91, 'amd_smi'), (92, 'roctxThreadRangeA'), (93, 'MARKER_CORE_RANGE_API');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, units) VALUES (90, 1, 1, 2, 'GFX Clock', 'Clk', 'MHz');
INSERT INTO rocpd_track{suffix} (id, nid, pid, name_id) VALUES (90, 1, 1, 90);
CREATE TEMP TABLE turns AS WITH RECURSIVE turn (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM turn WHERE number < 11)
    SELECT number, 1400000000 + number * 1000000 AS start, 2000 - 20 * number AS mhz, 200000000 / (2000 - 20 * number) AS long_ns FROM turn;
CREATE TEMP TABLE parts (part INTEGER, grid INTEGER);
INSERT INTO parts VALUES (0, 2048), (1, 1024), (2, 2048);
-- Events: clocks from 1000, ranges from 1100, calls from 2000, dispatches from 3000.
INSERT INTO rocpd_event{suffix} (id, category_id) SELECT 1000 + number, 91 FROM turns;
INSERT INTO rocpd_sample{suffix} (track_id, timestamp, event_id) SELECT 90, start, 1000 + number FROM turns;
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) SELECT 1000 + number, 90, mhz FROM turns;
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id, extdata)
    SELECT 1100 + number, 93, 1100 + number, 0, 0, '{"message":"work"}' FROM turns;
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id)
    SELECT 1100 + number, 1, 1, 1, start, start + 20000, 92, 1100 + number FROM turns;
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id)
    SELECT 2000 + 3 * number + part, 3, 2000 + 3 * number + part, 0, 0 FROM turns, parts;
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id)
    SELECT 2000 + 3 * number + part, 1, 1, 1, start + 1000 + 3000 * part, start + 3000 + 3000 * part, 2, 2000 + 3 * number + part FROM turns, parts;
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id)
    SELECT 3000 + 3 * number + part, 4, 2000 + 3 * number + part, 2000 + 3 * number + part, 0 FROM turns, parts;
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
    SELECT 100 + 3 * number + part, 1, 1, 1, 2, 1, 100 + 3 * number + part, 1, 1,
        start + 10000 + CASE part WHEN 0 THEN 0 WHEN 1 THEN long_ns + 1000 ELSE long_ns + 12000 END,
        start + 10000 + CASE part WHEN 0 THEN long_ns WHEN 1 THEN long_ns + 11000 ELSE long_ns + 32000 END,
        256, 1, 1, grid, 1, 1, 1, 3000 + 3 * number + part
    FROM turns, parts;
-- One more before, so that the first range begins behind the same work as the others.
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES (4000, 4, 4000, 4000, 0);
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
    VALUES (99, 1, 1, 1, 2, 1, 99, 1, 1, 1399000000, 1399020000, 256, 1, 1, 2048, 1, 1, 1, 4000);
DROP TABLE turns;
DROP TABLE parts;
