-- rocprofiler-systems: categories of its own, and one question to a GPU answered with two values on two tracks.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (60, 'rocm_hip_api'), (61, 'mpi'), (62, 'MPI_Allreduce'), (63, 'Power [0]'),
    (64, 'Temperature [0]'), (65, 'amd_smi');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, units)
    VALUES (60, 1, 1, 3, 'Temperature', 'Temp', 'C'), (61, 1, 1, 3, 'Power', 'Pow', 'W');
UPDATE rocpd_event{suffix} SET category_id = 60 WHERE id IN (1, 2);
INSERT INTO rocpd_track{suffix} (id, nid, pid, name_id) VALUES (60, 1, 1, 63), (61, 1, 1, 64);
INSERT INTO rocpd_event{suffix} (id, category_id) VALUES (60, 61), (61, 65), (62, 65);
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id) VALUES (60, 1, 1, 1, 1400000000, 1400500000, 62, 60);
INSERT INTO rocpd_sample{suffix} (track_id, timestamp, event_id) VALUES (60, 1400000000, 61), (61, 1400000000, 61), (60, 1500000000, 62), (61, 1500000000, 62);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (61, 60, 45), (61, 61, 300), (62, 60, 46), (62, 61, 310);
