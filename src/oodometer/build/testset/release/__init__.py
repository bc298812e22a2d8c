"""A revision of a test set as files that anybody can use: images, tables, a card, checksums, metadata, a shift."""
