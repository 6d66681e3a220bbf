INSERT INTO compute_workload_roofline_data
    (workload_id, total_flops, l1_cache_data, l2_cache_data, hbm_cache_data, lds_cache_data)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
