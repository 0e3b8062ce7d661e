"""``rosetta report leaderboard``: Write the lists of runs that may be ranked together."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.report.writing import to_file, written

with when_used():
    from rosetta_tui.commands import leaderboard as leaderboard_command
    from rosetta_tui.html import leaderboard_page


@click.command("leaderboard")
@click.option("--dataset", metavar="ID", help="Only the lists of this corpus.")
@click.option("--sort", default="composite", show_default=True, metavar="NAME", help="Best first, as in `rosetta leaderboard --sort`.")  # fmt: skip
@click.option("--best", is_flag=True, help="Only the best run of each set-up.")
@to_file("leaderboard.html")
def leaderboard_(
    dataset: str | None, sort: str, best: bool, output: Path | None, *, overwrite: bool
) -> None:
    """Write all lists of the store with ranks, intervals and groups; official ones, of released cards, first.

    Runs of one group cannot be told apart. Runs whose inputs differ are in separate lists, with the reason. A list
    over secret entries of this computer comes without its runs.
    """
    sort = leaderboard_command.sort_named(sort)
    with leaderboard_command.here(dataset) as (connection, lists):
        page = leaderboard_page.leaderboard_page(connection, dataset, sort, best=best, lists=lists)
    written(page, output or Path("leaderboard.html"), overwrite=overwrite)
