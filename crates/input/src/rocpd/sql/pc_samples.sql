extdata LIKE '%"sampling_method"%'
