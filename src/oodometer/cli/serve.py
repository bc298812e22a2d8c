"""``oodometer serve``: look at a store in a browser."""

from __future__ import annotations

import signal
import webbrowser

import click

from oodometer.cli.output import origins_in, say, say_if_compiling

PORT = 8000


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
    from oodometer.explorer.serve import ServeWatcher, serve

    def ready(address: str) -> None:
        # Being asked to stop is the same as Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        click.echo(address)
        if open_browser:
            webbrowser.open(address)

    if addresses:
        say_if_compiling()
    watcher = ServeWatcher(ready, say)
    serve(store, data=addresses, host=host, port=port, origins=origins_in(categories), watcher=watcher)
    say("ended")
