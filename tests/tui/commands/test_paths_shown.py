"""What shows how far a result was verified: out of a vault by a grant, run again by somebody, or by its maker alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.card.checking.verify import CardCheck
from harness.store.file.database import open_store
from harness.store.file.sealing import forget_keys
from harness.store.notes import attach_certificate, suspend_certificates
from harness.store.runs import find_run, read_card
from harness.vault.folder import read_state
from review.records.paths import evidence_of, opened_by
from tests.review.verdict.certified import attached, issue, review_of
from tests.tui.commands.vault_office import Homes, numbered

RUN = ("--method", "copy-source", "--segment", "gold_standard", "--metrics", "chrf")


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    monkeypatch.setattr("harness.endpoint.ways_out.ways_out", lambda: ())
    yield Homes(tmp_path, monkeypatch, numbered(), threshold=1)
    forget_keys()


def evidence(store: Path, home: Path) -> dict[str, CardCheck]:
    with closing(open_store(store)) as connection:
        return {
            each.name: each for each in evidence_of(connection, find_run(connection, "last"), home)
        }


def test_a_certified_run_shows_by_which_grant_its_entries_were_opened(
    homes: Homes, tmp_path: Path
) -> None:
    homes.types("office", "run greetings --vault elders --purpose spring", *RUN)
    office = homes.folder / "office"
    store = office / "rosetta.sqlite"
    assert evidence(store, office).keys() == {"card"}
    with closing(open_store(store)) as connection:
        run = find_run(connection, "last")
        file = issue(review_of(1, run=read_card(connection, run.id), segments="gold_standard"))
        attach_certificate(connection, run.id, attached(file))
    found = evidence(store, office)
    assert [found[name].ok for name in ("card", "gate", "entries")] == [True, True, True]
    assert "5 out of the vault" in found["entries"].words
    assert "by a grant, line 3 of its log" in found["entries"].words
    elsewhere = evidence(store, tmp_path / "elsewhere")["entries"]
    assert elsewhere.ok is None
    assert "never saw" in elsewhere.words
    lines = read_state(office / "elders").lines
    assert opened_by(lines, "another run").ok is False
    assert opened_by(lines[:2], run.run_id).ok is False
    with closing(open_store(store)) as connection:
        suspend_certificates(connection, [attached(file).sha256])
    assert evidence(store, office)["gate"].ok is False
