"""The entries that several runs have: their values by run, and which of them differ most."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from corpora.model.entry import EntryId, Segment
from harness.compare.pairs import PairSide
from harness.store.corpora.entries import read_entries
from harness.store.results import read_results
from scoring.statistics.significance import own_values

if TYPE_CHECKING:
    from scoring.core.metric import FloatArray


_SECRET = frozenset(segment.value for segment in Segment if segment.secret)


@dataclass(frozen=True)
class ComparedEntries:
    """Entries in corpus order; arrays of shape (runs, entries) have the runs in the comparison's order."""

    ids: tuple[EntryId, ...]
    positions: npt.NDArray[np.int64]
    """Place in each run's own corpus, shape (runs, entries): a run from elsewhere has a corpus of its own."""
    failed: npt.NDArray[np.bool_]
    secret: npt.NDArray[np.bool_]
    """Shape (entries,): texts of these leave this machine in no file, copy or message."""
    values: Mapping[str, FloatArray]
    """Own values by metric id and ``composite``, shape (runs, entries); NaN where there is none. Metrics that
    only a whole corpus has are not among them."""

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(
        cls, ids: Sequence[EntryId], sides: Sequence[PairSide], metrics: Collection[str]
    ) -> ComparedEntries:
        """Put the runs' rows side by side."""
        own = [own_values(side.table) for side in sides]
        shape = (len(sides), len(ids))
        positions = [[row.entry.position for row in side.used] for side in sides]
        failed = [[row.failed for row in side.used] for side in sides]
        secret = [
            [side.rows.local_only or row.entry.segment in _SECRET for row in side.used]
            for side in sides
        ]
        return cls(
            ids=tuple(ids),
            positions=np.array(positions, np.int64).reshape(shape),
            failed=np.array(failed, bool).reshape(shape),
            secret=np.asarray(np.array(secret, bool).reshape(shape).any(axis=0)),
            values={
                id_: np.stack(
                    [values[id_] if id_ in values else np.full(len(ids), np.nan) for values in own]
                )
                for id_ in dict.fromkeys(id_ for values in own for id_ in values)
                if id_ in metrics
            },
        )

    def differences(self, metric: str, first: int, second: int) -> FloatArray:
        """Return ``second - first`` of each entry, by the runs' places; NaN where one has no value."""
        values = self.values[metric]
        return np.asarray(values[second] - values[first])

    def spread_first(self, metric: str) -> list[int]:
        """Order the entries by how far their best and worst run are apart; those without a difference are left away."""
        values = self.values[metric]
        high = np.where(np.isnan(values), -np.inf, values).max(axis=0, initial=-np.inf)
        low = np.where(np.isnan(values), np.inf, values).min(axis=0, initial=np.inf)
        sizes = np.where(np.isfinite(high), high - low, 0.0)
        order = np.argsort(-sizes, kind="stable")
        return [int(place) for place in order if sizes[place] > 0]


@dataclass(frozen=True, slots=True)
class EntryTexts:
    """The texts of one entry as they may leave this machine."""

    source: str | None
    reference: str | None
    outputs: tuple[str | None, ...]
    """Of each run; None where it failed. All texts are None where the entry is secret."""


def open_texts(
    connection: sqlite3.Connection,
    entries: ComparedEntries,
    sides: Sequence[PairSide],
    places: Sequence[int],
) -> list[EntryTexts]:
    """Read the texts of some entries; of secret ones nothing is read."""

    shown = [place for place in places if not entries.secret[place]]
    outputs: list[dict[int, str | None]] = []
    for number, side in enumerate(sides):
        found = read_results(
            connection, side.rows.run.id, [int(entries.positions[number, place]) for place in shown]
        )
        outputs.append({result.position: result.output for result in found})
    corpus = read_entries(
        connection, sides[0].rows.run.corpus, [int(entries.positions[0, place]) for place in shown]
    )
    texts = []
    for place in places:
        if entries.secret[place]:
            texts.append(EntryTexts(None, None, (None,) * len(sides)))
            continue
        entry = corpus[int(entries.positions[0, place])]
        own = tuple(
            made.get(int(entries.positions[number, place])) for number, made in enumerate(outputs)
        )
        texts.append(EntryTexts(entry.source, entry.reference, own))
    return texts
