"""Links in pages of a made site: from addresses to files beside, and away where a page is not in the site.

Pages are our own templates', in which everything that is not ours is escaped: a quotation mark in a name or a text is
never one of the HTML, so that what is looked for here is only ever ours.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Callable

from oodometer.explorer.site_names import file_of

LINK = re.compile(r'\b(href|src|action)="(/[^"]*)"')
PICTURE = re.compile(r'<img\b[^>]*\bsrc="(/[^"]*)"[^>]*>')
FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)

ABSENT = 'data-absent title="Not among the pages of this site"'


def addresses_in(page: str) -> list[str]:
    """The addresses that a page links to or shows, each once, without what follows ``#``."""
    found = (html.unescape(match[2]).partition("#")[0] for match in LINK.finditer(FORM.sub("", page)))
    return list(dict.fromkeys(found))


def with_files(page: str, address: str, is_there: Callable[[str], bool]) -> str:
    """The page with links to files; what nobody answers (forms) and what is not there is taken out."""
    here = posixpath.dirname(file_of(address))

    def relative(match: re.Match[str]) -> str:
        target, mark, part = html.unescape(match[2]).partition("#")
        if not is_there(target):
            return ABSENT
        place = posixpath.relpath(file_of(target), here or ".")
        return f'{match[1]}="{html.escape(place + mark + part)}"'

    def shown(match: re.Match[str]) -> str:
        return match[0] if is_there(html.unescape(match[1])) else ""

    return LINK.sub(relative, PICTURE.sub(shown, FORM.sub("", page)))
