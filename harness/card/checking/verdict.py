"""What came out of verifying a card: checks that held, failed or could not be made, and values that differ."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.card.checking.stated import CardDifference, differences


@dataclass(frozen=True, slots=True)
class CardCheck:
    """One thing that was examined."""

    name: str
    ok: bool | None
    """None: it could not be checked."""
    words: str


@dataclass(slots=True)
class CardVerdict:
    """What came out of verifying a card."""

    checks: list[CardCheck] = field(default_factory=list)
    differences: list[CardDifference] = field(default_factory=list)
    """Every value that is not what it should be: fingerprint, rows, measures, scores, in this order."""

    @property
    def ok(self) -> bool:
        """True where nothing that could be checked was wrong."""
        return all(check.ok is not False for check in self.checks)

    @property
    def first_difference(self) -> CardDifference | None:
        """The first value that is wrong; None where only the seal is, or nothing."""
        return self.differences[0] if self.differences else None

    def compare(self, name: str, found: object, expected: object, *, rounded: bool) -> None:
        """Record how a part of the card compares with what was computed again."""
        self.judge(name, list(differences(found, expected, rounded=rounded)))

    def judge(self, name: str, wrong: list[CardDifference]) -> None:
        """Record what is wrong in a part of the card, if anything."""
        self.differences += wrong
        words = "as computed again" if not wrong else f"{len(wrong):,} wrong, first: {wrong[0]}"
        self.checks.append(CardCheck(name, not wrong, words))

    def skip(self, name: str, words: str) -> None:
        """Record what could not be checked, and why."""
        self.checks.append(CardCheck(name, None, words))
