"""The byte form of cards: vectors of the documentation, and agreement with another implementation."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from harness.card.reading import MOST_DEPTH, parse_object, read_card_bytes
from harness.card.seal import SealForm, card_hash, seal_form
from harness.core.canonical import canonical_bytes, canonical_sha256
from harness.core.failures import UsageError
from tests.review.thorough import examples

_DOCUMENT = Path(__file__).parents[3] / "docs" / "run-card.md"

_NODE = r"""
const text = v => v === null || typeof v !== "object" ? JSON.stringify(v)
  : Array.isArray(v) ? "[" + v.map(text).join(",") + "]"
  : "{" + Object.keys(v).sort().map(k => JSON.stringify(k) + ":" + text(v[k])).join(",") + "}";
let all = "";
process.stdin.on("data", d => all += d)
  .on("end", () => process.stdout.write(JSON.stringify(JSON.parse(all).map(text))));
"""


def documented(block: str) -> list[tuple[str, str]]:
    """Return the tab-separated pairs of one fenced block of the documentation."""
    found = re.search(rf"```{block}\n(.*?)\n```", _DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    pairs = [tuple(line.split("\t")) for line in found[1].splitlines()]
    assert pairs
    return pairs


def test_documented_bytes_and_hashes() -> None:
    for text, canonical in documented("canonical"):
        assert canonical_bytes(json.loads(text)).decode("utf-8") == canonical
    for text, hexadecimal in documented("fingerprints"):
        assert canonical_sha256(json.loads(text)) == hexadecimal
    for form, hexadecimal in documented("seals"):
        assert seal_form({"run_id": "x", "run_card_hash": hexadecimal}) is SealForm(form)


def test_vectors_of_the_rfc() -> None:
    # RFC 8785, section 3.2.2: numbers, strings and literals of its example
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '€$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert (
        canonical_bytes(value)
        == (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ).encode()
    )


_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
# a key of digits is left out: JavaScript objects move such keys to the front before any sorting
_keys = st.text(st.characters(exclude_categories=["Cs", "Nd"]))
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=5)
)


@pytest.mark.thorough
@pytest.mark.skipif(
    shutil.which("node") is None, reason="node, the other implementation, is absent"
)
@examples(8, 8, suppress_health_check=list(HealthCheck))
@given(st.lists(_values, min_size=30, max_size=60))
def test_same_bytes_as_node(values: list[Any]) -> None:
    fixed = [1e-7, 1e21, -0.0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, 1e20, 123456789.0]
    values = [*values, fixed, {"\U0001f600": 1, "\ufb33": 2, "é": 3, "e\u0301": 4, "": 5}]
    done = subprocess.run(
        ["node", "-e", _NODE], input=json.dumps(values).encode(), capture_output=True, check=True
    )
    theirs = json.loads(done.stdout)
    for value, text in zip(values, theirs, strict=True):
        assert canonical_bytes(value).decode("utf-8") == text


@examples(30, 100)
@given(_values)
def test_canonical_bytes_mean_the_same(value: Any) -> None:
    # all JSON numbers are doubles, and a large one may be written without a point
    assert json.loads(canonical_bytes(value), parse_int=float) == value


_numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**17), 10**17).map(
    float
)


@examples(30, 100)
@given(
    _values | st.lists(_numbers) | st.dictionaries(st.text('aé\ufb33\U0001f600\n"\\\x7f'), _numbers)
)
def test_same_bytes_as_the_library(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@examples(50, 100)
@given(st.floats(1e-9, 1e23) | st.floats(-1e-3, 1e-3))
def test_numbers_are_written_as_the_library_writes_them(value: float) -> None:
    assert canonical_bytes([value, -value]) == rfc8785.dumps([value, -value])


def test_values_of_other_types_are_the_library_s() -> None:
    value = {"form": SealForm.JCS, "pair": (1, 2.0)}
    assert canonical_bytes(value) == b'{"form":"jcs","pair":[1,2]}'


def test_older_seal_is_known() -> None:
    card = {"b": "ê", "a": [1.0, 1e-07], "run_card_hash": ""}
    text = '{"a": [1.0, 1e-07], "b": "ê", "run_card_hash": ""}'
    card["run_card_hash"] = sha256(text.encode()).hexdigest()
    assert seal_form(card) is SealForm.SORTED_KEYS
    assert seal_form({**card, "b": "e"}) is None
    assert seal_form({**card, "run_card_hash": card_hash(card)}) is SealForm.JCS


def test_what_cannot_be_written_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value, word in (
        (float("nan"), "finite"), (float("inf"), "finite"), (2**53, r"2\^53"),
        ("\ud800", "surrogate"), ({1: 2}, "key"), (deep, "nested"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=word):
            canonical_bytes([value])
    assert seal_form({"x": deep, "run_card_hash": "0"}) is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b'{"a": ', "line 1, column 7"),
        (b'{\n"a": tru}', "line 2"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"a": "' + "\u0301\u0316".encode() * 150_000 + b'"}', "combining marks in a row"),
        (b"[1]", "no JSON object"),
        (b'"text"', "no JSON object"),
        (b"", "line 1"),
        (b"\x89PNG\r\n", "not UTF-8"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested"),
        (b'{"a":' + b"[" * MOST_DEPTH + b"]" * MOST_DEPTH + b"}", "nested"),
    ],
    ids=range(16),
)
def test_hostile_files_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=rf"card\.json.*{re.escape(words)}"):
        parse_object(data, "card.json")


def test_deepest_nesting_and_a_byte_order_mark_are_read() -> None:
    data = b'{"a":' + b"[" * (MOST_DEPTH - 1) + b"]" * (MOST_DEPTH - 1) + b"}"
    assert "a" in parse_object(data, "card.json")
    assert parse_object(b'\xef\xbb\xbf{"a": 1}', "card.json") == {"a": 1}


def test_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    with path.open("wb") as file:
        file.truncate(300 * 1024 * 1024)  # sparse: takes no room
    with pytest.raises(UsageError, match=r"314,572,800 bytes"):
        read_card_bytes(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_card_bytes(tmp_path / "absent.json")
