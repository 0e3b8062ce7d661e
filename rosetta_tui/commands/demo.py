"""``rosetta demo``: Run the bundled demo: no key, no network."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from corpora.samples import DEMO_TASKS
from harness.store.file.database import default_path
from rosetta_tui.commands.naming import in_lines


@click.command()
@click.option("--system", type=click.Choice(["verda", "griza"]), default="verda", show_default=True)
@click.option(
    "--task",
    type=click.Choice(["translation", *DEMO_TASKS]),
    default="translation",
    show_default=True,
    help="What the system is asked.",
)
@click.option("--fast", is_flag=True, help="Do not wait as long as the system once took.")
@in_lines
def demo(system: str, task: str, fast: bool, style: str | None) -> None:
    """Evaluate an imaginary system on a bundled Esperanto corpus.

    Verda is the better one, Griza translates nearly word by word. With --task they answer questions, write down
    speech, or call functions. The recorded outputs come at the
    pace at which they were once made, so that there is something to watch; piped, they come at once.
    """
    _show(system, task, style, fast=fast)


def _show(system: str, task: str, style: str | None, *, fast: bool) -> None:
    """Run the demo and show it until its end."""
    from harness import api
    from rosetta_tui.app.display import show
    from rosetta_tui.session.demo import Paced, demo_run

    ready = api.start(default_path(), demo_run(system, task))
    watched = style is None and sys.stdout.isatty()
    show(replace(ready, method=Paced(ready.method)) if watched and not fast else ready, style)
