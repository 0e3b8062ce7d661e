"""``rosetta corpus``: Make, check, describe and convert corpora.

Shows counts, ids and tags, never the text of an entry, so it is safe on secret segments too.
"""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class CorpusCommands(FiledCommands):
    """The commands about corpora, one file each."""

    folder = "corpus"
    order = (
        "check", "show", "convert", "terms",
        "new", "sources", "ask", "gather", "analyse", "consent", "progress",
    )  # fmt: skip


@click.group(cls=CorpusCommands)
def corpus() -> None:
    """Make, check, describe and convert corpora."""
