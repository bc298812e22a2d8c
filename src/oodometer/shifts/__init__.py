"""Suites: names for sets of conditions."""
