"""Official lists: released cards, which are all that leaves of runs over secret entries, in the order of their scores.

Cards share a list where one key signed them about the same version of a corpus, with as many entries. They are ranked by
their composite (scoring specification §6.3), as it was released, or by the first metric where one has none. Which of them
cannot be told apart is in letters, as nobody outside can test them again: two runs share one where they differ by less
than the smallest difference that their entries show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Final

from harness.release.records import ReleasedCard
from harness.sealed.keys import key_phrase
from scoring.core.composite import cost_adjusted
from scoring.core.metric_rows import direction
from scoring.core.specification import COMPOSITE

VERIFICATION: Final = "organisation ran it"
"""Who validated a released score: anyone who keeps the set; a certificate says what speakers found (benchmark specification §9.4)."""


@dataclass(frozen=True)
class OfficialRow:
    """One run of an official list."""

    card: ReleasedCard
    rank: int
    """From 1; runs of equal values share one."""
    letters: str
    """Runs that share a letter cannot be told apart; empty where nobody knows what the entries show."""

    def value(self, metric: str) -> float | None:
        """Return a released score, or None."""
        released_score = self.card.scores.get(metric)
        return None if released_score is None else released_score.value

    @property
    def name(self) -> str:
        """Return the name of the method."""
        method = self.card.method
        return method.method_name or method.method

    @property
    def cost_adjusted(self) -> float | None:
        """The secondary ranking of scoring specification §6.3, out of the rounded parts; None at cost 0 or unknown."""
        return cost_adjusted(self.value(COMPOSITE), self.card.cost_per_entry_usd)


@dataclass(frozen=True)
class OfficialList:
    """Released runs that may be ranked together."""

    rows: tuple[OfficialRow, ...]
    """Best first."""
    by: str
    """``composite``, or the metric that they are ranked by."""
    smallest: float | None
    """Points of the first metric by which two runs must differ to be told apart."""
    repeated: int
    """Cards that tell the scores of another run again; they have no row."""

    @property
    def card(self) -> ReleasedCard:
        """One of its cards: corpus, entries, key and first metric are those of all."""
        return self.rows[0].card

    @property
    def words(self) -> str:
        """Return which list it is, and whose key signed it."""
        corpus = self.card.corpus
        version = f" {corpus.version}" if corpus.version not in {None, "0"} else ""
        return f"Official: {corpus.id}{version}, {corpus.language_pair}, {corpus.entries:,} secret entries, signed by the key with the six words: {key_phrase(self.card.by)}"


def official_lists(cards: Iterable[ReleasedCard], dataset: str | None = None) -> list[OfficialList]:
    """Return the lists of some released cards, each of which is as it was signed; those with most runs first.

    ``dataset``: the id of the only corpus that is asked for.
    """
    groups: dict[tuple[object, ...], list[ReleasedCard]] = {}
    for card in cards:
        if dataset in {None, card.corpus.id}:
            corpus = card.corpus
            key = (card.by, corpus.id, corpus.version, corpus.language_pair, corpus.entries, card.headline)  # fmt: skip
            groups.setdefault(key, []).append(card)
    made = [
        official_list for group in groups.values() if (official_list := _list(group)) is not None
    ]
    return sorted(made, key=lambda list_: (-len(list_.rows), list_.card.corpus.id))


def _list(cards: Sequence[ReleasedCard]) -> OfficialList | None:
    own = {card.run: card for card in cards if card.scores_of == card.run}
    headline = cards[0].headline
    by = COMPOSITE if all(COMPOSITE in card.scores for card in own.values()) else headline
    sign = 1 if direction(by) == "higher" else -1
    ordered = sorted(own.values(), key=lambda card: (-sign * card.scores[by].value, card.issued, card.run))  # fmt: skip
    if not ordered:
        return None
    differences = [card.smallest_difference for card in ordered]
    smallest = None if None in differences else max(filter(None, differences), default=None)
    letters = letters_of([card.scores[headline].value for card in ordered], smallest)
    values = [card.scores[by].value for card in ordered]
    rows = (OfficialRow(card, values.index(value) + 1, own_letters) for card, value, own_letters in zip(ordered, values, letters, strict=True))  # fmt: skip
    return OfficialList(tuple(rows), by, smallest, len(cards) - len(own))


def letters_of(values: Sequence[float], smallest: float | None) -> list[str]:
    """Return for each value the letters of its groups: any two of one group lie closer than ``smallest``.

    A value may be in several, so that no chain of neighbours joins two that lie far apart.
    """
    if smallest is None:
        return [""] * len(values)
    ordered = sorted(range(len(values)), key=lambda place: -values[place])
    letters = [""] * len(values)
    last, letter = -1, 0
    for start, first in enumerate(ordered):
        end = max(at for at in range(start, len(ordered)) if values[first] - values[ordered[at]] < smallest)  # fmt: skip
        if end > last:
            for place in ordered[start : end + 1]:
                letters[place] += _letter(letter)
            last, letter = end, letter + 1
    return letters


def _letter(number: int) -> str:
    """Return the letter of a group: a to z, then aa and on."""
    more, own = divmod(number, len(ascii_lowercase))
    return (_letter(more - 1) if more else "") + ascii_lowercase[own]
