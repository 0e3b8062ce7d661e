"""What the scores of a card depend on besides its texts, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.card.reading import block, number
from rosetta_tui.report.paragraphs import line
from scoring.core.columns import TRANSLATIONS, stated_columns
from scoring.core.metric_rows import known_row, row_of, title


def scored_with(card: Mapping[str, Any]) -> Iterator[str]:
    """Name everything that the scores depend on besides the texts."""
    scoring = block(card, "scoring")
    if not scoring:
        return
    yield "scored with"
    of_translations = any("." not in str(id_) for id_ in scoring.get("metrics") or ())
    for name, parts in (
        ("language card", (scoring.get("language_card"), _hash(scoring, "language_card_sha256"))),
        ("script", (scoring.get("script"),)),
        *(_translation_tools(scoring) if of_translations or translated(card) else ()),
    ):
        stated_parts = [part for part in parts if part]
        yield line(f"  {name}", *(stated_parts or ["none"]))
    for name in block(scoring, "annotators"):
        yield line(f"  {name}", *_annotator(block(block(scoring, "annotators"), name)))
    yield ""
    yield "signatures"
    for metric, signature in block(block(card, "scores"), "signatures").items():
        if row_of(metric) is not None and not of_sacrebleu(metric):
            yield line(f"  {title(metric)}", signature)
    yield ""


def _translation_tools(scoring: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield what the metrics of translations read beside the texts."""
    if stated := block(scoring, "calibration"):
        yield (
            "weights",
            ("calibrated", _hash(stated, "sha256"), f"key {stated.get('signer')!s:.12}"),
        )
    yield "references", (_references(scoring),)
    yield "analyser", _analyser(block(scoring, "analyser"))
    yield "source words", (scoring.get("word_list"),)
    yield "alignment", (scoring.get("alignment"),)
    yield "terms", (_some(scoring, "terms", "prescribed"), _hash(scoring, "terms_sha256"))
    yield "meanings", _meanings(scoring)
    yield "embeddings", _model(block(scoring, "embeddings"))
    yield "COMET", _model(block(scoring, "comet"))


def _references(scoring: Mapping[str, Any]) -> str:
    if scoring.get("multi_ref") is not True:
        return "one for each entry"
    variants = "" if scoring.get("has_variants") is True else "; no entry has any"
    return f"several for chrF++, BLEU and TER: also the variants{variants}"


def _analyser(facts: Mapping[str, Any]) -> Sequence[object]:
    if not facts:
        return ()
    engine = f"{facts.get('engine')} {facts.get('engine_version')}"
    kind = "says yes or no only" if facts.get("acceptor") is True else None
    return (facts.get("name"), _hash(facts, "sha256"), engine, kind)


def _meanings(scoring: Mapping[str, Any]) -> Sequence[object]:
    return (
        _some(scoring, "gloss_dictionary", "lemmas"),
        _hash(scoring, "gloss_dictionary_sha256"),
    )


def _model(facts: Mapping[str, Any]) -> Sequence[object]:
    imported = "scores from a file" if facts.get("imported") is True else None
    return (facts.get("model"), facts.get("endpoint"), imported, _hash(facts, "sha256"))


def _annotator(facts: Mapping[str, Any]) -> Sequence[object]:
    """Return who judged and by which prompt, or on which files of the corpus something ran."""
    return (*_model(facts), _hash(facts, "prompt_sha256"), _some(facts, "databases", "databases"))


def _some(facts: Mapping[str, Any], name: str, what: str) -> str | None:
    count = number(facts.get(name))
    return f"{count:,.0f} {what}" if count else None


def _hash(facts: Mapping[str, Any], name: str) -> str | None:
    """Return the beginning of a SHA-256, which is enough to tell two files from each other."""
    digest = facts.get(name)
    return f"sha256 {str(digest)[:12]}" if digest else None


def translated(card: Mapping[str, Any]) -> bool:
    """Return whether a card is of translations, which alone have a composite, floors and a tier."""
    return stated_columns(card.get("scoring")) == TRANSLATIONS


def of_sacrebleu(metric: str) -> bool:
    """Return whether a value never stands without its signature (T3); the others are listed below."""
    return "." not in metric and known_row(metric).category == "surface"
