"""Which pages a made site has: all but those of which there would be too many, and that is told on every page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from urllib.parse import parse_qsl, unquote

from oodometer.analysis.families import family_in
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.links import JSON
from oodometer.explorer.pages.answers import PER_PAGE, in_order
from oodometer.explorer.pages.image_filters import Filters
from oodometer.explorer.pages.images import images
from oodometer.explorer.section_pages import SECTION_PAGES

MANY_MODELS = 20
"""With more, not every pair of models has a page, nor every model one of each section."""

Image = tuple[str, str]
"""Data set and id."""


@dataclass(frozen=True)
class Extent:
    """What is in a made site.

    Args:
        few_models: Whether all pairs of models have a page.
        conditions: Those whose images are listed: all but members of families of corruptions.
        images: Those that have a page.
        n_images: How many there are in the store.
    """

    few_models: bool
    conditions: frozenset[str]
    images: frozenset[Image]
    n_images: int

    @property
    def words(self) -> str:
        """What a reader of the site should know."""
        pairs = "every pair of models" if self.few_models else "every model beside the best one"
        said = f"Made by oodometer site: it compares {pairs}"
        if not self.n_images:
            return f"{said}."
        return f"{said}, and has pages for {len(self.images):,} of {self.n_images:,} images, the hardest of each set."

    def has(self, address: str) -> bool:
        """Whether a page, its twin or a picture is in the site."""
        path, _, query = address.partition("?")
        asked, path = dict(parse_qsl(query)), unquote(path.removesuffix(JSON))
        if path in ("/openapi", "/"):
            return path == "/" and not asked
        kind = "/" + path.split("/")[1]
        rules: dict[str, Callable[[], bool]] = {
            "/static": lambda: True,
            "/model": lambda: set(asked) <= {"name", "on"} and self._on(asked),
            "/shift": lambda: set(asked) <= {"name"},
            "/compare": lambda: self._pair(set(asked)),
            "/images": lambda: set(asked) <= {"on"} and self._on(asked),
            "/image": lambda: set(asked) <= {"data", "id", "on", "at"} and self._image(asked),
            "/picture": lambda: (asked.get("data", ""), asked.get("id", "")) in self.images,
        }
        return rules[kind]() if kind in rules else self._section(path, set(asked))

    def _on(self, asked: dict[str, str]) -> bool:
        return "on" not in asked or asked["on"] in self.conditions

    def _image(self, asked: dict[str, str]) -> bool:
        return self._on(asked) and (asked.get("data", ""), asked.get("id", "")) in self.images

    def _pair(self, asked: set[str]) -> bool:
        return asked <= {"b"} or (self.few_models and asked <= {"a", "b", "family"})

    def _section(self, path: str, asked: set[str]) -> bool:
        page = next((page for page in SECTION_PAGES if page.path == path), None)
        if page is None or not asked:
            return page is not None
        return not page.costly and (asked == {"shift"} or (self.few_models and asked == {"model"}))


def extent_of(explorer: Explorer, n_images: int) -> Extent:
    """All pages of a store, and those of the hardest images of every set in turn, as many as asked for."""
    catalogue, study = explorer.catalogue(), explorer.study()
    n_models = max(len(catalogue.by_model), len(study.models) if study else 0)
    alone = [held for held in catalogue.held if family_in(catalogue.index, held.cell.condition) is None]
    cells = in_order(explorer, alone)
    conditions = list(dict.fromkeys(held.condition for held in cells))
    in_turn = chain.from_iterable(zip_longest(*(_hardest(explorer, name, n_images) for name in conditions)))
    chosen = list(dict.fromkeys(image for image in in_turn if image is not None))[:n_images]
    every = sum(data.n for data in catalogue.data.values())
    return Extent(n_models <= MANY_MODELS, frozenset(conditions), frozenset(chosen), every)


def _hardest(explorer: Explorer, condition: str, n: int) -> Iterator[Image]:
    """At most so many images of a condition, the hardest first."""
    for page in range(1, -(-n // PER_PAGE) + 1):
        found = images(explorer, Filters(on=condition), page=page)
        yield from ((found["data"], image["id"]) for image in found["images"])
        if page >= found["n_pages"]:
            return
