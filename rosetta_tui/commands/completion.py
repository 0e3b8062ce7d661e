"""``rosetta completion``: Write the script by which a shell completes commands, options, runs, methods, models and metrics."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import when_used

with when_used():
    from rosetta_tui import completion as shell_completion


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
@click.argument("line", required=False)
def completion_(shell: str, line: str | None) -> None:
    """Write the script for SHELL; its first line says where it belongs. It need not be written again after an upgrade.

    With LINE, as the script calls it: what may come next on that command line.
    """
    click.echo(shell_completion.SCRIPTS[shell] if line is None else shell_completion.answer(line), nl=False)
