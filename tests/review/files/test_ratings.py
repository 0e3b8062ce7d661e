"""Files of ratings, cumulative and sealed, and reviewers' codes: what a tired person mistypes is noticed."""

import contextlib
import hashlib
import io
import json
import os
import random
import re
import zipfile
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from harness.core.canonical import canonical_bytes
from harness.sealed.archive import pack
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity, seal
from harness.sealed.strict_records import FileError, FileProblem
from review.files import ratings as module
from review.files.batch import Batch, make_batch, write_batch
from review.files.identities import (
    ALPHABET,
    CodeError,
    CodeProblem,
    make_codes,
    printed,
    read_code,
    read_laptop_card,
    write_laptop_card,
)
from review.files.ratings import RatingsFile, Written, open_ratings, sign_ratings, write_ratings
from review.log.event import read_event
from review.log.payloads import Reviewer
from tests.harness.sealed.refusals import refuses
from tests.review.files.made import (
    LAPTOP,
    ORGANISATION,
    PEOPLE,
    RECOVERY,
    SALT,
    batch,
    events,
    identifier,
    items,
    manifest,
)
from tests.review.thorough import examples, times

EVERY = events(9)
BATCH = batch(format="rosetta-batch/2")
RECIPIENTS = BATCH.manifest.organisation.recipients


def hand_over(folder: Path, count: int = 9, of: Batch = BATCH, **chain: Any) -> Written:
    return write_ratings(folder, events(count, **chain), of, LAPTOP, PEOPLE[0])


def opened(path: Path) -> RatingsFile:
    return open_ratings(path.read_bytes(), [ORGANISATION.age])


def refused(data: bytes, *identities: AgeIdentity) -> FileError:
    return refuses(FileError, r"\.$", open_ratings, data, identities or [ORGANISATION.age])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def changed(**changes: Any) -> bytes:
    """A file that the laptop signed, whatever it says, sealed for the organisation."""
    plain = zipfile.ZipFile(io.BytesIO(sign_ratings(EVERY, BATCH, LAPTOP)))
    members = {name: changes.pop(name, plain.read(name)) for name in ("events.jsonl", "README.txt")}
    stated = json.loads(plain.read("manifest.json")) | changes
    stated["members"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    content = canonical_bytes(stated)
    packed = pack({**members, "manifest.json": content, "manifest.sig": LAPTOP.sign(content)})
    return seal(packed, RECIPIENTS)


def test_what_was_said_arrives(tmp_path: Path) -> None:
    written = hand_over(tmp_path)
    for identity in (ORGANISATION.age, RECOVERY):
        read = open_ratings(written.path.read_bytes(), [identity])
        assert [read_event(line) for line in read.lines] == EVERY
        assert read.phrase(earlier=BATCH.manifest.earlier_words) == written.phrase
        assert read.laptop_phrase() == LAPTOP.public.phrase
    assert (read.manifest.head, read.manifest.device) == (EVERY[-1].id, EVERY[-1].device)
    assert (written.head, written.events) == (EVERY[-1].id, 9)
    assert read.manifest.batch_sha256 == BATCH.sha256
    assert read.manifest.laptop.recipient == LAPTOP.public.recipient
    assert read.manifest.recipients == RECIPIENTS
    assert "Word 1" not in repr(read), "words are not shown by accident"
    erased = [EVERY[0].erased(), *EVERY[1:]]  # whose contents travel as heads
    written = write_ratings(tmp_path, erased, BATCH, LAPTOP, PEOPLE[0])
    assert [read_event(line) for line in opened(written.path).lines] == erased


def test_same_events_give_the_same_archive_in_any_order() -> None:
    archive = sign_ratings(EVERY, BATCH, LAPTOP)
    assert sign_ratings([*reversed(EVERY), *EVERY], BATCH, LAPTOP) == archive
    pinned = "578544398c4d88567ffa0618beaedd83076e32bf3faff13cbf9fa6c827532c83"
    assert hashlib.sha256(archive).hexdigest() == pinned


@pytest.mark.skipif(os.name != "posix", reason="no such permissions here")
def test_another_user_of_the_stick_may_read_what_is_sealed(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        assert hand_over(tmp_path).path.stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


def test_nobody_else_opens_it(tmp_path: Path) -> None:
    data = hand_over(tmp_path).path.read_bytes()
    assert refused(data, LAPTOP.age, AgeIdentity.make()).problem is FileProblem.WRONG_KEY
    for text in (b"Word 1", PEOPLE[0].encode(), b"spring", b"gist"):
        assert text not in data


def test_name_holds_no_person_and_suits_every_system(tmp_path: Path) -> None:
    name = hand_over(tmp_path).path.name
    form = "Spring-\u14c2\u1401\u1424-2-[0-9a-f]{6}-[0-9a-f]{12}\\.rosetta-ratings"
    assert re.fullmatch(form, name)
    assert not any(code in name or printed(code) in name for code in BATCH.manifest.orders)
    for number, title in enumerate(
        ["", "../../etc/passwd", "a\0b", 'a<b>:"|?*\\c', "\u202ex", "n" * 200, "\u1401" * 200, ".."]
    ):
        of = make_batch(manifest(title=title), items(), [], ORGANISATION, SALT)
        (folder := tmp_path / str(number)).mkdir()
        name = hand_over(folder, of=of).path.name
        assert names(folder) == [name]
        assert len(name.encode()) < 240
        assert not set(name) & set('/\\:*?"<>|\0\u202e')
        assert not name.startswith(("-", "."))
    refuses(Exception, "code", write_ratings, tmp_path / "0", EVERY, BATCH, LAPTOP, "../../x")
    refuses(FileError, "no answers to save", write_ratings, tmp_path / "0", [], BATCH, LAPTOP, PEOPLE[0])
    assert len(names(tmp_path / "0")) == 1


def test_only_a_longer_history_takes_the_place_of_another(tmp_path: Path) -> None:
    first, second = hand_over(tmp_path, 3), hand_over(tmp_path, 9)
    assert names(tmp_path) == [second.path.name]
    assert (first.path != second.path, first.phrase != second.phrase) == (True, True)
    assert hand_over(tmp_path).path == second.path
    kept = {second.path.name}
    other = make_batch(manifest(batch=identifier("other")), items(), [], ORGANISATION, SALT)
    for hand in (
        lambda: hand_over(tmp_path, 3),  # a shorter one takes nothing away
        lambda: hand_over(tmp_path, 9, device="1" * 16),  # nor the same person on another laptop
        lambda: hand_over(tmp_path, 9, of=other),  # nor another batch of the same title
        lambda: write_ratings(tmp_path, EVERY, BATCH, LAPTOP, PEOPLE[1]),  # nor another person
    ):
        more = hand().path.name
        assert more not in kept
        kept |= {more}
        assert set(names(tmp_path)) == kept


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    older = hand_over(tmp_path, 3).path
    mine = tmp_path / older.name.replace(".rosetta-ratings", ".txt")
    mine.write_text("notes")
    foreign = older.with_stem(f"{older.stem[:-12]}{0:012}")
    foreign.write_text("")
    newest = hand_over(tmp_path, 9).path
    assert names(tmp_path) == sorted([mine.name, foreign.name, newest.name])


def test_older_file_that_stays_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_over(tmp_path, 3)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        patched.setattr(Path, "unlink", refuse)
        patched.setattr(module, "write_file", lambda path, data, mode: path.write_bytes(data))
        assert hand_over(tmp_path, 9).events == 9
    assert len(names(tmp_path)) == 2


def test_what_others_sealed_or_signed_is_refused() -> None:
    """A recipient can open a file and seal it for somebody else; the signature names for whom it was."""
    other = AgeIdentity.make()
    forwarded = seal(sign_ratings(EVERY, BATCH, LAPTOP), [other.recipient])
    assert "another organisation" in str(refused(forwarded, other))
    assert refused(forwarded, other).problem is FileProblem.WRONG_KEY
    read = zipfile.ZipFile(io.BytesIO(sign_ratings(EVERY, BATCH, LAPTOP)))
    plain = {name: read.read(name) for name in read.namelist()}
    forged = plain | {"manifest.sig": Identity.make(Role.LAPTOP).sign(plain["manifest.json"])}
    assert refused(seal(pack(forged), RECIPIENTS)).problem is FileProblem.DAMAGED
    # One key may belong to an organisation and, in a small one, to its laptop.
    assert refused(seal(BATCH.archive, RECIPIENTS)).problem is FileProblem.NOT_OURS
    assert refused(changed(format="rosetta-batch/1")).problem is FileProblem.NOT_OURS
    assert refused(changed(format="rosetta-ratings/3")).problem is FileProblem.NEWER


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"events": 8}, "not as many events"),
        ({"events": 0}, "field 'events'"),
        ({"events": 10**9}, "field 'events'"),
        ({"head": "x"}, "field 'head'"),
        ({"name": "Maria"}, "field 'name' is not known"),
        ({"recipients": [RECIPIENTS[0]]}, "field 'recipients'"),
        ({"laptop": {**LAPTOP.public.__dict__, "recipient": "age1x"}}, "no age recipient"),
        ({"events.jsonl": b"\n" * 8 + b"{}"}, "not as many events"),
        ({"events.jsonl": b""}, "not as many events"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_contradiction_is_refused_though_signed(changes: dict[str, Any], said: str) -> None:
    error = refused(changed(**changes))
    assert error.problem is FileProblem.INVALID
    assert said in str(error)


def test_damaged_event_is_read_and_other_files_are_named() -> None:
    lines = [event.line() for event in EVERY]
    content = b"\n".join([lines[0], b"no event", *lines[2:]]) + b"\n"
    read = open_ratings(changed(**{"events.jsonl": content}), [ORGANISATION.age])
    assert read.lines[1] == b"no event"
    assert refused(b"").problem is FileProblem.CUT_SHORT
    assert refused(b"PK\3\4").problem is FileProblem.NOT_OURS
    locked = write_batch(BATCH, passphrase="kizun gorot sapos")
    assert refused(locked).problem is FileProblem.NOT_OURS
    assert refused(seal(b"", RECIPIENTS)).problem is FileProblem.CUT_SHORT
    assert refused(seal(b"letters", RECIPIENTS)).problem is FileProblem.NOT_OURS


CODES = make_codes(times(20, 1000), random.Random(1).randrange)


def no_code(typed: str) -> CodeProblem:
    error = refuses(CodeError, "", read_code, typed)
    return error.problem


def test_codes_differ_and_a_wrong_character_is_noticed() -> None:
    form = TypeAdapter(Reviewer)
    assert len(set(CODES)) == len(CODES)
    assert [form.validate_python(code) for code in CODES] == CODES
    assert len(set(make_codes(500))) == 500
    assert make_codes(3, random.Random(7).randrange) == make_codes(3, random.Random(7).randrange)
    for code in CODES:
        for place in range(8):
            for other in ALPHABET.replace(code[place], ""):
                assert no_code(code[:place] + other + code[place + 1 :]) is CodeProblem.CHECK
        for one, two in combinations(range(8), 2):
            swapped = list(code)
            swapped[one], swapped[two] = code[two], code[one]
            if code[one] != code[two]:
                assert no_code("".join(swapped)) is CodeProblem.CHECK
    assert no_code("") is CodeProblem.LENGTH
    assert no_code(CODES[0] + "0") is CodeProblem.LENGTH
    assert no_code("U" + CODES[0][1:]) is CodeProblem.CHARACTER
    refuses(CodeError, r"Character 3 of the code", read_code, "00\u140100000")


@examples(25, 100)
@given(st.integers(0, 2**35 - 1), st.randoms(use_true_random=False))
def test_codes_are_read_as_people_type_them(seed: int, chance: random.Random) -> None:
    code = make_codes(1, random.Random(seed).randrange)[0]
    alike = {"0": "0Oo\uff10", "1": "1IilL\uff11"}
    typed = "".join(chance.choice(alike.get(c, c + c.lower())) + chance.choice(["", " ", "-", "\u2011"]) for c in code)
    assert read_code(typed) == read_code(printed(code)) == code


@examples(40, 100)
@given(st.text(max_size=12))
def test_anything_typed_is_a_code_or_refused(typed: str) -> None:
    with contextlib.suppress(CodeError):
        assert len(read_code(typed)) == 8


CARD = write_laptop_card(LAPTOP, "Library, second table")


def test_card_is_read_as_written_and_changed_by_nobody() -> None:
    card = read_laptop_card(CARD)
    assert (card.name, card.public) == ("Library, second table", LAPTOP.public)
    assert write_laptop_card(LAPTOP, "Library, second table") == CARD
    for place in range(len(CARD)):
        for value in (1, 2, 4, 32, 128)[:: times(3, 1)]:
            changed = CARD[:place] + bytes([CARD[place] ^ value]) + CARD[place + 1 :]
            refuses(FileError, r"\.$", read_laptop_card, changed)
    other = CARD.replace(LAPTOP.public.recipient.encode(), ORGANISATION.public.recipient.encode())
    for wrong in (other, b"[" * 10_000_000):
        refuses(FileError, "", read_laptop_card, wrong)


@given(st.binary(max_size=300))
def test_any_other_card_is_refused_in_words(data: bytes) -> None:
    refuses(FileError, "", read_laptop_card, data)
