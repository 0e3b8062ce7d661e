"""The signed head of what an organiser hands to the governance organisation."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from review.files.ratings_form import Recipient
from review.forms import StrictForm
from review.log.payloads import Hex64, Short

EXPORT_FORMAT: Final = "rosetta-export/1"
EXPORT_SUFFIX: Final = ".rosetta-export"


class ExportManifest(StrictForm):
    """What the file holds, and for whom it was sealed."""

    format: Literal["rosetta-export/1"] = EXPORT_FORMAT
    review: Short
    created: Short
    """UTC, ISO 8601."""
    runs: tuple[Short, ...]
    """Ids of the reviewed runs."""
    signing_key: Hex64
    """Of the organisation, Ed25519."""
    recipients: Annotated[tuple[Recipient, ...], Field(min_length=2, max_length=20)]
    members: dict[Short, Hex64]
    """Name of every other member of the file → SHA-256 of its bytes."""

    @property
    def signer(self) -> str:
        """The key under which the file is signed."""
        return self.signing_key
