"""A card in words: what it says of a run, and what it never says alone."""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from corpora.files.json_types import Json, JsonObject
from corpora.model.corpus import Dataset
from harness.card.reading import interval
from harness.core.calls import Usage
from harness.core.failures import ErrorClass, RunState
from harness.method.method import MethodClass, Result, Setup
from harness.run.events import EntryScored, Event, Failed, Finished, Progress, Started, Waiting
from harness.store.sqlite.openings import Floor, ScoringSoFar
from rosetta_tui.report.card import card_in_short, card_text
from rosetta_tui.report.run import JsonLines, PlainLines, entry_line, finished_line
from rosetta_tui.runs.table import run_cells
from rosetta_tui.show.card_fields import with_interval
from rosetta_tui.show.run_facts import run_line
from rosetta_tui.show.text import WIDEST, plain, stacked, table
from tests.review.thorough import examples
from tests.tui.runs.made import run
from tests.tui.scenes import HOSTILE

CARD: dict[str, Any] = {
    "run_id": "0f3b8c1e-6c1d-4a70-9a52-0123456789ab",
    "rescore_of": {"run_id": "11111111-6c1d-4a70-9a52-0123456789ab", "run_card_hash": "ab"},
    "scores": {
        "chrf_plus_plus": 61.4, "fst_acceptance_rate": 0.58, "fst_accepted": 290, "fst_accepted_entries": 31,
        "comet_score": 0.71, "comet_low_resource_warning": True, "consistency_score": 0.9,
        "compliance_index": 0.97, "compliance_index_raw": 0.91, "composite": 0.52, "composite_profile": "A",
        "composite_profile_reason": "FST acceptance has a value", "composite_coverage": 0.75,
        "confidence_intervals": {"fst_acceptance_rate": {"ci_lower": 0.55, "ci_upper": 0.61}},
        "reasons": {"semantic_score": "no embeddings", "bleu": "not among the metrics of this run"},
        "signatures": {"chrf_plus_plus": "nrefs:1|case:mixed", "fst_acceptance_rate": "fst:4a0c"}, "total": 100,
        "errors": 0,
    },
    "scoring": {
        "language_card": "crk", "language_card_sha256": "d6a1d46201ee" + "0" * 52, "script": "Latn",
        "terms": 12, "terms_sha256": "cd" * 32, "word_list": "wordfreq 3.1.1 small_en, 5,000 words",
        "alignment": None,
        "analyser": {
            "name": "crk-strict-analyzer.hfstol", "sha256": "4a0c3486497d" + "0" * 52, "engine": "builtin",
            "engine_version": "1", "acceptor": False, "reference_words": 500, "reference_accepted": 300,
        },
        "embeddings": {"model": "small", "endpoint": "127.0.0.1", "sha256": None},
        "comet": {"model": "wmt22", "sha256": None, "imported": True},
    },
}  # fmt: skip


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
        ("rescored from", "11111111-6c1d-4a70-9a52-0123456789ab"), ("chrF++", "61.4 · nrefs:1|case:mixed"),
        ("not scored", "semantic: no embeddings"), ("language card", "crk · sha256 d6a1d46201ee"),
        ("analyser", "crk-strict-analyzer.hfstol · sha256 4a0c3486497d · builtin 1"),
        ("source words", "wordfreq 3.1.1 small_en, 5,000 words"), ("alignment", "none"),
        ("terms", "12 prescribed · sha256 cdcdcdcdcdcd"), ("embeddings", "small · 127.0.0.1"),
    ],
)  # fmt: skip
def test_each_part_is_said(label: str, words: str) -> None:
    assert said_of()[label].startswith(words)


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ({}, "one for each entry"),
        ({"multi_ref": "yes"}, "one for each entry"),
        ({"multi_ref": True, "has_variants": True}, "several for chrF++, BLEU and TER: also the variants"),
        ({"multi_ref": True, "has_variants": False}, "several for chrF++, BLEU and TER: also the variants; no entry has any"),
    ],
)  # fmt: skip
def test_card_says_how_many_references_there_were(scoring: dict[str, Any], words: str) -> None:
    assert said_of(scoring={"script": "Latn", **scoring})["references"] == words


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
    failed = said_of(scores={**scores, "errors": 2})["entries"]
    assert failed.endswith("2 failed (they count as wrong)")
    found = said_of(method={"method": "replay"}, model_slug="replay", condition="replay")
    assert (found["method"], found["latency"]) == ("replay", "not measured")
    assert said_of(speed={"median_latency_seconds": 1.5})["latency"] == "median 1.50 s"


@pytest.mark.parametrize(("cost", "scores", "said"), [
    ({"cost_per_entry_usd": 0.0}, {}, "none, as the run was free"),
    ({}, {}, "none, as the cost is unknown"),
    ({"cost_per_entry_usd": 0.1}, {"composite": None}, "none, as there is no composite"),
    ({"cost_per_entry_usd": 0.1}, {"cost_adjusted": 3.456}, "3.46"),
])  # fmt: skip
def test_cost_adjusted_score_has_a_reason(cost: Any, scores: Any, said: str) -> None:
    found = said_of(cost=cost, scores={**CARD["scores"], **scores})
    assert found["cost-adjusted score"] == said


def intervals(**ends: float) -> JsonObject:
    return {"exact_match_rate": {"ci_lower": 0.0, "ci_upper": 0.0, **ends}}


def test_rate_of_nothing_or_all_shows_wilsons_interval() -> None:
    id_, wilson = "exact_match_rate", {"wilson_lower": 0.0, "wilson_upper": 0.0151}
    told: JsonObject = {id_: 0.0, "confidence_intervals": intervals(**wilson)}
    assert with_interval(told, id_) == "0.00 (0.00–0.02)"
    wide: JsonObject = {id_: {"ci_lower": 0.1, "ci_upper": 0.3, **wilson}}
    assert interval({"confidence_intervals": wide}, id_) == (0.1, 0.3)
    assert interval({id_: 0.0, "confidence_intervals": intervals()}, id_) == (0.0, 0.0)
    none: JsonObject = {"n": 20, id_: 0.0, "confidence_intervals": intervals()}
    assert interval(none, id_) == pytest.approx((0.0, 0.1611), abs=1e-4)
    every: JsonObject = {"n": 20, id_: 1.0, "confidence_intervals": {id_: {"ci_lower": 1.0, "ci_upper": 1.0}}}
    assert interval(every, id_) == pytest.approx((0.8389, 1.0), abs=1e-4)


@pytest.mark.parametrize(("total", "narrow"), [(30, True), (200, True), (201, False)])
def test_bleu_on_few_entries_says_that_its_interval_is_too_narrow(total: int, narrow: bool) -> None:
    found = said_of(scores={**CARD["scores"], "bleu": 7.0, "total": total})
    assert ("too narrow" in found["BLEU"]) == narrow


def test_values_stand_by_category_and_warnings_where_the_card_has_them() -> None:
    said = card_text(CARD).split("\n")
    places = [said.index(name) for name in ("structural", "semantic", "behavioral", "compliance")]
    assert places == sorted(places)
    assert "surface" not in said  # chrF++ alone has a value there, and it stands at the top
    scores = {**CARD["scores"], "comet_low_resource_warning": False, "compliance_index_raw": 0.97}
    assert "not calibrated" not in card_text({**CARD, "scores": scores})
    assert "as first answered" not in said_of(scores=scores), "they do not differ"
    assert "references unknown" in card_text({**CARD, "scoring": {}})


@pytest.mark.parametrize("strange", [None, 7, "x", [1], {"name": 3, "reference_words": "many"}])
def test_strange_blocks_count_as_absent(strange: Json) -> None:
    without = {name: value for name, value in CARD.items() if name not in {"scoring", "rescore_of"}}
    said = card_text({**CARD, "scoring": strange, "rescore_of": strange}).splitlines()
    assert set(card_text(without).splitlines()) <= set(said)
    scoring = {k: v for k, v in CARD["scoring"].items() if k not in {"analyser", "comet"}}
    odd = card_text({**CARD, "scoring": {**scoring, "analyser": strange, "comet": strange}})
    heading = card_text(CARD).splitlines()[0]
    assert odd.splitlines()[0] == heading


def test_hostile_names_are_harmless() -> None:
    text = "".join(HOSTILE[:10])
    facts = {"name": text, "sha256": text, "engine": text, "engine_version": text}
    scoring: JsonObject = {"language_card": text, "script": text, "word_list": text, "analyser": facts}
    scores = {**CARD["scores"], "reasons": {text: text}, "signatures": {"bleu": text}}
    said = card_text({"scores": scores, "scoring": scoring, "rescore_of": {"run_id": text}})
    assert said == "\n".join(plain(line) for line in said.split("\n"))


def test_lists_mark_a_run_whose_outputs_are_those_of_another() -> None:
    again = run(1, card=CARD, rescore_of="0" * 36)
    assert "rescored" not in " ".join(run_line(run(1)))
    assert "↺ chat · qwen2.5-7b · naive · rescored" in run_line(again)
    assert run_cells(again)[5].text == "↺ chat · qwen2.5-7b · naive · rescored"


def test_a_rise_by_an_input_without_a_value_is_taken_back_beside_the_composite() -> None:
    part: JsonObject = {
        "metric": "chrf_plus_plus",
        "value": 54.0,
        "normalised": 0.54,
        "weight": 0.25,
        "effective_weight": 1.0,
    }
    scores: JsonObject = {"composite": 0.54, "composite_profile": "B", "composite_inputs": [part]}
    floor: JsonObject = {"name": "words", "composite": 0.1, "chrf_plus_plus": 5.0}
    known: JsonObject = {**floor, "inputs": ["chrf_plus_plus", "hallucination_rate"]}
    assert "without its rise" not in card_text({"scores": scores, "floors": [floor]})
    found = card_text({"scores": scores, "floors": [known]})
    without = "without its rise         0.45 · an input has no value"
    assert found.index("0.54") < found.index(without)


ANSWERS: dict[str, Any] = {
    "run_id": "0f3b8c1e-6c1d-4a70-9a52-0123456789ab",
    "scoring": {
        "task": "qa", "metrics": ["lbrag.em", "lbrag.f1", "lbrag.rlc", "lbrag.rlc_ok", "lbrag.semantic_score"],
        "packs": {"lbrag": "1.0"}, "language_card": "eo", "word_list": "wordfreq 3.1.1 small_en, 5,000 words",
        "annotators": {"judge_semantic": {"model": "small", "endpoint": "127.0.0.1"}},
    },
    "scores": {
        "total": 10, "errors": 1, "errors_by_class": {"empty": 1}, "lbrag.em": 0.5, "lbrag.f1": 0.6,
        "lbrag.rlc": 1.0, "lbrag.rlc_ok": 1.0, "lbrag.semantic_score": None,
        "lbrag.semantic_score_judge_failed": 9,
        "spread": {
            "lbrag.em": {"mean": 0.5, "std": 0.527, "n": 10}, "lbrag.f1": {"mean": 0.6, "std": 0.31, "n": 10},
            "lbrag.rlc": {"mean": 1.0, "std": 0.0, "n": 9},
        },
        "reasons": {
            "lbrag.semantic_score": "the judge failed", "chrf_plus_plus": "not among the metrics of this run",
        },
    },
    "cost": {
        "total_cost_usd": 0.02,
        "scoring": {
            "calls": 19, "total_cost_usd": None, "known_cost_usd": 0.0031, "spent_usd": 0.0,
            "by_annotator": {
                "judge_semantic": {"calls": 19, "judged": 9, "judge_failed": 9}, "hostile\x1b": "no object",
            },
        },
    },
}  # fmt: skip


def test_a_card_of_answers_says_what_holds_of_answers_alone() -> None:
    said = card_text(ANSWERS)
    for words in ("COMET", "analyser", "alignment", "source words", "tier", "chrF", "omposite"):
        assert words not in said
    told = [" ".join(each.split()) for each in said.split("\n")]
    assert "F1 of Answers 0.60 · mean 0.60 ± 0.31 · leads: runs are ranked by it" in told
    assert sum(each.startswith("F1 of Answers 0.60") for each in told) == 1
    assert "Exact Match of Answers 0.50 · mean 0.50 ± 0.53" in told
    assert said.count("Letters tell scripts, not languages") == 1
    assert any(each.startswith("Language Consistency 1.00 · mean 1.00 ± 0.00 of 9 entries") for each in told)
    assert "not scored agreement: the judge failed" in told
    assert "left out agreement: 9 entries without a judgement: the judge failed" in told
    assert "judge_semantic small · 127.0.0.1" in told
    assert "entries 10 in all, 1 failed (empty) (it counts as wrong)" in told
    scoring = "scoring at least $0.0031 · 19 calls · not counted above"
    assert told.index("cost $0.0200") < told.index(scoring), "that of outputs stands apart"


@pytest.mark.parametrize(
    ("judge", "why"),
    [("from:stated", "no judge was asked"), ("model:small", "the answer is empty, has no reference")],
)  # fmt: skip
def test_answers_that_nobody_judged_are_counted(judge: str, why: str) -> None:
    judged: JsonObject = {
        "lbrag.semantic_score": 0.5, "lbrag.semantic_score_judge_failed": 1,
        "spread": {"lbrag.semantic_score": {"mean": 0.5, "std": 0.1, "n": 7}},
        "signatures": {"lbrag.semantic_score": f"judge:judge_semantic|{judge}|norm:NFC"},
    }  # fmt: skip
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


def test_failed_entries_count_as_wrong_only_with_a_value() -> None:
    overall = {"nest.overall": {"mean": 0.5, "std": 0.1, "n": 9}}
    for spread, words in ((overall, "; Overall Quality has a value of 9"), ({}, "")):
        scores = {**ANSWERS["scores"], "spread": spread}
        scoring = {"task": "response", "metrics": ["nest.overall"]}
        found = card_text({**ANSWERS, "scores": scores, "scoring": scoring}).split("\n")
        [line] = [each for each in found if each.startswith("entries")]
        assert line.endswith(f"10 in all, 1 failed (empty){words}")


def test_in_short_it_fits_a_small_terminal_and_names_the_command_that_has_the_rest() -> None:
    lines = card_in_short(CARD).splitlines()
    assert len(lines) <= 12
    named = {line for line in lines if line.startswith(("chrF++", "Composite", "tier", "entries"))}
    assert named <= {*card_text(CARD).splitlines(), "chrF++                     61.4"}
    assert [line.split("  ")[0] for line in lines[-3:]] == ["entries", "every score", "one page"]
    assert "rosetta runs show 0f3b8c1e" in lines[-2]
    assert "signatures" not in card_in_short(CARD)


def test_in_short_it_names_what_to_look_at_first() -> None:
    findings = [
        {"code": "quotes", "count": 3, "of": 60, "cost": None},
        {"code": "beginning", "count": 12, "of": 60, "cost": 4.14},
    ]
    tiers = {
        "1": {"n": 40, "chrf_plus_plus": 70.0},
        "2": {"n": 11, "chrf_plus_plus": 41.25},
        "3": {"n": 9, "chrf_plus_plus": 2.0},
    }
    scores = {**CARD["scores"], "findings": findings, "by_difficulty": tiers, "errors": 0}
    lines = card_in_short({**CARD, "scores": scores}).splitlines()
    [looks] = [line for line in lines if line.startswith("look first")]
    assert looks.endswith("12 begin alike (−4.1 chrF++) · 3 in quotes · difficulty 2: chrF++ 41.2 of 11")
    assert any("rosetta watch 0f3b8c1e: w says why" in line for line in lines)
    failed = card_in_short({**CARD, "scores": {**scores, "errors": 2}})
    assert "· 2 failed" in failed
    assert "rosetta retry 0f3b8c1e" in failed


# Tables that are wider than the terminal stand under each other

WORDS = st.text("aé猫b", min_size=1, max_size=6)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    columns = draw(st.integers(2, 12))
    return draw(st.lists(st.lists(WORDS, min_size=columns, max_size=columns), min_size=1, max_size=4))


@given(tables(), st.integers(30, 100))
@examples(30, 100)
def test_stacked_table_fits_and_loses_nothing(rows: list[list[str]], width: int) -> None:
    lines = list(stacked(rows, width))
    assert all(cell_len(line) <= width for line in lines)
    parts = [lines[start : start + len(rows)] for start in range(0, len(lines), len(rows))]
    shown = [[cell for part in parts for cell in part[place].split()[1:]] for place in range(len(rows))]
    assert shown == [row[1:] for row in rows]
    assert all(part[place].split()[0] == row[0] for part in parts for place, row in enumerate(rows))
    assert list(stacked(rows, None)) == list(table(rows))
    assert list(stacked(rows, 500)) == list(table(rows))


def test_a_column_too_wide_for_any_terminal_stands_alone_and_hostile_text_is_harmless() -> None:
    rows = [["a", "x" * (WIDEST + 9), each, "d"] for each in HOSTILE]
    lines = list(stacked(rows, 20))
    assert len(lines) == 3 * len(rows)
    assert not any(unicodedata.category(sign) == "Cc" for line in lines for sign in line)


# A run as lines: complete for machines, harmless for terminals, silent about secrets

ACTING = "[red]x[/] \x1b[2J\x1b]0;title\x07 \x9b31m \u202eevil\u2066 \r\n\x00 \u2028 ᓀᐦᐃᔭᐍᐏᐣ"

SETUP = Setup(
    method="chat", method_class=MethodClass.RAW_LLM, method_version="1", model_slug=ACTING,
    condition="baseline",
)  # fmt: skip
DATASET = Dataset.model_validate(
    {"id": ACTING, "language_pair": "EN→CRK", "source_language": "en", "target_language": "crk",
     "theirs": [ACTING]}
)  # fmt: skip


def result(position: int = 0, **more: Any) -> Result:
    fields: dict[str, Any] = {
        "entry_id": ACTING, "output": ACTING, "statistics": b"\xff\x00", "headline": 51.25,
        "exact": False, "second": 0.5,
    }  # fmt: skip
    return Result(position=position, **(fields | more))


STARTED = Started("r", SETUP, DATASET, (0, 2), 1, (Floor("empty", 0.1, None),), {"bleu": ACTING},
                  2.5, 1e9)  # fmt: skip
PROGRESS = Progress(
    "r", RunState.PAUSED, 12.5, 10, 4, 1, (5, 6), (Waiting(7, 2, 6, 1.5, "429"),), 4, 8, 3, 2,
    values={"chrf_plus_plus": 50.0, "bleu": None}, intervals={"chrf_plus_plus": (40.0, 60.0)},
    cost_usd=None, tokens=7, eta_seconds=3.0,
)  # fmt: skip
FAILED_ENTRY = result(1, output=None, error_class=ErrorClass.SERVER, error=ACTING, headline=0.0)
EVENTS: list[Event] = [
    STARTED, EntryScored("r", result()), EntryScored("r", FAILED_ENTRY), PROGRESS,
    Finished("r", RunState.STOPPED, 4, 1, 10, 12.5, None, ACTING),
    Finished("r", RunState.COMPLETE, 10, 1, 10, 12.5, "ab" * 32), Failed("r", ACTING),
]  # fmt: skip


def written(listener: type[PlainLines] | type[JsonLines], *events: Event, **more: Any) -> list[str]:
    lines: list[str] = []
    told = listener(lines.append, **more)
    for event in events:
        told(event)
    return lines


def harmless(line: str) -> bool:
    """Nothing in it can move a cursor, break the line, or turn the direction of writing."""
    kinds = {"Cc", "Cs", "Zl", "Zp"}
    directions = set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    return not any(unicodedata.category(char) in kinds or char in directions for char in line)


def strict(line: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(line, parse_constant=refuse)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_is_one_line_of_json_that_lacks_nothing(event: Event) -> None:
    [line] = written(JsonLines, event, secret=set())
    assert harmless(line)
    fields = strict(line)
    assert fields["event"] == type(event).__name__
    wanted = {field.name for field in dataclasses.fields(event)}
    if isinstance(event, EntryScored):
        wanted = {field.name for field in dataclasses.fields(Result)} | {"run_id"}
        wanted |= {field.name for field in dataclasses.fields(Usage)}
        wanted -= {"statistics", "usage", "trace"}  # which stay in the store
        wanted = wanted - {"headline", "second", "third"} | {"chrf", "composite", "equivalent"}
    if isinstance(event, Started):
        wanted -= {"columns"}  # said of other tasks than translations only
    if isinstance(event, Progress):
        wanted -= {"spread", "scoring", "floors", "answered", "against"}  # where there is something to say
    assert wanted <= fields.keys()


def test_the_figures_come_through_unchanged() -> None:
    fields = strict(written(JsonLines, PROGRESS, secret=set())[0])
    assert (fields.pop("event"), fields.pop("version")) == ("Progress", 1)
    fields["waiting"] = tuple(Waiting(**waiting) for waiting in fields["waiting"])
    fields["intervals"] = {name: tuple(pair) for name, pair in fields["intervals"].items()}
    fields["in_flight"] = tuple(fields["in_flight"])
    assert Progress(**fields) == PROGRESS
    row = strict(written(JsonLines, EntryScored("r", result()), secret=set())[0])
    assert row["output"] == ACTING
    assert row["quality_tier"] == "functional"
    started = strict(written(JsonLines, STARTED, secret=set())[0])
    assert started["dataset"]["theirs"] == [ACTING]
    assert Setup.model_validate(started["setup"]) == SETUP


@given(st.text())
@examples(50, 200)
def test_any_output_survives_json_and_harms_no_terminal(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    [line] = written(JsonLines, EntryScored("r", result(output=text)), secret=set())
    assert strict(line)["output"] == text
    assert harmless(line)


def test_a_secret_output_is_withheld_and_says_so() -> None:
    scored = EntryScored("r", result(5, output="the medicine bundle"))
    [line] = written(JsonLines, scored, secret={5})
    assert "medicine" not in line
    assert (strict(line)["output"], strict(line)["withheld"]) == (None, True)
    assert "withheld" not in strict(written(JsonLines, scored, secret={4})[0])


def test_plain_lines_are_harmless_and_hold_no_text_of_an_entry() -> None:
    lines = written(PlainLines, *EVENTS)
    assert all(map(harmless, lines))
    assert any("ᓀᐦᐃᔭᐍᐏᐣ" in line for line in lines)
    assert any("[red]x[/]" in line for line in lines)
    entry = result(entry_id=1, output="the medicine bundle")
    assert "medicine" not in "".join(written(PlainLines, EntryScored("r", entry)))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
@examples(50, 200)
def test_no_message_of_an_endpoint_breaks_out_of_its_line(message: str) -> None:
    entry = EntryScored("r", result(output=None, error_class=ErrorClass.SERVER, error=message))
    stopped = Finished("r", RunState.STOPPED, 0, 1, 1, 1.0, None, message)
    [line] = written(PlainLines, entry, Failed("r", message), stopped)
    assert harmless(line)
    assert harmless(finished_line(stopped))


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (
            result(entry_id=7, headline=51.25, latency_seconds=1.234, cost_usd=0.0005,
                   usage=Usage(20, 10)),
            "done    7  chrF++  51.2  not exact  functional      30 tokens  cost $0.0005    1.23 s",
        ),
        (
            result(entry_id="a", exact=True, second=0.95, cached=True, cost_usd=0.0),
            "done    a  chrF++  51.2  exact      fluent      cost free     from the cache",
        ),
        (
            result(entry_id=8, output=None, error_class=ErrorClass.TIMEOUT, error="No reply."),
            "failed  8  timeout: No reply.",
        ),
    ],
)  # fmt: skip
def test_an_entrys_line(row: Result, line: str) -> None:
    assert entry_line(row) == line


def test_unknown_cost_is_not_free_and_little_is_not_nothing() -> None:
    known = replace(PROGRESS, known_cost_usd=0.036)
    assert "cost at least $0.0360" in written(PlainLines, known)[-1]
    assert "cost unknown" in written(PlainLines, PROGRESS)[-1]
    assert json.loads(written(JsonLines, known, secret=())[-1])["known_cost_usd"] == 0.036
    costs = {None: "cost unknown", 0.0: "cost free", 0.000012: "cost $0.000012"}
    assert all(entry_line(result(cost_usd=cost)).endswith(words) for cost, words in costs.items())


def test_entries_read_as_a_table() -> None:
    rows = [
        result(0, entry_id=7, headline=100.0, exact=True, second=1.0),
        result(1, entry_id=1234, headline=5.04, second=0.01),
        result(2, entry_id="long-name", headline=None, second=None), result(3, entry_id="x" * 4000),
        result(4, entry_id=8),
    ]  # fmt: skip
    started = replace(STARTED, positions=tuple(range(5000)), done=0)
    lines = written(PlainLines, started, *(EntryScored("r", row) for row in rows))[2:]
    assert [line.index("chrF++") for line in lines] == [14, 14, 19, 4010, 34]
    assert len({line.index("cost") - line.index("chrF++") for line in lines}) == 1


def test_a_stopped_run_says_why_and_how_it_goes_on() -> None:
    line = finished_line(Finished("abcdefgh-1", RunState.STOPPED, 4, 1, 10, 1.0, None, "Why."))
    assert line == (
        "stopped: 4 of 10 entries are stored, 1 failed. Why. `rosetta resume abcdefgh --retry-failed` continues."
    )
    spent = Finished("abcdefgh-1", RunState.STOPPED, 4, 0, 10, 1.0, budget_reached=True)
    assert finished_line(spent).endswith("`rosetta resume abcdefgh --budget USD` continues.")


def test_progress_is_told_now_and_then_and_a_last_step_once() -> None:
    times = [0.0, 1.0, 4.9, 5.1, 6.0, 10.2, 11.0]
    events = [replace(PROGRESS, elapsed_seconds=time) for time in times]
    assert len(written(PlainLines, *events)) == 2
    steps = ["asking embeddings", "asking embeddings", "scoring the whole\x1b", None]
    events = [replace(PROGRESS, doing=doing, elapsed_seconds=0.1) for doing in steps]
    assert written(PlainLines, *events) == ["-- asking embeddings", "-- scoring the whole␛"]


def test_what_scoring_asked_for_is_an_object_and_absent_before() -> None:
    asked = ScoringSoFar(calls=3, cost_usd=None, known_cost_usd=0.5, failed=1)
    fields = strict(written(JsonLines, replace(PROGRESS, scoring=asked), secret=set())[0])
    told = {"calls": 3, "cost_usd": None, "known_cost_usd": 0.5, "failed": 1}
    assert fields["scoring"] == told
    assert "scoring" not in strict(written(JsonLines, PROGRESS, secret=set())[0])
