"""Templates: of the report, and of the explorer."""

from __future__ import annotations

from typing import Any

from oodometer.core.extras import import_extra


def environment_of(package: str, *, extra: str, what: str) -> Any:
    """The templates of a package; in them everything is escaped, and a value that is missing is an error."""
    jinja2 = import_extra("jinja2", extra=extra, what=what)
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
