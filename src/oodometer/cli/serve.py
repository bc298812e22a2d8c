"""``oodometer serve``: look at a store in a browser."""

from __future__ import annotations

import signal
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import say, say_if_compiling
from oodometer.core.errors import OodometerError, UsageError

if TYPE_CHECKING:
    from oodometer.explorer.explorer import Explorer
    from oodometer.store.store import Store
    from oodometer.study import Picture

PORT = 8000
MANY_CELLS = 50
"""More take a moment, which looks like a hang."""

ELSEWHERE = {socket.AF_INET: ("192.0.2.1", 9), socket.AF_INET6: ("2001:db8::1", 9)}
"""Some address beyond this machine: those that are kept for documentation (RFC 5737, RFC 3849)."""


@click.command(
    "serve",
    help="Explore a store in a browser: models, shifts, two models side by side, single images. Every page has a twin "
    "in JSON. Ends with Ctrl-C.",
)
@click.argument("store")
@click.option("--data", "addresses", multiple=True, metavar="ADDRESS", help="Images to show: the data of the run.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any that is free.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen. Beyond this machine a token is asked for, which is in the address that is printed.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the browser.")
@click.option("--categories", metavar="CSV", help="Category and parent of models: columns model,category,parent.")
def command(
    store: str, addresses: tuple[str, ...], port: int, host: str, open_browser: bool, categories: str | None
) -> None:
    """Serve the pages until somebody ends it."""
    from oodometer.analysis.accuracy_pairs import read_origins
    from oodometer.core.extras import import_extra
    from oodometer.store.store import open_store

    for module in ("fastapi", "uvicorn", "jinja2"):
        import_extra(module, extra="web", what="pages")
    from oodometer.explorer.explorer import Explorer

    opened = open_store(store)
    origins = read_origins(categories) if categories else {}
    picture = _pictures(opened, addresses)
    with _listening(host, port) as listening:
        explorer = Explorer(opened, origins=origins, picture=picture)
        try:
            _serve(explorer, listening, host, open_browser=open_browser)
        except KeyboardInterrupt:  # the way to end it
            say("ended")
        finally:
            explorer.close()


def _pictures(store: Store, addresses: tuple[str, ...]) -> Picture | None:
    if not addresses:
        return None
    from oodometer.store.index import index_at
    from oodometer.study.pictures import album_of

    say_if_compiling()
    return album_of(addresses, index_at(store))


def _listening(host: str, port: int) -> socket.socket:
    """A socket at the address, before anything is computed: who can't listen should know at once."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise UsageError(f"--host {host}: no such address ({error.strerror})") from error
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(128)
    except OSError as error:
        made.close()
        hint = "give another with --port, or --port 0 for any that is free"
        raise OodometerError(f"can't listen at {host}, port {port} ({error.strerror}); {hint}") from error
    return made


def reached_at(listening: socket.socket, host: str) -> str:
    """What a browser calls the place; of all addresses of this machine the one that others see, or its name."""
    if ip_address(listening.getsockname()[0]).is_unspecified:
        with socket.socket(listening.family, socket.SOCK_DGRAM) as outward:
            try:
                outward.connect(ELSEWHERE[listening.family])  # sends nothing: it only chooses the way
                host = outward.getsockname()[0]
            except OSError:
                return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _serve(explorer: Explorer, listening: socket.socket, host: str, *, open_browser: bool) -> None:
    import secrets

    import uvicorn

    from oodometer.explorer.app import explorer_app, warm
    from oodometer.explorer.guard import is_loopback

    n_cells = len(explorer.store.files.names("cells"))
    if n_cells > MANY_CELLS:
        say(f"reading {n_cells} cells")
    n = sum(one.n_rows for one in explorer.catalogue().held)
    warm(explorer)
    port = listening.getsockname()[1]
    local = is_loopback(host)
    token = None if local else secrets.token_urlsafe(24)
    hosts = ("127.0.0.1", "localhost", "[::1]", host.lower(), f"[{host.lower()}]") if local else ()
    app = explorer_app(explorer, hosts=hosts, token=token)
    address = f"http://{reached_at(listening, host)}:{port}/" + (f"?token={token}" if token else "")
    say(f"{n:,} predictions; Ctrl-C ends")
    click.echo(address)
    if open_browser:
        import webbrowser

        webbrowser.open(address)
    # Being asked to stop is the same as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    settings = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="off")
    uvicorn.Server(settings).run(sockets=[listening])
