"""Which place of published cards is meant, and opening it: a database and a folder are used alike."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from corpora.files.json_types import Json
from corpora.text.visible import plain
from harness.card.reading import parse_object, read_card_bytes
from harness.core.failures import UsageError
from harness.core.storage import PUBLISHED, write_file
from harness.publish.cards import OutgoingCard, columns, published_hash
from harness.publish.place import DatabasePlace, Place, place_of
from harness.settings import read_settings, settings_path
from harness.store.sqlite.database import home

# ---- Cards in a folder, for a pull request: one file per card under its hash, and an index that
# is made of the files.

INDEX: Final = "index.jsonl"
"""One line for each card, in the order of the hashes, so that what two people add seldom meets."""

_CARD: Final = re.compile(r"[0-9a-f]{64}\.json")


class PublishedFolder:
    """A folder of published cards, which need not be there yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def known(self, hashes: Collection[str]) -> set[str]:
        """Return which of these cards are there."""
        return {path.stem for path in self._files()} & set(hashes)

    def add(self, cards: Sequence[OutgoingCard]) -> int:
        """Add cards and return how many were new; nothing else in the folder is changed, and twice changes nothing.

        Raises UsageError if the folder cannot be written, or the content of a file does not match its name; nothing is written then.
        """
        permissions = self._may_publish()
        there = {}
        for path in self._files():
            data, name = read_card_bytes(path), path.stem
            if published_hash(data, parse_object(data, path.name)) != name:
                raise UsageError(
                    f"{path.name} was changed after it was published: its card is not the one that its name says. Take it back from the "
                    "repository, or delete it."
                )
            there[name] = _line(name, data, permissions.get(name))
        new = {card.hash: card for card in cards if card.hash not in there}
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            words = f"The folder {self._folder} cannot be made: {error.strerror}."
            raise UsageError(words) from error
        for name, outgoing_card in new.items():
            write_file(self._folder / f"{name}.json", outgoing_card.data, overwrite=False, mode=PUBLISHED)
            there[name] = _line(name, outgoing_card.data, outgoing_card.may_publish)
        lines = [json.dumps(there[name], ensure_ascii=False) for name in sorted(there)]
        data, path = "".join(f"{line}\n" for line in lines).encode(), self._folder / INDEX
        if not path.exists() or read_card_bytes(path) != data:
            write_file(path, data, overwrite=True, mode=PUBLISHED)
        return len(new)

    def cards(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the bytes of each card, as they are; UsageError where there is no such folder."""
        if not self._folder.is_dir():
            raise UsageError(f"There is no folder {self._folder}.")
        for path in self._files():
            yield path.stem, read_card_bytes(path)

    def changed(self) -> list[str]:
        """Return the hashes of cards that the index has otherwise: none, for nothing is read from it."""
        return []

    def _files(self) -> list[Path]:
        try:
            paths = self._folder.iterdir() if self._folder.exists() else ()
            return sorted(path for path in paths if _CARD.fullmatch(path.name))
        except OSError as error:
            words = f"The folder {self._folder} cannot be read: {error.strerror}."
            raise UsageError(words) from error

    def _may_publish(self) -> Mapping[str, str]:
        """Return on whose word texts of cards are there, as the index has it; a damaged line tells nothing."""
        permissions: dict[str, str] = {}
        path = self._folder / INDEX
        lines = read_card_bytes(path).splitlines() if path.exists() else []
        for line in lines:
            try:
                line_fields = parse_object(line, INDEX)
                permissions[str(line_fields["card_hash"])] = str(line_fields["may_publish"])
            except (UsageError, KeyError, TypeError):
                continue
        return permissions


def _line(name: str, data: bytes, may_publish: str | None) -> dict[str, Json]:
    card = parse_object(data, f"{name}.json")
    stated = {column: value for column, value in columns(card).items() if value is not None}
    return {"card_hash": name, **stated, **({} if may_publish is None else {"may_publish": may_publish})}


VARIABLE: Final = "ROSETTA_PUBLISH"
"""Environment variable that may name the place, with a password too."""


def named_place(target: str | None) -> Place:
    """Return the place that the command line, the environment or the settings name; UsageError where none does.

    A password on the command line is refused: every user of the computer sees the calls of all programs.
    """
    text = target or os.environ.get(VARIABLE) or read_settings(home()).publish
    if not text:
        raise UsageError(
            f'Say where to with --to: postgresql://USER@HOST/NAME, or a folder. For good, write publish = "…" into {settings_path(home())}.'
        )
    place = place_of(text)
    if target and isinstance(place, DatabasePlace) and place.password is not None:
        ring = "" if place.is_here else f"in the keyring (rosetta key set {plain(place.host)}), "
        raise UsageError(
            "A password on the command line is seen by everybody on this computer, and stays in the shell's history. Leave it out, and keep it "
            f"{ring}in PGPASSWORD or in pgpass."
        )
    return place


class OpenPlace(Protocol):
    """A place that is open: a database or a folder."""

    def known(self, hashes: Collection[str]) -> set[str]:
        """Return which of these cards are there."""
        ...

    def add(self, cards: Sequence[OutgoingCard]) -> int:
        """Add cards and return how many were new."""
        ...

    def cards(self) -> Iterator[tuple[str, bytes]]:
        """Yield the hash and the bytes of each card."""
        ...

    def changed(self) -> list[str]:
        """Return the hashes of cards of which something beside their bytes was changed."""
        ...


@contextmanager
def opened_place(where: Place, *, to_write: bool) -> Iterator[OpenPlace]:
    """Open a place until the block ends; a database is brought up to date first where cards are to be put there.

    Raises UsageError for a database where its library is not installed; a folder needs none.
    """
    if isinstance(where, DatabasePlace):
        from harness.publish import database

        with database.opened_database(where) as published:
            if to_write:
                published.prepare(to_add=True)
            yield published
    else:
        yield PublishedFolder(where)
