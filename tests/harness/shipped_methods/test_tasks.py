"""Tasks that are no translations, prompts and their slots, and what can be said to a method."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpora.languages.tags import language_name, tag_script
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from corpora.model.task import TASKS
from harness.core.calls import Usage
from harness.core.failures import ErrorClass, UsageError
from harness.endpoint.endpoints import no_key
from harness.inputs.outputs import own_outputs
from harness.inputs.prompt import Prompt, load_prompt, shipped_versions
from harness.method.method import Method, shares
from harness.method.options import MethodOptions, check_options, flag
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.shipped_methods.registry import build
from rosetta_tui.commands.run import run
from tests.corpora.tasks.records import RECORDS, SECRET, corpus_of
from tests.harness.evaluation import Heard, kept, resume, run_corpus
from tests.harness.sealed.refusals import refuses
from tests.harness.shipped_methods.conftest import HttpCalls, Server, completion, options
from tests.review.thorough import examples, first

OTHERS = sorted(set(TASKS) - {"translation"})
ASKED = sorted(name for name in OTHERS if TASKS[name].asks_models)


def question(name: str, **more: Any) -> Entry:
    return corpus_of(name, RECORDS[name] | more).entries[0].question()


def chat(server: Server, name: str, **more: Any) -> Method:
    return build("chat", options(task=name, endpoint=server.url, model="m", **more), (), no_key)


@pytest.mark.parametrize("name", ASKED)
async def test_model_gets_its_task_s_prompt(server: Server, calls: HttpCalls, name: str) -> None:
    server.answer = lambda _: completion(" so ")
    method = chat(server, name)
    [output] = await method.translate([question(name)], calls)
    assert output.text == ('["so", "so"]' if name == "chat" else "so")
    assert method.setup.prompt_version == f"{name}-v1"
    system = server.received[0].body["messages"][0]["content"]
    assert system == load_prompt(f"{name}-v1").fill(options().languages)
    assert SECRET not in json.dumps([each.body for each in server.received], ensure_ascii=False)


async def test_message_shows_what_the_task_does_by_turns(server: Server, calls: HttpCalls) -> None:
    server.answer = lambda _: completion("x")
    weather = '[{"name": "weather", "parameters": {"properties": {"split": {}}}}]'
    for name, asked in (
        ("qa", "Evidence:\n1. It was Anna.\n\nQuestion: Who?"),
        ("multiple_choice", "Which?\n\nA. a\nB. b"),
        ("text2sql", "Schema:\ncreate table item(id)\n\nQuestion: How many?"),
        ("function_call", f"Functions:\n{weather}\n\nRequest: Weather in Riga?"),
        ("math", "6 times 7?"),
    ):
        await chat(server, name).translate([question(name)], calls)
        assert server.received[-1].body["messages"][-1]["content"] == asked
    server.answer = lambda body: completion(f"re: {body['messages'][-1]['content']}")
    [output] = await chat(server, "chat").translate([question("chat")], calls)
    assert json.loads(output.text or "") == ["re: Hi", "re: Bye"]
    last = server.received[-1].body["messages"]
    assert [each["role"] for each in last] == ["system", "user", "assistant", "user"]
    assert [each["content"] for each in last[1:]] == ["Hi", "re: Hi", "Bye"]
    server.answer = lambda body: completion("" if len(body["messages"]) > 2 else "fine")
    [output] = await chat(server, "chat").translate([question("chat")], calls)
    assert (output.text, output.error_class) == (None, ErrorClass.EMPTY)
    assert output.error == "Turn 2 of 2: The answer is empty."


def test_options_and_methods_of_translation_are_refused_for_others(server: Server) -> None:
    for told, option in (
        ({"batch_size": 2}, "--batch-size"),
        ({"source_name": "X"}, "--source-name"),
        ({"coaching": Path("c.json")}, "--coaching"),
    ):
        with pytest.raises(UsageError, match=f"{option} is for translation, and .* is qa"):
            chat(server, "qa", **told)
    for method in ("copy-source", "constant", "glossary", "pipeline", "api", "api:deepl"):
        for name in OTHERS:
            with pytest.raises(UsageError, match=f"not do .*{name}.*`rosetta score FILE OUTPUTS`"):
                build(method, options(task=name), (), no_key)
    for name in ("asr", "diarization"):
        refuses(UsageError, "Instead, score outputs that were made elsewhere", chat, server, name)


@pytest.mark.parametrize("name", OTHERS)
def test_the_outputs_that_records_bring_are_replayed(name: str) -> None:
    bare = {"id": 2, "source": "s", "reference": "A: b"}
    given = own_outputs(corpus_of(name, RECORDS[name]).reveal_here())
    brings = any(field.startswith("predicted") for field in RECORDS[name]) or name == "chat"
    assert (given is not None) == brings
    if given is None:
        with pytest.raises(UsageError, match="'replay' needs --outputs"):
            build("replay", options(task=name), corpus_of(name, RECORDS[name]).reveal_here())
        return
    assert SECRET in (given.output(1).text or "")
    if name in {"asr", "judged", "response"}:
        both = own_outputs(corpus_of(name, RECORDS[name], bare).reveal_here())
        assert both.output(2).error == "The record brings no output with it."


def plan(corpus: Corpus) -> Plan:
    tags = {"source_language": "en", "target_language": "eo", "task": corpus.dataset.task}
    scoring = ScoringOptions(metrics=("exact_match_rate",))
    return Plan(method="replay", options=MethodOptions.model_validate(tags), scoring=scoring)


@pytest.mark.parametrize(
    "name", first(3, ["chat", "asr", "text2sql", *sorted({*OTHERS} - {"chat", "asr", "text2sql"})])
)
def test_a_run_of_every_task_is_stored_scored_and_read_back(store_path: Path, name: str) -> None:
    fields = {"chat": {}, "function_call": {}, "dialogue_state": {}, "asr": {"audio": None}}
    record = RECORDS[name] | fields.get(name, {"predicted": "A: own"})
    corpus = corpus_of(name, record, {**record, "segment": "held_out"}, record)
    heard = run_corpus(store_path, corpus, plan(corpus), positions=[0, 2])
    assert [result.error for result in heard.scored] == [None, None]
    stored = kept(store_path)
    assert [each.output for each in stored.results] == [each.output for each in heard.scored]
    assert stored.run.opening.floors == ()
    assert stored.card["dataset"]["task"] == name


def test_resumed_run_with_secret_records_keeps_its_outputs(store_path: Path) -> None:
    rows = [{"source": f"s{n}", "reference": "r", "predicted": f"p{n}"} for n in range(6)]
    secret = [row | {"segment": "held_out"} for row in rows[:3]]
    corpus = corpus_of("qa", *secret, *rows[3:])
    heard = Heard(react=lambda event, control: control.stop())
    run_corpus(store_path, corpus, plan(corpus), heard, positions=[0, 3, 4])
    again = resume(store_path)
    assert again.finished.state == "complete"
    assert [each.output for each in kept(store_path).results] == ["p0", "p3", "p4"]


@examples(15, 200)
@given(st.text(), st.text())
def test_filling_interprets_no_value_and_no_other_text(first: str, second: str) -> None:
    filled = Prompt("p", "[{one}|{two}]").fill({"one": first, "two": second})
    assert filled == f"[{first}|{second}]"
    prompt = Prompt("p", first)
    if not prompt.slots and "{{" not in first:
        assert prompt.fill({}) == first


def test_slots_and_shipped_versions_fill(tmp_path: Path) -> None:
    prompt = Prompt("p", 'Keep {{name}} and {"1": "x"} and {0.__class__} for {who}.')
    assert prompt.slots == {"who"}
    kept = 'Keep {name} and {"1": "x"} and {0.__class__} for {{name}}.'
    assert prompt.fill({"who": "{{name}}"}) == kept
    with pytest.raises(UsageError, match=r"\{source_langauge\}.*\{\{source_langauge\}\}"):
        Prompt("p", "{source_langauge}").fill({"source_language": "English"})
    known = {"source_language", "target_language", "source_tag", "target_tag"}
    more = {"coached-v1": {"notes", "examples"}, "retry-v1": {"findings"}}
    of_tasks = {f"{each.name}-v1" for each in TASKS.values() if each.asks_models}
    of_tasks -= {"translation-v1"}
    ours = {"plain-v1", "coached-v1", "batch-v1", "retry-v1", "tools-v1", "analyse-v1"}
    assert ours | of_tasks == set(shipped_versions())
    for version in shipped_versions():
        prompt = load_prompt(version)
        assert prompt.text
        assert prompt.slots <= known | more.get(version, set())
    file = tmp_path / "mine-v2.txt"
    file.write_text("\ufeffTo {target_language}.\n", "utf-8")
    assert load_prompt(str(file)) == Prompt("mine-v2", "To {target_language}.")
    for content in (b"One:\n{source}\n", b"One:\r\n{source}\r\n", b"One:\r{source}\r"):
        file.write_bytes(content)
        assert load_prompt(str(file)).text == "One:\n{source}"
    for wrong, words in ((b" \n", "empty"), (b"\xff", "UTF-8")):
        file.write_bytes(wrong)
        refuses(UsageError, words, load_prompt, str(file))


def test_options_have_ranges_flags_and_defaults() -> None:
    cases: list[dict[str, Any]] = [
        {"temperature": float("nan")}, {"temperature": -0.1}, {"temperature": 2.1}, {"max_tokens": 0},
        {"batch_size": 0}, {"replicate": -1}, {"max_retries": 21}, {"no_such_option": 1},
        {"body": {"seed": 2**60}}, {"body": {"x": float("inf")}}, {"settings": {"x": "\ud800"}},
    ]  # fmt: skip
    for fields in cases:
        with pytest.raises(ValidationError):
            options(**fields)
    asked = options(model="m", body={"a": [1]}, checks=["length"], glossary="d.tsv")
    assert MethodOptions.model_validate_json(asked.model_dump_json()) == asked
    check_options("m", options(temperature=0.0, batch_size=1, body={}))
    with pytest.raises(UsageError, match="--temperature does not apply to method 'm': leave it"):
        check_options("m", options(temperature=0.3))
    with pytest.raises(UsageError, match="It takes --model, --check"):
        check_options("m", options(text="x", model="y"), needs=["model"], takes=["checks"])
    offered = {flag_ for option in run.params for flag_ in option.opts}
    unnamed = {"source_language", "target_language", "file_lines", "service"}  # api:SERVICE
    for name in MethodOptions.model_fields.keys() - unnamed:
        assert flag(name) in offered, name
    assert not [name for name in map(flag, MethodOptions.model_fields) if re.search("[_A-Z]", name)]
    for tag, name, script in [
        ("en", "English", None), ("crk", "Plains Cree", None),
        ("crk-Cans", "Plains Cree (Canadian Aboriginal syllabics)", "Cans"),
        ("crk_latn", "Plains Cree (Latin script)", "Latn"), ("pt-BR", "Portuguese (BR)", None),
        ("zh-Hant-TW", "Chinese (traditional characters, TW)", "Hant"), ("qaa", "qaa", None),
        ("iu", "Inuktitut", None),
    ]:  # fmt: skip
        assert (language_name(tag), tag_script(tag)) == (name, script)


COUNTS = st.integers(0, 10**9)


@examples(15, 200)
@given(st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS), st.integers(1, 500))
def test_shares_add_up_and_differ_by_one_at_most(usage: Usage, entries: int) -> None:
    parts = [part for part in shares(usage, entries) if part is not None]
    assert len(parts) == entries
    assert sum(parts[1:], parts[0]) == usage
    prompts = [part.prompt_tokens for part in parts]
    assert max(prompts) - min(prompts) <= 1
    assert shares(None, 3) == [None, None, None]
