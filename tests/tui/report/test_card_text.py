"""A card in words: what it says of a run, and what it never says alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.core.run_state import RunState
from harness.store.run_list import RunSummary
from rosetta_tui.report.card import card_in_short, card_text
from rosetta_tui.runs.table import run_cells
from rosetta_tui.show.card_fields import interval, with_interval
from rosetta_tui.show.run_facts import run_line
from rosetta_tui.show.text import plain
from tests.tui.scenes import HOSTILE

CARD: dict[str, Any] = {
    "run_id": "0f3b8c1e-6c1d-4a70-9a52-0123456789ab",
    "rescore_of": {"run_id": "11111111-6c1d-4a70-9a52-0123456789ab", "run_card_hash": "ab"},
    "scores": {
        "chrf_plus_plus": 61.4,
        "fst_acceptance_rate": 0.58,
        "fst_accepted": 290,
        "fst_accepted_entries": 31,
        "comet_score": 0.71,
        "comet_low_resource_warning": True,
        "consistency_score": 0.9,
        "compliance_index": 0.97,
        "compliance_index_raw": 0.91,
        "composite": 0.52,
        "composite_profile": "A",
        "composite_profile_reason": "FST acceptance has a value",
        "composite_coverage": 0.75,
        "confidence_intervals": {"fst_acceptance_rate": {"ci_lower": 0.55, "ci_upper": 0.61}},
        "reasons": {"semantic_score": "no embeddings", "bleu": "not among the metrics of this run"},
        "signatures": {"chrf_plus_plus": "nrefs:1|case:mixed", "fst_acceptance_rate": "fst:4a0c"},
        "total": 100,
        "errors": 0,
    },
    "scoring": {
        "language_card": "crk",
        "language_card_sha256": "d6a1d46201ee" + "0" * 52,
        "script": "Latn",
        "terms": 12,
        "terms_sha256": "cd" * 32,
        "word_list": "wordfreq 3.1.1 small_en, 5,000 words",
        "alignment": None,
        "analyser": {
            "name": "crk-strict-analyzer.hfstol",
            "sha256": "4a0c3486497d" + "0" * 52,
            "engine": "builtin",
            "engine_version": "1",
            "acceptor": False,
            "reference_words": 500,
            "reference_accepted": 300,
        },
        "embeddings": {"model": "small", "endpoint": "127.0.0.1", "sha256": None},
        "comet": {"model": "wmt22", "sha256": None, "imported": True},
    },
}


def lines() -> dict[str, str]:
    """What each label says; a label that comes again keeps its first words."""
    said: dict[str, str] = {}
    for line in card_text(CARD).split("\n"):
        said.setdefault(line[:26].strip(), line[26:].strip())
    return said


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("FST Acceptance", "0.58 (0.55–0.61) · references 0.60"),
        ("accepted", "290 words · all words in 31 of 100 entries · references 300 of 500 words"),
        ("COMET", "0.71 · trained on large languages; for others the number is not calibrated"),
        ("Cross-Entry Consistency", "0.90 · over the whole corpus"),
        ("as first answered", "0.91 → 0.97 as delivered"),
        ("Composite", "0.52 · profile A, 75 % of its weight has a value"),
        ("why this profile", "FST acceptance has a value"),
        ("rescored from", "11111111-6c1d-4a70-9a52-0123456789ab"),
        ("chrF++", "61.4 · nrefs:1|case:mixed"),
        ("not scored", "semantic: no embeddings"),
        ("language card", "crk · sha256 d6a1d46201ee"),
        ("analyser", "crk-strict-analyzer.hfstol · sha256 4a0c3486497d · builtin 1"),
        ("source words", "wordfreq 3.1.1 small_en, 5,000 words"),
        ("alignment", "none"),
        ("terms", "12 prescribed · sha256 cdcdcdcdcdcd"),
        ("embeddings", "small · 127.0.0.1"),
    ],
)
def test_each_part_is_said(label: str, words: str) -> None:
    assert lines()[label].startswith(words)


def said_of(**changed: Any) -> dict[str, str]:
    """What the lines of a changed card say, by label; the first of a label."""
    found: dict[str, str] = {}
    for line in card_text({**CARD, **changed}).split("\n"):
        found.setdefault(line[:26].strip(), line[26:].strip())
    return found


def test_small_numbers_are_said_in_words_that_fit() -> None:
    scores = {**CARD["scores"], "by_difficulty": {"1": {"n": 1}, "2": {"n": 2}}}
    found = said_of(scores=scores, dataset={"id": "d", "entry_count": 1})
    assert found["difficulty 1"].startswith("1 entry · ")
    assert found["difficulty 2"].startswith("2 entries · ")
    assert found["corpus"] == "d · 1 entry"
    assert found["entries"] == "100 in all, 0 failed"
    assert said_of(scores={**scores, "errors": 2})["entries"].endswith(
        "2 failed (they count as wrong)"
    )


def test_what_was_not_measured_is_said_once() -> None:
    found = said_of(method={"method": "replay"}, model_slug="replay", condition="replay")
    assert found["method"] == "replay"
    assert found["latency"] == "not measured"
    assert said_of(speed={"median_latency_seconds": 1.5})["latency"] == "median 1.50 s"


@pytest.mark.parametrize(
    ("cost", "scores", "said"),
    [
        ({"cost_per_entry_usd": 0.0}, {}, "none, as the run was free"),
        ({}, {}, "none, as the cost is unknown"),
        ({"cost_per_entry_usd": 0.1}, {"composite": None}, "none, as there is no composite"),
        ({"cost_per_entry_usd": 0.1}, {"cost_adjusted": 3.456}, "3.46"),
    ],
)
def test_the_cost_adjusted_score_has_a_reason(
    cost: dict[str, Any], scores: dict[str, Any], said: str
) -> None:
    found = said_of(cost=cost, scores={**CARD["scores"], **scores})
    assert found["cost-adjusted score"] == said


def test_first_answers_are_compared_only_where_they_differ() -> None:
    scores = {**CARD["scores"], "compliance_index_raw": 0.97}
    assert "as first answered" not in said_of(scores=scores)


def intervals(**ends: float) -> dict[str, Any]:
    return {"exact_match_rate": {"ci_lower": 0.0, "ci_upper": 0.0, **ends}}


def test_a_rate_of_nothing_shows_wilsons_interval() -> None:
    wilson = {"wilson_lower": 0.0, "wilson_upper": 0.0151}
    told = {"exact_match_rate": 0.0, "confidence_intervals": intervals(**wilson)}
    assert with_interval(told, "exact_match_rate") == "0.00 (0.00–0.02)"
    wide = {"exact_match_rate": {"ci_lower": 0.1, "ci_upper": 0.3, **wilson}}
    assert interval({"confidence_intervals": wide}, "exact_match_rate") == (0.1, 0.3)
    bare = {"exact_match_rate": 0.0, "confidence_intervals": intervals()}
    assert interval(bare, "exact_match_rate") == (0.0, 0.0)


def test_a_part_of_nothing_or_all_right_shows_wilsons_interval_of_its_entries() -> None:
    none = {"n": 20, "exact_match_rate": 0.0, "confidence_intervals": intervals()}
    assert interval(none, "exact_match_rate") == pytest.approx((0.0, 0.1611), abs=1e-4)
    ends = {"exact_match_rate": {"ci_lower": 1.0, "ci_upper": 1.0}}
    every = {"n": 20, "exact_match_rate": 1.0, "confidence_intervals": ends}
    assert interval(every, "exact_match_rate") == pytest.approx((0.8389, 1.0), abs=1e-4)


@pytest.mark.parametrize(("total", "narrow"), [(30, True), (200, True), (201, False)])
def test_bleu_on_few_entries_says_that_its_interval_is_too_narrow(total: int, narrow: bool) -> None:
    found = said_of(scores={**CARD["scores"], "bleu": 7.0, "total": total})
    assert ("too narrow" in found["BLEU"]) == narrow


def test_values_stand_by_category_in_the_order_of_the_specification() -> None:
    said = card_text(CARD).split("\n")
    places = [said.index(name) for name in ("structural", "semantic", "behavioral", "compliance")]
    assert places == sorted(places)
    assert "surface" not in said  # chrF++ alone has a value there, and it stands at the top


def test_comet_goes_without_its_warning_where_the_card_says_so() -> None:
    calibrated = {**CARD, "scores": {**CARD["scores"], "comet_low_resource_warning": False}}
    assert "not calibrated" not in card_text(calibrated)


def test_an_acceptance_without_known_references_says_that_they_are_unknown() -> None:
    assert "references unknown" in card_text({**CARD, "scoring": {}})


@pytest.mark.parametrize("strange", [None, 7, "x", [1], {"name": 3, "reference_words": "many"}])
def test_strange_blocks_count_as_absent(strange: object) -> None:
    without = {name: value for name, value in CARD.items() if name not in {"scoring", "rescore_of"}}
    said = card_text({**CARD, "scoring": strange, "rescore_of": strange}).splitlines()
    assert set(card_text(without).splitlines()) <= set(said)
    scoring = {k: v for k, v in CARD["scoring"].items() if k not in {"analyser", "comet"}}
    odd = card_text({**CARD, "scoring": {**scoring, "analyser": strange, "comet": strange}})
    heading = card_text(CARD).splitlines()[0]
    assert odd.splitlines()[0] == heading


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_harmless(text: str) -> None:
    facts = {"name": text, "sha256": text, "engine": text, "engine_version": text}
    scoring = {"language_card": text, "script": text, "word_list": text, "analyser": facts}
    scores = {**CARD["scores"], "reasons": {text: text}, "signatures": {"bleu": text}}
    said = card_text({"scores": scores, "scoring": scoring, "rescore_of": {"run_id": text}})
    assert said == "\n".join(plain(line) for line in said.split("\n"))


def test_lists_mark_a_run_whose_outputs_are_those_of_another() -> None:
    own = RunSummary(
        run_id=CARD["run_id"],
        number=1,
        state=RunState.COMPLETE,
        created=1_700_000_000.0,
        dataset_id="words",
        language_pair="EN→CRK",
        model_slug="small",
        condition="plain",
        method="chat",
        total=100,
        done=100,
        failed=0,
        card={"scores": {}},
        live=None,
        imported=False,
    )
    again = replace(own, card=CARD, rescore_of="0" * 36)
    assert "rescored" not in " ".join(run_line(own))
    assert "↺ chat · small · plain · rescored" in run_line(again)
    assert run_cells(again)[5].text == "↺ chat · small · plain · rescored"


def test_a_rise_by_an_input_without_a_value_is_taken_back_beside_the_composite() -> None:
    part = {
        "metric": "chrf_plus_plus",
        "value": 54.0,
        "normalised": 0.54,
        "weight": 0.25,
        "effective_weight": 1.0,
    }
    scores = {"composite": 0.54, "composite_profile": "B", "composite_inputs": [part]}
    floor = {"name": "words", "composite": 0.1, "chrf_plus_plus": 5.0}
    known = floor | {"inputs": ["chrf_plus_plus", "hallucination_rate"]}
    assert "without its rise" not in card_text({"scores": scores, "floors": [floor]})
    found = card_text({"scores": scores, "floors": [known]})
    assert found.index("0.54") < found.index(
        "without its rise         0.45 · an input has no value"
    )


ANSWERS: dict[str, Any] = {
    "run_id": "0f3b8c1e-6c1d-4a70-9a52-0123456789ab",
    "scoring": {
        "task": "qa",
        "metrics": ["lbrag.em", "lbrag.f1", "lbrag.rlc", "lbrag.rlc_ok", "lbrag.semantic_score"],
        "packs": {"lbrag": "1.0"},
        "language_card": "eo",
        "word_list": "wordfreq 3.1.1 small_en, 5,000 words",
        "annotators": {"judge_semantic": {"model": "small", "endpoint": "127.0.0.1"}},
    },
    "scores": {
        "total": 10,
        "errors": 1,
        "errors_by_class": {"empty": 1},
        "lbrag.em": 0.5,
        "lbrag.f1": 0.6,
        "lbrag.rlc": 1.0,
        "lbrag.rlc_ok": 1.0,
        "lbrag.semantic_score": None,
        "lbrag.semantic_score_judge_failed": 9,
        "spread": {
            "lbrag.em": {"mean": 0.5, "std": 0.527, "n": 10},
            "lbrag.f1": {"mean": 0.6, "std": 0.31, "n": 10},
            "lbrag.rlc": {"mean": 1.0, "std": 0.0, "n": 9},
        },
        "reasons": {
            "lbrag.semantic_score": "the judge failed",
            "chrf_plus_plus": "not among the metrics of this run",
        },
    },
    "cost": {
        "total_cost_usd": 0.02,
        "scoring": {
            "calls": 19,
            "total_cost_usd": None,
            "known_cost_usd": 0.0031,
            "spent_usd": 0.0,
            "by_annotator": {
                "judge_semantic": {"calls": 19, "judged": 9, "judge_failed": 9},
                "hostile\x1b": "no object",
            },
        },
    },
}


def test_a_card_of_answers_says_what_holds_of_answers_alone() -> None:
    said = card_text(ANSWERS)
    for words in ("COMET", "analyser", "alignment", "source words", "tier", "chrF", "omposite"):
        assert words not in said
    told = [" ".join(each.split()) for each in said.split("\n")]
    assert "F1 of Answers 0.60 · mean 0.60 ± 0.31 · leads: runs are ranked by it" in told
    assert sum(each.startswith("F1 of Answers 0.60") for each in told) == 1
    assert "Exact Match of Answers 0.50 · mean 0.50 ± 0.53" in told
    assert said.count("Letters tell scripts, not languages") == 1
    assert any(each.startswith("Language Consistency 1.00 · mean 1.00 ± 0.00 of 9 entries") for each in told)  # fmt: skip
    assert "not scored agreement: the judge failed" in told
    assert "left out agreement: 9 entries without a judgement: the judge failed" in told
    assert "judge_semantic small · 127.0.0.1" in told
    assert "entries 10 in all, 1 failed (empty) (it counts as wrong)" in told


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        ("from:stated", "no judge was asked"),
        ("model:small", "the answer is empty, has no reference"),
    ],
)
def test_answers_that_nobody_judged_are_counted(judge: str, why: str) -> None:
    judged = {
        "lbrag.semantic_score": 0.5,
        "lbrag.semantic_score_judge_failed": 1,
        "spread": {"lbrag.semantic_score": {"mean": 0.5, "std": 0.1, "n": 7}},
        "signatures": {"lbrag.semantic_score": f"judge:judge_semantic|{judge}|norm:NFC"},
    }
    told = card_text({**ANSWERS, "scores": {**ANSWERS["scores"], **judged}}).split("\n")
    [said] = [each for each in told if each.startswith("not judged")]
    assert f"agreement: 2 entries: {why}" in said
    assert not [each for each in card_text(ANSWERS).split("\n") if each.startswith("not judged")]


def test_the_shares_that_a_value_is_the_mean_of_stand_below_it() -> None:
    id_ = "au.instruction_following"
    ends = ("strict_prompt", "loose_prompt", "strict_instruction", "loose_instruction")
    shares = {f"{id_}_{end}": n / 8 for n, end in enumerate(ends, 2)}
    scores = {"total": 10, id_: 0.44, **shares}
    card = {**ANSWERS, "scores": scores, "scoring": {"task": "ifeval", "metrics": [id_]}}
    told = [" ".join(each.split()) for each in card_text(card).split("\n")]
    at = told.index("prompt 0.25 strict, 0.38 loose")
    assert told[at - 1].startswith("Instruction Following 0.44")
    assert told[at + 1] == "instruction 0.50 strict, 0.62 loose"


def test_what_the_scoring_cost_is_told_apart_from_the_outputs() -> None:
    told = [" ".join(each.split()) for each in card_text(ANSWERS).split("\n")]
    assert told.index("cost $0.0200") < told.index(
        "scoring at least $0.0031 · 19 calls · not counted above"
    )


@pytest.mark.parametrize(
    ("task", "spread", "words"),
    [
        ("response", {"nest.overall": {"mean": 0.5, "std": 0.1, "n": 9}}, "1 failed (empty); Overall Quality has a value of 9"),
        ("response", {}, "1 failed (empty)"),
    ],
)  # fmt: skip
def test_entries_that_failed_count_as_wrong_only_where_they_have_a_value(
    task: str, spread: dict[str, Any], words: str
) -> None:
    scores = {**ANSWERS["scores"], "spread": spread}
    scoring = {"task": task, "metrics": ["nest.overall"]}
    [line] = [
        each
        for each in card_text({**ANSWERS, "scores": scores, "scoring": scoring}).split("\n")
        if each.startswith("entries")
    ]
    assert line.endswith(f"10 in all, {words}")


def test_in_short_it_fits_a_small_terminal_and_names_the_command_that_has_the_rest() -> None:
    lines = card_in_short(CARD).splitlines()
    assert len(lines) <= 12
    assert {
        line for line in lines if line.startswith(("chrF++", "Composite", "tier", "entries"))
    } <= {
        *card_text(CARD).splitlines(),
        "chrF++                     61.4",
    }
    assert [line.split("  ")[0] for line in lines[-3:]] == ["entries", "every score", "one page"]
    assert "rosetta runs show 0f3b8c1e" in lines[-2]
    assert "signatures" not in card_in_short(CARD)
