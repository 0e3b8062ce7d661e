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
from harness.vault.log import LogLine, VaultError, read_lines
from harness.vault.records import CopyMade, Enrolled, Founded, LogRecord, Revoked
from harness.vault.vault import Vault
from tests.harness.vault.made import KEEPERS, MINE, START, THEIRS, files, filled, ticking
from tests.harness.vault.together import OFFICE, founded, key_of
from tests.review.thorough import times

DAY = timedelta(days=1)
GOLD, HELD = Segment.GOLD_STANDARD, Segment.HELD_OUT


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with some history, never changed by a test."""
    folder = tmp_path_factory.mktemp("whole")
    made = filled(folder)
    made.open("greetings", "a look", THEIRS)
    made.rotate("greetings", HELD, GOLD, 1, "the first year is over", MINE)
    return made.folder


def spoilt(data: bytes) -> Iterator[bytes]:
    """Yield the bytes with one of them changed, left out or doubled, and cut there."""
    draw = random.Random(len(data))
    for _ in range(times(12, 400)):
        at, bit = draw.randrange(len(data)), 1 << draw.randrange(8)
        yield data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
        yield data[:at] + data[at + 1 :]
        yield data[:at] + data[at : at + 1] + data[at:]
        yield data[:at]


def test_any_changed_missing_or_doubled_byte_of_any_file_is_found(
    tmp_path: Path, whole: Path
) -> None:
    folder = shutil.copytree(whole, tmp_path / "vault")
    assert len(files(folder)) == 5
    for name in files(folder):
        data = (whole / name).read_bytes()
        for changed in spoilt(data):
            (folder / name).write_bytes(changed)
            if name == LOG and changed.startswith(data):
                assert read_state(folder).left_over == (LOG,)  # behind its signed end
                continue
            with pytest.raises(VaultError, match=r"put back a copy"):
                read_state(folder)
        (folder / name).unlink()
        with pytest.raises(VaultError, match=r"missing|is no vault"):
            read_state(folder)
        (folder / name).write_bytes(data)
    assert read_state(folder).left_over == ()


@pytest.mark.parametrize("several", [False, True])
def test_every_single_byte_of_head_and_log_counts(
    tmp_path: Path, whole: Path, several: bool
) -> None:
    if several:  # a vault whose shares were dealt anew
        made = founded(tmp_path / "several")
        key = key_of(made.read(), "Office", "School", "Church")
        made.refresh("a page was seen", OFFICE, key)
        whole = made.folder
    folder = shutil.copytree(whole, tmp_path / "vault")
    for name, step in ((HEAD, times(7, 1)), (LOG, times(29, 1))):
        data = (whole / name).read_bytes()
        for at in range(0, len(data), step):
            (folder / name).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            with pytest.raises(VaultError):
                read_state(folder)
        (folder / name).write_bytes(data)


def lines_of(folder: Path) -> list[bytes]:
    return (folder / LOG).read_bytes().splitlines(keepends=True)


def without_a_line(folder: Path) -> None:
    lines = lines_of(folder)
    (folder / LOG).write_bytes(b"".join(lines[:2] + lines[3:]))


def swapped(folder: Path) -> None:
    lines = lines_of(folder)
    (folder / LOG).write_bytes(b"".join([*lines[:2], lines[3], lines[2]]))


def without_its_end(folder: Path) -> None:
    (folder / LOG).write_bytes(b"".join(lines_of(folder)[:-1]))


def with_another_purpose(folder: Path) -> None:
    data = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(data.replace(b"a look", b"a lock"))


def signed_by_a_stranger(folder: Path) -> None:
    """The head written anew by somebody with keys of their own."""
    state, stranger = read_state(folder), Identity.make(Role.KEEPER)
    head = state.head.model_copy(update={"by": stranger.public.signing_key, "corpora": {}})
    (folder / HEAD).write_bytes(signed_record(head, stranger))


def with_another_number(folder: Path) -> None:
    """The head as a keeper would sign it for another vault."""
    head = read_state(folder).head.model_copy(update={"vault": "0" * 64})
    (folder / HEAD).write_bytes(signed_record(head, MINE))


@pytest.mark.parametrize(
    "harm",
    [
        without_a_line,
        swapped,
        without_its_end,
        with_another_purpose,
        signed_by_a_stranger,
        with_another_number,
    ],
)
def test_a_log_that_somebody_edited_is_refused(
    tmp_path: Path, whole: Path, harm: Callable[[Path], None]
) -> None:
    folder = shutil.copytree(whole, tmp_path / "vault")
    harm(folder)
    with pytest.raises(VaultError, match="put back a copy of the whole"):
        read_state(folder)


def line(before: tuple[LogLine, ...], **changes: object) -> LogRecord:
    """The line that a keeper would write next, but for what is changed."""
    return LogRecord.model_validate(
        {
            "seq": len(before),
            "prev": before[-1].id,
            "when": "2026-06-01T00:00:00Z",
            "by": MINE.public.signing_key,
            "act": CopyMade(purpose="for the safe"),
            **changes,
        }
    )


STRANGER = Identity.make(Role.KEEPER)

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
def test_a_line_that_no_keeper_can_have_written_is_refused(whole: Path, kind: str) -> None:
    changes, identity, said = FORGED[kind]
    before, log = read_state(whole).lines, (whole / LOG).read_bytes()
    assert len(read_lines(log + signed_record(line(before), MINE) + b"\n")) == len(before) + 1
    with pytest.raises(VaultError, match=rf"line {len(before) + 1}: .*{said}"):
        read_lines(log + signed_record(line(before, **changes), identity) + b"\n")


def test_who_was_taken_out_writes_no_more_lines(tmp_path: Path) -> None:
    made = filled(tmp_path)
    made.revoke("School", "left", MINE)
    before, log = made.read().lines, (made.folder / LOG).read_bytes()
    theirs = line(before, by=THEIRS.public.signing_key)
    with pytest.raises(VaultError, match="not signed by a keeper of that time"):
        read_lines(log + signed_record(theirs, THEIRS) + b"\n")


def test_the_log_of_another_branch_is_refused(tmp_path: Path) -> None:
    one, two = filled(tmp_path / "one"), Vault(tmp_path / "two" / "vault", tmp_path, ticking())
    shutil.copytree(one.folder, two.folder)
    Vault(one.folder, one.memory, ticking(START + DAY)).open("greetings", "look a", MINE)
    Vault(two.folder, two.memory, ticking(START + DAY)).open("greetings", "look b", MINE)
    other = (two.folder / LOG).read_bytes()
    assert len(other) == (one.folder / LOG).stat().st_size
    read_lines(other)
    (one.folder / LOG).write_bytes(other)
    with pytest.raises(VaultError, match=r"log\.jsonl: its last lines are missing, or others"):
        read_state(one.folder)
