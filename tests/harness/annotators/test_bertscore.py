"""BERTScore: from files, and from a model behind the libraries' interface, with values of the authors' program."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from corpora.model.entry import Entry, Segment
from harness.annotators.bertscore import (
    BertScoreFile,
    BertScoreModel,
    TokenVectors,
    bertscore_annotator,
    f1,
)
from harness.core.failures import HarnessError, UsageError
from scoring.core.translation import Translation
from tests.harness.annotators.embedded import Kept

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


class Model:
    """Gives the vectors of the golden texts in layer 3 of 5, and nonsense in the others."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.opened: list[dict[str, Any]] = []
        self.fail: Callable[[], None] = lambda: None

    def tokens(self, texts: Sequence[str], **how: Any) -> dict[str, Tensor]:
        assert how == {
            "padding": True,
            "truncation": True,
            "max_length": 60,
            "return_tensors": "pt",
        }
        self.asked += texts
        self.fail()
        rows = [GOLDEN["texts"][text] for text in texts]
        width = max(len(row["ids"]) for row in rows)
        return {
            "input_ids": Tensor([[*row["ids"], *[0] * (width - len(row["ids"]))] for row in rows]),
            "attention_mask": Tensor(
                [[1] * len(row["ids"]) + [0] * (width - len(row["ids"])) for row in rows]
            ),
        }

    def forward(self, input_ids: Tensor, **_: Any) -> Any:
        layers = [np.zeros((*input_ids.values.shape, 8), np.float32) for _ in range(5)]
        known = {tuple(row["ids"]): row["vectors"] for row in GOLDEN["texts"].values()}
        for place, ids in enumerate(input_ids.values):
            vectors = known[tuple(int(id_) for id_ in ids if id_)]
            layers[3][place, : len(vectors)] = vectors
        return SimpleNamespace(hidden_states=[Tensor(layer) for layer in layers])


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """The interface of torch and transformers; the libraries themselves are some gigabytes."""
    found = Model()
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
    for name, value in (
        ("AutoTokenizer", Tokenizer),
        ("AutoModel", AutoModel),
        ("utils", SimpleNamespace(logging=quiet)),
    ):
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


def test_values_are_those_of_the_authors_program(model: Model, tmp_path: Path) -> None:
    made = bertscore_annotator(folder(tmp_path))
    assert isinstance(made, BertScoreModel)
    found = made.annotate([pair(output, reference) for output, reference, _ in GOLDEN["pairs"]])
    assert found == pytest.approx([value for _, _, value in GOLDEN["pairs"]], abs=2e-5)
    assert made.facts.model_dump() == {
        "model": "small-bert",
        "sha256": made.facts.sha256,
        "imported": False,
        "layer": 3,
    }
    assert all(how["local_files_only"] and not how["trust_remote_code"] for how in model.opened)
    assert model.opened[1]["use_safetensors"] is True


def test_a_pair_is_asked_for_once_unless_it_is_secret(model: Model, tmp_path: Path) -> None:
    memo, told = Kept(), list[tuple[int, int]]()
    made = [pair("a", "the dog ran"), pair("the cat", "the cat", Segment.HELD_OUT), pair(" ", "a")]
    first = bertscore_annotator(folder(tmp_path), memo, lambda *counts: told.append(counts))
    found = first.annotate(made)
    assert found[1:] == [pytest.approx(1, abs=1e-6), 0.0]
    assert (told, len(memo)) == ([(2, 2)], 1)
    model.asked.clear()
    assert bertscore_annotator(folder(tmp_path), memo).annotate(made) == found
    assert model.asked == ["the cat"]


def raises() -> None:
    raise RuntimeError("the text")


def test_a_model_that_fails_is_named_without_its_words(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.fail = raises
    with pytest.raises(HarnessError, match=r"BERTScore failed \(RuntimeError\)") as caught:
        bertscore_annotator(folder(tmp_path)).annotate([pair("a", "the dog ran")])
    assert "the text" not in str(caught.value)
    monkeypatch.setattr(sys.modules["transformers"], "AutoModel", None)
    with pytest.raises(UsageError, match="small-bert: the model cannot be read") as unread:
        bertscore_annotator(folder(tmp_path)).annotate([pair("a", "the dog ran")])
    assert str(tmp_path) not in str(unread.value)


def test_without_the_packages_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.annotators.bertscore.find_spec", lambda _: None)
    said = r"torch and transformers.*some gigabytes.*layer 3 .*file of scores"
    with pytest.raises(UsageError, match=said):
        bertscore_annotator(folder(tmp_path))


@pytest.mark.parametrize(
    ("config", "weights", "said"),
    [
        ({}, "pytorch_model.bin", "Weights of other forms may run code"),
        ([], "model.safetensors", "this is no folder of a model"),
        ({}, "model.safetensors", "no encoder whose layers can be counted"),
        ({"num_hidden_layers": 10**9}, "model.safetensors", "no encoder"),
        ({"num_hidden_layers": True}, "model.safetensors", "no encoder"),
        (
            {"num_hidden_layers": 12, "is_encoder_decoder": True},
            "model.safetensors",
            "no encoder",
        ),
    ],
)
def test_what_is_no_encoder_is_refused(
    model: Model, tmp_path: Path, config: Any, weights: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        bertscore_annotator(folder(tmp_path, config, weights))


@pytest.mark.parametrize(
    ("kind", "layers", "layer"),
    [
        ("bert", {"num_hidden_layers": 12}, 9),
        ("bert", {"num_hidden_layers": 24}, 18),
        ("roberta", {"num_hidden_layers": 24}, 17),
        ("xlm-roberta", {"num_hidden_layers": 12}, 9),
        ("distilbert", {"n_layers": 6}, 5),
        ("own", {"num_hidden_layers": 1}, 1),
    ],
)
def test_the_layer_is_that_of_bert_scores_table(
    model: Model, tmp_path: Path, kind: str, layers: dict[str, int], layer: int
) -> None:
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
    with pytest.raises(UsageError, match=r"line 1: 71.2 is not on BERTScore's scale.*percentages"):
        bertscore_annotator(path)
    with pytest.raises(UsageError, match="no such file or folder"):
        bertscore_annotator(tmp_path / "none")


@st.composite
def seen(draw: st.DrawFn) -> TokenVectors:
    count = draw(st.integers(1, 5))
    raw = draw(arrays(np.float32, (count, 3), elements=st.floats(0.125, 1, width=16)))
    words = draw(arrays(np.bool_, count))
    return TokenVectors(raw / np.linalg.norm(raw, axis=1, keepdims=True), words)


@settings(deadline=None, max_examples=60)
@given(seen(), seen())
def test_f1_lies_between_0_and_1_whichever_is_the_output(
    first: TokenVectors, second: TokenVectors
) -> None:
    value = f1(first, second)
    assert 0 <= value <= 1 + 1e-6
    assert value == pytest.approx(f1(second, first), abs=1e-6)
    assert (value == 0) == (not first.words.any() or not second.words.any())
    if first.words.any():
        assert f1(first, first) == pytest.approx(1, abs=1e-6)
