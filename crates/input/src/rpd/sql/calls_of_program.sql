SELECT 1 FROM rocpd_api WHERE apiName_id NOT IN (SELECT id FROM rocpd_string WHERE string = 'hipGetDeviceCount') LIMIT 1
