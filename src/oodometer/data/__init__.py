"""Labelled images from folders, arrays, tar shards, Parquet files and manifests, all read on demand."""
