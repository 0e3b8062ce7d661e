"""COMET scores: from a local checkpoint, or from a file of scores made elsewhere (METRICS §3).

The ``unbabel-comet`` package is in none of our requirements, because it needs old versions of others: it is
used where it is installed. A file of scores has one a line in the order of the run's entries, or an entry's id
with its score: JSON lines (``{"id": 7, "score": 0.81}``), TSV or CSV.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from corpora.text.comparison import comparison_form, is_blank
from harness.annotators.annotator import Find, Memo, NoMemo, Search
from harness.core.failures import HarnessError, UsageError
from harness.core.user_file import read_text
from scoring.core.setup import CometFacts
from scoring.core.translation import Translation
from scoring.metrics.comet import LEAST, MOST

Progress = Callable[[int, int], None]
"""Is told how many outputs are done, and of how many."""

_BATCH = 64


class CometScores:
    """Gives the scores of a file. An empty output is 0 whatever the file says."""

    id = "comet"
    slow = True

    def __init__(self, path: Path) -> None:
        """Read the file; UsageError names file, line and mend."""
        text, sha256 = read_text(path, "a file of scores")
        self._path = path
        self.facts = CometFacts(model=path.name, sha256=sha256, imported=True)
        self._by_id: dict[str, float] | None = None
        self._in_order: list[float] = []
        self._read(text)

    def annotate(self, translations: Sequence[Translation]) -> list[float | None]:
        """See ``Annotator``; UsageError where the scores are not those of these outputs."""
        if self._by_id is None and len(self._in_order) != len(translations):
            raise UsageError(
                f"{self._path.name}: there are {len(self._in_order)} scores, and the run has "
                f"{len(translations)} entries. Give one score for each, or ids with the scores."
            )
        found = [self._score(place, each) for place, each in enumerate(translations)]
        missing = sum(score is None for score in found)
        if missing:
            raise UsageError(
                f"{self._path.name}: {missing} of the run's {len(found)} entries have no score. Score "
                "all outputs, and use the ids of the corpus."
            )
        return found

    def close(self) -> None:
        """See ``Annotator``; nothing is open."""

    def _score(self, place: int, translation: Translation) -> float | None:
        if is_blank(translation.output):
            return 0.0
        if self._by_id is None:
            return self._in_order[place]
        return self._by_id.get(str(translation.entry.id))

    def _read(self, text: str) -> None:
        for line, id_, score in self._rows(text):
            if id_ is None:
                self._in_order.append(self._checked(line, score))
                continue
            known = self._by_id if self._by_id is not None else {}
            self._by_id = known
            if id_ in known:
                raise self._wrong(line, "this entry has a score already. Leave one of them.")
            known[id_] = self._checked(line, score)
        if self._by_id and self._in_order:
            raise UsageError(
                f"{self._path}: some lines have ids and others have none. Give ids everywhere."
            )
        if not self._by_id and not self._in_order:
            raise UsageError(f"{self._path}: there are no scores. Give one a line.")

    def _rows(self, text: str) -> Iterator[tuple[int, str | None, Any]]:
        """Yield line, id and score of each record."""
        if self._path.suffix.lower() in {".jsonl", ".ndjson", ".json"}:
            yield from self._json_rows(text)
            return
        delimiter = "," if self._path.suffix.lower() == ".csv" else "\t"
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            for row in rows:
                cells = [cell.strip() for cell in row]
                if not any(cells) or cells[0].startswith("#"):
                    continue
                if len(cells) > 2:
                    raise self._wrong(
                        rows.line_num, "an id and a score are wanted, or a score alone."
                    )
                if cells[-1].lower() == "score":  # a header
                    continue
                yield rows.line_num, cells[0] if len(cells) == 2 else None, cells[-1]
        except csv.Error as error:
            raise self._wrong(rows.line_num, f"{error}. Correct the table.") from None

    def _json_rows(self, text: str) -> Iterator[tuple[int, str | None, Any]]:
        for line, row in enumerate(text.split("\n"), 1):
            if not row.strip():
                continue
            try:
                value = json.loads(row)
            except (ValueError, RecursionError):
                raise self._wrong(line, "not JSON. Give one object a line.") from None
            if not isinstance(value, dict):
                yield line, None, value
            elif isinstance(value.get("id"), int | str) and "score" in value:
                yield line, str(value["id"]), value["score"]
            else:
                raise self._wrong(line, 'the fields "id" and "score" are wanted.')

    def _checked(self, line: int, given: Any) -> float:
        try:
            score = float(given) if isinstance(given, int | float | str) else math.nan
        except (ValueError, OverflowError):
            score = math.nan
        if isinstance(given, bool) or not math.isfinite(score):
            raise self._wrong(line, "the score is no finite number. Correct it.")
        if not LEAST <= score <= MOST:
            raise self._wrong(line, f"{score:g} is not on COMET's scale. {_SCALE}")
        return score

    def _wrong(self, line: int, what: str) -> UsageError:
        return UsageError(f"{self._path}: line {line}: {what}")


class CometModel:
    """Asks a checkpoint; outputs that it saw before are recalled."""

    id = "comet"
    slow = True

    def __init__(
        self, path: Path, memo: Memo | None = None, progress: Progress | None = None
    ) -> None:
        """Look at the checkpoint file; UsageError where COMET cannot be used here."""
        try:
            self._package = importlib.import_module("comet")
            self._package.load_from_checkpoint  # noqa: B018  another package has the same name
        except (ImportError, AttributeError):
            raise UsageError(
                f"{path}: a checkpoint of COMET needs the package unbabel-comet, which is not "
                "installed here. Install it in an environment of its own, score there with "
                "comet-score, and give the file of scores instead."
            ) from None
        self._path = path
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.facts = CometFacts(model=_name(path), sha256=digest, imported=False)
        self._maker = f"comet-1:sha256:{digest}"
        self._memo = NoMemo() if memo is None else memo
        self._progress = progress

    def annotate(self, translations: Sequence[Translation]) -> list[float | None]:
        """See ``Annotator``."""
        triples = {_key(each): each for each in translations if not is_blank(each.output)}
        public = [key for key, each in triples.items() if not each.entry.secret]
        found = {
            key: struct.unpack("<d", value)[0]
            for key, value in self._memo.recall(self._maker, public).items()
            if len(value) == 8
        }
        wanted = [key for key in triples if key not in found]
        for at in range(0, len(wanted), _BATCH):
            batch = {key: triples[key] for key in wanted[at : at + _BATCH]}
            found.update(self._ask(batch))
            if self._progress is not None:
                self._progress(at + len(batch), len(wanted))
        return [0.0 if is_blank(each.output) else found[_key(each)] for each in translations]

    def close(self) -> None:
        """See ``Annotator``; everything is kept already."""

    def _ask(self, batch: Mapping[str, Translation]) -> dict[str, float]:
        """Score some outputs and keep what is not secret."""
        data = [
            {"src": each.entry.source, "mt": each.output, "ref": each.entry.reference}
            for each in batch.values()
        ]
        try:
            given = self._model.predict(data, batch_size=8, gpus=0, progress_bar=False)
            scores = [float(score) for score in given["scores"]]
        except HarnessError:
            raise
        except Exception as error:  # noqa: BLE001  a model is others' code and raises what it likes
            raise HarnessError(
                f"COMET failed ({type(error).__name__}). Try another checkpoint, or a file of scores."
            ) from None
        if len(scores) != len(batch) or not all(LEAST <= score <= MOST for score in scores):
            raise HarnessError(f"The checkpoint's scores cannot be used. {_SCALE}")
        fresh = dict(zip(batch, scores, strict=True))
        self._memo.keep(
            self._maker,
            {
                key: struct.pack("<d", score)
                for key, score in fresh.items()
                if not batch[key].entry.secret
            },
        )
        return fresh

    @cached_property
    def _model(self) -> Any:
        """Load the checkpoint. Its form is Python's pickle: whoever made it is trusted like a program."""
        try:
            return self._package.load_from_checkpoint(str(self._path), local_files_only=True)
        except Exception as error:
            raise UsageError(
                f"{self._path.name}: COMET cannot load this checkpoint ({type(error).__name__}). "
                "The encoder's tokenizer must lie in the local cache as well; a file of scores needs "
                "neither."
            ) from error


def find(search: Search) -> Find | None:
    """Make the annotator where a checkpoint or a file was named; None where none was."""
    path = search.told.get("comet")
    if path is None:
        return None
    annotator = comet_annotator(path, search.memo, search.step)
    return Find(annotator, annotator.facts)


def comet_annotator(
    path: Path, memo: Memo | None = None, progress: Progress | None = None
) -> CometScores | CometModel:
    """Make the annotator for a checkpoint (``.ckpt``, or the folder that holds one), or a file of scores."""
    if path.is_dir():
        checkpoints = sorted(path.rglob("*.ckpt"))
        if len(checkpoints) != 1:
            raise UsageError(
                f"{path}: {len(checkpoints)} checkpoints (.ckpt) lie in this folder; name one of them."
            )
        return CometModel(checkpoints[0], memo, progress)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file. Name a checkpoint, or a file of scores.")
    return CometModel(path, memo, progress) if path.suffix == ".ckpt" else CometScores(path)


_SCALE = (
    "The scale of checkpoints from 2022 on (such as wmt22-comet-da) is wanted, about 0–1: neither "
    "z-scores nor percentages."
)


def _name(path: Path) -> str:
    """Name a checkpoint: published ones lie as MODEL/checkpoints/model.ckpt, or in a cache of snapshots.

    No other folder is named: the name goes on the card.
    """
    place = path.absolute()
    if place.stem != "model" or place.parent.name != "checkpoints":
        return place.stem
    model = place.parent.parent
    return (model.parent.parent if model.parent.name == "snapshots" else model).name or place.stem


def _key(translation: Translation) -> str:
    entry = translation.entry
    texts = (entry.source, translation.output, entry.reference)
    total = hashlib.sha256()
    for text in map(comparison_form, texts):
        total.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return total.hexdigest()
