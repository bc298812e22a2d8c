"""From a store to results: scores, gaps, robustness, comparisons."""
