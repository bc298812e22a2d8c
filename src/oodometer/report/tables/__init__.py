"""Tables for papers and READMEs: what stands in them, and one file for each way to write them."""

from oodometer.report.tables.comma_separated import csv_of
from oodometer.report.tables.corruptions import corruptions_table
from oodometer.report.tables.gaps import gaps_table
from oodometer.report.tables.latex import latex_of
from oodometer.report.tables.leaderboard import leaderboard_table
from oodometer.report.tables.markdown import markdown_of
from oodometer.report.tables.plain_text import text_of
from oodometer.report.tables.table import Column, ModelTable, Row, TableOptions

__all__ = [
    "Column",
    "ModelTable",
    "Row",
    "TableOptions",
    "corruptions_table",
    "csv_of",
    "gaps_table",
    "latex_of",
    "leaderboard_table",
    "markdown_of",
    "text_of",
]
