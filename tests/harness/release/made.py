"""A store with runs over a hidden corpus, and an office that tells their scores."""

import json
import random
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from corpora.model.entry import Entry, Segment
from harness.card.rows import load_card
from harness.method.options import MethodOptions
from harness.release import FOLDER
from harness.release.ledger import ReleaseLedger
from harness.release.ledger_records import ReleasedCard
from harness.release.releasing import release_difference, release_refusal, release_run
from harness.sealed.keys import Identity, Role
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.deletion import delete_run
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from tests.harness.evaluation import LANGUAGES, corpus_of, run_corpus
from tests.harness.release.attackers import METHOD, NOWHERE

CANARY = "kanariobirdo"
"""Stands in every text of the corpus."""
WORDS = ["mi", "vi", "li", "kaj", "la", "hundo", "kato", "rivero", "vidas", "amas", "dormas", "hejmo",
         "bela", "granda", "urbo", "tago"]  # fmt: skip
START = datetime(2026, 3, 1, tzinfo=UTC)
KEEPER = Identity.make(Role.KEEPER)


def hidden(entries: int = 200, *, public: int = 0, first: int = 0) -> list[Entry]:
    """Entries of gold_standard, then open ones; with other numbers they are other entries."""
    return [
        Entry(
            id=f"id-{n}",
            source=f"{CANARY} {n} of the source",
            reference=f"{CANARY} {' '.join(random.Random(n).choices(WORDS, k=6))}",
            segment=Segment.GOLD_STANDARD if n < first + entries else Segment.DEVELOPMENT,
            difficulty=1 + (n % 50 == 0) + (n % 2),
            provenance=("elicited", "textbook")[n % 2],
        )
        for n in range(first, first + entries + public)
    ]


def outputs(entries: list[Entry], right: float) -> list[str]:
    """Outputs with about this share of their words right; the same share gives the same words."""
    return [
        " ".join(
            word if random.Random(f"{each.id}{n}").random() < right else "kuko"
            for n, word in enumerate(each.reference.split())
        )
        for each in entries
    ]


@dataclass
class Office:
    """A data folder with a store, its ledger, and a clock that goes on a week at each answer."""

    folder: Path
    moments: list[datetime] = field(default_factory=lambda: [START])
    hours: float = 169
    clock_was_wrong: bool = False
    metrics: tuple[str, ...] = ("exact_match_rate", "chrf_plus_plus", "ter")
    runs: dict[str, str] = field(default_factory=dict)
    """Runs that may be asked for by a name of their own."""

    @property
    def store(self) -> Path:
        return self.folder / "rosetta.sqlite"

    @property
    def ledger(self) -> ReleaseLedger:
        return ReleaseLedger(self.folder / FOLDER, KEEPER, self.now, self.clock_was_wrong)

    def now(self) -> datetime:
        self.moments.append(self.moments[-1] + timedelta(hours=self.hours))
        return self.moments[-1]

    def run(self, right: float, entries: list[Entry] | None = None) -> str:
        """Score outputs; gives the run's id."""
        entries = entries or hidden()
        return self.run_lines(outputs(entries, right), entries)

    def run_lines(self, lines: list[str], entries: list[Entry]) -> str:
        """Score these outputs; gives the run's id."""
        path = self.folder / "outputs.txt"
        path.write_text("".join(f"{each}\n" for each in lines), "utf-8")
        plan = Plan(
            method="replay",
            options=MethodOptions(outputs=path, **LANGUAGES),
            run=RunOptions(),
            scoring=ScoringOptions(metrics=self.metrics),
        )
        run_corpus(self.store, corpus_of(entries), plan)
        with closing(open_store(self.store)) as store:
            return find_run(store, "last").run_id

    def release(self, run: str, submitter: str = "Ann", ledger: ReleaseLedger | None = None) -> bytes:
        with closing(open_store(self.store)) as store:
            number = find_run(store, self.runs.get(run, run)).id
            return release_run(store, number, submitter, ledger or self.ledger)

    def told(self, run: str, submitter: str = "Ann") -> Any:
        return json.loads(self.release(run, submitter))

    def refused(self, run: str, submitter: str = "Ann") -> bytes:
        """What leaves where the method gave nothing."""
        with closing(open_store(self.store)) as store:
            number = find_run(store, self.runs.get(run, run)).id
            return release_refusal(store, number, submitter, "load", self.ledger)

    def compared(self, *runs: str) -> Any:
        with closing(open_store(self.store)) as store:
            names = [self.runs.get(each, each) for each in runs]
            return json.loads(release_difference(store, names, self.ledger))

    def card(self, run: str) -> dict[str, Any]:
        """The card as it is inside."""
        with closing(open_store(self.store)) as store:
            return load_card(store, find_run(store, self.runs.get(run, run)).id).as_json()

    def delete(self, run: str) -> None:
        with closing(open_store(self.store)) as store:
            delete_run(store, find_run(store, self.runs.get(run, run)).id)

    def set(self, act: Any) -> None:
        """Have the custodian write a line into the ledger."""
        with self.ledger.changing() as change:
            change.write(act)


def told_card(name: str, chrf: float, composite: float | None = None, **fields: Any) -> ReleasedCard:
    """A released card of one method, with intervals of no width."""
    told = {"chrf_plus_plus": chrf} | ({} if composite is None else {"composite": composite})
    scores = {id_: {"value": each, "lower": each, "upper": each, "step": 1} for id_, each in told.items()}
    return ReleasedCard.model_validate({
        "run": name, "scores_of": name, "run_card_hash": "", "submitter": "Ann", "headline": "chrf_plus_plus",
        "method": METHOD.model_copy(update={"method_name": name}), "beat_by": 5.0, "scores": scores,
        "corpus": {"id": "gold", "version": "1", "language_pair": "en→eo", "entries": 50},
        "signatures": {}, "smallest_difference": 10.0, "answer": 1, "of": 3, "rosetta": "0", "issued": "2026-01-01",
        "place": NOWHERE, "by": "0" * 64, "policy": "official", "bits": 21, "quality_tier": "", "claimable_tier": "baseline", **fields,
    })  # fmt: skip
