"""The kinds of data: class folders, arrays, shards, tables, manifests."""
