SELECT DISTINCT pid, id >> 32 FROM rocpd_api
