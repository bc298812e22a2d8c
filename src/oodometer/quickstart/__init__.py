"""From nothing to a leaderboard: data, networks, every kind of shift, and a report, in one call."""
