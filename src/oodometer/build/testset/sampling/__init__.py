"""Which candidates are chosen, one file per strategy."""
