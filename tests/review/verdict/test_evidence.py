"""Evidence: enough to compute the verdict again, and no text."""

from collections import Counter
from random import Random

import pytest

from harness.core.failures import UsageError
from harness.sealed.archive import pack, unpack
from harness.sealed.forms import FileError
from review.log.event import Event, events_sha256
from review.log.payloads import Adjudicate, Comment, OrganiserLook, Skip, Suggest
from review.verdict.certificate.certify import read_verdict
from review.verdict.certificate.evidence import (
    events_bytes,
    looked_at,
    pack_evidence,
    read_devices,
    read_events_bytes,
    unpack_evidence,
)
from review.verdict.panel.key import AnswerKey
from review.verdict.stand_alone.rosetta_verify import MEMBERS
from tests.review.thorough import times
from tests.review.verdict import histories
from tests.review.verdict.certified import GO, issue, review_of
from tests.review.verdict.histories import ORGANISATION, RUN, WALL, Chain, evidence_of

PRIVATE = "said between us"


def with_words() -> tuple[AnswerKey, list[Event]]:
    rng = Random(3)
    key = histories.make_key(rng, GO)
    events = histories.make_events(rng, GO, key)
    who, item, batch = next(iter(key.orders)), next(iter(key.items)), key.batches[0]
    laptop, office = Chain(rng), Chain(rng, "0e" * 8)
    about = {"wall": WALL, "reviewer": who, "batch": batch, "item": item}
    laptop.write(Comment(**about, text=PRIVATE))
    laptop.write(Suggest(**about, text=PRIVATE))
    laptop.write(Skip(**about))
    office.write(Adjudicate(wall=WALL, batch=batch, item=item, harmful=None, note=PRIVATE))
    return key, [*events, *laptop.events, *office.events]


def test_no_text_is_in_the_file() -> None:
    key, events = with_words()
    evidence = evidence_of(key, events)
    file = issue(evidence)
    packed = pack_evidence(file.certificate, file.signature, evidence)
    assert PRIVATE.encode() in events_bytes(events)
    assert PRIVATE.encode() not in packed
    assert b"said in private" not in packed  # the history's own comments
    assert {e.id for e in evidence.events} == {e.id for e in events}


def test_a_decision_with_a_note_is_to_be_made_again() -> None:
    key, events = with_words()
    item, batch = next(iter(key.items)), key.batches[0]
    office = Chain(Random(4))
    office.write(Adjudicate(wall=WALL, batch=batch, item=item, harmful=True, note=PRIVATE))
    with pytest.raises(UsageError, match="rosetta review adjudicate") as caught:
        evidence_of(key, [*events, *office.events])
    assert PRIVATE not in str(caught.value)


def test_a_file_read_back_is_the_same_evidence() -> None:
    for seed in range(times(2, 100)):
        evidence = histories.history(Random(seed))
        packed = pack_evidence(b"{}", b"s" * 64, evidence)
        read = unpack_evidence(packed)
        assert (read.certificate, read.signature) == (b"{}", b"s" * 64)
        assert read.evidence.events == evidence.events
        assert read.evidence.key == evidence.key
        assert read.evidence.devices_bytes == evidence.devices_bytes
        assert pack_evidence(b"{}", b"s" * 64, read.evidence) == packed


def test_tips_fix_the_whole_set_whatever_comes_later() -> None:
    evidence = review_of(5)
    later = Chain(Random(9), evidence.events[0].device)
    later.events = [e for e in evidence.events if e.device == later.device]
    later.lamport = 10**6
    batch = evidence.key.batches[0]
    for number in range(3):
        said = OrganiserLook(wall=WALL, batch=batch, run_id=RUN, events_sha256=f"{number:064x}")
        later.write(said)
    grown = evidence_of(evidence.key, [*evidence.events, *later.events])
    assert len(grown.events) == len(evidence.events) + 3
    assert grown.up_to(evidence.tips).events == evidence.events
    assert grown.up_to([]).events == ()


def test_a_missing_event_is_a_gap() -> None:
    evidence = review_of(6)
    assert evidence.gaps() == 0
    [(device, _)] = Counter(e.device for e in evidence.events).most_common(1)
    chain = sorted((e for e in evidence.events if e.device == device), key=lambda e: e.seq)
    for place, gaps in ((4, 1), (-1, 0)):
        fewer = [e for e in evidence.events if e is not chain[place]]
        assert evidence_of(evidence.key, fewer).gaps() == gaps


def test_a_look_is_new_where_ratings_changed_and_nowhere_else() -> None:
    key, events = with_words()
    batches = set(key.batches)
    seen = looked_at(events, batches)
    without_talk = [e for e in events if e.kind not in {"comment", "adjudicate", "look", "suggest"}]
    assert looked_at(without_talk, batches) == seen
    rated = next(e for e in events if e.kind == "rate")
    assert looked_at([e for e in events if e is not rated], batches) != seen
    assert looked_at([e.erased() if e is rated else e for e in events], batches) != seen


def test_looks_of_the_organisation_count_and_no_others() -> None:
    rng = Random(8)
    shape = histories.replace(GO, looks=3)
    key = histories.make_key(rng, shape)
    evidence = evidence_of(key, histories.make_events(rng, shape, key))
    assert evidence.organisation_device == ORGANISATION
    assert evidence.state.looks == {RUN: 3}  # a laptop wrote one more
    assert read_verdict(evidence, RUN).verdict.look == 3


def test_what_is_no_list_of_devices_is_refused() -> None:
    for content in (
        b"", b"[]", b"{}", b'{"organisation":1,"devices":{}}', b"[" * 99_999,
        b'{"organisation":"a","devices":[]}', b'{"organisation":"a","devices":{"b":3}}',
    ):  # fmt: skip
        with pytest.raises(UsageError, match=r"devices\.json"):
            read_devices(content, "devices.json")


def test_a_changed_event_is_named_by_its_line() -> None:
    lines = events_bytes(review_of(7).events)
    moved = read_events_bytes(lines.replace(b'"seq":3,', b'"seq":4,', 1))
    whole = events_sha256(e.id for e in read_events_bytes(lines))
    assert events_sha256(e.id for e in moved) != whole  # a head has no other guard than its id
    for old, new in ((b'"excellent"', b'"reject"'), (b'"rate"', b'"skip"'), (b"{", b"[")):
        bad = lines.replace(old, new, 1)
        assert bad != lines
        with pytest.raises(UsageError, match=r"events\.jsonl, line \d+"):
            read_events_bytes(bad)


def test_file_that_is_none_is_refused() -> None:
    names = [*MEMBERS, "signed.json", "rosetta_verify.py", "README.txt"]
    members = unpack(pack_evidence(b"{}", b"s", review_of(7)), names, ())
    for name in ("policy.toml", "key.json", "events.jsonl"):
        rest = {each: data for each, data in members.items() if each != name}
        with pytest.raises(FileError):
            unpack_evidence(pack(rest))
    for name in ("key.json", "events.jsonl", "devices.json"):
        with pytest.raises(UsageError):
            unpack_evidence(pack({**members, name: b"{not json"}))
    with pytest.raises(FileError):
        unpack_evidence(b"PK nothing of the kind")
