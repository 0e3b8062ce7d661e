"""Scoring of entries: statistics as outputs arrive, values of entries, and the running corpus values.

Why a metric has no value: always said next to the null, never left to guess (DESIGN M1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

import msgpack
import numpy as np
import numpy.typing as npt

from corpora.files.packed_list import PackedList, changed, in_blocks, packed
from corpora.model.entry import Entry
from corpora.text.comparison import is_blank
from scoring.core.inventory import STRUCTURAL_KEY, Composite, composite, composites, pack_of, reported_metrics
from scoring.core.metric import (
    FAILED,
    CorpusMetric,
    EntryStatistics,
    FloatArray,
    Metric,
    Statistics,
    StatisticsError,
    Table,
    present_values,
)
from scoring.core.setup import Translation, alike_entry
from scoring.core.specification import COMPOSITE, TRANSLATIONS, KeptColumns, Tier, Weighing, specified

NOT_WANTED = "not among the metrics of this run"
"""Why a metric that nobody asked for has no value."""


def missing_reasons(
    metrics: Sequence[Metric | CorpusMetric], values: Mapping[str, float | None], off: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return a reason for every metric without a value that a run reports (``reported_metrics``).

    ``off`` holds the reasons of those that the run was set up without, or whose model failed
    (``ScoringSetup.off``).
    """
    chosen = {metric.info.id: metric for metric in metrics}
    why_off = off or {}
    return {
        id_: why_off.get(id_) or (chosen[id_].why_missing if id_ in chosen else NOT_WANTED)
        for id_ in reported_metrics(chosen, why_off)
        if values.get(id_) is None
    }


@dataclass(frozen=True, slots=True)
class EntryValues:
    """What one entry's line on the screen shows."""

    values: dict[str, float | None]
    """By metric id, on the metric's own scale."""
    composite: float | None
    quality_tier: Tier
    verdicts: dict[str, str | None] = field(default_factory=dict)
    """Verdict by metric id, of the metrics whose values stand for one."""


def verdict_field(id_: str) -> str:
    """Return the name of the field that holds a metric's verdict on an entry: ``semantic_verdict``."""
    return f"{id_.removesuffix('_score')}_verdict"


PackedColumn = tuple[str, int | None]
"""Id of a metric, and how many numbers it takes from an entry; None where that is not known."""


class Scorer:
    """Takes statistics with a fixed list of metrics; holds nothing else, so any process may score."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        corpus_metrics: Sequence[CorpusMetric] = (),
        off: Mapping[str, str] | None = None,
        from_texts: Collection[str] | None = None,
        packed: Sequence[PackedColumn] | None = None,
        foreign: Sequence[str] = (),
        *,
        columns: KeptColumns = TRANSLATIONS,
        may_lack: bool = False,
        weighing: Weighing | None = None,
        free_word_order: bool = False,
        languages: tuple[str, str, str] | None = None,
    ) -> None:
        self._languages = languages
        """Shortest tags of source and target, and the form, where look-alikes are one (``ScoringSetup.text_form``), else None."""
        self.free_word_order = free_word_order
        """Whether the order of words means nothing in the target language (``ScoringSetup.free_word_order``)."""
        self.weighing = weighing or specified()
        """By which composites are made and tiers named."""
        self.metrics = tuple(metrics)
        self.ids = [metric.info.id for metric in self.metrics]
        """Ids of the additive metrics, in their order."""
        if len(set(self.ids)) < len(self.ids):
            raise ValueError(f"a metric is listed twice: {', '.join(self.ids)}")
        self.corpus_metrics = tuple(corpus_metrics)
        self.off = dict(off or {})
        """Metric id → why it is off (``ScoringSetup.off``)."""
        self.from_texts = frozenset(self.ids if from_texts is None else from_texts)
        """Metrics whose statistics follow from the texts alone."""
        self.foreign = tuple(foreign)
        """Ids of the set-up that this version cannot compute; what a run states of them is only repeated."""
        self.packed = tuple(packed or ((metric.info.id, metric.width) for metric in self.metrics))
        """What a packed row holds, in its order; statistics are found by id, never by their place alone."""
        self.columns = columns
        """What is kept beside each entry."""
        self._may_lack = may_lack

    @property
    def all_metrics(self) -> tuple[Metric | CorpusMetric, ...]:
        """The additive metrics, then those of a whole corpus."""
        return (*self.metrics, *self.corpus_metrics)

    def statistics(self, translations: Sequence[Translation]) -> list[EntryStatistics]:
        """Compute all statistics of some entries; many at once are faster than one by one."""
        if len(translations) > MOST_TOGETHER:
            starts = range(0, len(translations), MOST_TOGETHER)
            return [taken for at in starts for taken in self.statistics(translations[at : at + MOST_TOGETHER])]
        translations = self.alike(translations)
        sourceless = [is_blank(translation.entry.source) for translation in translations]
        with_source = [row for row, lacks in zip(translations, sourceless, strict=True) if not lacks]
        taken: list[list[Statistics | None]] = []
        for metric in self.metrics:
            if metric.reads_source and any(sourceless):  # an entry without a source has no statistics of it
                statistics = iter(metric.stats_many(with_source))
                taken.append([None if lacks else next(statistics) for lacks in sourceless])
            else:
                taken.append(metric.stats_many(translations))
        if not taken:
            return [{} for _ in translations]
        return [dict(zip(self.ids, row, strict=True)) for row in zip(*taken, strict=True)]

    def alike(self, translations: Sequence[Translation]) -> Sequence[Translation]:
        """Return translations as every metric reads them: characters that look alike are one."""
        if self._languages is None:
            return translations
        return packed(translation.alike(*self._languages) for translation in translations)

    def entries_alike(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return entries as every metric reads them."""
        languages = self._languages
        return entries if languages is None else changed(entries, lambda entry: alike_entry(entry, *languages))

    def of_texts(self) -> Scorer:
        """Return a scorer of the metrics whose statistics follow from the texts alone, which reads these alike."""
        metrics = [metric for metric in self.metrics if metric.info.id in self.from_texts]
        return Scorer(metrics, languages=self._languages)

    def table(self, statistics: Sequence[EntryStatistics]) -> Table:
        """Return statistics as a table."""
        if isinstance(statistics, PackedStatistics):
            return self.unpack_table(statistics.packed, small=True)
        if len(statistics) <= _BLOCK:
            return Table.of(self.metrics, statistics, self.weighing)
        return Table.joined(
            [Table.of(self.metrics, [*part], self.weighing).small() for part in in_blocks(statistics, _BLOCK)]
        )

    @property
    def signatures(self) -> dict[str, str]:
        """All that a value depends on, by metric id; of a pack's metric its version too."""
        form = "norm:NFC" if self._languages is None else f"norm:NFC+{self._languages[2]}"
        signatures = {}
        for metric in self.all_metrics:
            pack = pack_of(metric.info.id)
            version = f"|pack:{pack.name}-{pack.version}" if pack else ""
            signatures[metric.info.id] = (metric.signature + version).replace("norm:NFC", form)
        return signatures

    @property
    def as_stated(self) -> dict[str, str]:
        """The metrics of packs that are not here, and why their values can only be repeated."""
        return {id_: self.off[id_] for id_ in self.foreign if "." in id_ and id_ in self.off}

    @property
    def told_of(self) -> list[str]:
        """The metrics that have a value here, or a reason why there is none."""
        return reported_metrics([metric.info.id for metric in self.all_metrics], self.off)

    def reasons(self, values: Mapping[str, float | None]) -> dict[str, str]:
        """Return why each metric that the run reports has no value."""
        return missing_reasons(self.all_metrics, values, self.off)

    def entry_values(self, statistics: EntryStatistics) -> EntryValues:
        """Return the values of one entry."""
        return self.entries_values([statistics])[0]

    def entries_values(self, statistics: Sequence[EntryStatistics]) -> list[EntryValues]:
        """Return the values of several entries together."""
        arrays = self.table(statistics).entry_values()
        mixed = entry_composites(arrays if self.mixes else {}, len(statistics), self.weighing)
        columns = [_optional(array) for array in arrays.values()]
        rows = zip(*columns, strict=True) if columns else [() for _ in statistics]
        # Each entry's verdicts by metric id.
        judges = {metric.info.id: metric for metric in self.metrics if metric.has_verdicts}
        verdicts = [
            {id_: metric.verdict_of(numbers) if (numbers := taken.get(id_)) else None for id_, metric in judges.items()}
            for taken in statistics
        ]
        return [
            EntryValues(dict(zip(arrays, row, strict=True)), value, self.weighing.tier(value), words)
            for row, value, words in zip(rows, _optional(mixed), verdicts, strict=True)
        ]

    @property
    def mixes(self) -> bool:
        """Return whether the values are folded into a composite, as those of translations alone are."""
        return COMPOSITE in self.columns.ids

    def composite(self, values: Mapping[str, float | None]) -> Composite:
        """Return the composite of corpus values; without a value where the task has none."""
        return composite(values if self.mixes else {}, self.reasons(values), self.weighing)

    def pack(self, statistics: EntryStatistics) -> bytes:
        """Write one entry's statistics in a few dozen bytes; integers short, fractions exact."""
        taken = (statistics.get(id_) for id_, _ in self.packed)
        row = [
            None if counts is None else [int(n) if float(n).is_integer() else float(n) for n in counts]
            for counts in taken
        ]
        packed: bytes = msgpack.packb(row)
        return packed

    def held(self, statistics: Iterable[EntryStatistics]) -> PackedStatistics:
        """Return statistics of this set-up in little memory."""
        return PackedStatistics(self, PackedList(map(self.pack, statistics)))

    def unpack(self, data: bytes) -> EntryStatistics:
        """Read what ``pack`` wrote with the same set-up; StatisticsError where it does not fit.

        Statistics of foreign metrics are given as they were written.
        """
        return {id_: column[0] for id_, column in self._unpacked([data]).items()}

    def unpack_table(
        self, packed: Sequence[bytes], only: Collection[str] | None = None, *, small: bool = False
    ) -> Table:
        """Unpack the statistics of many entries at once, of some metrics ``only`` or of all; StatisticsError if they do not fit.

        ``small`` as of ``Table``.
        """
        metrics = [metric for metric in self.metrics if only is None or metric.info.id in only]
        tables = []
        for start in range(0, len(packed), _BLOCK) or (0,):
            part = packed[start : start + _BLOCK]
            columns = self._unpacked(part)
            by_metric = [columns[metric.info.id] for metric in metrics]
            table = Table.of_columns(metrics, by_metric, len(part), self.weighing)
            tables.append(table.small() if small else table)
        return Table.joined(tables)

    def unpack_many(self, packed: Sequence[bytes]) -> Iterator[EntryStatistics]:
        """Yield what ``unpack`` gives of each entry, unpacked block by block."""
        for start in range(0, len(packed), _BLOCK):
            columns = self._unpacked(packed[start : start + _BLOCK])
            yield from (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))

    def _unpacked(self, packed: Sequence[bytes]) -> dict[str, Sequence[Statistics | None]]:
        """Return the statistics by metric, of its width each; whether they are numbers is not seen."""
        if not set(map(type, packed)) <= {bytes}:
            raise StatisticsError
        try:
            rows = [msgpack.unpackb(packed_row, use_list=False) for packed_row in packed]
        except (ValueError, msgpack.UnpackException) as error:
            raise StatisticsError from error
        if not set(map(type, rows)) <= {tuple}:
            raise StatisticsError
        layout = self._layout({len(row) for row in rows})
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(layout)
        if not all(_fit(column, width) for column, (_, width) in zip(columns, layout, strict=True)):
            raise StatisticsError
        return {id_: column for (id_, _), column in zip(layout, columns, strict=True)}

    def _layout(self, lengths: set[int]) -> Sequence[PackedColumn]:
        """Return what rows of these lengths hold; StatisticsError where no order of this set-up fits.

        Rows that may lack statistics have those of foreign metrics all, or, where their card came from
        elsewhere, none.
        """
        if lengths <= {len(self.packed)}:
            return self.packed
        known = [layout_row for layout_row in self.packed if layout_row[0] in self.ids]
        if self._may_lack and lengths == {len(known)}:
            return known
        raise StatisticsError


MOST_TOGETHER = 512
"""Translations that all metrics look at before the next are: their texts are still among those that readers keep."""
_BLOCK = 2000
"""Entries whose statistics are unpacked together."""


class PackedStatistics(Sequence[EntryStatistics]):
    """Statistics of entries that are held as they are stored, in a tenth of the memory, and unpacked where they are read.

    As a table whole numbers are in the smallest type that holds them (``Table.small``).
    """

    def __init__(self, scorer: Scorer, packed: Sequence[bytes]) -> None:
        self._scorer, self.packed = scorer, packed

    def __len__(self) -> int:
        return len(self.packed)

    @overload
    def __getitem__(self, place: int) -> EntryStatistics: ...

    @overload
    def __getitem__(self, place: slice) -> PackedStatistics: ...

    def __getitem__(self, place: int | slice) -> EntryStatistics | PackedStatistics:
        if isinstance(place, slice):
            return PackedStatistics(self._scorer, self.packed[place])
        return self._scorer.unpack(self.packed[place])

    def __iter__(self) -> Iterator[EntryStatistics]:
        return self._scorer.unpack_many(self.packed)


def _fit(column: Sequence[Statistics | None], width: int | None) -> bool:
    there = [part for part in column if part is not None]
    if not set(map(type, there)) <= {tuple}:
        return False
    return width is None or {len(part) for part in there} <= {width, len(FAILED)}


class RunningTotals:
    """Running sums: since statistics are integers, the values after every entry equal those of a batch."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        empty = scorer.table([])
        self._table = empty
        self._sums = empty.totals()
        self._present = np.zeros(len(empty.metrics), dtype=bool)
        self.entries = 0
        """How many entries were added."""

    def add(self, statistics: Sequence[EntryStatistics]) -> None:
        """Count some more entries in."""
        self.add_table(self._scorer.table(statistics))

    def add_table(self, table: Table) -> None:
        """Count the entries of a table in."""
        self.add_sums(len(table), table.totals(), table.present.any(axis=0))

    def add_sums(self, entries: int, sums: npt.ArrayLike, present: npt.ArrayLike) -> None:
        """Count entries in whose statistics were added up elsewhere; ``present``: whether some had any of a metric."""
        self._sums += np.asarray(sums, dtype=np.float64)
        self._present |= np.asarray(present, dtype=bool)
        self.entries += entries

    def values(self) -> dict[str, float | None]:
        """Return the corpus values so far, by metric id; all None before the first entry."""
        if not self.entries:
            return dict.fromkeys(self._scorer.ids)
        return present_values(self._table.values(self._sums), self._present)

    def composite(self) -> Composite:
        """Return the composite of the corpus values so far."""
        return self._scorer.composite(self.values())


def entry_composites(arrays: Mapping[str, FloatArray], entries: int, weighing: Weighing) -> FloatArray:
    """Fold each entry's values with the profile that the entry's own values ask for (§4.3)."""
    if not arrays:
        return np.full(entries, np.nan)
    without = composites(arrays, "B", weighing=weighing)
    if STRUCTURAL_KEY not in arrays:
        return without
    judged = composites(arrays, "A", weighing=weighing)
    return np.where(np.isnan(arrays[STRUCTURAL_KEY]), without, judged)


def _optional(values: FloatArray) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124  NaN
