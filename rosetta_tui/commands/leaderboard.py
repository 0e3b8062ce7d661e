"""``rosetta leaderboard``: Rank the runs that are comparable."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from corpora.model.task import TRANSLATION
from corpora.text.messages import counted, near_names, one_of
from harness.core.failures import UsageError
from harness.release import FOLDER as RELEASES
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain, stacked

if TYPE_CHECKING:
    from corpora.files.json_types import JsonObject
    from rosetta_tui.show.columns import Record

with when_used():
    from harness.card import reading as leaving
    from harness.core import storage
    from harness.leaderboard import board_clusters, official, ranking
    from harness.leaderboard import entrant as leaderboard_entrant
    from harness.publish import cards as reading
    from harness.publish import opening
    from harness.store import withdrawn
    from harness.store.sqlite import database
    from rosetta_tui.leaderboard import official as official_words
    from rosetta_tui.leaderboard import rows as leaderboard_rows
    from rosetta_tui.leaderboard import rows as leaderboard_words
    from rosetta_tui.show import card_fields, exporting, run_facts
    from scoring.core import inventory

SORTS = (
    "chrf", "composite", "exact", "fst", "semantic", "cost", "speed", "adjusted", "failed", "method", "class",
    "verified", "when",
)  # fmt: skip
"""The columns that lists can be sorted by (``leaderboard.rows.SORTS``, which is read only when it is needed)."""


@click.command()
@click.option("--dataset", metavar="ID", help="Only the lists of this corpus.")
@click.option(
    "--sort",
    default="composite",
    show_default=True,
    metavar="NAME",
    help=f"Best first; any metric's name or what the column is called: {', '.join(SORTS)}. "
    "Lists of other tasks than translation begin with what ranks them.",
)
@click.option("--best", is_flag=True, help="Only the best run of each set-up.")
@click.option("--from", "source", metavar="PLACE", help="Rank the cards that are published there: postgresql://USER@HOST/NAME, or a folder. Nothing is stored.")  # fmt: skip
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write a table to a file.")
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def leaderboard(
    dataset: str | None, sort: str, best: bool, source: str | None, table: Path | None, overwrite: bool, as_json: bool
) -> None:
    """Rank the finished runs of the store, or with --from cards that were published.

    Official lists, of released cards, come first. A list holds runs over the same entries of the same corpus file,
    scored alike. Translations are ranked by their composite, or with --sort chrf by chrF++; the composites of one list weigh the same inputs. Runs of another
    task (questions, speech, calls …) are ranked by its first metric, such as F1 or the word error rate. Each run of
    a group is better than every run of the groups below; inside, the order may be chance. A run has no rank if more than 5 % of its entries failed
    because there was no connection.
    """
    if table is not None and as_json:
        raise UsageError("--csv writes a file; --json prints. Leave one of them out.")
    sort = sort_named(sort)
    with here(dataset) if source is None else published(source, dataset) as (store, lists):
        boards_found = ranking.leaderboards(store, dataset, made_by=run_facts.LINES)
        gc.freeze()  # what groups are loaded with would have all cards looked through for cycles
        boards_ranked = [leaderboard_rows.ranked_for(board, sort) for board in boards_found]
        boards = [board_clusters.with_clusters(store, board) for board in boards_ranked]
        gone = withdrawn.withdrawn_names(store, dataset) if source is None else []
    left_out = f"{counted(len(gone), 'run')} left out: consent was withdrawn (rosetta community notices)."
    if not boards and not lists and dataset is not None:
        list_ = "" if source else " `rosetta runs list` shows the runs."
        nothing = f"No finished run of a corpus {dataset!r} has a value to be ranked by."
        raise UsageError(f"{nothing} {left_out}" if gone else f"{nothing}{list_}")
    shown = [board.best_of_setups if best else board for board in boards]
    if table is not None:
        _write(table, lists, shown, sort, overwrite=overwrite)
    elif as_json:
        document = [_board(board, sort) for board in shown]
        click.echo(form_text("leaderboard", [*(official_words.form(list_) for list_ in lists), *document]))
    else:
        for line in _all_lines(lists, boards, shown, sort, source, left_out if gone else ""):
            click.echo(plain(line))
    if gone and (shown or lists):
        click.echo(left_out, err=True)


def _all_lines(
    lists: Sequence[official.OfficialList],
    boards: list[ranking.Board],
    shown: Sequence[ranking.Board],
    sort: str,
    source: str | None,
    left_out: str,
) -> Iterator[str]:
    """Yield official lists, then those of runs over open entries; what to do where there is neither."""
    if not shown and not lists:
        demo = "There is nothing to rank yet. `rosetta demo` makes a run: no key, no network."
        nothing = "There is nothing to rank there yet." if source else demo
        yield f"There is nothing to rank: {left_out}" if left_out else nothing
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if lists:
        yield from official_words.lists_lines(lists, width)
    for index, board in enumerate(shown):
        if index or lists:
            yield ""
        yield from _lines(boards, board, index, sort, source=source)


Ranked: TypeAlias = "tuple[sqlite3.Connection, Sequence[official.OfficialList]]"
"""Runs whose entries are open, in a store, and official lists."""


@contextmanager
def here(dataset: str | None) -> Iterator[Ranked]:
    """Open the store of this computer, and read the released cards that it told or took in."""
    with database.opened() as store:
        # with no released card here, what reads them is not loaded
        released = any((database.home() / RELEASES).glob("*"))
        yield store, official.official_lists(official.cards_here(database.home(), store), dataset) if released else []


@contextmanager
def published(source: str, dataset: str | None) -> Iterator[Ranked]:
    """Read the cards of a place into a store that is gone after the block, and say which of them did not verify."""
    with opening.opened_place(opening.named_place(source), to_write=False) as there:
        changed = [
            f"card {card_hash[:12]}: its columns in the database say other than the card; lists are made of the card"
            for card_hash in there.changed()
        ]
        with reading.taken(there.cards()) as cards:
            notes = [*cards.unverified, *changed]
            good = cards.count - len(cards.unverified)
            notes.append(f"{counted(cards.count, 'published card')}, of which {good:,} verified")
            for words in notes:
                click.echo(plain(words), err=True)
            yield cards.store, official.official_lists(cards.released, dataset)


def _write(
    path: Path, lists: Sequence[official.OfficialList], boards: Sequence[ranking.Board], sort: str, *, overwrite: bool
) -> None:
    """Write all lists as one table; each row names its list, and lists over secret entries are left out but as their released cards tell."""
    left_out = {place: why for place, board in enumerate(boards, 1) if (why := _inside(board))}
    notes = [f"List {place} is left out: {why}" for place, why in left_out.items()]
    if len(notes) == len(boards) and not lists:
        raise UsageError("\n".join([*notes, "There is no list to write."]))
    records: list[Record] = [
        {**_official_record(place, list_), **official_words.record(row)}
        for place, list_ in enumerate(lists, len(boards) + 1)
        for row in list_.rows
    ]
    records += [
        {**_list_record(place, board), **leaderboard_rows.entrant_record(board, entrant)}
        for place, board in enumerate(boards, 1)
        if place not in left_out
        for entrant in leaderboard_rows.ordered(board, sort)
    ]
    text = exporting.table_text(records, exporting.TableFormat.CSV)
    storage.write_file(path, exporting.encoded(text), overwrite=overwrite)
    rows = counted(len(records), "row")
    for line in (*notes, f"{path}: {rows}, readable by you alone."):
        click.echo(plain(line), err=True)


def _list_record(number: int, board: ranking.Board) -> Record:
    return {
        "list": number,
        "dataset_id": board.dataset_id,
        "dataset_sha256": board.grounds.sha256,
        "language_pair": board.language_pair,
        "segments": " ".join(board.segments),
        "entries": board.entries,
        "ranked_by": board.by,
        "calibration": board.grounds.calibration or None,
        "smallest_difference": board.smallest,
    }


def _official_record(number: int, found: official.OfficialList) -> Record:
    corpus = found.card.corpus
    return {
        "list": number,
        "dataset_id": corpus.id,
        "language_pair": corpus.language_pair,
        "segments": "official",
        "entries": corpus.entries,
        "ranked_by": found.by,
        "smallest_difference": found.smallest,
    }


def sort_named(words: str) -> str:
    """Return by what lists are sorted; a metric goes by any of its names. UsageError with the nearest."""
    name = words.strip().lower()
    metric = None if name in SORTS else inventory.metric_named(words)
    name = name if metric is None else inventory.typed_name(metric)
    if metric is not None or name in SORTS:
        return name
    near = near_names(name, dict.fromkeys([*SORTS, *map(inventory.typed_name, inventory.inventory())]))
    guess = f"did you mean {one_of(map(repr, near))}?" if near else f"there are {', '.join(SORTS)}."
    raise UsageError(f"--sort: lists cannot be sorted by {words[:40]!r}; {guess}")


def _lines(
    boards: list[ranking.Board], board: ranking.Board, index: int, sort: str, *, source: str | None
) -> Iterator[str]:
    yield from leaderboard_words.board_words(board)
    absent = card_fields.absent_packs(entrant.run.card or {} for entrant in board.entrants)
    for note in (leaderboard_words.others_words(boards, index), board.unclustered, *absent):
        if note:
            yield note
    shown = [
        (place, column)
        for place, column in enumerate(leaderboard_rows.columns(board)[1:])
        if column.key in {*PRINTED, board.by, leaderboard_rows.SPREAD, *board.beside}
    ]
    rows = [["run", *(column.title for _, column in shown)]]
    for entrant in leaderboard_rows.ordered(board, sort):
        cells = leaderboard_rows.entrant_cells(board, entrant, all_metrics=False)  # none of them is printed
        rows.append([entrant.run.run_id[:8], *(cells[place].text for place, _ in shown)])
    yield from stacked(rows, shutil.get_terminal_size().columns if sys.stdout.isatty() else None)
    for words in (leaderboard_words.smallest_words(board), leaderboard_words.disagreeing_words(board)):
        if words:
            yield words
    for row in board.entrants:
        yield from _notes(row, translated=board.grounds.task == TRANSLATION)
    # Runs whose texts nobody here compared with their corpus, and what does that.
    if stated := sum(entrant.run.stated and not entrant.unranked for entrant in board.entrants):
        again = "`rosetta runs import CARD --corpus FILE` scores them again"
        if source is not None:
            again = "they are scored again where this computer has a run over the corpus"
        yield f"{counted(stated, 'run')} with scores as stated on the card: {again}"
    ranked_first = board.entrants[0].columns.headline if board.entrants else ""
    signatures = {entrant.signature(ranked_first) for entrant in board.entrants} - {""}
    for signature in sorted(signatures):
        yield f"{inventory.short_title(ranked_first)} {signature}"


def _notes(entrant: leaderboard_entrant.Entrant, *, translated: bool) -> Iterator[str]:
    """Yield what the row of a run has no room for."""
    name = entrant.run.run_id[:8]
    if words := leaderboard_rows.place_words(entrant):
        yield f"{name} stands {words}"
    if translated and (words := leaderboard_rows.caveats_of(entrant.run)):
        yield f"{name}: {words}"
    if words := leaderboard_rows.stated_tier_words(entrant):
        yield f"{name} {words}"
    for words in filter(None, (card_fields.shown_by(entrant.run), card_fields.owner_words(entrant.run))):
        yield plain(f"{name}: {words}")
    if entrant.unranked:
        yield f"{name} has no rank: {entrant.unranked}"


def _answers(board: ranking.Board, entrant: leaderboard_entrant.Entrant) -> JsonObject:
    """Return what a run of another task than translation reached, with the interval of what ranks it."""
    shown = (board.by, *board.beside)
    spreads = leaving.block(entrant.scores, "spread")
    return {
        "values": {id_: entrant.value(id_) for id_ in shown},
        "interval": leaving.interval(entrant.scores, board.by),
        "spread": {id_: spreads[id_] for id_ in shown if id_ in spreads},
        "signature": entrant.signature(board.by) or None,
    }


PRINTED = (
    "rank",
    "cluster",
    "method",
    "composite",
    "chrf",
    "chrf_group",
    "tier",
    "failed",
    "cost",
    "speed",
    "adjusted",
    "verified",
)
"""Columns of the printed table; JSON has all fields."""


def _inside(board: ranking.Board) -> str:
    """Return how the runs of a list over secret entries leave; empty for a list over others."""
    inside = [entrant for entrant in board.entrants if leaderboard_rows.kept_here(entrant)]
    return leaving.inside_words(inside[0].run.run_id) if inside else ""


def _board(board: ranking.Board, sort: str) -> JsonObject:
    withheld = _inside(board)
    if withheld:  # the order of runs over secret entries would tell what no released card does
        board, sort = replace(board, entrants=(), smallest=None), "composite"
    translated = board.grounds.task == TRANSLATION
    return {
        "dataset_id": board.dataset_id,
        "version": board.version or None,
        "language_pair": board.language_pair,
        "dataset_sha256": board.grounds.sha256,
        "segments": list(board.segments),
        "official": board.official,
        "entries": board.entries,
        "corpus_entries": board.corpus_entries,
        "composite_profile": board.grounds.profile,
        "composite_inputs": list(board.grounds.inputs) if translated else [],
        "calibration": board.grounds.calibration or None,
        "ranked_by": board.by,
        **({} if translated else {"task": board.grounds.task}),
        "unclustered": board.unclustered or None,
        "smallest_difference": board.smallest,
        "runs": [_entrant(board, entrant) for entrant in leaderboard_rows.ordered(board, sort)],
        **({"withheld": withheld} if withheld else {}),
    }


def _entrant(board: ranking.Board, entrant: leaderboard_entrant.Entrant) -> JsonObject:
    run, card = entrant.run, entrant.run.card or {}
    reproduced = card_fields.is_reproduced(card, run.checked)
    tiers = {
        **card_fields.tiers_json(card, card_fields.review_of(card, run.certificates), reproduced=reproduced),
        "verification_tier": leaderboard_rows.validation(entrant),
        "stated": entrant.run.stated,
        **card_fields.owner_json(run),
    }
    return {
        "run_id": run.run_id,
        "in_place_of": list(entrant.in_place_of),
        "rank": board.ranks.get(run.run_id),
        "cluster": board.clusters.get(run.run_id),
        "chrf_cluster": board.chrf_clusters.get(run.run_id),
        "method_name": run.method_name or None,
        "method": run.method,
        "method_class": entrant.method_class or None,
        "model_slug": run.model_slug,
        "condition": run.condition,
        "unranked": entrant.unranked or None,
        "failures": dict(entrant.failures),
        "chrf_plus_plus": entrant.value("chrf_plus_plus"),
        "chrf_signature": entrant.chrf_signature or None,
        "composite": entrant.composite,
        **({} if board.grounds.task == TRANSLATION else _answers(board, entrant)),
        "confidence_intervals": tiers.pop("confidence_intervals"),
        "fst_acceptance_rate": entrant.value("fst_acceptance_rate"),
        "exact_match_rate": entrant.value("exact_match_rate"),
        "semantic_score": entrant.value("semantic_score"),
        **{id_: entrant.value(id_) for id_ in card_fields.stated_metrics([entrant.scores]) if "." in id_},
        "cost_per_entry_usd": entrant.cost_per_entry_usd,
        "avg_latency_seconds": entrant.avg_latency_seconds,
        "cost_adjusted": entrant.cost_adjusted,
        **tiers,
        "setup_hash": entrant.setup_hash,
        "date": run_facts.iso(run.created),
        "run_card_hash": card.get("run_card_hash"),
    }
