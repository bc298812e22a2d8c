"""The explorer as an application: every page and its twin in JSON, behind the guard."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query
from fastapi.responses import Response

from oodometer import __version__
from oodometer.core.errors import OodometerError
from oodometer.explorer.cell_answers import SIDES
from oodometer.explorer.error_pages import add_errors, refused
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.guard import SECTION_POLICY, Guard
from oodometer.explorer.links import JSON
from oodometer.explorer.page_routes import Extra, Routes, errors_told
from oodometer.explorer.pages import compare as _compare
from oodometer.explorer.pages import image as _image
from oodometer.explorer.pages import images as _images
from oodometer.explorer.pages import leaderboard as _leaderboard
from oodometer.explorer.pages import model as _model
from oodometer.explorer.pages import picture as _picture
from oodometer.explorer.pages import section as _section
from oodometer.explorer.pages import shift as _shift
from oodometer.explorer.pages.image_filters import ORDERS, Filters
from oodometer.explorer.render import html_of, static_file
from oodometer.explorer.section_pages import SECTION_PAGES, SectionPage
from oodometer.explorer.site_extent import Extent
from oodometer.report.palette import looks_css

OnPage = Annotated[int, Query(ge=1, le=1_000_000, description="Which page of the list.")]
On = Annotated[str | None, Query(description="The condition; by default a clean one.")]
OfModel = Annotated[str | None, Query(description="Of this model alone.")]
OfShift = Annotated[str | None, Query(description="Of this shift alone.")]
Share = Annotated[float | None, Query(ge=0, le=1)]
Whose = Annotated[str | None, Query(description="Whose answers are shown.")]
Class = Annotated[str | None, Query(alias="class", description="The true class.")]
Answer = Annotated[Literal["", "right", "wrong"] | None, Query(description="Of the model.")]
Predicted = Annotated[str | None, Query(description="The class that the model answers.")]
Find = Annotated[str | None, Query(description="Part of the id, or of the name of the true class.")]
Order = Annotated[str, Query(description=f"One of {', '.join(ORDERS)}.")]
Number = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


def explorer_app(
    explorer: Explorer, *, hosts: tuple[str, ...] = (), token: str | None = None, fixed: Extent | None = None
) -> Guard:
    """The pages over a store.

    Args:
        hosts: Names by which it may be called; empty: any.
        token: What a reader must show; None: nothing.
        fixed: What a made site has; None where pages are made when they are asked for.
    """
    app = FastAPI(
        title="Oodometer explorer",
        version=__version__,
        description="What models of a store answer, by model, shift and image. Read-only.",
        docs_url=None,  # its page would fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    routes = Routes(app, explorer, fixed)
    _add_lists(routes)
    for page in SECTION_PAGES:
        _add_section(routes, page)
    _add_named(routes)
    _add_images(routes)
    _add_files(routes)
    add_errors(app)
    return Guard(app, refused, hosts, token)


def warm(explorer: Explorer) -> None:
    """Make pages that many ask for, so that nobody waits for what is imported when it is first used.

    After all is read: until then the first page is asked for, and has the processor to itself.
    """
    explorer.index.wait()
    around = Routes(FastAPI(), explorer).around("")
    with suppress(OodometerError):
        compared = _compare.compare(explorer)
        html_of("compare", {**compared, **_compare.tables(compared), **around})
    with suppress(OodometerError):
        html_of("images", {**_images.images(explorer, Filters()), **around})


def _add_lists(routes: Routes) -> None:
    explorer = routes.explorer

    def leaderboard(
        *, shift: Annotated[str | None, Query(description="Under which robustness is told.")] = None
    ) -> dict[str, Any]:
        """All models on every condition, the best first, and their robustness under a shift."""
        return _leaderboard.leaderboard(explorer, shift=shift)

    def compare(
        *,
        a: Annotated[str | None, Query(description="A model.")] = None,
        b: Annotated[str | None, Query(description="The model that is compared with it.")] = None,
        on: On = None,
        show: Annotated[str, Query(description=f"The images listed: {', '.join(SIDES)}.")] = "only_a",
        page: OnPage = 1,
        family: Annotated[str | None, Query(description="A family whose conditions are told one by one.")] = None,
    ) -> dict[str, Any]:
        """Two models on everything that both saw: the differences, and what one gets right and the other wrong."""
        listed = _compare.Listed(show, page, family or None)
        return _compare.compare(explorer, a=a or None, b=b or None, on=on or None, listed=listed)

    routes.add("/", "leaderboard", leaderboard, Extra(lambda _: _leaderboard.glance(explorer)))
    routes.add("/compare", "compare", compare, Extra(_compare.tables))


def _add_section(routes: Routes, page: SectionPage) -> None:
    """A section of the report as a page; what draws it sets styles of elements, which other pages do not."""

    def section(*, model: OfModel = None, shift: OfShift = None) -> dict[str, Any]:
        """A section of the report, of the whole study or of one model or shift of it."""
        return _section.section_page(routes.explorer, page, model=model or None, shift=shift or None)

    def drawn(shown: dict[str, Any]) -> dict[str, Any]:
        return _section.drawn_section(routes.explorer, page, model=shown["model"], shift=shown["shift"])

    routes.add(page.path, "section", section, Extra(drawn, {"content-security-policy": SECTION_POLICY}))


def _add_named(routes: Routes) -> None:
    """Pages whose names stand in the path; in the query those that can't."""
    explorer = routes.explorer

    def model(*, name: str, on: On = None) -> dict[str, Any]:
        """A model: what it is, its accuracies, its robustness, its classes."""
        return _model.model(explorer, name, on=on or None)

    def shift(*, name: str) -> dict[str, Any]:
        """A shift: every model on both sides, and the line."""
        return _shift.shift(explorer, name)

    for path in ("/model/{name:path}", "/model"):
        routes.add(path, "model", model, Extra(_model.tables))
    for path in ("/shift/{name:path}", "/shift"):
        routes.add(path, "shift", shift, Extra(lambda shown: _shift.drawn(explorer, shown["name"])))


def _add_images(routes: Routes) -> None:
    explorer = routes.explorer

    def images(
        *,
        on: On = None,
        model: Whose = None,
        class_: Class = None,
        answer: Answer = None,
        predicted: Predicted = None,
        find: Find = None,
        sure_from: Share = None,
        sure_to: Share = None,
        right_from: Number = None,
        right_to: Number = None,
        order: Order = "hardest",
        page: OnPage = 1,
    ) -> dict[str, Any]:
        """Images by id, class, condition, answer, confidence, right or wrong, and how many models are right."""
        filters = _filters(
            on=on, model=model, class_=class_, answer=answer, predicted=predicted, find=find, sure_from=sure_from,
            sure_to=sure_to, right_from=right_from, right_to=right_to, order=order,
        )  # fmt: skip
        return _images.images(explorer, filters, page=page)

    def image(
        *,
        data: Annotated[str, Query(description="The data set.")],
        id_: Annotated[str, Query(alias="id", description="The image in it.")],
        on: On = None,
        model: Whose = None,
        class_: Class = None,
        answer: Answer = None,
        predicted: Predicted = None,
        find: Find = None,
        sure_from: Share = None,
        sure_to: Share = None,
        right_from: Number = None,
        right_to: Number = None,
        order: Order = "hardest",
        at: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="Its place in the list of these.")] = None,
    ) -> dict[str, Any]:
        """An image: all models' answers under all conditions, and its neighbours in the list that it was found in."""
        filters = _filters(
            on=on, model=model, class_=class_, answer=answer, predicted=predicted, find=find, sure_from=sure_from,
            sure_to=sure_to, right_from=right_from, right_to=right_to, order=order,
        )  # fmt: skip
        return _image.image(explorer, data=data, id_=id_, filters=filters, at=at)

    routes.add("/images", "images", images)
    routes.add("/image", "image", image, Extra(_image.tables))


def _filters(**asked: Any) -> Filters:
    """What a query asks for; an empty field asks for nothing."""
    given: dict[str, Any] = {name: None if value == "" else value for name, value in asked.items()}
    return Filters(**given)


def _add_files(routes: Routes) -> None:
    explorer = routes.explorer

    @routes.app.get("/progress" + JSON, response_model=dict[str, Any])
    def progress() -> dict[str, Any]:
        """How far what is computed in the background is; nothing where all is computed."""
        explorer.catalogue()
        found = explorer.progress()
        return {"computing": found.as_json() if found else None}

    told = {200: {"content": {"image/png": {}}}, **errors_told({"text/html": {}})}

    @routes.app.get("/picture", response_class=Response, responses=told)
    def picture(
        data: str,
        id_: Annotated[str, Query(alias="id")],
        on: str,
        size: Literal["small", "large"] = "small",
    ) -> Response:
        """An image as it was shown under a condition, as PNG."""
        content = _picture.picture(explorer, data=data, id_=id_, on=on, size=size)
        return Response(content, media_type="image/png", headers={"cache-control": "private, max-age=3600"})

    @routes.app.get("/static/looks.css", include_in_schema=False)
    def looks() -> Response:
        return Response(looks_css(_shift.categories(explorer)), media_type="text/css")

    @routes.app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        kind, content = static_file(name)
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    @routes.app.get("/favicon.ico", include_in_schema=False)
    def icon() -> Response:
        return Response(status_code=204)
