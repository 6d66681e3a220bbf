INSERT INTO compute_workload (workload_id, name, sub_name, sys_info_extdata) VALUES (?1, ?2, ?3, ?4)
