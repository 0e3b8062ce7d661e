"""The desk: a file that was changed there is put back, a number is one bundle's, and damaged notes hide no other bundle."""

import hashlib
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.submission.desk import DeskAct, KeptSubmission, SubmissionDesk
from tests.harness.sealed.refusals import refuses
from tests.harness.submission.made import resigned


@pytest.fixture
def desk(tmp_path: Path) -> SubmissionDesk:
    return SubmissionDesk(tmp_path / "home")


def taken_in(desk: SubmissionDesk, data: bytes, name: str = "tiny") -> KeptSubmission:
    path = desk.folder.parent.with_name(f"{name}.rosetta-submission")
    path.write_bytes(data)
    return desk.receive(path)


def test_changed_bundle_is_put_back_from_the_file(desk: SubmissionDesk, data: bytes) -> None:
    kept = taken_in(desk, data)
    desk.note(kept.submission, DeskAct.REHEARSED)
    for changed in (resigned(data, {}, release="2"), b"nothing", None):
        kept.path.unlink()
        if changed is not None:
            kept.path.write_bytes(changed)
        refuses(UsageError, "", desk.find, kept.number)
        assert taken_in(desk, data).path.read_bytes() == data
    assert [e.what for e in desk.find(kept.number).notes] == [DeskAct.RECEIVED, DeskAct.REHEARSED]


def test_bundles_of_one_number_differ(desk: SubmissionDesk, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Who makes both can find two whose hashes begin alike; here a number is one letter long."""
    monkeypatch.setattr("harness.submission.desk.NUMBER_LETTERS", 1)
    kept = taken_in(desk, data)
    packed = (resigned(data, {}, release=f"other {n}") for n in range(999))
    other = next(each for each in packed if hashlib.sha256(each).hexdigest()[0] == kept.number)
    refuses(UsageError, "another submission with the number", taken_in, desk, other)
    kept.path.write_bytes(other)
    refuses(UsageError, "was changed", desk.find, kept.number)


@pytest.mark.parametrize(
    ("notes", "words"), [(b"", "has no line"), (b'{"what": "received"\n', "line 1 is damaged")]
)
def test_damaged_notes_are_said_and_hide_no_other_bundle(desk: SubmissionDesk, data: bytes, notes: bytes, words: str) -> None:  # fmt: skip
    kept = taken_in(desk, data)
    (kept.folder / "notes.jsonl").write_bytes(notes)
    other = taken_in(desk, resigned(data, {}, release="2"), "other")
    found, [said] = desk.listed()
    assert [each.number for each in found] == [other.number]
    assert words in said
    refuses(UsageError, words, desk.find, kept.number)


def test_bundle_with_a_cut_first_note_is_taken_again(desk: SubmissionDesk, data: bytes) -> None:
    kept = taken_in(desk, data)
    (kept.folder / "notes.jsonl").write_bytes(b'{"what":"rec')
    assert [each.what for each in taken_in(desk, data).notes] == [DeskAct.RECEIVED]
