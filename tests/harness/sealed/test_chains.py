"""Merkle trees against vectors of Certificate Transparency; signed lines that name each other, whole or not."""

import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sealed.chain import ChainedRecord, chained_lines
from harness.sealed.forms import Count, StrictForm
from harness.sealed.keys import Identity, Role
from harness.sealed.merkle import inclusion_path, leaf_hash, node_hash, root_by_path, tree_root
from harness.sealed.signed_archive import signed_record
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

LEAVES = [
    bytes.fromhex(each)
    for each in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""Root of the first n leaves, n from 0 (certificate-transparency: testonly constants, RFC 6962)."""

PATHS = [
    (0, 1, []),
    (0, 8, [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]),
    (5, 8, [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (1, 5, [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ]),
]  # fmt: skip
"""Place, leaves, and the published path between them."""


def hashes(count: int) -> list[bytes]:
    return [leaf_hash(each) for each in LEAVES[:count]]


@pytest.mark.parametrize(("count", "root"), list(enumerate(ROOTS)))
def test_the_published_roots(count: int, root: str) -> None:
    assert tree_root(hashes(count)).hex() == root


@pytest.mark.parametrize(("place", "count", "path"), PATHS)
def test_the_published_paths(place: int, count: int, path: list[str]) -> None:
    assert [each.hex() for each in inclusion_path(hashes(count), place)] == path
    told = [bytes.fromhex(each) for each in path]
    led = root_by_path(leaf_hash(LEAVES[place]), place, count, told)
    assert led.hex() == ROOTS[count]


def by_definition(leaves: list[bytes]) -> bytes:
    """RFC 9162 §2.1.1, word by word."""
    if len(leaves) < 2:
        return sha256(b"\0" + leaves[0]).digest()
    part = 1
    while part * 2 < len(leaves):
        part *= 2
    return sha256(b"\1" + by_definition(leaves[:part]) + by_definition(leaves[part:])).digest()


@examples(30, 60)
@given(st.integers(1, 70), st.data())
def test_each_leaf_leads_to_the_root_from_its_place_only(size: int, data: st.DataObject) -> None:
    contents = [bytes([number]) for number in range(size)]
    leaves = [leaf_hash(each) for each in contents]
    root = tree_root(leaves)
    assert root == by_definition(contents)
    place = data.draw(st.integers(0, size - 1))
    path = inclusion_path(leaves, place)
    assert root_by_path(leaves[place], place, size, path) == root
    elsewhere = data.draw(st.integers(-2, size + 2).filter(lambda each: each != place))
    assert root_by_path(leaves[place], elsewhere, size, path) != root
    other = data.draw(st.sampled_from([path[:-1], [*path, root], [*path[::-1], root]]))
    if other != path:
        assert root_by_path(leaves[place], place, size, other) != root


def test_a_node_is_no_leaf() -> None:
    # without the prefixes the four nodes above eight leaves would be a tree of four leaves with the same root
    leaves = hashes(8)
    root = tree_root(leaves)
    pairs = [one + two for one, two in zip(leaves[::2], leaves[1::2], strict=True)]
    assert tree_root([leaf_hash(each) for each in pairs]) != root
    path = inclusion_path(leaves, 0)[1:]
    assert root_by_path(node_hash(*leaves[:2]), 0, 4, path) == root  # its own hash would do
    assert root_by_path(leaf_hash(pairs[0]), 0, 4, path) != root  # what is shown as a leaf does not


# Signed lines

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
                refuses(LookupError, "a line before it is missing", read, other)
    others = written(["eins", "zwei"])
    words = "line 1: a line before it is missing"
    refuses(LookupError, words, read, [others[0], lines[1]])


def test_lines_in_another_form_do_not_count() -> None:
    first, second = written(["one", "two"])
    for other in (
        second + b" ",
        json.dumps(json.loads(second)).encode(),
        second.replace(b'"two"', b'"tw\\u006f"'),
    ):
        refuses(LookupError, "line 1: it is not written in the one canonical form", read, [first, other])  # fmt: skip
    refuses(LookupError, "line 1: it is not a line of this form", read, [first, b"{}"])
