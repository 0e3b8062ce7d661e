"""Estimates, held against the runs that then came, and honest where nothing is known; the cost framework's numbers."""

import json
import random
import re
from contextlib import closing
from math import sqrt
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from harness.core.failures import UsageError
from harness.endpoint.endpoints import no_key
from harness.estimate import estimate as estimate_module
from harness.estimate.earlier import Earlier, PastEntry, Range, first_request, groups, guess
from harness.estimate.estimate import RunEstimate, estimate
from harness.estimate.framework import read_framework, shipped_text, work_out
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.shipped_methods.registry import build
from harness.store.live_runs import elapsed_seconds
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.commands import rosetta
from tests.harness.evaluation import LANGUAGES, chat_plan, corpus, corpus_of, kept, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, price_table
from tests.review.thorough import examples

WORDS = ["dog", "house", "I", "see", "yesterday", "the", "mountain", "whose", "teacher", "went"]


def sentences(count: int, seed: int = 7) -> Corpus:
    """Sentences of 2 to 24 words, with references a little longer."""
    draw = random.Random(seed)
    entries = []
    for place in range(count):
        source = " ".join(draw.choices(WORDS, k=draw.randint(2, 24)))
        entries.append(Entry(id=place, source=source, reference=f"{source.upper()} jes"))
    return corpus_of(entries)


def model(asked: Asked) -> Answer:
    """Count tokens in a way of its own, take longer for longer texts, stray a little."""
    draw = random.Random(asked.source)
    prompt = sum(len(message["content"]) / 3.1 + 3 for message in asked.body["messages"])
    answer = f"{asked.source.upper()} jes"
    written = round(len(answer) / 2.3 * draw.uniform(0.8, 1.2))
    usage = {"prompt_tokens": round(prompt), "completion_tokens": written}
    seconds = 0.01 + len(asked.source) / 5000
    return json_answer(completion(answer, usage=usage), seconds=seconds)


def estimated(path: Path, given: Corpus, plan: Plan, places: range | None = None) -> RunEstimate:
    method = build(plan.method, plan.options, given.reveal_here(), no_key)
    chosen = [given.reveal_here()[p] for p in places or range(len(given.entries))]
    with closing(open_store(path)) as connection:
        return estimate(connection, chosen, method, plan)


def totals(path: Path) -> dict[str, float]:
    stored = kept(path)
    with closing(open_store(path)) as connection:
        seconds = elapsed_seconds(connection, find_run(connection, "last").id)
    return {
        "prompt": sum(each.prompt_tokens or 0 for each in stored.results),
        "completion": sum(each.completion_tokens or 0 for each in stored.results),
        "cost": sum(each.spent_usd or 0.0 for each in stored.results),
        "seconds": seconds,
    }


def ranges(told: RunEstimate) -> dict[str, Range]:
    found = told.prompt_tokens, told.completion_tokens, told.cost_usd, told.seconds
    names = "prompt", "completion", "cost", "seconds"
    return {name: each for name, each in zip(names, found, strict=True) if each is not None}


def test_estimate_by_an_earlier_run(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    endpoint.answer = model
    given, plan = sentences(80), chat_plan(endpoint.url, prices=prices)
    run_corpus(store_path, given, plan, positions=range(30))
    told = estimated(store_path, given, plan, range(30, 80))
    run_corpus(store_path, given, plan, positions=range(30, 80))
    came = totals(store_path)
    assert (told.answered, len(ranges(told))) == (0, 4)
    for name, range_ in ranges(told).items():
        assert range_.low <= range_.expected <= range_.high
        slack = 3 if name == "seconds" else 1  # other programs of this machine take time
        assert range_.low / slack <= came[name] <= range_.high * slack, name
        if name != "seconds":
            assert range_.expected == pytest.approx(came[name], rel=0.2), name
        if name != "seconds":  # what the entries stray, and no more: 30 of them foretell 50 well
            assert range_.high < 1.2 * range_.expected, name
    assert "1 earlier run" in told.from_what[0]


def test_guess_holds_its_bounds(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    endpoint.answer = model
    given, plan = sentences(30), chat_plan(endpoint.url, prices=prices)
    told = estimated(store_path, given, plan)
    run_corpus(store_path, given, plan)
    came = totals(store_path)
    for name in ("prompt", "completion", "cost"):
        assert ranges(told)[name].low <= came[name] <= ranges(told)[name].high
    # a local model answers after half a second, then writes 25 tokens a second, one answer after the other
    assert told.seconds is not None
    assert told.seconds.expected == pytest.approx(30 * 0.5 + ranges(told)["completion"].expected / 25)
    assert "guessed" in " ".join(told.from_what)
    assert "prices.toml (made for this test), 2026-01-01" in " ".join(told.from_what)


def test_stored_answers_are_free(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    given, plan = sentences(12), chat_plan(endpoint.url, prices=prices)
    run_corpus(store_path, given, plan, positions=range(8))
    told = estimated(store_path, given, plan)
    assert told.answered == 8
    again = estimated(store_path, given, plan, range(8))
    assert again.answered == 8
    assert again.cost_usd == again.calls == Range(0, 0, 0)
    asked_anew = plan.model_copy(update={"run": plan.run.model_copy(update={"use_cache": False})})
    assert estimated(store_path, given, asked_anew, range(8)).answered == 0
    hidden = corpus(5, segment="held_out")
    run_corpus(store_path, corpus(5), plan)
    assert estimated(store_path, corpus(5), plan).answered == 5
    assert estimated(store_path, hidden, plan).answered == 0, "secret entries never"


def test_unknown_price_is_unknown_and_a_local_one_is_nothing(store_path: Path) -> None:
    told = estimated(store_path, corpus(5), chat_plan("https://llm.example.org/v1"))
    assert told.cost_usd is None
    assert "the price of llm.example.org mock is unknown" in " ".join(told.from_what)
    near = estimated(store_path, corpus(5), chat_plan("http://localhost:1/v1"))
    assert near.cost_usd == Range(0, 0, 0)
    plan = chat_plan("http://localhost:1/v1", max_retries=3)
    told = estimated(store_path, corpus(10), plan.model_copy(update={"method": "pipeline"}))
    assert (told.calls.low, told.calls.high) == (10, 40), "a pipeline may ask again"
    hidden = corpus(4, segment="gold_standard")
    json = estimated(store_path, hidden, chat_plan("http://localhost:1/v1")).as_json()
    assert "entry number" not in repr(json).lower()
    assert set(json) >= {"cost_usd", "seconds", "calls", "prompt_tokens", "from_what"}


def test_own_prices_go_before_what_was_reported(endpoint: Scripted, store_path: Path) -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 10, "cost": 0.5}
    endpoint.answer = lambda asked: json_answer(completion("x", usage=usage))
    table = price_table(store_path.parent.parent, {"mock": (1.0, 0.0)})
    priced = chat_plan(endpoint.url, prices=table)
    run_corpus(store_path, corpus(5), priced)
    told = estimated(store_path, corpus(15), priced, range(5, 15))
    assert ranges(told)["cost"].expected < 0.01  # a table of one's own goes before what was reported


def test_method_that_asks_nobody_is_free(store_path: Path) -> None:
    given = corpus(50)
    plan = Plan(method="copy-source", options=MethodOptions(**LANGUAGES))
    first = estimated(store_path, given, plan)
    assert first.cost_usd == Range(0, 0, 0)
    assert "never run here" in " ".join(first.from_what)
    run_corpus(store_path, given, plan)
    came = totals(store_path)["seconds"]
    told = estimated(store_path, given, plan)
    assert ranges(told)["seconds"].expected == pytest.approx(came, rel=0.01)


def test_services_are_charged_by_the_character(store_path: Path) -> None:
    options = MethodOptions(source_language="en", target_language="fr", batch_size=7)
    plan = Plan(method="api:deepl", options=options)
    given = sentences(20)
    told = estimated(store_path, given, plan)
    characters = sum(len(entry.source) for entry in given.reveal_here())
    assert (told.prompt_tokens, told.calls.expected) == (None, 3)
    cost = ranges(told)["cost"]
    assert cost.low == cost.high == pytest.approx(25e-6 * characters)


@pytest.mark.parametrize("size", [1, 4])
def test_shown_request_is_sent(endpoint: Scripted, store_path: Path, size: int) -> None:
    plan = chat_plan(endpoint.url, batch_size=size)
    given = corpus(8)
    method = build(plan.method, plan.options, given.reveal_here(), no_key)
    ahead = [first_request(method, group) for group in groups(given.reveal_here(), size)]
    run_corpus(store_path, given, plan)
    sent = [asked.body for asked in endpoint.asked if len(asked.body["messages"]) == 2]
    for request in ahead:
        assert request is not None
        assert request.body in sent


def test_plug_in_is_not_asked_ahead(tmp_path: Path, store_path: Path) -> None:
    code = tmp_path / "mine.py"
    code.write_text(PLUGIN, "utf-8")
    plan = Plan(method=f"{code}:Mine", options=MethodOptions(**LANGUAGES))
    told = estimated(store_path, corpus(6), plan)
    assert (told.cost_usd, told.prompt_tokens) == (None, None)
    assert "cannot be seen ahead" in told.from_what[0]
    assert not (tmp_path / "translated").exists()


def test_plug_in_is_estimated_by_its_runs(tmp_path: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = tmp_path / "mine.py"
    code.write_text(PLUGIN, "utf-8")
    plan = Plan(method=f"{code}:Mine", options=MethodOptions(**LANGUAGES))
    past = [PastEntry(10 + stray, 4, 0.5, 9, 5) for stray in (-2, 0, 0, 2)]
    monkeypatch.setattr(estimate_module, "look_back", lambda *_: Earlier(same=True, runs=1, entries=past, calls=[2.0]))
    told = ranges(estimated(store_path, corpus(6), plan))
    assert {name: range_.expected for name, range_ in told.items()} == {"prompt": 60, "completion": 24, "cost": 3}
    # variance 8/3 an entry: 1.645 × √(8/3 × 6 × (1 + 6/4)), and 3 % that are never known
    assert told["prompt"].high == pytest.approx(60 + 1.645 * sqrt(40) + 0.03 * 60)


PLUGIN = """
from pathlib import Path
from harness.method.method import MethodClass, Setup

class Mine:
    endpoint = "https://llm.example.org/v1"

    def __init__(self, options):
        self.setup = Setup(method="mine", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
                           model_slug="mine", condition="c")

    async def translate(self, entries, calls):
        Path(__file__).with_name("translated").touch()
        return []
"""


@examples(50, 500)
@given(st.text())
def test_guesses_keep_their_order_and_nothing_is_nothing(text: str) -> None:
    found = guess(text)
    assert 0 <= found.low <= found.expected <= found.high <= 4 * len(text)
    assert (found.high == 0) is (text == "")


def test_large_corpora_are_sampled(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = corpus(200)
    plan = chat_plan("http://localhost:1/v1")
    whole = estimated(store_path, given, plan)
    monkeypatch.setattr("harness.estimate.estimate.MOST_GROUPS", 40)
    part = estimated(store_path, given, plan)
    assert part.calls == whole.calls
    one, other = (ranges(each)["prompt"].expected for each in (part, whole))
    assert one == pytest.approx(other, rel=0.02)


def test_budget_for_no_call_is_told(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    def told(budget: float, most: int) -> str:
        plan = chat_plan(endpoint.url, prices=prices, max_tokens=most, run={"budget_usd": budget})
        return estimated(store_path, sentences(5), plan).budget

    small = told(0.0001, 2048)
    assert small.startswith("No call can go out. The next call could cost up to $")
    assert "(2,048 output tokens at most), more than the whole budget of $0.0001" in small
    assert "bills" not in small
    assert told(500.0, 2048) == ""


SEED = Path(__file__).parents[4] / "shared" / "seeds" / "benchmark-specification.md"
SHIPPED = work_out(read_framework(None))


NUMBER = r"\d{1,3}(?:,\d{3})*(?:\.\d\d)?"


def number(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.mark.skipif(not SEED.exists(), reason="the specification's documents are not beside the repository")
def test_every_number_of_the_document_is_shipped() -> None:
    text = SEED.read_text("utf-8")
    part = text[text.rindex("10. Cost Framework") : text.rindex("11. Extending to New Languages")]
    rows = read_framework(None).establishment.rows
    assert SHIPPED.establishment_total is not None
    ours = {f"{each.method}{each.model}": each.stated_usd for each in read_framework(None).run}
    ours |= {each.component: each.usd for each in rows}
    ours |= {"Total establishment": SHIPPED.establishment_total.stated_usd}
    ours |= {each.name: each.stated_usd for each in SHIPPED.programs}
    table = re.findall(rf"^(\S[^$\n]*?)\$({NUMBER})–({NUMBER})(/year)?(.*)$", part, re.MULTILINE)
    assert [(name, (number(low), number(high))) for name, low, high, _, _ in table] == list(ours.items())
    notes = {name: note for name, *_, note in table if note}
    told = (*SHIPPED.establishment, *SHIPPED.programs)
    assert notes == {each.name: each.notes for each in told}
    yearly = {name for name, _, _, year, _ in table if year}
    assert yearly == {each.component for each in rows if each.each_year}
    counts = re.search(r"12 models × 3 temps × 2 prompts × 2 coaching = (\d+) runs at \$([\d.]+) avg = \*\*\$(\d+)", part)  # fmt: skip
    [sweep] = read_framework(None).sweep
    assert counts is not None
    assert [sweep.runs, sweep.usd_per_run.low, SHIPPED.sweeps[0].usd.high] == [float(each) for each in counts.groups()]


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    assert called("cost", "--write", path).exit_code == 0
    assert path.read_text("utf-8") == shipped_text()
    again = called("cost", "--write", path)
    assert isinstance(again.exception, UsageError)
    assert "there already" in str(again.exception)
    text = path.read_text("utf-8").replace("usd = [2500, 6000]", "usd = 4000")
    path.write_text(text.replace("established = 5", "established = 2"), "utf-8")
    shown = json.loads(called("cost", path, "--json").output)
    assert shown["establishment_total"]["usd"] == [4850, 6700]
    assert shown["programs"][1]["usd"] == [2 * 4850 + 5 * 1000, 2 * 6700 + 5 * 3000]
    assert shown["differing"][0] == "Total establishment"
    run = '[[run]]\nmethod = "Ours"\nentries = 200\ncalls_per_entry = [1, 3]\nusd_per_call = 0.5\n'
    path.write_text(f"version = 1\n{run}")
    found = work_out(read_framework(path))
    assert (found.runs[0].usd, found.differing, found.establishment_total) == ((100, 300), (), None)
    assert SHIPPED.establishment_total is not None
    assert SHIPPED.establishment_total.usd == (3350, 8700)
    assert SHIPPED.establishment_total.stated_usd == (3350, 8500)
    done = called("cost")
    assert "! Total establishment: $3,350–8,500 is stated, but the numbers above come to $3,350–8,700." in done.output
    assert not any(each.differs for each in (*SHIPPED.runs, *SHIPPED.sweeps))


@pytest.mark.parametrize(("old", "new", "said"), [
    ("usd = [500, 1500]", "usd = [1500, 500]", r"line \d+, field 'establishment.rows.1.usd'.*the lowest first"),
    ("usd = [500, 1500]", "usd = -1", r"field 'establishment.rows.1.usd'.*numbers of 0"),
    ("usd = [500, 1500]", "usd = nan", r"field 'establishment.rows.1.usd'.*numbers of 0"),
    ("usd = [500, 1500]", "usd = true", r"field 'establishment.rows.1.usd'.*a number is wanted"),
    ("usd = [500, 1500]", "usd = [1, 2, 3]", r"two in square brackets"),
    ("usd = [500, 1500]", "cost = 1", r"field 'establishment.rows.1.*'"),
    ("entries = 150", "entries = 0", r"line \d+, field 'run.0.entries'.*at least 1"),
    ("version = 1", "version = 2", r"field 'version'"),
    ("version = 1", "version = ", r"not valid TOML"),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "own.toml"
    assert old in shipped_text()
    path.write_text(shipped_text().replace(old, new), "utf-8")
    with pytest.raises(UsageError, match=rf"own\.toml: .*{said}"):
        read_framework(path)


def called(*words: object) -> Result:
    return CliRunner().invoke(rosetta, [str(word) for word in words])
