"""Making new data sets: they end where a run begins."""
