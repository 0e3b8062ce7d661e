"""Scores of a learned metric, one for each output: from a file made elsewhere, or from a model on this machine.

A file has one score a line in the order of the run's entries, or an entry's id with its score: JSON lines
(``{"id": 7, "score": 0.81}``), TSV or CSV. A model is asked once about what it saw before; what belongs to a secret
entry is asked every time and never kept. An empty output is 0 whatever a file or model says.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.model.entry import open_entry
from corpora.text.comparison import comparison_form, is_blank
from harness.annotators.annotator import Memo, NoMemo
from harness.core.failures import HarnessError, UsageError
from harness.core.storage import read_text
from harness.inputs.table import EntryIds, table_cells
from scoring.core.setup import Translation

Progress = Callable[[int, int], None]
"""Is told how many outputs are done, and of how many."""

_BATCH = 64


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Which numbers are scores of a metric."""

    name: str
    """Of the metric, as in ``COMET``."""
    least: float
    most: float
    words: str
    """What the scale is, and what it is not."""

    def holds(self, score: float) -> bool:
        """Return whether a number is on the scale; NaN is not."""
        return self.least <= score <= self.most


class FileScores:
    """Gives the scores of a file; see ``Annotator``."""

    id: str
    scale: ScoreScale
    slow = True

    def __init__(self, path: Path) -> None:
        text, self.sha256 = read_text(path, "a file of scores")
        self._path = path
        self._by_id: dict[str, float] | None = None
        self._in_order: list[float] = []
        for line, id_, score in self._rows(text):
            if id_ is None:
                self._in_order.append(self._checked(line, score))
                continue
            known: dict[str, float] = self._by_id if self._by_id is not None else {}
            self._by_id = known
            if id_ in known:
                raise self._wrong(line, "this entry has a score already. Leave one of them.")
            known[id_] = self._checked(line, score)
        if self._by_id and self._in_order:
            raise UsageError(f"{self._path}: some lines have ids and others have none. Give ids everywhere.")
        if not self._by_id and not self._in_order:
            raise UsageError(f"{self._path}: there are no scores. Give one a line.")
        self._ids = EntryIds(self._by_id or ())

    def annotate(self, translations: Sequence[Translation]) -> list[float | None]:
        """Return the scores (see ``Annotator``); UsageError where they are not those of these outputs."""
        if self._by_id is None and len(self._in_order) != len(translations):
            raise UsageError(
                f"{self._path.name}: there are {len(self._in_order)} scores, and the run has "
                f"{len(translations)} entries. Give one score for each, or ids with the scores."
            )
        scores = [self._score(place, translation) for place, translation in enumerate(translations)]
        missing = sum(score is None for score in scores)
        if missing:
            raise UsageError(
                f"{self._path.name}: {missing} of the run's {len(scores)} entries have no score. Score "
                "all outputs, and use the ids of the corpus."
            )
        return scores

    def close(self) -> None:
        """Close nothing; see ``Annotator``."""

    def _score(self, place: int, translation: Translation) -> float | None:
        if is_blank(translation.output):
            return 0.0
        if self._by_id is None:
            return self._in_order[place]
        own = str(translation.entry.id)
        if own in self._by_id:
            return self._by_id[own]
        own_id = self._ids.find(own)
        return None if own_id is None else self._by_id[own_id]

    def _rows(self, text: str) -> Iterator[tuple[int, str | None, Any]]:
        if self._path.suffix.lower() in {".jsonl", ".ndjson", ".json"}:
            yield from self._json_rows(text)
            return
        for where, row in table_cells(self._path, text):
            cells, line = [cell.strip() for cell in row], int(where.removeprefix("line "))
            if cells[0].startswith("#"):
                continue
            if len(cells) > 2:
                raise self._wrong(line, "an id and a score are wanted, or a score alone.")
            if cells[-1].lower() == "score":  # a header
                continue
            yield line, cells[0] if len(cells) == 2 else None, cells[-1]

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
            elif isinstance(value.get("id"), int | float | str) and "score" in value:
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
        if not self.scale.holds(score):
            raise self._wrong(line, f"{score:g} is not on {self.scale.name}'s scale. {self.scale.words}")
        return score

    def _wrong(self, line: int, what: str) -> UsageError:
        return UsageError(f"{self._path}: line {line}: {what}")


class ModelScores(ABC):
    """Asks a model on this machine; outputs that it saw before are recalled. See ``Annotator``."""

    id: str
    scale: ScoreScale
    slow = True

    def __init__(self, maker: str, memo: Memo | None, progress: Progress | None) -> None:
        self._maker = maker
        self._memo = NoMemo() if memo is None else memo
        self._progress = progress

    @abstractmethod
    def texts(self, translation: Translation) -> tuple[str, ...]:
        """Return what a score depends on besides the model."""

    @abstractmethod
    def predict(self, batch: Sequence[Translation]) -> list[float]:
        """Return the model's scores of some outputs, none of them empty; of an exception only its class is shown."""

    def annotate(self, translations: Sequence[Translation]) -> list[float | None]:
        keys = [None if is_blank(row.output) else _key(self.texts(row)) for row in translations]
        pairs = zip(keys, translations, strict=True)
        asked = {key: translation for key, translation in pairs if key is not None}
        public = {key for key, translation in asked.items() if open_entry(translation.entry)}
        predictions = {
            key: struct.unpack("<d", value)[0]
            for key, value in self._memo.recall(self._maker, [*public]).items()
            if len(value) == 8
        }
        wanted = [key for key in asked if key not in predictions]
        for at in range(0, len(wanted), _BATCH):
            batch = {key: asked[key] for key in wanted[at : at + _BATCH]}
            scores = self._ask(batch)
            self._memo.keep(self._maker, {key: struct.pack("<d", scores[key]) for key in batch if key in public})
            predictions.update(scores)
            if self._progress is not None:
                self._progress(at + len(batch), len(wanted))
        return [0.0 if key is None else predictions[key] for key in keys]

    def close(self) -> None:  # noqa: B027  nothing is open
        """Close nothing: everything is stored already."""

    def _ask(self, batch: dict[str, Translation]) -> dict[str, float]:
        try:
            scores = self.predict(list(batch.values()))
        except HarnessError:
            raise
        except Exception as error:  # noqa: BLE001  a model is others' code and raises what it likes
            raise HarnessError(
                f"{self.scale.name} failed ({type(error).__name__}). Try another model, or a file of scores."
            ) from None
        if len(scores) != len(batch) or not all(map(self.scale.holds, scores)):
            raise HarnessError(f"The model's scores cannot be used. {self.scale.words}")
        return dict(zip(batch, scores, strict=True))


def _key(texts: Sequence[str]) -> str:
    total = hashlib.sha256()
    for text in map(comparison_form, texts):
        total.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return total.hexdigest()
