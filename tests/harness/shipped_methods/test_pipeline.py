"""Translate, check, ask again, also with the analyser: against a real local server."""

import hashlib
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.languages.shipped.epo.build import ANALYSER
from harness.core.failures import ErrorClass, UsageError
from harness.endpoint.endpoints import no_key
from harness.method.method import Method, MethodClass
from harness.method.options import MethodOptions
from harness.run.beginning import resume_method
from harness.shipped_methods.checks import LengthCheck, ScriptCheck, SourceCopyCheck
from harness.shipped_methods.pipeline import MOST_ROUNDS
from harness.shipped_methods.registry import build
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from tests.harness.evaluation import begun, chat_plan, corpus
from tests.harness.scripted import Scripted
from tests.harness.sealed.refusals import refuses
from tests.harness.shipped_methods.conftest import HttpCalls, Server, completion, entry, options


@pytest.fixture
def glossary(tmp_path: Path) -> Path:
    file = tmp_path / "words.tsv"
    file.write_text("dog\tatim\nI see him\tniwâpamâw\n", "utf-8")
    return file


def make(server: Server, **given: Any) -> Method:
    return build("pipeline", options(endpoint=server.url, model="m", **given), (), no_key)


async def test_rejected_words_asked_again(server: Server, calls: HttpCalls, glossary: Path) -> None:
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
    checks = ["source-copy", "length", "placeholders", "script", "glossary"]
    assert setup.options["checks"] == checks
    digest = hashlib.sha256(glossary.read_bytes()).hexdigest()
    assert setup.options["glossary_sha256"] == digest


async def test_lost_placeholder_is_asked_for_again(server: Server, calls: HttpCalls) -> None:
    server.answer = in_turn("tânisi {nom} %d", "tânisi {name}", "tânisi {name}")
    method = make(server, checks=("placeholders",))
    [output] = await method.translate([entry("Hello {name}")], calls)
    assert (output.text, output.raw) == ("tânisi {name}", "tânisi {nom} %d")
    asked = server.received[1].body["messages"][-1]["content"]
    assert "- {name}: missing" in asked
    assert "- {nom}: not in the text" in asked
    [output] = await make(server).translate([entry("Hello {name}")], calls)
    assert output.raw is None


@pytest.mark.parametrize(("answers", "retries", "kept", "calls_made"), [
    (("foo bar baz", "atim foo", "foo bar"), 2, "atim foo", 3), (("foo", "foo"), 9, "foo", 2),
    (("foo",), 0, "foo", 1), (("foo", ""), 1, "foo", 2), (("", ""), 0, None, 1),
])  # fmt: skip
async def test_best_try_is_kept(
    server: Server, calls: HttpCalls, glossary: Path, answers: Any, retries: int, kept: Any, calls_made: int
) -> None:  # fmt: skip
    server.answer = in_turn(*answers)
    method = make(server, glossary=glossary, max_retries=retries)
    [output] = await method.translate([entry("my dog here")], calls)
    assert (output.text, len(server.received)) == (kept, calls_made)
    assert (output.error_class is ErrorClass.EMPTY) == (kept is None)
    assert ("not asked again" in output.notes[-1]) == (retries == 9) if kept else True


async def test_model_may_look_words_up(server: Server, calls: HttpCalls, glossary: Path) -> None:
    server.answer = in_turn(asks_for("Dog", "cat"), asks_for("x", name="rm"), "atim")
    method = make(server, glossary=glossary, tools=["lookup"])
    [output] = await method.translate([entry("my dog")], calls)
    assert (output.text, method.setup.tools_enabled) == ("atim", ("lookup",))
    assert method.setup.prompt_version == "plain-v1+tools-v1"
    first, second, third = (received.body for received in server.received)
    assert first["tools"][0]["function"]["name"] == "lookup"
    answered = [(m["tool_call_id"], json.loads(m["content"])) for m in second["messages"][-2:]]
    assert answered == [("call_0", {"translations": ["atim"]}), ("call_1", {"translations": []})]
    assert second["messages"][-3]["tool_calls"][0]["id"] == "call_0"
    assert "only the tool" in third["messages"][-1]["content"]
    method = make(server, glossary=glossary, tools=["lookup"])
    for arguments in ("{", "[]", '{"word": 5}', None, 7, "[" * 100_000):
        asked = asks_for("dog")
        asked["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = arguments
        server.answer = in_turn(asked, "atim")
        [output] = await method.translate([entry("my dog")], calls)
        assert output.text == "atim"
        assert "error" in json.loads(server.received[-1].body["messages"][-1]["content"])
    server.received.clear()
    server.answer = lambda _: asks_for(*["dog"] * 40)
    [output] = await method.translate([entry("my dog")], calls)
    assert output.error_class is ErrorClass.EMPTY
    assert len(server.received) == MOST_ROUNDS + 1
    assert server.received[-1].body["tool_choice"] == "none"
    assert "too many" in server.received[1].body["messages"][-1]["content"]


def test_checks_of_scripts_and_of_the_whole() -> None:
    syllabics = ScriptCheck("Cans")
    assert syllabics.rejections("I see Bob", "ᓂᐚᐸᒫᐤ Bob ᐊᑎᒼ 5!") == []
    assert [r.word for r in syllabics.rejections("I see him", "ᓂᐚᐸᒫᐤ atim")] == ["atim"]
    roman = ScriptCheck("Latn")
    assert roman.rejections("x", "niwâpamâw, e\u0302 ʼ o’s") == []
    assert [r.word for r in roman.rejections("x", "аtim")] == ["аtim"], "a Cyrillic а"
    assert ScriptCheck("Jpan").rejections("x", "猫がネコ") == []
    refuses(UsageError, "Zzzx", ScriptCheck, "Zzzx")
    copy = SourceCopyCheck()
    assert copy.rejections("I see it", "i SEE it.")
    assert not copy.rejections("Bob", "Bob")
    assert not copy.rejections("12", "12")
    length = LengthCheck()
    assert length.rejections("dog", "x" * 60)
    assert length.rejections("a long sentence about dogs", "x")
    assert not length.rejections("dog", "a word of the language")


def test_wrong_usage(server: Server) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"checks": ["spelling"]}, "'spelling' is not known"),
        ({"checks": ["glossary"]}, "give --glossary"),
        ({"checks": ["script"], "target_language": "crk"}, "such as crk-Latn"),
        ({"tools": ["lookup"]}, "needs a dictionary"),
        ({"tools": ["shell"]}, "'shell' is not known"),
        ({"batch_size": 2}, "--batch-size does not apply"),
        ({"word_list": "nowhere.txt"}, "cannot be read"),
    ]
    for given, words in cases:
        asked = options(endpoint="ollama", model="m").model_dump() | given | {"body": {}}
        refuses(UsageError, words, build, "pipeline", MethodOptions.model_validate(asked))
    unknown: dict[str, Any] = {"analyser": None, "target_language": "tlh"}
    for given, words in (
        ({"checks": ["fst"], **unknown}, "--check fst needs an analyser.*`rosetta language check"),
        ({"tools": ["analyse"], **unknown}, "--tool analyse needs an analyser.*give --analyser"),
        ({"analyser": "gone.hfstol"}, r"--analyser: Analyser gone\.hfstol does not exist"),
        ({"analyser": __file__}, r"--analyser: Analyser test_pipeline\.py is "),
    ):
        with pytest.raises(UsageError, match=words):
            fst_make(server, **given)


pytestmark = pytest.mark.usefixtures("home")


def fst_make(server: Server, **given: Any) -> Method:
    told = {"source_language": "en", "target_language": "eo", "analyser": ANALYSER} | given
    asked = MethodOptions.model_validate({"endpoint": server.url, "model": "m"} | told)
    return build("pipeline", asked, (), no_key)


async def test_words_rejected_by_the_fst_are_asked_again(server: Server, calls: HttpCalls) -> None:
    accepted = "Bob, mi vidas la hundon {room}!"
    server.answer = in_turn("Bob, mi vidas the dogon en {room} 5!", accepted)
    [output] = await fst_make(server).translate([entry("Bob, I see the dog in {room} 5.")], calls)
    assert output.text == accepted
    again = server.received[1].body["messages"][3]["content"]
    reason = "no word that the language's analyser accepts"
    assert f"- the: {reason}\n- dogon: {reason}\n" in again
    assert not any(word in again for word in ("Bob", "room", "vidas"))
    assert output.notes[-1] == "Try 2: accepted."
    server.answer = in_turn("LA Hundo, la cxevalo")
    [output] = await fst_make(server).translate([entry("the dog, the horse")], calls)
    assert output.notes == ("Try 1: accepted.",)
    method = fst_make(server, tools=["analyse"])
    for word in ("", "\0", "a" * 100_000, "hundo\nhundo", "\ud800"):
        server.answer = in_turn(asks_for(word, name="analyse"), "hundo")
        [output] = await method.translate([entry("dog")], calls)
        assert output.text == "hundo"
        told = json.loads(server.received[-1].body["messages"][-1]["content"])
        assert told == {"accepted": False, "analyses": []}


def test_analyser_is_written_into_the_setup_if_used(server: Server, home: Path) -> None:
    setup = fst_make(server).setup
    assert setup.fst_sha256 == hashlib.sha256(ANALYSER.read_bytes()).hexdigest()
    assert (setup.fst_version or "").endswith(" epo.hfstol")
    assert "fst" in setup.options["checks"]
    assert len(setup.options["language_card_sha256"]) == 64
    assert str(ANALYSER.parent) not in setup.model_dump_json()
    unasked = fst_make(server, analyser=None).setup
    assert (unasked.fst_sha256, "fst" in unasked.options["checks"]) == (None, False)
    unused = fst_make(server, checks=["length"]).setup
    assert (unused.fst_version, unused.fst_sha256) == (None, None)
    with pytest.raises(UsageError, match="--analyser does not apply to method 'chat'"):
        build("chat", options(endpoint=server.url, model="m", analyser=ANALYSER), (), no_key)
    both: tuple[dict[str, Any], ...] = ({"checks": ["fst"]}, {"tools": ["analyse"]})
    for asked in both:
        assert fst_make(server, analyser=None, **asked).setup == fst_make(server, **asked).setup
    own = home / "languages" / "eo" / "eo.hfstol"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"")
    for asked in both:
        with pytest.raises(UsageError, match=r"^--(check fst|tool analyse): Analyser eo\.hfstol is"):
            fst_make(server, analyser=None, **asked)


def test_run_of_other_engine_goes_on(endpoint: Scripted, store_path: Path) -> None:
    """The analyser is told by its SHA-256; which engine read it decides nothing."""
    given = chat_plan(endpoint.url, analyser=ANALYSER, checks=("fst",))
    plan = given.model_copy(update={"method": "pipeline"})
    begun(store_path, corpus(3), plan)
    with closing(open_store(store_path)) as connection:
        changed = "json_set(setup, '$.fst_version', ?)"
        connection.execute(f"UPDATE runs SET setup = {changed}", ("hfst 3.16 epo.hfstol",))
        run = find_run(connection, "last")
        assert run.setup.fst_version == "hfst 3.16 epo.hfstol"
        resume_method(connection, run)
        connection.execute("UPDATE runs SET setup = json_set(setup, '$.fst_sha256', 'ab')")
        refuses(UsageError, "fst_sha256 changed", resume_method, connection, find_run(connection, "last"))


async def test_model_may_ask_both_tools(server: Server, calls: HttpCalls, tmp_path: Path) -> None:
    twice = asks_for("hundojn", "dogon", name="analyse")
    server.answer = in_turn(twice, asks_for("x", name="lookup"), "hundojn")
    method = fst_make(server, checks=["length"], tools=["analyse"])
    [output] = await method.translate([entry("dogs")], calls)
    assert (output.text, output.notes[0]) == ("hundojn", "The model analysed 2 words.")
    assert method.setup.tools_enabled == ("analyse",)
    assert method.setup.prompt_version == "plain-v1+analyse-v1"
    assert method.setup.fst_sha256 is not None
    first, second, third = (received.body for received in server.received)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["analyse"]
    known, unknown = (json.loads(each["content"]) for each in second["messages"][-2:])
    assert known == {"accepted": True, "analyses": ["hundo+N+Pl+Acc"]}
    assert unknown == {"accepted": False, "analyses": []}
    assert "only the tool 'analyse'" in third["messages"][-1]["content"]
    glossary = tmp_path / "words.tsv"
    glossary.write_text("dog\thundo\n", "utf-8")
    both = asks_for("dog")
    message = both["choices"][0]["message"]
    other = asks_for("hundon", name="analyse")["choices"][0]["message"]
    message["tool_calls"] += other["tool_calls"]
    server.answer = in_turn(both, "hundon")
    method = fst_make(server, glossary=glossary, tools=["lookup", "analyse"], checks=["fst"])
    [output] = await method.translate([entry("dog")], calls)
    assert output.notes[0] == "The model looked up 1 words and analysed 1 words."
    words, found = (json.loads(m["content"]) for m in server.received[-1].body["messages"][-2:])
    assert words == {"translations": ["hundo"]}
    assert found == {"accepted": True, "analyses": ["hundo+N+Sg+Acc"]}


def in_turn(*answers: Any) -> Callable[[Any], Any]:
    left = list(answers)
    return lambda _: completion(found) if isinstance(found := left.pop(0), str) else found


def asks_for(*words: str, name: str = "lookup") -> dict[str, Any]:
    reply = completion(None)
    message = reply["choices"][0]["message"]
    calls = [{"name": name, "arguments": json.dumps({"word": word})} for word in words]
    message["tool_calls"] = [{"id": f"call_{n}", "type": "function", "function": each} for n, each in enumerate(calls)]
    return reply
