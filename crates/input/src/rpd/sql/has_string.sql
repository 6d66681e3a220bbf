SELECT 1 FROM rocpd_string WHERE string = ?1 LIMIT 1
