"""Templates of pages: those of a package, and those that draw the parts of a document for all of them."""

from __future__ import annotations

import json
from typing import Any

from oodometer.core.extras import import_extra
from oodometer.document.html_dots import axis_of, drawn_rows
from oodometer.document.html_table import body_html, plain, shown_columns, table_data


def environment_of(package: str, *, extra: str, what: str) -> Any:
    """The templates of a package; in them everything is escaped, and a value that is missing is an error."""
    jinja2 = import_extra("jinja2", extra=extra, what=what)
    import markupsafe  # comes with jinja2

    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package, "templates"), jinja2.PackageLoader("oodometer.document", "templates")]
        ),
        autoescape=True,
        bytecode_cache=_kept_bytecode(jinja2),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["json"] = lambda value: markupsafe.Markup(json_in_html(value))
    environment.globals.update(kind_of=kind_of, axis_of=axis_of, drawn_rows=drawn_rows)
    environment.globals.update(
        shown_columns=shown_columns,
        body_html=lambda table, styled: markupsafe.Markup(body_html(table, styled=styled)),
        table_data=table_data,
    )
    return environment


def _kept_bytecode(jinja2: Any) -> Any:
    """Where compiled templates are kept, so that the next process need not compile them: a folder of the user's alone.

    None where there can be no such folder.
    """
    try:
        return jinja2.FileSystemBytecodeCache()
    except (OSError, RuntimeError):
        return None


def json_in_html(value: Any) -> str:
    r"""JSON that can stand inside a script element: nothing in it ends the element or begins another.

    >>> print(json_in_html(["</script>", 1.5]))
    ["\u003c/script\u003e",1.5]
    """
    try:  # most is plain already
        text = _compact(value)
    except (TypeError, ValueError):
        text = _compact(plain(value))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def kind_of(part: object) -> str:
    """What a part is, for the templates."""
    return type(part).__name__.lower()
