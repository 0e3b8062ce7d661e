"""Embeddings from a real server that misbehaves, and from a model on disk."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpora.model.entry import Entry, Segment
from harness.annotators import embeddings
from harness.annotators.embedding_endpoint import MOST_INPUTS, EndpointEmbedder, read_embeddings
from harness.annotators.embeddings import EmbeddingAnnotator
from harness.annotators.judges import JUDGES, JudgeAnnotator, check_place, make_judge
from harness.core.failures import CallError, HarnessError, Transient, UsageError
from harness.endpoint import offline
from harness.endpoint.endpoints import chat_endpoint, no_key
from harness.endpoint.limiter import RetryPolicy
from scoring.core.setup import Translation
from scoring.packs.judge_replies import CONTRACTS
from tests.harness.annotators.judged import Blocking, Kept, embedded, says, shown, vector
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer, serving
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

SECRET = "the medicine bundle is opened at dawn"
QUICK = RetryPolicy(most_attempts=3, first_wait=0.001, most_malformed=2)


def translation(id_: int, output: str, segment: Segment | None = None) -> Translation:
    source = SECRET if segment else f"source {id_}"
    made = Entry(id=id_, source=source, reference=f"reference {id_}", segment=segment)
    return Translation(made, output)


def annotator(endpoint: Scripted, memo: Kept | None = None, progress: Any = None, **more: Any) -> Blocking:
    embedder = EndpointEmbedder(endpoint.url, "m", key=no_key, **more)
    return Blocking(EmbeddingAnnotator(embedder, memo, progress), QUICK)


def embedding_annotator(*given: Any, **more: Any) -> Blocking:
    return Blocking(embeddings.embedding_annotator(*given, **more), QUICK)


def cosine(one: str, other: str) -> float:
    ours, theirs = np.array(vector(one)), np.array(vector(other))
    return float(ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs))


def test_cosine_of_source_with_output_and_no_key_shown(endpoint: Scripted) -> None:
    endpoint.answer = embedded
    made = [translation(1, " an   output"), translation(2, "reference 2"), translation(3, "")]
    found = annotator(endpoint).annotate(made)
    both = ["source 1\nan output", "source 1\nreference 1"]
    assert found == [pytest.approx(cosine(*both), abs=1e-6), 1.0, 0.0]
    [asked] = endpoint.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "m", "input": both, "encoding_format": "float"}
    facts = annotator(endpoint).facts
    assert (facts.model, facts.endpoint, facts.sha256) == ("m", "127.0.0.1", None)
    embedder = EndpointEmbedder(endpoint.url + "/embeddings", "m", key=lambda _: "sk-0123456789")
    Blocking(EmbeddingAnnotator(embedder)).annotate([translation(1, "x")])
    asked = endpoint.asked[1]
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == "Bearer sk-0123456789"
    assert "sk-" not in json.dumps(asked.body) + embedder.maker + str(embedder.facts)


def test_batches_hold_at_most_64_and_progress_is_told(endpoint: Scripted) -> None:
    endpoint.answer = embedded
    told: list[tuple[int, int]] = []
    made = [translation(id_, f"output {id_}") for id_ in range(100)]
    asking = annotator(endpoint, progress=lambda done, all_: told.append((done, all_)))
    found = asking.annotate(made)
    assert len(found) == 100
    sizes = sorted(len(asked.body["input"]) for asked in endpoint.asked)
    assert (sizes, told[-1]) == ([8, MOST_INPUTS, MOST_INPUTS, MOST_INPUTS], (200, 200))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_what_was_kept_is_not_asked_again_unless_the_model_changed(endpoint: Scripted) -> None:
    endpoint.answer = embedded
    memo = Kept()
    made = [translation(id_, f"output {id_}") for id_ in range(3)]
    first = annotator(endpoint, memo).annotate(made)
    assert (annotator(endpoint, memo).annotate(made), len(endpoint.asked)) == (first, 1)
    others = [translation(id_, f"other {id_}") for id_ in range(3)]
    annotator(endpoint, memo).annotate(others)
    anew = [text.split("\n")[1] for text in endpoint.asked[1].body["input"]]
    assert anew == [f"other {id_}" for id_ in range(3)]
    memo = Kept()
    annotator(endpoint, memo).annotate([translation(1, "one")])
    endpoint.answer = lambda asked: embedded(asked, lambda text: vector(text, 6))
    annotator(endpoint, memo).annotate([translation(1, "two")])
    assert len(endpoint.asked[-1].body["input"]) == 2
    assert {len(value) for key, value in memo.items()} == {16, 24}


def test_secret_or_offline_text_stays(endpoint: Scripted, caplog: pytest.LogCaptureFixture) -> None:
    endpoint.answer = embedded
    memo = Kept()
    caplog.set_level(logging.DEBUG)
    made = [translation(1, "hidden", Segment.GOLD_STANDARD), translation(2, "open")]
    found = annotator(endpoint, memo).annotate(made)
    assert all(value is not None and value > 0 for value in found)
    assert len(memo) == 2
    assert SECRET not in caplog.text
    endpoint.answer = lambda asked: error(400, f"cannot embed {asked.body['input'][0]}")
    with pytest.raises(CallError) as caught:
        annotator(endpoint).annotate(made[:1])
    assert str(caught.value).startswith("HTTP 400 (request): ")
    elsewhere, key = "https://embed.example.org/v1", lambda _: "sk-0123456789"
    far = embedding_annotator(elsewhere, "m", key=key)
    refuses(UsageError, "secret segment", far.annotate, [translation(1, "hidden", Segment.HELD_OUT)])
    refuses(UsageError, "--offline is on", far.check, [Entry(id=1, source="a", reference="b")], offline=True)
    far.check([Entry(id=1, source="a", reference="b")])
    refuses(UsageError, "--offline is on", embedding_annotator, elsewhere, "m", key=key, offline=True)


PASSING: dict[str, Callable[[Asked], Answer]] = {
    "429": lambda _: error(429, headers={"Retry-After": "0"}),
    "503": lambda _: error(503),
    "broken off": lambda asked: Answer(body=embedded(asked).body, cut_after=30),
    "closed": lambda _: Answer(cut_after=0),
}


@pytest.mark.parametrize("kind", PASSING)
def test_what_passes_is_tried_again(endpoint: Scripted, kind: str) -> None:
    endpoint.answer = lambda asked: PASSING[kind](asked) if asked.number < 2 else embedded(asked)
    [found] = annotator(endpoint).annotate([translation(1, "x")])
    assert (found is not None, len(endpoint.asked)) == (True, 3)


def wrong(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Asked], Answer]:
    def answer(asked: Asked) -> Answer:
        items = [{"index": at, "embedding": vector(t)} for at, t in enumerate(asked.body["input"])]
        changed = change(items)
        return json_answer({"data": items if changed is None else changed})

    return answer


@pytest.mark.parametrize(("spoil", "said"), [
    (wrong(lambda items: items[:1]), "1 embeddings came for 2 texts"),
    (wrong(lambda items: items * 2), "4 embeddings came for 2 texts"),
    (wrong(lambda items: items[0]["embedding"].clear() or items[0]["embedding"].append(1.0)), "different lengths"),
    (wrong(lambda items: items[0]["embedding"].append(float("nan"))), "different lengths"),
    (wrong(lambda items: items[1].update(index=0)), "which text each belongs to"),
    (wrong(lambda items: items[1].update(index="x")), "which text each belongs to"),
    (wrong(lambda items: items[0].update(embedding="AAAA")), "no list of numbers"),
    (wrong(lambda items: items[0].update(embedding=[])), "no list of numbers"),
    (lambda asked: embedded(asked, lambda _: [1.0, float("nan")]), "no finite number"),
    (lambda asked: embedded(asked, lambda _: [1.0, float("inf")]), "no finite number"),
    (lambda asked: embedded(asked, lambda _: [1.0, 1e300]), "no finite number"),
    (lambda asked: embedded(asked, lambda _: [[1.0]]), "no finite number"),  # type: ignore[list-item]
    (lambda asked: embedded(asked, lambda _: ["x"]), "that is not a number"),  # type: ignore[list-item]
    (lambda _: json_answer({"data": 7}), "not the expected shape"),
    (lambda _: json_answer([]), "not the expected shape"),
    (lambda _: Answer(body=b"{"), "not JSON"),
    (lambda _: Answer(body=b"<html>a login page</html>"), "not JSON: name an endpoint of embeddings"),
])  # fmt: skip
def test_what_is_no_embedding_is_named_after_two_tries(
    endpoint: Scripted, spoil: Callable[[Asked], Answer], said: str
) -> None:
    endpoint.answer = spoil
    with pytest.raises(CallError, match=said):
        annotator(endpoint).annotate([translation(1, "x")])
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(("status", "said", "tries"), [
    (429, r"HTTP 429 \(rate_limit\): wait until the endpoint takes calls again", 3),
    (503, r"HTTP 503 \(server\): wait until the server works again", 3),
    (401, r"HTTP 401 \(auth\): store a key that holds with `rosetta key set 127\.0\.0\.1`", 1),
    (404, r"HTTP 404 \(request\): look at the address of --embeddings", 1),
    (400, r"HTTP 400 \(request\): look at --embeddings-model", 1),
    (422, r"HTTP 422 \(request\): look at --embeddings-model", None),
])  # fmt: skip
def test_a_refusal_names_the_mend_and_never_quotes_the_endpoint(
    endpoint: Scripted, status: int, said: str, tries: int | None
) -> None:
    endpoint.answer = lambda asked: error(status, f"cannot take {asked.body['input'][0]}")
    with pytest.raises(CallError, match=said) as caught:
        annotator(endpoint).annotate([translation(1, "x")])
    assert "cannot take" not in str(caught.value)
    assert "`rosetta score --rescore last --metrics semantic_score`" in str(caught.value)
    assert tries in {None, len(endpoint.asked)}


def test_a_call_that_is_too_large_is_halved(endpoint: Scripted) -> None:
    endpoint.answer = lambda asked: error(413, "too many inputs") if len(asked.body["input"]) > 10 else embedded(asked)
    made = [translation(id_, f"output {id_}") for id_ in range(20)]
    found = annotator(endpoint).annotate(made)
    expected = cosine("source 7\noutput 7", "source 7\nreference 7")
    assert found[7] == pytest.approx(expected, abs=1e-6)
    endpoint.answer = lambda asked: embedded(
        asked, lambda text: vector(text, 5 if "output 0" in asked.body["input"][0] else 4)
    )
    made = [translation(id_, f"output {id_}") for id_ in range(40)]
    with pytest.raises(HarnessError, match="vectors of 4 and 5 numbers"):
        annotator(endpoint).annotate(made)
    endpoint.answer = lambda asked: (
        error(400) if any("output 39" in text for text in asked.body["input"]) else embedded(asked)
    )
    memo = Kept()
    with pytest.raises(CallError):
        annotator(endpoint, memo).annotate(made)
    assert len(memo) in {0, MOST_INPUTS}


def test_nothing_to_ask_asks_nothing_and_items_have_places(endpoint: Scripted) -> None:
    assert annotator(endpoint).annotate([]) == []
    assert (annotator(endpoint).annotate([translation(1, " ")]), endpoint.asked) == ([0.0], [])
    found = read_embeddings({"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}, 2)
    assert found.rows.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    refuses(Transient, "", read_embeddings, {"data": []}, 1)
    made = Blocking(EmbeddingAnnotator(EndpointEmbedder("http://localhost:9", "m", key=no_key)))
    caught = refuses(CallError, "", made.annotate, [translation(1, "x")])
    told = "No connection to localhost:9: start the server, then `rosetta score --rescore last"
    assert str(caught).startswith(told)


def test_what_is_missing_is_said_at_once(tmp_path: Path) -> None:
    for where, model, said in [
        ("http://localhost:1/v1", None, "--embeddings-model"),
        ("nowhere", "m", "is not known"),
        ("/no/such/folder", None, "no such folder"),
        ("http://user:pass@localhost/v1", "m", "must not carry a password"),
    ]:
        refuses(UsageError, said, embedding_annotator, where, model, key=no_key)
    kind = "sentence_transformers.models.Transformer"
    (tmp_path / "modules.json").write_text(json.dumps([{"type": kind}]), "utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    made = embedding_annotator(str(tmp_path))
    with pytest.MonkeyPatch.context() as hidden:
        hidden.setitem(sys.modules, "sentence_transformers", None)
        refuses(UsageError, "pip install sentence-transformers", made.annotate, [of_words("dog", "cat", "dog")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A static model of five words, each with a direction of its own."""
    model2vec = pytest.importorskip("model2vec", reason="model2vec is not installed")
    tokenizers = pytest.importorskip("tokenizers")
    names = ["[UNK]", "[PAD]", "dog", "cat", "sleeps"]
    words = {name: at for at, name in enumerate(names)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model = model2vec.StaticModel(vectors=np.eye(5, dtype=np.float32), tokenizer=tokenizer)
    place = tmp_path / "five-words"
    model.save_pretrained(place)
    return place


def of_words(source: str, reference: str, output: str) -> Translation:
    return Translation(Entry(id=1, source=source, reference=reference), output)


def test_a_static_model_of_this_machine(folder: Path) -> None:
    memo = Kept()
    made = embedding_annotator(str(folder), memo=memo)
    outputs = [
        of_words("dog", "dog dog", "cat"), of_words("cat", "cat", "sleeps sleeps"),
        of_words("zzz", "zzz", "yyy"), of_words("dog", "cat", "cat"),
    ]  # fmt: skip
    offline.shut(offline.OFFLINE)
    found = made.annotate(outputs)
    # (1,1)/√2 against (1,0); (1,2)/√5 against (1,0); a model that sees nothing; the same text
    assert found == pytest.approx([1 / np.sqrt(2), 1 / np.sqrt(5), 0.0, 1.0], abs=1e-6)
    assert made.facts.model == "five-words"
    assert made.facts.endpoint is None
    assert len(made.facts.sha256 or "") == 64
    assert len(memo) == 6
    made.check([Entry(id=1, source="a", reference="b", segment=Segment.HELD_OUT)], offline=True)


def test_folder_is_known_by_its_content_or_refused(folder: Path, tmp_path: Path) -> None:
    before = embedding_annotator(str(folder)).facts.sha256
    (folder / "README.md").write_text("other words", "utf-8")
    assert embedding_annotator(str(folder)).facts.sha256 == before
    (folder / "config.json").write_text('{"normalize": true}', "utf-8")
    assert embedding_annotator(str(folder)).facts.sha256 != before
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:20])
    with pytest.raises(UsageError, match="the model cannot be read") as caught:
        embedding_annotator(str(folder)).annotate([of_words("dog", "cat", "dog")])
    assert str(caught.value).startswith(f"{folder.name}: ")  # it ends up on the card: no path
    refuses(UsageError, "neither a sentence-transformers", embedding_annotator, str(tmp_path))
    weights.rename(folder / "pytorch_model.bin")
    refuses(UsageError, r"neither|safetensors", embedding_annotator, str(folder))


@pytest.mark.thorough
def test_importing_the_annotators_loads_no_model_library() -> None:
    code = (
        "import sys, harness.annotators.embeddings, harness.annotators.comet\n"
        "import harness.annotators.embeddings\n"
        "print([n for n in ('httpx', 'model2vec', 'torch', 'comet', 'keyring') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def judge(endpoint: Scripted, id_: str) -> JudgeAnnotator:
    return make_judge(id_, endpoint.url, "m", key=no_key)


def output(text: str, **fields: Any) -> Translation:
    entry = {"id": 1, "source": "How high is it?", "reference": "4429 m", **fields}
    return Translation(Entry.model_validate(entry), text)


def asked_about(endpoint: Scripted, id_: str, text: str, reply: str, **fields: Any) -> Any:
    endpoint.answer = lambda _: json_answer(completion(reply))
    [found] = Blocking(judge(endpoint, id_)).annotate([output(text, **fields)])
    return found


def test_judges_have_contracts_hashes_and_some_need_references(endpoint: Scripted) -> None:
    assert set(JUDGES) == set(CONTRACTS)
    facts = [judge(endpoint, id_).facts for id_ in JUDGES]
    assert len({each.prompt_sha256 for each in facts}) == len(JUDGES)
    endpoint.answer = lambda _: says(1)
    lacking = [output("an answer", reference="")]
    found = {id_: Blocking(judge(endpoint, id_)).annotate(lacking)[0] for id_ in JUDGES}
    judged = {id_ for id_, value in found.items() if value is not None}
    assert judged == {"judge_detailed", "judge_redteaming"}


@pytest.mark.parametrize(("id_", "reply", "score", "fields"), [
    ("judge_semantic", '{"score": 0.25, "explanation": "x"}', 0.25, {"question", "expected", "answer"}),
    ("judge_binary", '```json\n{"score": 1, "explanation": "x"}\n```', 1, {"question", "reference", "candidate"}),
    ("judge_detailed", '<think>5</think>{"score": 3, "explanation": "x"}', 3, {"question", "reference", "candidate"}),
    ("judge_redteaming", '{"score": 1, "explanation": "x"}', 1, {"question", "candidate"}),
    ("judge_big_bench_audio", "INCORRECT", 0, {"question", "reference", "candidate"}),
])  # fmt: skip
def test_a_judge_is_shown_what_it_needs_and_read_by_its_contract(
    endpoint: Scripted, id_: str, reply: str, score: float, fields: set[str]
) -> None:
    assert asked_about(endpoint, id_, "4429 metres", reply)["score"] == score
    [asked] = endpoint.asked
    assert (set(shown(asked)), asked.body["temperature"]) == (fields, 0)


def test_what_is_off_the_scale_is_no_score(endpoint: Scripted) -> None:
    wrong = ('{"score": 7}', '{"score": 0.5}', "1", '{"score": true}', "[[1]]")
    for id_, reply in product(("judge_binary", "judge_detailed", "judge_redteaming"), wrong):
        found = asked_about(endpoint, id_, "an answer", reply)
        assert (found["score"], bool(found["reason"])) == (None, True)


def test_conversation_is_judged_by_turns_where_each_is_answered(endpoint: Scripted) -> None:
    def answer(asked: Asked) -> Any:
        return json_answer(completion(f"Fine. [[{len(shown(asked)['conversation']) + 7}]]"))

    endpoint.answer = answer
    turns = [{"user": "one?"}, {"user": "two?", "reference": "2"}]
    given = output(json.dumps(["first", "second"]), turns=turns)
    [found] = Blocking(judge(endpoint, "judge_mt_bench")).annotate([given])
    assert [turn["score"] for turn in found] == [7, 8]
    said = [{"user": "one?", "assistant": "first"}]
    told = {"conversation": said, "question": "two?", "reference": "2", "candidate": "second"}
    assert shown(endpoint.asked[1]) == told
    asking = Blocking(judge(endpoint, "judge_mt_bench"))
    for text in ("no JSON", "[" * 10_000, "[1, 2]", '["one answer"]', '["one", " "]', '{"a": "b"}', "\ud800"):  # fmt: skip
        given = output(text, turns=[{"user": "one?"}, {"user": "two?"}])
        assert asking.annotate([given]) == [None]
    assert len(endpoint.asked) == 2


def test_lacking_judge_is_said_and_clouds_get_no_secret(endpoint: Scripted) -> None:
    for where, model, said in [
        ("http://localhost:1/v1", None, "--judge-model"),
        ("nowhere", "m", "is not known"),
        ("http://user:pass@localhost/v1", "m", "must not carry a password"),
    ]:
        refuses(UsageError, said, make_judge, "judge_binary", where, model, key=no_key)
    here = chat_endpoint(endpoint.url)
    secret = Entry.model_validate({"id": 1, "source": "a", "reference": "b", "segment": "held_out"})
    refuses(UsageError, "named as one of a cloud", check_place, here, "big:cloud", [secret], offline=False)
    check_place(here, "big:cloud", [output("x").entry], offline=False)


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


def asked_once(server: Scripted) -> Blocking:
    once = RetryPolicy(most_attempts=1)
    return Blocking(EmbeddingAnnotator(EndpointEmbedder(server.url, "m", key=no_key)), once)


TRANSLATION = Translation(Entry(id=1, source="a", reference="b"), "c")
"""Two texts are embedded for it."""

NUMBERS = (
    st.integers(-(10**400), 10**400)
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from([2**63, -(2**63), 2**64, 1e308, 5e-324, 10**18, 10**19])
)
ANYTHING = st.recursive(
    NUMBERS | st.none() | st.booleans() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["data", "embedding", "index", "usage", "x"]), inner)
    ),
    max_leaves=12,
)
VECTORS = st.lists(NUMBERS | ANYTHING, max_size=3) | st.lists(NUMBERS, min_size=2, max_size=2)
ITEMS = st.fixed_dictionaries({"embedding": VECTORS}, optional={"index": st.integers(-1, 2) | ANYTHING})
REPLIES = ANYTHING | st.fixed_dictionaries(
    {"data": st.lists(ITEMS, min_size=2, max_size=2) | ANYTHING},
    optional={"usage": st.dictionaries(st.sampled_from(["prompt_tokens", "cost"]), ANYTHING)},
)


@examples(15, 250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reply=REPLIES)
def test_nothing_but_named_failures_comes_out(server: Scripted, reply: Any) -> None:
    body = json.dumps(reply).encode()  # with NaN and Infinity, as careless servers write them

    def answer(_: Asked) -> Answer:
        return Answer(body=body)

    server.answer = answer
    try:
        [cosine] = asked_once(server).annotate([TRANSLATION])
    except HarnessError:
        return
    assert cosine is not None
    assert -1 <= cosine <= 1
