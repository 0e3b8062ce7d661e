"""What shows how far a result was verified: from a vault by a grant, run again by somebody, or by its maker alone."""

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
from harness.vault.ledger import request_id
from harness.vault.log import LogLine
from harness.vault.records import GrantAsked, OpenedByGrant, Used
from harness.vault.work import VaultWork
from review.records.paths import BRINGING, evidence_of, opened_by
from review.records.profile import seen
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
        assert seen(connection, office)["authority"] == [
            "1 opening by a grant of its keepers, 0 without one"
        ]
        suspend_certificates(connection, [attached(file).sha256])
    assert evidence(store, office)["gate"].ok is False


def test_only_what_brought_texts_into_a_run_shows_how_it_came_to_them(
    homes: Homes, tmp_path: Path
) -> None:
    """A run that was opened without a grant, and looked at with one later, was not opened by that."""
    homes.types("office", "run greetings --vault elders --purpose spring", *RUN)
    with closing(open_store(homes.folder / "office/rosetta.sqlite")) as connection:
        run = find_run(connection, "last").run_id
    *before, opened = read_state(homes.folder / "office/elders").lines
    act = opened.record.act
    assert isinstance(act, Used)

    def line(**changed: object) -> LogLine:
        record = opened.record.model_copy(update={"act": act.model_copy(update=changed)})
        return LogLine(record, opened.content)

    for work in VaultWork:
        assert opened_by([*before, line(work=work)], run).ok is (work in BRINGING), work
    bare = line(grant=None)
    found = opened_by([*before, bare, line(work=VaultWork.LOOK)], run)
    assert (found.ok, "without a grant, line 3" in found.words) == (False, True)
    assert opened_by([*before, bare, line(work=VaultWork.RESUME)], run).ok is False
    assert opened_by([*before, line(), bare], run).ok is True


def test_a_grant_of_several_keepers_tells_by_its_request_what_it_was_for(homes: Homes) -> None:
    homes.types("office", "run greetings --vault elders --purpose spring", *RUN)
    *before, opened = read_state(homes.folder / "office/elders").lines
    act = opened.record.act
    assert isinstance(act, Used)
    assert act.grant is not None
    assert act.grant.run is not None

    def lines(**terms: str) -> list[LogLine]:
        assert act.grant is not None
        assert act.grant.run is not None
        request = act.grant.model_copy(update={"run": act.grant.run.model_copy(update=terms)})
        used = OpenedByGrant(
            grant=request_id(request), corpus=act.corpus, entries=act.entries, purpose="spring", run=act.run
        )  # fmt: skip
        acts = (GrantAsked(request=request), used)
        more = [LogLine(opened.record.model_copy(update={"act": each}), opened.content) for each in acts]  # fmt: skip
        return [*before, *more]

    assert opened_by(lines(), act.run).ok is True
    assert opened_by(lines(run=act.run, method="resume"), act.run).ok is True
    assert opened_by(lines(run=act.run, method="look"), act.run).ok is False
