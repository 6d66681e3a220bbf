-- To base.sql: events of the kernel driver as rocprofiler-systems records them (arguments, agents counted from 0) and as rocprofv3 does
-- (details of the events, in the wrappings of two releases).
INSERT INTO rocpd_string{suffix} (id, string) VALUES (240, 'rocm_kfd_page_migrate'), (241, 'rocm_kfd_page_fault'), (242, 'KFD_PAGE_MIGRATE'),
    (243, 'KFD_PAGE_FAULT'), (244, 'PAGE_MIGRATE_PREFETCH'), (245, 'PAGE_FAULT_WRITE_FAULT_MIGRATED'),
    (246, 'ROCPROFILER_KFD_PAGE_MIGRATE_PAGEFAULT_GPU'), (247, 'ROCPROFILER_KFD_PAGE_MIGRATE_TTM_EVICTION'),
    (248, 'ROCPROFILER_KFD_PAGE_FAULT_READ_FAULT_MIGRATED'), (249, 'ROCPROFILER_KFD_PAGE_FAULT_READ_FAULT_UPDATED');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, name, symbol, block) VALUES (240, 1, 1, 'KFD_PAGE_MIGRATE', 'KFD_PAGE_MIGRATE', 'KFD');
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, extdata) VALUES
    (240, 240, 0, '{}'), (241, 240, 0, '{}'), (242, 241, 0, '{}'),
    (243, 242, 0, '{"kfd":{"record":{"index":6,"data":{"start_address":140000000065536,"end_address":140000000131072,"src_agent_id":1,"dst_agent_id":2,"error_code":0}}}}'),
    (244, 242, 0, '{"kfd":{"record":{"index":6,"data":{"start_address":140000000131072,"end_address":140000000135168,"src_agent_id":1,"dst_agent_id":2,"error_code":-12}}}}'),
    (245, 242, 0, '{"kfd":{"start_address":"140000000065536","end_address":"140000000069632","src_agent_id":"3","dst_agent_id":"1","error_code":"0"}}'),
    (246, 243, 0, '{"kfd":{"record":{"index":7,"data":{"agent_id":2,"address":140000000065536}}}}'),
    (247, 243, 0, '{"kfd":{"record":{"index":7,"data":{"agent_id":2,"address":140000000067584}}}}'),
    (248, 243, 0, '{"kfd":{"agent_id":"3","address":"140000004194304"}}');
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id) VALUES
    (240, 1, 1, 1, 1160000000, 1160010000, 244, 240), (241, 1, 1, 1, 1160020000, 1160021000, 244, 241),
    (242, 1, 1, 1, 1160030000, 1160032000, 245, 242), (243, 1, 1, 1, 1160040000, 1160044000, 246, 243),
    (244, 1, 1, 1, 1160050000, 1160052000, 246, 244), (245, 1, 1, 1, 1160060000, 1160060500, 247, 245),
    (246, 1, 1, 1, 1160070000, 1160073000, 248, 246), (247, 1, 1, 1, 1160080000, 1160081000, 248, 247),
    (248, 1, 1, 1, 1160090000, 1160090700, 249, 248);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (243, 240, 65536), (244, 240, 4096), (245, 240, 4096);
INSERT INTO rocpd_arg{suffix} (event_id, position, type, name, value) VALUES
    (240, 0, 'std::uint64_t', 'start_address', '0x7f5400010000'), (240, 1, 'std::uint64_t', 'end_address', '0x7f5400210000'),
    (240, 2, 'string', 'src_agent', '0'), (240, 3, 'string', 'dst_agent', '2'), (240, 6, 'int', 'error_code', '0'),
    (241, 0, 'std::uint64_t', 'start_address', '0x7f5400210000'), (241, 1, 'std::uint64_t', 'end_address', '0x7F5400211000'),
    (241, 2, 'string', 'src_agent', '0'), (241, 3, 'string', 'dst_agent', '2'), (241, 6, 'int', 'error_code', '0'),
    (242, 0, 'std::uint64_t', 'address', '0x7f5400010000'), (242, 1, 'string', 'agent', '1');
