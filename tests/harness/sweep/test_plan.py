"""Plans of sweeps, what is said of wrong ones, and two worker processes that share a pause."""

from __future__ import annotations

from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.sweep.expansion import expand, open_plan_corpus
from harness.sweep.plan import SweepPlan, read_plan
from harness.sweep.processes import WorkerProcesses
from tests.harness.scripted import Answer, Asked, error, price_table, serving, translated
from tests.harness.sweep.plans import CHAT, CORPUS, cells, read, written
from tests.harness.sweep.sweeping import begun, record
from tests.review.thorough import times


def test_every_combination_is_a_run_in_the_order_of_the_plan(tmp_path: Path) -> None:
    found = cells(
        tmp_path,
        "replicates = 2",
        '[axes]\nmodel = ["a", "b"]\ntemperature = [0.0, 0.7]\nprompt = ["plain-v1"]',
        CHAT,
    )
    names = [f"{m} · {t} · #{r}" for m, t, r in product("ab", ("0", "0.7"), (1, 2))]
    assert [each.name for each in found] == names
    assert [each.place for each in found] == list(range(8))
    assert [each.setup.replicate for each in found] == [0, 1] * 4
    assert [each.setup.temperature for each in found] == [0.0, 0.0, 0.7, 0.7] * 2
    assert [each.setup.model_slug for each in found] == ["a"] * 4 + ["b"] * 4
    assert len({each.setup_hash for each in found}) == 8


def test_the_five_axes_reach_the_run(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"notes": ["Plurals end in -j."]}', "utf-8")
    (tmp_path / "words.tsv").write_text("dog\thundo\n", "utf-8")
    found = cells(
        tmp_path,
        '[axes]\nmodel = ["m"]\ntemperature = ["none"]\nprompt = ["coached-v1"]',
        'coaching = ["notes.json"]',
        'tools = [{ label = "dictionary", tools = ["lookup"], glossary = "words.tsv" }]',
        CHAT.replace("chat", "pipeline"),
    )
    options = found[0].request.plan.options
    assert options.temperature is None
    assert (options.prompt, options.coaching) == ("coached-v1", tmp_path / "notes.json")
    assert (options.tools, options.glossary) == (("lookup",), tmp_path / "words.tsv")
    assert found[0].labels == {
        "model": "m", "temperature": "none", "prompt": "coached-v1",
        "coaching": "notes.json", "tools": "dictionary",
    }  # fmt: skip


def test_combinations_are_left_out_and_axes_without_meaning(tmp_path: Path) -> None:
    found = cells(
        tmp_path,
        '[axes]\nmodel = ["a", "b", "c"]\ntemperature = [0.0, 0.7]',
        '[[exclude]]\nmodel = ["a", "b"]\ntemperature = 0.7',
        CHAT,
    )
    assert [each.name for each in found] == ["a · 0", "b · 0", "c · 0", "c · 0.7"]
    found = cells(
        tmp_path,
        "replicates = 2",
        '[axes]\nmodel = ["a", { label = "copy", method = "copy-source" }]\ntemperature = [0, 1]',
        CHAT,
    )
    named = [each.name for each in found if each.setup.method == "copy-source"]
    assert (named, len(found), found[-1].labels) == (["copy"], 5, {"model": "copy"})


def test_same_run_and_stored_plan_have_the_same_key(tmp_path: Path) -> None:
    one = cells(tmp_path, '[axes]\nmodel = ["a", "b"]', CHAT)
    other = cells(tmp_path, '[axes]\nmodel = ["b"]\ntemperature = [0]', CHAT)
    assert one[1].key == other[0].key
    scored = cells(tmp_path, '[axes]\nmodel = ["b"]', f'{CHAT}metrics = "chrf"')
    assert scored[0].setup_hash == one[1].setup_hash
    assert scored[0].key != one[1].key
    fewer = cells(tmp_path, '[select]\nlimit = 3\n[axes]\nmodel = ["b"]', CHAT)
    assert fewer[0].key != one[1].key
    found = read(
        tmp_path, "replicates = 3", '[axes]\nmodel = ["a"]\ntools = [[], ["lookup"]]', CHAT
    ).plan
    assert SweepPlan.model_validate_json(found.stored) == found


def test_paths_count_from_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c.tsv").write_text("id\tsource\treference\n1\ta dog\thundo\n", "utf-8")
    (tmp_path / "own.txt").write_text("Translate {source_language}.", "utf-8")
    languages = '[reading]\nsource_language = "en"\ntarget_language = "eo"\n'
    path = written(
        tmp_path,
        f'{languages}[axes]\nmodel = ["m"]\nprompt = ["own.txt", "plain-v1"]',
        CHAT,
        head='version = 1\ncorpus = "c.tsv"\n',
    )
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    plan = read_plan(path).plan
    assert plan.corpus == str(tmp_path / "c.tsv")
    prompts = [each.options["prompt"] for each in plan.axes.prompt]
    assert prompts == [str(tmp_path / "own.txt"), "plain-v1"]


MODEL = '[axes]\nmodel = ["a"]'


def test_what_is_wrong_is_told_with_file_line_field_and_mend(tmp_path: Path) -> None:
    for parts, said in [
        ((f"{MODEL}\nmodels = 1", CHAT), "line 5, field 'axes.models': there is no such axis. Did you mean model?"),
        ((f"{MODEL}\ntemperature = [true]", CHAT), "line 5, field 'axes.temperature': a number is wanted"),
        (('[axes]\nmodel = "a"', CHAT), "line 4, field 'axes.model': a list in square brackets is wanted"),
        (('[axes]\nmodel = ["a", "a"]', CHAT), "line 4, field 'axes.model': 'a' stands here twice"),
        ((MODEL, f"{CHAT}max_tokens = \"many\""), "line 8, field 'fixed.max_tokens': a whole number is wanted"),
        ((f"{MODEL}\ntemperature = [3]", CHAT), "line 5, field 'axes.temperature.0': a number of at most 2 is wanted"),
        ((MODEL, f"{CHAT}conccurency = 3"), "line 8, field 'fixed.conccurency': there is no such option. Did you mean concurrency?"),
        ((MODEL, f"{CHAT}budget = 3"), "line 8, field 'fixed.budget': this is not said here; the money is the sweep's"),
        ((MODEL, f"{CHAT}replicate = 3"), "line 8, field 'fixed.replicate': this is not said here; say `replicates`"),
        ((MODEL, f'{CHAT}model = "b"'), "line 8, field 'fixed.model': it is an axis already"),
        ((MODEL, f'{CHAT}text = "b"'), "line 8, field 'fixed.text': no run takes this option"),
        ((MODEL, '[fixed]\nendpoint = "ollama"'), "line 5, field 'fixed': say `method`"),
        ((f'{MODEL}\n[[exclude]]\nmodel = "b"', CHAT), "line 6, field 'exclude.0.model': 'b' is no value of this axis. It has: a."),
        ((f'{MODEL}\n[[exclude]]\nspeed = "b"', CHAT), "line 6, field 'exclude.0.speed': there is no such axis."),
        ((f'{MODEL}\n[[exclude]]\nmodel = "a"', CHAT), "line 5, field 'exclude.0': no run is left"),
        (("replicates = 0", MODEL, CHAT), "line 3, field 'replicates': A number of at least 1 is wanted"),
        (("budget_usd = -1", MODEL, CHAT), "line 3, field 'budget_usd': A number above 0 is wanted"),
        (("budget_usd = 1", MODEL, CHAT.replace("127.0.0.1:9", "llm.example")), "line 3, field 'budget_usd': run 'chat': The price of this model is unknown"),
        (("budjet_usd = 1", MODEL, CHAT), "line 3, field 'budjet_usd' is not known here"),
        (('[axes]\nmodel = ["a", { label = "b", model = "a" }]', CHAT), "line 3, field 'axes': the runs 'a' and 'b' are the same"),
        ((MODEL, f'{CHAT}[fixed.settings]\napi_key = "sk-1"'), "--set: 'api_key' looks like a key"),
        ((MODEL, CHAT.replace("chat", "chatt")), "run 'chatt': Method 'chatt' is not known. Did you mean 'chat'?"),
        (("x = [", CHAT), "not valid TOML"),
    ]:  # fmt: skip
        with pytest.raises(UsageError) as wrong:
            cells(tmp_path, *parts)
        told = str(wrong.value)
        assert told.startswith(f"{tmp_path / 'plan.toml'}: ")
        assert said in told


def test_a_table_without_a_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"line 4, field 'axes\.model': a table needs a `label`"):
        read(tmp_path, '[axes]\nmodel = [{ model = "a" }]', CHAT)


def test_more_than_ten_thousand_runs_are_refused_at_once(tmp_path: Path) -> None:
    for replicates, temperatures in [(1000, 11), (1, 10_001), (1, 1001)][: times(1, 3)]:
        values = ", ".join(f"{place / 20000}" for place in range(temperatures))
        models = ", ".join(f'"{place}"' for place in range(1001 if temperatures == 1001 else 1))
        axes = f"[axes]\nmodel = [{models}]\ntemperature = [{values}]"
        with pytest.raises(UsageError, match=r"field 'axes': [\d,]+ runs are more than 10,000"):
            cells(tmp_path, f"replicates = {replicates}", axes, CHAT)


def test_known_prices_let_a_budget_be_kept(tmp_path: Path) -> None:
    prices = price_table(tmp_path, {"a": (1.0, 2.0)}).name
    found = cells(tmp_path, "budget_usd = 1", MODEL, f'{CHAT}prices = "{prices}"')
    assert found[0].request.plan.run.budget_usd is None


def test_secret_entries_are_refused(tmp_path: Path) -> None:
    text = CORPUS.read_text("utf-8").replace('"segment": "development"', '"segment": "held_out"')
    assert text != CORPUS.read_text("utf-8")
    (tmp_path / "secret.json").write_text(text, "utf-8")
    path = written(tmp_path, MODEL, CHAT, head='version = 1\ncorpus = "secret.json"\n')
    found = read_plan(path)
    with pytest.raises(UsageError, match="a sweep takes no secret entries"):
        expand(found, open_plan_corpus(found))


ALLOWED = 8
PAUSE = 1.0


@pytest.mark.thorough
def test_pause_of_one_process_holds_for_the_other(tmp_path: Path) -> None:
    refused: list[Asked] = []

    def limited(asked: Asked) -> Answer:
        over = len(server.asked) > ALLOWED
        if over and (not refused or asked.at < refused[0].at + PAUSE):
            refused.append(asked)
            return error(429, headers={"retry-after": str(PAUSE)})
        return translated(asked, seconds=0.05)

    with serving(limited) as server:
        store, sweep = begun(tmp_path, server.url, size=15)
        with closing(WorkerProcesses(store, sweep.number, 2)) as workers:
            workers.start()
            while not workers.wait(600):
                pass
    found = record(store)
    assert (found.state, {each.failed for each in found.cells}) == ("complete", {0})
    assert 0 < len(refused) <= 4, "the calls that were under way, and no more"
