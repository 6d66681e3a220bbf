INSERT INTO compute_kernel_roofline_data
    (kernel_uuid, total_flops, l1_cache_data, l2_cache_data, hbm_cache_data, lds_cache_data)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
