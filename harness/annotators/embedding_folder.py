"""Embeddings from a local folder: a model2vec or sentence-transformers model, read without network."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.annotators.annotator import Received
from harness.core.calls import Calls
from harness.core.failures import HarnessError, UsageError
from harness.core.installation import install_line
from harness.core.user_file import folder_sha256
from scoring.core.setup import EmbeddingFacts

_BATCH = 64

_Encode = Callable[[list[str]], npt.NDArray[np.float64]]


class FolderEmbedder:
    """Runs a model of this machine; see ``Embedder``. It is loaded when the first text is asked for."""

    here = True

    def __init__(self, folder: Path) -> None:
        """Check the folder; UsageError where it holds no model that can be read safely."""
        self._folder = folder
        self._static = _is_static(folder)
        if not any(folder.rglob("*.safetensors")):
            raise UsageError(
                f"{folder}: there are no weights in safetensors form. Other forms may run code when "
                "they are read; save the model again with safe serialisation."
            )
        digest = folder_sha256(folder)
        self.facts = EmbeddingFacts(model=folder.resolve().name, endpoint=None, sha256=digest)
        self.maker = f"embeddings-1:sha256:{digest}"

    def check_budget(self) -> None:
        """Check nothing: a model of this machine charges nothing."""

    async def embed(self, texts: Sequence[str], received: Received, calls: Calls) -> None:  # noqa: ARG002
        """Embed the texts (see ``Embedder``); a model's own words are never quoted, so secret texts need no more care."""
        encode = self._encode
        for at in range(0, len(texts), _BATCH):
            batch = texts[at : at + _BATCH]
            try:
                rows = np.asarray(encode(list(batch)), dtype=np.float64)
            except Exception as error:  # noqa: BLE001  models are others' code and raise what they like
                raise HarnessError(
                    f"The embedding model failed ({type(error).__name__}). Try another model."
                ) from None
            if rows.ndim != 2 or len(rows) != len(batch) or not np.isfinite(rows).all():
                raise HarnessError(
                    "The embedding model gave something else than one vector of finite numbers for "
                    "each text. Try another model."
                )
            received(batch, rows)

    @cached_property
    def _encode(self) -> _Encode:
        return _load_static(self._folder) if self._static else _load_transformer(self._folder)


def _is_static(folder: Path) -> bool:
    """Distinguish a model2vec model from a sentence-transformers one; UsageError where it is neither."""
    config, modules = _json(folder / "config.json"), _json(folder / "modules.json")
    if isinstance(config, dict) and config.get("model_type") == "model2vec":
        return True
    if isinstance(modules, list) and modules and isinstance(modules[0], dict):
        kind = str(modules[0].get("type", ""))
        return kind.endswith("StaticEmbedding") and (folder / "model.safetensors").exists()
    raise UsageError(
        f"{folder}: this is the folder of neither a sentence-transformers model (modules.json) nor a "
        "model2vec model (config.json)."
    )


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _load_static(folder: Path) -> _Encode:
    package = _package("model2vec")
    model = _loaded(folder, lambda: package.StaticModel.from_pretrained(folder))
    return lambda texts: np.asarray(model.encode(texts, use_multiprocessing=False))


def _load_transformer(folder: Path) -> _Encode:
    package = _package("sentence_transformers")
    model = _loaded(
        folder,
        lambda: package.SentenceTransformer(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        ),
    )
    return lambda texts: np.asarray(model.encode(texts, show_progress_bar=False))


def _loaded(folder: Path, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:
        raise UsageError(
            f"{folder.resolve().name}: the model cannot be read ({type(error).__name__}). Copy the "
            "folder once more, or save the model again with the installed version."
        ) from error


def _package(name: str) -> Any:
    """Import the library that a model needs; it is in none of our requirements."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        listed = name.replace("_", "-")
        raise UsageError(
            f"The model in this folder needs the package {listed}, which is not installed. "
            f"Install it beside the program: {install_line(listed)}"
        ) from error
