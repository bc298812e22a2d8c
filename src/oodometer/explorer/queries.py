"""Every question that the explorer asks, in SQL: the tables of the index, and the Parquet files of single cells.

The tables, made from the store's files (see `oodometer.explorer.answer_tables`):

    images(place, data, id, label, content)                 every image of every data set, numbered through
    agreement(place, condition, n, n_right)                 of the models asked, how many are right; summed up when read

Files are in the order of cells; answers by image are in `oodometer.explorer.by_image`: so either is quick.
"""

from __future__ import annotations

TABLES = """
CREATE TABLE images (place UINTEGER, data USMALLINT, id VARCHAR, label INTEGER, content BLOB);
CREATE TABLE agreement (place UINTEGER, condition UINTEGER, n INTEGER, n_right INTEGER);
"""

LOAD_IMAGES = """
INSERT INTO images SELECT $first + image, $data, id, label, content
FROM read_parquet($files, hive_partitioning = false) ORDER BY image
"""

ADD_AGREEMENT = "INSERT INTO agreement SELECT place, condition, n, n_right FROM changes"

PLACE_OF = "SELECT place, label FROM images WHERE data = $data AND id = $id"

OF_THIS_ID = "SELECT place, data, label, content FROM images WHERE id = $id ORDER BY data"

# Which class of the data each class of the answers is: all pairs that occur.
LABEL_PAIRS = """
SELECT DISTINCT rows.label, images.label
FROM read_parquet($files, hive_partitioning = false) AS rows JOIN images ON images.place = $first + rows.image
WHERE rows.label >= 0
"""

AGREED = """
SELECT place, sum(n)::INTEGER AS n, sum(n_right)::INTEGER AS n_right FROM agreement
WHERE condition = $condition AND place BETWEEN $first AND $last GROUP BY place ORDER BY place
"""

COLUMNS_OF_IMAGE = """
SELECT * EXCLUDE (content) FROM read_parquet($files, hive_partitioning = false) WHERE image = $image
"""
