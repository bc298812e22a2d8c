"""A document before it is text, LaTeX or HTML: words, tables, plots, pictures, and how numbers are written."""
