SELECT DISTINCT deviceId FROM rocpd_monitor WHERE lower(deviceType) = 'gpu'
