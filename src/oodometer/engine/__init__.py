"""From a plan of cells to predictions in a store."""
