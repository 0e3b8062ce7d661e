"""``rosetta sweep``: Run every combination of a plan, and show, stop and list sweeps."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class SweepCommands(FiledCommands):
    """The commands about sweeps, one file each; what is no command of them is a plan."""

    folder = "sweep"
    order = ("begin", "show", "compare", "stop", "resume", "list")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names; ``rosetta sweep PLAN.toml`` begins that plan."""
        if args and args[0].endswith(".toml"):
            args = ["begin", *args]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name; that of a plan is ``begin``."""
        return super().get_command(ctx, "begin" if cmd_name.endswith(".toml") else cmd_name)


@click.group(cls=SweepCommands)
def sweep() -> None:
    """Run every combination of a plan: `rosetta sweep PLAN.toml`."""
