"""Published data sets in the layouts in which they are distributed: one file per family."""
