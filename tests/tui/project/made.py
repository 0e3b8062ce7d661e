"""Corpora in the making for their screens: begun, halfway, and looked over by a second speaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.project.authoring import changing
from harness.project.candidates import CandidateDefaults, take_candidates
from harness.project.state import HandedOut, Project, ProjectEntry, Spoken, create_project
from tests.harness.project.making import FACTS, many

CANARY = "xylophone"
"""Stands in the sources of difficulty 1, secret or not."""
DAY = "2026-11-23"


def begun(home: Path, folder: Path, title: str = "Words of our school") -> Project:
    home.mkdir(mode=0o700, exist_ok=True)
    return create_project(folder, home, FACTS | {"title": title})


def halfway(home: Path, folder: Path, title: str = "Words of our school") -> None:
    """Begin a corpus: 90 sentences, all with speakers, of which 60 came back and 20 were looked over."""
    begun(home, folder, title)
    with changing(folder, home) as project:
        found = many()
        shows = [replace(each, texts=replace(each.texts, variant_class="plural")) for each in found[:60:6]]
        take_candidates(project, [*shows, *found], CandidateDefaults(), 90)
        entries = project.state.entries
        project.put(_translated(project, entries[:60]))
        project.put(_looked_over(project.state.entries[:20]))
        ids = tuple(each.id for each in entries)
        project.change(reviews=(
            HandedOut(review="words-translate-1", kind="translate", on=DAY, entries=ids),
            HandedOut(review="words-agree-1", kind="agree", on=DAY, entries=ids[:30]),
        ))  # fmt: skip


def _translated(project: Project, entries: Sequence[ProjectEntry]) -> list[ProjectEntry]:
    found = []
    for number, each in enumerate(entries):
        texts = replace(project.texts(each), reference=f"vorto {number}")
        said = Spoken(review="words-translate-1", people=("AB"[number % 3 == 0],), outcome="translated", on=DAY)
        found.append(project.with_texts(each.model_copy(update={"translated": said}), texts))
    return found


def _looked_over(entries: Sequence[ProjectEntry]) -> list[ProjectEntry]:
    outcomes = ("corrected", "agreed", "agreed", "agreed")
    return [
        each.model_copy(update={"agreed": Spoken(review="words-agree-1", people=("A",), outcome=outcomes[number % 4], on=DAY)})
        for number, each in enumerate(entries)
    ]  # fmt: skip
