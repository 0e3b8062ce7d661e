"""Which sums over secret entries may be told together, so that no combination of them is about fewer than five.

Every sum that was ever told cuts the entries into those that it is over and the others. All cuts together divide the
entries into *atoms*: two entries are in one atom where every sum has both or neither. Whatever is added or subtracted of
the sums counts all entries of an atom alike, so nothing can be worked out about fewer entries than the smallest atom
has. A sum is told only where no atom gets fewer than ``LEAST``. That one rule covers the total less the other parts,
parts within parts, breakdowns that overlap, runs and retries over nearly the same entries, and segments.

Sources: the threshold rule and secondary suppression of statistical disclosure control (Willenborg & de Waal, *Elements
of Statistical Disclosure Control*, 2001; Hundepool et al., *Statistical Disclosure Control*, 2012); differences of sums
as an attack (Denning, Denning & Schwartz, "The Tracker", ACM TODS 4(1), 1979), and partitions into atoms against it
(Denning, *Cryptography and Data Security*, 1982, chapter 6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final

from harness.card.withholding import LEAST

UNTOLD: Final = 0
"""Atom of entries that no sum was over: nothing is known of them, and so they may be few."""

Key = Hashable
"""By which an entry is known again, whatever it is called in a corpus."""


@dataclass(frozen=True)
class Partition:
    """The atoms into which all that was told divides the secret entries."""

    atoms: Mapping[Key, int] = field(default_factory=dict)
    """Entry → its atom, from 1; entries that are not there were in no sum."""

    def divided(self, labels: Mapping[Key, int]) -> Partition:
        """Return the atoms once what was told also tells entries with one label from those with another, or none."""
        sides = {
            key: (self.atoms.get(key, UNTOLD), labels.get(key, UNTOLD))
            for key in {*self.atoms, *labels}
        }
        numbers = {side: place for place, side in enumerate(sorted(set(sides.values())), start=1)}
        return Partition({key: numbers[side] for key, side in sides.items()})

    def cut(self, told: Collection[Key]) -> Partition:
        """Return the atoms once a sum over these entries was told as well."""
        return self.divided(dict.fromkeys(told, 1))

    @property
    def count(self) -> int:
        """How many atoms there are."""
        return len(set(self.atoms.values()))

    @property
    def smallest(self) -> int:
        """Entries of the smallest atom; 0 where nothing was told."""
        return min(Counter(self.atoms.values()).values(), default=0)

    def may_tell(self, told: Collection[Key]) -> bool:
        """Return whether a sum over these entries leaves every atom with enough; one over no entry tells nothing."""
        return not told or self.cut(told).smallest >= LEAST


def tellable(
    before: Partition, whole: Collection[Key], parts: Mapping[tuple[str, str], Collection[Key]]
) -> tuple[frozenset[tuple[str, str]], Partition] | None:
    """Choose the parts of a run that are told beside its total; gives them and the atoms after it.

    ``whole`` are the secret entries of the run, ``parts`` those of each part by breakdown and tag. None where
    not even the total may be told. Large parts come first: a small one gives way, and those that would tell it.
    """
    if len(set(whole)) < LEAST or not before.may_tell(whole):
        return None
    after, chosen = before.cut(whole), set()
    for name in sorted(parts, key=lambda each: (-len(set(parts[each])), each)):
        if after.may_tell(parts[name]):
            after = after.cut(parts[name])
            chosen.add(name)
    return frozenset(chosen), after
