"""The explorer's pages as files, for any web server and for none: ``oodometer site``.

Every page is asked of the application that `oodometer.explorer.serve` serves, so that a site shows what the explorer
shows. Links lead to files beside; nothing is asked of any network.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from oodometer.analysis.origins import Origin
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.extras import import_extra
from oodometer.explorer.links import twin
from oodometer.explorer.site_folder import check_place, made_aside
from oodometer.explorer.site_links import addresses_in, with_files
from oodometer.explorer.site_names import file_of
from oodometer.store.index import index_at
from oodometer.store.store import Store, open_store

if TYPE_CHECKING:
    from oodometer.explorer.explorer import Explorer
    from oodometer.explorer.site_extent import Extent

IMAGES = 48
"""Images that have a page, unless somebody says how many."""

Progress = Callable[[int, int], None]
"""Who hears how many files are made, of how many that are known of by then."""


@dataclass(frozen=True)
class Site:
    """A made site.

    Args:
        folder: Where it is; ``index.html`` is its first page.
        n_pages: How many pages it has; each has its twin in JSON.
        n_images: How many images have a page.
        n_bytes: Of all files.
        extent: What is in it, in words.
    """

    folder: Path
    n_pages: int
    n_images: int
    n_bytes: int
    extent: str

    @property
    def address(self) -> str:
        """Of the first page, for a browser."""
        return (self.folder / "index.html").resolve().as_uri()

    def __str__(self) -> str:
        return f"{self.folder}  {self.n_pages:,} pages  {self.n_bytes / 1e6:.1f} MB"


def site(
    store: str | Store,
    folder: str | Path,
    *,
    data: Sequence[str] = (),
    images: int = IMAGES,
    origins: Mapping[str, Origin] | None = None,
    progress: Progress | None = None,
) -> Site:
    """Write the explorer's pages of a store as files; a site that is there already is replaced, nothing else is.

    Args:
        data: Where the images of the run are, so that they can be shown.
        images: How many images get a page: the hardest of each set in turn.
        origins: Category and parent of models whose cards do not say.
    """
    if images < 0:
        raise UsageError(f"images {images}: give a number of images, 0 for none")
    for module, extra in (("fastapi", "web"), ("jinja2", "web"), ("plotly", "report")):
        import_extra(module, extra=extra, what="a site")
    from oodometer.explorer.explorer import Explorer
    from oodometer.study.pictures import album_of

    place = Path(folder)
    check_place(place.resolve())
    opened = store if isinstance(store, Store) else open_store(store)
    explorer = Explorer(opened, origins=origins, picture=album_of(data, index_at(opened)) if data else None)
    try:
        return _made(explorer, place, images, progress or (lambda _done, _total: None))
    finally:
        explorer.close()


def _made(explorer: Explorer, place: Path, images: int, progress: Progress) -> Site:
    from oodometer.explorer.app import explorer_app
    from oodometer.explorer.site_extent import extent_of

    explorer.wait_for_study()
    extent = extent_of(explorer, images)
    with made_aside(place.resolve()) as aside:
        crawl = _Crawl(explorer_app(explorer, fixed=extent), extent, aside, progress)
        _in_a_loop_of_its_own(crawl.answers)
        pages = crawl.link()
    n_bytes = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    return Site(place, pages, len(extent.images), n_bytes, extent.words)


class _Crawl:
    """Everything that can be reached from the first page: asked for, written, and then linked."""

    def __init__(self, app: Any, extent: Extent, folder: Path, progress: Progress) -> None:
        self.app, self.extent, self.folder, self.progress = app, extent, folder, progress
        self.found: dict[str, str] = {"/": ""}
        self.answered: dict[str, str] = {}

    async def answers(self) -> None:
        """Write every answer as it comes; what is not answered with 200 has no file."""
        waiting = ["/"]
        while waiting:
            address = waiting.pop()
            kind, body = await _asked(self.app, address)
            if kind:
                self._keep(address, kind, body)
                new = self._new(address, kind, body)
                self.found.update(dict.fromkeys(new, ""))
                waiting += new
            elif address == "/":
                raise OodometerError("the first page can't be made")
            self.progress(len(self.found) - len(waiting), len(self.found))

    def _new(self, address: str, kind: str, body: bytes) -> list[str]:
        """What a page leads to that nobody has asked for yet."""
        if not kind.startswith("text/html"):
            return []
        linked = [twin(address), *addresses_in(body.decode())]
        return [one for one in dict.fromkeys(linked) if one not in self.found and self.extent.has(one)]

    def _keep(self, address: str, kind: str, body: bytes) -> None:
        name = file_of(address)
        if name in self.answered.values():
            raise OodometerError(f"two pages would be in one file, {name}: please report it")
        self.answered[address] = name
        place = self.folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(body)
        self.found[address] = kind

    def link(self) -> int:
        """Turn the links of all pages to files; how many pages there are."""
        pages = [address for address in self.answered if self.found[address].startswith("text/html")]
        for address in pages:
            place = self.folder / self.answered[address]
            text = with_files(place.read_text(encoding="utf-8"), address, self.answered.__contains__)
            place.write_text(text, encoding="utf-8", newline="")
        return len(pages)


async def _asked(app: Any, address: str) -> tuple[str, bytes]:
    """Type and body of an answer; nothing where there is none."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost")],
        "client": None,
        "server": ("localhost", 80),
    }
    answer: list[Mapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        answer.append(message)

    await app(scope, receive, send)
    headers = dict(answer[0]["headers"])
    body = b"".join(message.get("body", b"") for message in answer[1:])
    return (headers[b"content-type"].decode(), body) if answer[0]["status"] == 200 else ("", b"")


def _in_a_loop_of_its_own(work: Callable[[], Any]) -> None:
    """Do what is asynchronous in a thread, for whoever calls may have a loop running: a notebook has."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:  # raised again, where it belongs
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
