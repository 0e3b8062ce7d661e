"""Cards in a folder, for a pull request: one file per card under its hash, and an index that is made of the files."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.card.reading import parse_object, read_card_bytes
from harness.core.failures import UsageError
from harness.core.written_files import PUBLISHED, write_file
from harness.publish.outgoing import OutgoingCard, columns, published_hash

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
        there = {name: _line(name, data, permissions.get(name)) for name, data in self._sound()}
        new = {card.hash: card for card in cards if card.hash not in there}
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"The folder {self._folder} cannot be made: {error.strerror}."
            ) from error
        for name, outgoing_card in new.items():
            write_file(
                self._folder / f"{name}.json", outgoing_card.data, overwrite=False, mode=PUBLISHED
            )
            there[name] = _line(name, outgoing_card.data, outgoing_card.may_publish)
        lines = [json.dumps(there[name], ensure_ascii=False) for name in sorted(there)]
        self._write_index("".join(f"{line}\n" for line in lines).encode())
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

    def _sound(self) -> Iterator[tuple[str, bytes]]:
        for path in self._files():
            data = read_card_bytes(path)
            if published_hash(data, parse_object(data, path.name)) != path.stem:
                raise UsageError(
                    f"{path.name} was changed after it was published: its card is not the one that its name says. Take it back from the "
                    "repository, or delete it."
                )
            yield path.stem, data

    def _files(self) -> list[Path]:
        try:
            return sorted(
                path
                for path in (self._folder.iterdir() if self._folder.exists() else ())
                if _CARD.fullmatch(path.name)
            )
        except OSError as error:
            raise UsageError(
                f"The folder {self._folder} cannot be read: {error.strerror}."
            ) from error

    def _may_publish(self) -> Mapping[str, str]:
        """Return on whose word texts of cards are there, as the index has it; a damaged line tells nothing."""
        permissions: dict[str, str] = {}
        path = self._folder / INDEX
        lines = read_card_bytes(path).splitlines() if path.exists() else []
        for line in lines:
            try:
                line_fields = parse_object(line, INDEX)
                permissions[line_fields["card_hash"]] = str(line_fields["may_publish"])
            except (UsageError, KeyError, TypeError):
                continue
        return permissions

    def _write_index(self, data: bytes) -> None:
        path = self._folder / INDEX
        if not path.exists() or read_card_bytes(path) != data:
            write_file(path, data, overwrite=True, mode=PUBLISHED)


def _line(name: str, data: bytes, may_publish: str | None) -> dict[str, Any]:
    card = parse_object(data, f"{name}.json")
    stated = {column: value for column, value in columns(card).items() if value is not None}
    return {"card_hash": name, **stated} | (
        {} if may_publish is None else {"may_publish": may_publish}
    )
