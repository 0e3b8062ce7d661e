"""``rosetta publish``: Put run cards into a database, or into a folder for a pull request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import click

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from harness.core.failures import HarnessError, UsageError
from rosetta_tui.commands.naming import error_lines, when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    import sqlite3

with when_used():
    from harness import api
    from harness.card import reading
    from harness.publish import cards as outgoing
    from harness.publish import database, opening, place
    from harness.store import run_list
    from harness.store import runs as stored
    from harness.store.sqlite import database as store_database

SUBMIT = click.option("--submit", is_flag=True, help="Publish the card of the finished run where the settings say (rosetta publish).")  # fmt: skip


@click.command()
@click.argument("what", nargs=-1, metavar="[RUN|FILE]...")
@click.option(
    "--to",
    "target",
    metavar="PLACE",
    help="postgresql://USER@HOST/NAME, or a folder; else what ROSETTA_PUBLISH or the settings say.",
)
@click.option("--all", "every", is_flag=True, help="All finished runs that may leave.")
@click.option("--may-publish", metavar="WORDS", help="Say that the texts may be read by everybody, and who allows it; the words are next to the card.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only list what would leave; nothing is sent.")
@click.option("--prepare", is_flag=True, help="Only make the tables of a database, or bring them up to date.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def publish(
    what: tuple[str, ...],
    target: str | None,
    may_publish: str | None,
    *,
    every: bool,
    dry_run: bool,
    prepare: bool,
    as_json: bool,
) -> None:
    """Publish the cards of RUNs, or a released card from its FILE, where others can find them.

    What is there already is not sent again. Of a run over secret entries nothing leaves but a released card: write it
    with rosetta runs export RUN --submitter NAME -o FILE, then publish the FILE. Texts are published only where the
    terms of their corpus allow everybody to have them.
    """
    if may_publish is not None and not 0 < len(may_publish.strip()) <= 200:
        raise click.UsageError("--may-publish wants 1 to 200 characters: who says so, and why.")
    where = opening.named_place(target)
    if prepare:
        if not isinstance(where, place.DatabasePlace):
            raise UsageError("--prepare goes with a database: a folder needs no tables.")
        with database.opened_database(where) as published_database:
            steps = published_database.prepare()
        words = f"{counted(steps, 'step')} made" if steps else "the tables are up to date"
        click.echo(plain(f"{where}: {words}."))
        return
    if bool(what) is every:
        raise click.UsageError("Name the runs, or say --all.")
    with store_database.opened() as store:
        chosen = _chosen(store, what)
        if dry_run:
            done = _Done(_made(store, chosen, may_publish, every=every))
        else:
            done = _published(store, where, chosen, may_publish, every=every)
    counts: JsonObject = {"place": str(where), "dry_run": dry_run, "new": done.new, "known": done.known}
    document: JsonObject = {**counts, "cards": list(map(_told, done.cards))}
    print_form("publish", document, _lines(where, done, dry_run=dry_run), as_json=as_json)


def submitter(request: api.RunRequest) -> Callable[[Path, str], int]:
    """Return what publishes the run that is asked for at its end, to the place of the settings, and returns an exit code.

    Raises UsageError before the run begins where there is no such place, its library is not installed, or the run may not be published.
    A run that then cannot be published is kept, and said.
    """
    if request.secret:
        raise UsageError(
            "--submit: these entries are secret, and the scores of a run over them leave as a released card only. Leave --submit out; afterwards: "
            "rosetta runs export RUN --submitter NAME -o FILE, then rosetta publish FILE."
        )
    segments = [entry.segment for entry in request.entries]
    outgoing.require_publishing(request.corpus.dataset.terms, segments, "this run", None)
    where = opening.named_place(None)
    if isinstance(where, place.DatabasePlace):
        database.migrations()  # its library is installed

    def submit(path: Path, run_id: str) -> int:
        try:
            with store_database.opened(path) as store:
                done = _published(store, where, [stored.find_run(store, run_id)])
        except HarnessError as error:
            words = f"{error}\nThe run is finished and kept, but not published. Once that is mended: rosetta publish {run_id[:8]}"
            for line in error_lines(words):
                click.echo(line, err=True)
            return 1
        for line in _lines(where, done, dry_run=False):
            click.echo(plain(line), err=True)
        return 0

    return submit


Chosen: TypeAlias = "Sequence[stored.Run | Path]"


def _chosen(store: sqlite3.Connection, names: Sequence[str]) -> Chosen:
    """Return runs and files by their names; without a name all finished runs."""
    if names:
        return [
            Path(name) if name.endswith(".json") or Path(name).is_file() else stored.find_run(store, name)
            for name in names
        ]
    finished = (list_run for list_run in run_list.list_runs(store, brief=True) if list_run.card is not None)
    return [stored.read_run(store, run_summary.number) for run_summary in finished]


def _made(
    store: sqlite3.Connection, chosen: Chosen, may_publish: str | None, *, every: bool
) -> list[outgoing.OutgoingCard]:
    """Return the cards that may leave; of ``every`` run one that may not is said and passed over."""
    made = []
    for item in chosen:
        try:
            if isinstance(item, Path):
                made.append(outgoing.outgoing_file(store, item))
            else:
                made.append(outgoing.outgoing_run(store, item, may_publish))
        except UsageError as error:
            if not every:
                raise
            click.echo(plain(f"warning: {error}"), err=True)
    return made


class _Done(NamedTuple):
    """What came of publishing."""

    cards: Sequence[outgoing.OutgoingCard]
    """Those that were sent, or would be."""
    new: int = 0
    """How many of them nobody else had put there meanwhile."""
    known: int = 0
    """Runs whose cards were there already."""


def _published(
    store: sqlite3.Connection,
    where: place.Place,
    chosen: Chosen,
    may_publish: str | None = None,
    *,
    every: bool = False,
) -> _Done:
    """Publish what is not there yet."""
    with opening.opened_place(where, to_write=True) as open_place:
        hashes = {
            number: outgoing.hash_of_run(store, item)
            for number, item in enumerate(chosen)
            if isinstance(item, stored.Run) and not reading.must_be_released(store, item)
        }
        there = open_place.known(set(hashes.values()))
        new = [item for number, item in enumerate(chosen) if hashes.get(number) not in there]
        made = _made(store, new, may_publish, every=every)
        return _Done(made, open_place.add(made) if made else 0, len(chosen) - len(new))


def _told(card: outgoing.OutgoingCard) -> JsonObject:
    """Return what leaves of a card."""
    texts = card.texts.items()
    return {
        "run_id": card.run_id,
        "card_hash": card.hash,
        "dataset_id": outgoing.columns(card.card)["dataset_id"],
        "bytes": len(card.data),
        "texts": {path: {"values": values, "bytes": size} for path, (values, size) in texts},
    }


def _lines(where: place.Place, done: _Done, *, dry_run: bool) -> Iterator[str]:
    for card in done.cards:
        yield f"{card.run_id[:8]} {outgoing.columns(card.card)['dataset_id']}: {len(card.data):,} bytes"
        for path, (values, size) in card.texts.items():
            if dry_run:
                yield f"    {path}: {counted(values, 'text')}, {size:,} bytes"
    if dry_run:
        size = sum(len(card.data) for card in done.cards)
        yield f"{counted(len(done.cards), 'card')} with {size:,} bytes would go to {where}. Nothing was sent, and nobody was asked what is there already."
    else:
        yield f"{where}: {counted(done.new, 'new card')}, {done.known + len(done.cards) - done.new:,} there already."
