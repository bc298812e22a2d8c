"""The icons: emoji of many vendors, drawn from the packages that carry their art, in the layout of ICONS-50."""
