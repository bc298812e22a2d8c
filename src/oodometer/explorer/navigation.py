"""Which pages there are for a store: those that have something to show."""

from __future__ import annotations

from oodometer.explorer.explorer import Explorer
from oodometer.explorer.section_pages import SECTION_PAGES, SectionPage


def navigation(explorer: Explorer) -> list[tuple[str, str]]:
    """Path and name of every page that has something to show; a table has no images."""
    catalogue, study = explorer.catalogue(), explorer.study()
    n_models = max(len(catalogue.by_model), len(study.models) if study else 0)
    return [
        ("/", "Leaderboard"),
        *([("/compare", "Compare")] if n_models > 1 else []),
        *((page.path, page.text) for page in pages_of_sections(explorer)),
        *([("/images", "Images")] if catalogue.held else []),
    ]


def pages_of_sections(explorer: Explorer) -> list[SectionPage]:
    """The sections that the study has something to show in; none while there is no study."""
    study = explorer.study()
    return [page for page in SECTION_PAGES if page.has(study)] if study else []
