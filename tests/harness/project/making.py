"""Corpora in the making for tests."""

from pathlib import Path
from typing import Any

from corpora.model.entry import Segment
from harness.project.authoring import changing
from harness.project.candidates import Candidate, CandidateDefaults, TakenSources, take_candidates
from harness.project.state import DraftTexts, Project, SourceOrigin, create_project

FACTS = {
    "id": "words", "source_language": "en", "target_language": "eo", "title": "Words",
    "organisation": "Our school", "license": "CC-BY-NC-SA-4.0",
}  # fmt: skip
ORIGIN = SourceOrigin(file="s.tsv", on="2026-11-23")
WORDS = ("apple", "bridge", "candle", "dragon", "engine", "forest", "garden", "hammer", "island", "jacket")
MIDDLE = ("", "xylophone", "quietly", "vermilion", "marzipan", "postcard")


def begun(folder: Path, **changed: Any) -> Project:
    return create_project(folder / "words", folder / "home", FACTS | changed)


def candidate(text: str, tier: int = 2, register: str = "formal", **more: Any) -> Candidate:
    texts = DraftTexts(text, **{n: more.pop(n) for n in ("reference", "variant_class") if n in more})
    return Candidate(texts, more.pop("origin", ORIGIN), None, more.pop("segment", None), tier, register, **more)


def many(tiers: tuple[int, ...] = (1, 2, 3, 4, 5)) -> list[Candidate]:
    """Return a hundred candidates of each tier, in two registers, none a near copy of another."""
    return [
        candidate(f"{one} {MIDDLE[tier]} {other}", tier, ("formal", "technical")[number % 2])
        for tier in tiers
        for number, (one, other) in enumerate((a, b) for a in WORDS for b in WORDS)
    ]


def took(folder: Path, *candidates: Candidate, most: int | None = None, segment: Segment | None = None) -> TakenSources:
    with changing(folder / "words", folder / "home") as project:
        return take_candidates(project, candidates, CandidateDefaults(segment=segment), most)


def three() -> tuple[Candidate, ...]:
    """A sentence of each kind: secret, secret and not translated, and open."""
    return (
        candidate("The elders sang here", reference="Kantis", segment=Segment.GOLD_STANDARD),
        candidate("Nobody came back yet", segment=Segment.HELD_OUT),
        candidate("An open sentence too", reference="Malferma", segment=Segment.DEVELOPMENT),
    )
