"""The explorer: pages over a store, each with its numbers as JSON."""
