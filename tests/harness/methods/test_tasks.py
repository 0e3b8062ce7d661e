"""Tasks that are no translations: how models are asked, what a record brings with it, who refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from corpora.tasks.task import TASKS
from harness.core.failures import ErrorClass, UsageError
from harness.endpoint.keys import no_key
from harness.inputs.outputs import own_outputs
from harness.inputs.prompt import load_prompt
from harness.method.method import Method
from harness.method.options import MethodOptions
from harness.methods.registry import build
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from tests.corpora.tasks.records import RECORDS, SECRET, corpus_of
from tests.harness.evaluation import Heard, kept, resume, run_corpus
from tests.harness.methods.conftest import HttpCalls, Server, completion, options

OTHERS = sorted(set(TASKS) - {"translation"})
ASKED = sorted(name for name in OTHERS if TASKS[name].asks_models)


def question(name: str, **more: Any) -> Entry:
    return corpus_of(name, RECORDS[name] | more).entries[0].question()


def chat(server: Server, name: str, **more: Any) -> Method:
    return build("chat", options(task=name, endpoint=server.url, model="m", **more), (), no_key)


@pytest.mark.parametrize("name", ASKED)
async def test_a_model_gets_the_prompt_of_the_task_and_no_answer(
    server: Server, calls: HttpCalls, name: str
) -> None:
    server.answer = lambda _: completion(" so ")
    method = chat(server, name)
    [output] = await method.translate([question(name)], calls)
    assert output.text == ('["so", "so"]' if name == "chat" else "so")
    assert method.setup.prompt_version == f"{name}-v1"
    system = server.received[0].body["messages"][0]["content"]
    assert system == load_prompt(f"{name}-v1").fill(options().languages)
    assert SECRET not in json.dumps([each.body for each in server.received], ensure_ascii=False)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("qa", "Evidence:\n1. It was Anna.\n\nQuestion: Who?"),
        ("multiple_choice", "Which?\n\nA. a\nB. b"),
        ("text2sql", "Schema:\ncreate table item(id)\n\nQuestion: How many?"),
        (
            "function_call",
            (
                'Functions:\n[{"name": "weather", "parameters": {"properties": {"split": {}}}}]\n\n'
                "Request: Weather in Riga?"
            ),
        ),
        ("math", "6 times 7?"),
    ],
)
async def test_what_a_task_shows_stands_in_the_message(
    server: Server, calls: HttpCalls, name: str, asked: str
) -> None:
    server.answer = lambda _: completion("x")
    await chat(server, name).translate([question(name)], calls)
    assert server.received[0].body["messages"][-1]["content"] == asked


async def test_turns_are_asked_one_after_the_other_with_what_was_said(
    server: Server, calls: HttpCalls
) -> None:
    server.answer = lambda body: completion(f"re: {body['messages'][-1]['content']}")
    [output] = await chat(server, "chat").translate([question("chat")], calls)
    assert json.loads(output.text or "") == ["re: Hi", "re: Bye"]
    last = server.received[-1].body["messages"]
    assert [each["role"] for each in last] == ["system", "user", "assistant", "user"]
    assert [each["content"] for each in last[1:]] == ["Hi", "re: Hi", "Bye"]


async def test_a_turn_without_an_answer_fails_the_entry_and_names_the_turn(
    server: Server, calls: HttpCalls
) -> None:
    server.answer = lambda body: completion("" if len(body["messages"]) > 2 else "fine")
    [output] = await chat(server, "chat").translate([question("chat")], calls)
    assert (output.text, output.error_class) == (None, ErrorClass.EMPTY)
    assert output.error == "Turn 2 of 2: The answer is empty."


@pytest.mark.parametrize(
    ("told", "flag"),
    [({"batch_size": 2}, "--batch-size"), ({"source_name": "X"}, "--source-name"),
     ({"coaching": Path("c.json")}, "--coaching")],
)  # fmt: skip
def test_options_of_translation_are_refused_for_other_tasks(
    server: Server, told: dict[str, Any], flag: str
) -> None:
    with pytest.raises(UsageError, match=f"{flag} is for translation, and .* is qa"):
        chat(server, "qa", **told)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize(
    "method", ["copy-source", "constant", "glossary", "pipeline", "api", "api:deepl"]
)
def test_methods_that_translate_refuse_and_say_what_to_do(method: str, name: str) -> None:
    with pytest.raises(UsageError, match=f"does not do .*{name}.*`rosetta score FILE OUTPUTS`"):
        build(method, options(task=name), (), no_key)


@pytest.mark.parametrize("name", ["asr", "diarization"])
def test_a_model_that_reads_text_hears_no_recording(server: Server, name: str) -> None:
    with pytest.raises(UsageError, match="Instead, score outputs that were made elsewhere"):
        chat(server, name)


@pytest.mark.parametrize("name", OTHERS)
def test_the_outputs_that_records_bring_are_replayed(name: str) -> None:
    bare = {"id": 2, "source": "s", "reference": "A: b"}
    given = own_outputs(corpus_of(name, RECORDS[name]).entries)
    brings = any(field.startswith("predicted") for field in RECORDS[name]) or name == "chat"
    assert (given is not None) == brings
    if given is None:
        with pytest.raises(UsageError, match="'replay' needs --outputs"):
            build("replay", options(task=name), corpus_of(name, RECORDS[name]).entries)
        return
    assert SECRET in (given.output(1).text or "")
    if name in {"asr", "judged", "response"}:
        both = own_outputs(corpus_of(name, RECORDS[name], bare).entries)
        assert both is not None
        assert both.output(2).error == "The record brings no output with it."


def plan(corpus: Corpus) -> Plan:
    tags = {"source_language": "en", "target_language": "eo", "task": corpus.dataset.task}
    return Plan(
        method="replay",
        options=MethodOptions.model_validate(tags),
        scoring=ScoringOptions(metrics=("exact_match_rate",)),
    )


@pytest.mark.parametrize("name", OTHERS)
def test_a_run_of_every_task_is_stored_scored_and_read_back(store_path: Path, name: str) -> None:
    fields = {"chat": {}, "function_call": {}, "dialogue_state": {}, "asr": {"audio": None}}
    record = RECORDS[name] | fields.get(name, {"predicted": "A: own"})
    corpus = corpus_of(name, record, {**record, "segment": "held_out"}, record)
    heard = run_corpus(store_path, corpus, plan(corpus), positions=[0, 2])
    assert [result.error for result in heard.scored] == [None, None]
    stored = kept(store_path)
    assert [each.output for each in stored.results] == [each.output for each in heard.scored]
    assert stored.run.opening.floors == ()
    assert stored.card is not None
    assert stored.card["dataset"]["task"] == name


def test_a_run_with_secret_records_goes_on_with_the_outputs_it_began_with(
    store_path: Path,
) -> None:
    rows = [{"source": f"s{n}", "reference": "r", "predicted": f"p{n}"} for n in range(6)]
    secret = [row | {"segment": "held_out"} for row in rows[:3]]
    corpus = corpus_of("qa", *secret, *rows[3:])
    heard = Heard(react=lambda event, control: control.stop())
    run_corpus(store_path, corpus, plan(corpus), heard, positions=[0, 3, 4])
    again = resume(store_path)
    assert again.finished.state == "complete"
    assert [each.output for each in kept(store_path).results] == ["p0", "p3", "p4"]
