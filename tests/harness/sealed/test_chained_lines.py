"""Files of signed lines that name each other: whole as they were written, and each way in which they are not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import permutations

import pytest

from harness.sealed.chain import ChainedRecord, chained_lines
from harness.sealed.forms import Count, StrictForm
from harness.sealed.keys import Identity, Role
from harness.sealed.signed_archive import signed_record

ME = Identity.make(Role.COMPUTER)


class Said(StrictForm):
    seq: Count
    prev: str
    words: str


class SignedSaid(Said, ChainedRecord):
    pass


def written(words: Sequence[str]) -> list[bytes]:
    made: list[bytes] = []
    for place, each in enumerate(words):
        prev = sha256(made[-1]).hexdigest() if made else ""
        made.append(signed_record(Said(seq=place, prev=prev, words=each), ME))
    return made


def read(contents: Sequence[bytes]) -> list[str]:
    def wrong(place: int, reason: str) -> Exception:
        return LookupError(f"line {place}: {reason}")

    lines = chained_lines(contents, SignedSaid, "a line", wrong, most=4096)
    return [line.words for line, content in lines if content in contents]


def test_lines_in_their_order_are_read_and_no_other_order() -> None:
    lines = written(["one", "two", "three"])
    assert read(lines) == ["one", "two", "three"]
    assert read(lines[:2]) == ["one", "two"], "what is cut at the end is known elsewhere"
    assert read([]) == []
    for count in (1, 2, 3):
        for other in permutations(lines, count):
            if list(other) != lines[:count]:
                with pytest.raises(LookupError, match="a line before it is missing"):
                    read(other)


def test_another_first_line_is_missed_by_the_second() -> None:
    lines, other = written(["one", "two"]), written(["eins", "zwei"])
    with pytest.raises(LookupError, match="line 1: a line before it is missing"):
        read([other[0], lines[1]])


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line + b" ",
        lambda line: json.dumps(json.loads(line)).encode(),
        lambda line: line.replace(b'"two"', b'"tw\\u006f"'),
    ],
)
def test_only_the_canonical_form_counts(change: Callable[[bytes], bytes]) -> None:
    first, second = written(["one", "two"])
    with pytest.raises(LookupError, match="line 1: it is not written in the one canonical form"):
        read([first, change(second)])


def test_what_is_no_such_line_is_named_by_its_place() -> None:
    with pytest.raises(LookupError, match="line 1: it is not a line of this form"):
        read([*written(["one"]), b"{}"])
