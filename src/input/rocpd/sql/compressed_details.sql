length(extdata) > 0
