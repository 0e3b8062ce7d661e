"""All findings over the outputs of a run, and what each of them costs in chrF++."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from corpora.files.packed_list import in_blocks
from corpora.model.entry import Entry
from corpora.text.messages import shortened
from scoring.core.metric import FloatArray, Metric, Statistics
from scoring.core.setup import Translation
from scoring.findings import content, writing
from scoring.findings.finding import LEAST_SHARE, FindingCode, OutputFinding
from scoring.findings.writing import OutputRow, RowFault, decoder_marks, rows_of, to_check, without_accents
from scoring.words.violations import is_quotation_mark

# ---- Common beginnings and ends, found by counting over the outputs: no list of phrases, so any
# language.
#
# Words count as common where many outputs share them and few references do, the references of
# those outputs mostly lack them, and their sources do not begin (or end) alike, which would
# explain them.

LEAST_COUNT = 3
LEAST_PART = 0.002
"""Outputs, and their part of all, from which a beginning is common."""
MOST_PHRASES = 5
_MOST_TOKENS = 10
_REACH = 160
"""Characters from an end of an output that are examined."""
_LEAST_LETTERS = 10
"""Characters from which words without a colon or another sign of their own count."""
_SHARED_PLACES = 2**17
_SAMPLE = 50
_SUPPORTED = 0.5
"""Part of a phrase's words that the references have, from which it is part of the translations."""
_HEAD = re.compile(r"[^\s:：、。！!]+[:：、。！!]*\s*|[:：、。！!]+\s*")
_TAIL = re.compile(r"\s*(?:<[^<>\s]*>|[^\s<]+|<)")
_SENTENCE_END = frozenset(".!?…。！？।॥؟۔᙮።")
_PLACEHOLDER = re.compile(r"[{}]|%\w")
_NO_WORD = re.compile(r"[\W_]+\Z")


@dataclass(frozen=True, slots=True)
class _End:
    """One of the two ends of a text."""

    cut: Callable[[str], list[str]]
    """Return the pieces of a text that reach from this end, shortest first."""
    distinct: Callable[[str], bool]
    """Return whether a phrase is long or marked enough to count."""
    nearest: Callable[[str], str]
    """Return the words of a source at this end."""
    left: Callable[[str, str], str]
    """Return a text without a piece at this end."""


def _heads(text: str) -> list[str]:
    tokens = _HEAD.findall(text[:_REACH])[:_MOST_TOKENS]
    return [item for item in accumulate(tokens) if len(item) < len(text)]


def _tails(text: str) -> list[str]:
    tokens = _TAIL.findall(text[-_REACH:])[-_MOST_TOKENS:]
    pieces = accumulate(reversed(tokens), lambda whole, token: token + whole)
    return [item for item in pieces if len(item) < len(text)]


def _is_sign(phrase: str) -> bool:
    return (
        bool(_NO_WORD.match(phrase))
        and not _SENTENCE_END.issuperset(phrase)
        and not all(is_quotation_mark(item) for item in phrase)
    )


def _distinct_head(phrase: str) -> bool:
    if _PLACEHOLDER.search(phrase):
        return False
    if " " not in phrase and phrase[-1] not in ":：!！":
        return _is_sign(phrase)
    return len(phrase) >= _LEAST_LETTERS or phrase[-1] in ":：!！"


def _distinct_tail(phrase: str) -> bool:
    if _PLACEHOLDER.search(phrase):
        return False
    if " " not in phrase:
        return (phrase[0] == "<" and len(phrase) > 1) or _is_sign(phrase)
    return len(phrase) >= _LEAST_LETTERS


_BEGINNING = _End(
    _heads,
    _distinct_head,
    lambda source: " ".join(source.split(maxsplit=2)[:2]).casefold(),
    lambda text, piece: text[len(piece) :],
)
_ENDING = _End(
    _tails,
    _distinct_tail,
    lambda source: " ".join(source.rsplit(maxsplit=2)[-2:]).casefold(),
    lambda text, piece: text[: -len(piece)].rstrip(),
)


def _form(text: str) -> str:
    """Return a text as beginnings and ends are compared: without case, spaces folded."""
    return " ".join(text.casefold().split())


def _common(rows: Sequence[OutputRow], end: _End) -> list[RowFault]:
    """Return the outputs that begin or end alike, and take that off their bodies."""
    answered = [row for row in rows if row.answered]
    least = max(LEAST_COUNT, len(rows) * LEAST_PART)
    # Most pieces are those of one output. Each adds to a place that others may share; only where a place comes to
    # enough are the pieces themselves counted.
    shares = array("L", bytes(_SHARED_PLACES * array("L").itemsize))
    for row in answered:
        for key in _pieces(row, end):
            shares[hash(key) % _SHARED_PLACES] += 1
    often_shared = bytes(count >= least for count in shares)
    if not any(often_shared):
        return []
    pieces = [
        [key if often_shared[hash(key) % _SHARED_PLACES] else "" for key in _pieces(row, end)] for row in answered
    ]
    counts = Counter(key for keys in pieces for key in keys if key)
    common = {key for key, count in counts.items() if count >= least and end.distinct(key)}
    if not common:
        return []
    # Without accents: of outputs that have none, the references share the beginnings all the same.
    shared = {without_accents(key) for key in common}
    references = Counter(
        key
        for row in answered
        for piece in end.cut(without_accents(_form(row.reference)))
        if (key := piece.strip()) in shared
    )
    having: dict[str, list[int]] = {}
    for place, keys in enumerate(pieces):
        for key in common.intersection(keys):
            having.setdefault(key, []).append(place)
    starts = [end.nearest(row.source) for row in answered]
    often = Counter(starts)
    phrases = [
        key
        for key, places in having.items()
        if references[without_accents(key)] * 4 <= len(places)
        and not _explained([starts[item] for item in places], often)
        and _support(key, [answered[item] for item in places[:_SAMPLE]]) < _SUPPORTED
    ]
    hits: list[RowFault] = []
    for _ in range(MOST_PHRASES):
        # The phrase that takes off most characters: 19 × a whole sentence goes before 21 × its first words.
        best = max(phrases, key=lambda key: (len(having[key]) * len(key), key), default=None)
        if best is None or len(having[best]) < least:
            break
        taken = frozenset(having[best])
        for place in having[best]:
            row = answered[place]
            result = end.cut(row.body)
            piece = result[min(pieces[place].index(best), len(result) - 1)]
            hits.append(RowFault(row, row.narrowed(end.left(row.body, piece)), piece.strip()))
        having = {key: [item for item in places if item not in taken] for key, places in having.items()}
    return hits


def _pieces(row: OutputRow, end: _End) -> list[str]:
    return [item.strip() for item in end.cut(_form(row.body))]


def _explained(starts: Sequence[str], often: Counter[str]) -> bool:
    """Return whether the sources of some outputs are alike at this end, more than all sources are."""
    result, count = Counter(starts).most_common(1)[0]
    return count / len(starts) > max(0.5, 2 * often[result] / often.total())


def _support(phrase: str, rows: Sequence[OutputRow]) -> float:
    """Return which part of a phrase's words the references have, on average (0–1)."""
    pieces = [item.strip(".,:;!?…。、：！\"'*()[]") for item in without_accents(phrase).split()]
    words = [piece for piece in pieces if piece]
    if not words:
        return 0.0
    result = 0
    for row in rows:
        reference = without_accents(row.reference.casefold())
        tokens = {item.strip(".,:;!?\"'()") for item in reference.split()}
        result += sum(word in tokens or (len(word) > 3 and word in reference) for word in words)
    return result / (len(words) * len(rows))


MOST_EXAMPLES = 3
_PRICED_TOGETHER = 1000
"""Corrected outputs that are measured together."""
_LONGEST_EXAMPLE = 60
Detector = Callable[[OutputRow], RowFault | None]


def find(
    entries: Sequence[Entry],
    outputs: Sequence[str],
    chrf: Metric | None = None,
    statistics: FloatArray | None = None,
    *,
    read: Callable[[Sequence[Translation]], Sequence[Translation]] = list,
) -> tuple[OutputFinding, ...]:
    """Return what can be named in the outputs of translations, the most frequent first.

    ``chrf`` is the run's chrF++; without it no finding has a cost. ``statistics`` are what it took from the outputs,
    by entry, if they are known already; zeros where it has nothing. ``read`` brings texts into the form in which the run's metrics read them.
    ValueError where the sequences have different lengths.
    """
    rows = rows_of(entries, outputs)
    costs = None if chrf is None else OutputCosts(chrf, read, entries, outputs, statistics)
    findings = [_finding(code, hits, rows, costs) for code, hits in _detected(rows) if hits]
    return tuple(sorted(findings, key=lambda item: -item.count))


def _detected(rows: Sequence[OutputRow]) -> Iterator[tuple[FindingCode, list[RowFault]]]:
    """Yield the hits of each code. The order counts: what stands around an answer is taken off before it is judged."""
    yield FindingCode.EMPTY, content.empty(rows)
    for row in rows:
        row.answered = not row.blank
    yield FindingCode.REFUSAL, _detect(content.refusal, to_check(rows))
    yield FindingCode.COPIED, list(content.copied(rows))
    yield FindingCode.REPEATED, list(content.repeated(rows))
    answers = list(to_check(rows))
    thoughts = _detect(content.thoughts, answers)
    wrapped = _detect(content.wrapper, answers)
    marks = decoder_marks([row for row in answers if row.answered])
    yield FindingCode.BEGINNING, _common(rows, _BEGINNING)
    yield FindingCode.ENDING, _common(rows, _ENDING)
    answers = list(to_check(rows))
    prose = _together(thoughts, _detect(content.prose, answers))
    wrapped = _together(wrapped, _detect(content.wrapper, answers))
    yield FindingCode.PROSE, prose
    yield FindingCode.WRAPPER, wrapped
    yield FindingCode.QUOTES, _detect(content.quotes, answers)
    yield FindingCode.DECODER_MARKS, marks
    yield FindingCode.LINE_BREAKS, _detect(content.line_breaks, answers)
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
    whole = (row for row in answers if row.place not in short)
    yield FindingCode.END_MARK, _detect(writing.end_mark, whole)


def _detect(detector: Detector, rows: Iterable[OutputRow]) -> list[RowFault]:
    return [hit for row in rows if (hit := detector(row)) is not None]


def _together(first: Sequence[RowFault], later: Sequence[RowFault]) -> list[RowFault]:
    """Return one hit for each entry, the first."""
    return list({hit.row.place: hit for hit in (*later, *first)}.values())


def _finding(
    code: FindingCode, hits: Sequence[RowFault], rows: Sequence[OutputRow], costs: OutputCosts | None
) -> OutputFinding:
    hits = sorted(hits, key=lambda hit: hit.row.place)
    frequent = len(hits) >= LEAST_SHARE * len(rows)
    # different pieces of outputs that show the finding; nothing of secret entries
    open_ = (hit for hit in hits if not hit.row.secret)
    texts = (hit.row.output.strip() if hit.example is None else hit.example for hit in open_)
    examples = dict.fromkeys(shortened(text, _LONGEST_EXAMPLE) for text in texts if text)
    return OutputFinding(
        code=code,
        count=len(hits),
        of=len(rows),
        cost=costs.of(hits) if costs is not None and frequent else None,
        entries=tuple(hit.row.id for hit in hits),
        places=tuple(hit.row.place for hit in hits),
        examples=tuple(examples)[:MOST_EXAMPLES],
    )


class OutputCosts:
    """Prices findings: chrF++ of the run with corrected outputs, less chrF++ as it is.

    Only the changed entries are measured again, because statistics add up.
    """

    def __init__(
        self,
        chrf: Metric,
        read: Callable[[Sequence[Translation]], Sequence[Translation]],
        entries: Sequence[Entry],
        outputs: Sequence[str],
        statistics: FloatArray | None,
    ) -> None:
        self._chrf = chrf
        self._read = read
        self._known = statistics
        self._texts = (entries, outputs)

    @cached_property
    def _rows(self) -> FloatArray:
        if self._known is not None:
            return self._known
        return self._taken([Translation(*pair) for pair in zip(*self._texts, strict=True)])

    def of(self, hits: Sequence[RowFault]) -> float | None:
        """Return the points that the run would gain; None where no rule undoes the finding."""
        return self.gain({hit.row.place: hit.corrected for hit in hits if hit.corrected is not None})

    def gain(self, changed: Mapping[int, str]) -> float | None:
        """Return the points that the run would gain with other outputs at some places; None without any."""
        if not changed:
            return None
        entries, places = self._texts[0], list(changed)
        again = np.zeros(self._chrf.width)
        for some in in_blocks(places, _PRICED_TOGETHER):
            again += self._taken([Translation(entries[place], changed[place]) for place in some]).sum(axis=0)
        before = self._rows.sum(axis=0)
        value = self._chrf.value(before)
        other = self._chrf.value(before - self._rows[places].sum(axis=0) + again)
        return None if value is None or other is None else other - value

    def _taken(self, texts: Sequence[Translation]) -> FloatArray:
        return self._array(self._chrf.stats_many(self._read(texts)))

    def _array(self, statistics: Sequence[Statistics | None]) -> FloatArray:
        blank = (0.0,) * self._chrf.width
        rows = [blank if item is None else item for item in statistics]
        return np.asarray(rows, dtype=np.float64).reshape(-1, self._chrf.width)
