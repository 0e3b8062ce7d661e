"""Which entries are shown, and how they are sorted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rosetta_tui.show.text import plain

SORT_WORDS = {
    "position": "corpus order",
    "id": "id",
    "state": "state",
    "chrf": "chrF++",
    "exact": "exact match",
    "composite": "composite and tier",
    "tokens": "tokens",
    "cost": "cost",
    "latency": "seconds",
    "difficulty": "difficulty",
    "source": "source text",
    "output": "output text",
}
"""What the store can sort by, in words."""

FILTER_WORDS = {
    "all": "all entries",
    "done": "done",
    "failed": "failed",
    "waiting": "waiting",
    "not exact": "done, not an exact match",
    "exact": "exact matches",
}
"""What the store can narrow to, in words."""


@dataclass(frozen=True, slots=True)
class Order:
    """A wish for rows; the default is every entry in the order of the corpus."""

    sort: str = "position"
    descending: bool = False
    narrow: str = "all"
    search: str = ""

    def by(self, sort: str) -> Order:
        """Sort by something; by the same once more, the other way round."""
        return replace(self, sort=sort, descending=sort == self.sort and not self.descending)

    @property
    def everything(self) -> Order:
        """The same sorting without any narrowing."""
        return Order(self.sort, self.descending)

    @property
    def words(self) -> str:
        """Say how this differs from the default."""
        parts = []
        if self.narrow != "all":
            parts.append(f"only: {FILTER_WORDS[self.narrow]}")
        if self.search:
            parts.append(f"with “{plain(self.search)}”")
        if self.sort != "position" or self.descending:
            parts.append(f"by {SORT_WORDS[self.sort]} {'▼' if self.descending else '▲'}")
        return " · ".join(parts)
