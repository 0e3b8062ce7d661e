"""Texts that must not leave do not: neither to a server, nor by cards, rows, tags and what foreign code lets fall."""

import json
import socket
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from corpora.files.packed_list import PlaceMap
from corpora.files.problems import CorpusError
from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from harness.card.checking.verify_card import verify_card
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.rows import load_card
from harness.core.calls import Calls
from harness.core.failures import UsageError
from harness.endpoint import offline
from harness.endpoint.endpoints import no_key
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions
from harness.privacy import FILE, ClearedMethod, NobodyAnswersForServer, answered, clear, remember
from harness.run.rescoring import rescore
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta.stored_run import RunHandle
from tests.corpora.tasks.records import corpus_of
from tests.harness.evaluation import LANGUAGES, Heard, chat_plan, corpus, kept, query, run_corpus
from tests.harness.run.made import constant
from tests.harness.scripted import Scripted
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first

ELSEWHERE = "https://model.example/v1"
TERMS: dict[str, dict[str, Any]] = {
    "transmission": {"transmission": "local-only"},
    "licence": {"license": "CC-BY-NC-ND-4.0"},
    "mark": {},
}


@pytest.fixture(autouse=True)
def data_folder(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    return store_path.parent


def cleared(given: Corpus, plan: Plan) -> ClearedMethod:
    return clear(given.dataset, PlaceMap.of(given.entries), plan, given.entries, no_key)


def written(folder: Path, kind: str) -> Path:
    path = folder / "corpus.json"
    rows = [{"id": n, "source": f"kanario {n}", "reference": "r"} for n in range(2)]
    dataset = {"id": "made", **LANGUAGES, **TERMS[kind]}
    path.write_text(json.dumps({"dataset": dataset, "entries": rows}))
    if kind == "mark":
        mark = {"schema": "set/1", "role": "sealed"}
        (folder / "corpus.json.champollion.json").write_text(json.dumps(mark))
    return path


@pytest.mark.parametrize("kind", TERMS)
def test_terms_refuse_another_machine_and_stand_on_the_card(
    tmp_path: Path, store_path: Path, endpoint: Scripted, kind: str
) -> None:
    made = load(written(tmp_path, kind))
    words, plan = "These texts stay on this machine, and https", chat_plan(ELSEWHERE)
    refuses(UsageError, words, cleared, made, plan)
    assert offline.why() == offline.SECRET
    run_corpus(store_path, made, chat_plan(endpoint.url))
    assert len(endpoint.asked) == 2
    with closing(open_store(store_path)) as store:
        card: Any = load_card(store, find_run(store, "last").id).as_json()
    assert card["dataset"]["transmission"] == "local-only"
    expected = {"transmission": "transmission", "licence": "license", "mark": "role: sealed"}
    assert expected[kind] in card["dataset"]["transmission_because"]
    assert card["results"] == []
    assert "kanario" not in json.dumps(card)


SENDER = """
import socket, urllib.request
from harness.core.failures import ErrorClass
from harness.method.method import MethodClass, Output, Setup

def send(text):
    try:
        socket.create_connection(("192.0.2.1", 9), timeout=0.01)
    except OSError:
        heard.append("went out")
    except BaseException as error:
        heard.append(type(error).__name__)

import sys
heard = sys.modules.setdefault("heard_by_the_test", type(sys)("heard")).__dict__.setdefault("all", [])
send("at import")

class Sender:
    endpoint = None
    def __init__(self, options):
        send("at construction")
        self.setup = Setup(method="sender", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
                           model_slug="sender", condition="x")
    async def translate(self, entries, calls):
        send("in translate")
        return [Output("x") for _ in entries]
"""


SWITCHED = [("held_out", False), ("development", True), ("development", False)]


@pytest.mark.parametrize(("segment", "switch"), SWITCHED)
def test_a_plug_in_is_behind_the_door_from_its_first_line(
    tmp_path: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch, segment: str, switch: bool
) -> None:
    monkeypatch.delitem(sys.modules, "heard_by_the_test", raising=False)
    path = tmp_path / "sender.py"
    path.write_text(SENDER)
    made = corpus(2, segment=segment)
    plan = chat_plan(ELSEWHERE, run={"offline": switch, "may_send": "made up"})
    options = plan.options.model_copy(update={"model": None, "endpoint": None})
    plan = Plan(method=f"{path}:Sender", options=options, run=plan.run)
    run_corpus(store_path, made, plan, method=cleared(made, plan).method)
    heard = sys.modules["heard_by_the_test"].__dict__["all"]
    shut = segment == "held_out" or switch
    assert set(heard) == {"Refused" if shut else "went out"}
    assert len(heard) >= 4  # at import, at each construction, and for the entries


def test_the_door_stays_shut_and_a_later_run_says_so(store_path: Path, endpoint: Scripted) -> None:
    run_corpus(store_path, corpus(2, segment="held_out"), chat_plan(endpoint.url))
    public = corpus(2)
    with pytest.raises(UsageError, match=r"until it is closed\. Close Rosetta, open it again"):
        cleared(public, chat_plan(ELSEWHERE, run={"may_send": "made up"}))
    cleared(public, chat_plan(endpoint.url))


@pytest.mark.parametrize(("segment", "switch"), SWITCHED)
def test_cloud_model_is_not_local(endpoint: Scripted, segment: str, switch: bool) -> None:
    remember(endpoint.url)
    made = corpus(2, segment=segment)
    for model in ("gpt-oss:120b-cloud", "qwen3-coder:480b-Cloud", "x:cloud", "deepseek-cloud "):
        plan = chat_plan(endpoint.url, model=model, run={"offline": switch})
        if segment == "development" and not switch:
            cleared(made, plan)
        else:
            refuses(UsageError, "one of a cloud", cleared, made, plan)
    assert endpoint.asked == []


def test_a_person_answers_once_for_each_local_server(endpoint: Scripted, data_folder: Path) -> None:
    secret, public = corpus(2, segment="held_out"), corpus(2)
    plan = chat_plan(endpoint.url)
    cleared(public, plan)
    told = refuses(NobodyAnswersForServer, r"may forward.*--trust-local-server", cleared, secret, plan)
    assert told.url == endpoint.url
    trusted = plan.run.model_copy(update={"trust_local_server": True})
    trusting = plan.model_copy(update={"run": trusted})
    cleared(secret, trusting)
    cleared(secret, plan)
    assert list(answered()) == [endpoint.url]
    assert stat.S_IMODE((data_folder / FILE).stat().st_mode) == 0o600
    refuses(NobodyAnswersForServer, "", cleared, secret, chat_plan("http://127.0.0.1:1/v1"))


def test_a_damaged_list_of_servers_answers_for_none(data_folder: Path) -> None:
    data_folder.mkdir(exist_ok=True)
    for content in ("", "[]", "{", '{"http://x": 1}', "[" * 100_000):
        (data_folder / FILE).write_text(content)
        assert answered() == {}


def test_scoring_secret_outputs_again_shuts_the_door_too(
    store_path: Path, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    for segment, expected in [("development", 0), ("held_out", 1)]:
        run_corpus(store_path, corpus(2, segment=segment, variants=("x",)), chat_plan(endpoint.url))
        reasons: list[str] = []
        monkeypatch.setattr(offline, "shut", reasons.append)
        with closing(open_store(store_path)) as store, suppress(UsageError):
            rescore(store, find_run(store, "last"), ScoringOptions(multi_ref=True), lambda _: None)
        assert reasons == [offline.SECRET] * expected


CANARY = "KANARIO"
"""Begins every text of the records below, each with a number of its own."""

FIELDS: dict[str, dict[str, Any]] = {
    "qa": {"source": "K1", "evidence": [{"title": "K2", "text": "K3"}], "reference": "K4"},
    "chat": {"turns": [{"user": "K1", "reference": "K2"}, {"user": "K3"}], "category": "K4"},
    "function_call": {
        "source": "K1",
        "tools": [{"name": "K2", "description": "K3", "parameters": {"K4": {}}}],
        "reference_calls": [{"K2": {"K5": ["K6"]}}],
    },
    "multiple_choice": {"source": "K1", "choices": ["K2", "K3"], "reference": "A"},
    "text2sql": {"source": "K1", "database": "K2", "database_schema": "K3", "reference": "K4"},
    "ifeval": {"source": "K1", "instructions": [{"id": "K2", "kwargs": {"K3": "K4"}}]},
    "dialogue_state": {"source": "K1", "reference_state": {"K2": {"K3": "K4"}}},
}


def secret_corpus(name: str, **envelope: Any) -> Corpus:
    rows = [
        json.loads(json.dumps(FIELDS[name]).replace('"K', f'"{CANARY}-{number}-'))
        | ({} if envelope else {"segment": "held_out"})
        for number in range(2)
    ]
    return corpus_of(name, *rows, **envelope)


def asked(path: Path, corpus: Corpus, endpoint: Scripted) -> Heard:
    """Ask a model on this machine that a person answered for."""
    task = corpus.dataset.task
    options = MethodOptions(source_language="en", target_language="crk", task=task, endpoint=endpoint.url, model="m")
    scoring = ScoringOptions(metrics=("exact_match_rate",))
    plan = Plan(method="chat", options=options, run=RunOptions(trust_local_server=True), scoring=scoring)
    return run_corpus(path, corpus, plan)


LOCAL = {"transmission": "local-only"}
CASES: list[tuple[str, dict[str, str]]] = [*((name, {}) for name in FIELDS), ("qa", LOCAL)]


@pytest.mark.parametrize(("name", "envelope"), CASES)
def test_secret_record_is_not_exported_cached_or_told(
    store_path: Path, endpoint: Scripted, name: str, envelope: dict[str, str]
) -> None:
    heard = asked(store_path, secret_corpus(name, **envelope), endpoint)
    assert heard.finished.state == "complete"
    assert CANARY in json.dumps([each.body for each in endpoint.asked])
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        for form in set(ExportForm) - {ExportForm.CARD}:
            refuses(UsageError, "no row of it leaves", export_run, connection, run.id, form)
        refuses(UsageError, "released card", export_run, connection, run.id, ExportForm.CARD)
        card = card_bytes(load_card(connection, run.id))
    assert CANARY.encode() not in card
    assert verify_card(card).ok
    assert query(store_path, "SELECT count(*) FROM replies") == [(0,)]
    rows = RunHandle(run.run_id, store_path).entries()
    assert all(row["withheld"] for row in rows)
    assert CANARY not in json.dumps(rows)


@pytest.mark.parametrize("name", FIELDS)
def test_a_fault_in_a_secret_record_quotes_nothing(name: str) -> None:
    for field in FIELDS[name]:
        spoilt = FIELDS[name] | {field: {CANARY: [{CANARY: CANARY}]}, "segment": "held_out"}
        assert CANARY not in str(refuses(CorpusError, "", corpus_of, name, spoilt))


FREE = {"context": "kept in the lodge", "register": "of the elders", "provenance": "told by N. N."}
LISTED = {"context": "greeting", "register": "formal", "provenance": "elicited"}


def exported(path: Path, form: ExportForm) -> bytes:
    with closing(open_store(path)) as connection:
        number = find_run(connection, "last").id
        if form is ExportForm.CARD:  # which stays inside where an entry is secret
            return card_bytes(load_card(connection, number))
        return export_run(connection, number, form)


@pytest.mark.parametrize(("segment", "tags", "told"), [("held_out", FREE, False), ("held_out", LISTED, True), ("development", FREE, True)])  # fmt: skip
def test_free_tags_of_secret_entries_are_withheld_everywhere(
    store_path: Path, segment: str, tags: dict[str, str], told: bool
) -> None:
    run_corpus(store_path, corpus(6, segment=segment, **tags), constant())
    for form in ExportForm:
        if segment == "held_out" and form is not ExportForm.CARD:
            refuses(UsageError, "no row of it leaves", exported, store_path, form)
            continue
        written = exported(store_path, form)
        has_tags = form is not ExportForm.SACREBLEU
        assert {tag.encode() in written for tag in tags.values()} == {told and has_tags}
        if form is ExportForm.CARD:
            assert verify_card(written).ok


class Reaching:
    """A method that tries to reach another machine without saying so."""

    endpoint = None
    setup = Setup(
        method="reaching", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1", model_slug="reaching",
        condition="plug-in",
    )  # fmt: skip

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        socket.getaddrinfo("elsewhere.example", 80)
        return [Output("x") for _ in entries]


def test_refusal_for_secret_entries_blames_no_switch(store_path: Path) -> None:
    given = corpus(2, segment="gold_standard")
    heard = run_corpus(store_path, given, constant(), method=Reaching())
    said = f"{heard.finished.reason} {[result.error for result in kept(store_path).results]}"
    assert "--offline" not in said
    assert "Secret entries were opened, and nothing may leave this machine" in said


ROOT = Path(__file__).parents[3]

CLUMSY = """
import asyncio, gc, logging, threading, warnings
from harness.method.method import MethodClass, Output, Setup

class Going:
    def __init__(self, text):
        self.text = text
    def __del__(self):
        raise RuntimeError(self.text)

async def lost(text):
    raise ValueError(text)

def fail(text):
    raise KeyError(text)

class Clumsy:
    endpoint = None
    def __init__(self, options):
        self.setup = Setup(method="clumsy", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
                           model_slug="clumsy", condition="x")
    async def translate(self, entries, calls):
        text = entries[0].source
        warnings.warn(text)
        logging.getLogger("clumsy").error("failed on %s", text)
        try:
            fail(text)
        except KeyError:
            logging.getLogger("clumsy").exception(text)
        thread = threading.Thread(target=fail, args=(text,))
        thread.start()
        thread.join()
        Going(text)
        task = asyncio.create_task(lost(text))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task
        gc.collect()
        raise LookupError(text)
"""

RUN = """
import sys
from pathlib import Path
from harness.setup.plan import Plan
from harness.method.options import MethodOptions
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus

given = corpus(2, segment=sys.argv[3], source="kanario kantas")
plan = Plan(method=sys.argv[2] + ":Clumsy", options=MethodOptions(**LANGUAGES))
heard = run_corpus(Path(sys.argv[1]), given, plan)
print(heard.finished.reason)
"""


@pytest.mark.costly("its own program, whose standard error is read")
@pytest.mark.parametrize("segment", first(1, ["held_out", "development"]))
def test_class_and_place_alone_are_printed(tmp_path: Path, segment: str) -> None:
    plugin = tmp_path / "clumsy.py"
    plugin.write_text(CLUMSY)
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "data" / "r.sqlite"), str(plugin), segment],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    if segment == "development":
        assert done.stderr.count("kanario") >= 6
        return
    assert "kanario" not in done.stderr + done.stdout
    for kind in ("UserWarning", "KeyError", "ValueError", "RuntimeError", "clumsy (ERROR)"):
        assert kind in done.stderr
    assert f"{plugin}:" in done.stderr
