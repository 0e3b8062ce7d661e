"""``rosetta submission show``: the whole way to the certificate, each step read from where it was done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.store.file.database import open_store
from harness.store.notes import detach_certificates
from harness.store.runs import find_run
from harness.submission.desk import DeskAct, SubmissionDesk
from review.office.results.whole_way import STEPS
from review.office.store.store import Office
from tests.review.verdict.certified import NO_GO, fluent_run
from tests.tui.commands.certified_gold import TwoSides, ok, two_sides
from tests.tui.review.gated import filled, reviewed


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoSides]:
    folder = tmp_path_factory.mktemp("way")
    with pytest.MonkeyPatch.context() as patch:
        yield two_sides(folder, patch)


def _open(sides: TwoSides, number: str) -> list[str]:
    told = json.loads(ok(f"submission show {number} --json", sides.organisation))
    return [each["name"] for each in told["steps"] if not each["done"]]


def test_each_step_is_done_where_it_was_done(sides: TwoSides, tmp_path: Path) -> None:
    ok(f"submission demo {tmp_path}/ann --lane data", sides.developer)
    desk = SubmissionDesk(sides.organisation)
    kept = desk.receive(tmp_path / "ann.rosetta-submission")
    assert _open(sides, kept.number) == list(STEPS[2:])
    desk.note(kept.submission, DeskAct.NOT_REPEATED)
    assert "its claim does not hold here" in ok(f"submission show {kept.number}", sides.organisation)  # fmt: skip
    desk.note(kept.submission, DeskAct.REHEARSED)
    desk.note(kept.submission, DeskAct.SCORED, sides.run_id, "gold")
    assert _open(sides, kept.number) == ["its maker was told"]
    assert f"rosetta submission tell {kept.number}" in ok(f"submission show {kept.number}", sides.organisation)  # fmt: skip
    desk.note(kept.submission, DeskAct.TOLD, sides.run_id, "gold")
    said = ok(f"submission show {kept.number}", sides.organisation)
    assert "The way is at its end" in said
    named = f"--developer 'A newcomer' --key {sides.key()}"
    assert f"rosetta ownership propose {sides.run_id[:8]} {named}" in said
    sides.proposed()
    said = ok(f"submission show {kept.number}", sides.organisation)
    assert f"rosetta organisation used {sides.run_id[:8]} --where" in said
    store = open_store(sides.organisation / "rosetta.sqlite")
    try:
        detach_certificates(store, find_run(store, sides.run_id).id)
    finally:
        store.close()
    assert _open(sides, kept.number) == ["certificate at the card"]


def test_what_the_gate_said_stands_there_and_only_a_go_leads_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    card = fluent_run(home / "rosetta.sqlite", tmp_path, segment=Segment.GOLD_STANDARD)
    with Office.open(home) as office:
        filled(office, home, reviewed(card, NO_GO, segments="gold_standard"))
    ok(f"review gate --issue -o {tmp_path}/out", home)
    ok(f"submission demo {tmp_path}/eve --lane data", home)
    desk = SubmissionDesk(home)
    kept = desk.receive(tmp_path / "eve.rosetta-submission")
    for act in (DeskAct.REHEARSED, DeskAct.SCORED, DeskAct.TOLD):
        desk.note(kept.submission, act, card["run_id"], "gold")
    said = ok(f"submission show {kept.number}", home)
    assert "✓ the gate decided         it says no-go" in said
    assert "only a go stands there, and the gate says no-go" in said
    assert "Next: rosetta review gate spring" in said


def test_a_refused_method_is_at_its_end_without_speakers(sides: TwoSides, tmp_path: Path) -> None:
    ok(f"submission demo {tmp_path}/bob --lane data", sides.developer)
    desk = SubmissionDesk(sides.organisation)
    kept = desk.receive(tmp_path / "bob.rosetta-submission")
    desk.note(kept.submission, DeskAct.REHEARSED)
    desk.note(kept.submission, DeskAct.REFUSED, sides.run_id, "gold", "load")
    desk.note(kept.submission, DeskAct.TOLD, sides.run_id, "gold", "load")
    said = ok(f"submission show {kept.number}", sides.organisation)
    assert "it stopped at: load" in said
    assert "speakers" not in said
