"""Workers of a sweep: what they make, leave alone, take over from killed ones, and pay."""

import os
import random
import signal
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness import api
from harness.core.failures import UsageError
from harness.store.live_runs import alone
from harness.store.sqlite.database import open_store
from harness.store.sweeps import committed_usd, forget_troubles, read_cells, set_stopping, set_trouble, worker_lock
from harness.sweep.expansion import SweepCell, expand, open_plan_corpus
from harness.sweep.plan import PlanFile, SweepPlan, read_plan
from harness.sweep.processes import WorkerProcesses
from harness.sweep.working import DRAIN, cells_again, work
from tests.harness.scripted import Answer, Asked, error, price_table, serving, translated
from tests.harness.sealed.refusals import refuses
from tests.harness.sweep.made import SIZE, begun, never, record, stored_entries, written
from tests.review.thorough import first, times


def test_worker_makes_every_run_in_order_and_none_again(tmp_path: Path) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        models = [each.body["model"] for each in server.asked]
    found = record(store)
    assert found.state == "complete"
    assert [each.state for each in found.cells] == ["complete", "complete"]
    assert sorted(models) == ["a"] * SIZE + ["b"] * SIZE
    assert models.index("b") >= SIZE - 2  # the worker's share: so many may wait when the next begins
    assert [each.composite for each in found.cells] == [1.0, 1.0]
    assert (found.entries_done, found.entries_total) == (2 * SIZE, 2 * SIZE)
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        before = len(server.asked)
        work(store, sweep.number, never)
        store, wider = begun(tmp_path, server.url, '[axes]\nmodel = ["b", "c"]')
        assert wider.key != sweep.key
        work(store, wider.number, never)
        asked = [each.body["model"] for each in server.asked[before:]]
    found = record(store)
    assert (asked, [each.reused for each in found.cells]) == (["c"] * SIZE, [True, False])
    assert found.state == "complete"


def test_the_next_run_begins_while_the_last_call_of_one_is_under_way(tmp_path: Path) -> None:
    def waiting(asked: Asked) -> Answer:
        def others() -> bool:
            return any(each.body["model"] == "b" for each in server.asked)

        return translated(asked, until=others if asked.number == SIZE - 1 else None)

    with serving(waiting) as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        models = [each.body["model"] for each in server.asked]
        assert server.most_under_way <= 2  # the worker's share
    assert (record(store).state, sorted(models)) == ("complete", ["a"] * SIZE + ["b"] * SIZE)


def test_under_a_budget_the_next_run_begins_once_the_calls_of_one_are_in(tmp_path: Path) -> None:
    """Two that wait for each other's money, with all places for calls taken by one of them, would wait for good."""
    looks = 0

    def waiting(asked: Asked) -> Answer:
        def others() -> bool:
            nonlocal looks
            looks += 1
            return looks > 200 or any(each.body["model"] == "b" for each in server.asked)

        return translated(asked, until=others if asked.number == SIZE - 1 else None)

    prices = price_table(tmp_path, {"a": (1.0, 1.0), "b": (1.0, 1.0)})
    with serving(waiting) as server:
        fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed)
        work(store, sweep.number, never)
        models = [each.body["model"] for each in server.asked]
    assert record(store).state == "complete"
    assert looks > 200, "the second was asked while a call of the first was under way"
    assert sorted(models) == ["a"] * SIZE + ["b"] * SIZE


def test_files_of_scoring_are_known_by_their_content_whatever_their_path(tmp_path: Path) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("number\tNUMBER\n", "utf-8")
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, fixed='terms = "terms.tsv"\n')
        work(store, sweep.number, never)
        asked = len(server.asked)
        terms.rename(tmp_path / "moved.tsv")
        store, moved = begun(tmp_path, server.url, fixed='terms = "moved.tsv"\n')
        work(store, moved.number, never)
        assert [each.reused for each in record(store).cells] == [True, True]
        assert len(server.asked) == asked
        terms.write_text("number\tNOMBRO\n", "utf-8")
        store, other = begun(tmp_path, server.url, fixed='terms = "terms.tsv"\n')
        work(store, other.number, never)
    assert len({sweep.key, moved.key, other.key}) == 3
    assert [each.reused for each in record(store).cells] == [False, False]


def test_a_run_that_no_worker_is_at_waits_while_others_work(tmp_path: Path) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        cell = cells_again(sweep)[0]
        with closing(open_store(store)) as connection:
            run_id = read_cells(connection, sweep.number, 0)[0].run_id
        api.start(store, cell.request, run_id=run_id)
        assert record(store).cells[0].state == "stopped"
        with alone(store, worker_lock(sweep, 0)):
            assert record(store).cells[0].state == "waiting"
            with closing(open_store(store)) as connection:
                set_trouble(connection, sweep.number, 0, "no credit")
            assert record(store).cells[0].state == "stopped"


@pytest.mark.parametrize("option", first(1, ["terms", "prompt"]))
def test_changed_file_stops_the_runs_that_follow(tmp_path: Path, option: str) -> None:
    file, first = tmp_path / "words.txt", "number\tNUMBER\n" if option == "terms" else "Say it."
    file.write_text(first, "utf-8")

    def changing(asked: Asked) -> Answer:
        if asked.number == 0:  # the first run has read it, and the second begins when a third entry is sent
            file.write_text(f"{first}entry\tENTRY\n", "utf-8")
        return translated(asked)

    with serving(changing) as server:
        fixed = f'{option} = "{file.name}"\n'
        store, sweep = begun(tmp_path, server.url, fixed=fixed)
        work(store, sweep.number, never)
        assert {each.body["model"] for each in server.asked} == {"a"}
        found = record(store)
        assert [each.state for each in found.cells] == ["complete", "waiting"]
        assert "no longer what it was when the sweep was begun" in (found.cells[1].trouble or "")
        assert (file.name in (found.cells[1].trouble or "")) == (option == "terms")
        refuses(UsageError, "would be others than before", work, store, sweep.number, never)
        file.write_text(first, "utf-8")
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        work(store, sweep.number, never)
    assert record(store).state == "complete"


def test_cells_and_places_that_others_hold_are_left_to_them(tmp_path: Path) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        with alone(store, f"sweep-{sweep.id}-0"), alone(store, f"sweep-{sweep.id}-1"):
            work(store, sweep.number, never)
            assert record(store).state == "running"
        assert server.asked == []
        held = cells_again(sweep)[0]
        with alone(store, f"cell-{held.key[:32]}"):
            work(store, sweep.number, lambda: DRAIN if len(server.asked) >= SIZE else 0)
        assert {each.body["model"] for each in server.asked} == {"b"}
    with serving() as server:
        _, sweep = begun(tmp_path, server.url)
        (tmp_path / "c.tsv").write_text("id\tsource\treference\n1\tother\tOTHER\n", "utf-8")
        refuses(UsageError, "would be others than before", cells_again, sweep)


def test_stop_is_heeded_and_the_sweep_goes_on(tmp_path: Path) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, size=40)

        def stopping(asked: Asked) -> Answer:
            if asked.number == 5:
                with closing(open_store(store)) as connection:
                    set_stopping(connection, sweep.number, stopping=True)
            return translated(asked, seconds=0.05)

        server.answer = stopping
        work(store, sweep.number, never)
        stopped = record(store)
        assert stopped.state == "stopped"
        assert 5 <= stopped.entries_done == len(server.asked) < 80
        with closing(open_store(store)) as connection:
            set_stopping(connection, sweep.number, stopping=False)
        server.answer = translated
        work(store, sweep.number, never)
        assert len(server.asked) == 80
    assert record(store).state == "complete"


def test_stopped_run_is_left_until_the_sweep_goes_on(tmp_path: Path) -> None:
    def refuse(asked: Asked) -> Answer:
        return error(404, "no such model") if asked.body["model"] == "a" else translated(asked)

    with serving(refuse) as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        found = record(store)
        assert [each.state for each in found.cells] == ["stopped", "complete"]
        assert found.cells[0].trouble
        before = len(server.asked)
        work(store, sweep.number, never)
        assert len(server.asked) == before
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        work(store, sweep.number, never)
        assert len(server.asked) >= before


def test_runs_share_one_budget_and_a_greater_one_lets_them_go_on(tmp_path: Path) -> None:
    prices = price_table(tmp_path, {"a": (1000.0, 1000.0), "b": (1000.0, 1000.0)})
    fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
    with serving() as server:  # each call is billed 30 tokens: $0.03
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 0.8", fixed=fixed, size=20)
        work(store, sweep.number, never)
        found = record(store)
        charged = 0.03 * len(server.asked)
        assert found.state == "stopped"
        assert 0.1 < charged <= 0.8
        assert found.committed_usd == pytest.approx(charged)
        assert any("budget of the sweep" in (each.trouble or "") for each in found.cells)
        store, again = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed, size=20)
        assert again.number == sweep.number
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        work(store, sweep.number, never)
        assert len(server.asked) == 40
    assert record(store).committed_usd == pytest.approx(0.03 * 40)


@pytest.mark.costly("kills a real process and finishes what it left")
@pytest.mark.parametrize("seed", first(1, range(50)))
def test_killed_worker_pays_nothing_twice(tmp_path: Path, seed: int) -> None:
    prices = price_table(tmp_path, {"a": (10.0, 10.0), "b": (10.0, 10.0)})
    fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
    instant = random.Random(seed).randrange(1, 36)
    dead: list[int] = []
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed, size=20)
        count = 1 + seed % 2  # one alone is at two runs by turns
        with closing(WorkerProcesses(store, sweep.number, count)) as workers:

            def kill(asked: Asked) -> Answer:
                if asked.number == instant:
                    victim = workers.pids[seed % count]
                    dead.append(victim)
                    os.kill(victim, getattr(signal, "SIGKILL", signal.SIGTERM))
                return translated(asked, seconds=0.02)

            server.answer = kill
            workers.start()
            while not workers.wait(600):
                pass
        assert dead
        work(store, sweep.number, never)
        pairs = [(each.body["model"], each.source) for each in server.asked]
        found = record(store)
    assert found.state == "complete"
    for each in found.cells:
        assert sorted(stored_entries(store, each.run_id or "")) == sorted(map(str, range(20)))
    assert len(set(pairs)) == 40
    # in the killed process two calls under way, and where it was at two runs, two answers not yet written
    assert len(pairs) - 40 <= 2 * (3 - count)
    with closing(open_store(store)) as connection:
        assert 0.0003 * len(pairs) <= committed_usd(connection, sweep.number) * 1.000001 <= 5


CORPUS = sample_path(DEMO_CORPUS)
PLAN = f'version = 1\ncorpus = "{CORPUS.as_posix()}"\n'
"""Its first two lines; the third is what the parts of a test begin with."""
CHAT = '[fixed]\nmethod = "chat"\nendpoint = "http://127.0.0.1:9/v1"\n'


def read(folder: Path, *parts: str) -> PlanFile:
    return read_plan(written(folder, *parts, head=PLAN))


def cells(folder: Path, *parts: str) -> tuple[SweepCell, ...]:
    found = read(folder, *parts)
    return expand(found, open_plan_corpus(found))


def test_combinations_are_runs_in_order_unless_left_out(tmp_path: Path) -> None:
    axes = '[axes]\nmodel = ["a", "b"]\ntemperature = [0.0, 0.7]\nprompt = ["plain-v1"]'
    found = cells(tmp_path, "replicates = 2", axes, CHAT)
    names = [f"{m} · {t} · #{r}" for m, t, r in product("ab", ("0", "0.7"), (1, 2))]
    assert [each.name for each in found] == names
    assert [each.place for each in found] == list(range(8))
    assert [each.setup.replicate for each in found] == [0, 1] * 4
    assert [each.setup.temperature for each in found] == [0.0, 0.0, 0.7, 0.7] * 2
    assert [each.setup.model_slug for each in found] == ["a"] * 4 + ["b"] * 4
    assert len({each.setup_hash for each in found}) == 8
    axes = '[axes]\nmodel = ["a", "b", "c"]\ntemperature = [0.0, 0.7]'
    found = cells(tmp_path, axes, '[[exclude]]\nmodel = ["a", "b"]\ntemperature = 0.7', CHAT)
    assert [each.name for each in found] == ["a · 0", "b · 0", "c · 0", "c · 0.7"]
    axes = '[axes]\nmodel = ["a", { label = "copy", method = "copy-source" }]\ntemperature = [0, 1]'
    found = cells(tmp_path, "replicates = 2", axes, CHAT)
    named = [each.name for each in found if each.setup.method == "copy-source"]
    assert (named, len(found), found[-1].labels) == (["copy"], 5, {"model": "copy"})


def test_same_run_has_the_same_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = cells(tmp_path, '[axes]\nmodel = ["a", "b"]', CHAT)
    other = cells(tmp_path, '[axes]\nmodel = ["b"]\ntemperature = [0]', CHAT)
    assert one[1].key == other[0].key
    scored = cells(tmp_path, '[axes]\nmodel = ["b"]', f'{CHAT}metrics = "chrf"')
    assert scored[0].setup_hash == one[1].setup_hash
    assert scored[0].key != one[1].key
    fewer = cells(tmp_path, '[select]\nlimit = 3\n[axes]\nmodel = ["b"]', CHAT)
    assert fewer[0].key != one[1].key
    tools = '[axes]\nmodel = ["a"]\ntools = [[], ["lookup"]]'
    found = read(tmp_path, "replicates = 3", tools, CHAT).plan
    assert SweepPlan.model_validate_json(found.stored) == found
    (tmp_path / "notes.json").write_text('{"notes": ["Plurals end in -j."]}', "utf-8")
    (tmp_path / "words.tsv").write_text("dog\thundo\n", "utf-8")
    made = cells(
        tmp_path,
        '[axes]\nmodel = ["m"]\ntemperature = ["none"]\nprompt = ["coached-v1"]',
        'coaching = ["notes.json"]',
        'tools = [{ label = "dictionary", tools = ["lookup"], glossary = "words.tsv" }]',
        CHAT.replace("chat", "pipeline"),
    )
    options = made[0].request.plan.options
    assert options.temperature is None
    assert (options.prompt, options.coaching) == ("coached-v1", tmp_path / "notes.json")
    assert (options.tools, options.glossary) == (("lookup",), tmp_path / "words.tsv")
    assert made[0].labels == {
        "model": "m", "temperature": "none", "prompt": "coached-v1",
        "coaching": "notes.json", "tools": "dictionary",
    }  # fmt: skip
    (tmp_path / "c.tsv").write_text("id\tsource\treference\n1\ta dog\thundo\n", "utf-8")
    (tmp_path / "own.txt").write_text("Translate {source_language}.", "utf-8")
    languages = '[reading]\nsource_language = "en"\ntarget_language = "eo"\n'
    axes = f'{languages}[axes]\nmodel = ["m"]\nprompt = ["own.txt", "plain-v1"]'
    path = written(tmp_path, axes, CHAT, head='version = 1\ncorpus = "c.tsv"\n')
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
        wrong = refuses(UsageError, "", cells, tmp_path, *parts)
        told = str(wrong)
        assert told.startswith(f"{tmp_path / 'plan.toml'}: ")
        assert said in told
    with pytest.raises(UsageError, match=r"line 4, field 'axes\.model': a table needs a `label`"):
        read(tmp_path, '[axes]\nmodel = [{ model = "a" }]', CHAT)
    text = CORPUS.read_text("utf-8").replace('"segment": "development"', '"segment": "gold_standard"')
    assert text != CORPUS.read_text("utf-8")
    (tmp_path / "secret.json").write_text(text, "utf-8")
    path = written(tmp_path, MODEL, CHAT, head='version = 1\ncorpus = "secret.json"\n')
    found = read_plan(path)
    refuses(UsageError, "a sweep takes secret entries out of a vault only", expand, found, open_plan_corpus(found))
    prices = price_table(tmp_path, {"a": (1.0, 2.0)}).name
    priced = cells(tmp_path, "budget_usd = 1", MODEL, f'{CHAT}prices = "{prices}"')
    assert priced[0].request.plan.run.budget_usd is None
    for replicates, temperatures in [(1000, 11), (1, 10_001), (1, 1001)][: times(1, 3)]:
        values = ", ".join(f"{place / 20000}" for place in range(temperatures))
        models = ", ".join(f'"{place}"' for place in range(1001 if temperatures == 1001 else 1))
        axes = f"[axes]\nmodel = [{models}]\ntemperature = [{values}]"
        with pytest.raises(UsageError, match=r"field 'axes': [\d,]+ runs are more than 10,000"):
            cells(tmp_path, f"replicates = {replicates}", axes, CHAT)
