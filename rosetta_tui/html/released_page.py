"""The page of a released card: the coarse scores that left of a run over secret entries, and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from corpora.text.messages import counted
from harness.leaderboard.official import checked_card
from harness.release.budget import POLICIES
from harness.release.ledger_records import ReleasedCard
from rosetta_tui.html.chart import ScoreLine, score_chart
from rosetta_tui.html.page import Fact, render
from rosetta_tui.show import released_words
from rosetta_tui.show.figures import CAVEATS
from scoring.core.inventory import short_title, title


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
