-- Streamed counters, from schema 3.0.3 on, with the places that 3.0.5 adds: two instances next to a counter of dispatch 1.
ALTER TABLE rocpd_info_pmc{suffix} ADD COLUMN spm_support INTEGER;
ALTER TABLE rocpd_pmc_event{suffix} ADD COLUMN sample_id INTEGER;
ALTER TABLE rocpd_pmc_event{suffix} ADD COLUMN xcc INTEGER;
ALTER TABLE rocpd_pmc_event{suffix} ADD COLUMN shader_engine INTEGER;
ALTER TABLE rocpd_pmc_event{suffix} ADD COLUMN shader_array INTEGER;
ALTER TABLE rocpd_pmc_event{suffix} ADD COLUMN wgp INTEGER;
ALTER TABLE rocpd_pmc_event{suffix} ADD COLUMN instance INTEGER;
CREATE TABLE rocpd_event_operation{suffix} (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT DEFAULT '{guid}' NOT NULL);
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol) VALUES (1, 1, 1, 2, 'SQ_WAVES', 'SQ_WAVES');
INSERT INTO rocpd_string{suffix} (id, string) VALUES (30, 'SPM counters');
INSERT INTO rocpd_track{suffix} (id, nid, pid, tid, name_id) VALUES (30, 1, 1, 1, 30);
INSERT INTO rocpd_sample{suffix} (id, track_id, timestamp, event_id) VALUES (30, 30, 1100021000, 3), (31, 30, 1100022000, 3);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (3, 1, 10), (3, 1, 20);
INSERT INTO rocpd_pmc_event{suffix} (event_id, sample_id, pmc_id, value, xcc, shader_engine, instance)
    VALUES (3, 30, 1, 1, 0, 0, 0), (3, 30, 1, 2, 0, 1, 0), (3, 31, 1, 3, 0, 0, 0), (3, 31, 1, 4, 0, 1, 0);
