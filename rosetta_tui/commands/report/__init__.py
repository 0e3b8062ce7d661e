"""``rosetta report``: Write a run, a sweep, a review, the leaderboard or a released card as one HTML page."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class ReportCommands(FiledCommands):
    """The kinds of reports, one file each."""

    folder = "report"
    order = ("run", "sweep", "review", "leaderboard", "released")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the kind of report that the first argument names; what names none is a run."""
        known = args[0] in self.list_commands(ctx) or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["run", *args])


@click.group(cls=ReportCommands)
def report() -> None:
    """Write an HTML page that holds everything it shows: to send, to print, or to keep.

    The word `run` may be left out: any other word than these is the name of a run.
    """
