-- To gemms.sql: counters of its three dispatches.
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, target_arch, name, symbol, value_type) VALUES
    (171, 1, 1, 2, 'GPU', 'SQ_WAVES', 'SQ_WAVES', 'ABS'), (172, 1, 1, 2, 'GPU', 'SQ_INSTS_VALU', 'SQ_INSTS_VALU', 'ABS'),
    (173, 1, 1, 3, 'GPU', 'SQ_WAVES', 'SQ_WAVES', 'ABS'), (174, 1, 1, 3, 'GPU', 'SQ_INSTS_VALU', 'SQ_INSTS_VALU', 'ABS');
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES
    (72, 171, 10), (72, 172, 500), (76, 171, 30), (76, 172, 600), (79, 173, 5), (79, 174, 40);
