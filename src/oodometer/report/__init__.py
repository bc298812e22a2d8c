"""What people look at: scores, comparisons, tables."""
