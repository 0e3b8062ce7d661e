"""The card's form on disk, pinned; no number of a single secret entry on it; and cards of runs that are no translations."""

import json
import shutil
import sqlite3
import statistics
import subprocess
from contextlib import closing
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry, Segment
from harness.card import reading
from harness.card.assembling import assemble, store_card
from harness.card.checking.verdict import differences
from harness.card.checking.verify_card import verify_card
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.foreign_cards import adopt
from harness.card.importing import import_card
from harness.card.material import held, stored_material
from harness.card.model import RunCard, card_hash, card_schema, seal_form
from harness.card.reading import must_be_released
from harness.card.rows import load_card
from harness.card.withholding import LEAST, too_small, withheld_part
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from tests.corpora.tasks import records
from tests.harness.card.factory import add_secret_run, build_card, checks, first_path, resealed
from tests.harness.evaluation import corpus_of, run_corpus, whole_card
from tests.harness.run.made import constant
from tests.harness.sealed.refusals import refuses

GOLDEN = Path(__file__).parents[2] / "data" / "run-card.json"
BEFORE_CLAIMS = Path(__file__).parents[2] / "data" / "run-card-before-claims.json"
"""A card as it was sealed when it had four floors and no record of its claim."""

SEAL = "91575e9bc25c406cf7b1b41cbf800ee77eca8136037fcd222bac5abe288c1f56"
CANONICAL_SHA256 = "c695897bc50f932f169ac9b9bbffe235bee72f8803f3c496a405cb604aa32043"
FINGERPRINT = "fd3a4e6a2e00cff82dd8d745b63a6866c16980052c550c3a2c8f885bc06a94c3"
SETUP_HASH = "3ed4b77cfb8569768e8cfbef0d2dda981b7017ac4a3273fe1d5dde699d951867"

_NODE = r"""
const {createHash} = require("crypto");
const text = v => v === null || typeof v !== "object" ? JSON.stringify(v)
  : Array.isArray(v) ? "[" + v.map(text).join(",") + "]"
  : "{" + Object.keys(v).sort().map(k => JSON.stringify(k) + ":" + text(v[k])).join(",") + "}";
const hash = v => createHash("sha256").update(text(v), "utf8").digest("hex");
const card = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
console.log(hash(card));
console.log(hash({...card, run_card_hash: ""}));
console.log(hash(card.fingerprint.components));
console.log(hash(card.fingerprint.setup_components));
"""


@pytest.fixture
def golden() -> dict[str, Any]:
    card: dict[str, Any] = json.loads(GOLDEN.read_bytes())
    return card


def test_bytes_and_seal_are_pinned(golden: dict[str, Any]) -> None:
    assert sha256(canonical_bytes(golden)).hexdigest() == CANONICAL_SHA256
    assert seal_form(golden) is not None
    print_ = golden["fingerprint"]
    assert [golden["run_card_hash"], print_["hash"], print_["setup_hash"]] == [
        SEAL, FINGERPRINT, SETUP_HASH,
    ]  # fmt: skip
    verdict = verify_card(GOLDEN.read_bytes())
    assert verdict.ok, verdict.differences
    for path in (GOLDEN, BEFORE_CLAIMS):  # the model gives it back byte for byte
        assert card_bytes(adopt(json.loads(path.read_bytes()), "golden")) == path.read_bytes()


@pytest.mark.skipif(shutil.which("node") is None, reason="node, the other implementation, is absent")
def test_another_implementation_finds_the_same_hashes() -> None:
    command = ["node", "-e", _NODE, str(GOLDEN)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout.split() == [CANONICAL_SHA256, SEAL, FINGERPRINT, SETUP_HASH]


def test_card_before_claims_is_held_to_the_rules_of_then() -> None:
    verdict = verify_card(BEFORE_CLAIMS.read_bytes())
    assert verdict.ok, verdict.differences
    assert any("floors of an earlier version" in check.words for check in verdict.checks)
    for name, value in (("claimable_tier", "functional"), ("mostly_identical", True)):
        card = json.loads(BEFORE_CLAIMS.read_bytes())
        card["scores"][name] = value
        assert first_path(resealed(card)) == f"$.scores.{name}"


def test_same_run_has_the_same_card(golden: dict[str, Any], connection: sqlite3.Connection) -> None:
    number = add_secret_run(connection)
    material = held(stored_material(connection, number))
    card = assemble(material, whole=True, answered_only=True).as_json()  # as older versions did
    assert set(golden) <= set(card)
    assert set(golden["scores"]) <= set(reading.block(card, "scores"))
    versioned = "signatures reasons composite_missing composite_profile_reason tier_in_words"
    for words in versioned.split():
        golden["scores"].pop(words)
    found = {name: value for name, value in golden.items() if name != "run_card_hash"}
    assert list(differences(found, card)) == []


def test_card_has_the_fields_of_schema_and_specification(golden: dict[str, Any]) -> None:
    text = files("harness.card").joinpath("run-card.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert schema == card_schema(), "python -m harness.card.model writes it again"
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(golden)) == []
    assert list(validator.iter_errors({**golden, "further": {"x": 1}})) == []
    without = {name: value for name, value in golden.items() if name != "scores"}
    assert [error.validator for error in validator.iter_errors(without)] == ["required"]
    assert set(RunCard.model_fields) - {"scoring", "withheld"} == set(golden) - {"scoring"}
    golden["results"] = [row for row in golden["results"] if not row["withheld"]]
    for block, path in ((golden["scores"], "$.scores.claim"), (golden, "$.floors")):
        gone = block.pop(path.split(".")[-1])
        verdict = verify_card(resealed(golden))
        assert path in {difference.path for difference in verdict.differences}
        block[path.split(".")[-1]] = gone


def entries(secret: int, public: int = 0) -> list[Entry]:
    return [
        Entry(id=f"id-{n}", source=f"entry number {n}", reference=f"ENTRY NUMBER {n}",
              segment=Segment.HELD_OUT if n < secret else Segment.DEVELOPMENT,
              difficulty=1 + (n % 7 == 0) + (n % 2))
        for n in range(secret + public)
    ]  # fmt: skip


def played(path: Path, made: list[Entry]) -> sqlite3.Connection:
    run_corpus(path, corpus_of(made), constant())
    return open_store(path)


@pytest.mark.parametrize("public", [0, 20])
def test_card_has_no_row_or_id_of_an_entry(store_path: Path, public: int) -> None:
    made = entries(23, public)
    with closing(played(store_path, made)) as store:
        card, number = whole_card(store_path), find_run(store, "last").id
        for form in (ExportForm.JSONL, ExportForm.CSV):
            refuses(UsageError, "no row of it leaves", export_run, store, number, form)
    assert card["results"] == []
    assert '"id-' not in json.dumps(card)
    assert card["withheld"]["secret"] == 23
    assert card["withheld"]["entries"] == card["scores"]["total"] == 23 + public
    findings = card["scores"]["findings"]
    assert findings
    assert all(each.keys() == {"code", "count", "of", "share", "cost"} for each in findings)
    assert {each["cost"] for each in findings} == {None}
    assert verify_card(json.dumps(card).encode()).ok
    if not public:
        return
    counts = {tier: sum(e.secret and e.difficulty == tier for e in made) for tier in (1, 2, 3)}
    assert counts == {1: 10, 2: 11, 3: 2}
    # 3 is too small, and 1 goes with it: else all minus 1 and 2 told of the two
    assert set(card["scores"]["by_difficulty"]) == {"2"}
    assert card["withheld"]["suppressed"]["difficulty"] == ["1", "3"]
    assert set(card["scores"]["by_segment"]) == {"held_out", "development"}


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 12)), st.integers(0, 9))
def test_left_out_parts_are_not_found_by_subtraction(parts: dict[str, int], untagged: int) -> None:
    secret = sum(parts.values()) + untagged
    left_out = too_small(parts, secret)
    kept = {tag: count for tag, count in parts.items() if tag not in left_out}
    assert all(count >= LEAST for count in kept.values())
    rest = secret - sum(kept.values())
    assert rest == 0 or rest >= LEAST or not kept
    if not any(0 <= count < LEAST for count in parts.values()) and (untagged == 0 or untagged >= LEAST):
        assert left_out == set()


def test_store_computes_a_secret_card_again(store_path: Path, there: sqlite3.Connection) -> None:
    with closing(played(store_path, entries(12))) as store:
        number, card = find_run(store, "last").id, whole_card(store_path)
        data = card_bytes(load_card(store, number))  # as older versions let it leave
        verdict = verify_card(data, store)
        assert verdict.ok
        assert any(check.name == "numbers, from the stored rows" for check in verdict.checks)
        card["scores"]["bleu"] = 77.7
        assert first_path(resealed(card), store) == "$.scores.bleu"
        old = build_card(store, number, whole=True)
        store.execute("UPDATE runs SET run_card = NULL WHERE id = ?", (number,))
        store_card(store, number, old.as_json())
        assert len(load_card(store, number).results) == 12
        assert must_be_released(store, find_run(store, "last"))
        for form in ExportForm:
            refuses(UsageError, r"no row|released card", export_run, store, number, form)
    assert "12 of 12 entries are secret" in str(verify_card(data).checks)
    import_card(there, data, "card.json")
    run = find_run(there, "last")
    assert export_run(there, run.id, ExportForm.CARD) == data
    assert load_card(there, run.id).scores.total == 12


@pytest.fixture(scope="module")
def of_questions(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The card of a run that answered questions."""
    rows = [{"source": f"q{n}", "reference": "Anna", "predicted": "Anna" if n else "Bob"} for n in range(4)]
    options = MethodOptions(source_language="en", target_language="crk", task="qa")
    plan = Plan(method="replay", options=options, scoring=ScoringOptions().said_by("qa"))
    path = tmp_path_factory.mktemp("questions") / "rosetta.sqlite"
    run_corpus(path, records.corpus_of("qa", *rows), plan)
    return json.dumps(whole_card(path))


@pytest.fixture
def card(of_questions: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(of_questions)
    return read


def holds(card: dict[str, Any]) -> bool:
    """Seal a card anew, and tell whether what it says holds."""
    card["run_card_hash"] = card_hash(card)
    try:
        return verify_card(canonical_bytes(card)).ok
    except UsageError:
        return False


def test_card_of_another_task_holds_without_floors(card: dict[str, Any]) -> None:
    assert holds(card)
    scores = card["scores"]
    assert (card["dataset"]["task"], card["floors"]) == ("qa", [])
    assert scores.get("composite") is None
    assert not scores.keys() & {
        "composite_profile", "composite_profile_reason", "composite_missing",
    }  # fmt: skip
    assert checks(verify_card(canonical_bytes(card)))["no tier and no floors"] is True
    scores |= {
        "composite_profile_reason": "FST acceptance has no value: it was not computed",
        "composite_missing": {"chrf_plus_plus": "no value"},
    }
    for profile, holding in (("B", True), ("A", False)):  # words on earlier cards
        scores["composite_profile"] = profile
        assert holds(card) is holding


def test_mean_and_deviation_are_computed_again(card: dict[str, Any]) -> None:
    told = card["scores"]["spread"]["lbrag.em"]
    assert told == {"mean": 0.75, "std": statistics.stdev([0, 1, 1, 1]), "n": 4}
    told["std"] += 1e-6
    assert not holds(card)
    del card["scores"]["spread"]  # as earlier versions sealed it
    assert holds(card)


@pytest.mark.parametrize(("secret", "told"), [(1, False), (4, False), (5, True)])
def test_no_deviation_of_few_secret_entries_leaves(secret: int, told: bool) -> None:
    entries = [Entry(id=n, source="a", reference="b", segment="held_out" if n < secret else None) for n in range(9)]
    scores = {"spread": {"lbrag.em": {"mean": 0.5, "std": 0.5, "n": 9}}}
    assert ("spread" in reading.block(withheld_part(scores, entries), "scores")) is told


def test_other_task_or_floors_are_found(card: dict[str, Any]) -> None:
    for task in ("math", "translation", 7):
        card["dataset"]["task"] = task
        assert not holds(card)
    del card["dataset"]["task"]
    assert not holds(card)
    card["dataset"]["task"] = "qa"
    assert holds(card)
    floor = {"name": "empty", "composite": 0.1, "chrf_plus_plus": 1.0, "inputs": []}
    assert not holds(card | {"floors": [floor]})


def test_translations_keep_floors_whatever_they_are_called(finished_store: Path) -> None:
    text = json.dumps(whole_card(finished_store))
    assert holds(json.loads(text))
    for blocks in (("dataset",), ("scoring",), ("dataset", "scoring")):
        card = json.loads(text)
        for block in blocks:
            card[block]["task"] = "qa"
        card["floors"] = []
        assert not holds(card)
