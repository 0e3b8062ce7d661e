"""Cards that are sealed, what is found of them, and reports and cards that were written elsewhere."""

import json
import sqlite3
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import sacrebleu

from harness.card.build import build_card
from harness.card.checking.verdict import CardVerdict
from harness.card.checking.verify import verify_card
from harness.card.seal import card_hash
from tests.harness.card import factory


def written(card: dict[str, Any]) -> bytes:
    return json.dumps(card, ensure_ascii=False, indent=2).encode()


@cache
def sealed(*, secret: bool = False) -> dict[str, Any]:
    """Return the JSON of a sealed card; the same object each time, so copy before changing.

    ``secret``: as older versions sealed it, with the numbers of a secret entry.
    """
    with tempfile.TemporaryDirectory() as folder, factory.store(Path(folder)) as connection:
        number = add_secret_run(connection) if secret else factory.add_run(connection)
        return build_card(connection, number, whole=True).as_json()


def add_secret_run(connection: sqlite3.Connection) -> int:
    """Store a run with one secret entry behind the others."""
    entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
    return factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3]))


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
