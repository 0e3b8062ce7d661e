"""The analyser in the pipeline: words it rejects are asked again, and the model may ask it itself."""

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.languages.shipped.epo.build import ANALYSER
from harness.core.failures import UsageError
from harness.endpoint.keys import no_key
from harness.method.method import Method
from harness.method.options import MethodOptions
from harness.methods.registry import build
from harness.run.beginning import resume_method
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.evaluation import begun, chat_plan, corpus
from tests.harness.methods.conftest import HttpCalls, Server, entry, options
from tests.harness.methods.in_turn import asks_for, in_turn
from tests.harness.scripted import Scripted


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def make(server: Server, **given: Any) -> Method:
    told = {"source_language": "en", "target_language": "eo", "analyser": ANALYSER} | given
    asked = MethodOptions.model_validate({"endpoint": server.url, "model": "m"} | told)
    return build("pipeline", asked, (), no_key)


async def test_words_that_are_rejected_are_named_and_asked_again(
    server: Server, calls: HttpCalls
) -> None:
    server.answer = in_turn(
        "Bob, mi vidas the dogon en {room} 5!", "Bob, mi vidas la hundon {room}!"
    )
    method = make(server)
    [output] = await method.translate([entry("Bob, I see the dog in {room} 5.")], calls)
    assert output.text == "Bob, mi vidas la hundon {room}!"
    again = server.received[1].body["messages"][3]["content"]
    reason = "no word that the language's analyser accepts"
    assert f"- the: {reason}\n- dogon: {reason}\n" in again
    assert not any(word in again for word in ("Bob", "room", "vidas"))
    assert output.notes[-1] == "Try 2: accepted."


async def test_capitals_and_the_card_s_spellings_pass(server: Server, calls: HttpCalls) -> None:
    server.answer = in_turn("LA Hundo, la cxevalo")
    [output] = await make(server).translate([entry("the dog, the horse")], calls)
    assert output.notes == ("Try 1: accepted.",)


def test_the_analyser_is_written_into_the_setup(server: Server) -> None:
    setup = make(server).setup
    assert setup.fst_sha256 == hashlib.sha256(ANALYSER.read_bytes()).hexdigest()
    assert setup.fst_version is not None
    assert setup.fst_version.endswith(" epo.hfstol")
    assert "fst" in setup.options["checks"]
    assert len(setup.options["language_card_sha256"]) == 64
    assert str(ANALYSER.parent) not in setup.model_dump_json()


@pytest.mark.parametrize("asked", [{"checks": ["fst"]}, {"tools": ["analyse"]}])
def test_the_language_s_own_analyser_is_found_and_makes_the_same_experiment(
    server: Server, asked: dict[str, Any], home: Path
) -> None:
    named = make(server, **asked)
    assert make(server, analyser=None, **asked).setup == named.setup
    own = home / "languages" / "eo" / "eo.hfstol"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"")
    with pytest.raises(
        UsageError, match=r"^--(check fst|tool analyse): Analyser eo\.hfstol is empty"
    ):
        make(server, analyser=None, **asked)


def test_no_analyser_is_taken_unasked(server: Server) -> None:
    setup = make(server, analyser=None).setup
    assert setup.fst_sha256 is None
    assert "fst" not in setup.options["checks"]


def test_an_analyser_that_nothing_uses_is_not_written_down(server: Server) -> None:
    setup = make(server, checks=["length"]).setup
    assert (setup.fst_version, setup.fst_sha256) == (None, None)


def test_a_run_that_another_engine_began_goes_on(
    endpoint: Scripted, store_path: Path, tmp_path: Path
) -> None:
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
        with pytest.raises(UsageError, match="fst_sha256 changed"):
            resume_method(connection, find_run(connection, "last"))


async def test_the_model_may_ask_the_analyser(server: Server, calls: HttpCalls) -> None:
    server.answer = in_turn(
        asks_for("hundojn", "dogon", name="analyse"), asks_for("x", name="lookup"), "hundojn"
    )
    method = make(server, checks=["length"], tools=["analyse"])
    [output] = await method.translate([entry("dogs")], calls)
    assert output.text == "hundojn"
    assert output.notes[0] == "The model analysed 2 words."
    assert method.setup.tools_enabled == ("analyse",)
    assert method.setup.prompt_version == "plain-v1+analyse-v1"
    assert method.setup.fst_sha256 is not None
    first, second, third = (received.body for received in server.received)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["analyse"]
    assert [json.loads(message["content"]) for message in second["messages"][-2:]] == [
        {"accepted": True, "analyses": ["hundo+N+Pl+Acc"]},
        {"accepted": False, "analyses": []},
    ]
    assert "only the tool 'analyse'" in third["messages"][-1]["content"]


async def test_both_tools_together(server: Server, calls: HttpCalls, tmp_path: Path) -> None:
    glossary = tmp_path / "words.tsv"
    glossary.write_text("dog\thundo\n", "utf-8")
    both = asks_for("dog")
    message = both["choices"][0]["message"]
    message["tool_calls"] += asks_for("hundon", name="analyse")["choices"][0]["message"][
        "tool_calls"
    ]
    server.answer = in_turn(both, "hundon")
    method = make(server, glossary=glossary, tools=["lookup", "analyse"], checks=["fst"])
    [output] = await method.translate([entry("dog")], calls)
    assert output.notes[0] == "The model looked up 1 words and analysed 1 words."
    assert [json.loads(m["content"]) for m in server.received[1].body["messages"][-2:]] == [
        {"translations": ["hundo"]},
        {"accepted": True, "analyses": ["hundo+N+Sg+Acc"]},
    ]


@pytest.mark.parametrize("word", ["", "\0", "a" * 100_000, "hundo\nhundo", "\ud800"])
async def test_hostile_words_are_only_rejected(server: Server, calls: HttpCalls, word: str) -> None:
    server.answer = in_turn(asks_for(word, name="analyse"), "hundo")
    [output] = await make(server, tools=["analyse"]).translate([entry("dog")], calls)
    assert output.text == "hundo"
    told = json.loads(server.received[1].body["messages"][-1]["content"])
    assert told == {"accepted": False, "analyses": []}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"checks": ["fst"], "analyser": None, "target_language": "tlh"},
            "--check fst needs an analyser.*`rosetta language check tlh` says where to put one",
        ),
        (
            {"tools": ["analyse"], "analyser": None, "target_language": "tlh"},
            "--tool analyse needs an analyser.*give --analyser FILE",
        ),
        ({"analyser": "gone.hfstol"}, r"--analyser: Analyser gone\.hfstol does not exist"),
        ({"analyser": __file__}, r"--analyser: Analyser test_pipeline_fst\.py is "),
    ],
)
def test_wrong_usage(server: Server, given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make(server, **given)


def test_only_the_pipeline_takes_an_analyser(server: Server) -> None:
    with pytest.raises(UsageError, match="--analyser does not apply to method 'chat'"):
        build("chat", options(endpoint=server.url, model="m", analyser=ANALYSER), (), no_key)
