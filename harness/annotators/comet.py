"""COMET scores: from a local checkpoint, or from a file of scores made elsewhere (METRICS §3).

The ``unbabel-comet`` package is in none of our requirements, because it needs old versions of others: it is
used where it is installed.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.annotators.annotator import Find, Memo, Search
from harness.annotators.learned_scores import FileScores, ModelScores, Progress, ScoreScale
from harness.core.failures import UsageError
from scoring.core.setup import CometFacts, Translation
from scoring.metrics.semantic import LEAST, MOST

_SCALE = ScoreScale(
    "COMET",
    LEAST,
    MOST,
    "The scale of checkpoints from 2022 on (such as wmt22-comet-da) is wanted, about 0–1: neither "
    "z-scores nor percentages.",
)


class CometScores(FileScores):
    id = "comet"
    scale = _SCALE

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.facts = CometFacts(model=path.name, sha256=self.sha256, imported=True)


class CometModel(ModelScores):
    """Asks a checkpoint; outputs that it saw before are recalled."""

    id = "comet"
    scale = _SCALE

    def __init__(self, path: Path, memo: Memo | None = None, progress: Progress | None = None) -> None:
        """Check the checkpoint file; UsageError where COMET cannot be used here."""
        try:
            self._package = importlib.import_module("comet")
            self._package.load_from_checkpoint  # noqa: B018  another package has the same name
        except (ImportError, AttributeError):
            raise UsageError(
                f"{path}: a checkpoint of COMET needs the package unbabel-comet, which is not "
                "installed here. Install it in its own environment, score there with "
                "comet-score, and give the file of scores instead."
            ) from None
        self._path = path
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.facts = CometFacts(model=_name(path), sha256=digest, imported=False)
        super().__init__(f"comet-1:sha256:{digest}", memo, progress)

    def texts(self, translation: Translation) -> tuple[str, ...]:
        return (translation.entry.source, translation.output, translation.entry.reference)

    def predict(self, batch: Sequence[Translation]) -> list[float]:
        data = [dict(zip(("src", "mt", "ref"), self.texts(row), strict=True)) for row in batch]
        given = self._model.predict(data, batch_size=8, gpus=0, progress_bar=False)
        return [float(score) for score in given["scores"]]

    @cached_property
    def _model(self) -> Any:
        """Load the checkpoint. Its form is Python's pickle: anyone who made it is trusted like a program."""
        try:
            return self._package.load_from_checkpoint(str(self._path), local_files_only=True)
        except Exception as error:
            raise UsageError(
                f"{self._path.name}: COMET cannot load this checkpoint ({type(error).__name__}). "
                "The encoder's tokenizer must be in the local cache as well; a file of scores needs "
                "neither."
            ) from error


def find(search: Search) -> Find | None:
    path = search.told.get("comet")
    if path is None:
        return None
    annotator = comet_annotator(path, search.memo, search.step)
    return Find(annotator, annotator.facts)


def comet_annotator(path: Path, memo: Memo | None = None, progress: Progress | None = None) -> CometScores | CometModel:
    """Make the annotator for a checkpoint (``.ckpt``, or the folder that holds one), or a file of scores."""
    if path.is_dir():
        checkpoints = sorted(path.rglob("*.ckpt"))
        if len(checkpoints) != 1:
            raise UsageError(f"{path}: {len(checkpoints)} checkpoints (.ckpt) are in this folder; name one of them.")
        return CometModel(checkpoints[0], memo, progress)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file. Name a checkpoint, or a file of scores.")
    return CometModel(path, memo, progress) if path.suffix == ".ckpt" else CometScores(path)


def _name(path: Path) -> str:
    """Name a checkpoint: published ones lie as MODEL/checkpoints/model.ckpt, or in a cache of snapshots.

    No other folder is named: the name continues the card.
    """
    place = path.absolute()
    if place.stem != "model" or place.parent.name != "checkpoints":
        return place.stem
    model = place.parent.parent
    return (model.parent.parent if model.parent.name == "snapshots" else model).name or place.stem
