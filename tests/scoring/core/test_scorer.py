"""The scorer and the composite; the data file's numbers pinned a second time; names of metrics, and kept columns."""

from __future__ import annotations

import random
import subprocess
import sys
from math import inf, nan
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.task import TRANSLATION
from corpora.text.messages import minus, percent
from harness.compare.comparing import metric_asked
from harness.core.failures import UsageError
from harness.setup.scoring_options import ScoringOptions
from rosetta_tui.commands.leaderboard import sort_named
from rosetta_tui.leaderboard.rows import SORTS, columns
from scoring.core.inventory import (
    composite,
    composites,
    metric_named,
    profile_note,
    short_title,
    title,
    typed_name,
    unknown_metric,
)
from scoring.core.metric import CorpusMetric, StatisticsError
from scoring.core.scorer import RunningTotals, Scorer
from scoring.core.setup import ScoringSetup, Translation
from scoring.core.specification import (
    TASKS,
    TRANSLATIONS,
    Tier,
    columns_of,
    metric_info,
    quality_tier,
    specification,
    stated_columns,
)
from scoring.grammar.morpheme_difference import best_pairs
from scoring.metrics.chrf_bleu import ChrfPlusPlus
from scoring.metrics.inventory import make_metrics, maker, surface_metrics, surface_setup
from scoring.words.source_words import Resources
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples, times
from tests.scoring.late import optimize
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus, entry, sentences, translations, worse

METRICS = surface_metrics(tokenizer="13a", has_variants=True)
SCORER = Scorer(METRICS)


def outputs_for(alphabet: str, entries: int) -> list[Translation]:
    rng = random.Random(9)
    return [Translation(item, worse(item.reference, rng)) for item in corpus(alphabet, entries)]


def test_running_values_equal_the_batch_after_every_step() -> None:
    items = outputs_for(ALPHABETS["roman with circumflex"], times(50, 140))
    totals = RunningTotals(Scorer(METRICS))
    for start in range(0, len(items), 7):
        totals.add(SCORER.statistics(items[start : start + 7]))
        so_far = items[: start + 7]
        assert totals.values() == SCORER.table(SCORER.statistics(so_far)).corpus_values()
        assert totals.entries == len(so_far)
    assert totals.composite().value is not None


def test_packed_statistics_come_back_whole_with_nothing_scored() -> None:
    totals = RunningTotals(Scorer(METRICS))
    assert set(totals.values().values()) == {None}
    assert totals.composite().value is None
    items = outputs_for(ALPHABETS["syllabics"], 50) + translations(list(HOSTILE), list(HOSTILE))
    for statistics in SCORER.statistics(items):
        assert SCORER.unpack(SCORER.pack(statistics)) == statistics
    typical = [len(SCORER.pack(statistics)) for statistics in SCORER.statistics(items[:50])]
    assert max(typical) <= 90


def test_damaged_or_foreign_statistics_are_refused_in_words() -> None:
    packed = map(msgpack.packb, (5, None, [[1, 1]], [5], [{}], [["x"]], "text"))
    for data in (b"", b"\xc1", *packed):
        refuses(StatisticsError, "score the outputs again", SCORER.unpack, data)
        refuses(StatisticsError, "score the outputs again", SCORER.unpack_table, [data])
    strings = msgpack.packb([["x"] * metric.width for metric in SCORER.metrics])
    refuses(StatisticsError, "score the outputs again", SCORER.unpack_table, [strings])


def test_entry_values_of_perfect_and_failed_entries() -> None:
    item = outputs_for(ALPHABETS["arabic"], 5)[3]
    statistics = SCORER.statistics([item])[0]
    shown = SCORER.entry_values(statistics)
    for metric in METRICS:
        part = statistics[metric.info.id]
        assert shown.values[metric.info.id] == (None if part is None else metric.value(part))
    pair = translations(["tânisi kiya", ""], ["tânisi kiya"] * 2)
    perfect, failed = SCORER.entries_values(SCORER.statistics(pair))
    assert (perfect.composite, perfect.quality_tier) == (pytest.approx(1.0), Tier.FLUENT)
    assert (failed.composite, failed.quality_tier) == (0.0, Tier.BASELINE)
    assert failed.values["ter"] == 100.0


def test_default_metrics_follow_the_corpus_and_none_is_twice() -> None:
    plain = make_metrics(Resources(surface_setup("und", "crk", [entry("tânisi")])))
    assert [metric.info.id for metric in plain] == [
        "exact_match_rate", "equivalent_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio",
    ]  # fmt: skip
    [taken] = Scorer(plain).statistics(translations(["tânisi"], ["tânisi"]))
    assert Scorer(plain).entry_values(taken).values["equivalent_match_rate"] is None
    thai = make_metrics(Resources(surface_setup("en", "th", [entry("ภาษาไทย", variants=("ไทย",))])))
    assert "tok:char" in next(m.signature for m in thai if m.info.id == "bleu")
    refuses(ValueError, "listed twice", Scorer, [ChrfPlusPlus(), ChrfPlusPlus()])


@examples(20, 120)
@given(sentences, sentences, st.lists(sentences, max_size=2))
def test_every_text_is_in_range(output: str, reference: str, variants: list[str]) -> None:
    item = Translation(entry(reference, variants=tuple(variants)), output)
    shown = SCORER.entry_values(SCORER.statistics([item])[0])
    for metric in METRICS:
        value = shown.values[metric.info.id]
        assert value is None or metric.info.low <= value <= metric.info.high + 1e-9
    assert 0.0 <= (shown.composite or 0.0) <= 1.0 + 1e-12


FORBIDDEN = ("sacrebleu", "regex", "scipy", "httpx", "sqlite3", "keyring", "textual", "rich")


def test_import_of_the_scorer_loads_nothing_heavy() -> None:
    code = (
        "import sys, scoring.core.scorer, scoring.card.scorecard\n"
        f"print([name for name in {FORBIDDEN} if name in sys.modules])\n"
        "from scoring.words.source_words import source_word_list\n"
        "assert len(source_word_list('en')[0]) > 4000\n"
        "assert 'wordfreq' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


EXAMPLE = {
    "exact_match_rate": 0.6613, "equivalent_match_rate": 0.7258, "chrf_plus_plus": 80.65,
    "bleu": 54.78, "fst_acceptance_rate": 1.0, "semantic_score": 0.6842,
}  # fmt: skip


def test_composite_of_the_example_and_of_profile_b() -> None:
    mixed = composite({"fst_acceptance_rate": 1.0, "chrf_plus_plus": 50.0, "exact_match_rate": 0.0})
    assert [(i.metric, round(i.effective_weight, 3)) for i in mixed.inputs] == [
        ("fst_acceptance_rate", 0.556), ("chrf_plus_plus", 0.333), ("exact_match_rate", 0.111),
    ]  # fmt: skip
    assert mixed.value == pytest.approx((0.25 + 0.15 * 0.5) / 0.45)
    assert mixed.coverage == pytest.approx(0.45)
    mixed = composite(EXAMPLE)
    assert (mixed.profile, mixed.value) == ("A", pytest.approx(0.8275, abs=5e-5))
    mixed = composite({"chrf_plus_plus": 40.0}, {"fst_acceptance_rate": "no FST installed for crk"})
    assert (mixed.profile, mixed.value) == ("B", pytest.approx(0.4))
    assert "no FST installed for crk" in mixed.profile_reason
    assert mixed.missing["semantic_score"] == "no value"
    assert composite({"code_switching_rate": 0.25}).value == pytest.approx(0.75)
    assert composite({"hallucination_rate": 1.0}).value == 0.0


def test_composite_without_weights_or_values_is_none() -> None:
    values = {"chrf_plus_plus": np.array([nan, 50.0]), "exact_match_rate": np.array([nan, nan])}
    found = composites(values, "B")
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(0.5)
    assert np.isnan(composites({"bleu": np.array([7.0])}, "B")).all()
    assert composite({"fst_acceptance_rate": True, "chrf_plus_plus": 1.0}).profile == "B"
    mixed = composite({"bleu": 50.0, "ter": 10.0})
    assert (mixed.value, mixed.inputs, mixed.coverage) == (None, (), 0.0)
    values = {"chrf_plus_plus": np.array([50.0, 50.0]), "exact_match_rate": np.array([1.0, nan])}
    assert composites(values, "B").tolist() == pytest.approx([(0.125 + 0.1) / 0.35, 0.5])

    nothing: object
    for nothing in (None, True, False, nan, inf, "0.5"):
        mixed = composite({"exact_match_rate": nothing, "chrf_plus_plus": 30.0})
        assert mixed.value == pytest.approx(0.3)
        assert "exact_match_rate" in mixed.missing


inside = st.sampled_from(sorted(set().union(*specification().profiles.values())))


@examples(15, 100)
@given(st.dictionaries(inside, st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1))
def test_arrays_give_the_single_composites(shares: dict[str, list[float]]) -> None:
    high = {id_: row.info.high for id_, row in specification().metrics.items()}
    values = {id_: np.array(row) * high[id_] for id_, row in shares.items()}
    profile = "A" if "fst_acceptance_rate" in values else "B"
    for place, value in enumerate(composites(values, profile)):
        mixed = composite({id_: float(row[place]) for id_, row in values.items()})
        assert (mixed.value is None and np.isnan(value)) or value == pytest.approx(mixed.value)
        parts = [i.normalised for i in mixed.inputs]
        assert not parts or min(parts) - 1e-12 <= value <= max(parts) + 1e-12


def test_thresholds() -> None:
    for value, tier in [
        (1.0, "fluent"), (0.85, "fluent"), (0.8499999, "deployable"), (0.70, "deployable"),
        (0.6999999, "functional"), (0.5, "functional"), (0.4999999, "emerging"), (0.3, "emerging"),
        (0.2999999, "baseline"), (0.0, "baseline"), (None, "unscored"), (float("nan"), "unscored"),
    ]:  # fmt: skip
        assert quality_tier(value) == tier


def test_every_page_writes_a_share_in_one_way() -> None:
    for share, places, written in ((0.75, 0, "75 %"), (0.697, 1, "69.7 %"), (-0.05, 1, "−5.0 %")):
        assert percent(share, places) == written
    assert minus(f"{-0.03:.2f}") == "−0.03"


WEIGHTS = {
    "A": {
        "fst_acceptance_rate": 25, "morphological_accuracy": 15, "chrf_plus_plus": 15,
        "semantic_score": 15, "equivalent_match_rate": 10, "code_switching_rate": 5,
        "terminology_adherence": 5, "hallucination_rate": 5, "exact_match_rate": 5,
    },
    "B": {
        "semantic_score": 25, "chrf_plus_plus": 25, "equivalent_match_rate": 15,
        "exact_match_rate": 10, "code_switching_rate": 10, "terminology_adherence": 5,
        "hallucination_rate": 5, "orthographic_accuracy": 5,
    },
}  # fmt: skip


def test_weights_tiers_ranges_and_directions_are_pinned() -> None:
    percent = {
        name: {id_: round(weight * 100) for id_, weight in weights.items()}
        for name, weights in specification().profiles.items()
    }
    assert percent == WEIGHTS
    assert [sum(weights.values()) for weights in percent.values()] == [100, 100]
    assert specification().tiers == (
        (0.85, "fluent"), (0.70, "deployable"), (0.50, "functional"), (0.30, "emerging"),
        (0.0, "baseline"),
    )  # fmt: skip
    assert (metric_info("chrf_plus_plus").low, metric_info("chrf_plus_plus").high) == (0, 100)
    assert metric_info("bleu").high == 100
    endless = {id_ for id_ in specification().metrics if metric_info(id_).high == inf}
    assert endless == {"ter", "length_ratio"}
    lower = {id_ for id_ in specification().metrics if metric_info(id_).better == "lower"}
    assert lower == {"ter", "code_switching_rate", "hallucination_rate"}


def test_every_metric_has_a_status_interval_needs_and_scale() -> None:
    for id_, row in specification().metrics.items():
        inside = any(id_ in weights for weights in specification().profiles.values())
        assert inside is (row.normalization is not None), id_
        assert inside is (row.excluded is None), id_
        built = {"implemented", "partial"} if maker(id_) else {"absent"}
        assert row.status in built, f"{id_}: change its status in specification.toml"
        assert (row.status == "partial") is bool(row.lacks), id_
        metric = maker(id_).make(Resources(SETUP))
        assert row.interval is not isinstance(metric, CorpusMetric), id_
        assert metric.info == metric_info(id_)
        assert row.needs, id_
        assert row.library, id_
        assert row.what.endswith("."), id_
    named = [need for row in specification().metrics.values() for need in row.needs]
    assert set(named) == set(specification().needs)
    scales = {id_: row.scale for id_, row in specification().metrics.items()}
    assert (scales["chrf_plus_plus"], scales["ter"]) == ("0–100", "0–∞, lower is better")
    assert (scales["length_ratio"], scales["exact_match_rate"]) == ("0–∞, 1 is ideal", "0–1")


SETUP = ScoringSetup(metrics=(), source_language="en", target_language="xx")
ALL = (*specification().metrics, "composite")


def test_metrics_go_by_all_of_their_names() -> None:
    for id_ in ALL:
        for name in (id_, title(id_), short_title(id_), typed_name(id_)):
            assert {metric_named(each) for each in (name, name.upper(), f" {name}")} == {id_}
    assert len({typed_name(id_) for id_ in ALL}) == len(ALL)
    assert all(name.isascii() and " " not in name and "+" not in name
               for name in map(typed_name, ALL))  # fmt: skip
    for named, ids in [
        ("chrf,bleu,comet", ("chrf_plus_plus", "bleu", "comet_score")),
        ("chrF++,CHRF", ("chrf_plus_plus",)),
        ("Rosetta,fst", ("rosetta", "fst_acceptance_rate")),
        ("code-switching,Code Switching Rate", ("code_switching_rate",)),
    ]:
        assert ScoringOptions(metrics=tuple(named.split(","))).metrics == ids


def test_unknown_metrics_are_answered_and_composite_refused() -> None:
    for name, words in [
        ("blue", "did you mean bleu?"), ("chrf+", "did you mean chrf?"),
        ("cometscore2", "did you mean comet?"), ("halucination", "did you mean hallucination?"),
        ("xyzzy", "there are exact, equivalent, chrf, bleu, ter, length, fst,"),
    ]:  # fmt: skip
        assert metric_named(name) is None
        assert words in unknown_metric(name)
        refuses(ValueError, "there is no metric", ScoringOptions, metrics=(name,))
        refuses(UsageError, "--metric: there is no metric", metric_asked, name, "--metric")
    refuses(ValueError, "made of other metrics", ScoringOptions, metrics=("composite",))


def test_lists_are_sorted_by_names(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    assert [sort_named(name) for name in ("chrF++", "exact_match_rate", "FST", "BLEU", "cost")] == [
        "chrf", "exact", "fst", "bleu", "cost"
    ]  # fmt: skip
    for typed, words in [("sepeed", "did you mean 'speed'"), ("xyzzy", "there are chrf, composite")]:
        refuses(UsageError, words, sort_named, typed)
    titles = {column.key: column.title for column in columns()}
    for metric in (
        "chrf_plus_plus", "composite", "exact_match_rate", "fst_acceptance_rate", "semantic_score",
    ):  # fmt: skip
        assert titles[sort_named(metric)] == SORTS[sort_named(metric)].words == short_title(metric)


matrices = (
    st.tuples(st.integers(1, 7), st.integers(1, 7))
    .flatmap(lambda shape: st.tuples(*[st.tuples(*[st.integers(0, 6)] * shape[1])] * shape[0]))
    .map(lambda rows: [list(row) for row in rows])
)


def total(weights: list[list[int]], pairs: list[int | None]) -> int:
    return sum(weights[row][column] for row, column in enumerate(pairs) if column is not None)


@examples(15, 100)
@given(matrices)
def test_pairs_are_worth_as_much_as_scipy_finds(weights: list[list[int]]) -> None:
    pairs = best_pairs(weights)
    used = [column for column in pairs if column is not None]
    assert len(used) == len(set(used))
    assert len(pairs) == len(weights)
    assert all(weights[row][column] for row, column in enumerate(pairs) if column is not None)
    rows, columns = optimize.linear_sum_assignment(weights, maximize=True)
    assert total(weights, pairs) == int(np.array(weights)[rows, columns].sum())


def test_small_and_large_matrices() -> None:
    small: Any
    for small, pairs in [
        ([], []), ([[]], [None]), ([[0]], [None]), ([[1, 1, 1], [1, 1, 1]], [0, 1]),
        ([[1], [1]], [0, None]), ([[3, 3], [3, 0]], [1, 0]),
        ([[2, 1], [2, 0], [0, 0]], [1, 0, None]), ([[5], [5], [6]], [None, None, 0]),
    ]:  # fmt: skip
        assert best_pairs(small) == pairs
    weights = np.random.default_rng(7).integers(0, 9, (60, 75))
    rows, columns = optimize.linear_sum_assignment(weights, maximize=True)
    found = best_pairs(weights.tolist())
    assert total(weights.tolist(), found) == int(weights[rows, columns].sum())


IDS = sorted({id_ for row in TASKS.values() for id_ in row.ids} - {"composite"})
VALUES = st.none() | st.floats(0, 100)


def test_a_translation_keeps_the_same_whatever_was_computed() -> None:
    assert columns_of(TRANSLATION, []) == columns_of(TRANSLATION, ["bleu"]) == TRANSLATIONS
    values = {"chrf_plus_plus": 51.5, "exact_match_rate": 1.0, "equivalent_match_rate": None}
    assert TRANSLATIONS.kept(values, 0.75) == (51.5, True, 0.75, None)

    for task in set(TASKS) - {TRANSLATION}:
        row = TASKS[task]
        assert columns_of(task, row.ids) == row
        assert row.headline
        assert "composite" not in row.ids


@examples(15, 100)
@given(st.sampled_from([*TASKS, "juggling"]), st.lists(st.sampled_from(IDS), unique=True))
def test_only_computed_metrics_are_kept_once(task: str, computed: list[str]) -> None:
    columns = columns_of(task, computed)
    shown = [columns.headline, columns.second, columns.third]
    named = [id_ for id_ in shown if id_]
    assert len(set(named)) == len(named)
    if task != TRANSLATION:
        assert set(columns.ids) <= set(computed)
        assert bool(columns.headline) == bool(computed)


@examples(15, 100)
@given(st.sampled_from(sorted(TASKS)), st.dictionaries(st.sampled_from(IDS), VALUES), VALUES)
def test_kept_values_return(task: str, values: dict[str, Any], mixed: float | None) -> None:
    columns = TASKS[task]
    told = columns.told(columns.kept(values, mixed))
    known = {**values, "composite": mixed}
    for id_, value in told.items():
        if id_ == columns.right and id_ not in (columns.headline, columns.second, columns.third):
            assert value == float(known.get(id_) == 1.0)
        else:
            assert value == known.get(id_)


def test_right_is_what_is_perfect_on_the_metrics_own_scale() -> None:
    assert TASKS["asr"].kept({"au.wer": 0.0})[1] is True
    assert TASKS["asr"].kept({"au.wer": 1.0})[1] is False
    assert TASKS["asr"].kept({"au.wer": None})[1] is False, "nothing known is not right"
    assert TASKS["math"].kept({"au.gsm8k_exact_match": 1.0})[1] is True
    assert TASKS["response"].kept({"nest.overall": 1.0})[1] is False, "nothing tells"


def test_a_set_up_names_its_task_only_where_it_is_another() -> None:
    plain = ScoringSetup(metrics=("bleu",), source_language="en", target_language="eo")
    assert "task" not in plain.model_dump()
    other = plain.model_copy(update={"task": "asr", "metrics": ("au.wer",)})
    assert ScoringSetup.model_validate(other.model_dump(mode="json")) == other
    assert other.columns == stated_columns(other.model_dump(mode="json")) == TASKS["asr"]
    stated: object
    for stated in (None, [], {"metrics": 3}, {"metrics": [1, None]}, {"task": None, "metrics": []}):
        columns = stated_columns(stated)
        assert columns == TRANSLATIONS or not columns.ids


def test_structural_share_is_that_of_the_table() -> None:
    note = "structural metrics weigh 40 %, by the table of §4.3; its introduction says 50 %"  # 0.25 + 0.15
    assert profile_note("A") == note
    assert (profile_note("B"), profile_note("A", calibrated=True)) == ("", "")
    assert sum(specification().profiles["A"].values()) == pytest.approx(1.0)
