(typeof(kernel_id) = 'integer' AND kernel_id NOT IN ({ids})) IS NOT 1
