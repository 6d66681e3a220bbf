-- To base.sql: accumulators of a link and of PCIe, of the second GPU, and memory in use of the first.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (95, 'XGMI Read Data [3]'), (97, 'PCIe Bandwidth Acc [0]'), (98, 'Memory Usage [0]');
INSERT OR IGNORE INTO rocpd_string{suffix} (id, string) VALUES (63, 'amd_smi');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, units) VALUES (95, 1, 1, 3, 'XGMI Read Data', 'X', 'KB'),
    (97, 1, 1, 3, 'PCIe Bandwidth Acc', 'P', 'bytes'), (98, 1, 1, 2, 'Memory Usage', 'M', 'MB');
INSERT INTO rocpd_track{suffix} (id, nid, pid, name_id) VALUES (95, 1, 1, 95), (97, 1, 1, 97), (98, 1, 1, 98);
INSERT INTO rocpd_event{suffix} (id, category_id) VALUES (95, 63), (96, 63), (97, 63), (98, 63);
INSERT INTO rocpd_sample{suffix} (track_id, timestamp, event_id) SELECT track, 1100000000 + 1000 * event, event
    FROM (SELECT 95 AS track UNION ALL SELECT 97 UNION ALL SELECT 98), (SELECT 95 AS event UNION ALL SELECT 96 UNION ALL SELECT 97);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (95, 95, 500), (96, 95, 540), (97, 95, 550),
    (95, 97, 10000), (96, 97, 12000), (97, 97, 1000), (95, 98, 100), (96, 98, 300), (97, 98, 200);
