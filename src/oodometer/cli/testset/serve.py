"""``oodometer testset serve``."""

from __future__ import annotations

import signal
import webbrowser

import click

from oodometer.cli.output import say


@click.command("serve", help="The pages on which people annotate and review. Ends with Ctrl-C.")
@click.argument("project")
@click.option("--port", type=click.IntRange(0, 65535), default=8100, show_default=True, help="0: any that is free.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen. Beyond this machine the owner's token is in the address that is printed.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the browser.")
def command(project: str, port: int, host: str, open_browser: bool) -> None:
    """Serve until somebody ends it."""
    from oodometer.build.testset.project.project import open_project
    from oodometer.explorer.serve import ServeWatcher
    from oodometer.explorer.testset.serve import serve_testset

    def ready(address: str) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        click.echo(address)
        if open_browser:
            webbrowser.open(address)

    with open_project(project) as opened:
        serve_testset(opened, host=host, port=port, watcher=ServeWatcher(ready, say))
    say("ended")
