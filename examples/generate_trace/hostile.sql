-- Damages one clean process: everything a reader must survive. fixtures/README.md lists the counts.
-- Every anomaly has rows of its own, chosen by id, so that tests can count them apart.

-- Event ids with gaps and in no order: multiplied modulo a prime.
CREATE TEMP TABLE renumbered AS SELECT id AS old_id, id * 7919 % 99991 + 1000 AS new_id FROM rocpd_event{suffix};
CREATE TEMP TABLE shuffled AS SELECT r.new_id, e.* FROM rocpd_event{suffix} e JOIN renumbered r ON r.old_id = e.id ORDER BY r.new_id;
DELETE FROM rocpd_event{suffix};
INSERT INTO rocpd_event{suffix} SELECT new_id, guid, category_id, stack_id, parent_stack_id, correlation_id, call_stack, line_info, extdata FROM shuffled ORDER BY new_id;
UPDATE rocpd_region{suffix} SET event_id = (SELECT new_id FROM renumbered WHERE old_id = event_id);
UPDATE rocpd_kernel_dispatch{suffix} SET event_id = (SELECT new_id FROM renumbered WHERE old_id = event_id);
UPDATE rocpd_memory_copy{suffix} SET event_id = (SELECT new_id FROM renumbered WHERE old_id = event_id);
UPDATE rocpd_memory_allocate{suffix} SET event_id = (SELECT new_id FROM renumbered WHERE old_id = event_id);
UPDATE rocpd_sample{suffix} SET event_id = (SELECT new_id FROM renumbered WHERE old_id = event_id);
DROP TABLE shuffled;
DROP TABLE renumbered;

-- region_name_id: NULL for dispatches 1-10, a name for 11-20, the empty string for the others.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (9001, 'renamed kernel');
UPDATE rocpd_kernel_dispatch{suffix} SET region_name_id = NULL WHERE id BETWEEN 1 AND 10;
UPDATE rocpd_kernel_dispatch{suffix} SET region_name_id = 9001 WHERE id BETWEEN 11 AND 20;

-- Missing rows: a symbol, an agent, a thread, a string, an event.
UPDATE rocpd_kernel_dispatch{suffix} SET kernel_id = 777 WHERE id IN (21, 22);
UPDATE rocpd_kernel_dispatch{suffix} SET agent_id = 66 WHERE id = 23;
UPDATE rocpd_kernel_dispatch{suffix} SET tid = 55555 WHERE id IN (24, 25);
UPDATE rocpd_region{suffix} SET name_id = 8888 WHERE id = (SELECT MAX(id) FROM rocpd_region{suffix});
UPDATE rocpd_kernel_dispatch{suffix} SET event_id = NULL WHERE id = 26;

-- Correlation ids that no call has.
UPDATE rocpd_event{suffix} SET stack_id = stack_id + 1000000, parent_stack_id = parent_stack_id + 1000000
WHERE id IN (SELECT event_id FROM rocpd_kernel_dispatch{suffix} WHERE id BETWEEN 27 AND 29);

-- Reals in integer columns: an address from 2^63 on in three tables, and a start with a fraction.
UPDATE rocpd_info_kernel_symbol{suffix} SET kernel_object = 18446603336221196288.0 WHERE id = 1;
UPDATE rocpd_info_code_object{suffix} SET load_base = 18446603336221196288.0 WHERE id = 1;
UPDATE rocpd_memory_copy{suffix} SET dst_address = 9223372036854775808.0 WHERE id = 1;
UPDATE rocpd_kernel_dispatch{suffix} SET start = start + 0.5 WHERE id = 30;

-- Times: zero start, end before start, zero length, days away.
UPDATE rocpd_kernel_dispatch{suffix} SET start = 0 WHERE id IN (31, 32);
UPDATE rocpd_kernel_dispatch{suffix} SET start = "end", "end" = start WHERE id IN (33, 34, 35);
UPDATE rocpd_kernel_dispatch{suffix} SET "end" = start WHERE id IN (36, 37);
UPDATE rocpd_kernel_dispatch{suffix} SET start = start + 432000000000000, "end" = "end" + 432000000000000 WHERE id = 38;
UPDATE rocpd_region{suffix} SET start = "end", "end" = start WHERE id = 5;
UPDATE rocpd_memory_copy{suffix} SET start = 0, "end" = 0 WHERE id = 2;

-- Two dispatches written twice under other ids: the copies overlap the originals on the same queue.
INSERT INTO rocpd_kernel_dispatch{suffix}
SELECT id + 1000, guid, nid, pid, tid, agent_id, kernel_id, dispatch_id + 1000, queue_id, stream_id, start, "end",
private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y,
grid_size_z, region_name_id, event_id, extdata FROM rocpd_kernel_dispatch{suffix} WHERE id IN (39, 40);

-- A process that was killed: no start, no end.
UPDATE rocpd_info_process{suffix} SET init = NULL, fini = NULL, start = NULL, "end" = NULL;

-- Invalid JSON in a marker's text.
UPDATE rocpd_event{suffix} SET extdata = '{"message": "cut o' WHERE id = (SELECT MIN(id) FROM rocpd_event{suffix} WHERE extdata LIKE '%layer%');

-- A newer writer: an unknown column and an unknown table. An older one: no arguments.
ALTER TABLE rocpd_kernel_dispatch{suffix} ADD COLUMN wave_limit INTEGER DEFAULT 7;
CREATE TABLE rocpd_future_thing{suffix} (id INTEGER NOT NULL PRIMARY KEY, guid TEXT NOT NULL, thing TEXT);
INSERT INTO rocpd_future_thing{suffix} VALUES (1, '{guid}', 'unknown');
DROP TABLE rocpd_arg{suffix};
