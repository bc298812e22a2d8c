"""The single checks of a data set, each of which answers with rows of a table."""
