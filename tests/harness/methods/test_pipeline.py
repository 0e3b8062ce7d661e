"""Translate, check, ask again: against a real local server."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from harness.core.failures import ErrorClass, UsageError
from harness.endpoint.keys import no_key
from harness.method.method import Method, MethodClass
from harness.methods.checks import LengthCheck, ScriptCheck, SourceCopyCheck
from harness.methods.pipeline import MOST_ROUNDS
from harness.methods.registry import build
from tests.harness.methods.conftest import HttpCalls, Server, entry, options
from tests.harness.methods.in_turn import asks_for, in_turn


@pytest.fixture
def glossary(tmp_path: Path) -> Path:
    file = tmp_path / "words.tsv"
    file.write_text("dog\tatim\nI see him\tniwâpamâw\n", "utf-8")
    return file


def make(server: Server, **given: Any) -> Method:
    return build("pipeline", options(endpoint=server.url, model="m", **given), (), no_key)


async def test_rejected_words_are_named_and_asked_again(
    server: Server, calls: HttpCalls, glossary: Path
) -> None:
    server.answer = in_turn("niwâpamâw atimos Bob 5", "niwâpamâw atim")
    method = make(server, glossary=glossary)
    [output] = await method.translate([entry("I see the dog, Bob 5")], calls)
    assert output.text == "niwâpamâw atim"
    again = server.received[1].body["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert again[2]["content"] == "niwâpamâw atimos Bob 5"
    assert "- atimos: not in the word list" in again[3]["content"]
    assert "Bob" not in again[3]["content"]
    assert output.notes == ("Try 1: rejected: atimos: not in the word list.", "Try 2: accepted.")
    setup = method.setup
    assert setup.method_class is MethodClass.PIPELINE
    assert (setup.method, setup.max_retries, setup.batch_size) == ("pipeline", 2, 1)
    assert setup.options["checks"] == [
        "source-copy",
        "length",
        "placeholders",
        "script",
        "glossary",
    ]
    digest = hashlib.sha256(glossary.read_bytes()).hexdigest()
    assert setup.options["glossary_sha256"] == digest


async def test_a_lost_placeholder_is_asked_for_and_the_first_answer_kept_beside(
    server: Server, calls: HttpCalls
) -> None:
    server.answer = in_turn("tânisi {nom} %d", "tânisi {name}")
    method = make(server, checks=("placeholders",))
    [output] = await method.translate([entry("Hello {name}")], calls)
    assert (output.text, output.raw) == ("tânisi {name}", "tânisi {nom} %d")
    asked = server.received[1].body["messages"][-1]["content"]
    assert "- {name}: missing" in asked
    assert "- {nom}: not in the text" in asked


async def test_an_answer_that_is_right_at_once_has_no_other(
    server: Server, calls: HttpCalls
) -> None:
    server.answer = in_turn("tânisi {name}")
    [output] = await make(server).translate([entry("Hello {name}")], calls)
    assert output.raw is None


async def test_the_best_try_is_kept(server: Server, calls: HttpCalls, glossary: Path) -> None:
    server.answer = in_turn("foo bar baz", "atim foo", "foo bar")
    method = make(server, glossary=glossary, max_retries=2)
    [output] = await method.translate([entry("my dog here")], calls)
    assert output.text == "atim foo"
    assert len(server.received) == 3


async def test_a_model_that_repeats_itself_is_not_asked_for_ever(
    server: Server, calls: HttpCalls, glossary: Path
) -> None:
    server.answer = in_turn("foo", "foo")
    [output] = await make(server, glossary=glossary, max_retries=9).translate(
        [entry("my dog")], calls
    )
    assert output.text == "foo"
    assert "not asked again" in output.notes[-1]


async def test_no_retries_means_one_call(server: Server, calls: HttpCalls, glossary: Path) -> None:
    server.answer = in_turn("foo")
    [output] = await make(server, glossary=glossary, max_retries=0).translate([entry("a")], calls)
    assert output.text == "foo"


async def test_an_empty_answer_after_a_rejected_one_keeps_the_text(
    server: Server, calls: HttpCalls, glossary: Path
) -> None:
    server.answer = in_turn("foo", "")
    [output] = await make(server, glossary=glossary).translate([entry("my dog")], calls)
    assert output.text == "foo"
    server.answer = in_turn("")
    [output] = await make(server, glossary=glossary).translate([entry("my dog")], calls)
    assert (output.text, output.error_class) == (None, ErrorClass.EMPTY)


async def test_the_model_may_look_words_up(
    server: Server, calls: HttpCalls, glossary: Path
) -> None:
    server.answer = in_turn(asks_for("Dog", "cat"), asks_for("x", name="rm"), "atim")
    method = make(server, glossary=glossary, tools=["lookup"])
    [output] = await method.translate([entry("my dog")], calls)
    assert output.text == "atim"
    assert method.setup.tools_enabled == ("lookup",)
    assert method.setup.prompt_version == "plain-v1+tools-v1"
    first, second, third = (received.body for received in server.received)
    assert first["tools"][0]["function"]["name"] == "lookup"
    answered = [(m["tool_call_id"], m["content"]) for m in second["messages"][-2:]]
    assert answered == [
        ("call_0", '{"translations": ["atim"]}'),
        ("call_1", '{"translations": []}'),
    ]
    assert second["messages"][-3]["tool_calls"][0]["id"] == "call_0"
    assert "only the tool" in third["messages"][-1]["content"]


@pytest.mark.parametrize("arguments", ["{", "[]", '{"word": 5}', None, 7, "[" * 100_000])
async def test_hostile_tool_calls_are_answered_not_obeyed(
    server: Server, calls: HttpCalls, glossary: Path, arguments: Any
) -> None:
    asked = asks_for("dog")
    asked["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = arguments
    server.answer = in_turn(asked, "atim")
    method = make(server, glossary=glossary, tools=["lookup"])
    [output] = await method.translate([entry("my dog")], calls)
    assert output.text == "atim"
    assert "error" in json.loads(server.received[1].body["messages"][-1]["content"])


async def test_a_model_that_only_looks_up_comes_to_an_end(
    server: Server, calls: HttpCalls, glossary: Path
) -> None:
    server.answer = lambda _: asks_for(*["dog"] * 40)
    method = make(server, glossary=glossary, tools=["lookup"])
    [output] = await method.translate([entry("my dog")], calls)
    assert output.error_class is ErrorClass.EMPTY
    assert len(server.received) == MOST_ROUNDS + 1
    assert server.received[-1].body["tool_choice"] == "none"
    assert "too many" in server.received[1].body["messages"][-1]["content"]


def test_the_check_of_scripts() -> None:
    syllabics = ScriptCheck("Cans")
    assert syllabics.rejections("I see Bob", "ᓂᐚᐸᒫᐤ Bob ᐊᑎᒼ 5!") == []
    assert [r.word for r in syllabics.rejections("I see him", "ᓂᐚᐸᒫᐤ atim")] == ["atim"]
    roman = ScriptCheck("Latn")
    assert roman.rejections("x", "niwâpamâw, e\u0302 ʼ o’s") == []
    assert [r.word for r in roman.rejections("x", "аtim")] == ["аtim"], "a Cyrillic а"
    assert ScriptCheck("Jpan").rejections("x", "猫がネコ") == []
    with pytest.raises(UsageError, match="Zzzx"):
        ScriptCheck("Zzzx")


def test_the_checks_of_the_whole() -> None:
    copy = SourceCopyCheck()
    assert copy.rejections("I see it", "i SEE it.")
    assert not copy.rejections("Bob", "Bob")
    assert not copy.rejections("12", "12")
    length = LengthCheck()
    assert length.rejections("dog", "x" * 60)
    assert length.rejections("a long sentence about dogs", "x")
    assert not length.rejections("dog", "a word of the language")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"checks": ["spelling"]}, "'spelling' is not known"),
        ({"checks": ["glossary"]}, "give --glossary"),
        ({"checks": ["script"], "target_language": "crk"}, "such as crk-Latn"),
        ({"tools": ["lookup"]}, "needs a dictionary"),
        ({"tools": ["shell"]}, "'shell' is not known"),
        ({"batch_size": 2}, "--batch-size does not apply"),
        ({"word_list": "nowhere.txt"}, "cannot be read"),
    ],
)
def test_wrong_usage(given: dict[str, Any], words: str) -> None:
    asked = options(endpoint="ollama", model="m").model_dump() | given
    asked["body"] = {}
    from harness.method.options import MethodOptions

    with pytest.raises(UsageError, match=words):
        build("pipeline", MethodOptions.model_validate(asked))
