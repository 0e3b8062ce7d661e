"""``rosetta demo``: the bundled corpus, the recorded outputs of an imaginary system, no network."""

from __future__ import annotations

import click


@click.command()
@click.option("--system", type=click.Choice(["verda", "griza"]), default="verda", show_default=True)
@click.option("--fast", is_flag=True, help="Do not wait as long as the system once took.")
@click.option("--plain", "style", flag_value="plain", help="Lines instead of the live screen.")
@click.option("--json-lines", "style", flag_value="json-lines", help="One JSON object an event.")
def demo(system: str, fast: bool, style: str | None) -> None:
    """Evaluate an imaginary system on the bundled Esperanto corpus.

    Verda is the better one, Griza translates nearly word by word. The recorded outputs come at the
    pace at which they were once made, so that there is something to watch; piped, they come at once.
    """
    from rosetta_tui.demonstration import show_demo

    show_demo(system, style, fast=fast)
