"""Floors: what outputs without any translation in them reach on the same corpus (DESIGN T2).

A composite means little before it is known what worthless outputs get from the same metrics: nothing at all,
the untouched source, the best constant, references in wrong places, valid words at random, and no more than
the beginning of each reference.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from corpora.model.entry import Entry
from corpora.model.task import TRANSLATION
from scoring.card.claim import FloorScores
from scoring.card.constant import STEP, Annotate, FoundConstant, search_constant, spread
from scoring.core.inventory import STRUCTURAL_KEY, composite_metrics
from scoring.core.metric import EntryStatistics, Metric
from scoring.core.scorer import RunningTotals, Scorer
from scoring.core.setup import Translation
from scoring.core.specification import Weighing

JUDGES = 100
"""Entries on which the most promising constants are scored."""
MOST_DRAWN = 1_000
"""Entries, spread evenly, on which ``words`` and ``truncated`` are scored where there are more."""
BEGINNING = 0.2
"""Share of each reference that ``truncated`` outputs keep."""
SEED = 12345
MOST_KEPT = 8_192
"""Entries up to which the words of the references are kept; of more they are read again where they are drawn."""
_END = object()
IntArray = npt.NDArray[np.int64]
FloorGroup = Sequence[tuple[str, Sequence[int], Sequence[str]]]
"""Worthless outputs of some entries: kind, places of the entries, texts."""
FloorSums = Sequence[tuple[int, npt.ArrayLike, npt.ArrayLike]]
"""What ``RunningTotals.add_sums`` takes, of each kind of a group."""
Share = Callable[[Iterable[FloorGroup], Callable[[FloorGroup], FloorSums]], Iterator[tuple[FloorGroup, FloorSums]]]
"""Applies a function to groups, by several processes or by this one, and gives each group with its result in order."""


class FloorWork:
    """Scores worthless outputs with the metrics of the composite, by the specification's weights where no others are given.

    ``empty``; ``source``; ``constant``, the best by composite among the references; ``shuffled``, references
    in wrong places; ``words``, as many words as the reference has, at random from other references, those
    that the analyser accepts where it judges outputs; ``truncated``, the first fifth of each reference. They
    depend on the entries only, so runs on the same entries share them. ``shuffled`` and ``words`` are left
    out where no other entry gives them anything. Tasks other than translation have no floors.

    The work is done in steps of some ten milliseconds, so that a run need not wait for it.
    Statistics are whole numbers, so that their sums are the same in any order. Entries follow the random order
    by which ``shuffled`` moves the references: each entry gets the reference of the one before it, which was just
    read, and the sums so far are those of a random sample.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        metrics: Sequence[Metric],
        *,
        annotate: Annotate = list,
        seed: int = SEED,
        judges: int = JUDGES,
        weighing: Weighing | None = None,
        step: int = STEP,
        share: Share | None = None,
    ) -> None:
        """``step`` is how many entries a step scores: all of them, in their order, for statistics that are no whole numbers."""
        translated = bool(entries) and entries[0].of_task == TRANSLATION
        self._entries = entries if translated else ()
        self._used = [metric for metric in metrics if metric.info.id in composite_metrics()]
        self._annotate = annotate
        self._seed = seed
        self._judges = judges
        self._weighing = weighing
        self._step = step
        self._share = share or (lambda groups, sums: ((group, sums(group)) for group in groups))
        self._scorer = Scorer(self._used, weighing=weighing)
        self._accepted = any(metric.info.id == STRUCTURAL_KEY for metric in self._used)
        self._constant = FoundConstant("", 0)
        self._totals: dict[str, RunningTotals] = {}
        self._copied = np.zeros(len(self._entries), bool)
        """Entries whose source has been scored as an output."""
        self._steps = self._work()
        self.complete = False

    def step(self) -> bool:
        """Work for some milliseconds. Return whether more is left."""
        self.complete = next(self._steps, _END) is _END
        return not self.complete

    def finish(self) -> dict[str, FloorScores]:
        """Complete the work and return the floors."""
        while self.step():
            pass
        return self.scores()

    @property
    def total(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    @property
    def done(self) -> int:
        """How many of them were given all outputs that every entry is given."""
        return self._totals["empty"].entries if self._totals else 0

    def take(self, places: Iterable[int], scored: Iterable[tuple[Translation, EntryStatistics]]) -> None:
        """Adopt a run's statistics of outputs that are the source itself, so that these are scored once.

        ``places`` are those of the entries; a translation of another entry than that is not taken.
        """
        copies = []
        for place, (one, numbers) in zip(places, scored, strict=True):
            known = self._entries[place] if place < len(self._entries) else None
            if one.output == one.entry.source and one.raw is None and one.entry == known and not self._copied[place]:
                self._copied[place] = True
                copies.append(numbers)
        if copies:
            self._totals_of("empty")  # always the first
            self._totals_of("source").add(copies)

    def scores(self) -> dict[str, FloorScores]:
        """Return the floors of the entries scored so far, of all once the work is complete."""
        scores = {}
        for kind, totals in self._totals.items() if self.done else ():
            values = totals.values()
            mixed = self._scorer.composite(values)
            scores[kind] = FloorScores(
                mixed.value,
                values.get("chrf_plus_plus"),
                tuple(part.metric for part in mixed.inputs),
                totals.entries,
                self._constant.searched if kind == "constant" else None,
            )
        return scores

    def _work(self) -> Generator[None, None, None]:
        entries = self._entries
        if not entries:
            return
        self._constant = yield from search_constant(entries, self._used, self._annotate, self._judges, self._weighing)
        drawing = WordDrawing(len(entries), self._seed, accepted=self._accepted)
        moved = derangement(len(entries), self._seed)
        order = np.arange(len(entries))
        if len(entries) > self._step:
            order = _order(len(entries), self._seed)
        starts = range(0, len(entries), self._step)
        yield from self._score(self._whole(order[at : at + self._step].tolist(), moved, drawing) for at in starts)
        # the outputs that are given to some entries
        chosen = spread(range(len(entries)), MOST_DRAWN)
        chunks = [chosen[at : at + self._step] for at in range(0, len(chosen), self._step)]
        words = yield from drawing.draw(chosen, entries, self._annotate)
        yield from self._score([("words", at, [words[place] for place in at])] for at in chunks if words)
        yield from self._score(
            [("truncated", at, [beginning(entries[place].reference, BEGINNING) for place in at])] for at in chunks
        )

    def _whole(self, places: Sequence[int], moved: IntArray, drawing: WordDrawing) -> FloorGroup:
        """Return the outputs that every entry is given."""
        nothing = self._annotate([Translation(self._entries[place], "") for place in places])
        drawing.read(places, nothing)
        left = [place for place in places if not self._copied[place]]
        self._copied[list(places)] = True
        group: list[tuple[str, Sequence[int], Sequence[str]]] = [("empty", places, [""] * len(places))]
        if left:
            group.append(("source", left, [self._entries[place].source for place in left]))
        group.append(("constant", places, [self._constant.text] * len(places)))
        if len(self._entries) > 1:
            group.append(("shuffled", places, [self._entries[moved[place]].reference for place in places]))
        return group

    def _score(self, groups: Iterable[FloorGroup]) -> Generator[None, None, None]:
        for group, sums in self._share(groups, self.sums):
            for (kind, *_), of_kind in zip(group, sums, strict=True):
                self._totals_of(kind).add_sums(*of_kind)
            yield

    def sums(self, group: FloorGroup) -> FloorSums:
        """Score outputs and add up what each kind of them gets."""
        added = []
        for _, places, texts in group:
            pairs = zip(places, texts, strict=True)
            given = self._annotate([Translation(self._entries[place], text) for place, text in pairs])
            table = self._scorer.table(self._scorer.statistics(given))
            added.append((len(table), table.totals().tolist(), table.present.any(axis=0).tolist()))
        return added

    def _totals_of(self, kind: str) -> RunningTotals:
        if kind not in self._totals:
            self._totals[kind] = RunningTotals(self._scorer)
        return self._totals[kind]


class WordDrawing:
    """Draws each entry as many words as its reference has, from the other references.

    An entry is kept as two numbers; its words too where there are few entries.
    """

    def __init__(self, entries: int, seed: int, *, accepted: bool) -> None:
        """Prepare for a number of entries; ``accepted`` draws only words that the analyser accepts."""
        self._numbers = np.zeros(entries, np.int64)
        """Words of each reference."""
        self._usable = np.zeros(entries, np.int64)
        """Those of them that may be drawn."""
        self._words: dict[int, Sequence[str]] = {}
        self._seed = seed
        self._only_accepted = accepted

    def read(self, places: Sequence[int], translations: Sequence[Translation]) -> None:
        """Count the words of some references; every one must be read before words are drawn."""
        for place, translation in zip(places, translations, strict=True):
            number, usable = _words(translation, accepted=self._only_accepted)
            self._numbers[place], self._usable[place] = number, len(usable)
            if len(self._numbers) <= MOST_KEPT:
                self._words[place] = usable

    def draw(
        self, chosen: Sequence[int], entries: Sequence[Entry], annotate: Annotate
    ) -> Generator[None, None, dict[int, str]]:
        """Return the words for the chosen entries by place; empty where no entry finds a word elsewhere.

        The draws depend on the seed and on all entries, not on which are chosen.
        """
        ends = np.cumsum(self._usable)
        drawn = self._drawn(frozenset(chosen), ends)
        yield
        wanted = np.unique(np.concatenate([np.empty(0, np.int64), *drawn.values()]))
        owners = np.searchsorted(ends, wanted, side="right")
        first = ends - self._usable
        words: dict[int, str] = {}
        for start in range(0, len(wanted), STEP):
            owned = owners[start : start + STEP]
            if len(self._numbers) > MOST_KEPT:  # read again; the step before is forgotten
                places = np.unique(owned).tolist()
                empties = annotate([Translation(entries[place], "") for place in places])
                read = (_words(empty, accepted=self._only_accepted)[1] for empty in empties)
                self._words = dict(zip(places, read, strict=True))
                yield
            for at, owner in zip(wanted[start : start + STEP].tolist(), owned, strict=True):
                words[at] = self._words[int(owner)][at - int(first[owner])]
        return {place: joined([words[at] for at in own.tolist()]) for place, own in drawn.items()}

    def _drawn(self, chosen: frozenset[int], ends: IntArray) -> dict[int, IntArray]:
        """Return the places in the row of all usable words that each chosen entry draws; empty where none draws any.

        Usable words (3, 2, 4) are a row of 9 with ends (3, 5, 9). The second entry draws from the 7 words of the others,
        and steps over its own, 3 and 4: a drawn 2 stays the third word of the first entry, a drawn 5 becomes 5 + 2 = 7,
        the third word of the last.
        """
        random = np.random.default_rng(self._seed)
        pool = int(ends[-1])
        drawn: dict[int, IntArray] = {}
        some = False
        columns = (self._numbers, self._usable, ends)
        numbers = chain.from_iterable(
            zip(*(column[at : at + MOST_KEPT].tolist() for column in columns), strict=True)
            for at in range(0, len(ends), MOST_KEPT)
        )
        for place, (number, usable, end) in enumerate(numbers):
            others = pool - usable
            at = random.integers(0, max(1, others), number if others else 0)
            some = some or len(at) > 0
            if place in chosen:
                drawn[place] = np.where(at < end - usable, at, at + usable)
        return drawn if some else {}


def _words(translation: Translation, *, accepted: bool) -> tuple[int, Sequence[str]]:
    """Return how many words a reference has, and those that may be drawn from it."""
    if accepted and translation.fst is not None:
        reference = translation.fst.reference
        return len(reference), [word.word for word in reference if word.accepted is not None]
    from scoring.words.reading import reader  # its patterns, which reading a card does without

    written = reader().read(translation.entry.reference).written
    return len(written), written


def _unspaced(words: Sequence[str]) -> Iterable[bool]:
    from scoring.words.reading import unspaced

    return map(unspaced, words)


def joined(words: Sequence[str]) -> str:
    """Set words side by side as their script does."""
    return ("" if words and all(_unspaced(words)) else " ").join(words)


def beginning(text: str, share: float) -> str:
    """Return a share of the words from the first on, rounded down; of characters where words are not spaced."""
    words = text.split()
    if any(_unspaced(words)):
        return text[: int(len(text) * share)]
    return " ".join(words[: int(len(words) * share)])


def derangement(length: int, seed: int) -> IntArray:
    """Return places such that none stays where it is, by shifting a seeded random order by one.

    In the order (2, 0, 3, 1) each gets the reference of the one before it: 2 that of 1, 0 of 2, 3 of 0, 1 of 3.
    """
    order = _order(length, seed)
    places = np.empty(length, dtype=np.int64)
    places[order] = np.roll(order, 1)
    return places


def _order(length: int, seed: int) -> IntArray:
    return np.random.default_rng(seed).permutation(length)
