"""Somebody who climbs: a submitter without the hidden texts, who has two candidates for each entry and asks for scores.

They are the outputs of two systems that are equally good and fail on other entries. Which of the two is better on an
entry the submitter does not know: with the scores of enough choices that can be found out, entry by entry. What is
gained is how much better the last choice is on the hidden set than a choice by coin.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from corpora.formats.load import load
from harness.card.withholding import expected_half, set_id, stepped
from harness.release.budget import MOMENT, History, NotReleased, Policy
from harness.release.ledger_records import InLedger, ReleasedCard, ReleasedCorpus, ReleasedMethod, Rule, ScoresTold
from scoring.core.metric import Table
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.metrics.inventory import surface_metrics

CHRF = "chrf_plus_plus"
START = datetime(2026, 1, 1, tzinfo=UTC)
METHOD = ReleasedMethod(
    method="m", method_class="c", method_version=None, model_slug="s", condition="x", setup_hash="h"
)
ENDS = (0.0, 100.0)
NOWHERE = InLedger(ledger="0" * 64, line=1, prev="0" * 64)

Choice = npt.NDArray[np.int64]
"""Of each entry: 0 for the first candidate, 1 for the second, 2 for no output at all."""


def demo_statistics(scorer: Scorer | None = None) -> npt.NDArray[np.float64]:
    """Return what a scorer, chrF++ alone without one, takes from each entry of the demonstration's corpus: shape (good,
    poor or empty; entries; columns)."""
    samples = files("corpora.samples")
    corpus = load(str(samples.joinpath("eo-demo-v1.json")))
    scorer = scorer or Scorer([each for each in surface_metrics() if each.info.id == CHRF])
    made = []
    for name in ("strong", "weak", ""):
        outputs = {} if not name else _outputs(f"eo-demo-outputs-{name}.jsonl")
        rows = [Translation(each, outputs.get(str(each.id), "")) for each in corpus.reveal_here()]
        made.append(scorer.table(scorer.statistics(rows)).matrix)
    return np.array(made)


def _outputs(name: str) -> dict[str, str]:
    lines = files("corpora.samples").joinpath(name).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    return {str(row.get("id", row.get("entry_id"))): row.get("output") or "" for row in rows}


@dataclass
class HiddenSet:
    """A hidden set, and what is told of it by the real mechanism."""

    statistics: npt.NDArray[np.float64]
    """Shape (first candidate, second candidate or empty; entries; columns)."""
    table: Table
    history: History = field(default_factory=History)
    now: datetime = START
    asked: int = 0

    @classmethod
    def opposed(cls, statistics: npt.NDArray[np.float64], seed: int) -> HiddenSet:
        """Have a good and a poor output for every entry, in an order that nobody knows."""
        made, places = cls.drawn(statistics, seed, 0.0), np.arange(statistics.shape[1])
        good = np.random.default_rng(seed).integers(0, 2, len(places))
        made.statistics[:2] = statistics[good, places], statistics[1 - good, places]
        return made

    @classmethod
    def drawn(cls, statistics: npt.NDArray[np.float64], seed: int, failing: float) -> HiddenSet:
        """Have each candidate fail on a share of the entries, drawn for itself: there it is the weak system's output."""
        random, places = np.random.default_rng(seed), np.arange(statistics.shape[1])
        first, second = (statistics[(random.random(len(places)) < failing).astype(int), places] for _ in "12")
        metrics = [each for each in surface_metrics() if each.info.id == CHRF]
        return cls(np.array([first, second, statistics[2]]), Table(metrics, statistics[0], np.ones((len(places), 1))))

    def by_coin(self, tries: int = 400) -> float:
        """Return what a choice by coin reaches on average."""
        choices = np.random.default_rng(9).integers(0, 2, (tries, self.entries))
        first, second = self.statistics[:2]
        sums = first.sum(axis=0) + np.einsum("te,ec->tc", choices, second - first)
        return float(self.table.values(sums)[CHRF].mean())

    @property
    def entries(self) -> int:
        return int(self.statistics.shape[1])

    def rows(self, choices: Choice) -> npt.NDArray[np.float64]:
        return self.statistics[choices, np.arange(self.entries)]

    def value(self, choices: Choice) -> float:
        """Return chrF++ as it is, which nobody outside is told; of several choices the mean."""
        sums = self.rows(np.atleast_2d(choices)).sum(axis=1)
        return float(self.table.values(sums)[CHRF].mean())

    def told(self, choice: Choice) -> tuple[float, bool] | None:
        """Ask as a submitter: gives the score that is told and whether it is a new one; None where nothing is."""
        self.asked += 1
        self.now += timedelta(days=7)
        try:
            self.history.require_answers("Ann", "c", entry_ids(self.entries), self.now)
        except NotReleased:
            return None
        asked = question("Ann", f"run {self.asked}", self.entries, self.value(choice))
        act = self.history.answer(asked, self.now)
        self.history = self.history.after(act, self.now.strftime(MOMENT))
        return act.card.scores[CHRF].value, act.card.scores_of == act.run


@cache
def entry_ids(entries: int) -> frozenset[str]:
    return frozenset(f"{place:032x}" for place in range(entries))


def question(
    submitter: str, run: str, entries: int, value: float, ids: frozenset[str] | None = None,
    version: str | None = None, rotations: int | None = None,
) -> ScoresTold:  # fmt: skip
    """Ask for the score of a run over the hidden set of so many entries; ``ids``: of those entries."""
    ids = entry_ids(entries) if ids is None else ids
    half = expected_half(entries, ENDS, value)
    score = stepped(value, value - half, value + half, Policy().steps(CHRF)[CHRF], ENDS)
    card = ReleasedCard(
        submitter=submitter, run=run, run_card_hash="", method=METHOD, headline=CHRF, signatures={},
        corpus=ReleasedCorpus(id="c", version=version, language_pair="x", entries=entries), scores={CHRF: score},
        scores_of=run, beat_by=0.0, answer=1, of=1, rosetta="0", issued="2026-01-01", place=NOWHERE, by="0" * 64,
        policy="official", bits=21, quality_tier="", claimable_tier="baseline",
    )  # fmt: skip
    return ScoresTold(entries=set_id(ids), atoms=dict.fromkeys(ids, 1), value=value, rotations=rotations, card=card)


Ask = Callable[[Choice], "tuple[float, bool] | None"]


def by_regression(ask: Ask, entries: int, tries: int, seed: int) -> Choice:
    """Ask for random choices, and take of each entry what went with higher scores (Blum & Hardt's attack)."""
    random = np.random.default_rng(seed)
    votes, seen, scores = np.zeros(entries), [], []
    for _ in range(tries):
        choice = random.integers(0, 2, entries)
        if (told := ask(choice)) is None:
            break
        seen.append(choice - 0.5)
        scores.append(told[0] if told[1] else np.nan)
    known = np.array(scores)
    low = np.nanmin(known) if len(known) else 0.0
    given = np.where(np.isnan(known), low - 1.0, known)
    votes = (given - given.mean()) @ np.array(seen) if seen else votes
    return _decided(votes, random)


def by_climbing(ask: Ask, entries: int, tries: int, seed: int) -> Choice:
    """Change some entries of the best choice, and keep that where a new score is told."""
    random = np.random.default_rng(seed)
    best, top = random.integers(0, 2, entries), -np.inf
    for _ in range(tries):
        changed = best.copy()
        places = random.choice(entries, random.integers(1, entries // 2), replace=False)
        changed[places] = 1 - changed[places]
        if (told := ask(changed)) is None:
            break
        if told[1] and told[0] > top:
            best, top = changed, told[0]
    return best


def by_sandbags(ask: Ask, entries: int, tries: int, seed: int, *, least: float = 0.05) -> Choice:
    """Leave many entries empty at first and fill them slowly, so that each step of the Ladder tells of one random choice."""
    random = np.random.default_rng(seed)
    votes, order = np.zeros(entries), random.permutation(entries)
    for share in np.linspace(least, 1.0, tries):
        kept = order[: max(1, int(share * entries))]
        choice = np.full(entries, 2)
        choice[kept] = random.integers(0, 2, len(kept))
        if (told := ask(choice)) is None:
            break
        votes[kept] += (choice[kept] - 0.5) * (1 if told[1] else -0.15)
    return _decided(votes, random)


def by_level(ask: Ask, world: HiddenSet, seed: int, above: float) -> Choice:
    """Know what a choice reaches on average: begin so low that the Ladder's border lies ``above`` that, and keep the first choice that is told as better."""
    random = np.random.default_rng(seed)
    order, low = random.permutation(world.entries), random.integers(0, 2, world.entries)
    aim = world.by_coin() + above - expected_half(world.entries, ENDS, 0)
    for place in order:
        if world.value(low) <= aim:
            break
        low[place] = 2
    ask(low)
    while (told := ask(choice := random.integers(0, 2, world.entries))) is not None:
        if told[1]:
            break
    return choice


def by_turning(ask: Ask, world: HiddenSet, seed: int) -> Choice:
    """Know what a choice reaches on average: ask once, and where less is told choose the other candidate for every entry."""
    choice = np.random.default_rng(seed).integers(0, 2, world.entries)
    told = ask(choice)
    return choice if told is None or told[0] > world.by_coin() else 1 - choice


def by_best(ask: Ask, entries: int, tries: int, seed: int) -> Choice:
    """Ask for random choices, and keep the best that was told."""
    random = np.random.default_rng(seed)
    kept, top = random.integers(0, 2, entries), -np.inf
    for _ in range(tries):
        choice = random.integers(0, 2, entries)
        if (told := ask(choice)) is None:
            break
        if told[1] and told[0] > top:
            kept, top = choice, told[0]
    return kept


def _decided(votes: npt.NDArray[np.float64], random: np.random.Generator) -> Choice:
    coin = random.integers(0, 2, len(votes))
    return np.where(votes > 0, 1, np.where(votes < 0, 0, coin))


ATTACKS: dict[str, Callable[[Ask, int, int, int], Choice]] = {
    "best of": by_best,
    "regression": by_regression,
    "climbing": by_climbing,
    "sandbags": by_sandbags,
    "late sandbags": partial(by_sandbags, least=0.7),
}


class Board:
    """What is told of a small hidden set to submitters who may be one person under several names."""

    def __init__(self, entries: int, exact: bool) -> None:
        self.entries, self.exact = entries, exact
        rule = Rule(pause_hours=0, count=10_000, everybody=10_000)
        self.history = History().after(rule, START.strftime(MOMENT))

    def told(self, name: str, run: str, scores: np.ndarray) -> float | None:
        """Tell the mean of the entries' scores; None where no new one is told."""
        value = float(scores.mean())
        if self.exact:
            return value
        act = self.history.answer(question(name, run, len(scores), value), START)
        self.history = self.history.after(act, START.strftime(MOMENT))
        return act.card.scores[CHRF].value if act.card.scores_of == run else None
