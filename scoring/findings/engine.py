"""All findings over the outputs of a run, and what each of them costs in chrF++."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from corpora.model.entry import Entry
from scoring.core.metric import FloatArray, Metric, Statistics
from scoring.core.translation import Translation
from scoring.findings import content, framing, writing
from scoring.findings.marks import decoder_marks
from scoring.findings.phrases import common_beginnings, common_endings
from scoring.findings.records import LEAST_SHARE, FindingCode, OutputFinding
from scoring.findings.rows import OutputRow, RowFault, rows_of, to_check

MOST_EXAMPLES = 3
_LONGEST_EXAMPLE = 60

Detector = Callable[[OutputRow], RowFault | None]


def find(
    entries: Sequence[Entry],
    outputs: Sequence[str],
    chrf: Metric | None = None,
    statistics: Sequence[Statistics | None] | None = None,
    *,
    read: Callable[[Sequence[Translation]], Sequence[Translation]] = list,
) -> tuple[OutputFinding, ...]:
    """Return what can be named in the outputs of translations, the most frequent first.

    ``chrf`` is the run's chrF++; without it no finding has a cost. ``statistics`` are what it took from the outputs,
    by entry, if they are known already. ``read`` brings texts into the form in which the run's metrics read them.
    ValueError where the sequences have different lengths.
    """
    rows = rows_of(entries, outputs)
    costs = None if chrf is None else _Costs(chrf, read, entries, outputs, statistics)
    findings = [_finding(code, hits, rows, costs) for code, hits in _detected(rows) if hits]
    return tuple(sorted(findings, key=lambda item: -item.count))


def _detected(rows: Sequence[OutputRow]) -> Iterator[tuple[FindingCode, list[RowFault]]]:
    """Yield the hits of each code. The order counts: what stands around an answer is taken off before it is judged."""
    yield FindingCode.EMPTY, content.empty(rows)
    for row in rows:
        row.answered = not row.blank
    yield FindingCode.REFUSAL, _detect(framing.refusal, to_check(rows))
    yield FindingCode.COPIED, list(content.copied(rows))
    yield FindingCode.REPEATED, list(content.repeated(rows))
    answers = list(to_check(rows))
    thoughts = _detect(framing.thoughts, answers)
    wrapped = _detect(framing.wrapper, answers)
    marks = decoder_marks([row for row in answers if row.answered])
    yield FindingCode.BEGINNING, common_beginnings(rows)
    yield FindingCode.ENDING, common_endings(rows)
    answers = list(to_check(rows))
    prose = _together(thoughts, _detect(framing.prose, answers))
    wrapped = _together(wrapped, _detect(framing.wrapper, answers))
    yield FindingCode.PROSE, prose
    yield FindingCode.WRAPPER, wrapped
    yield FindingCode.QUOTES, _detect(framing.quotes, answers)
    yield FindingCode.DECODER_MARKS, marks
    yield FindingCode.LINE_BREAKS, _detect(framing.line_breaks, answers)
    read_as_tags = {hit.row.place for hit in (*prose, *wrapped, *marks)}
    yield FindingCode.CUT, (cut := _detect(content.cut, answers))
    yield FindingCode.NUMBERS, _detect(content.numbers, answers)
    yield (
        FindingCode.PLACEHOLDERS,
        _detect(lambda row: content.placeholders(row, tags=row.place not in read_as_tags), answers),
    )
    yield FindingCode.LETTERS, writing.missing_letters(rows)
    yield FindingCode.CAPITALS, _detect(writing.capitals, answers)
    short = {hit.row.place for hit in cut}
    yield (
        FindingCode.END_MARK,
        _detect(writing.end_mark, (row for row in answers if row.place not in short)),
    )


def _detect(detector: Detector, rows: Iterable[OutputRow]) -> list[RowFault]:
    return [hit for row in rows if (hit := detector(row)) is not None]


def _together(first: Sequence[RowFault], later: Sequence[RowFault]) -> list[RowFault]:
    """Return one hit for each entry, the first."""
    return list({hit.row.place: hit for hit in (*later, *first)}.values())


def _finding(
    code: FindingCode, hits: Sequence[RowFault], rows: Sequence[OutputRow], costs: _Costs | None
) -> OutputFinding:
    hits = sorted(hits, key=lambda hit: hit.row.place)
    frequent = len(hits) >= LEAST_SHARE * len(rows)
    return OutputFinding(
        code=code,
        count=len(hits),
        of=len(rows),
        cost=costs.of(hits) if costs is not None and frequent else None,
        entries=tuple(hit.row.entry.id for hit in hits),
        examples=tuple(_examples(hits)),
    )


def _examples(hits: Sequence[RowFault]) -> list[str]:
    """Return different pieces of outputs that show a finding; nothing of secret entries."""
    result: dict[str, None] = {}
    for hit in hits:
        if hit.row.entry.secret or len(result) == MOST_EXAMPLES:
            continue
        text = hit.row.output.strip() if hit.example is None else hit.example
        if text:
            result[text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 1]}…"] = None  # fmt: skip
    return list(result)


class _Costs:
    """Prices findings: chrF++ of the run with corrected outputs, less chrF++ as it is.

    Only the changed entries are measured again, because statistics add up.
    """

    def __init__(
        self,
        chrf: Metric,
        read: Callable[[Sequence[Translation]], Sequence[Translation]],
        entries: Sequence[Entry],
        outputs: Sequence[str],
        statistics: Sequence[Statistics | None] | None,
    ) -> None:
        self._chrf = chrf
        self._read = read
        self._known = statistics
        self._texts = (entries, outputs)
        self._rows: FloatArray | None = None

    def of(self, hits: Sequence[RowFault]) -> float | None:
        """Return the points that the run would gain; None where no rule undoes the finding."""
        changed = [(hit.row, hit.corrected) for hit in hits if hit.corrected is not None]
        if not changed:
            return None
        rows = self._statistics()
        again = self._taken([Translation(row.entry, text) for row, text in changed])
        places = [row.place for row, _ in changed]
        before = rows.sum(axis=0)
        value = self._chrf.value(before)
        other = self._chrf.value(before - rows[places].sum(axis=0) + again.sum(axis=0))
        return None if value is None or other is None else other - value

    def _statistics(self) -> FloatArray:
        if self._rows is None:
            known = self._known
            if known is None:
                pairs = zip(*self._texts, strict=True)
                self._rows = self._taken([Translation(*pair) for pair in pairs])
            else:
                self._rows = self._array(known)
        return self._rows

    def _taken(self, texts: Sequence[Translation]) -> FloatArray:
        return self._array(self._chrf.stats_many(self._read(texts)))

    def _array(self, statistics: Sequence[Statistics | None]) -> FloatArray:
        blank = (0.0,) * self._chrf.width
        rows = [blank if item is None else item for item in statistics]
        return np.asarray(rows, dtype=np.float64).reshape(-1, self._chrf.width)
