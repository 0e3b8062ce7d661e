"""Numbers that a card states and nobody can compute again, its byte form, and cards that were made to break things."""

import contextlib
import copy
import json
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from harness.card import card_reader
from harness.card.assembling import measured
from harness.card.card_reader import MOST_DEPTH
from harness.card.checking.recompute import card_material, rows_again, scores_again
from harness.card.checking.verify_card import verify_card, verify_object
from harness.card.exporting import ExportForm, export_run
from harness.card.foreign_cards import adopt
from harness.card.importing import import_card
from harness.card.model import SealForm, card_hash, seal_form
from harness.card.reading import parse_object, read_card_bytes, read_card_file
from harness.core.canonical import canonical_bytes, canonical_sha256
from harness.core.failures import HarnessError, UsageError
from harness.store.deletion import delete_run
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from rosetta_tui.report.card import card_text
from rosetta_tui.show.run_facts import run_line
from rosetta_tui.show.text import table
from tests.harness.card import factory
from tests.harness.card.factory import OLDER, checks, report, resealed, sealed, written
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

FST = "fst_acceptance_rate"
Card = dict[str, Any]


def fitted(card: Card) -> Card:
    """Compute all scores of a card from its changed rows, as a careful forger would."""
    read = adopt(card, "card")
    material = card_material(read)
    for row, numbers in zip(card["results"], rows_again(material), strict=True):
        row.update(numbers)
    card["scores"] |= scores_again(read, material, measured(material))
    card["claimable_tier"] = card["scores"]["claimable_tier"]
    return card


def refused(card: Card, path: str, store: sqlite3.Connection | None = None) -> None:
    """Expect that neither verifying nor importing takes the card, and that both name the place."""
    data = resealed(card)
    verdict = verify_card(data)
    assert (verdict.ok, checks(verdict)["seal"]) == (False, True)
    assert verdict.first_difference is not None
    assert verdict.first_difference.path == path
    if store is not None:
        caught = refuses(UsageError, "", import_card, store, data, "card.json", unverified=True)
        assert path in str(caught)


def test_numbers_not_computed_again_are_named(card: Card, there: sqlite3.Connection) -> None:
    verdict = verify_card(written(card))
    assert verdict.ok
    stated = next(check for check in verdict.checks if check.name == "stated numbers")
    assert stated.ok is None
    for name in (FST, "consistency_score", "composites of the floors"):
        assert name in stated.words
    assert "chrf_plus_plus" not in stated.words
    assert "stated numbers" not in checks(verify_card(written(sealed()))), "all is in the texts"
    for row in card["results"]:
        row["statistics"][FST] = [9, 1, 1]
    forged = fitted(card)
    assert forged["scores"]["composite"] > 1
    refused(forged, f"$.results[0].statistics.{FST}", there)


IMPOSSIBLE: dict[str, list[list[float]]] = {
    FST: [[-5, 1, 0], [0, 0, 1], [1e300, 1e300, 1], [2, 1, 1], [1, 0, 1], [0, 0, 0], [2, 2, 0], [1, 2, 1],
          [1.5, 2, 0], [1, 1], []],
    "orthographic_accuracy": [[3, 2], [3, 0]],
    "code_switching_rate": [[-1, 3], [0, 1e9 + 1]],
    "compliance_index": [[6, 5, 5], [5, 6, 5]],
}  # fmt: skip


@pytest.mark.parametrize("metric", IMPOSSIBLE)
def test_impossible_statistics(card: Card, there: sqlite3.Connection, metric: str) -> None:
    for place, numbers in enumerate(IMPOSSIBLE[metric]):
        card["results"][3]["statistics"][metric] = numbers
        refused(card, f"$.results[3].statistics.{metric}", None if place else there)


def test_entry_is_right_or_wrong_once(there: sqlite3.Connection) -> None:
    """Where a language has rules for equivalence, its verdicts are stated too."""
    card = json.loads(written(sealed()))
    card["scoring"] = {
        "metrics": ["exact_match_rate", "equivalent_match_rate", "chrf_plus_plus"],
        "source_language": "en", "target_language": "eo", "language_card": "eo",
        "language_card_sha256": "ab" * 32, "variant_rules": True,
    }  # fmt: skip
    for row in card["results"]:
        row["statistics"] = {"equivalent_match_rate": [0, 1]}
    assert checks(verify_card(resealed(card))).get("stated numbers") is not False
    for numbers in ([5, 5], [0.5, 1], [1, 2], [0, 0]):
        card["results"][2]["statistics"]["equivalent_match_rate"] = numbers
        refused(card, "$.results[2].statistics.equivalent_match_rate", there)


@pytest.mark.parametrize(
    "path",
    ["$.floors[2].composite", "$.floors[1].chrf_plus_plus", "$.floors", "$.scores.consistency_score",
     f"$.results[0].statistics.{FST}"],
)  # fmt: skip
def test_impossible_numbers_are_refused(card: Card, there: sqlite3.Connection, path: str) -> None:
    if path == "$.floors":  # taken away
        card["floors"], card["scores"]["floors"] = [], {}
        card = fitted(card)
    elif path.startswith("$.results"):  # of a secret row too
        texts = ("source", "reference", "predicted", "variants")
        secret = dict.fromkeys(texts) | {"segment": "gold_standard", "withheld": True}
        card["results"][0].update(secret)
        card["results"][0]["statistics"][FST] = [3, 1, 1]
    elif path.startswith("$.scores"):
        card["scores"]["consistency_score"] = 2.5
    elif path.endswith("composite"):
        card["floors"][2]["composite"] = -0.5
    else:
        card["floors"][1]["chrf_plus_plus"] = 100.5
    refused(card, path, there)


def test_acceptance_of_a_row_follows_from_its_counts(card: Card) -> None:
    row = next(row for row in card["results"] if row["fst_accepted"] is False)
    row["fst_accepted"] = True
    verdict = verify_card(resealed(card))
    assert verdict.first_difference is not None
    assert verdict.first_difference.path.endswith(".fst_accepted")


SEEDS = (sealed, lambda: sealed(secret=True), lambda: json.loads(OLDER.read_bytes()), report)

_values = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70),
    st.sampled_from([0, -1, 2**53, 0.5, -1.0, 1e308, -1e308, 5e-324]), st.text(max_size=8),
    st.sampled_from(["\x1b[2J", "\ud800", "'; DROP TABLE runs; --", "=1+1", "\x00", "9" * 400]),
    st.sampled_from([[], {}]), st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers(0, 3), max_size=3),
)  # fmt: skip


@st.composite
def forged(draw: st.DrawFn) -> bytes:
    """Return a card in which one to three values were replaced or removed, sealed again where it can be."""
    card = copy.deepcopy(draw(st.sampled_from(SEEDS))())
    for _ in range(draw(st.integers(1, 3))):
        _forge(draw, card)
    try:
        card["run_card_hash"] = card_hash(card)
    except HarnessError:
        card["run_card_hash"] = "0"
    return json.dumps(card).encode()


def _forge(draw: st.DrawFn, card: Card) -> None:
    """Walk down from the top, so that every level is met as often, and change what is there."""
    node: Any = card
    while True:
        key = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if isinstance(node[key], dict | list) and node[key] and draw(st.booleans()):
            node = node[key]
        elif draw(st.integers(0, 3)) == 0:
            del node[key]
            return
        else:
            node[key] = draw(_values)
            return


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    with factory.store(tmp_path_factory.mktemp("hostile")) as connection:
        yield connection


@examples(4, 200, suppress_health_check=list(HealthCheck))
@given(forged())
def test_verify_and_import_answer_in_words(one_store: sqlite3.Connection, data: bytes) -> None:
    with contextlib.suppress(HarnessError):
        repr(verify_card(data, one_store))
    try:
        done = import_card(one_store, data, "card.json", unverified=True)
    except HarnessError:
        assert list_runs(one_store) == []
        assert one_store.execute("SELECT count(*) FROM corpora").fetchone() == (0,)
        return
    run = find_run(one_store, done.run_id)
    for form in ExportForm:
        with contextlib.suppress(*[UsageError] if form is ExportForm.SACREBLEU else []):
            export_run(one_store, run.id, form)
    (summary,) = list_runs(one_store)
    assert summary.card is not None
    list(table([run_line(summary)]))
    card_text(summary.card)
    delete_run(one_store, run.id)


@examples(40, 1000)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
def test_any_bytes_are_answered_in_words(data: bytes) -> None:
    refuses(HarnessError, "", verify_card, data)


def test_hostile_card_is_exported_as_it_came(there: sqlite3.Connection) -> None:
    card = copy.deepcopy(sealed())
    card["results"][0]["predicted"] = '=cmd|"/c calc"!A1\r\n\x00\u202e'
    card["run_card_hash"] = card_hash(card)
    data = json.dumps(card).encode()
    run = find_run(there, import_card(there, data, "card.json").run_id)
    assert export_run(there, run.id, ExportForm.CARD) == data
    first = export_run(there, run.id, ExportForm.JSONL).split(b"\n")[0]
    assert json.loads(first)["predicted"] == card["results"][0]["predicted"]


_DOCUMENT = Path(__file__).parents[3] / "docs" / "internals" / "run-card.md"


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
_json_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=5)
)


_numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**17), 10**17).map(float)


@examples(30, 100)
@given(_json_values | st.lists(_numbers) | st.dictionaries(st.text('aé\ufb33\U0001f600\n"\\\x7f'), _numbers))
def test_same_bytes_as_the_library(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)
    # all JSON numbers are doubles, and a large one may be written without a point
    assert json.loads(canonical_bytes(value), parse_int=float) == value


_NODE = r"""
const text = v => v === null || typeof v !== "object" ? JSON.stringify(v)
  : Array.isArray(v) ? "[" + v.map(text).join(",") + "]"
  : "{" + Object.keys(v).sort().map(k => JSON.stringify(k) + ":" + text(v[k])).join(",") + "}";
let all = "";
process.stdin.on("data", d => all += d)
  .on("end", () => process.stdout.write(JSON.stringify(JSON.parse(all).map(text))));
"""


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("node") is None, reason="the other implementation is absent")
@examples(4, 8, suppress_health_check=list(HealthCheck))
@given(st.lists(_json_values, min_size=30, max_size=60))
def test_same_bytes_as_node(values: list[Any]) -> None:
    fixed = [1e-7, 1e21, -0.0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, 1e20, 123456789.0]
    values = [*values, fixed, {"\U0001f600": 1, "\ufb33": 2, "é": 3, "e\u0301": 4, "": 5}]
    given_ = json.dumps(values).encode()
    done = subprocess.run(["node", "-e", _NODE], input=given_, capture_output=True, check=True)
    assert [canonical_bytes(value).decode("utf-8") for value in values] == json.loads(done.stdout)


@examples(50, 100)
@given(st.floats(1e-9, 1e23) | st.floats(-1e-3, 1e-3))
def test_numbers_are_written_as_the_library_writes_them(value: float) -> None:
    assert canonical_bytes([value, -value]) == rfc8785.dumps([value, -value])
    tagged = {"form": SealForm.JCS, "pair": (1, 2.0)}
    assert canonical_bytes(tagged) == b'{"form":"jcs","pair":[1,2]}'


def test_older_seal_is_known() -> None:
    card: dict[str, Any] = {"b": "ê", "a": [1.0, 1e-07], "run_card_hash": ""}
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
        refuses(UsageError, word, canonical_bytes, [value])
    assert seal_form({"x": deep, "run_card_hash": "0"}) is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xfe{\x00}\x00", "not UTF-8"), (b'{"a": ', "line 1, column 7"),
        (b'{\n"a": tru}', "line 2"), (b'{"a": 1, "a": 2}', "twice"), (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"), (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"a": "' + "\u0301\u0316".encode() * 150_000 + b'"}', "combining marks in a row"),
        (b"[1]", "no JSON object"), (b'"text"', "no JSON object"), (b"", "line 1"),
        (b"\x89PNG\r\n", "not UTF-8"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested"),
        (b'{"a":' + b"[" * MOST_DEPTH + b"]" * MOST_DEPTH + b"}", "nested"),
    ],
    ids=range(16),
)  # fmt: skip
def test_hostile_files_are_refused(data: bytes, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuses(UsageError, rf"card\.json.*{re.escape(words)}", parse_object, data, "card.json")
    monkeypatch.setattr(card_reader, "TOGETHER", 5)  # in parts, of which one may end anywhere
    refuses(UsageError, rf"card\.json.*{re.escape(words)}", parse_object, data, "card.json")


def test_deepest_nesting_and_a_byte_order_mark_are_read() -> None:
    data = b'{"a":' + b"[" * (MOST_DEPTH - 1) + b"]" * (MOST_DEPTH - 1) + b"}"
    assert "a" in parse_object(data, "card.json")
    assert parse_object(b'\xef\xbb\xbf{"a": 1}', "card.json") == {"a": 1}


@pytest.mark.parametrize("together", range(1, 9))
def test_numbers_across_parts_of_a_file_are_read(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_reader, "TOGETHER", together)
    text = '{"a": 12.5, "b": -2.5e+10, "results": [0.25, 1E-5], "c": 1.5}'
    assert parse_object(text.encode(), "card.json") == json.loads(text)


def test_card_file_is_read_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card, path = sealed(), tmp_path / "card.json"
    path.write_bytes(written(card))
    monkeypatch.setattr(card_reader, "TOGETHER", 100)
    read = read_card_file(path)
    assert {**read, "results": [*read["results"]]} == card == parse_object(path.read_bytes(), "card.json")
    assert seal_form(read) is SealForm.JCS
    assert verify_object(read, None, "card.json").checks == verify_card(path.read_bytes()).checks
    older = json.dumps({**card, "run_card_hash": ""}, sort_keys=True, ensure_ascii=False)
    assert seal_form({**read, "run_card_hash": sha256(older.encode()).hexdigest()}) is SealForm.SORTED_KEYS
    card = copy.deepcopy(card)
    card["results"][2]["attempts"] = "many"
    path.write_bytes(written(card))
    refuses(UsageError, r"\$\.results\[2\]\.attempts", verify_object, read_card_file(path), None, "card.json")
    path.write_bytes(path.read_bytes().replace(b'"many"', b'"many" 1'))
    line = path.read_bytes().partition(b'"many"')[0].count(b"\n") + 1
    refuses(UsageError, rf"line {line}, .*',' delimiter", read_card_file, path)
    monkeypatch.setattr(card_reader, "MOST_BYTES", 150)
    refuses(UsageError, "more than 150 characters", read_card_file, path)
    monkeypatch.setattr(card_reader, "TOGETHER", 10)
    refuses(UsageError, "more than 150 characters", parse_object, b'{"a": "%165s"%9s}' % (b"", b""), "card.json")


def test_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    with path.open("wb") as file:
        file.truncate(300 * 1024 * 1024)  # sparse: takes no room
    refuses(UsageError, r"314,572,800 bytes", read_card_bytes, path)
    refuses(UsageError, "cannot be read", read_card_bytes, tmp_path / "absent.json")
