"""BERTScore: from the folder of a language model on this machine, or from a file of scores made elsewhere.

Each token of the output is compared with the most similar of the reference, and the other way round, by the cosine of
their vectors in one layer of the model; the score is the balance of the two means (Zhang et al. 2020). Neither rare
tokens weigh more nor is the value rescaled; with the same layer the authors' program ``bert-score`` 0.3.13 gives the same.
``torch`` and ``transformers`` are in none of our requirements, because they are some gigabytes: they are used where they
are installed. Weights are read in safetensors form alone, which runs no code, and nothing is fetched.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from harness.annotators.annotator import Find, Memo, Search
from harness.annotators.learned_scores import FileScores, ModelScores, Progress, ScoreScale
from harness.core.failures import UsageError
from harness.core.installation import install_line
from harness.core.storage import folder_sha256
from scoring.core.setup import Translation

_SCALE = ScoreScale(
    "BERTScore",
    -0.001,
    1.001,
    "F1 as it is computed is wanted, 0–1: neither percentages nor values rescaled with a baseline.",
)
_PACKAGES = ("torch", "transformers")
_FORWARD = 16
"""Texts that go through the model together."""
_MOST_LAYERS = 1000

_LAYERS = {("distilbert", 6): 5, ("roberta", 12): 10, ("roberta", 24): 17, ("xlm-roberta", 24): 17}
"""Kind of model and number of its layers → the layer of bert-score's table. Of other models it is three quarters up, as
in that table for BERT and for the base model of XLM-RoBERTa (9 of 12); the signature names it."""


class BertScoreFacts(BaseModel):
    """What gave the scores; on the card as ``scoring.annotators``."""

    model_config = ConfigDict(frozen=True)

    model: str
    """Name of the folder, or of the file."""
    sha256: str
    imported: bool
    """True where the scores came from a file."""
    layer: int | None = None
    """The one whose vectors are compared; None where that is not known."""


class BertScoreFile(FileScores):
    id = "bertscore"
    scale = _SCALE

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.facts = BertScoreFacts(model=path.name, sha256=self.sha256, imported=True)


class BertScoreModel(ModelScores):
    """Compares output and reference by a model; pairs that it saw before are recalled."""

    id = "bertscore"
    scale = _SCALE

    def __init__(self, folder: Path, memo: Memo | None = None, progress: Progress | None = None) -> None:
        """Check the folder, and load nothing yet; UsageError where the model cannot be used here."""
        self._folder = folder
        layer = _layer(folder)
        missing = [name for name in _PACKAGES if find_spec(name) is None]
        if missing:
            raise UsageError(
                f"{folder}: a model for BERTScore needs the packages {' and '.join(_PACKAGES)}, some gigabytes, "
                f"of which {' and '.join(missing)} cannot be found. Install them beside the program: "
                f"{install_line(*missing)}. Or score elsewhere, with the layer {layer} and neither idf nor "
                "rescaling, and give the file of scores."
            )
        digest = folder_sha256(folder)
        self.facts = BertScoreFacts(model=folder.resolve().name, sha256=digest, imported=False, layer=layer)
        super().__init__(f"bertscore-1:layer:{layer}:sha256:{digest}", memo, progress)

    def texts(self, translation: Translation) -> tuple[str, ...]:
        return (translation.output, translation.entry.reference)

    def predict(self, batch: Sequence[Translation]) -> list[float]:
        encoder = self._encoder
        pairs = [self.texts(translation) for translation in batch]
        seen = encoder({text.strip() for pair in pairs for text in pair})
        return [f1(seen[output.strip()], seen[reference.strip()]) for output, reference in pairs]

    @cached_property
    def _encoder(self) -> _Encoder:
        try:
            return _Encoder(self._folder, self.facts.layer or 0)
        except Exception as error:
            raise UsageError(
                f"{self.facts.model}: the model cannot be read ({type(error).__name__}). Copy the folder "
                "once more, or save the model again with the installed version of transformers."
            ) from error


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of a text as a model sees them, those included that mark its beginning and end."""

    vectors: npt.NDArray[np.float32]
    """One a row, each of length 1."""
    words: npt.NDArray[np.bool_]
    """False at the marks: something may be like them, but they are asked nothing."""


def f1(output: TokenVectors, reference: TokenVectors) -> float:
    """Return BERTScore's F1, 0–1; 0 where one of the texts has no token."""
    if not output.words.any() or not reference.words.any():
        return 0.0
    alike = output.vectors @ reference.vectors.T
    precision = float(alike.max(axis=1)[output.words].mean())
    recall = float(alike.max(axis=0)[reference.words].mean())
    both = precision + recall
    return 2 * precision * recall / both if both > 0 else 0.0


class _Encoder:
    """A model in memory: gives the vectors of its layer for the tokens of texts."""

    def __init__(self, folder: Path, layer: int) -> None:
        torch, transformers = (importlib.import_module(name) for name in _PACKAGES)
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        here = {"local_files_only": True, "trust_remote_code": False}
        self._torch, self._layer = torch, layer
        self._tokens = transformers.AutoTokenizer.from_pretrained(str(folder), **here)
        self._model = transformers.AutoModel.from_pretrained(str(folder), **here, use_safetensors=True).eval()
        config = self._model.config
        positions = int(getattr(config, "max_position_embeddings", 0) or 512)
        if "roberta" in config.model_type:  # its family counts from behind the padding's number
            positions -= 2
        self._most = min(self._tokens.model_max_length, positions)

    def __call__(self, texts: set[str]) -> dict[str, TokenVectors]:
        """Return the vectors of all texts; of a longer one than the model takes those of its beginning."""
        vectors_of_texts: dict[str, TokenVectors] = {}
        ordered = sorted(texts, key=lambda text: (len(text), text))
        for at in range(0, len(ordered), _FORWARD):
            batch = ordered[at : at + _FORWARD]
            given = self._tokens(batch, padding=True, truncation=True, max_length=self._most, return_tensors="pt")
            with self._torch.inference_mode():
                seen = self._model(**given, output_hidden_states=True).hidden_states[self._layer]
            marks = [self._tokens.cls_token_id, self._tokens.sep_token_id]
            vectors = np.asarray(seen.float().numpy(), dtype=np.float32)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
            all_ids, masks = given["input_ids"].numpy(), given["attention_mask"].numpy()
            for text, row, ids, mask in zip(batch, vectors, all_ids, masks, strict=True):
                words = ~np.isin(ids[mask > 0], marks)
                vectors_of_texts[text] = TokenVectors(row[mask > 0], words)
        return vectors_of_texts


def _layer(folder: Path) -> int:
    """Read from a model's folder which layer is compared; UsageError where it is no folder of an encoder."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        config = None
    if not isinstance(config, dict) or not any(folder.glob("*.safetensors")):
        raise UsageError(
            f"{folder}: this is no folder of a model: a config.json and weights in safetensors form are wanted. "
            "Weights of other forms may run code when they are read; save the model again with safe serialisation."
        )
    kind = str(config.get("model_type", ""))
    layers = config.get("num_hidden_layers", config.get("n_layers"))  # DistilBERT has the second
    if config.get("is_encoder_decoder") is True or not isinstance(layers, int) or isinstance(layers, bool):
        layers = 0
    if not 0 < layers <= _MOST_LAYERS:
        raise UsageError(
            f"{folder}: the model is no encoder whose layers can be counted. Name one such as "
            "bert-base-multilingual-cased, or a file of scores."
        )
    return _LAYERS.get((kind, layers), max(1, (3 * layers) // 4))


def find(search: Search) -> Find | None:
    path = search.told.get("bertscore")
    if path is None:
        return None
    annotator = bertscore_annotator(path, search.memo, search.step)
    return Find(annotator, annotator.facts)


def bertscore_annotator(
    path: Path, memo: Memo | None = None, progress: Progress | None = None
) -> BertScoreFile | BertScoreModel:
    """Make the annotator for the folder of a model, or a file of scores."""
    if path.is_dir():
        return BertScoreModel(path, memo, progress)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file or folder. Name the folder of a model, or a file of scores.")
    return BertScoreFile(path)
