"""Texts that must not leave do not: a real server on this machine hears nothing that it should not."""

import json
import stat
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from corpora.formats.load import load
from harness.card.load import load_card
from harness.core.failures import UsageError
from harness.endpoint import offline
from harness.endpoint.keys import no_key
from harness.privacy import FILE, NobodyAnswersForServer, answered, make_method, remember
from harness.run.rescoring import rescore
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.evaluation import LANGUAGES, chat_plan, corpus, run_corpus
from tests.harness.scripted import Scripted
from tests.harness.sealed.refusals import refuses

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
    words, plan = "terms of the corpus keep these entries on this machine", chat_plan(ELSEWHERE)
    refuses(UsageError, words, make_method, plan, made.entries, made.entries, no_key)
    assert offline.why() == offline.SECRET
    run_corpus(store_path, made, chat_plan(endpoint.url))
    assert len(endpoint.asked) == 2
    with closing(open_store(store_path)) as store:
        card = load_card(store, find_run(store, "last").id).as_json()
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


@pytest.mark.parametrize(
    ("segment", "switch"), [("held_out", False), ("development", True), ("development", False)]
)
def test_a_plug_in_is_behind_the_door_from_its_first_line(
    tmp_path: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch, segment: str, switch: bool
) -> None:
    monkeypatch.delitem(sys.modules, "heard_by_the_test", raising=False)
    path = tmp_path / "sender.py"
    path.write_text(SENDER)
    made = corpus(2, segment=segment)
    plan = chat_plan(ELSEWHERE, run={"offline": switch})
    options = plan.options.model_copy(update={"model": None, "endpoint": None})
    plan = Plan(method=f"{path}:Sender", options=options, run=plan.run)
    method = make_method(plan, made.entries, made.entries, no_key)
    run_corpus(store_path, made, plan, method=method)
    heard = sys.modules["heard_by_the_test"].__dict__["all"]
    shut = segment == "held_out" or switch
    assert set(heard) == {"Refused" if shut else "went out"}
    assert len(heard) >= 4  # at import, at each construction, and for the entries


def test_the_door_stays_shut_and_a_later_run_says_so(store_path: Path, endpoint: Scripted) -> None:
    run_corpus(store_path, corpus(2, segment="held_out"), chat_plan(endpoint.url))
    public = corpus(2)
    with pytest.raises(UsageError, match=r"until it is closed\. Close Rosetta, open it again"):
        make_method(chat_plan(ELSEWHERE), public.entries, public.entries, no_key)
    make_method(chat_plan(endpoint.url), public.entries, public.entries, no_key)


@pytest.mark.parametrize(
    "model", ["gpt-oss:120b-cloud", "qwen3-coder:480b-Cloud", "x:cloud", "deepseek-cloud "]
)
@pytest.mark.parametrize(
    ("segment", "switch"), [("held_out", False), ("development", True), ("development", False)]
)
def test_cloud_models_are_not_local(
    endpoint: Scripted, model: str, segment: str, switch: bool
) -> None:
    remember(endpoint.url)
    made = corpus(2, segment=segment)
    plan = chat_plan(endpoint.url, model=model, run={"offline": switch})
    if segment == "development" and not switch:
        make_method(plan, made.entries, made.entries, no_key)
        return
    refuses(UsageError, "named as one of a cloud", make_method, plan, made.entries, made.entries, no_key)  # fmt: skip
    assert endpoint.asked == []


def test_a_person_answers_once_for_each_local_server(endpoint: Scripted, data_folder: Path) -> None:
    secret, public = corpus(2, segment="held_out"), corpus(2)
    plan = chat_plan(endpoint.url)
    make_method(plan, public.entries, public.entries, no_key)
    with pytest.raises(NobodyAnswersForServer, match=r"may forward.*--trust-local-server") as told:
        make_method(plan, secret.entries, secret.entries, no_key)
    assert told.value.url == endpoint.url
    trusted = plan.run.model_copy(update={"trust_local_server": True})
    trusting = plan.model_copy(update={"run": trusted})
    make_method(trusting, secret.entries, secret.entries, no_key)
    make_method(plan, secret.entries, secret.entries, no_key)
    assert list(answered()) == [endpoint.url]
    assert stat.S_IMODE((data_folder / FILE).stat().st_mode) == 0o600
    with pytest.raises(NobodyAnswersForServer):
        make_method(chat_plan("http://127.0.0.1:1/v1"), secret.entries, secret.entries, no_key)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"http://x": 1}', "[" * 100_000])
def test_a_damaged_list_of_servers_answers_for_none(data_folder: Path, content: str) -> None:
    data_folder.mkdir(exist_ok=True)
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
