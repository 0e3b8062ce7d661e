"""The page of the leaderboard: who may be ranked with whom, how far apart they are, and who cannot be told apart; the page of released scores."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpora.model.task import TRANSLATION
from corpora.text.messages import counted
from harness.card.reading import interval
from harness.core.failures import UsageError
from harness.leaderboard.board_clusters import with_clusters
from harness.leaderboard.entrant import Entrant
from harness.leaderboard.official import OfficialList, checked_card
from harness.leaderboard.ranking import Board, leaderboards
from harness.release.budget import POLICIES
from harness.release.ledger_records import ReleasedCard
from rosetta_tui.html.chart import Bar, BarChart, ScoreLine, score_chart
from rosetta_tui.html.page import Fact, render, shortened
from rosetta_tui.leaderboard import official
from rosetta_tui.leaderboard.rows import (
    PLACE_WITHHELD,
    board_words,
    caveats_of,
    columns,
    disagreeing_words,
    entrant_cells,
    kept_here,
    ordered,
    others_words,
    place_words,
    ranked_for,
    signature_words,
    smallest_words,
    stated_tier_words,
)
from rosetta_tui.show import card_fields, released_words
from rosetta_tui.show.figures import CAVEATS
from rosetta_tui.show.run_facts import setup_words, stated_mark
from scoring.core.inventory import short_title, title

_OTHER_OF = {True: ("chrf", "chrf_group"), False: ("composite",)}
"""Columns of what does not rank a list, by whether the composite does."""
_SHOWN = ("failed", "cost", "speed", "verified", "when")  # columns below rank, score and tier


@dataclass(frozen=True, slots=True)
class RankedRow:
    rank: str
    group: str
    bar: Bar
    beside: tuple[Fact, ...]  # what else is known of it: other scores, failures, cost, time
    claim: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """Runs next to each other in a list, each better than all of the groups below; of a run without a group, that run alone."""

    words: str
    rows: tuple[RankedRow, ...]


@dataclass(frozen=True, slots=True)
class ShownBoard:
    title: str
    made: str  # what ranks it, and what its composite is made of
    official: bool
    chart: BarChart
    groups: tuple[RankedGroup, ...]
    notes: tuple[str, ...]
    withheld: str = ""  # why its runs are not shown; empty where they are


def leaderboard_page(
    connection: sqlite3.Connection, dataset: str | None, sort: str, *, best: bool, lists: Sequence[OfficialList] = ()
) -> str:
    """Return the page of all lists, or of those of one corpus; ``best`` shows the best run of each set-up only.

    ``lists``: the official ones, of released cards, which come first. A list over secret entries of this computer comes without its runs, as their order would tell what no released
    card does. Raises UsageError where there is nothing to rank.
    """
    ranked = [ranked_for(board, sort) for board in leaderboards(connection, dataset)]
    if not ranked and not lists:
        of = "" if dataset is None else f" of a corpus {dataset!r}"
        raise UsageError(f"No finished run{of} has a value to be ranked by. `rosetta runs list` shows the runs.")
    boards = [with_clusters(connection, board) for board in ranked]
    shown = (
        *map(_official, lists),
        *(_shown(boards, number, board.best_of_setups if best else board, sort) for number, board in enumerate(boards)),
    )
    return render("leaderboard.html.j2", boards=shown, runs=sum(len(board.chart.bars) for board in shown))


def _shown(boards: Sequence[Board], number: int, board: Board, sort: str) -> ShownBoard:
    first, made = board_words(board)
    inside = any(map(kept_here, board.entrants))
    entrants = [] if inside else ordered(board, sort)
    heads = {
        column.key: column.title
        for column in columns(board)
        if column.key in (*_SHOWN, *board.beside)
        or (column.key in _OTHER_OF[board.by == "composite"] and board.grounds.task == TRANSLATION)
    }
    # what each column says of a run; the first column is its mark, which has no cell
    keys = [column.key for column in columns(board)[1:]]
    cells = [
        {key: cell.text for key, cell in zip(keys, entrant_cells(board, entrant), strict=True)} for entrant in entrants
    ]
    lines = [
        ScoreLine(
            setup_words(entrant.run),
            entrant.value(board.by),
            interval(entrant.scores, board.by),
            card_fields.with_interval(entrant.scores, board.by),
            "own" if board.ranks.get(entrant.run.run_id) == 1 else "other",
            entrant.run.run_id[:8],
        )
        for entrant in entrants
    ]
    chart = score_chart(f"Ranked by {title(board.by)}", "run", board.by, lines)
    rows = [
        _row(board, entrant, own, bar, heads) for entrant, own, bar in zip(entrants, cells, chart.bars, strict=True)
    ]
    return ShownBoard(
        first.removeprefix("OFFICIAL · "),
        made,
        board.official,
        chart,
        tuple(_groups(board, rows)),
        tuple(map(shortened, filter(None, _notes(boards, number, replace(board, entrants=tuple(entrants)))))),
        PLACE_WITHHELD if inside else "",
    )


def _official(found: OfficialList) -> ShownBoard:
    """Show an official list as its released cards tell it."""
    first, made = official.list_words(found)
    heads, *cells = official.table(found)
    scores = [row.card.scores[found.by] for row in found.rows]
    lines = [
        ScoreLine(
            own[2],
            score.value,
            score.interval,
            released_words.score(score),
            "own" if row.rank == 1 else "other",
            row.card.run[:8],
        )
        for row, own, score in zip(found.rows, cells, scores, strict=True)
    ]
    chart = score_chart(f"Ranked by {title(found.by)}", "run", found.by, lines)
    beside = {short_title(found.by), official.TIER}
    rows = [
        RankedRow(
            own[0], own[1], bar,
            tuple(Fact(head, cell) for head, cell in zip(heads[3:], own[3:], strict=True) if head not in beside),
            official.tier_words(row), (),
        )
        for row, own, bar in zip(found.rows, cells, chart.bars, strict=True)
    ]  # fmt: skip
    groups = tuple(RankedGroup(f"group {row.group}" if row.group else "", (row,)) for row in rows)
    return ShownBoard(first.removeprefix("Official: "), made, True, chart, groups, tuple(official.notes(found)))


def _row(board: Board, entrant: Entrant, cells: Mapping[str, str], bar: Bar, heads: Mapping[str, str]) -> RankedRow:
    card = entrant.run.card or {}
    translated = board.grounds.task == TRANSLATION
    claim = card_fields.tier_words(card, card_fields.review_of(card, entrant.run.certificates), beside=True)
    claim += stated_mark(entrant.run)
    notes = (
        place_words(entrant) and f"stands {place_words(entrant)}",
        caveats_of(entrant.run) if translated else "",
        stated_tier_words(entrant),
        card_fields.shown_by(entrant.run),
        card_fields.owner_words(entrant.run),
        entrant.unranked and f"no rank: {entrant.unranked}",
    )
    return RankedRow(
        cells["rank"],
        cells["cluster"],
        bar,
        tuple(Fact(head, cells[key]) for key, head in heads.items()),
        claim if translated else "",
        tuple(filter(None, notes)),
    )


def _groups(board: Board, rows: Sequence[RankedRow]) -> Iterator[RankedGroup]:
    """Group rows that are in the order of their ranks by group; in another order they are one part without a word."""
    together: list[list[RankedRow]] = []
    for row in rows:
        if together and row.group == together[-1][0].group and row.group.isdigit():
            together[-1].append(row)
        else:
            together.append([row])
    numbers = [part[0].group for part in together if part[0].group.isdigit()]
    if len(set(numbers)) < len(numbers):
        yield RankedGroup("", tuple(rows))
        return
    by = short_title(board.by)
    for part in together:
        count = len(part)
        warning = f"Not all of these {count:,} can be told apart by {by}: their order may be chance."
        yield RankedGroup(warning if count > 1 else "", tuple(part))


def _notes(boards: Sequence[Board], number: int, shown: Board) -> Iterator[str]:
    """Yield what is to be said below a list; of runs that are not shown nothing."""
    yield others_words(boards, number)
    if not shown.entrants:
        return
    yield smallest_words(shown)
    yield disagreeing_words(shown)
    yield shown.unclustered
    yield from card_fields.absent_packs(entrant.run.card or {} for entrant in shown.entrants)
    yield from sorted({signature_words(entrant) for entrant in shown.entrants} - {""})


# ---- The page of a released card: the coarse scores that left of a run over secret entries, and nothing else ----


def released_page(data: bytes, name: str, connection: sqlite3.Connection) -> str:
    """Return the page of a released card that is as it was signed; UsageError where the file is none, or was changed.

    Refused too where consent to what it tells was withdrawn, as far as notices that are believed here say.

    Whose key signed it nobody can tell from the file: the page repeats its six words.
    """
    card, checked = checked_card(data, name, connection)
    method = card.method
    named = dict.fromkeys((method.method_name, method.method, method.model_slug, method.condition))
    # Draw each score alone, the one that decides which run is better first.
    charts = []
    for metric in sorted(card.scores, key=lambda metric: (metric != card.headline, metric)):
        score = card.scores[metric]
        line = ScoreLine("all entries", score.value, score.interval, released_words.score(score), "own")
        charts.append(score_chart(f"{title(metric)}, in steps of {score.step:g}", "of", metric, [line]))
    return render(
        "released.html.j2",
        title=" · ".join(filter(None, named)),
        corpus=f"{card.corpus.id} · {card.corpus.language_pair}",
        date=card.issued[:10],
        short=tuple(_in_short(card)),
        charts=charts,
        identity=tuple(_identity(card)),
        checked=tuple(Fact(check.name, check.words) for check in checked.checks),
    )


def _in_short(card: ReleasedCard) -> Iterator[str]:
    """Return what left, and why no more."""
    many = counted(card.corpus.entries, "entry", "entries")
    yield f"The run is over {many}, and secret ones are among them. So no sentence, no output and no row of it leaves: scores stand rounded, and an interval contains the exact one."
    yield f"It is answer {card.answer} of {card.of} to {card.submitter} about this corpus."
    scores, later = released_words.what_leaves(POLICIES[card.policy])
    yield f"The policy {card.policy!r} tells {scores} {later}".strip()
    if card.caveats is not None:
        held = [CAVEATS[kind] for kind, holds in card.caveats.items() if holds]
        yield f"Of a quarter of the outputs or more: {'; '.join(held) or 'none is repeated, far too short, far too long, left in the source language, or out of order'}."
    yield from released_words.facts(card)


def _identity(card: ReleasedCard) -> Iterator[Fact]:
    yield Fact("run", card.run)
    yield Fact("seal of its card, which stays inside", card.run_card_hash)
    yield Fact("set-up", card.method.setup_hash)
    yield Fact("ledger", card.place.ledger)
    yield Fact("line of the ledger", str(card.place.line))
    yield Fact("signed with", card.by)
    signature = card.signatures.get(card.headline)
    if signature:
        yield Fact(f"signature of {short_title(card.headline)}", signature)
