"""A vault that somebody changed, cut or edited is refused, whatever it was that they changed."""

import random
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.sealed.keys import Identity, Role
from harness.sealed.signed_archive import signed_record
from harness.vault.folder import HEAD, LOG, read_state
from harness.vault.log import LogLine, read_lines
from harness.vault.records import CopyMade, Enrolled, Founded, LogRecord, Revoked
from harness.vault.vault import Vault
from tests.harness.vault.made import KEEPERS, MINE, START, THEIRS, files, filled, refused, ticking
from tests.harness.vault.together import OFFICE, founded, key_of
from tests.review.thorough import times

DAY = timedelta(days=1)
STRANGER = Identity.make(Role.KEEPER)
GOLD, HELD = Segment.GOLD_STANDARD, Segment.HELD_OUT


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with some history, never changed by a test."""
    made = filled(tmp_path_factory.mktemp("whole"))
    made.open("greetings", "a look", THEIRS)
    made.rotate("greetings", HELD, GOLD, 1, "the first year is over", MINE)
    return made.folder


@pytest.fixture
def folder(tmp_path: Path, whole: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "vault")


def spoilt(data: bytes) -> Iterator[bytes]:
    """Yield the bytes with one of them changed, left out or doubled, and cut there."""
    draw = random.Random(len(data))
    for _ in range(times(6, 400)):
        at, bit = draw.randrange(len(data)), 1 << draw.randrange(8)
        yield data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
        yield data[:at] + data[at + 1 :]
        yield data[:at] + data[at : at + 1] + data[at:]
        yield data[:at]


def test_changed_missing_or_doubled_byte_of_any_file_is_found(folder: Path) -> None:
    assert len(files(folder)) == 5
    for name in files(folder):
        data = (folder / name).read_bytes()
        for changed in spoilt(data):
            (folder / name).write_bytes(changed)
            if name == LOG and changed.startswith(data):
                assert read_state(folder).left_over == (LOG,)  # behind its signed end
                continue
            refused(r"put back a copy", read_state, folder)
        (folder / name).unlink()
        refused(r"missing|is no vault", read_state, folder)
        (folder / name).write_bytes(data)
    assert read_state(folder).left_over == ()


@pytest.mark.parametrize("several", [False, True])
def test_every_byte_of_head_and_log_counts(tmp_path: Path, folder: Path, several: bool) -> None:
    if several:  # a vault whose shares were dealt anew
        made = founded(tmp_path / "several")
        key = key_of(made.read(), "Office", "School", "Church")
        made.refresh("a page was seen", OFFICE, key)
        folder = made.folder
    for name, step in ((HEAD, times(17, 1)), (LOG, times(61, 1))):
        data = (folder / name).read_bytes()
        for at in range(0, len(data), step):
            (folder / name).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            refused("", read_state, folder)
        (folder / name).write_bytes(data)


def signed_head(folder: Path, signer: Identity, **changes: object) -> None:
    """The head as somebody would sign it with keys of their own, or a keeper for another vault."""
    head = read_state(folder).head.model_copy(update=changes)
    (folder / HEAD).write_bytes(signed_record(head, signer))


HARMS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "without a line": lambda lines: lines[:2] + lines[3:],
    "swapped": lambda lines: [*lines[:2], lines[3], lines[2]],
    "without its end": lambda lines: lines[:-1],
    "with another purpose": lambda lines: [each.replace(b"a look", b"a lock") for each in lines],
}


def test_log_or_head_that_somebody_edited_is_refused(folder: Path) -> None:
    log, head = (folder / LOG).read_bytes(), (folder / HEAD).read_bytes()
    for harm in HARMS.values():
        (folder / LOG).write_bytes(b"".join(harm(log.splitlines(keepends=True))))
        refused("put back a copy of the whole", read_state, folder)
    (folder / LOG).write_bytes(log)
    stranger = STRANGER.public.signing_key
    for signer, changes in ((STRANGER, {"by": stranger, "corpora": {}}), (MINE, {"vault": "0" * 64})):
        (folder / HEAD).write_bytes(head)
        signed_head(folder, signer, **changes)
        refused("put back a copy of the whole", read_state, folder)


def line(before: tuple[LogLine, ...], **changes: object) -> LogRecord:
    """The line that a keeper would write next, but for what is changed."""
    fields = {"seq": len(before), "prev": before[-1].id, "when": "2026-06-01T00:00:00Z"}
    fields |= {"by": MINE.public.signing_key, "act": CopyMade(purpose="for the safe")}
    return LogRecord.model_validate(fields | changes)


FORGED: dict[str, tuple[dict[str, object], Identity, str]] = {
    "signed by a stranger": ({"by": STRANGER.public.signing_key}, STRANGER, "not signed by a keeper"),
    "signed in a keeper's name": ({}, STRANGER, "not signed by a keeper"),
    "signed in another keeper's name": ({}, THEIRS, "not signed by a keeper"),
    "behind another line": ({"prev": "0" * 64}, MINE, "a line before it is missing"),
    "at another place": ({"seq": 7}, MINE, "a line before it is missing"),
    "a clock that is no earlier": ({"clock_set_back": True}, MINE, "says so falsely"),
    "a clock that is earlier": ({"when": "2025-01-01T00:00:00Z"}, MINE, "its time is earlier"),
    "a second beginning": ({"act": Founded(name="Mine now", keepers=tuple(KEEPERS), salt="0" * 64)}, MINE, "only the first line"),
    "a keeper who is one": ({"act": Enrolled(keeper=KEEPERS[1], purpose="twice")}, MINE, "takes in a keeper, or out"),
    "out who is none": ({"act": Revoked(keeper="0" * 64, purpose="nobody")}, MINE, "takes in a keeper, or out"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FORGED)
def test_line_that_no_keeper_can_have_written_is_refused(whole: Path, kind: str) -> None:
    changes, identity, said = FORGED[kind]
    before, log = read_state(whole).lines, (whole / LOG).read_bytes()
    assert len(read_lines(log + signed_record(line(before), MINE) + b"\n")) == len(before) + 1
    forged = log + signed_record(line(before, **changes), identity) + b"\n"
    refused(rf"line {len(before) + 1}: .*{said}", read_lines, forged)


def test_who_was_taken_out_writes_no_more_lines(made: Vault) -> None:
    made.revoke("School", "left", MINE)
    before, log = made.read().lines, (made.folder / LOG).read_bytes()
    theirs = line(before, by=THEIRS.public.signing_key)
    forged = log + signed_record(theirs, THEIRS) + b"\n"
    refused("not signed by a keeper of that time", read_lines, forged)


def test_log_of_another_branch_is_refused(made: Vault, tmp_path: Path) -> None:
    one, two = made, Vault(tmp_path / "two" / "vault", tmp_path, ticking())
    shutil.copytree(one.folder, two.folder)
    Vault(one.folder, one.memory, ticking(START + DAY)).open("greetings", "look a", MINE)
    Vault(two.folder, two.memory, ticking(START + DAY)).open("greetings", "look b", MINE)
    other = (two.folder / LOG).read_bytes()
    assert len(other) == (one.folder / LOG).stat().st_size
    read_lines(other)
    (one.folder / LOG).write_bytes(other)
    refused(r"log\.jsonl: its last lines are missing, or others", read_state, one.folder)
