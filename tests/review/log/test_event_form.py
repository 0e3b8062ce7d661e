"""The form of one event: golden bytes, and nothing in it can be changed unseen."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.card.canonical import canonical_bytes
from review.log.event import FIRST, EventError, make_event, read_event
from review.log.payloads import AnyPayload, Kind
from review.rating import Rating
from tests.review.log.material import chain, comment, one_of_each, rate

GOLDEN_LINE = (
    '{"head":{"commit":"d44a5fd8707d9eeee9a166b372822144c4017b44ee60e69926e61e9c7dbd44e1",'
    '"device":"00112233445566ff","kind":"comment","lamport":7,"prev":"","seq":0,"v":1},'
    '"payload":{"batch":"bbbbbbbbbbbbbbb1","item":"0000000000000002","kind":"comment",'
    '"reviewer":"ANN0000A","text":"Pas d’accord: ᐊᑎᒼ","wall":"2026-03-01T10:00:00Z"},'
    '"salt":"000102030405060708090a0b0c0d0e0f"}'
)
GOLDEN_ID = "83478200b4f9f6c4c6eca63a2fec5b6d7c634e2f361a67f02272e0394289abaf"


def golden() -> bytes:
    event = make_event(
        comment(2, "Pas d’accord: ᐊᑎᒼ"),
        device="00112233445566ff", seq=0, lamport=7, prev=FIRST, salt=bytes(range(16)),
    )  # fmt: skip
    assert event.id == GOLDEN_ID
    return event.line()


def test_the_bytes_of_an_event_are_pinned() -> None:
    """Line and id were made with ``printf`` and ``sha256sum``, apart from this program."""
    assert golden().decode() == GOLDEN_LINE


def test_the_hashes_are_those_that_the_documents_describe() -> None:
    for event in chain(*one_of_each()):
        written = json.loads(event.line())
        plain: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
        content = json.dumps(written["payload"], **plain).encode()
        commit = hashlib.sha256(bytes.fromhex(written["salt"]) + content).hexdigest()
        head = json.dumps(written["head"], **plain).encode()
        assert written["head"]["commit"] == commit
        assert event.id == hashlib.sha256(head).hexdigest()


def test_there_is_an_example_of_every_kind() -> None:
    assert {payload.kind for payload in one_of_each()} == set(Kind)


@pytest.mark.parametrize("payload", one_of_each(), ids=lambda payload: str(payload.kind))
def test_every_event_comes_back_from_its_line(payload: AnyPayload) -> None:
    [event] = chain(payload)
    assert read_event(event.line()) == event
    erased = event.erased()
    assert read_event(erased.line()) == erased
    assert erased.id == event.id


def other(value: Any) -> list[Any]:
    """Return values near a value, some of another type."""
    if isinstance(value, bool):
        return [not value, None, int(value)]
    if isinstance(value, int):
        return [value + 1, value - 1, float(value) + 0.5, str(value), -1, 2**50]
    if isinstance(value, str):
        changed = value[:-1] + ("0" if value[-1:] != "0" else "1")
        return [changed, value + " ", "", None, value.upper() + "é", 1]
    if isinstance(value, list):
        return [value[:-1], [*value, "spelling"], None]
    return ["spelling", 1, {}]


@pytest.mark.parametrize("payload", one_of_each(), ids=lambda payload: str(payload.kind))
def test_no_field_of_an_event_can_be_changed(payload: AnyPayload) -> None:
    [event] = chain(payload)
    written = json.loads(event.line())
    assert written["payload"].keys() == type(payload).model_fields.keys()
    for name, value in written["payload"].items():
        for instead in other(value):
            forged = {**written, "payload": {**written["payload"], name: instead}}
            with pytest.raises(EventError):
                read_event(canonical_bytes(forged))
        fewer = {key: kept for key, kept in written["payload"].items() if key != name}
        with pytest.raises(EventError):
            read_event(canonical_bytes({**written, "payload": fewer}))
    with pytest.raises(EventError):
        read_event(canonical_bytes({**written, "payload": {**written["payload"], "more": 1}}))
    with pytest.raises(EventError):
        read_event(canonical_bytes({**written, "salt": "f" * 32}))


def test_a_changed_head_is_another_event_or_none() -> None:
    [event] = chain(rate(0, Rating.GIST))
    written = json.loads(event.line())
    for name, value in written["head"].items():
        for instead in other(value):
            if instead == value:
                continue
            forged = canonical_bytes({**written, "head": {**written["head"], name: instead}})
            try:
                assert read_event(forged).id != event.id
            except EventError:
                continue


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b":", b": ", 1),
        lambda line: line + b"\n",
        lambda line: line.replace(b'"v":1', b'"v":1,"v":1'),
        lambda line: line.replace(b'"v":1', b'"v":true'),
        lambda line: line.replace(b'"v":1', b'"v":1.0'),
        lambda line: line.replace(b'"v":1', b'"v":NaN'),
        lambda line: line.replace(b'"seq":0', b'"seq":' + b"9" * 5000),
        lambda line: line.replace("é".encode(), b"\\u00e9"),
        lambda line: line.replace("é".encode(), b"\\ud800"),
        lambda line: line.replace("é".encode(), b"\xe9"),
        lambda line: b"[" * 60_000,
        lambda line: b" " * 70_000 + line,
        lambda line: b"",
    ],
    ids=["space", "feed", "twice", "true", "float", "nan", "huge", "escape", "half", "latin", "deep", "long", "none"],
)  # fmt: skip
def test_only_the_one_written_form_is_read(change: Any) -> None:
    [event] = chain(comment(0, "é"))
    with pytest.raises(EventError):
        read_event(change(event.line()))


def test_a_time_is_written_in_plain_digits() -> None:
    with pytest.raises(ValidationError):
        comment(0, "x", wall="٢٠٢٦-03-01T10:00:00Z")


@given(st.binary(max_size=300))
def test_bytes_from_anywhere_are_refused_in_words(line: bytes) -> None:
    with pytest.raises(EventError, match=r"^(is|has) "):
        read_event(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from(["head", "payload", "salt"]), st.text(max_size=8) | st.none(), JSON)
def test_values_from_anywhere_are_refused_in_words(part: str, name: str | None, value: Any) -> None:
    [event] = chain(rate(0, Rating.GIST))
    written = json.loads(event.line())
    if name is None or part == "salt":
        written[part] = value
    else:
        written[part][name] = value
    line = json.dumps(written).encode()
    try:
        event = read_event(line)
    except EventError:
        return
    assert event.line() == line
