"""The pages on which a test set is made: people annotate, review near-duplicates and samples, and name images."""
