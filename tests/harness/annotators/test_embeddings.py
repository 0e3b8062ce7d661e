"""Embeddings from a real server that misbehaves, and from a model on disk."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.model.entry import Entry, Segment
from harness.annotators import embeddings
from harness.annotators.embedding_endpoint import MOST_INPUTS, EndpointEmbedder, read_embeddings
from harness.annotators.embeddings import EmbeddingAnnotator
from harness.core.failures import CallError, ErrorClass, HarnessError, Transient, UsageError
from harness.endpoint import offline
from harness.endpoint.keys import no_key
from harness.endpoint.limiter import RetryPolicy
from scoring.core.translation import Translation
from tests.harness.annotators.embedded import Blocking, Kept, embedded, vector
from tests.harness.scripted import Answer, Asked, Scripted, error, json_answer

SECRET = "the medicine bundle is opened at dawn"
QUICK = RetryPolicy(most_attempts=3, first_wait=0.001, most_malformed=2)


def translation(id_: int, output: str, segment: Segment | None = None) -> Translation:
    source = SECRET if segment else f"source {id_}"
    made = Entry(id=id_, source=source, reference=f"reference {id_}", segment=segment)
    return Translation(made, output)


def annotator(
    endpoint: Scripted, memo: Kept | None = None, progress: Any = None, **more: Any
) -> Blocking:
    embedder = EndpointEmbedder(endpoint.url, "m", key=no_key, **more)
    return Blocking(EmbeddingAnnotator(embedder, memo, progress), QUICK)


def embedding_annotator(*given: Any, **more: Any) -> Blocking:
    return Blocking(embeddings.embedding_annotator(*given, **more), QUICK)


def cosine(one: str, other: str) -> float:
    ours, theirs = np.array(vector(one)), np.array(vector(other))
    return float(ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs))


def test_cosine_of_source_with_output_and_source_with_reference(endpoint: Scripted) -> None:
    endpoint.answer = embedded
    made = [translation(1, " an   output"), translation(2, "reference 2"), translation(3, "")]
    found = annotator(endpoint).annotate(made)
    assert found[0] == pytest.approx(
        cosine("source 1\nan output", "source 1\nreference 1"), abs=1e-6
    )
    assert found[1:] == [1.0, 0.0]
    [asked] = endpoint.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {
        "model": "m",
        "input": ["source 1\nan output", "source 1\nreference 1"],
        "encoding_format": "float",
    }


def test_facts_and_headers_show_no_key(endpoint: Scripted) -> None:
    facts = annotator(endpoint).facts
    assert (facts.model, facts.endpoint, facts.sha256) == ("m", "127.0.0.1", None)
    endpoint.answer = embedded
    embedder = EndpointEmbedder(endpoint.url + "/embeddings", "m", key=lambda _: "sk-0123456789")
    Blocking(EmbeddingAnnotator(embedder)).annotate([translation(1, "x")])
    [asked] = endpoint.asked
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == "Bearer sk-0123456789"
    assert "sk-" not in json.dumps(asked.body) + embedder.maker + str(embedder.facts)


def test_batches_hold_at_most_64_and_progress_is_told(endpoint: Scripted) -> None:
    endpoint.answer = embedded
    told: list[tuple[int, int]] = []
    made = [translation(id_, f"output {id_}") for id_ in range(100)]
    found = annotator(endpoint, progress=lambda done, all_: told.append((done, all_))).annotate(
        made
    )
    assert len(found) == 100
    sizes = sorted(len(asked.body["input"]) for asked in endpoint.asked)
    assert (sizes, told[-1]) == ([8, MOST_INPUTS, MOST_INPUTS, MOST_INPUTS], (200, 200))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_what_was_kept_is_not_asked_again_and_gives_the_same_values(endpoint: Scripted) -> None:
    endpoint.answer = embedded
    memo = Kept()
    made = [translation(id_, f"output {id_}") for id_ in range(3)]
    first = annotator(endpoint, memo).annotate(made)
    assert (annotator(endpoint, memo).annotate(made), len(endpoint.asked)) == (first, 1)
    others = [translation(id_, f"other {id_}") for id_ in range(3)]
    annotator(endpoint, memo).annotate(others)
    assert [text.split("\n")[1] for text in endpoint.asked[1].body["input"]] == [
        f"other {id_}" for id_ in range(3)
    ]


def test_a_model_that_changed_behind_its_name_is_asked_anew(endpoint: Scripted) -> None:
    endpoint.answer = embedded
    memo = Kept()
    annotator(endpoint, memo).annotate([translation(1, "one")])
    endpoint.answer = lambda asked: embedded(asked, lambda text: vector(text, 6))
    annotator(endpoint, memo).annotate([translation(1, "two")])
    assert len(endpoint.asked[-1].body["input"]) == 2
    assert {len(value) for key, value in memo.items()} == {16, 24}


def test_a_spoiled_memo_is_not_believed(endpoint: Scripted) -> None:
    endpoint.answer = embedded
    memo = Kept()
    first = annotator(endpoint, memo).annotate([translation(1, "one")])
    for spoiled in (b"", b"abc", np.array([np.nan] * 4, "<f4").tobytes()):
        memo.update(dict.fromkeys(memo, spoiled))
        assert annotator(endpoint, memo).annotate([translation(1, "one")]) == first


def test_secret_texts_are_asked_here_and_never_kept(
    endpoint: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
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


def test_secret_texts_and_offline_runs_stay_on_this_machine() -> None:
    def key(_endpoint: object) -> str:
        return "sk-0123456789"

    far = embedding_annotator("https://embed.example.org/v1", "m", key=key)
    with pytest.raises(UsageError, match="secret segment"):
        far.annotate([translation(1, "hidden", Segment.HELD_OUT)])
    with pytest.raises(UsageError, match="--offline is on"):
        far.check([Entry(id=1, source="a", reference="b")], offline=True)
    far.check([Entry(id=1, source="a", reference="b")])
    with pytest.raises(UsageError, match="--offline is on"):
        embedding_annotator("https://embed.example.org/v1", "m", key=key, offline=True)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: error(429, headers={"Retry-After": "0"}),
        lambda _: error(503),
        lambda _: error(500),
        lambda asked: Answer(body=embedded(asked).body, cut_after=30),
        lambda _: Answer(cut_after=0),
    ],
    ids=["429", "503", "500", "broken off", "closed"],
)
def test_what_passes_is_tried_again(endpoint: Scripted, spoil: Callable[[Asked], Answer]) -> None:
    endpoint.answer = lambda asked: spoil(asked) if asked.number < 2 else embedded(asked)
    [found] = annotator(endpoint).annotate([translation(1, "x")])
    assert found is not None
    assert found > 0
    assert len(endpoint.asked) == 3


def test_truncated_json_is_asked_for_once_more(endpoint: Scripted) -> None:
    cut = Answer(body=b'{"data": [{"embedding": [0.1, ')
    endpoint.answer = lambda asked: embedded(asked) if asked.number else cut
    assert annotator(endpoint).annotate([translation(1, "x")]) != [None]
    assert len(endpoint.asked) == 2


def wrong(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Asked], Answer]:
    def answer(asked: Asked) -> Answer:
        items = [{"index": at, "embedding": vector(t)} for at, t in enumerate(asked.body["input"])]
        changed = change(items)
        return json_answer({"data": items if changed is None else changed})

    return answer


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
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
        (lambda asked: embedded(asked, lambda _: ["x"]), "that is no number"),  # type: ignore[list-item]
        (lambda _: json_answer({"data": 7}), "not the expected shape"),
        (lambda _: json_answer([]), "not the expected shape"),
        (lambda _: Answer(body=b"{"), "not JSON"),
        (lambda _: Answer(body=b"<html>a login page</html>"), "not JSON: name an endpoint of embeddings"),
    ],
)  # fmt: skip
def test_what_is_no_embedding_is_named_after_two_tries(
    endpoint: Scripted, spoil: Callable[[Asked], Answer], said: str
) -> None:
    endpoint.answer = spoil
    with pytest.raises(CallError, match=said):
        annotator(endpoint).annotate([translation(1, "x")])
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    ("status", "said", "tries"),
    [
        (429, r"HTTP 429 \(rate_limit\): wait until the endpoint takes calls again", 3),
        (503, r"HTTP 503 \(server\): wait until the server works again", 3),
        (401, r"HTTP 401 \(auth\): store a key that holds with `rosetta key set 127\.0\.0\.1`", 1),
        (404, r"HTTP 404 \(request\): look at the address of --embeddings", 1),
        (400, r"HTTP 400 \(request\): look at --embeddings-model", 1),
        (422, r"HTTP 422 \(request\): look at --embeddings-model", None),
    ],
)
def test_a_refusal_names_the_mend_and_never_quotes_the_endpoint(
    endpoint: Scripted, status: int, said: str, tries: int | None
) -> None:
    endpoint.answer = lambda asked: error(status, f"cannot take {asked.body['input'][0]}")
    with pytest.raises(CallError, match=said) as caught:
        annotator(endpoint).annotate([translation(1, "x")])
    assert "cannot take" not in str(caught.value)
    assert "`rosetta score --rescore last --metrics semantic_score`" in str(caught.value)
    assert tries in {None, len(endpoint.asked)}


def test_a_server_that_is_not_there_is_named_with_the_mend(endpoint: Scripted) -> None:
    made = Blocking(EmbeddingAnnotator(EndpointEmbedder("http://localhost:9", "m", key=no_key)))
    with pytest.raises(CallError) as caught:
        made.annotate([translation(1, "x")])
    assert str(caught.value) == (
        "No connection to localhost:9: start the server, then "
        "`rosetta score --rescore last --metrics semantic_score`, with --embeddings and --embeddings-model "
        "where the run was begun without them."
    )


def test_wrong_dimension_between_batches_is_named(endpoint: Scripted) -> None:
    endpoint.answer = lambda asked: embedded(
        asked, lambda text: vector(text, 5 if "output 0" in asked.body["input"][0] else 4)
    )
    made = [translation(id_, f"output {id_}") for id_ in range(40)]
    with pytest.raises(HarnessError, match="vectors of 4 and 5 numbers"):
        annotator(endpoint).annotate(made)


def test_a_refusal_is_not_tried_again(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: error(401, "who are you?")
    with pytest.raises(CallError, match="401") as caught:
        annotator(endpoint).annotate([translation(1, "x")])
    assert caught.value.error_class is ErrorClass.AUTH
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("status", [413, 422])
def test_a_call_that_is_too_large_is_halved(endpoint: Scripted, status: int) -> None:
    endpoint.answer = lambda asked: (
        error(status, "too many inputs") if len(asked.body["input"]) > 10 else embedded(asked)
    )
    made = [translation(id_, f"output {id_}") for id_ in range(20)]
    found = annotator(endpoint).annotate(made)
    assert found[7] == pytest.approx(
        cosine("source 7\noutput 7", "source 7\nreference 7"), abs=1e-6
    )


def test_what_came_before_a_failure_is_kept(endpoint: Scripted) -> None:
    endpoint.answer = lambda asked: (
        error(400) if any("output 39" in text for text in asked.body["input"]) else embedded(asked)
    )
    memo = Kept()
    made = [translation(id_, f"output {id_}") for id_ in range(40)]
    with pytest.raises(CallError):
        annotator(endpoint, memo).annotate(made)
    assert len(memo) in {0, MOST_INPUTS}


def test_nothing_to_ask_asks_nothing_and_items_have_places(endpoint: Scripted) -> None:
    assert annotator(endpoint).annotate([]) == []
    assert (annotator(endpoint).annotate([translation(1, " ")]), endpoint.asked) == ([0.0], [])
    found = read_embeddings({"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}, 2)
    assert found.rows.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(Transient):
        read_embeddings({"data": []}, 1)


def test_what_is_missing_is_said_at_once() -> None:
    for where, model, said in [
        ("http://localhost:1/v1", None, "--embeddings-model"),
        ("nowhere", "m", "is not known"),
        ("/no/such/folder", None, "no such folder"),
        ("http://user:pass@localhost/v1", "m", "must not carry a password"),
    ]:
        with pytest.raises(UsageError, match=said):
            embedding_annotator(where, model, key=no_key)


# --- a model on disk -------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A static model of five words, each with a direction of its own."""
    model2vec = pytest.importorskip("model2vec", reason="model2vec is not installed")
    tokenizers = pytest.importorskip("tokenizers")
    names = ["[UNK]", "[PAD]", "dog", "cat", "sleeps"]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({name: at for at, name in enumerate(names)}, unk_token="[UNK]")
    )
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
        of_words("dog", "dog dog", "cat"),
        of_words("cat", "cat", "sleeps sleeps"),
        of_words("zzz", "zzz", "yyy"),
        of_words("dog", "cat", "cat"),
    ]
    offline.shut(offline.OFFLINE)
    found = made.annotate(outputs)
    # (1,1)/√2 against (1,0); (1,2)/√5 against (1,0); a model that sees nothing; the same text
    assert found == pytest.approx([1 / np.sqrt(2), 1 / np.sqrt(5), 0.0, 1.0], abs=1e-6)
    assert made.facts.model == "five-words"
    assert made.facts.endpoint is None
    assert len(made.facts.sha256 or "") == 64
    assert len(memo) == 6
    made.check([Entry(id=1, source="a", reference="b", segment=Segment.HELD_OUT)], offline=True)


def test_the_hash_follows_the_content(folder: Path) -> None:
    before = embedding_annotator(str(folder)).facts.sha256
    (folder / "README.md").write_text("other words", "utf-8")
    assert embedding_annotator(str(folder)).facts.sha256 == before
    (folder / "config.json").write_text('{"normalize": true}', "utf-8")
    assert embedding_annotator(str(folder)).facts.sha256 != before


def test_folder_that_is_no_model_or_broken_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a sentence-transformers"):
        embedding_annotator(str(tmp_path))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r"neither|safetensors"):
        embedding_annotator(str(folder))


def test_a_broken_model_is_named(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:20])
    with pytest.raises(UsageError, match="the model cannot be read") as caught:
        embedding_annotator(str(folder)).annotate([of_words("dog", "cat", "dog")])
    assert str(caught.value).startswith(f"{folder.name}: ")  # it ends up on the card: no path


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text(
        '[{"type": "sentence_transformers.models.Transformer"}]', "utf-8"
    )
    (tmp_path / "model.safetensors").write_bytes(b"")
    made = embedding_annotator(str(tmp_path))
    hidden = pytest.MonkeyPatch()
    hidden.setitem(sys.modules, "sentence_transformers", None)
    try:
        with pytest.raises(UsageError, match="pip install sentence-transformers"):
            made.annotate([of_words("dog", "cat", "dog")])
    finally:
        hidden.undo()


def test_importing_the_annotators_loads_no_model_library() -> None:
    code = (
        "import sys, harness.annotators.embeddings, harness.annotators.comet\n"
        "import harness.annotators.embedding_folder\n"
        "print([n for n in ('httpx', 'model2vec', 'torch', 'comet', 'keyring') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
