"""A small finished run in a real store, with all that a card can tell: retries, failure, cache, secret."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import sacrebleu

from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from harness.card.assembling import assemble
from harness.card.checking.verdict import CardVerdict
from harness.card.checking.verify_card import verify_card
from harness.card.material import fingerprint, held, stored_material
from harness.card.model import RunCard, card_hash
from harness.core.calls import Reply, Usage
from harness.core.failures import ErrorClass
from harness.method.method import Attempt, MethodClass, Result, Setup
from harness.store.corpora.entries import save_corpus
from harness.store.live_runs import begin_stretch
from harness.store.replies import StoredReply, add_replies
from harness.store.results import add_results
from harness.store.runs import create_run
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import RunOpening
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.words.source_words import Resources

RUN_ID = "6f1c3a52-8a4e-4c55-9a77-0c3a5b1d2e4f"
STARTED = 1_795_000_000.25
SHA256 = "ab" * 32

SECRETS = ("Hush, the river sings.", "Ŝŝ, la rivero kantas.", "Ŝŝ, kantas la rivero.", "Ŝŝ rivero")
"""Source, reference, variant and output of the secret entry that some runs have."""

DATASET = Dataset(id="small-v1", version="1.0", language_pair="EN→EO", source_language="en", target_language="eo")

ENTRIES = (
    Entry(id=1, source="I see the dog.", reference="Mi vidas la hundon.", difficulty=2,
          segment=Segment.DEVELOPMENT, provenance="elicited", register="conversational",
          context="declaration"),
    Entry(id="b", source="I saw his dog yesterday.", reference="Mi vidis lian hundon hieraŭ.",
          variants=("Hieraŭ mi vidis lian hundon.",), segment=Segment.DEVELOPMENT, difficulty=3,
          provenance="elicited"),
    Entry(id=3, source="Thank you!", reference="Dankon!", difficulty=1, provenance="textbook"),
    Entry(id=4, source="ᓂᐚᐸᒫᐤ ᐊᑎᒼ", reference="niwâpamâw atim", difficulty=2),
)  # fmt: skip

OUTPUTS: tuple[str | None, ...] = (
    "Mi vidas la hundon.", "Hieraŭ mi vidis lian hundon.", None,
    "niwapamaw <b>atim</b> 'x' \u202e",
)  # fmt: skip

SECRET_ENTRY = Entry(
    id=5, source=SECRETS[0], reference=SECRETS[1], variants=(SECRETS[2],), difficulty=4,
    segment=Segment.GOLD_STANDARD, provenance="gold_standard",
)  # fmt: skip

SETUP = Setup(
    method="chat", method_class=MethodClass.RAW_LLM, method_version="1", provider="local",
    model_slug="example/model", condition="zero-shot", temperature=0.2, max_tokens=512,
    system_prompt_used="Translate.", system_prompt_sha256="cd" * 32, prompt_version="plain-v1",
    options={"top_p": 0.9},
)  # fmt: skip

KEY = b"0123456789abcdef"


@contextmanager
def store(folder: Path) -> Iterator[sqlite3.Connection]:
    """Yield a fresh store until the block ends."""
    with closing(open_store(folder / "rosetta.sqlite")) as connection:
        yield connection


def build_card(connection: sqlite3.Connection, run: int, *, whole: bool = False) -> RunCard:
    """Compute the card of a stored run; raises HarnessError where entries are missing."""
    return assemble(held(stored_material(connection, run)), whole=whole)


def add_run(
    connection: sqlite3.Connection,
    entries: Sequence[Entry] = ENTRIES,
    outputs: Sequence[str | None] = OUTPUTS,
    *,
    run_id: str = RUN_ID,
    setup: Setup = SETUP,
    error: str = "The reply was empty.",
    priced: bool = True,
    stored: int | None = None,
) -> int:
    """Store a run whose entries are finished (the first ``stored`` of them), not sealed yet."""
    print_ = fingerprint(setup, SHA256, "0.1.0")
    connection.execute("BEGIN")
    number = create_run(
        connection, run_id=run_id,
        corpus=save_corpus(connection, Corpus(DATASET, tuple(entries), SHA256, Form.SPECIFICATION)),
        positions=range(len(entries)), setup=setup, setup_hash=print_.setup_hash,
        fingerprint_hash=print_.hash, plan={"run": {"budget_usd": 0.05}}, opening=RunOpening(),
        dataset_id=DATASET.id, language_pair=DATASET.language_pair, harness_version="0.1.0",
        created=STARTED,
    )  # fmt: skip
    for started, last in ((STARTED, STARTED + 1.5), (STARTED + 60.0, STARTED + 60.75)):
        told = (started, last, begin_stretch(connection, number).number)
        connection.execute("UPDATE stretches SET started = ?, last = ? WHERE id = ?", told)
    rows = _rows(entries, outputs, error, priced=priced)
    add_results(connection, number, rows[:stored])
    add_replies(
        connection,
        [
            StoredReply(
                Reply("y", Usage(10, 5), model_id="example/model-2026-10"),
                0.5,
                0.001,
                KEY,
                {"model": "example/model", "messages": [{"role": "user", "content": "x"}]},
            )
        ],
    )
    connection.execute("COMMIT")
    return number


def _rows(entries: Sequence[Entry], outputs: Sequence[str | None], error: str, *, priced: bool) -> list[Result]:
    scorer = Scorer(make_metrics(Resources(surface_setup("und", "eo", entries))))
    pairs = zip(entries, outputs, strict=True)
    statistics = scorer.statistics([Translation(entry, text or "") for entry, text in pairs])
    values = scorer.entries_values(statistics)
    return [
        Result(
            position=place, entry_id=entry.id, output=outputs[place],
            statistics=scorer.pack(statistics[place]),
            headline=values[place].values["chrf_plus_plus"],
            exact=bool(values[place].values["exact_match_rate"]),
            second=values[place].composite, trace=tuple(_attempts(place)),
            **_measures(place, outputs[place], error, priced=priced),
        )
        for place, entry in enumerate(entries)
    ]  # fmt: skip


def _measures(place: int, output: str | None, error: str, *, priced: bool) -> dict[str, Any]:
    cached = place == 1
    return {
        "error_class": ErrorClass.EMPTY if output is None else None,
        "error": error if output is None else None,
        "latency_seconds": None if cached else 0.25 + place / 8, "cached": cached,
        "attempts": 3 if output is None else 1, "usage": Usage(20 + place, 7, 0, 4 * cached),
        "cost_usd": 0.0001 * (place + 1) if priced else None,
        "spent_usd": 0.0 if cached else 0.0001 * (place + 1) if priced else None,
        "finished_at": STARTED + place,
    }  # fmt: skip


def _attempts(place: int) -> list[Attempt]:
    if place == 2:
        limited = Attempt(status=429, error_class=ErrorClass.RATE_LIMIT, error="429")
        return [limited, Attempt(status=429, waited_seconds=1.25), Attempt(KEY, 200, 0.5)]
    return [Attempt(KEY, 200, 0.25, cached=place == 1)]


def written(card: dict[str, Any]) -> bytes:
    return json.dumps(card, ensure_ascii=False, indent=2).encode()


@cache
def sealed(*, secret: bool = False) -> dict[str, Any]:
    """Return the JSON of a sealed card; the same object each time, so copy before changing.

    ``secret``: as older versions sealed it, with the numbers of a secret entry.
    """
    with tempfile.TemporaryDirectory() as folder, store(Path(folder)) as connection:
        number = add_secret_run(connection) if secret else add_run(connection)
        return build_card(connection, number, whole=True).as_json()


def add_secret_run(connection: sqlite3.Connection) -> int:
    """Store a run with one secret entry behind the others."""
    entries = (*ENTRIES, SECRET_ENTRY)
    return add_run(connection, entries, (*OUTPUTS, SECRETS[3]))


def checks(verdict: CardVerdict) -> dict[str, bool | None]:
    return {check.name: check.ok for check in verdict.checks}


def resealed(card: dict[str, Any]) -> bytes:
    """Seal a changed card again."""
    card["run_card_hash"] = card_hash(card)
    return written(card)


def first_path(data: bytes, store: sqlite3.Connection | None = None) -> str:
    """Return the place of the first difference that verifying finds; empty where there is none."""
    verdict = verify_card(data, store)
    assert verdict.ok is (verdict.first_difference is None)
    return verdict.first_difference.path if verdict.first_difference else ""


OLDER = Path(__file__).parent / "older-card.json"


def report(**changes: Any) -> dict[str, Any]:
    """Return a test report in the shape that the reference implementation writes."""
    made = [
        ("You too?", "Ankaŭ vi?", "Ankaŭ vi?", None),
        ("He wants water.", "Li volas akvon.", "li volas akvon.", None),
        ("Go home.", "Iru hejmen.", "", "timeout"),
        ("Thanks!", "Dankon!", "Dankegon!", None),
    ]
    entries = [
        {"id": f"x_{place}", "source": source, "expected": expected, "raw_predicted": predicted,
         "predicted": predicted, "segment": "", "difficulty": 1 + place % 2, "domain": "conv",
         "exact_match": predicted.lower() == expected.lower() and not error,
         "chrf_score": sacrebleu.sentence_chrf(predicted, [expected], word_order=2).score,
         "latency_s": 0.03, "cost_usd": 0.0002, "error": error,
         "plugin_metrics": {"hallucination": {"hallucination_rate": 0.1}}}
        for place, (source, expected, predicted, error) in enumerate(made)
    ]  # fmt: skip
    good = [entry for entry in entries if not entry["error"]]
    outputs = [entry["predicted"] for entry in good]
    references = [[entry["expected"] for entry in good]]
    overall = {
        "total_entries": 4,
        "error_count": 1,
        "evaluated": 3,
        "exact_match_count": 2,
        "exact_match_rate": 0.6667,
        "corpus_chrf": round(sacrebleu.corpus_chrf(outputs, references, word_order=2).score, 2),  # type: ignore[arg-type]
        "corpus_bleu": round(sacrebleu.corpus_bleu(outputs, references).score, 2),  # type: ignore[arg-type]
        "corpus_ter": round(sacrebleu.corpus_ter(outputs, references).score, 2),  # type: ignore[arg-type]
        "comet_score": None,
    }
    config = {
        "model": "example/model", "prompt_version": "naive", "_effective_temperature": 0.0,
        "batch_size": 25, "source_lang": "English", "target_lang": "Esperanto",
        "target_lang_code": "", "corpus_path": "datasets/curated/eng-epo-dev-v1.json",
        "coaching_file": None,
    }  # fmt: skip
    return {
        "run_id": "run_20260612_131216_example_model_naive_all_b25_f3ff31", "config": config,
        "overall": overall, "by_segment": {}, "entries": entries, **changes,
    }  # fmt: skip
