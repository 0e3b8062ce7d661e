"""Embeddings: how near an output's meaning is to the reference's (METRICS §3).

Source and output together are one text, source and reference the other; the annotation is the cosine of their
vectors. What models give is kept by a hash of the text, so that the references of a corpus are asked for once.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpora.model.entry import Entry
from corpora.text.comparison import comparison_form, is_blank
from harness.annotators.annotator import Embedder, Find, Memo, NoMemo, Received, Search
from harness.core.calls import Calls
from harness.core.failures import HarnessError, UsageError
from harness.core.installation import install_line
from harness.core.storage import folder_sha256
from harness.endpoint.endpoints import KeySource, find_key
from harness.endpoint.offline import why_secret
from scoring.core.setup import EmbeddingFacts, Translation
from scoring.metrics.semantic import by_verdicts

# ---- Embeddings from a local folder: a model2vec or sentence-transformers model, read without
# network.

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
                raise HarnessError(f"The embedding model failed ({type(error).__name__}). Try another model.") from None
            if rows.ndim != 2 or len(rows) != len(batch) or not np.isfinite(rows).all():
                raise HarnessError(
                    "The embedding model gave something else than one vector of finite numbers for "
                    "each text. Try another model."
                )
            received(batch, rows)

    @cached_property
    def _encode(self) -> _Encode:
        folder = self._folder
        if self._static:
            package = _package("model2vec")
            model = _loaded(folder, lambda: package.StaticModel.from_pretrained(folder))
            return lambda texts: np.asarray(model.encode(texts, use_multiprocessing=False))
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


def _loaded(folder: Path, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:
        raise UsageError(
            f"{folder.resolve().name}: the model cannot be read ({type(error).__name__}). Copy the "
            "folder once more, or save the model again with the installed version."
        ) from error


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        listed = name.replace("_", "-")
        raise UsageError(
            f"The model in this folder needs the package {listed}, which is not installed. "
            f"Install it beside the program: {install_line(listed)}"
        ) from error


Vector = npt.NDArray[np.float32]
"""Of length 1, or of length 0 where the model sees nothing in a text."""


Progress = Callable[[int, int], None]
"""Is told how many texts are done, and of how many."""


class EmbeddingAnnotator:
    """Gives the cosine, −1–1, of each output; an empty output is 0 without asking."""

    id = "embeddings"
    slow = True
    apart = False
    endpoint: str | None = None

    def __init__(self, embedder: Embedder, memo: Memo | None = None, progress: Progress | None = None) -> None:
        self.facts = embedder.facts
        self.maker = embedder.maker
        self._embedder = embedder
        self._memo = NoMemo() if memo is None else memo
        self._progress = progress

    def check(self, entries: Iterable[Entry], *, offline: bool = False) -> None:
        """Raise UsageError where the texts of these entries must not go to this model."""
        if self._embedder.here:
            return
        entries = list(entries)
        if any(entry.secret for entry in entries):
            raise UsageError(
                f"{why_secret(entries)}, and the embedding model would be sent their texts on another "
                "machine. Name a local folder or an endpoint on this machine with --embeddings, or leave "
                "it away."
            )
        if offline:
            raise UsageError(
                "--offline is on, and the embedding model's endpoint is not on this machine. Name a "
                "local folder or endpoint with --embeddings, or leave it out."
            )

    def check_budget(self) -> None:
        self._embedder.check_budget()

    async def ask(self, translations: Sequence[Translation], calls: Calls) -> list[float | None]:
        self.check(translation.entry for translation in translations)
        pairs: list[tuple[str, str]] = []
        for translation in translations:
            texts = (translation.entry.source, translation.output, translation.entry.reference)
            source, output, reference = map(comparison_form, texts)
            pairs.append((f"{source}\n{output}", f"{source}\n{reference}"))
        secret: dict[str, bool] = {}
        for translation, (ours, theirs) in zip(translations, pairs, strict=True):
            if not is_blank(translation.output) and ours != theirs:
                for text in (ours, theirs):
                    secret[text] = secret.get(text, True) and translation.entry.secret
        vectors = await self._vectors(secret, calls)
        return [
            0.0 if is_blank(translation.output) else _cosine(ours, theirs, vectors)
            for translation, (ours, theirs) in zip(translations, pairs, strict=True)
        ]

    def close(self) -> None:
        """Close nothing: everything is stored already."""

    async def _vectors(self, secret: dict[str, bool], calls: Calls) -> dict[str, Vector]:
        """Return the vector of each text; ``secret`` says which texts belong to secret entries only."""
        vectors = self._recalled([text for text, hidden in secret.items() if not hidden])
        lacking = {text: hidden for text, hidden in secret.items() if text not in vectors}
        await self._ask(lacking, vectors, calls)
        sizes = {len(vector) for vector in vectors.values()}
        if len(sizes) > 1:  # the model changed behind its name: nothing kept is true any more
            vectors.clear()
            await self._ask(secret, vectors, calls)
            sizes = {len(vector) for vector in vectors.values()}
        if len(sizes) > 1:
            listed = " and ".join(str(size) for size in sorted(sizes))
            raise HarnessError(f"The embedding model gave vectors of {listed} numbers; use another.")
        return vectors

    async def _ask(self, secret: dict[str, bool], found: dict[str, Vector], calls: Calls) -> None:
        done = 0
        for hidden in (False, True):
            texts = [text for text, is_hidden in secret.items() if is_hidden is hidden]

            def received(batch: Sequence[str], rows: npt.NDArray[np.float64], hidden: bool = hidden) -> None:
                nonlocal done
                # Scale the rows to length 1; always rounded, so that a kept vector equals a fresh one.
                lengths = np.linalg.norm(rows, axis=1, keepdims=True)
                units = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
                rounded: npt.NDArray[np.float32] = units.astype("<f4")
                fresh = dict(zip(batch, rounded, strict=True))
                found.update(fresh)
                if not hidden:
                    kept = {_key(text): vector.tobytes() for text, vector in fresh.items()}
                    self._memo.keep(self._embedder.maker, kept)
                done += len(batch)
                if self._progress is not None:
                    self._progress(done, len(secret))

            if texts:
                await self._embedder.embed(texts, received, calls)

    def _recalled(self, texts: Sequence[str]) -> dict[str, Vector]:
        keys = {_key(text): text for text in texts}
        vectors = {}
        for key, value in self._memo.recall(self._embedder.maker, list(keys)).items():
            vector = np.frombuffer(value[: len(value) // 4 * 4], dtype="<f4")
            if len(vector) and np.isfinite(vector).all():
                vectors[keys[key]] = vector
        return vectors


def find(search: Search) -> Find | None:
    """Make the annotator where a model was named; None where none was. UsageError where it cannot be had."""
    where = search.told.get("embeddings")
    if where is None:
        return None
    if by_verdicts(search.resources.setup):
        raise UsageError(
            "--gloss-dictionary and --embeddings both give semantic_score, which is one or the other: "
            "leave one of them out."
        )
    model = search.told.get("embeddings_model")
    annotator = embedding_annotator(where, model, search.memo, progress=search.step, prices=search.prices)
    annotator.check(search.entries, offline=search.offline)
    return Find(annotator, annotator.facts)


def embedding_annotator(
    where: str,
    model: str | None = None,
    memo: Memo | None = None,
    *,
    key: KeySource = find_key,
    offline: bool = False,
    progress: Progress | None = None,
    prices: Path | None = None,
) -> EmbeddingAnnotator:
    """Make the annotator for a folder of a model, an endpoint's preset name, or its URL.

    UsageError says what is missing; nothing is asked yet.
    """
    folder = Path(where).expanduser()
    if folder.is_dir():
        return EmbeddingAnnotator(FolderEmbedder(folder), memo, progress)
    if folder.exists() or where.startswith((".", "/", "~")):
        raise UsageError(f"{where}: there is no such folder. Name the folder of an embedding model.")
    from harness.annotators.embedding_endpoint import EndpointEmbedder

    return EmbeddingAnnotator(EndpointEmbedder(where, model, key=key, offline=offline, prices=prices), memo, progress)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _cosine(ours: str, theirs: str, vectors: dict[str, Vector]) -> float:
    if ours == theirs:
        return 1.0
    product = float(np.dot(vectors[ours].astype(np.float64), vectors[theirs].astype(np.float64)))
    return min(max(product, -1.0), 1.0)
