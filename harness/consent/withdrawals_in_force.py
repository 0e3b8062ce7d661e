"""What holds now of all that was withdrawn: asked before a corpus or run is opened, listed, exported or claimed.

A data folder in which nothing was ever withdrawn costs one look at the disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from corpora.files.json_types import JsonObject
from harness.core.failures import UsageError
from harness.core.storage import write_file

if TYPE_CHECKING:
    from harness.consent.notice import EntriesWithdrawal, SignedNotice
    from harness.consent.register import Held


class Withdrawn(UsageError):  # noqa: N818  said of what was asked for
    """What was asked for was taken back; the message names the notice and the fix."""

    def __init__(self, what: str, notice: SignedNotice) -> None:
        self.notice = notice
        super().__init__(
            f"{what}: consent was withdrawn for {notice.said}. It is neither opened, listed, exported nor claimed here. "
            f"`rosetta community notices` has who said so, and why it is believed. If it was given again: rosetta community lift "
            f"{notice.number[:12]}"
        )


class CorpusFacts(NamedTuple):
    """By what a corpus is known."""

    sha256: str
    id: str
    source_language: str | None = None
    target_language: str | None = None
    language_pair: str = ""
    """The label, where nothing else tells the languages."""


class Withdrawals(NamedTuple):
    """The notices that are believed here."""

    held: tuple[Held, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.held)

    @property
    def in_force(self) -> Iterator[SignedNotice]:
        """Yield those that nobody lifted."""
        return (held.notice for held in self.held if held.lifted is None)

    def of_corpus(self, facts: CorpusFacts) -> SignedNotice | None:
        """Return the notice by which a whole corpus was taken back; None where it was not."""
        return self._first("corpus", lambda about: about.is_corpus(*facts))

    def _first(self, what: str, fits: Callable[[Any], bool]) -> SignedNotice | None:
        """Return the first notice about such a thing that fits."""
        of_kind = (notice for notice in self.in_force if notice.about.what == what)
        return next((notice for notice in of_kind if fits(notice.about)), None)

    def of_entries(self, facts: CorpusFacts) -> list[tuple[SignedNotice, EntriesWithdrawal]]:
        """Return the notices by which entries of a corpus were taken back, each with what it is about."""
        return [
            (notice, notice.about)
            for notice in self.in_force
            if notice.about.what == "entries" and notice.about.is_corpus(*facts)
        ]

    def of_method(self, setup: JsonObject) -> SignedNotice | None:
        """Return the notice by which the method with this set-up was taken back; None where it was not."""
        stated = {name: str(value) for name, value in setup.items()}
        return self._first("method", lambda about: about.fields.items() <= stated.items())

    def of_key(self, signing_key: str) -> SignedNotice | None:
        """Return the notice by which a key was revoked; None where it was not."""
        return self._first("key", lambda about: about.signing_key == signing_key)

    def of_keeper(self, vault: str, signing_key: str) -> SignedNotice | None:
        """Return the notice by which somebody is no keeper of a vault any more; None where there is none."""
        place = vault, signing_key
        return self._first("keeper", lambda about: (about.vault, about.signing_key) == place)

    def of_run(self, facts: CorpusFacts, setup: JsonObject, ids: Iterable[object]) -> SignedNotice | None:
        """Return the notice by which a run cannot be used; ``ids`` of its entries are read only where some were withdrawn."""
        if signed_notice := self.of_corpus(facts) or self.of_method(setup):
            return signed_notice
        if entries := self.of_entries(facts):
            known = list(ids)
            return next((notice for notice, about in entries if any(map(about.has, known))), None)
        return None


NOTHING = Withdrawals()


def standing(folder: Path) -> Withdrawals:
    """Return what holds in a data folder; raises ConsentError where its register is damaged or shortened."""
    marks: list[tuple[int, ...] | None] = []
    for name in ("consent.jsonl", "consent-seen.json"):
        try:
            seen = (folder / name).stat()
            marks.append((seen.st_ino, seen.st_size, seen.st_mtime_ns))
        except (FileNotFoundError, NotADirectoryError):
            marks.append(None)
    return NOTHING if marks == [None, None] else _read(folder, *marks)


@lru_cache(maxsize=4)
def _read(folder: Path, *_marks: object) -> Withdrawals:
    from harness.consent.register import held, lines_of  # a list of runs starts without pydantic

    return Withdrawals(held(lines_of(folder)))


# ---- By what corpora are known that were opened out of a vault here: none is opened again to see
# that it was taken back.

FILE: Final = "vault-corpora.json"
"""In the data folder; it has hash, id and languages of each corpus, and no text."""


def remember_opened(folder: Path, opened_from: str, facts: CorpusFacts) -> None:
    """Store by what a corpus is known; ``opened_from``: as its envelope has it (``Dataset.opened_from``)."""
    place, known = opened_from.rpartition("/")[0], _kept(folder)
    if known.get(place) != [*facts]:
        data = json.dumps(known | {place: [*facts]}, ensure_ascii=False, sort_keys=True)
        write_file(folder / FILE, data.encode(), overwrite=True)


def opened_before(folder: Path, vault: str, corpus: str) -> CorpusFacts | None:
    """Return by what a corpus of a vault is known, by the numbers of both; None where it was not opened here."""
    facts = _kept(folder).get(f"{vault}/{corpus}")
    return None if facts is None else CorpusFacts(*facts)


def _kept(folder: Path) -> dict[str, list[str]]:
    """Read what is stored; what is damaged is stored again when a corpus is opened."""
    try:
        stored = json.loads((folder / FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return {
        place: facts
        for place, facts in (stored.items() if isinstance(stored, dict) else ())
        if isinstance(facts, list)
        and len(facts) == len(CorpusFacts._fields)
        and all(isinstance(item, str) for item in facts)
    }
