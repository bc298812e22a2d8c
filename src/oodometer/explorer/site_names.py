"""The name of the file that a page of a made site is in: no name of a model or an image ever becomes a path.

A file is called as what it shows where that is plain (lower case, digits, ``-`` and ``_``), and otherwise as much of it
as is plain, with a digest of the page's address: so two pages never share a file, on no file system.
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import parse_qsl, unquote

from oodometer.explorer.links import JSON

PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
DIGEST = re.compile(r".*-[0-9a-f]{12}")
LONGEST = 60
"""Letters of a name, besides the digest."""

DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(10))}
"""What Windows takes for something else than a file."""


def file_of(address: str) -> str:
    """Where the answer to an address lies below the site.

    >>> file_of("/"), file_of("/.json"), file_of("/compare"), file_of("/static/theme.js")
    ('index.html', 'index.json', 'compare.html', 'static/theme.js')
    >>> file_of("/model/resnet50"), file_of("/model/resnet50.json")
    ('model/resnet50.html', 'model/resnet50.json')
    >>> file_of("/model/..%2F..%2Fetc%2Fpasswd")
    'model/etc-passwd-030ac6b0a128.html'
    """
    path, _, query = address.partition("?")
    if path.startswith("/static/"):
        return f"static/{_safe(path.removeprefix('/static/').rpartition('.')[0], address)}.{path.rpartition('.')[2]}"
    ending = "png" if path == "/picture" else "json" if path.endswith(JSON) else "html"
    path = path.removesuffix(JSON)
    kind, _, name = path.strip("/").partition("/")
    label = "-".join([unquote(name), *(value for _, value in parse_qsl(query))]).strip("-")
    page = f"{path}?{query}" if query else path  # without .json: twins are called alike
    return f"{kind or 'index'}/{_safe(label, page)}.{ending}" if name or query else f"{kind or 'index'}.{ending}"


def _safe(label: str, address: str) -> str:
    if PLAIN.fullmatch(label) and not DIGEST.fullmatch(label) and label not in DEVICES and "?" not in address:
        return label
    start = re.sub(r"[^a-z0-9_]+", "-", label.lower()).strip("-")[:LONGEST].strip("-")
    digest = hashlib.sha256(address.encode()).hexdigest()[:12]
    return f"{start}-{digest}" if start else digest
