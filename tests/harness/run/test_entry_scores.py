"""Rows of one entry: the verdict of its semantic score and all values of a pack; floors, exact however a run ends."""

import json
import re
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.formats.load import load
from harness.card.checking.verify_card import verify_card
from harness.card.exporting import ExportForm, export_run
from harness.card.model import EntryResult, card_hash
from harness.card.rows import row_entry
from harness.core.failures import RunState
from harness.method.method import Result
from harness.method.options import MethodOptions
from harness.run import running
from harness.run import scoring as run_floors
from harness.run.events import Control, EntryScored, Event
from harness.run.following import Follower
from harness.run.rescoring import rescore
from harness.run.scoring import LONG_STEPS, LOST, RunScorer, ScoredRow, ScoringProcess
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import floor_work, stored_floors
from harness.store.columns import entry_field
from harness.store.results import read_results
from harness.store.runs import Run, find_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Floor, Live, set_opening
from rosetta.stored_run import RunHandle
from rosetta_tui.entry.page import run_scoring, scores
from rosetta_tui.entry.rows import columns, entry_record
from rosetta_tui.html.entries import weakest
from rosetta_tui.live.scores import score_lines
from rosetta_tui.report.card import card_text
from rosetta_tui.session.picture import LiveRun
from scoring.card.floors import FloorWork
from scoring.core.metric import EntryStatistics
from scoring.core.setup import Translation
from scoring.core.specification import TRANSLATIONS, Tier
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.words.source_words import Resources
from tests.harness.evaluation import (  # fmt: skip
    FEW,
    Heard,
    chat_plan,
    corpus,
    kept,
    resume,
    run_corpus,
    sealed_card,
    whole_card,
)
from tests.harness.run.made import demo, scored
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, translated

WEIGHTS = {"EXACT_MATCH": 10, "VALID": 10, "WRONG_ORDER": 7, "PARTIAL": 4, "INCOMPLETE": 3, "WRONG": 0, "NO_OUTPUT": 0}
"""METRICS §6, in tenths."""


def test_verdict_stands_wherever_scores_of_an_entry_stand(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "glosses.tsv").write_text("kan\tdog\n", "utf-8")
    card = scored(store_path, 12, gloss_dictionary=tmp_path / "glosses.tsv")
    rows = [row for row in card["results"] if not row["withheld"]]
    said = [row["semantic_verdict"] for row in rows]
    assert len(set(said)) > 2
    for row, verdict in zip(rows, said, strict=True):
        assert row["statistics"]["semantic_score"][:2] == [WEIGHTS[verdict], 10]
    mean = sum(WEIGHTS[verdict] for verdict in said) / (10 * len(said))
    assert card["scores"]["semantic_score"] == pytest.approx(mean)
    assert verify_card(json.dumps(card).encode()).ok
    for wrong in ("EXACT_MATCH", "MISS"):
        place = next(n for n, row in enumerate(rows) if row["semantic_verdict"] != wrong)
        forged = json.loads(json.dumps(card))
        forged["results"][place]["semantic_verdict"] = wrong
        assert not verify_card(json.dumps(forged | {"run_card_hash": card_hash(forged)}).encode()).ok

    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    entries = RunHandle(card["run_id"], store_path).entries()
    assert [each["semantic_verdict"] for each in entries] == said
    with closing(open_store(store_path)) as store:
        run = find_run(store, "last")
        lines = export_run(store, run.id, ExportForm.JSONL).decode().splitlines()
        assert [json.loads(each)["semantic_verdict"] for each in lines] == said
        scoring = run_scoring(store, run)
        results = list(read_results(store, run.id))
        for result, verdict in zip(results, said, strict=True):
            assert verdict in scores(result, {}, scoring).plain
            values = scoring.entry(result)
            entry = row_entry(EntryResult.model_validate(card["results"][result.position]))
            record = entry_record(entry, "done", result, values.values, verdicts=values.verdicts)
            assert record["semantic_verdict"] == verdict
    [shown] = [each for each in columns(["semantic_score"], verdicts={"semantic_score"}) if each.key == entry_field("semantic_score")]  # fmt: skip
    assert shown.width >= len("EXACT_MATCH 1.00")
    assert f"{said.count('EXACT_MATCH')} EXACT_MATCH" in card_text(card)
    rows = [EntryResult.model_validate(each) for each in card["results"]]
    assert all(each.outputs[0].score.endswith(tuple(WEIGHTS)) for each in weakest(rows, TRANSLATIONS))


PROMPT = "Explain tides to a child."
ANSWER = "The moon pulls the water. Tides rise and fall.\n\n- high tide\n- low tide"

SEVEN = {
    "nest.length": 70 / 350,
    "nest.richness": 11 / 13,  # “the” and “tide” come twice
    "nest.coverage": 1 / 3,  # explain, tides, child: tides
    "nest.structure": 3 / 6,
    "nest.clarity": 1 - (2 / 9) / 50,  # sentences of 5, 4 and 4 words
    "nest.overall": 0.25 * 0.2 + 0.2 * 0.846 + 0.25 * 0.333 + 0.15 * 0.5 + 0.15 * 0.996,
    "nest.reading_time": 13 / 180 * 60,
}
"""By the formulas of response-quality-metrics, by hand."""


def test_rows_of_a_response_have_all_seven_values(store_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "responses.jsonl"
    file.write_text(json.dumps({"id": 1, "source": PROMPT, "predicted": ANSWER}), "utf-8")
    named = {"source_language": "en", "target_language": "en", "task": "response"}
    given = load(file, dataset=named)
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(json.dumps({"id": 1, "output": ANSWER}), "utf-8")
    options = MethodOptions(source_language="en", target_language="en", outputs=outputs)
    scoring = ScoringOptions(metrics=("nest",))
    run_corpus(store_path, given, Plan(method="replay", options=options, scoring=scoring))
    card = whole_card(store_path)
    [row] = card["results"]
    assert row["values"] == pytest.approx(SEVEN)
    assert verify_card(json.dumps(card).encode()).ok
    earlier = json.loads(json.dumps(card))  # a card of before, with what the task shows alone
    shown = ("nest.overall", "nest.coverage", "nest.richness")
    earlier["results"][0]["values"] = {id_: row["values"][id_] for id_ in shown}
    forged = json.loads(json.dumps(card))
    forged["results"][0]["values"]["nest.clarity"] = 1.0
    for each, holds in ((earlier, True), (forged, False)):
        each["run_card_hash"] = card_hash(each)
        assert verify_card(json.dumps(each).encode()).ok is holds


def test_silence_that_is_left_empty_is_no_failure(store_path: Path, tmp_path: Path) -> None:
    rows = [("Bonan matenon", "bonan tagon"), ("", ""), ("", "ne"), ("Saluton", "")]
    file, outputs = tmp_path / "speech.jsonl", tmp_path / "outputs.jsonl"
    file.write_text("\n".join(json.dumps({"id": n, "audio": "a.wav", "reference": reference}) for n, (reference, _) in enumerate(rows)), "utf-8")  # fmt: skip
    outputs.write_text("\n".join(json.dumps({"id": n, "output": said}) for n, (_, said) in enumerate(rows)), "utf-8")
    named = {"source_language": "eo", "target_language": "eo", "task": "asr"}
    options = MethodOptions(source_language="eo", target_language="eo", outputs=outputs)
    scoring = ScoringOptions(metrics=("au.wer",))
    plan = Plan(method="replay", options=options, scoring=scoring)
    run_corpus(store_path, load(file, dataset=named), plan)
    card = whole_card(store_path)
    failures = [row["error_class"] for row in card["results"]]
    assert failures == [None, None, None, "empty"], "only the last left words out"
    assert card["scores"]["au.wer"] == (1 + 0 + 1 + 1) / (2 + 1 + 1 + 1)
    assert card["scores"]["au.wer_empty_references"] == 2
    assert "2 entries with an empty reference" in card_text(card)
    assert verify_card(json.dumps(card).encode()).ok


SIZE = 150
FEW_ENTRIES = 40


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run work its floors out; those of other tests know them beforehand."""
    monkeypatch.setattr(run_floors, "floor_work", floor_work)


def expected() -> tuple[Floor, ...]:
    given = corpus(SIZE)
    setup = surface_setup("en", "eo", given.reveal_here()).model_copy(update={"metrics": FEW})
    metrics = make_metrics(Resources(setup, covered=given.reveal_here()))
    return stored_floors(FloorWork(given.reveal_here(), metrics).finish())


@pytest.mark.parametrize("how", ["", "drain", "stop"])
@pytest.mark.usefixtures("worked_out")
def test_floors_are_exact_however_a_run_ends(endpoint: Scripted, store_path: Path, how: str) -> None:
    begun_with: list[object] = []
    ended: list[Event] = []

    def answer(asked: Asked) -> Answer:
        if not begun_with:
            begun_with.append(kept(store_path).run.opening.floors)
        held = how and int(asked.source.split()[-1]) > 30
        return translated(asked, until=(lambda: bool(ended)) if held else None)

    def end(event: Event, control: Control) -> None:
        if how and isinstance(event, EntryScored) and event.result.position >= 20:
            getattr(control, how)()
            ended.append(event)

    endpoint.answer = answer
    heard = run_corpus(store_path, corpus(SIZE), chat_plan(endpoint.url), Heard(react=end))
    assert begun_with == [None], "the first call goes out before the floors are known"
    unfinished = [None] if how == "stop" else []  # nobody waits for them then
    assert kept(store_path).run.opening.floors in [expected(), *unfinished]
    if how:
        assert heard.finished.state is RunState.STOPPED
        heard = resume(store_path)
    assert kept(store_path).run.opening.floors == expected()
    assert [floor["chrf_plus_plus"] for floor in sealed_card(store_path)["floors"]] == [
        floor.chrf for floor in expected()
    ]
    again = run_corpus(store_path, corpus(SIZE), chat_plan(endpoint.url))
    assert again.started.floors == expected(), "the next run on the same entries has them at once"


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.usefixtures("worked_out")
def test_floors_of_another_process_are_exact(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch, *, killed: bool
) -> None:
    processes: list[ScoringProcess] = []

    class Watched(ScoringProcess):
        def __init__(self, store: Path, run: Run, *, floors: bool) -> None:
            super().__init__(store, run, floors=floors)
            processes.append(self)
            if killed:
                self.close()

    monkeypatch.setattr(run_floors, "LEAST_APART", SIZE)
    monkeypatch.setattr(run_floors, "ScoringProcess", Watched)
    endpoint.answer = translated
    run_corpus(store_path, corpus(SIZE), chat_plan(endpoint.url))
    assert len(processes) == 1
    assert processes[0].news.complete is not killed
    assert kept(store_path).run.opening.floors == expected()
    assert processes[0].wait(60), "it ends with the run"


@pytest.mark.usefixtures("worked_out")
def test_no_process_is_left_where_nobody_can_listen(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[ScoringProcess] = []

    class Watched(ScoringProcess):
        def close(self) -> None:
            super().close()
            ended.append(self)

    def refuse(_: Event, __: Control) -> None:
        raise OSError

    monkeypatch.setattr(run_floors, "LEAST_APART", FEW_ENTRIES)
    monkeypatch.setattr(run_floors, "ScoringProcess", Watched)
    with pytest.raises(OSError):  # noqa: PT011  the only one
        run_corpus(store_path, corpus(FEW_ENTRIES), chat_plan(endpoint.url), Heard(react=refuse))
    assert len(ended) == 1


COUNTED = """
import sys; sys.path[:] = sys.argv[4:]
from harness.run.scoring import work_alone
from scoring.card.floors import FloorWork
steps = []
FloorWork.step = lambda work: not steps.append(work)
FloorWork.done = property(lambda work: len(steps))
work_alone(*sys.argv[1:4])
"""


def test_scoring_process_is_ready_after_the_long_steps(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.answer = translated
    run_corpus(store_path, corpus(FEW_ENTRIES), chat_plan(endpoint.url))
    monkeypatch.setattr(run_floors, "CODE", COUNTED)
    process = ScoringProcess(store_path, kept(store_path).run, floors=True)
    while not process.ready:
        assert not process.wait(0.001)
    assert process.news.done >= LONG_STEPS
    process.close()


@pytest.mark.usefixtures("worked_out")
def test_scoring_process_of_a_stopped_run_stores_findings(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int | None] = []

    class Watched(ScoringProcess):
        def close(self) -> None:
            ready = self.ready
            super().close()
            codes.append(self._process.returncode if ready else None)

        def send(self, kind: str, group: object) -> Future[Any]:
            heard.control.stop()
            return super().send(kind, group)

    heard = Heard()
    monkeypatch.setattr(run_floors, "LEAST_WHILE_CALLING", SIZE)
    monkeypatch.setattr(run_floors, "ScoringProcess", Watched)
    endpoint.answer = translated
    run_corpus(store_path, corpus(SIZE), chat_plan(endpoint.url), heard)
    assert codes == [0], "it was not killed"


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.usefixtures("worked_out")
def test_outputs_scored_in_a_process_of_their_own_are_equal(
    endpoint: Scripted, store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, killed: bool
) -> None:
    processes: list[ScoringProcess] = []
    groups: list[bool] = []
    doings: list[str | None] = []

    class Watched(ScoringProcess):
        def __init__(self, store: Path, run: Run, *, floors: bool) -> None:
            super().__init__(store, run, floors=floors)
            processes.append(self)

        def send(self, kind: str, group: object) -> Future[Any]:
            if killed:
                self.close()
            rows = super().send(kind, group)
            groups.append(rows.result() is not None)
            return rows

    class Noted(RunScorer):
        def score(
            self, results: Sequence[Result], translations: Sequence[Translation]
        ) -> tuple[Sequence[ScoredRow], Sequence[EntryStatistics]]:
            scores = super().score(results, translations)
            doings.append(self._board.doing)
            return scores

    def answer(asked: Asked) -> Answer:
        place = int(asked.source.split()[-1])
        text = asked.source.upper() if place % 3 else f"“{asked.source}”"
        return json_answer(
            completion(text), until=lambda: not processes or (processes[0].ready and (place < 5 or bool(groups)))
        )

    endpoint.answer = answer
    plan = chat_plan(endpoint.url, metrics=(*FEW, "ter", "bleu"), strip=["quotes"])
    here = tmp_path / "here.sqlite"
    run_corpus(here, corpus(FEW_ENTRIES), plan)
    assert not processes, "it would not pay for few"
    monkeypatch.setattr(run_floors, "LEAST_WHILE_CALLING", FEW_ENTRIES)
    monkeypatch.setattr(run_floors, "ScoringProcess", Watched)
    monkeypatch.setattr(run_floors, "LOST_SECONDS", 0)
    monkeypatch.setattr(running, "RunScorer", Noted)
    run_corpus(store_path, corpus(FEW_ENTRIES), plan)
    assert groups == [False] if killed else groups and all(groups)
    assert (LOST in doings, doings[-1]) == (killed, None), "it is told, but not to the end"
    assert [scores_of(result) for result in kept(store_path).results] == [
        scores_of(result) for result in kept(here).results
    ]
    cards = [sealed_card(path) for path in (store_path, here)]
    there, own = [{id_: value for id_, value in card["scores"].items() if "latency" not in id_} for card in cards]
    assert there == own
    assert processes[0].wait(60), "it ends with the run"


def test_what_is_cached_or_secret_is_scored_here(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def refuse(store: Path, run: Run, *, floors: bool) -> ScoringProcess:
        begun.append(run.id)
        raise OSError(store, floors)

    monkeypatch.setattr(run_floors, "LEAST_WHILE_CALLING", FEW_ENTRIES)
    monkeypatch.setattr(run_floors, "ScoringProcess", refuse)
    endpoint.answer = translated
    for segment in ("development", "development", "held_out"):
        run_corpus(store_path, corpus(FEW_ENTRIES, segment=segment), chat_plan(endpoint.url))
        assert len(begun) == 1, "of the first run alone"


def scores_of(result: Result) -> tuple[object, ...]:
    return result.position, result.raw, result.statistics, result.headline, result.exact, result.second, result.third


@pytest.mark.usefixtures("worked_out")
def test_floors_so_far_are_shown_with_their_entries(endpoint: Scripted, store_path: Path) -> None:
    def end(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored):
            control.stop()

    plan = chat_plan(endpoint.url)
    run_corpus(store_path, corpus(SIZE), plan, Heard(react=end))
    for part in ((), PART):
        with closing(open_store(store_path)) as connection:
            run = find_run(connection, "last")
            set_opening(connection, run.id, run.opening.changed(floors=None))
            set_live(connection, run.id, RunState.RUNNING, Live(floors=part, at=time.time()))
        with closing(Follower(store_path, "last")) as follower:
            live = LiveRun()
            live.fold(follower.drain())
        assert live.progress is not None
        assert live.floors == part
        assert live.claim is not None
        assert (live.claim.claimable_tier is Tier.UNSCORED) is not bool(part)
        shown = "\n".join(line.plain for line in score_lines(live))
        assert ("on 64 entries" in shown) is bool(part)


PART = (Floor("source", 0.5, 40.0, FEW, 64),)


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.usefixtures("worked_out")
@pytest.mark.costly("it starts processes")
def test_cards_of_one_and_several_scoring_processes_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, killed: bool
) -> None:
    answered: list[bool] = []
    told: list[str] = []

    class Watched(ScoringProcess):
        def __init__(self, store: Path, run: Run, *, floors: bool) -> None:
            super().__init__(store, run, floors=floors)
            while not (self.ready or self.wait(0.001)):
                pass

        def send(self, kind: str, group: object) -> Future[Any]:
            if killed and len(answered) > 1:
                self._process.kill()
                self._process.wait()
            answer = super().send(kind, group)
            answered.append(answer.result() is not None)
            return answer

    monkeypatch.setattr(run_floors, "ScoringProcess", Watched)
    monkeypatch.setattr(run_floors, "GROUP", 8)
    cards = []
    for workers in (1, 2):
        path = tmp_path / f"{workers}.sqlite"
        given, plan = demo()
        run_corpus(path, given, plan.model_copy(update={"run": RunOptions(workers=workers)}), positions=range(24))
        assert bool(answered) is (workers > 1)
        cards.append(whole_card(path))
        with closing(open_store(path)) as connection:
            begun, calls = len(answered), RunOptions(workers=workers)
            again = rescore(connection, find_run(connection, "last"), ScoringOptions(multi_ref=True), told.append, calls=calls)  # fmt: skip
        assert (len(answered) > begun) is (workers > 1)
        cards.append(whole_card(path, again))
    assert all(answered) is not killed
    assert (LOST in told) is killed
    for name in ("scores", "floors", "results"):
        one, several = (json.dumps([card[name] for card in cards[at : at + 2]]) for at in (0, 2))
        assert re.sub(LATENCY, "", one) == re.sub(LATENCY, "", several)


LATENCY = r'"[a-z_]*latency[a-z_]*": [0-9.e-]+'
