id IN (SELECT args_id FROM rocpd_api WHERE "{column}" IN ({ids}))
