"""Official lists: released cards, which are all that leaves of runs over secret entries, in the order of their scores.

Cards share a list where one key signed them about the same version of a corpus, with as many entries. They are ranked by
their composite (scoring specification §6.3), as it was released, or by the first metric where one has none. Which of them
cannot be told apart is in letters, as nobody outside can test them again: two runs share one where they differ by less
than the smallest difference that their entries show.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from string import ascii_lowercase
from typing import Final

from pydantic import ValidationError

from harness.card.checking.signed import UNKNOWN, KnownSigners
from harness.card.checking.verdict import CardCheck, CardVerdict
from harness.card.checking.verify_card import consent_checks
from harness.consent.checks import Verified
from harness.consent.withdrawals_in_force import CorpusFacts
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import private_folder, write_file
from harness.release import FOLDER
from harness.release.budget import History
from harness.release.ledger import LEDGER, checked_lines, history
from harness.release.ledger_records import ReleasedCard, ReleasedDifference, ReleasedRefusal, ScoresTold
from harness.sealed.keys import key_phrase, says_key
from harness.sealed.phrase import read_words
from harness.store.withdrawn import entry_ids_of_run, known_run
from scoring.core.inventory import cost_adjusted, direction
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
    def disagreeing(self) -> tuple[int, int]:
        """How many pairs of runs the first metric has in the other order than what ranks the list, and of how many."""
        sign = 1 if direction(self.card.headline) == "higher" else -1
        pairs = [(one, two) for one, two in combinations(self.rows, 2) if one.rank != two.rank]
        values = [[sign * (row.value(self.card.headline) or 0.0) for row in pair] for pair in pairs]
        return sum(first < second for first, second in values), len(values)

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
            key = (card.by, corpus.id, corpus.version, corpus.language_pair, corpus.entries, card.headline)
            groups.setdefault(key, []).append(card)
    made = [official_list for group in groups.values() if (official_list := _list(group)) is not None]
    return sorted(made, key=lambda list_: (-len(list_.rows), list_.card.corpus.id))


def _list(cards: Sequence[ReleasedCard]) -> OfficialList | None:
    own: dict[str, ReleasedCard] = {}
    for card in cards:  # of one run that was told to several the card that tells most
        if card.scores_of == card.run and len(card.scores) > (len(own[card.run].scores) if card.run in own else 0):
            own[card.run] = card
    headline = cards[0].headline
    by = COMPOSITE if all(COMPOSITE in card.scores for card in own.values()) else headline
    sign = 1 if direction(by) == "higher" else -1
    ordered = sorted(own.values(), key=lambda card: (-sign * card.scores[by].value, card.issued, card.run))
    if not ordered:
        return None
    differences = [card.smallest_difference for card in ordered]
    smallest = None if None in differences else max(filter(None, differences), default=None)
    letters = group_letters([card.scores[headline].value for card in ordered], smallest)
    values = [card.scores[by].value for card in ordered]
    rows = (OfficialRow(card, values.index(value) + 1, own_letters) for card, value, own_letters in zip(ordered, values, letters, strict=True))  # fmt: skip
    return OfficialList(tuple(rows), by, smallest, sum(card.scores_of != card.run for card in cards))


def group_letters(values: Sequence[float], smallest: float | None) -> list[str]:
    """Return for each value the letters of its groups: any two of one group lie closer than ``smallest``.

    A value may be in several, so that no chain of neighbours joins two that lie far apart.
    """
    if smallest is None:
        return [""] * len(values)
    # 50, 48, 45 and 44 with a smallest difference of 4: from 50 down to above 46 are 50 and 48 (a), from 48 down to
    # above 44 are 48 and 45 (b), from 45 on 45 and 44 (c). So 48 is "ab" and 45 "bc": 50 and 45 share no letter.
    ordered = sorted(range(len(values)), key=lambda place: -values[place])
    letters = [""] * len(values)
    last, letter = -1, 0
    for start, first in enumerate(ordered):
        end = max(at for at in range(start, len(ordered)) if values[first] - values[ordered[at]] < smallest)
        if end > last:
            for place in ordered[start : end + 1]:
                letters[place] += _letter(letter)
            last, letter = end, letter + 1
    return letters


def _letter(number: int) -> str:
    """Return the letter of a group: a to z, then aa and on."""
    more, own = divmod(number, len(ascii_lowercase))
    return (_letter(more - 1) if more else "") + ascii_lowercase[own]


# ---- Released files that are here: whether they are as they were signed, and which cards may be
# ranked.
#
# Their numbers can be computed again by nobody outside. Cards are those that this computer
# released, and those that were imported.

ReleasedFile = ReleasedCard | ReleasedDifference | ReleasedRefusal
_FORMS: Final[dict[str, type[ReleasedFile]]] = {
    "rosetta-released-card": ReleasedCard,
    "rosetta-released-difference": ReleasedDifference,
    "rosetta-released-refusal": ReleasedRefusal,
}


def check_consent(verdict: CardVerdict, data: bytes, connection: sqlite3.Connection) -> None:
    """Add to the checks of a released file, which ``verify_released`` found right, what notices that are believed here say of it."""
    if (form := _form_of(data)) is not None:
        verdict.checks += _consent(form.model_validate_json(data, strict=True), connection)


def withdrawn_of(past: History, connection: sqlite3.Connection) -> frozenset[str]:
    """Return the runs whose scores were released and may not be claimed now, by notices that are in force here."""
    checks = {act.run: _consent(act.card, connection) for act in past.told(ScoresTold)}
    return frozenset(run for run in checks if any(check.ok is False for check in checks[run]))


def _consent(file: ReleasedFile, connection: sqlite3.Connection) -> list[CardCheck]:
    """Return what notices that are believed here say of a released file.

    It names neither entries nor all of a method: the store adds these where it has the runs.
    """
    names = [file.first, file.second] if isinstance(file, ReleasedDifference) else [file.run]
    facts = CorpusFacts("", file.corpus.id, language_pair=file.corpus.language_pair)
    checks: dict[CardCheck, None] = {}
    for name in filter(None, names):
        about = Verified(facts, names_all=False, keys=frozenset({file.by}))
        if (stored := known_run(connection, name)) is not None:
            ids = entry_ids_of_run(connection, name)
            known = frozenset(map(str, ids or ()))
            about = about._replace(facts=stored[0], setup=stored[1], ids=known, names_all=ids is not None)
        checks |= dict.fromkeys(consent_checks(about))
    return list(checks)


def _form_of(data: bytes) -> type[ReleasedFile] | None:
    """Return which released file it says to be; None for another file."""
    with suppress(ValueError, AttributeError, RecursionError):
        return _FORMS.get(str(json.loads(data).get("format", "")).rpartition("/")[0])
    return None


def verify_released(data: bytes, known: KnownSigners) -> CardVerdict | None:
    """Check a released file against its signature and, where six words are known, its key; None for another file."""
    verdict = CardVerdict()
    if (form := _form_of(data)) is None:
        return None
    try:
        file = form.model_validate_json(data, strict=True)
    except ValidationError:
        words = "it is not of the form that it states, or of a newer version of Rosetta"
        verdict.checks.append(CardCheck("form", ok=False, words=words))
        return verdict
    whole = canonical_bytes(file.model_dump(mode="json")) == data.rstrip(b"\n")
    signed = whole and file.is_signed_by(file.by)
    words = f"Ed25519, by the key whose six words are: {key_phrase(file.by)}"
    verdict.checks.append(CardCheck("signature", ok=signed, words=words if signed else "it was changed after it was signed"))  # fmt: skip
    if known.words:
        mine = says_key(read_words(known.words), file.by)
        words = f"the six words are those of {'this' if mine else 'another'} key"
        verdict.checks.append(CardCheck("key", ok=mine, words=words))
    elif file.by in known.keys:
        verdict.checks.append(CardCheck("key", ok=True, words=known.keys[file.by]))
    else:
        verdict.skip("key", "whose it is, their six words by telephone show (--words)")
    verdict.skip("numbers", "they are over secret entries: only who signed can compute them again")
    return verdict


TAKEN: Final = "taken"  # Folder of imported cards, in that of the ledger


def take(home: Path, data: bytes, name: str, connection: sqlite3.Connection) -> ReleasedCard:
    """Store a released card that came from elsewhere and return it; UsageError where it is none, was changed, or consent to it was withdrawn."""
    card, _ = checked_card(data, name, connection)
    folder = private_folder(private_folder(home / FOLDER) / TAKEN)
    write_file(folder / f"{sha256(data).hexdigest()}.json", data, overwrite=True)
    return card


def checked_card(data: bytes, name: str, connection: sqlite3.Connection) -> tuple[ReleasedCard, CardVerdict]:
    """Return a released card by its bytes, and what was checked; UsageError says why it is not believed.

    Refused too where consent to what it is about was withdrawn, as far as notices that are believed here say.
    """
    verdict = verify_released(data, UNKNOWN)
    if verdict is None:
        raise UsageError(f"{name} is no released card. `rosetta runs export RUN --submitter NAME` writes one.")
    if verdict.ok:
        check_consent(verdict, data, connection)
    if wrong := [check.words for check in verdict.checks if check.ok is False]:
        raise UsageError(f"{name} is not believed: {'; '.join(wrong)}.")
    try:
        return ReleasedCard.model_validate_json(data, strict=True), verdict
    except ValueError:
        raise UsageError(f"{name} is a released difference or refusal: it has no scores. `rosetta runs verify` checks it.") from None  # fmt: skip


def cards_here(home: Path, connection: sqlite3.Connection) -> list[ReleasedCard]:
    """Return the released cards of this computer that hold, each run's once: what its ledger has, and what was imported."""
    cards: list[ReleasedCard] = []
    if (path := home / FOLDER / LEDGER).is_file():
        past = history(checked_lines(path.read_bytes(), str(path)))
        gone = withdrawn_of(past, connection)
        cards += [act.card for act in past.told(ScoresTold) if act.run not in gone]
    for path in sorted((home / FOLDER / TAKEN).glob("*.json")):
        try:
            cards.append(checked_card(path.read_bytes(), path.name, connection)[0])
        except UsageError:
            continue  # consent was withdrawn since, or the file was changed: it has no place in a list
    unique = {(card.by, card.run, card.submitter): card for card in cards}
    return list(unique.values())
