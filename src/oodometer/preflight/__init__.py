"""Before the first hours are spent: a few hundred images are asked, and the answers looked at."""
