"""The proof that one row is on a signed card: the row, its salt, and the hashes between it and the root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from harness.card.reading import parse_object
from harness.card.signing.card_seal import SealFile, SignedSeal, row_hash, row_hashes, row_salt
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from harness.sealed.merkle import inclusion_path, root_by_path
from harness.sealed.strict_records import Count, FileError, FileProblem, Hex64, StrictRecord

FORMAT: Final = "rosetta-row-proof/1"


class RowProof(StrictRecord):
    """The file that shows one row; of the others it has hashes from which no guess is confirmed."""

    format: Literal["rosetta-row-proof/1"] = "rosetta-row-proof/1"
    seal: SignedSeal
    place: Count
    """Of the row on the card, from 0."""
    row: dict[str, Any]
    """As it is in the card's ``results``."""
    salt: Hex64
    path: Annotated[tuple[Hex64, ...], Field(max_length=64)]
    """Hashes beside the way from the row to the root, the lowest first."""

    def data(self) -> bytes:
        """Return the bytes of the file."""
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"

    @property
    def holds(self) -> bool:
        """Return whether the seal's signature fits and the row leads to its root."""
        led = root_by_path(
            row_hash(self.row, bytes.fromhex(self.salt)),
            self.place,
            self.seal.rows,
            [bytes.fromhex(step) for step in self.path],
        )
        signed = self.seal.is_signed_by(self.seal.by)
        return signed and led is not None and led.hex() == self.seal.root


def prove_row(sealed: SealFile, rows: Sequence[Mapping[str, Any]], entry: str) -> RowProof:
    """Make the proof of the row of one entry, by its id.

    Raises UsageError where no row has this id, or several have, and where the salts are not there.
    """
    if sealed.salts is None:
        raise UsageError(
            "The salts of these rows stayed with anyone who sealed the card. Ask them for the proof."
        )
    places = [place for place, row in enumerate(rows) if str(row.get("entry_id")) == entry]
    if len(places) != 1:
        matches = "Several rows have" if places else "No row has"
        raise UsageError(
            f"{matches} the id {entry!r}. `rosetta runs export RUN -o rows.jsonl --form jsonl` lists them."
        )
    salts, place = bytes.fromhex(sealed.salts), places[0]
    path = inclusion_path(row_hashes(rows, salts), place)
    return RowProof(
        seal=sealed.seal,
        place=place,
        row=dict(rows[place]),
        salt=row_salt(salts, place).hex(),
        path=tuple(digest.hex() for digest in path),
    )


def is_proof(data: bytes) -> bool:
    """Return whether a file calls itself the proof of a row; its form has the name in its canonical beginning."""
    return data.startswith(b'{"format":"rosetta-row-proof/')


def read_proof(data: bytes, name: str) -> RowProof:
    """Read the file of a proof and check it; ``name`` stands for it in messages. Raises FileError in words."""
    raw = parse_object(data, name)
    if raw.get("format") != FORMAT:
        raise FileError(
            FileProblem.NOT_OURS,
            f"{name} is no proof of a row, or one of a newer version of Rosetta.",
        )
    try:
        proof = RowProof.model_validate_json(data, strict=True)
    except ValidationError as error:
        raise FileError(FileProblem.INVALID, f"{name}: {first_problem(error)}") from None
    if proof.data() != data or not proof.holds:
        raise FileError(
            FileProblem.DAMAGED,
            f"{name} proves nothing: its row is not one of those that were sealed, or the file was changed. Ask for it "
            "once more.",
        )
    return proof
