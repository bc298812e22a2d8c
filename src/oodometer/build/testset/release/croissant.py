"""The metadata of a release in Croissant (MLCommons' vocabulary for data sets, version 1.0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oodometer.build.testset.release.chosen import Revision
from oodometer.build.testset.release.tables import PLAIN

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

FILES = "image-files"
TYPES = {"frequency": "sc:Float", "n_answers": "sc:Integer", "image": "sc:ImageObject"}


MEDIA = {"jpg": "image/jpeg", "tif": "image/tiff", "tar": "application/x-tar", "csv": "text/csv"}
"""Others are called like their endings."""


def croissant(name: str, revision: Revision, sums: Mapping[str, str]) -> dict[str, Any]:
    """The metadata: the table of the images, and the images, in class folders or in shards.

    Args:
        sums: SHA-256 of every file, by path.
    """
    licences = sorted({one.image.licence for one in revision.images if one.image.licence})
    shards = sorted(path for path in sums if path.endswith(".tar"))
    table = "images.csv" if shards else "manifest.csv"
    endings = sorted({one.image.file.rpartition(".")[2] for one in revision.images})
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": name,
        "description": f"A test set of {len(revision.images)} images; how they were chosen: CARD.md.",
        "version": f"{revision.number}.0.0",
        "datePublished": revision.steps[-1].at[:10],
        "license": licences or ["see LICENCES.csv"],
        "distribution": [*(_file(path, sums[path]) for path in (table, *shards)), _images(endings, shards)],
        "recordSet": [
            _records("images", "id", [_field("images", column, _column(table, column)) for column in PLAIN]),
            # By the path inside a shard or the folder; the table says the shard, too.
            _records("files", "path", [_of_files("path", "fullpath"), _of_files("image", "content")]),
        ],
    }


def _records(name: str, key: str, fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "key": {"@id": f"{name}/{key}"},
        "field": list(fields),
    }


def _file(path: str, sha256: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": _media(path.rpartition(".")[2]),
        "sha256": sha256,
    }


def _images(endings: Sequence[str], shards: Sequence[str]) -> dict[str, Any]:
    inside = {"containedIn": [{"@id": path} for path in shards]} if shards else {}
    return {
        "@type": "cr:FileSet",
        "@id": FILES,
        "name": FILES,
        **inside,
        "encodingFormat": [_media(ending) for ending in endings],
        "includes": [f"*.{ending}" if shards else f"*/*.{ending}" for ending in endings],
    }


def _media(ending: str) -> str:
    return MEDIA.get(ending, f"image/{ending}")


def _field(records: str, name: str, source: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{name}",
        "name": name,
        "dataType": TYPES.get(name, "sc:Text"),
        "source": dict(source),
    }


def _column(table: str, column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": table}, "extract": {"column": column}}


def _of_files(name: str, what: str) -> dict[str, Any]:
    return _field("files", name, {"fileSet": {"@id": FILES}, "extract": {"fileProperty": what}})
