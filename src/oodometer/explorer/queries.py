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

# The image itself first. An empty digest: of answers computed elsewhere, whose images were never seen.
OF_THIS_ID = """
WITH it AS (SELECT place, content FROM images WHERE data = $data AND id = $id)
SELECT images.place, images.data, images.label, octet_length(it.content) > 0 AND images.content = it.content
FROM images, it WHERE images.id = $id ORDER BY images.place <> it.place, images.data
"""

# Which class of the data each class of the answers is: all pairs that occur.
LABEL_PAIRS = """
SELECT DISTINCT rows.label, images.label
FROM read_parquet($files, hive_partitioning = false) AS rows JOIN images ON images.place = $first + rows.image
WHERE rows.label >= 0
"""

AGREED = """
agreed AS (
    SELECT place, sum(n)::INTEGER AS n, sum(n_right)::INTEGER AS n_right FROM agreement
    WHERE condition = $condition AND place BETWEEN $first AND $last GROUP BY place)
"""

ORDERS = {
    "hardest": "n_right / greatest(n, 1)",
    "easiest": "n_right / greatest(n, 1) DESC",
    "sure": "confidence DESC NULLS LAST",
    "unsure": "confidence NULLS LAST",
    "data": "place",
}
"""How a list of images may be ordered: by a model's confidence, or as the data are; equals as the data are."""

OF_CLASS = """
AND place IN (SELECT place FROM images WHERE label = $class AND place BETWEEN $first AND $last)
"""

# Chosen by number first, and named then: ids are long, and a page has few of them.
IMAGES = f"""
WITH {AGREED},
chosen AS (
    SELECT place, n, n_right, count(*) OVER () AS total FROM agreed
    WHERE n_right BETWEEN $least AND $most {{of_class}} ORDER BY {{order}}, place LIMIT $limit OFFSET $offset)
SELECT id, label, n, n_right, NULL AS prediction, NULL AS rank, NULL AS confidence, total
FROM chosen JOIN images USING (place) ORDER BY {{order}}, place
"""

IMAGES_OF_MODEL = f"""
WITH {AGREED},
rows AS (
    SELECT ($first + image)::UINTEGER AS place, prediction, rank,
        CASE WHEN isnan(confidence) THEN NULL ELSE confidence END AS confidence
    FROM read_parquet($files, hive_partitioning = false)
    WHERE ($right IS NULL OR (rank >= 0 AND (rank = 0) = $right))),
chosen AS (
    SELECT place, n, n_right, prediction, rank, confidence, count(*) OVER () AS total
    FROM rows JOIN agreed USING (place)
    WHERE n_right BETWEEN $least AND $most {{of_class}}
        AND ($sure_from IS NULL OR confidence >= $sure_from) AND ($sure_to IS NULL OR confidence <= $sure_to)
    ORDER BY {{order}}, place LIMIT $limit OFFSET $offset)
SELECT id, label, n, n_right, prediction, rank, confidence, total
FROM chosen JOIN images USING (place) ORDER BY {{order}}, place
"""

# By the classes as the answers number them, as a score per class is.
CLASSES_OF_MODEL = """
WITH rows AS MATERIALIZED (
    SELECT label, prediction, rank FROM read_parquet($files, hive_partitioning = false) WHERE rank >= 0),
wrong AS (SELECT label, prediction, count(*) AS times FROM rows WHERE rank > 0 GROUP BY label, prediction),
worst AS (
    SELECT label, arg_max(prediction, (times, -prediction)) AS instead, max(times) AS times FROM wrong GROUP BY label),
every AS (SELECT label, count(*) AS n, count_if(rank = 0) AS n_right FROM rows GROUP BY label)
SELECT label, n, n_right, instead, times FROM every LEFT JOIN worst USING (label)
"""

SIDES = {
    "only_a": "a.rank = 0 AND b.rank > 0",
    "only_b": "a.rank > 0 AND b.rank = 0",
    "both": "a.rank = 0 AND b.rank = 0",
    "neither": "a.rank > 0 AND b.rank > 0",
}
"""Which of two models is right."""

IMAGES_OF_TWO = """
WITH a AS (
    SELECT image, prediction, rank, CASE WHEN isnan(confidence) THEN NULL ELSE confidence END AS sure
    FROM read_parquet($files_a, hive_partitioning = false)),
b AS (
    SELECT image, prediction, rank, CASE WHEN isnan(confidence) THEN NULL ELSE confidence END AS sure
    FROM read_parquet($files_b, hive_partitioning = false)),
chosen AS (
    SELECT ($first + image)::UINTEGER AS place, a.prediction AS says_a, a.sure AS sure_a, b.prediction AS says_b,
        b.sure AS sure_b
    FROM a JOIN b USING (image) WHERE {side} ORDER BY image LIMIT $limit OFFSET $offset)
SELECT id, label, says_a, sure_a, says_b, sure_b FROM chosen JOIN images USING (place) ORDER BY place
"""

COLUMNS_OF_IMAGE = """
SELECT * EXCLUDE (content) FROM read_parquet($files, hive_partitioning = false) WHERE image = $image
"""

# As `oodometer.store.queries.paired`, for two cells of one data set: there positions are ids.
PAIRED = """
WITH a AS (SELECT image, label, rank = 0 AS good, prediction FROM read_parquet($files_a, hive_partitioning = false)
    WHERE rank >= 0),
b AS (SELECT image, label, rank = 0 AS good, prediction FROM read_parquet($files_b, hive_partitioning = false)
    WHERE rank >= 0)
SELECT count(*) FILTER (a.good AND b.good), count(*) FILTER (a.good AND NOT b.good),
    count(*) FILTER (NOT a.good AND b.good), count(*) FILTER (NOT a.good AND NOT b.good),
    CASE WHEN NOT $grouped AND ($same_numbers OR bool_and(a.label = b.label))
        THEN count(*) FILTER (a.prediction = b.prediction) END,
    (SELECT count(*) FROM a), (SELECT count(*) FROM b)
FROM a JOIN b USING (image)
"""
