"""The results that stand in the papers' running text: as data, and derived again where that can be done."""
