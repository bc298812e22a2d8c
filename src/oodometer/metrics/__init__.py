"""What predictions are worth: one file per metric, each with its convention by name."""
