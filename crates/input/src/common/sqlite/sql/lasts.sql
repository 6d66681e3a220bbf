(typeof({start}) = 'integer' AND typeof({end}) = 'integer' AND {end} - {start} < {least}) IS NOT 1
