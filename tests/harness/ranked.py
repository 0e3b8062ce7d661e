"""Finished runs of real methods over one corpus, good and bad, for leaderboards."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, Segment
from harness.method.method import MethodClass
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from tests.harness.evaluation import LANGUAGES, corpus_of, run_corpus

REFERENCES = [
    "Mi vidas la hundon.", "Kie vi estis hieraŭ?", "Li havas tri katojn.", "Bonvolu fermi la pordon.",
    "Se pluvos, ni restos hejme.",
]  # fmt: skip
SPOILT = ["Mi vidas hundo.", "Kie estas vi?", "Li havi tri kato.", "Fermu pordo.", "Pluvas. Hejme."]


def entries(count: int, segment: Segment | None = Segment.DEVELOPMENT) -> list[Entry]:
    """Entries of which no two are the same."""
    return [
        Entry(id=n + 1, source=f"source sentence number {n}", reference=f"{REFERENCES[n % 5]} {n}",
              segment=segment, difficulty=1 + n % 5)
        for n in range(count)
    ]  # fmt: skip


def ranked_corpus(count: int = 40, segment: Segment | None = Segment.DEVELOPMENT) -> Corpus:
    """A corpus for runs of ``play``."""
    return corpus_of(entries(count, segment))


def play(
    path: Path,
    corpus: Corpus,
    right: int,
    model: str,
    *,
    cost: float | None = None,
    positions: Sequence[int] | None = None,
    condition: str = "made",
    replicate: int = 0,
    kind: MethodClass | None = None,
    metrics: Sequence[str] | None = None,
) -> str:
    """Replay outputs of which the first ``right`` are the references, the others spoilt; gives the run's id.

    ``metrics``: fewer than all that ship, where a test is not about scores.
    """
    outputs = path.parent / f"{model}-{right}-{len(corpus.entries)}.jsonl"
    told = {"model": model, "latency_seconds": 0.5} | ({} if cost is None else {"cost_usd": cost})
    texts = [
        entry.reference if place < right else f"{SPOILT[place % 5]} {place}"
        for place, entry in enumerate(corpus.reveal_here())
    ]
    lines = [{"id": entry.id, "output": text, **told} for entry, text in zip(corpus.entries, texts, strict=True)]
    outputs.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    scoring = ScoringOptions() if metrics is None else ScoringOptions(metrics=tuple(metrics))
    options = MethodOptions(**LANGUAGES, outputs=outputs, condition=condition, replicate=replicate, method_class=kind)
    plan = Plan(method="replay", scoring=scoring, options=options, run=RunOptions(offline=True))
    heard = run_corpus(path, corpus, plan, positions=positions)
    assert heard.finished.state == "complete", heard.events
    return heard.finished.run_id


def run_number(path: Path, run_id: str) -> int:
    """Return the store's own number of a run."""
    with closing(open_store(path)) as store:
        return find_run(store, run_id).id
