"""``rosetta corpus gather``: Take into a corpus in the making what speakers wrote and said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from harness.store.file.database import home
from rosetta_tui.commands.corpus.speakers import known_reviews
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain
from scoring.core.wording import counted

with when_used():
    from harness.project import making
    from review.office.results import into_project
    from review.office.store import store
    from rosetta_tui.review.organiser.words import imported


@click.command("gather")
@click.argument("folder", type=click.Path(path_type=Path))
def gather_(folder: Path) -> None:
    """Take what came back from speakers (`rosetta review import`) into the corpus in FOLDER; once more changes nothing.

    Only what its writers allow to be used is taken. Secret translations stay sealed.
    """
    with making.changing(folder, home()) as project:
        known_reviews(project)
        with store.Office.open(home()) as office:
            found = into_project.gather(project, office)
    click.echo(
        f"Taken in: {counted(found.translated, 'translation')}, {found.agreed} agreed to, {found.corrected} corrected."
    )
    for line in _left(found):
        click.echo(plain(line), err=True)


def _left(found: into_project.Gathered) -> Iterator[str]:
    if found.waiting:
        yield f"{counted(found.waiting, 'sentence')} with speakers: nothing came back yet that may be used."
    if found.unshared:
        yield f"Left out: {counted(found.unshared, 'translation')} of people who did not say that theirs may be used. {imported.HOW_TO_ALLOW}"
    if found.beside:
        yield f"Left out: {counted(found.beside, 'translation')} of sentences that another review translated. If that one is taken back or refused, gather takes these."
    if found.withheld or found.objected:
        many = counted(found.withheld + len(found.objected), "sentence")
        named = f" (entries {_ids(found.objected)})" if found.objected else ""
        yield f"Left out: {many} that somebody called harmful or not to be shown around{named}. Talk with them; `rosetta review adjudicate` clears a flag."
    if found.taken_back:
        yield f"Taken back by who said it, and out of the corpus: entries {_ids(found.taken_back)}."
    if found.refused:
        yield f"A second speaker did not agree, and wrote no better one: entries {_ids(found.refused)}. They wait for another translation (rosetta corpus translate)."


def _ids(entries: list[int]) -> str:
    return ", ".join(map(str, entries))
