"""Tables of models, from a study: what stands in them; a document writes them."""

from oodometer.report.tables.corruptions import corruptions_table
from oodometer.report.tables.gaps import gaps_table
from oodometer.report.tables.leaderboard import leaderboard_table
from oodometer.report.tables.options import TableOptions

__all__ = ["TableOptions", "corruptions_table", "gaps_table", "leaderboard_table"]
