"""COMET and BERTScore: scores from files, and from models behind the libraries' interfaces."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from corpora.model.entry import Entry, Segment
from harness.annotators.bertscore import BertScoreFile, BertScoreModel, TokenVectors, bertscore_annotator, f1
from harness.annotators.comet import CometModel, CometScores, comet_annotator
from harness.core.failures import HarnessError, UsageError
from scoring.core.setup import Translation
from tests.harness.annotators.judged import Kept
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples


def translation(id_: int | str, output: str = "x", segment: Segment | None = None) -> Translation:
    return Translation(Entry(id=id_, source="s", reference="r", segment=segment), output)


def scores(tmp_path: Path, name: str, content: str) -> CometScores:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    made = comet_annotator(path)
    assert isinstance(made, CometScores)
    return made


FORMS = [
    ("scores.txt", "0.5\n0.25\n0.75\n"),
    ("scores.txt", "\ufeff# made elsewhere\r\n0.5\r\n\r\n0.25\r\n0.75"),
    ("scores.tsv", "id\tscore\n3\t0.75\n1\t0.5\n2\t0.25\n"),
    ("scores.csv", "3,0.75\n1, 0.5\n2,2.5e-1\n"),
    ("scores.jsonl", '{"id": 3, "score": 0.75}\n{"id": "1", "score": 0.5}\n\n{"id": 2, "score": 0.25}\n'),
    ("scores.jsonl", "0.5\n0.25\n0.75\n"),
]  # fmt: skip


def test_forms_of_a_file(tmp_path: Path) -> None:
    three = [translation(1), translation("2"), translation(3)]
    for name, content in FORMS:
        made = scores(tmp_path, name, content)
        assert made.annotate(three) == [0.5, 0.25, 0.75]
        assert made.facts.imported
        assert (made.facts.model, len(made.facts.sha256 or "")) == (name, 64)


def test_scores_of_a_file_are_checked_by_line(tmp_path: Path) -> None:
    made = scores(tmp_path, "s.tsv", "1\t0.9\n")
    assert made.annotate([translation(1, " "), translation(2, "")]) == [0.0, 0.0]
    path = tmp_path / "s.txt"
    path.write_bytes(b"0.5\n\xff\xfe\n")
    refuses(UsageError, "line 2: not UTF-8", comet_annotator, path)
    with pytest.raises(UsageError, match="there are 2 scores, and the run has 3 entries"):
        scores(tmp_path, "s.txt", "0.5\n0.6\n").annotate([translation(id_) for id_ in range(3)])
    with pytest.raises(UsageError, match="1 of the run's 2 entries have no score"):
        scores(tmp_path, "s.tsv", "1\t0.5\n7\t0.6\n").annotate([translation(1), translation(2)])
    for name, content, said in [
        ("s.txt", "0.5\nx\n", "line 2: the score is no finite number"),
        ("s.txt", "0.5\nnan\n", "line 2: the score is no finite number"),
        ("s.txt", "0.5\n\n81.2\n", "line 3: 81.2 is not on COMET's scale"),
        ("s.txt", "-0.9\n", "line 1: -0.9 is not on COMET's scale"),
        ("s.txt", "# nothing\n", "there are no scores"),
        ("s.tsv", "1\t0.5\n1\t0.6\n", "line 2: this entry has a score already"),
        ("s.tsv", "1\t0.5\n0.6\n", "some lines have ids"),
        ("s.tsv", "1\ta\t0.5\n", "line 1: an id and a score are wanted"),
        ("s.jsonl", '{"id": 1}\n', 'line 1: the fields "id" and "score"'),
        ("s.jsonl", '{"id": 1, "score": 0.5}\n{"id"', "line 2: not JSON"),
        ("s.jsonl", '{"id": 1, "score": true}\n', "line 1: the score is no finite number"),
        ("s.jsonl", '{"id": 1, "score": [' + "[" * 100_000 + "\n", "line 1: not JSON"),
        ("s.csv", '1,"0.5\n2,0.6\n', "line"),
    ]:
        refuses(UsageError, said, scores, tmp_path, name, content)


def test_no_scores_or_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("", "missing.tsv"):
        refuses(UsageError, r"no such file|0 checkpoints", comet_annotator, tmp_path / name)
    path = tmp_path / "model.ckpt"
    path.write_bytes(b"x")
    for module in (None, types.ModuleType("comet")):  # the second: another package of that name
        monkeypatch.setitem(sys.modules, "comet", module)
        refuses(UsageError, r"unbabel-comet.*file of scores", comet_annotator, path)
    for content, count in (("0.5\n", 2), ("7\t0.5\n", 1)):
        made = scores(tmp_path, "s.tsv", content)
        with pytest.raises(UsageError, match=r"^s\.tsv: ") as caught:
            made.annotate([translation(id_) for id_ in range(count)])
        assert str(tmp_path) not in str(caught.value)
    package = types.ModuleType("comet")
    package.load_from_checkpoint = lambda *_, **__: 1 / 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "comet", package)
    (tmp_path / "c.ckpt").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"^c\.ckpt: COMET cannot load") as caught:
        comet_annotator(tmp_path / "c.ckpt").annotate([translation(1, "ab")])
    assert str(tmp_path) not in str(caught.value)


class Model:
    """Answers as ``predict`` of the library does."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.give: Any = None

    def predict(self, data: list[dict[str, str]], **options: Any) -> dict[str, Any]:
        assert options == {"batch_size": 8, "gpus": 0, "progress_bar": False}
        self.asked += data
        if callable(self.give):
            return dict(self.give())
        return {"scores": self.give or [len(item["mt"]) / 100 for item in data], "system_score": 0}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """The library's interface; the library itself is several gigabytes and pins old versions."""
    found = Model()
    package: Any = types.ModuleType("comet")

    def load_from_checkpoint(path: str, local_files_only: bool) -> Model:
        assert path.endswith(".ckpt")
        assert local_files_only
        return found

    package.load_from_checkpoint = load_from_checkpoint
    monkeypatch.setitem(sys.modules, "comet", package)
    return found


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "wmt22-comet-da" / "checkpoints" / "model.ckpt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    return path


def test_checkpoint_is_asked_once_for_what_is_not_secret(model: Model, checkpoint: Path) -> None:
    memo = Kept()
    made = [translation(1, "ab"), translation(2, "abcd", Segment.HELD_OUT), translation(3, "")]
    told: list[tuple[int, int]] = []
    first = comet_annotator(checkpoint.parents[1], memo, lambda *counts: told.append(counts))
    assert isinstance(first, CometModel)
    assert first.facts.model == "wmt22-comet-da"
    assert not first.facts.imported
    assert first.annotate(made) == [0.02, 0.04, 0.0]
    assert (model.asked[0], told) == ({"src": "s", "mt": "ab", "ref": "r"}, [(2, 2)])
    assert len(memo) == 1
    model.asked.clear()
    assert comet_annotator(checkpoint, memo).annotate(made) == [0.02, 0.04, 0.0]
    assert [item["mt"] for item in model.asked] == ["abcd"]
    (checkpoint.parent / "other.ckpt").write_bytes(b"x")
    refuses(UsageError, "2 checkpoints", comet_annotator, checkpoint.parent)


def test_checkpoint_is_named_without_folders_of_its_owner(model: Model, tmp_path: Path) -> None:
    model.give = raises
    for place, named in (
        ("MODEL/checkpoints/model.ckpt", "MODEL"),
        ("models--org--MODEL/snapshots/0a1b/checkpoints/model.ckpt", "models--org--MODEL"),
        ("MODEL/checkpoints/best.ckpt", "best"),
        ("somebody/model.ckpt", "model"),
        ("somebody/other.ckpt", "other"),
    ):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"weights")
        found = comet_annotator(path)
        assert found.facts.model == named
        caught = refuses(HarnessError, "", found.annotate, [translation(1, "ab")])
        assert str(tmp_path) not in str(caught)


def raises() -> dict[str, Any]:
    raise RuntimeError("s is the source")


def test_failing_checkpoint_is_named_without_its_words(model: Model, checkpoint: Path) -> None:
    for give, said in (
        ([0.1, 0.2], "cannot be used"), ([7.0], "cannot be used"),
        ([float("nan")], "cannot be used"), (raises, r"COMET failed \(RuntimeError\)"),
        (lambda: {"system_score": 1}, r"COMET failed \(KeyError\)"),
    ):  # fmt: skip
        model.give = give
        with pytest.raises(HarnessError, match=said) as caught:
            comet_annotator(checkpoint).annotate([translation(1, "ab")])
        assert "the source" not in str(caught.value)


GOLDEN = json.loads((Path(__file__).parents[2] / "data" / "bertscore.json").read_text("utf-8"))


def pair(output: str, reference: str, segment: Segment | None = None) -> Translation:
    return Translation(Entry(id=1, source="s", reference=reference, segment=segment), output)


class Tensor:
    """An array, as far as a tensor is asked to be one."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def float(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.values


class BertModel:
    """Gives the vectors of the golden texts in layer 3 of 5, and nonsense in the others."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.opened: list[dict[str, Any]] = []
        self.fail: Callable[[], object] = lambda: None

    def tokens(self, texts: Sequence[str], **how: Any) -> dict[str, Tensor]:
        told = {"padding": True, "truncation": True, "max_length": 60, "return_tensors": "pt"}
        assert how == told
        self.asked += texts
        self.fail()
        rows = [GOLDEN["texts"][text] for text in texts]
        width = max(len(row["ids"]) for row in rows)
        ids = [[*row["ids"], *[0] * (width - len(row["ids"]))] for row in rows]
        mask = [[int(place < len(row["ids"])) for place in range(width)] for row in rows]
        return {"input_ids": Tensor(ids), "attention_mask": Tensor(mask)}

    def forward(self, input_ids: Tensor, **_: Any) -> Any:
        layers = [np.zeros((*input_ids.values.shape, 8), np.float32) for _ in range(5)]
        known = {tuple(row["ids"]): row["vectors"] for row in GOLDEN["texts"].values()}
        for place, ids in enumerate(input_ids.values):
            vectors = known[tuple(int(id_) for id_ in ids if id_)]
            layers[3][place, : len(vectors)] = vectors
        return SimpleNamespace(hidden_states=[Tensor(layer) for layer in layers])


@pytest.fixture
def bert_model(monkeypatch: pytest.MonkeyPatch) -> BertModel:
    """The interface of torch and transformers; the libraries themselves are some gigabytes."""
    found = BertModel()
    torch, transformers = ModuleType("torch"), ModuleType("transformers")

    class Inference:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    class Tokenizer:
        model_max_length = 64
        cls_token_id, sep_token_id = GOLDEN["marks"]
        __call__ = staticmethod(found.tokens)

        @staticmethod
        def from_pretrained(folder: str, **how: Any) -> Tokenizer:
            found.opened.append(how)
            return Tokenizer()

    class AutoModel:
        config = SimpleNamespace(max_position_embeddings=60, model_type="bert")
        __call__ = staticmethod(found.forward)

        @staticmethod
        def from_pretrained(folder: str, **how: Any) -> AutoModel:
            found.opened.append(how)
            return AutoModel()

        def eval(self) -> AutoModel:
            return self

    quiet = SimpleNamespace(set_verbosity_error=lambda: None, disable_progress_bar=lambda: None)
    utils = SimpleNamespace(logging=quiet)
    for name, value in (("AutoTokenizer", Tokenizer), ("AutoModel", AutoModel), ("utils", utils)):
        setattr(transformers, name, value)
    torch.inference_mode = Inference  # type: ignore[attr-defined]
    for module in (torch, transformers):
        module.__spec__ = ModuleSpec(module.__name__, None)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return found


def folder(tmp_path: Path, config: Any = None, weights: str = "model.safetensors") -> Path:
    made = tmp_path / "small-bert"
    made.mkdir(exist_ok=True)
    told = {"model_type": "bert", "num_hidden_layers": 4} if config is None else config
    (made / "config.json").write_text(json.dumps(told), "utf-8")
    (made / weights).write_bytes(b"weights")
    return made


def test_values_are_the_authors_and_asked_once_only(bert_model: BertModel, tmp_path: Path) -> None:
    made = bertscore_annotator(folder(tmp_path))
    assert isinstance(made, BertScoreModel)
    found = made.annotate([pair(output, reference) for output, reference, _ in GOLDEN["pairs"]])
    assert found == pytest.approx([value for _, _, value in GOLDEN["pairs"]], abs=2e-5)
    facts = {"model": "small-bert", "imported": False, "layer": 3, "sha256": made.facts.sha256}
    assert made.facts.model_dump() == facts
    here = [each["local_files_only"] and not each["trust_remote_code"] for each in bert_model.opened]
    assert all(here)
    assert bert_model.opened[1]["use_safetensors"] is True
    memo, told = Kept(), list[tuple[int, int]]()
    pairs = [pair("a", "the dog ran"), pair("the cat", "the cat", Segment.HELD_OUT), pair(" ", "a")]
    first = bertscore_annotator(folder(tmp_path), memo, lambda *counts: told.append(counts))
    found = first.annotate(pairs)
    assert found[1:] == [pytest.approx(1, abs=1e-6), 0.0]
    assert (told, len(memo)) == ([(2, 2)], 1)
    bert_model.asked.clear()
    assert bertscore_annotator(folder(tmp_path), memo).annotate(pairs) == found
    assert bert_model.asked == ["the cat"]


def test_failing_model_or_missing_package_is_named(
    bert_model: BertModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bert_model.fail = raises
    with pytest.raises(HarnessError, match=r"BERTScore failed \(RuntimeError\)") as caught:
        bertscore_annotator(folder(tmp_path)).annotate([pair("a", "the dog ran")])
    assert "the source" not in str(caught.value)
    monkeypatch.setattr(sys.modules["transformers"], "AutoModel", None)
    with pytest.raises(UsageError, match="small-bert: the model cannot be read") as unread:
        bertscore_annotator(folder(tmp_path)).annotate([pair("a", "the dog ran")])
    assert str(tmp_path) not in str(unread.value)
    monkeypatch.setattr("harness.annotators.bertscore.find_spec", lambda _: None)
    said = r"torch and transformers.*some gigabytes.*layer 3 .*file of scores"
    refuses(UsageError, said, bertscore_annotator, folder(tmp_path))


@pytest.mark.usefixtures("bert_model")
def test_layer_is_that_of_bert_scores_table_or_refused(tmp_path: Path) -> None:
    for config, weights, said in (
        ({}, "pytorch_model.bin", "Weights of other forms may run code"),
        ([], "model.safetensors", "this is no folder of a model"),
        ({}, "model.safetensors", "no encoder whose layers can be counted"),
        ({"num_hidden_layers": 10**9}, "model.safetensors", "no encoder"),
        ({"num_hidden_layers": True}, "model.safetensors", "no encoder"),
        ({"num_hidden_layers": 12, "is_encoder_decoder": True}, "model.safetensors", "no encoder"),
    ):
        (tmp_path / weights).mkdir(exist_ok=True)
        refuses(UsageError, said, bertscore_annotator, folder(tmp_path / weights, config, weights))
    for kind, layers, layer in (
        ("bert", {"num_hidden_layers": 12}, 9), ("bert", {"num_hidden_layers": 24}, 18),
        ("roberta", {"num_hidden_layers": 24}, 17), ("xlm-roberta", {"num_hidden_layers": 12}, 9),
        ("distilbert", {"n_layers": 6}, 5), ("own", {"num_hidden_layers": 1}, 1),
    ):  # fmt: skip
        made = bertscore_annotator(folder(tmp_path, {"model_type": kind, **layers}))
        assert made.facts.layer == layer


def test_a_file_of_scores_is_read_on_its_scale(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("1\t0.5\n", "utf-8")
    made = bertscore_annotator(path)
    assert isinstance(made, BertScoreFile)
    assert made.annotate([pair("a", "b")]) == [0.5]
    assert made.facts.imported
    path.write_text("71.2\n", "utf-8")
    refuses(UsageError, r"line 1: 71.2 is not on BERTScore's scale.*percentages", bertscore_annotator, path)
    refuses(UsageError, "no such file or folder", bertscore_annotator, tmp_path / "none")


@st.composite
def seen(draw: st.DrawFn) -> TokenVectors:
    count = draw(st.integers(1, 5))
    raw = draw(arrays(np.float32, (count, 3), elements=st.floats(0.125, 1, width=16)))
    words = draw(arrays(np.bool_, count))
    return TokenVectors(raw / np.linalg.norm(raw, axis=1, keepdims=True), words)


@examples(20, 60)
@given(seen(), seen())
def test_f1_lies_between_0_and_1_both_ways(first: TokenVectors, second: TokenVectors) -> None:
    value = f1(first, second)
    assert 0 <= value <= 1 + 1e-6
    assert value == pytest.approx(f1(second, first), abs=1e-6)
    assert (value == 0) == (not first.words.any() or not second.words.any())
    if first.words.any():
        assert f1(first, first) == pytest.approx(1, abs=1e-6)
