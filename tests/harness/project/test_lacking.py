"""What is said of a corpus in the making before its folder is closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.project.lacking import lacking
from harness.project.making import changing
from harness.project.state import HandedOut, Spoken, read_project
from tests.harness.project.making import begun, candidate, took
from tests.keyring_in_memory import no_keyring

__all__ = ["no_keyring"]
pytestmark = pytest.mark.usefixtures("no_keyring")


def test_what_no_second_speaker_saw_what_nobody_translated_and_what_is_out_is_named(
    tmp_path: Path,
) -> None:
    begun(tmp_path)
    took(
        tmp_path,
        candidate("The elders sang here", reference="Kantis", segment=Segment.GOLD_STANDARD),
        candidate("Nobody came back yet", segment=Segment.HELD_OUT),
        candidate("An open sentence too", reference="Malferma", segment=Segment.DEVELOPMENT),
    )
    agreed = Spoken(review="r", people=("A",), outcome="agreed", on="2026-11-23")
    out = HandedOut(review="words-agree-1", kind="agree", on="2026-11-23", entries=(1, 3))
    with changing(tmp_path / "words", tmp_path / "home") as project:
        last = project.state.entries[2]
        project.put([last.model_copy(update={"agreed": agreed})])
        project.change(reviews=(out,))
    said = lacking(read_project(tmp_path / "words", tmp_path / "home"))
    alone, without, waits, *short = said
    assert "1 translation to which no second speaker agreed (1 gold_standard)" in alone
    assert "1 sentence without a translation (1 held_out)" in without
    assert "words-agree-1 is still with speakers: 1 of its 2 sentences" in waits
    assert "gold_standard entries: 1 of 50" in short
    assert "community consent: 0 of 1 (not documented)" in short
