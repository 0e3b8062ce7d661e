"""The chat method against a real local server, and word by word from a dictionary."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry, Segment
from corpora.text.comparison import is_blank
from corpora.text.tokens import words
from harness.card.material import fingerprint
from harness.core.calls import Usage
from harness.core.failures import ErrorClass, Refused, UsageError
from harness.endpoint.endpoints import no_key
from harness.inputs.dictionary import Dictionary, read_dictionary
from harness.inputs.outputs import read_outputs
from harness.method.method import Method, MethodClass, Recorded
from harness.method.method_names import METHOD_CLASSES
from harness.shipped_methods.baselines import word_by_word
from harness.shipped_methods.registry import build
from tests.harness.sealed.refusals import refuses
from tests.harness.shipped_methods.conftest import HttpCalls, Server, completion, entry, options
from tests.review.thorough import examples

CREE = Dictionary([
    ("dog", "atim"), ("black dog", "kaskitêwastim"), ("dog house", "atimowikamik"), ("I", "niya"),
    ("see", "wâpam"), ("see", "wâpahta"), ("thank you", "kinanâskomitin"), ("don’t", "êkâwiya"),
])  # fmt: skip


def test_word_by_word() -> None:
    for source, expected in [
        ("I see the dog.", "niya wâpam the atim."), ("Dog, Black  dog!", "Atim, Kaskitêwastim!"),
        ("DOG", "Atim"), ("a dog house, dog", "a atimowikamik, atim"), ("see I", "wâpam niya"),
        ("black, dog", "black, atim"), ("{dog} %s <b>dog</b> ${see} https://dog.example/dog", None),
        ("Thank you, {{name}}!", "Kinanâskomitin, {{name}}!"), ("Don't see", "Êkâwiya wâpam"),
        ("dogs", "dogs"), ("", ""),
    ]:  # fmt: skip
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
        ("d.csv", "sep=;\r\nsource;target\r\ndog;atim\r\ndog;acimosis\r\n"),
        ("D.CSV", "dog;atim\ndog;acimosis\n"),
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
        ("d.csv", 'dog,"atim\ncat,minôs\n', "line 1: The record that begins here"),
    ]:
        file = tmp_path / name
        file.write_text(content, "utf-8")
        refuses(UsageError, wanted, read_dictionary, file)


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
        refuses(UsageError, mend, build, name, options(**told))


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
    for _ in range(2):
        method = make(server, body={"top_p": 1, "seed": 7}, replicate=3)
        await method.translate([entry("I see {the} dog")], calls)
    first, second = calls.requests[1:]
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


async def test_batches_are_keyed_lost_numbers_asked_alone(server: Server, calls: HttpCalls) -> None:
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

    def lose(body: Any) -> Any:
        texts = json.loads(user_message(body))
        if len(texts) > 1:
            return completion('{"1": "ONE", "2": "TWO", "2": "THREE", "4": "FOUR"}')
        if texts == {"1": "two"}:
            return completion('{"1": "TWO"}')
        return completion("I will not count")

    server.answer = lose
    method = make(server, batch_size=4)
    texts = ("one", "two", "three", "four")
    outputs = await method.translate([entry(text) for text in texts], calls)
    assert [output.text for output in outputs] == ["ONE", "TWO", None, "FOUR"]
    assert outputs[2].error_class is ErrorClass.NUMBERING
    assert len(server.received) == 4
    assert outputs[0].notes == ()
    assert "asked again alone" in outputs[1].notes[0]
    systems = {received.body["messages"][0]["content"] for received in server.received[1:]}
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


async def test_cut_and_empty_answers_fail(server: Server, calls: HttpCalls) -> None:
    cut = completion("half")
    cut["choices"][0]["finish_reason"] = "length"
    server.answer = lambda _: cut
    [output] = await make(server).translate([entry("one")], calls)
    assert (output.text, output.error_class) == (None, ErrorClass.TRUNCATED)
    assert not calls.replies[0].complete
    server.answer = lambda _: completion(None)
    [output] = await make(server).translate([entry("one")], calls)
    assert (output.text, output.error_class) == (None, ErrorClass.EMPTY)


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
    own = options(endpoint="http://127.0.0.1:9/v1", model="m", body={"max_completion_tokens": 50})
    method = build("chat", own)
    with pytest.raises(Refused):
        await method.translate([entry("one")], Keep())
    assert (sent[3].body["max_completion_tokens"], sent[3].most_completion_tokens) == (50, 50)
    assert "max_tokens" not in sent[3].body
    assert method.setup.max_tokens == 50
    for wrong in ({"body": {"max_completion_tokens": "50"}}, {"max_tokens": 9}):
        refuses(UsageError, "max_completion_tokens", build, "chat", own.model_copy(update=wrong))
    for request in sent:
        assert "sk-" not in json.dumps(request.body) + request.url + repr(request)


def test_wrong_usage_and_coaching_files_name_their_mend(tmp_path: Path) -> None:
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
        refuses(UsageError, said, build, "chat", options(**fields))
    with pytest.raises(UsageError, match=r"rosetta key set openrouter.*OPENROUTER_API_KEY"):
        build("chat", options(endpoint="openrouter", model="m"))
    described = build("chat", options(endpoint="openrouter", model="m"), (), no_key)
    assert described.setup.provider == "openrouter"
    for name, content, said in [
        ("c.json", "{", "not valid JSON"), ("c.toml", "notes = [", "not valid TOML"),
        ("c.json", '{"note": "x"}', "field 'note' is not known"),
        ("c.json", '{"examples": [{"source": "x"}]}', r"examples.0.target"),
        ("c.json", '{"dictionary": {"x": [""]}}', "item 1"),
        ("c.json", "{}", "nothing to coach with"), ("c.json", "[" * 100_000, "not valid JSON"),
        ("plain-v1", '{"notes": "a note"}', "notes would not be used"),
    ]:  # fmt: skip
        file = tmp_path / (name if "." in name else "c.json")
        file.write_text(content, "utf-8")
        prompt = {} if "." in name else {"prompt": name}
        refuses(UsageError, said, build, "chat", options(endpoint="ollama", model="m", coaching=file, **prompt))


ENTRIES = (entry("one", 1), entry("two", "b"), entry("three", 3))


def file_of(folder: Path, name: str, content: str) -> Path:
    file = folder / name
    file.write_text(content, "utf-8")
    return file


def texts(file: Path) -> list[str | None]:
    outputs = read_outputs(file, ENTRIES)
    return [outputs.output(entry.id).text for entry in ENTRIES]


def test_every_form(tmp_path: Path) -> None:
    for name, content in [
        ("out.txt", "eins\nzwei\ndrei\n"),
        ("out.txt", "\ufeffeins\r\nzwei\r\ndrei"),
        ("out.crk", "eins\nzwei\ndrei"),
        ("out.jsonl", '{"id": 3, "output": "drei"}\n\n{"id":"1","predicted":"eins"}\n{"id":"b","hypothesis":"zwei"}'),
        ("out.tsv", "translation\tid\neins\t1\nzwei\tb\ndrei\t3\n"),
        ("out.csv", 'id,output\n1,eins\nb,"zwei"\n3,drei\n'),
        ("card.json", json.dumps({"results": [{"entry_id": n, "predicted": text} for n, text in ((1, "eins"), ("b", "zwei"), (3, "drei"))]})),
    ]:  # fmt: skip
        assert texts(file_of(tmp_path, name, content)) == ["eins", "zwei", "drei"]
    content = '{"id": 1, "output": "", "error": "time-out"}\n{"id": "b", "output": null}'
    outputs = read_outputs(file_of(tmp_path, "out.jsonl", content), ENTRIES)
    kinds = [outputs.output(entry.id).error_class for entry in ENTRIES]
    assert kinds == [ErrorClass.METHOD, ErrorClass.MISSING, ErrorClass.MISSING]
    cell = "eins,\nzwei und drei\n9, vier"
    content = 'id,output\n1,"' + cell.replace('"', '""') + '"\nb,x\n3,y\n'
    assert texts(file_of(tmp_path, "out.csv", content)) == [cell, "x", "y"]


LINES = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]))


@examples(15, 100)
@given(st.lists(LINES, min_size=1))
def test_lines_of_text_never_shift(lines: list[str]) -> None:
    """Only the line feed ends a line: U+2028, form feeds and the like belong to the text.

    Not NUL: a file that is half of NULs is taken for UTF-16, and refused.
    """
    import tempfile

    entries = [Entry(id=place, source="s", reference="r") for place in range(len(lines))]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out.txt"
        file.write_bytes("".join(line + "\n" for line in lines).encode())
        outputs = read_outputs(file, entries)
    first = lines[0].removeprefix("\ufeff")
    for place, line in enumerate([first, *lines[1:]]):
        read = outputs.output(place).text or ""
        assert read.strip() == ("" if is_blank(line) else line.strip())


async def test_recorded_numbers_reach_the_output(tmp_path: Path, calls: HttpCalls) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 1, "output": "eins", "latency_seconds": 1.5, "cost_usd": 0.002, "model": "m-1",
         "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
        {"id": "b", "output": "zwei", "prompt_tokens": 4, "completion_tokens": 1},
    ]  # fmt: skip
    file = file_of(tmp_path, "out.jsonl", "\n".join(map(json.dumps, rows)))
    method = build("replay", options(outputs=file), ENTRIES)
    first, second, third = await method.translate(ENTRIES, calls)
    assert first.recorded == Recorded(1.5, Usage(9, 2), 0.002, "m-1")
    assert second.recorded == Recorded(usage=Usage(4, 1))
    assert (third.text, third.error_class) == (None, ErrorClass.MISSING)
    assert third.recorded == Recorded(), "reading a file is no latency of a system"
    assert method.setup.outputs_sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert method.setup.model_slug == "m-1"
    assert str(tmp_path) not in method.setup.model_dump_json()
    table = "id\toutput\tlatency_seconds\tprompt_tokens\tcompletion_tokens\tcost_usd\n"
    file = file_of(tmp_path, "out.tsv", table + "1\teins\t0.5\t7\t3\t\n")
    [output] = await build("replay", options(outputs=file), ENTRIES).translate(ENTRIES[:1], calls)
    assert output.recorded == Recorded(0.5, Usage(7, 3), None, None)
    file = file_of(tmp_path, "out.txt", "eins\n\ndrei\n")
    method = build("human", options(outputs=file, translator="A. B."), ENTRIES)
    first, second, _ = await method.translate(ENTRIES, calls)
    assert first.recorded == Recorded()
    assert second.error_class is ErrorClass.EMPTY
    assert method.setup.method_class is MethodClass.HUMAN
    assert method.setup.model_slug == "A. B."
    assert method.endpoint is None


def test_method_class_and_name_are_those_told(tmp_path: Path) -> None:
    file = file_of(tmp_path, "out.txt", "eins\nzwei\ndrei\n")
    told = {"outputs": file, "method_class": "coached-llm", "method_name": "Ours"}
    setup = build("replay", options(**told), ENTRIES).setup
    assert (setup.method_class, setup.method_name) == (MethodClass.COACHED_LLM, "Ours")
    plain = build("replay", options(outputs=file), ENTRIES).setup
    assert (plain.method_class, plain.method_name) == (MethodClass.CUSTOM_PLUGIN, None)
    hashes = [fingerprint(each, "ab", "1").setup_hash for each in (setup, plain)]
    assert hashes[0] != hashes[1]
    renamed = plain.model_copy(update={"method_name": "Other"})
    assert fingerprint(renamed, "ab", "1").setup_hash == hashes[1]
    with pytest.raises(UsageError, match="--method-class does not apply to method 'human'"):
        build("human", options(outputs=file, method_class="api"), ENTRIES)
    assert list(METHOD_CLASSES) == [each.value for each in MethodClass]


def test_mistakes_are_named_without_quoting_a_text(tmp_path: Path) -> None:
    for name, content, said in [
        ("o.txt", "SECRET\nx", "2 lines for 3 entries"),
        ("o.jsonl", '{"id": 1, "output": "SECRET"}\n{"id": 9, "output": "x"}', "line 2.*no entry"),
        ("o.jsonl", '{"id": 1, "output": "SECRET"}\n{"id": "1", "output": ""}', "line 2.*already"),
        ("o.jsonl", '{"id": 1, "output": "SECRET"', "line 1: not valid JSON"),
        ("o.jsonl", '["SECRET"]', "line 1: a JSON object"),
        ("o.jsonl", '{"output": "SECRET"}', "line 1: field 'id'"),
        ("o.jsonl", '{"id": true, "output": "SECRET"}', "line 1: field 'id'"),
        ("o.jsonl", '{"id": 1, "text": "SECRET", "more": 1}', "line 1: exactly one of the fields output"),
        ("o.csv", "id,reference\n1,SECRET", "line 2: exactly one of the fields output"),
        ("o.jsonl", '{"id": 1, "output": "a", "predicted": "SECRET"}', "exactly one"),
        ("o.jsonl", '{"id": 1, "output": ["SECRET"]}', "must be a text.*JSON inside"),
        ("o.jsonl", '{"id": 1, "output": "a", "latency_seconds": -1}', "'latency_seconds'"),
        ("o.jsonl", '{"id": 1, "output": "a", "cost_usd": "SECRET"}', "'cost_usd'"),
        ("o.jsonl", '{"id": 1, "output": "a", "cost_usd": NaN}', "'cost_usd'"),
        ("o.jsonl", "\n", "no output in it"),
        ("o.jsonl", "[" * 100_000, "line 1: the JSON is nested too deep"),
        ("o.json", '{"id": 1}', "a list of outputs"),
        ("o.json", "[\n1", "line 2: not valid JSON"),
        ("o.csv", "id,output\n1,a,SECRET", "line 2: the row does not have as many"),
        ("o.csv", "id,output\n1", "line 2: the row does not have as many"),
        ("o.tsv", "1\tSECRET\n", "no output in it"),
        ("o.csv", 'id,output\n1,"SECRET\n3,b\n', "line 2: .*Close every quote"),
        ("o.csv", 'id,output\nb,x\n1,"SECRET"y\n3,b\n', "line 3: .*Close every quote"),
        ("o.csv", 'id,output\n1,"SECRET\nb,x\n3,c"\n', "line 2: .*row of another entry"),
        ("o.csv", 'id,output\n1,"SECRET\n""b"",x"\n3,c\n', "line 2: .*row of another entry"),
        ("o.csv", "1,SECRET,SECRET\n", "line 1: two columns have the same name"),
        ("o.csv", f"id,output\n1,{'x' * 200_000}\n", "line 2: .*JSON or JSONL"),
        ("o.tsv", f"id\toutput\tprompt_tokens\n1\tx\t{'9' * 5000}\n", "'prompt_tokens'"),
        ("o.tsv", "id\toutput\tprompt_tokens\n1\tx\tSECRET\n", "line 2: .*'prompt_tokens'"),
        ("o.tsv", "id\toutput\tcompletion_tokens\n1\tx\t-3\n", "'completion_tokens'"),
    ]:
        caught = refuses(UsageError, said, texts, file_of(tmp_path, name, content))
        assert "SECRET" not in str(caught)
    (tmp_path / "latin.txt").write_bytes(b"SECRET \xe9")
    for name, said in (("nowhere.txt", "cannot be read"), ("latin.txt", "line 1: not UTF-8")):
        caught = refuses(UsageError, said, texts, tmp_path / name)
        assert "SECRET" not in str(caught)
