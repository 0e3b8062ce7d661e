"""Runs with everything that they can be scored with: an analyser, a server of embeddings, several references."""

import json
import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, Segment
from corpora.text.comparison import EARLIER_FORM, FORM
from harness.card.checking.verify_card import verify_card
from harness.card.importing import import_card
from harness.card.model import card_hash
from harness.card.reading import claim_of, of_earlier_version, stated_floors
from harness.card.rows import load_card
from harness.compare.comparing import compare_runs
from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError, UsageError
from harness.leaderboard.ranking import leaderboards
from harness.method.options import MethodOptions
from harness.run.following import Follower
from harness.run.rescoring import Explainer, rescore
from harness.setup.plan import Plan, RunOptions
from harness.setup.preparing import prepare
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import changes, require_same, stated_setup
from harness.store.corpora.entries import shown_entries
from harness.store.results import read_results, read_row_words
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.compare.lines import comparison_json, comparison_lines
from rosetta_tui.leaderboard.rows import entrant_cells, entrant_record
from rosetta_tui.live.scores import tier_line
from rosetta_tui.report.card import card_text
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.recorded import recorded, seal
from rosetta_tui.show.card_fields import claim_json, signed_tier, tier_words
from rosetta_tui.show.text import json_text
from scoring.card.caveats import CaveatKind
from scoring.card.claim import ClaimReason
from scoring.core.specification import Tier
from tests.harness.annotators.judged import embedded
from tests.harness.evaluation import (  # fmt: skip
    FEW,
    LANGUAGES,
    Heard,
    begun,
    corpus,
    corpus_of,
    kept,
    query,
    rescored,
    resume,
    run_corpus,
    sealed_card,
    whole_card,
)
from tests.harness.ranked import play, ranked_corpus
from tests.harness.run.made import ScoredDemo, constant, demo, scored
from tests.harness.scripted import Scripted, error
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first


def test_demo_has_profile_a_and_a_value_or_reason(demo_run: ScoredDemo) -> None:
    card = demo_run.card
    scores, facts = card["scores"], card["scoring"]["analyser"]
    assert scores["composite_profile"] == "A"
    assert set(scores["reasons"]) == {"semantic_score", "comet_score", "repair_effectiveness"}
    share = facts["reference_accepted"] / facts["reference_words"]
    assert scores["fst_acceptance_rate"] < 0.9 < share
    accepted = [row["statistics"]["fst_acceptance_rate"] for row in card["results"]]
    assert scores["fst_accepted"] == sum(taken[0] for taken in accepted)
    assert scores["fst_accepted_entries"] == sum(row["fst_accepted"] for row in card["results"])
    assert card["method"]["fst_version"] is None
    engine = f"{facts['engine']} {facts['engine_version']}"
    assert card["fst_version"] == f"{facts['name']} sha256:{facts['sha256']} {engine}"
    assert scores["consistency_score"] is not None
    assert "consistency_score" not in scores["confidence_intervals"]
    assert verify_card(demo_run.text.encode()).ok, "where neither analyser nor dictionary is"
    missing = demo_run.missing
    assert missing["consistency_score"] == "worked out when all outputs are in"
    assert set(missing) == {*scores["reasons"], "consistency_score"}


def test_rows_tell_what_the_analyser_made_of_outputs(demo_run: ScoredDemo) -> None:
    rows = [row for row in demo_run.card["results"] if not row["withheld"]]
    assert rows
    for row in rows:
        accepted, words, _ = row["statistics"]["fst_acceptance_rate"]
        rejected = [each for each in row["fst_analysis"] if each.endswith("+?")]
        if row["predicted"]:
            assert len(rejected) == words - accepted
            assert len(row["fst_analysis"]) >= words
    assert any("+V" in each or "+N" in each for row in rows for each in row["fst_analysis"])
    card = demo_run.card
    card["results"][0]["statistics"]["fst_acceptance_rate"][0] += 1
    verdict = verify_card(json.dumps(card).encode())
    assert not verdict.ok
    first = str(verdict.first_difference)
    assert "fst_accept" in first or "composite" in first


def test_explanations_name_the_words(demo_run: ScoredDemo, store_path: Path) -> None:
    with closing(open_store(demo_run.path)) as connection:
        run = find_run(connection, "last")
        entries = shown_entries(connection, run.corpus, run.positions)
        explainer = Explainer(connection, run)
        rows = read_results(connection, run.id)
        said = [explainer.explain(entries[row.position], row) for row in rows]
        explainer.close()
    assert explainer.why_not is None
    switched = [" ".join(each.sentences.get("code_switching_rate", ())) for each in said]
    assert any("English" in words for words in switched)
    assert any(each.words and any(not word.accepted for word in each.words.output) for each in said)
    with closing(open_store(store_path)) as connection:
        import_card(connection, demo_run.text.encode(), "card.json")
        run = find_run(connection, "last")
        assert load_card(connection, run.id).as_json() == demo_run.card
        why_not = Explainer(connection, run).why_not
    assert why_not == "the run was imported; only its numbers are here"


def test_language_with_variant_rules_has_lint_verdicts(store_path: Path) -> None:
    pairs = [("I see him.", "niwâpamâw"), ("He sees me.", "niwâpamik")]
    given = corpus_of([Entry(id=n, source=s, reference=r) for n, (s, r) in enumerate(pairs)])
    dataset = given.dataset.model_copy(update={"target_language": "crk", "language_pair": "EN→CRK"})
    options = MethodOptions(source_language="en", target_language="crk", text="niwâpamâw")
    plan = Plan(method="constant", options=options)
    run_corpus(store_path, replace(given, dataset=dataset), plan)
    card = whole_card(store_path)
    assert [row["lint_verdict"] for row in card["results"]] == ["EXACT", "MISS"]
    assert verify_card(json.dumps(card).encode()).ok
    for place, wrong in ((0, "MISS"), (1, "EXACT"), (1, "PERFECT")):
        forged = json.loads(json.dumps(card))
        forged["results"][place]["lint_verdict"] = wrong
        forged["run_card_hash"] = card_hash(forged)
        assert not verify_card(json.dumps(forged).encode()).ok


def test_secret_words_stay_out_of_memo_and_rows(store_path: Path) -> None:
    public = corpus(2, reference="publika vorto", source="a public word").reveal_here()
    secret = corpus(1, segment="held_out", reference="sekretega ritaro", source="hidden").reveal_here()
    mixed = corpus_of([*public, secret[0].model_copy(update={"id": 99})])
    for given in (corpus_of(secret), mixed):
        run_corpus(store_path, given, constant(("rosetta",)))
        keys = {row[0] for row in query(store_path, "SELECT key FROM findings")}
        assert not {"sekretega", "ritaro", "hidden"} & keys
    secrets = play(store_path, ranked_corpus(6, Segment.GOLD_STANDARD), 3, "secret", metrics=("exact_match_rate",))
    with closing(open_store(store_path)) as store:
        wanted = ScoringOptions(metrics=("fst_acceptance_rate",))
        again = rescore(store, find_run(store, secrets), wanted, lambda _: None)
        assert [read_row_words(store, find_run(store, run).id) for run in (secrets, again)] == [{}, {}]


def test_changed_terms_stop_resuming_and_explaining(store_path: Path, tmp_path: Path) -> None:
    terms = tmp_path / "terms.tsv"
    plan = constant(("terminology_adherence",), terms=terms)
    terms.write_text("entry\tENTRY\n", "utf-8")
    run_corpus(store_path, corpus(4), plan)
    begun(store_path, corpus(4), plan)
    terms.write_text("entry\talia\n", "utf-8")
    with closing(open_store(store_path)) as connection:
        done = connection.execute("SELECT run_id FROM runs ORDER BY id").fetchone()[0]
        why_not = Explainer(connection, find_run(connection, done)).why_not
    assert why_not == "the run was scored with something else: terms_sha256 changed since"
    refuses(HarnessError, "terms_sha256 changed", resume, store_path)


def embeddings(endpoint: Scripted) -> dict[str, Any]:
    return {"embeddings": endpoint.url, "embeddings_model": "m"}


def test_embeddings_are_asked_once_after_a_run_too(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = embedded
    run_corpus(store_path, corpus(5), constant(("rosetta",), **embeddings(endpoint)))
    scores = sealed_card(store_path)["scores"]
    assert 0 < scores["semantic_score"] <= 1
    assert scores["confidence_intervals"]["semantic_score"]["ci_lower"] > 0
    assert {part["metric"] for part in scores["composite_inputs"]} >= {"semantic_score"}
    asked = len(endpoint.asked)
    with pytest.raises(HarnessError, match="Nothing new"):
        rescored(store_path, metrics=("semantic_score",), **embeddings(endpoint))
    assert len(endpoint.asked) == asked
    run_corpus(store_path, corpus(5), constant())
    card = rescored(store_path, metrics=("semantic_score",), **embeddings(endpoint))
    assert card["scores"]["semantic_score"] > 0
    assert card["scores"]["chrf_plus_plus"] is not None
    assert verify_card(json.dumps(card).encode()).ok


@pytest.mark.parametrize("answered", first(1, [0, 1]), ids=["all", "the floors only"])
def test_refusing_model_is_a_reason(endpoint: Scripted, store_path: Path, answered: int) -> None:
    left = [1] * answered
    endpoint.answer = lambda asked: embedded(asked) if left and left.pop() else error(401)
    plan = constant((*constant().scoring.metrics, "semantic_score"), **embeddings(endpoint))
    assert run_corpus(store_path, corpus(4), plan).finished.card_hash
    scores = sealed_card(store_path)["scores"]
    assert scores["semantic_score"] is None
    assert "401" in scores["reasons"]["semantic_score"]
    assert scores["composite"] is not None
    query(store_path, "UPDATE runs SET run_card = NULL, state = 'stopped'")
    endpoint.answer = embedded  # it failed before the seal: the run can go on
    assert resume(store_path).finished.card_hash
    assert sealed_card(store_path)["scores"]["semantic_score"] > 0


def test_models_elsewhere_and_damaged_analysers_are_refused(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = constant(("rosetta",), embeddings="https://models.example", embeddings_model="m")
    refuses(UsageError, "secret segment", run_corpus, store_path, corpus(2, segment="held_out"), plan)
    offline = plan.model_copy(update={"run": RunOptions(offline=True)})
    refuses(UsageError, "--offline", run_corpus, store_path, corpus(2), offline)
    # only one that somebody named is refused
    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    folder = store_path.parent / "languages" / "eo"
    folder.mkdir(parents=True)
    (folder / "eo.hfstol").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    run_corpus(store_path, corpus(3), constant(("rosetta",)))
    scores = sealed_card(store_path)["scores"]
    assert scores["composite_profile"] == "B"
    assert "Git LFS pointer" in scores["reasons"]["fst_acceptance_rate"]
    assert "model_invalid" in scores["reasons"]["fst_acceptance_rate"]
    bad = tmp_path / "bad.hfstol"
    bad.write_bytes(b"")
    with pytest.raises(HarnessError, match=r"bad\.hfstol is empty"):
        run_corpus(store_path, corpus(3), constant(("rosetta",), analyser=bad))


def test_run_begun_with_another_engine_goes_on(store_path: Path) -> None:
    made, plan = demo(metrics=("chrf_plus_plus", "fst_acceptance_rate"))
    begun(store_path, made, plan, positions=range(4))
    with closing(open_store(store_path)) as connection:
        stated = "json_extract(opening, '$.scoring.analyser.engine')"
        changed = "json_set(opening, '$.scoring.analyser.engine', 'hfst')"
        connection.execute(f"UPDATE runs SET opening = {changed}")
        assert connection.execute(f"SELECT {stated} FROM runs").fetchone() == ("hfst",)
    assert resume(store_path).finished.card_hash
    run_corpus(store_path, made, plan, positions=range(4))
    assert sealed_card(store_path)["scoring"]["analyser"]["engine"] == "builtin"


@pytest.mark.parametrize(("form", "exact"), [("", 0.0), (FORM, 1.0), (EARLIER_FORM, 0.75), ("alike0", None)])
def test_resumed_run_reads_texts_as_it_began(
    store_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, exact: float | None
) -> None:
    *three, last = corpus(4, reference="ENTRY\u200b NUMBER 3").reveal_here()
    changed = last.model_copy(update={"reference": f"{last.reference}\ufe0f"})
    with monkeypatch.context() as earlier:
        earlier.setattr(prepare, "__kwdefaults__", {**(prepare.__kwdefaults__ or {}), "text_form": form})
        begun(store_path, corpus_of([*three, changed]), constant(SURFACE))
    if exact is None:  # a form that this version does not know
        refuses(HarnessError, "text_form changed", resume, store_path)
        return
    resume(store_path)
    card = whole_card(store_path)
    assert card["scores"]["exact_match_rate"] == exact
    assert card["scoring"].get("text_form", "") == form
    assert (
        card["scores"]["signatures"]["chrf_plus_plus"]
        .partition("norm:")[2]
        .startswith(f"NFC+{form}|" if form else "NFC|")
    )
    assert verify_card(json.dumps(card).encode()).ok


SURFACE = ("exact_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio")
BY_REFERENCES = ("chrf_plus_plus", "bleu", "ter")
SIZE = 24
"""Entries of the demo, an output that failed among them."""


def of_constant(path: Path, given: Corpus, **scoring: Any) -> dict[str, Any]:
    run_corpus(path, given, constant(SURFACE, **scoring))
    return whole_card(path)


def of_demo(path: Path, **scoring: Any) -> dict[str, Any]:
    return scored(path, SIZE, metrics=SURFACE, terms=None, **scoring)


Pair = tuple[str, str]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Cards of the same outputs, scored with one reference and with several."""
    path = tmp_path_factory.mktemp("pair") / "rosetta.sqlite"
    one, several = of_demo(path), of_demo(path, multi_ref=True)
    assert of_demo(path)["floors"] == one["floors"], "not those of the run before it"
    return json.dumps(one), json.dumps(several)


@pytest.fixture
def cards(pair: Pair) -> tuple[dict[str, Any], dict[str, Any]]:
    return json.loads(pair[0]), json.loads(pair[1])


Cards = tuple[dict[str, Any], dict[str, Any]]


def test_scores_of_the_demo_are_sacrebleus(cards: Cards) -> None:
    card = cards[1]
    outputs = [row["predicted"] or "" for row in card["results"]]
    texts = [[row["reference"], *row["variants"]] for row in card["results"]]
    streams = [[each[place] if place < len(each) else None for each in texts] for place in range(max(map(len, texts)))]
    assert len(streams) > 1
    oracles = {"chrf_plus_plus": CHRF(word_order=2), "bleu": BLEU(), "ter": TER()}
    for id_, oracle in oracles.items():
        expected = oracle.corpus_score(outputs, streams).score  # type: ignore[arg-type]
        assert card["scores"][id_] == pytest.approx(expected, abs=1e-9)
        signature = card["scores"]["signatures"][id_]
        assert signature.startswith(f"{oracle.get_signature()}|")
        assert "nrefs:var|" in signature
    chrf = CHRF(word_order=2)
    singles = [chrf.sentence_score(*each).score for each in zip(outputs, texts, strict=True)]
    assert [row["entry_chrf"] for row in card["results"]] == pytest.approx(singles, abs=1e-9)
    one, several = cards
    better = {id_: several["scores"][id_] - one["scores"][id_] for id_ in SURFACE}
    assert better["chrf_plus_plus"] > 1
    assert better["bleu"] > 0 > better["ter"]
    assert better["length_ratio"] == better["exact_match_rate"] == 0
    assert several["scores"]["composite"] > one["scores"]["composite"]
    for floor, other in zip(one["floors"], several["floors"], strict=True):
        assert (other["chrf_plus_plus"] > floor["chrf_plus_plus"]) is (floor["name"] != "empty")
    setups = [stated_setup(card["scoring"]) for card in cards]
    assert changes(*setups) == ["multi_ref"]  # type: ignore[arg-type]
    with pytest.raises(HarnessError, match="multi_ref changed"):
        require_same(*setups)  # type: ignore[arg-type]
    for id_ in BY_REFERENCES:
        assert one["scores"]["signatures"][id_] != several["scores"]["signatures"][id_]


def test_card_verifies_also_on_another_machine(store_path: Path, tmp_path: Path) -> None:
    run_corpus(store_path, *demo(multi_ref=True), positions=range(6))
    card = whole_card(store_path)
    data = json.dumps(card).encode()
    verdict = verify_card(data)
    assert verdict.ok, verdict.first_difference
    assert {check.name for check in verdict.checks if check.ok} >= {"seal", "entries", "scores"}
    other = tmp_path / "other" / "rosetta.sqlite"
    with closing(open_store(other)) as connection:
        import_card(connection, data, "card.json")
        assert verify_card(data, connection).ok
    assert whole_card(other) == card
    before = scored(store_path, 6, metrics=("chrf_plus_plus", "fst_acceptance_rate"))
    after = rescored(store_path, metrics=("bleu",))
    assert after["run_id"] != before["run_id"]
    found = [[row["fst_analysis"] for row in card["results"]] for card in (before, after)]
    assert found[0] == found[1]
    assert any(found[0])


@pytest.mark.parametrize("lie", [True, False])
def test_card_that_lies_about_its_references_is_found(cards: Cards, lie: bool) -> None:
    card = cards[not lie]
    card["scoring"]["multi_ref"] = lie
    verdict = verify_card(json.dumps(card).encode())
    assert not verdict.ok
    assert any("chrf" in difference.path for difference in verdict.differences)


def test_changed_variant_on_a_card_is_found(cards: Cards) -> None:
    row = next(row for row in cards[1]["results"] if row["variants"])
    row["variants"] = [row["predicted"]]
    verdict = verify_card(json.dumps(cards[1]).encode())
    assert any(difference.path.startswith("$.results") for difference in verdict.differences)


def test_variants_of_secret_entries_count_and_stay_here(store_path: Path) -> None:
    secret = corpus(4, segment="held_out", variants=("sekreta varianto", "ENTRY NUMBER 3"))
    card = of_constant(store_path, secret, multi_ref=True)
    assert card["scores"]["chrf_plus_plus"] == 100.0
    assert card["scores"]["exact_match_rate"] == 0.25
    written = json.dumps(card)
    assert "sekreta" not in written
    with closing(open_store(store_path)) as connection:
        assert verify_card(written.encode(), connection).ok
    assert verify_card(written.encode()).ok
    given = corpus(5, variants=("something else", "ENTRY NUMBER 3"))
    other = store_path.with_name("other.sqlite")  # there its sources are no secret
    of_constant(other, given, multi_ref=True)
    with closing(open_store(other)) as connection:
        run = find_run(connection, "last")
        entries = shown_entries(connection, run.corpus, run.positions)
        explainer = Explainer(connection, run)
        rows = read_results(connection, run.id)
        said = [explainer.explain(entries[row.position], row).sentences for row in rows]
        explainer.close()
    nearest = ("Measured by variant 2, the nearest of 3 accepted translations.",)
    assert said[0]["chrf_plus_plus"] == nearest
    assert "chrf_plus_plus" not in said[3]


NUMBER = 40


def sentences() -> list[Entry]:
    rng = random.Random(8)
    words = ["".join(rng.choices("aeioptkcmnsv", k=rng.randint(3, 8))) for _ in range(200)]
    return [
        Entry(id=n, source=f"source {' '.join(rng.sample('bdfghlruw', 5))}",
              reference=" ".join(rng.sample(words, 8)), segment="development")
        for n in range(NUMBER)
    ]  # fmt: skip


ENTRIES = sentences()
REFERENCES = [entry.reference for entry in ENTRIES]


def mostly_one() -> list[str]:
    """19 perfect outputs, 21 times one sentence, each with a number of its own."""
    return [*REFERENCES[:19], *(f"{REFERENCES[30]} ({n})" for n in range(21))]


def partly_one() -> list[str]:
    return [*REFERENCES[:28], *([REFERENCES[3]] * 12)]


def half_dropped() -> list[str]:
    rng = random.Random(1)
    return [" ".join(w for w in text.split() if rng.random() < 0.35) for text in REFERENCES]


def plan_for(folder: Path, outputs: Sequence[str]) -> Plan:
    table = folder / "outputs.jsonl"
    rows = (json.dumps({"id": n, "output": text}) for n, text in enumerate(outputs))
    table.write_text("\n".join(rows), "utf-8")
    scoring = ScoringOptions(metrics=(*FEW, "equivalent_match_rate"))
    options = MethodOptions(outputs=table, **LANGUAGES)
    return Plan(method="replay", options=options, scoring=scoring)


def replayed(folder: Path, outputs: Sequence[str]) -> Heard:
    return run_corpus(folder / "s.sqlite", corpus_of(ENTRIES), plan_for(folder, outputs))


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The card of a run of which a third is one text."""
    folder = tmp_path_factory.mktemp("partly")
    replayed(folder, partly_one())
    return json.dumps(whole_card(folder / "s.sqlite"))


@pytest.mark.parametrize(
    ("outputs", "tier", "said", "reasons", "kinds"),
    first(2, [
        (mostly_one(), Tier.BASELINE, "mostly one and the same output",
         {ClaimReason.IDENTICAL, ClaimReason.CAVEAT}, [CaveatKind.REPEATED]),
        (REFERENCES, Tier.FUNCTIONAL, "review pending", {ClaimReason.REVIEW}, []),
        (partly_one(), Tier.EMERGING, "32 % one text", {ClaimReason.CAVEAT}, [CaveatKind.REPEATED]),
        (half_dropped(), Tier.BASELINE, "% too short", {ClaimReason.CAVEAT}, [CaveatKind.SHORT]),
    ]),
    ids=["mostly one", "perfect", "partly one", "dropped"],
)  # fmt: skip
def test_every_place_claims_the_same(
    tmp_path: Path, outputs: list[str], tier: Tier, said: str, reasons: set[ClaimReason],
    kinds: list[CaveatKind],
) -> None:  # fmt: skip
    heard = replayed(tmp_path, outputs)
    stored = kept(tmp_path / "s.sqlite")
    assert stored.card is not None
    claim = claim_of(stored.card)
    assert claim.tier() is tier
    assert reasons <= {limit.reason for limit in claim.limits}
    assert [caveat.kind for caveat in claim.caveats] == kinds
    floors = {ClaimReason.CHRF_FLOOR, ClaimReason.COMPOSITE_FLOOR}
    assert not floors & {each.reason for each in claim.limits}
    words = claim.words()
    assert said in words
    assert (stored.card["scores"]["tier_in_words"], stored.card["claimable_tier"]) == (words, tier)
    told = json.loads(json.dumps(claim_json(stored.card)["caveats"]))
    assert stored.card["scores"]["claim"]["caveats"] == told
    assert tier_words(stored.card) == words
    assert ("! " in signed_tier(stored.card)) is bool(kinds)
    shown = card_text(stored.card)
    assert words in shown
    assert shown.count("\n  caveat ") == len(kinds)

    live = LiveRun()
    live.fold(heard.events)
    assert live.claim is not None
    assert (live.claim.caveats, live.claim.tier()) == (claim.caveats, tier)
    assert said in tier_line(live).plain
    followed = LiveRun()
    with closing(Follower(tmp_path / "s.sqlite", "last")) as follower:
        followed.fold(follower.drain())
    assert followed.claim is not None
    assert (followed.claim.caveats, followed.claim.tier()) == (claim.caveats, tier)
    again = LiveRun()
    with closing(open_store(tmp_path / "s.sqlite")) as store:
        again.fold(recorded(store, "last"))
        seal(again, stored.card)
    assert again.claim == claim
    verdict = verify_card(canonical_bytes(whole_card(tmp_path / "s.sqlite")))
    assert verdict.ok, verdict.differences


def test_foreign_card_claims_no_more_than_its_numbers(partly: str) -> None:
    card, lying = json.loads(partly), json.loads(partly)
    lying["scores"]["claim"]["limits"] = []
    lying["scores"]["claim"]["claimable_tier"] = lying["claimable_tier"] = "fluent"
    assert claim_of(lying).tier() is Tier.EMERGING
    lying["scores"]["confidence_intervals"]["chrf_plus_plus"]["ci_lower"] = 1.0
    assert claim_of(lying).tier() is Tier.BASELINE
    modest = {**card, "claimable_tier": "baseline"}
    assert claim_of(modest).tier(review_passed=True) is Tier.BASELINE, "nor than it says"
    odds: tuple[dict[str, Any], ...] = ({}, {"scores": 3}, {"scores": {"composite": "x", "claim": [1], "floors": [2]}},
                {"scores": {"composite": 0.9, "composite_inputs": [3, {"metric": 1}],
                            "claim": {"caveats": [{"kind": "no"}, 4, {"share": True}]}},
                 "floors": [{"name": None, "composite": "y"}], "claimable_tier": 5})  # fmt: skip
    assert all(claim_of(odd).words() for odd in odds)
    values: tuple[Any, ...] = ([], {}, [[]], [{"metric": [], "value": {}}], "x", -1, True)
    values += (10**400, float("inf"))
    for name in card["scores"]:
        for value in values:
            odd = {**card, "scores": {**card["scores"], name: value}}
            assert claim_of(odd).words(), (name, value)
    card["scores"]["claim"]["caveats"] = []
    card["run_card_hash"] = card_hash(card)
    found = verify_card(canonical_bytes(card)).first_difference
    assert found is not None
    assert found.path.startswith("$.scores.claim.caveats")


def with_earlier_floors(path: Path) -> None:
    """Make the only run of a store one that was begun by an earlier version."""
    [(opening,)] = query(path, "SELECT opening FROM runs")
    earlier = json.loads(opening)
    reached = {"empty": (0, 0), "source": (0.1, 9), "constant": (0.25, 14), "shuffled": (0.2, 15)}
    earlier["floors"] = [{"name": name, "composite": mixed, "chrf": chrf} for name, (mixed, chrf) in reached.items()]
    with closing(open_store(path)) as store, store:
        store.execute("UPDATE runs SET opening = ?", (json.dumps(earlier),))


def test_floors_of_an_earlier_version_stay_with_their_run(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    given, plan = corpus_of(ENTRIES), plan_for(tmp_path, REFERENCES)
    _, cleared = begun(path, given, plan)
    with_earlier_floors(path)
    resume(path, method=cleared.method)
    card = sealed_card(path)
    assert (card["floors_version"], of_earlier_version(card)) == (1, True)
    assert "floors of an earlier version" in card_text(card)
    verdict = verify_card(canonical_bytes(whole_card(path)))
    assert verdict.ok, verdict.differences
    replayed(tmp_path, REFERENCES)  # a new run takes none of them
    card = sealed_card(path)
    names = {"empty", "source", "constant", "shuffled", "words", "truncated"}
    assert (set(stated_floors(card)), of_earlier_version(card)) == (names, False)
    constant = stated_floors(card)["constant"]
    assert (constant.searched, constant.entries) == (NUMBER, NUMBER)
    assert "the best by composite of 40 different references\n" in card_text(card)
    card["floors"][2]["entries"] = 12
    assert "40 different references · on 12 entries\n" in card_text(card)
    whole = whole_card(path)
    assert whole["cost"]["total_cost_usd"] is None
    reason = "40 of 40 entries have no known cost: what these outputs cost is not known here."
    assert whole["cost"]["reason"] == reason, "of outputs made elsewhere no call is spoken of"
    whole["cost"]["reason"] = "40 of 40 entries have no known cost: no price is known."
    whole["run_card_hash"] = card_hash(whole)
    assert verify_card(canonical_bytes(whole)).ok, "the words of another version"


def test_leaderboard_and_comparison_name_caveats(tmp_path: Path) -> None:
    replayed(tmp_path, partly_one())
    (tmp_path / "b").mkdir()
    run_corpus(tmp_path / "s.sqlite", corpus_of(ENTRIES), plan_for(tmp_path / "b", half_dropped()))
    with closing(open_store(tmp_path / "s.sqlite")) as store:
        runs = list_runs(store)
        found = compare_runs(store, [run.run_id for run in runs], trials=20)
        [board] = leaderboards(store)
    lines = list(comparison_lines(found))
    for letter, each in (("A", runs[0]), ("B", runs[1])):
        assert each.card is not None
        assert f"{letter} may be called {tier_words(each.card)}, by all its outputs" in lines
    told = json.loads(json_text(comparison_json(found)))["runs"]
    assert [run["caveats"][0]["kind"] for run in told] == ["short", "repeated"]
    cells = [[cell.text for cell in entrant_cells(board, each)] for each in board.entrants]
    tiers = {cell for row in cells for cell in row if "◆" in cell}
    assert tiers == {"◆◇◇◇◇! baseline", "◆◆◇◇◇! emerging"}
    records = [entrant_record(board, each) for each in board.entrants]
    assert all(record["caveats"] for record in records)
