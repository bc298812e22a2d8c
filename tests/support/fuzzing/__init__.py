"""Damaged files of every kind, read by the public readers in a child process with bounds on memory and time."""
