"""The form of everything that is written down or travels: the fields that are named and no others, unchangeable.

A file names its form and version in the field ``format``. A later version only adds fields: each is marked
``Since(n)``, so that a file of an earlier version is read, checked and written again as it was. What can be wrong
with a file that travelled has a name each, by which faces say it in their own language.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic import model_validator as validator

from harness.core.failures import UsageError

Hex64 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256, or a public signing key."""
Id = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
"""A random id."""
Short = Annotated[str, Field(max_length=200)]
Recipient = Annotated[str, Field(max_length=200)]
"""Of age, ``age1…``."""
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class FileProblem(StrEnum):
    """Why a file is not taken."""

    NOT_OURS = "not_ours"
    """Another program's file, or another kind of ours."""
    CUT_SHORT = "cut_short"
    DAMAGED = "damaged"
    """Its bytes, or its signature, are not those that were written."""
    REPACKED = "repacked"
    """Another program unpacked it and packed it again."""
    TOO_LARGE = "too_large"
    NEWER = "newer"
    """A newer version of this program wrote it."""
    LOCKED = "locked"
    """It needs a passphrase or key that was not given."""
    WRONG_KEY = "wrong_key"
    """The passphrase or key that was given does not open it."""
    INVALID = "invalid"
    """Whole and signed, but its content contradicts itself or its form."""


class FileError(UsageError):
    """A file that travels cannot be made or taken; the message says why and what to do."""

    def __init__(self, problem: FileProblem, message: str) -> None:
        self.problem = problem
        super().__init__(message)


@contextmanager
def about_file(path: Path) -> Iterator[None]:
    """Name the file in what its readers raise in the block, where they do not; they know its bytes alone."""
    try:
        yield
    except FileError as error:
        if path.name in str(error):
            raise
        raise FileError(error.problem, f"{path}: {error}") from None


@dataclass(frozen=True, slots=True)
class Since:
    """Mark of a field that records of earlier versions do not have: ``Annotated[..., Since(2)]``."""

    version: int


class StrictRecord(BaseModel):
    """A record; an unknown field is refused, because it could say what nobody reads."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class VersionedRecord(StrictRecord):
    """A record of which there are several versions: what its version does not have is neither read nor written.

    A record without a field ``format`` is part of another one, and has a later field where that was set.
    """

    @property
    def version(self) -> int | None:
        """The number behind the slash of ``format``; None for a part of another record."""
        stated = getattr(self, "format", None)
        return None if stated is None else int(stated.rpartition("/")[2])

    @validator(mode="after")
    def _has_no_later_field(self) -> Self:
        for name in self._absent() & self.model_fields_set:
            field = type(self).model_fields[name]
            if getattr(self, name) != field.get_default(call_default_factory=True):
                raise ValueError(f"field {name!r} is of a later version than the record states")
        return self

    @model_serializer(mode="wrap")
    def _as_of_its_version(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        absent = self._absent()
        written: dict[str, Any] = write(self)
        return {name: value for name, value in written.items() if name not in absent}

    def _absent(self) -> set[str]:
        """Return the later fields that this record does not have."""
        since = {
            name: mark.version
            for name, field in type(self).model_fields.items()
            for mark in field.metadata
            if isinstance(mark, Since)
        }
        if self.version is None:
            return since.keys() - self.model_fields_set
        return {name for name, version in since.items() if version > self.version}


def formats(form: type[BaseModel]) -> tuple[str, ...]:
    """Return what ``format`` may say in records of a form, all versions that are read."""
    return tuple(get_args(form.model_fields["format"].annotation))
