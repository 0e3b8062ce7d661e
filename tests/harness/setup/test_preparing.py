"""What a run is scored with is refused at once where its parts do not fit; and what all metrics together may never do."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.languages.shipped.epo.build import ANALYSER
from corpora.model.corpus import Selection
from corpora.model.entry import Entry, Segment
from harness import api
from harness.card.checking.verify_card import verify_card
from harness.card.importing import import_card
from harness.card.model import HASH_FIELD, card_hash
from harness.card.rows import load_card
from harness.compare.comparing import compare_runs
from harness.core.canonical import canonical_sha256
from harness.core.failures import HarnessError, UsageError
from harness.core.version import VERSION
from harness.inputs.dictionary import read_gloss_dictionary
from harness.leaderboard.ranking import apart, leaderboards
from harness.run.rescoring import rescore
from harness.run.vault_opening import run_terms
from harness.sealed.keys import Identity, Role
from harness.setup.plan import plan_of
from harness.setup.scoring_options import FOLDER, ScoringOptions, read_scoring, sign_scoring
from harness.setup.scoring_tools import ScoringTools, stated_setup
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import opened
from harness.vault.vault_records import RunTerms
from review.calibration.proposal import signed_scoring
from rosetta_tui.commands.compare import calibrate
from rosetta_tui.commands.run import score
from scoring.card.floors import FloorWork
from scoring.card.scorecard import scorecard
from scoring.core.inventory import composite
from scoring.core.metric import Table
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.core.specification import Tier, Weighing, specification, specified, stated_weighing
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.significance import shared_profile
from tests.corpora.making import LEAST
from tests.harness import guarded_corpora as given_corpora
from tests.harness.evaluation import corpus, run_corpus, sealed_card
from tests.harness.guarded_corpora import CORPORA
from tests.harness.run.made import constant
from tests.harness.sealed.refusals import refuses
from tests.harness.setup.calibrating import (
    LINE,
    WEIGHTS,
    call,
    corpus_files,
    organisation,
    proposal,
    record,
    signed_file,
    written,
)
from tests.review.thorough import examples, first, times
from tests.scoring.samples import sentences


def card(folder: Path, tag: str, more: str = "") -> Path:
    path = folder / "mine.toml"
    path.write_text(LEAST.replace('"crk"', f'"{tag}"').replace("name", f"{more}\nname", 1), "utf-8")
    return path


def test_card_fits_by_tag_or_alias(store_path: Path, tmp_path: Path) -> None:
    for tag, more in (("eo", ""), ("epo", ""), ("qaa", 'aliases = ["eo"]')):
        plan = constant(language_card=card(tmp_path, tag, more))
        run_corpus(store_path, corpus(2), plan)
        assert sealed_card(store_path)["scoring"]["language_card"] == tag


def test_two_ways_to_one_score_and_a_foreign_card_refused(store_path: Path, tmp_path: Path) -> None:
    glosses = tmp_path / "glosses.tsv"
    glosses.write_text("eniro\tentry\n", "utf-8")
    nobody = {"embeddings": "http://localhost:9", "embeddings_model": "m"}
    told = {"gloss_dictionary": glosses, **nobody}
    plan = constant(("rosetta",), analyser=ANALYSER, **told)
    refuses(UsageError, "--gloss-dictionary and --embeddings both give", run_corpus, store_path, corpus(2), plan)
    run_corpus(store_path, corpus(2), constant(("chrf_plus_plus",), **told))
    plan = constant(("rosetta",), language_card=card(tmp_path, "crk"))
    refuses(UsageError, r"--language-card is of crk \(Mine\).*into eo", run_corpus, store_path, corpus(2), plan)


EXPECTED = {"atim": ("dog", "horse"), "nipâw": ("s/he sleeps",)}

FORMS = [
    ("d.tsv", "atim\tdog\nnipâw\ts/he sleeps\natim\thorse\n"),
    ("d.tsv", "\ufefflemma\tgloss\n# a remark\natim\tdog\thorse\t\n\nnipa\u0302w\ts/he  sleeps\n"),
    ("d.csv", 'Lemma,Definition\natim,dog,horse\n"nipâw","s/he sleeps"\natim,dog\n'),
    ("d.json", '{"atim": ["dog", "horse"], "nipâw": "s/he sleeps"}'),
    ("d.json", '[{"lemma": "atim", "glosses": ["dog", "horse"]}, {"head": "nipâw", "gloss": "s/he sleeps"}]'),
]  # fmt: skip


def test_forms_of_a_dictionary_are_read_and_mistakes_named(tmp_path: Path) -> None:
    for name, text in FORMS:
        (tmp_path / name).write_text(text, "utf-8")
        found = read_gloss_dictionary(tmp_path / name)
        assert (found.glosses, len(found), len(found.sha256)) == (EXPECTED, 2, 64)
    for name, content, said in (
        ("d.tsv", b"atim\tdog\nnipaw\n", "line 2: a lemma and its gloss are wanted, with a tab"),
        ("d.csv", b"atim,dog\n,horse\n", "line 2: a lemma and its gloss are wanted, with a comma"),
        ("d.csv", b'atim,"dog\n', "line 1"),
        ("d.tsv", b"", "the dictionary is empty"),
        ("d.tsv", b"lemma\tgloss\n# none\n", "the dictionary is empty"),
        ("d.tsv", b"atim\tdog\n\xe2w\tx\n", "line 2: not UTF-8"),
        ("d.json", b'{"atim":\n "dog"', "line 2: not valid JSON"),
        ("d.json", b"7", "object or list"),
        ("d.json", b'{"atim": 7}', "item 1: a lemma with its gloss"),
        ("d.json", b'{"atim": []}', "item 1: a lemma with its gloss"),
        ("d.json", b'[{"lemma": "atim", "gloss": "dog"}, {"lemma": "minos"}]', "item 2"),
        ("d.json", b'["atim"]', "item 1"),
        ("d.json", b"[" * 100_000, "not valid JSON"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        caught = refuses(UsageError, said, read_gloss_dictionary, path)
        assert str(path) in str(caught)
    refuses(UsageError, "cannot be read", read_gloss_dictionary, tmp_path / "none.tsv")


def terms(method: str, selection: Selection | None = None, **told: Any) -> RunTerms:
    return run_terms(method, told, api.scoring_of(told), selection or Selection())


def test_same_call_is_the_same_run_and_all_else_another(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("hello\tsaluton\n")
    (tmp_path / "b.tsv").write_text("hello\tsaluton\n")
    one = terms("glossary", glossary=tmp_path / "a.tsv")
    assert one == terms("glossary", glossary=tmp_path / "b.tsv", batch_size=1, multi_ref=False)
    assert (one.method, one.scorer) == ("glossary", VERSION)
    (tmp_path / "b.tsv").write_text("hello\tadiaux\n")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_text("1")
    made = [
        terms("glossary", glossary=tmp_path / "a.tsv"),
        terms("glossary", glossary=tmp_path / "b.tsv"),
        terms("glossary", glossary=tmp_path / "a.tsv", metrics="chrf"),
        terms("glossary", glossary=tmp_path / "a.tsv", multi_ref=True),
        terms("glossary", glossary=tmp_path / "a.tsv", replicate=1),
        terms("glossary", glossary=tmp_path / "a.tsv", embeddings=str(tmp_path / "model")),
        terms("glossary", Selection(limit=1), glossary=tmp_path / "a.tsv"),
        terms("glossary", Selection(segments=(Segment.DEVELOPMENT,)), glossary=tmp_path / "a.tsv"),
        terms("copy-source"),
        terms("chat", model="m", endpoint="ollama"),
        terms("chat", model="m", endpoint="ollama", temperature=None),
        terms("chat", model="n", endpoint="ollama"),
    ]
    assert len({each.options for each in made}) == len(made)
    (tmp_path / "model" / "weights").write_text("2")
    other = terms("glossary", glossary=tmp_path / "a.tsv", embeddings=str(tmp_path / "model"))
    assert other.options not in {each.options for each in made}
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "echo.py").write_text("class Echo:\n    pass\n")
    one, two = (terms(f"{tmp_path / name}/echo.py:Echo") for name in ("one", "two"))
    assert one == two
    assert one.method == "echo.py:Echo"
    (tmp_path / "two" / "echo.py").write_text("class Echo:\n    pass\n\nraise SystemExit\n")
    assert terms(f"{tmp_path / 'two'}/echo.py:Echo").options != one.options
    refuses(UsageError, r"nowhere\.tsv cannot be read", terms, "glossary", glossary=tmp_path / "nowhere.tsv")
    refuses(UsageError, "'nothing' is not known", terms, "nothing")
    refuses(UsageError, "batch_size", terms, "copy-source", batch_size=0)


STRANGER = Identity.make(Role.ORGANISATION)


pytestmark = pytest.mark.usefixtures("home")


def scored(folder: Path, *more: object) -> dict[str, Any]:
    """Score the outputs; gives the card."""
    corpus, outputs = corpus_files(folder)
    languages = ("--source-language", "en", "--target-language", "eo")
    call(score, corpus, outputs, *languages, "--metrics", "chrf,exact,equivalent", *more)
    with opened() as connection:
        return load_card(connection, find_run(connection, "last").id).as_json()


def resealed(card: dict[str, Any]) -> bytes:
    return json.dumps({**card, HASH_FIELD: card_hash(card)}).encode()


def test_numbers_and_tiers_follow_the_signed_weights(tmp_path: Path, home: Path) -> None:
    """chrF++ and exact match of the outputs, weighed by hand: the weight of 0 takes exact match out."""
    before = scored(tmp_path)["scores"]
    weights = _weights({"chrf_plus_plus": 0.3, "exact_match_rate": 0.2})
    signed = signed_file(tmp_path, organisation(home), weights=weights)
    card = scored(tmp_path, "--scoring", signed)
    values = np.array([before["chrf_plus_plus"] / 100, before["exact_match_rate"]])
    assert before["composite"] == pytest.approx(values @ [0.25, 0.10] / 0.35)
    assert card["scores"]["composite"] == pytest.approx(values @ [0.3, 0.2] / 0.5)
    inputs = card["scores"]["composite_inputs"]
    shares = {each["metric"]: each["effective_weight"] for each in inputs}
    assert shares == pytest.approx({"chrf_plus_plus": 0.6, "exact_match_rate": 0.4})
    rows = [np.array([row["entry_chrf"] / 100, row["exact_match"]]) for row in card["results"]]
    expected = [row @ [0.6, 0.4] for row in rows]
    assert [row["composite"] for row in card["results"]] == pytest.approx(expected)
    floors = {each["name"]: each for each in card["floors"]}
    for name, exact in (("empty", 0), ("source", 0), ("constant", 1 / 3)):
        weighed = floors[name]["chrf_plus_plus"] / 100 * 0.6 + exact * 0.4
        assert floors[name]["composite"] == pytest.approx(weighed), name
    only = signed_file(tmp_path, organisation(home), weights=_weights({"exact_match_rate": 0.4}))
    scores = scored(tmp_path, "--scoring", only)["scores"]
    draws = np.random.default_rng(12345).integers(0, 3, (1000, 3))
    means = np.array([row["exact_match"] for row in card["results"]], float)[draws].mean(axis=1)
    interval = scores["confidence_intervals"]["composite"]
    ends = [interval["ci_lower"], interval["ci_upper"]]
    assert ends == pytest.approx(np.percentile(means, [2.5, 97.5]))
    assert scores["composite"] == pytest.approx(1 / 3)
    composite = before["composite"]
    assert 0.5 < composite < 0.7
    lines = {Tier(name): least for least, name in specified().tiers}
    for line, tier in ((composite - 0.01, "deployable"), (composite + 0.01, "functional")):
        own, tiers = organisation(home), {**lines, Tier.DEPLOYABLE: line}
        signed = signed_file(tmp_path, own, weights=dict(specified().profiles), tiers=tiers)
        card = scored(tmp_path, "--scoring", signed)
        assert card["scores"]["composite"] == pytest.approx(composite)
        assert card["scores"]["quality_tier"] == card["scores"]["claim"]["quality_tier"] == tier
        sha = card["scoring"]["calibration"]["sha256"]
        assert f"by calibration {sha[:8]}" in card["scores"]["tier_in_words"]
        assert stated_weighing(card["scoring"]).tier(composite) == tier


def _weights(profile_b: dict[str, float]) -> dict[str, dict[str, float]]:
    """Return weights in which some metrics of profile B have these, and what is left to one that never has a value here."""
    profiles = {name: dict(given) for name, given in specified().profiles.items()}
    profiles["B"] = dict.fromkeys(profiles["B"], 0.0) | profile_b
    profiles["B"]["semantic_score"] = 1 - sum(profile_b.values())
    return profiles


def test_list_and_comparison_keep_weights_apart(tmp_path: Path, home: Path) -> None:
    scored(tmp_path)
    card = scored(tmp_path, "--scoring", signed_file(tmp_path, organisation(home)))
    with opened() as connection:
        boards = leaderboards(connection)
        assert [len(board.entrants) for board in boards] == [1, 1]
        told = {board.grounds.calibration for board in boards}
        assert told == {"", card["scoring"]["calibration"]["sha256"]}
        assert "a composite by the weights" in apart(*boards)
        ids = [board.entrants[0].run.run_id for board in boards]
        pair = compare_runs(connection, ids).pairs[0]
        assert "chrf_plus_plus" in pair.by_metric
        assert "composite" not in pair.by_metric
        assert "weighed otherwise" in pair.left_out["composite"]
        scored(tmp_path, "--scoring", tmp_path / "signed.json")
        again = [board for board in leaderboards(connection) if board.grounds.calibration]
        assert len(again[0].entrants) == 2
        same = compare_runs(connection, [each.run.run_id for each in again[0].entrants]).pairs[0]
        found = same.by_metric["composite"]
        assert found.difference == 0
    metrics, entry = surface_metrics(), Entry(id="1", source="a", reference="b c")
    taken = Scorer(metrics).statistics([Translation(entry, "b d")])
    other = Weighing(specified().profiles, specified().tiers, "0" * 64)
    one, two = (Table.of(metrics, taken, weighing) for weighing in (None, other))
    assert shared_profile(one, one) == shared_profile(two, two) == "B"
    assert shared_profile(one, two) is None


def test_plan_keeps_the_content_and_a_rescore_the_weights(tmp_path: Path, home: Path) -> None:
    signed = signed_file(tmp_path, organisation(home))
    card = scored(tmp_path, "--scoring", signed)
    facts = card["scoring"]["calibration"]
    assert (home / FOLDER / f"{facts['sha256']}.json").read_bytes() == signed.read_bytes()
    signed.unlink()
    with opened() as connection:
        run = find_run(connection, "last")
        kept = plan_of(run).scoring.scoring
        assert kept is not None
        assert kept.model_dump(mode="json") == facts
        ter = ScoringOptions(metrics=("ter",))
        again = find_run(connection, rescore(connection, run, ter, lambda _: None))
        assert (again.opening.scoring or {})["calibration"] == facts
        same = ScoringOptions(metrics=("ter",), scoring=kept)
        with pytest.raises(HarnessError):
            rescore(connection, again, same, lambda _: None)
        none = ScoringOptions(metrics=("ter",), scoring=None)
        back = rescore(connection, again, none, lambda _: None)
        new: Any = read_card(connection, find_run(connection, back).id)
    assert "calibration" not in new["scoring"]
    chrf, exact = new["scores"]["chrf_plus_plus"] / 100, new["scores"]["exact_match_rate"]
    assert new["scores"]["composite"] == pytest.approx((0.25 * chrf + 0.1 * exact) / 0.35)


def test_verification_uses_the_weights_of_the_card(tmp_path: Path, home: Path) -> None:
    card = scored(tmp_path, "--scoring", signed_file(tmp_path, organisation(home)))
    verdict = verify_card(resealed(card))
    checks = {check.name: check for check in verdict.checks}
    assert verdict.ok
    assert checks["calibration"].ok is True
    assert "trusted here" in checks["calibration"].words
    for change in ("weights", "tiers", "signer", "signature"):
        lie = json.loads(json.dumps(card))
        stated = lie["scoring"]["calibration"]
        if change == "weights":
            stated["weights"]["B"]["chrf_plus_plus"] += 0.01
        elif change == "tiers":
            stated["tiers"]["deployable"] = 0.55
        elif change == "signer":
            stated["signer"] = stated["signed"]["by"] = STRANGER.public.signing_key
        else:
            stated["signed"]["signature"] = "0" * 128
        found = {check.name: check for check in verify_card(resealed(lie)).checks}
        assert found["calibration"].ok is False, change
    lie = json.loads(json.dumps(card))
    lie["scores"]["composite"] += 0.01
    assert not verify_card(resealed(lie)).ok
    lie = json.loads(json.dumps(card))
    del lie["scoring"]["calibration"]
    assert not verify_card(resealed(lie)).ok
    forms: list[dict[str, Any]] = [
        {"weights": {}}, {"weights": {"A": {}, "B": {"x": 1}}}, {"tiers": {"best": 0.1}}, {"tiers": 3},
    ]  # fmt: skip
    for wrong in forms:
        stated = {**card["scoring"], "calibration": {**card["scoring"]["calibration"], **wrong}}
        assert stated_weighing(stated) is None
        refuses(UsageError, "`scoring`", stated_setup, stated)


def test_card_of_a_stranger_imports_and_says_so(tmp_path: Path, home: Path) -> None:
    card = scored(tmp_path, "--scoring", signed_file(tmp_path, organisation(home)))
    facts = card["scoring"]["calibration"]
    signed = json.loads(sign_scoring(record(STRANGER), STRANGER))
    facts |= {"signed": signed, "signer": STRANGER.public.signing_key}
    facts["sha256"] = _sha(signed)
    other = {**card, "run_id": "11111111-1111-4111-8111-111111111111"}
    other["scores"]["tier_in_words"] = ""
    found = {check.name: check for check in verify_card(resealed(other)).checks}
    assert found["calibration"].ok is None
    assert "not trusted here" in found["calibration"].words
    with opened() as connection:
        import_card(connection, resealed(other), "card.json")
        run = find_run(connection, other["run_id"])
        wanted = ScoringOptions(metrics=("ter",))
        again = find_run(connection, rescore(connection, run, wanted, lambda _: None))
        assert (again.opening.scoring or {})["calibration"] == facts
        assert stated_setup(run.opening.scoring).weighing.calibration == facts["sha256"]


def _sha(signed: dict[str, Any]) -> str:
    return canonical_sha256({name: each for name, each in signed.items() if name != "signature"})


def test_refusals_name_the_fix(tmp_path: Path, home: Path) -> None:
    own = organisation(home)
    bad, mine = tmp_path / "bad.json", signed_file(tmp_path, own).read_bytes()
    unsigned = written(tmp_path, proposal()).read_bytes()
    strange = signed_file(tmp_path, STRANGER).read_bytes()
    other = signed_file(tmp_path, own, specification="1" * 64).read_bytes()
    for data, words in (
        (b"hello", "no signed scoring.*--sign"),
        (unsigned, "proposal that nobody signed.*--sign"),
        (mine.replace(b'"items":200', b'"items":201'), "changed after it was signed"),
        (b" " + mine.replace(b",", b", ", 1), "changed after it was signed"),
        (strange, f"not trusted here.*trusted_signers.*{STRANGER.public.signing_key}"),
        (other, "another version of the specification.*Calibrate again"),
    ):
        bad.write_bytes(data)
        refuses(UsageError, f"(?s)--scoring: bad.json.*{words}", read_scoring, bad, home)
    assert not (home / FOLDER).exists()
    foreign = signed_file(tmp_path, own, language_pair="EN→IU")
    refuses(UsageError, r"for EN→IU.*corpus is EN→EO.*Leave --scoring out", scored, tmp_path, "--scoring", foreign)
    trusted = f'trusted_signers = ["{STRANGER.public.signing_key}"]\n'
    (home / "settings.toml").write_text(trusted, "utf-8")
    assert read_scoring(signed_file(tmp_path, STRANGER), home).signer == STRANGER.public.signing_key
    (home / "settings.toml").write_text('trusted_signers = ["abc"]\n', "utf-8")
    with pytest.raises(UsageError, match="line 1: field 'trusted_signers' wants public keys"):
        read_scoring(tmp_path / "signed.json", home)


def test_organisation_signs_a_proposal(tmp_path: Path, home: Path) -> None:
    """Metrics that were weighed anew share what they had together; the line is that of the proposed weights."""
    own = organisation(home)
    call(calibrate, "--sign", written(tmp_path, proposal()), "-o", tmp_path / "out.json")
    facts = read_scoring(tmp_path / "out.json", home)
    names = ("baseline", "emerging", "functional", "deployable", "fluent")
    assert facts.tiers == dict(zip(names, (0.0, 0.3, 0.5, LINE, 0.85), strict=True))
    assert facts.weights["A"] == specified().profiles["A"]
    expected = {id_: 0.5 * weight for id_, weight in WEIGHTS.items()}
    assert set(expected.values()) == {0.4, 0.1, 0.0}
    assert facts.weights["B"] == pytest.approx({**specified().profiles["B"], **expected})
    assert "exact_match_rate" not in facts.weighing.profiles["B"]
    assert facts.signed["proposal"] == proposal()["proposal_sha256"]
    line = written(tmp_path, proposal(weights={"proposed": False, "profile": "B"}))
    only = json.loads(signed_scoring(line, own))
    assert only["tiers"]["deployable"] == 0.66
    assert only["weights"]["B"] == dict(specified().profiles["B"])
    lines = {Tier(name): least for least, name in specified().tiers}
    profiles = dict(specified().profiles)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"tiers": {**lines, Tier.DEPLOYABLE: 0.9}}, "do not rise"),
        ({"tiers": {Tier.BASELINE: 0.0}}, "lines of all tiers"),
        ({"weights": {"B": dict(profiles["B"])}}, "profiles A, B"),
        ({"weights": profiles | {"B": {**profiles["B"], "chrf_plus_plus": 0.5}}}, "sum 1"),
    ]
    for changed, words in wrong:
        with pytest.raises(ValueError, match=words):
            record(STRANGER, **changed)


def test_wrong_proposals_are_not_signed(tmp_path: Path) -> None:
    pairs = [{"language_pair": "a"}, {"language_pair": "b"}]
    low = {"proposed": True, "composite": {"value": 0.45}}
    strange = {"proposed": True, "profile": "B", "proposal": {"bleu": 1.0}}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"format": "rosetta-calibration-proposal/1"}, "no proposal of this version"),
        ({"specification_sha256": "0" * 64}, "another version of the specification"),
        ({"evidence": {"items": 9, "runs": pairs}}, r"several pairs.*\(a, b\)"),
        ({"threshold_of_weights": low}, "0.450.*change their order.*--level"),
        ({"weights": strange}, "does not have"),
    ]
    for changed, words in wrong:
        with pytest.raises(UsageError, match=f"(?s)proposal.toml.*{words}"):
            signed_scoring(written(tmp_path, proposal(**changed)), STRANGER)
    path = written(tmp_path, proposal())
    path.write_text(path.read_text("utf-8").replace("0.6\n", "0.61\n"), "utf-8")
    refuses(UsageError, "changed after it was made", signed_scoring, path, STRANGER)
    path = written(tmp_path, proposal())
    refuses(HarnessError, "no keys of the organisation", call, calibrate, "--sign", path, "-o", tmp_path / "out.json")
    refuses(UsageError, "-o FILE", call, calibrate, "--sign", path)
    assert not (tmp_path / "out.json").exists()


SIZE = times(40, 300)
QUICK = ["demo", "hin", "jpn"]
"""Scripts with marks and without spaces; the others in the thorough suite."""
ORDERED = [*QUICK, *(name for name in CORPORA if name not in QUICK)]


def tools(name: str) -> ScoringTools:
    return given_corpora.tools(name, size=SIZE)


def entries_of(found: ScoringTools) -> Sequence[Entry]:
    return found.resources.entries


def _paired(entries: Sequence[Entry], outputs: Sequence[str]) -> list[Translation]:
    return [Translation(entry, text) for entry, text in zip(entries, outputs, strict=True)]


@pytest.mark.parametrize("language", first(1, ORDERED))
def test_each_value_has_an_interval_or_a_reason(language: str) -> None:
    found = tools(language)
    seeded = random.Random(3)
    entries = entries_of(found)
    words = [entry.reference.split() for entry in entries]
    texts = [" ".join(each for each in some if seeded.random() < 0.8) for some in words]
    statistics = found.scorer.statistics(found.annotated(_paired(entries, texts)))
    known = FloorWork(entries, found.scorer.metrics, annotate=found.annotated).finish()
    failed = [not text for text in texts]
    scores = scorecard(entries, statistics, failed, found.scorer, texts, known_floors=known)
    for id_, row in specification().metrics.items():
        value = getattr(scores, id_)
        interval = scores.confidence_intervals.get(id_)
        if value is None:
            assert scores.reasons[id_]
            assert interval is None
        elif row.interval and id_ in {metric.info.id for metric in found.scorer.metrics}:
            assert interval is not None, id_
            assert interval.ci_lower <= value <= interval.ci_upper, id_
    mixed = scores.confidence_intervals["composite"]
    assert scores.composite is not None
    assert mixed.ci_lower <= scores.composite <= mixed.ci_upper


@pytest.mark.parametrize("language", first(2, ORDERED))
def test_dropping_words_never_raises_the_composite(language: str) -> None:
    found = tools(language)
    entries = entries_of(found)[: times(20, 60)]
    before = None
    for kept in (1.0, 0.8, 0.6, 0.4, 0.2, 0.0):
        texts = [" ".join(words[: round(kept * len(words))]) for words in _split(entries)]
        now = _composite(found, entries, texts)
        assert before is None or now <= before + 1e-9, kept
        before = now


def _split(entries: Sequence[Entry]) -> list[list[str]]:
    return [entry.reference.split() or [entry.reference] for entry in entries]


def _composite(found: ScoringTools, entries: Sequence[Entry], texts: Sequence[str]) -> float:
    statistics = found.scorer.statistics(found.annotated(_paired(entries, texts)))
    return composite(found.scorer.table(statistics).corpus_values()).value or 0.0


@examples(15, 60)
@given(st.sampled_from(ORDERED[: times(3, 99)]), st.integers(0, 39), st.integers(0, 200))
def test_next_correct_word_never_lowers_the_entry(language: str, place: int, kept: int) -> None:
    found = tools(language)
    entry = entries_of(found)[place]
    words = _split([entry])[0]
    cut = kept % len(words)
    shorter, longer = " ".join(words[:cut]), " ".join(words[: cut + 1])
    less, more = (_composite(found, [entry], [text]) for text in (shorter, longer))
    assert more >= less - 1e-9, (cut, len(words))


@examples(20, 150)
@given(st.sampled_from(ORDERED[: times(3, 99)]), st.lists(st.tuples(sentences, sentences, sentences), max_size=4))
def test_values_stay_in_their_range(language: str, texts: list[tuple[str, str, str]]) -> None:
    found = tools(language)
    translations = [
        Translation(Entry(id=n, source=source, reference=reference), output)
        for n, (source, reference, output) in enumerate(texts)
    ]
    annotated = found.annotated(translations)
    statistics = found.scorer.statistics(annotated)
    table = found.scorer.table(statistics)
    for values in found.scorer.entries_values(statistics):
        for id_, value in values.values.items():
            _in_range(id_, value)
    for id_, value in {**table.corpus_values(), **found.corpus_values(annotated)}.items():
        _in_range(id_, value)
    for metric in found.scorer.metrics:
        for each in annotated:
            assert all(isinstance(sentence, str) for sentence in metric.explain(each))


def _in_range(id_: str, value: float | None) -> None:
    info = specification().metrics[id_].info
    assert value is None or info.low <= value <= info.high, id_
