"""The chat method against a real local server, and word by word from a dictionary."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Segment
from corpora.text.words import words
from harness.core.failures import ErrorClass, Refused, UsageError
from harness.endpoint.keys import no_key
from harness.inputs.dictionary import Dictionary, read_dictionary
from harness.method.method import Method, MethodClass
from harness.methods.glossary import word_by_word
from harness.methods.registry import build
from tests.harness.methods.conftest import HttpCalls, Server, completion, entry, options
from tests.review.thorough import examples

CREE = Dictionary(
    [
        ("dog", "atim"), ("black dog", "kaskitêwastim"), ("dog house", "atimowikamik"),
        ("I", "niya"), ("see", "wâpam"), ("see", "wâpahta"), ("thank you", "kinanâskomitin"),
        ("don’t", "êkâwiya"),
    ]
)  # fmt: skip


def test_word_by_word() -> None:
    for source, expected in [
        ("I see the dog.", "niya wâpam the atim."),
        ("Dog, Black  dog!", "Atim, Kaskitêwastim!"),
        ("DOG", "Atim"),
        ("a dog house, dog", "a atimowikamik, atim"),
        ("see I", "wâpam niya"),
        ("black, dog", "black, atim"),
        ("{dog} %s <b>dog</b> ${see} https://dog.example/dog", None),
        ("Thank you, {{name}}!", "Kinanâskomitin, {{name}}!"),
        ("Don't see", "Êkâwiya wâpam"),
        ("dogs", "dogs"),
        ("", ""),
    ]:
        assert word_by_word(CREE, source) == (expected or source.replace(">dog<", ">atim<"))


@examples(15, 200)
@given(st.text(), st.lists(st.sampled_from(["dog", "black", "see", "I", ",", "{dog}", "x"])))
def test_known_words_alone_are_replaced(source: str, pieces: list[str]) -> None:
    assert word_by_word(Dictionary([("qqqxyz", "x")]), source) == source
    left = {word.text for word in words(word_by_word(CREE, " ".join(pieces)))}
    assert not left & {"dog", "see", "I"}


def test_dictionary_forms_mistakes_and_what_occurs(tmp_path: Path) -> None:
    found = [head.phrase for head in CREE.occurring("My BLACK dog, I see a dog")]
    assert found == ["black dog", "dog", "I", "see"]
    assert CREE.lookup("SEE") == ("wâpam", "wâpahta")
    assert CREE.lookup("cat") == CREE.lookup("") == CREE.lookup("!") == ()
    for name, content in [
        ("d.tsv", "\ufeff# a remark\nsource\ttarget\ndog\tatim\tnoun\n\ndog\tacimosis\n"),
        ("d.txt", "dog\tatim\ndog\tacimosis"),
        ("d.csv", 'source,target\n"dog",atim\ndog,"acimosis"\n'),
        ("d.json", '{"dog": ["atim", "acimosis"]}'),
        ("d.json", '[{"source": "dog", "target": "atim"}, {"source":"Dog","target":"acimosis"}]'),
    ]:
        file = tmp_path / name
        file.write_text(content, "utf-8")
        read = read_dictionary(file)
        assert (read.lookup("dog"), len(read)) == (("atim", "acimosis"), 1)
        assert read.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    for name, content, wanted in [
        ("d.tsv", "dog\tatim\ncat minôs\n", "line 2.*tab"),
        ("d.csv", "dog,atim\ncat,\n", "line 2.*comma"),
        ("d.tsv", "# only a remark\n", "empty"),
        ("d.json", "{", "not valid JSON"),
        ("d.json", "5", "object or list"),
        ("d.json", '{"dog": 5}', "item 1"),
        ("d.json", '{"dog": []}', "item 1"),
        ("d.json", '[{"source": "dog"}]', "item 1"),
        ("d.tsv", "x" * 200_000 + "\ty\n", "line 1"),
        ("d.csv", 'dog,"atim\ncat,minôs\n', "line 1: the row that begins here"),
        ("D.CSV", "dog;atim\n", "line 1.*comma"),
    ]:
        file = tmp_path / name
        file.write_text(content, "utf-8")
        with pytest.raises(UsageError, match=wanted):
            read_dictionary(file)


async def test_methods_that_call_nothing(tmp_path: Path, calls: HttpCalls) -> None:
    file = tmp_path / "d.tsv"
    file.write_text("dog\tatim\n", "utf-8")
    entries = [entry("Dog", 1), entry("cat", 2, Segment.GOLD_STANDARD)]
    made: list[tuple[Method, list[str]]] = [
        (build("copy-source", options()), ["Dog", "cat"]),
        (build("constant", options(text=" êkosi \n")), ["êkosi", "êkosi"]),
        (build("glossary", options(glossary=file)), ["Atim", "cat"]),
    ]
    for method, expected in made:
        assert [output.text for output in await method.translate(entries, calls)] == expected
        assert isinstance(method, Method)
        assert method.endpoint is None
    for name, told, mend in (
        ("glossary", {}, "needs --glossary"),
        ("constant", {"text": "  "}, "blank"),
        ("copy-source", {"model": "m"}, "--model does not apply to method 'copy-source'"),
    ):
        with pytest.raises(UsageError, match=mend):
            build(name, options(**told))


COACHING = {
    "notes": ["Verbs {come} first.", "Animate nouns take -ak."],
    "examples": [{"source": "Hello {name}", "target": "tânisi {name}"}],
    "dictionary": {"dog": "atim", "black dog": ["kaskitêwastim"], "cat": "minôs"},
}


def make(server: Server, **given: Any) -> Method:
    return build("chat", options(endpoint=server.url + "/v1", model="m", **given), (), no_key)


def user_message(body: Any) -> str:
    return str(body["messages"][-1]["content"])


async def test_zero_shot(server: Server, calls: HttpCalls) -> None:
    server.answer = lambda _: completion("niwâpamâw atim")
    method = make(server)
    [output] = await method.translate([entry("I see the dog")], calls)
    assert output.text == "niwâpamâw atim"
    [received] = server.received
    assert received.path == "/v1/chat/completions"
    assert "authorization" not in received.headers
    assert list(received.body) == ["model", "messages", "temperature", "max_tokens"]
    system, user = received.body["messages"]
    assert user == {"role": "user", "content": "I see the dog"}
    assert "from English to Plains Cree (Latin script)" in system["content"]
    setup = method.setup
    assert setup.method_class is MethodClass.RAW_LLM
    assert (setup.prompt_version, setup.system_prompt_used) == ("plain-v1", system["content"])
    assert setup.system_prompt_sha256 == hashlib.sha256(system["content"].encode()).hexdigest()
    assert (setup.provider, setup.model_slug, setup.temperature) == ("127.0.0.1", "m", 0.0)
    assert calls.replies[0].usage is not None
    assert calls.requests[0].price.cost(calls.replies[0].usage) == 0


async def test_the_same_entry_gives_the_same_bytes(server: Server, calls: HttpCalls) -> None:
    server.answer = lambda _: completion("x")
    for _ in range(2):
        method = make(server, body={"top_p": 1, "seed": 7}, replicate=3)
        await method.translate([entry("I see {the} dog")], calls)
    first, second = calls.requests
    assert (json.dumps(first.body), first.replicate) == (json.dumps(second.body), 3)
    assert first.body["seed"] == 7  # type: ignore[call-overload]


async def test_coached(server: Server, calls: HttpCalls, tmp_path: Path) -> None:
    file = tmp_path / "coaching.json"
    file.write_text(json.dumps(COACHING), "utf-8")
    server.answer = lambda _: completion("x")
    method = make(server, coaching=file)
    await method.translate([entry("The Black dog, my dog."), entry("Hello {name}")], calls)
    first, second = (received.body["messages"] for received in server.received)
    assert first[0] == second[0]
    assert "- Verbs {come} first." in first[0]["content"]
    assert "Hello {name}\n→ tânisi {name}" in first[0]["content"]
    assert "minôs" not in json.dumps(first, ensure_ascii=False)
    expected = "The Black dog, my dog.\n\nDictionary:\nblack dog = kaskitêwastim\ndog = atim"
    assert (first[1]["content"], second[1]["content"]) == (expected, "Hello {name}")
    assert method.setup.method_class is MethodClass.COACHED_LLM
    assert method.setup.coaching_data_sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


async def test_batches_are_keyed_by_number(server: Server, calls: HttpCalls) -> None:
    def answer(body: Any) -> Any:
        texts = json.loads(user_message(body))
        shouted = {number: text.upper() for number, text in reversed(texts.items())}
        return completion(json.dumps(shouted))

    server.answer = answer
    method = make(server, batch_size=3)
    assert (method.setup.batch_size, method.setup.prompt_version) == (3, "plain-v1+batch-v1")
    outputs = await method.translate([entry(text) for text in ("one", "two\n2. x", "three")], calls)
    assert [output.text for output in outputs] == ["ONE", "TWO\n2. X", "THREE"]
    assert len(server.received) == 1


async def test_a_lost_number_is_asked_once_more_and_alone(server: Server, calls: HttpCalls) -> None:
    def answer(body: Any) -> Any:
        texts = json.loads(user_message(body))
        if len(texts) > 1:
            return completion('{"1": "ONE", "2": "TWO", "2": "THREE", "4": "FOUR"}')
        if texts == {"1": "two"}:
            return completion('{"1": "TWO"}')
        return completion("I will not count")

    server.answer = answer
    method = make(server, batch_size=4)
    texts = ("one", "two", "three", "four")
    outputs = await method.translate([entry(text) for text in texts], calls)
    assert [output.text for output in outputs] == ["ONE", "TWO", None, "FOUR"]
    assert outputs[2].error_class is ErrorClass.NUMBERING
    assert len(server.received) == 3
    assert outputs[0].notes == ()
    assert "asked again alone" in outputs[1].notes[0]
    systems = {received.body["messages"][0]["content"] for received in server.received}
    assert systems == {method.setup.system_prompt_used}


async def test_failed_second_try_costs_only_its_own_entry(server: Server, calls: HttpCalls) -> None:
    def refuse(body: Any) -> Any:
        if len(json.loads(user_message(body))) > 1:
            return completion('{"2": "TWO"}')
        return {"error": {"code": 403, "message": "no"}}

    def cut(body: Any) -> Any:
        whole = len(json.loads(user_message(body))) == 1
        reply = completion('{"1": "whole"}' if whole else '{"1": "ONE", "2": "TW"}')
        reply["choices"][0]["finish_reason"] = "stop" if whole else "length"
        return reply

    both = [entry("one"), entry("two")]
    server.answer = refuse
    outputs = await make(server, batch_size=2).translate(both, calls)
    assert [output.text for output in outputs] == [None, "TWO"]
    assert outputs[0].error_class is ErrorClass.AUTH
    server.answer = cut  # a cut batch is not believed even where it can be read
    outputs = await make(server, batch_size=2).translate(both, calls)
    assert [output.text for output in outputs] == ["whole", "whole"]


async def test_a_cut_or_empty_answer_is_a_failure(server: Server, calls: HttpCalls) -> None:
    cut = completion("half")
    cut["choices"][0]["finish_reason"] = "length"
    server.answer = lambda _: cut
    [output] = await make(server).translate([entry("one")], calls)
    assert (output.text, output.error_class) == (None, ErrorClass.TRUNCATED)
    assert not calls.replies[0].complete
    server.answer = lambda _: completion(None)
    [output] = await make(server).translate([entry("one")], calls)
    assert (output.text, output.error_class) == (None, ErrorClass.EMPTY)


async def test_secret_entries_are_not_cached_or_quoted(server: Server, calls: HttpCalls) -> None:
    server.answer = lambda _: completion('{"1": "a", "2": "b"}')
    both = [entry("open"), entry("hidden sentence", 2, Segment.GOLD_STANDARD)]
    await make(server, batch_size=2).translate(both, calls)
    assert [request.cacheable for request in calls.requests] == [False]
    server.answer = lambda _: {"error": {"code": 400, "message": "hidden sentence"}}
    with pytest.raises(Refused) as caught:
        await make(server).translate([both[1]], calls)
    assert "hidden" not in str(caught.value)


async def test_quirks_of_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key goes into a header only; OpenAI has its own name for the limit; OpenRouter tells costs."""
    monkeypatch.setenv("OPENAI_API_KEY", " sk-secret \n")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-other")
    sent = []

    class Keep:
        async def send(self, request: Any) -> Any:
            sent.append(request)
            raise Refused(ErrorClass.OFFLINE, "not sent")

    for endpoint in ("openai", "openrouter", "https://api.openai.com/v1/"):
        method = build("chat", options(endpoint=endpoint, model="gpt-4.1", temperature=None))
        with pytest.raises(Refused):
            await method.translate([entry("one")], Keep())
    openai, openrouter, by_url = sent
    assert openai.headers == {"Authorization": "Bearer sk-secret"} == by_url.headers
    assert openai.body["max_completion_tokens"] == 2048 == openai.most_completion_tokens
    assert not {"max_tokens", "temperature"} & openai.body.keys()
    assert openrouter.body["usage"] == {"include": True}
    assert openai.price.input_per_million == 2.0
    assert openrouter.price is None
    for request in sent:
        assert "sk-" not in json.dumps(request.body) + request.url + repr(request)


def test_wrong_usage_names_its_mend_and_keys_both_ways() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"model": "m"}, "needs --endpoint"),
        ({"endpoint": "ollama"}, "needs --model"),
        ({"endpoint": "olama", "model": "m"}, "'olama' is not known.*ollama"),
        ({"endpoint": "ftp://x/y", "model": "m"}, "http"),
        ({"endpoint": "http://u:p@host/v1", "model": "m"}, "rosetta key set host"),
        ({"endpoint": "http://host/v1?key=x", "model": "m"}, "query"),
        ({"endpoint": "http://host:99999/v1", "model": "m"}, "cannot be read"),
        ({"endpoint": "ollama", "model": "m", "text": "x"}, "--text does not apply"),
        ({"endpoint": "ollama", "model": "m", "glossary": "x.tsv"}, "--glossary does not apply"),
        ({"endpoint": "ollama", "model": "m", "body": {"stream": True}}, "'stream'"),
        ({"endpoint": "ollama", "model": "m", "body": {"temperature": 1}}, "its own option"),
        ({"endpoint": "ollama", "model": "m", "prompt": "plain-v9"}, "plain-v9.*plain-v1"),
        ({"endpoint": "ollama", "model": "m", "prompt": "coached-v1"}, "Give --coaching"),
    ]
    for fields, said in cases:
        with pytest.raises(UsageError, match=said):
            build("chat", options(**fields))
    with pytest.raises(UsageError, match=r"rosetta key set openrouter.*OPENROUTER_API_KEY"):
        build("chat", options(endpoint="openrouter", model="m"))
    described = build("chat", options(endpoint="openrouter", model="m"), (), no_key)
    assert described.setup.provider == "openrouter"


def test_coaching_files_with_mistakes(tmp_path: Path) -> None:
    for name, content, said in [
        ("c.json", "{", "not valid JSON"),
        ("c.toml", "notes = [", "not valid TOML"),
        ("c.json", '{"note": "x"}', "field 'note' is not known"),
        ("c.json", '{"examples": [{"source": "x"}]}', r"examples.0.target"),
        ("c.json", '{"dictionary": {"x": [""]}}', "item 1"),
        ("c.json", "{}", "nothing to coach with"),
        ("c.json", "[" * 100_000, "not valid JSON"),
        ("plain-v1", '{"notes": "a note"}', "notes would not be used"),
    ]:
        file = tmp_path / (name if "." in name else "c.json")
        file.write_text(content, "utf-8")
        prompt = {} if "." in name else {"prompt": name}
        with pytest.raises(UsageError, match=said):
            build("chat", options(endpoint="ollama", model="m", coaching=file, **prompt))
