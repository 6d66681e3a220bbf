-- A page fault: a region with details, and a value that counts nothing of a dispatch.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (70, 'KFD_PAGE_FAULT'), (71, 'PAGE_FAULT_READ');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, block) VALUES (70, 1, 1, 2, 'KFD_PAGE_FAULT', 'KFD_PAGE_FAULT', 'KFD');
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, extdata) VALUES (70, 70, 0, '{"address":"0x10"}');
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id) VALUES (70, 1, 1, 1, 1600000000, 1600000500, 71, 70);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (70, 70, 1);
