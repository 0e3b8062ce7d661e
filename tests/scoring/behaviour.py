"""Runs that the tests of the behavioural metrics share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from corpora.languages.cards import LanguageCard
from corpora.model.entry import Entry, only_open
from scoring.core.setup import ScoringSetup, Translation
from scoring.words.bitext import Terminology, alignment_name
from scoring.words.source_words import Resources, source_word_list
from tests.outside import ENGLISH, published

LANGUAGES = ("fin", "hin", "arb", "jpn", "amh", "ukr", "mri", "spa")


def entries(pairs: Iterable[tuple[str, str]], **fields: object) -> list[Entry]:
    numbered = enumerate(pairs, 1)
    return [Entry(id=id_, source=one, reference=two, **fields) for id_, (one, two) in numbered]


def card(tag: str = "eo", **fields: object) -> LanguageCard:
    writings = {"Latn": {"letters": "a-z", "cased": True}}
    facts = {"tag": tag, "name": tag.upper(), "default_script": "Latn", "sources": {}}
    return LanguageCard.model_validate({**facts, "writings": writings, **fields})


def resources(
    covered: Sequence[Entry],
    terms: Mapping[str, Sequence[str]] | None = None,
    *,
    source: str = "en",
    target: str = "eo",
    listed: bool = True,
    target_card: LanguageCard | None = None,
    source_card: LanguageCard | None = None,
) -> Resources:
    terminology = Terminology([(key, tuple(to)) for key, to in (terms or {}).items()], "a" * 64)
    words = source_word_list(source)[1] if listed else None
    setup = ScoringSetup(
        metrics=(), source_language=source, target_language=target, terms=len(terminology),
        word_list=words, alignment=alignment_name(only_open(covered)),
    )  # fmt: skip
    return Resources(
        setup, card=target_card, source_card=source_card, covered=covered, pairs=only_open(covered),
        terms=terminology,
    )  # fmt: skip


@cache
def lines(file: Path) -> tuple[str, ...]:
    return tuple(file.read_text(encoding="utf-8").splitlines())


@cache
def news(language: str) -> Resources:
    """1,997 sentences of news from English."""
    pairs = zip(lines(ENGLISH), lines(published(language)), strict=True)
    return resources(entries(pairs), source="eng", target=language)


def outputs(covered: Sequence[Entry], made: Iterable[str]) -> list[Translation]:
    return [Translation(entry, output) for entry, output in zip(covered, made, strict=True)]
