"""What a bundle says of itself, signed: who hands in which method, with what it is run, and what was promised."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from harness.sealed.signed_archive import SignedManifest
from harness.sealed.strict_records import Hex64, Short, StrictRecord

FORMAT: Final = "rosetta-submission/1"

Words = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
"""UTC, to the second."""
Entry = Annotated[
    str, Field(max_length=200, pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$")
]
"""``module:name`` of a function or class in ``code/``."""
Options = dict[Short, JsonValue]


class CodeLane(StrictRecord):
    """A method as code, which runs in the box."""

    lane: Literal["code"] = "code"
    entry: Entry
    options: Options = Field(default_factory=dict)
    """What the entry point is told."""


class DataLane(StrictRecord):
    """A method as data, which the organisation's own program runs."""

    lane: Literal["data"] = "data"
    method: Literal["copy-source", "constant", "glossary", "chat", "pipeline", "ctranslate2"]
    options: Options = Field(default_factory=dict)
    """Options of that method by name; never an endpoint, a key or a path."""
    files: dict[Short, Short] = Field(default_factory=dict)
    """Option that names a file → its member, below ``data/``; of ``model_folder`` the folder."""
    made_for: Short = ""
    """Of a method that asks a model: the model that it was made with, for anyone who chooses one here."""


Lane = Annotated[CodeLane | DataLane, Field(discriminator="lane")]


class CostReport(StrictRecord):
    """What the method takes (benchmark-specification §9.1, 4)."""

    usd_per_entry: Annotated[float, Field(ge=0)]
    """Outside money for an entry: 0 where nobody is paid."""
    seconds_per_entry: Annotated[float, Field(ge=0)] | None = None
    hardware: Annotated[str, Field(min_length=3, max_length=500)]
    """On what it was measured."""
    notes: Words = ""


class DevelopmentUse(StrictRecord):
    """What was done with the open texts of a corpus (benchmark-specification §9.2, 2)."""

    corpus: Name
    use: Literal["none", "prompting", "tuning", "training"]
    """``prompting``: as examples or coaching; ``tuning``: to choose settings by; ``training``: learned from."""
    notes: Words = ""


class AcceptedTerms(StrictRecord):
    """The terms of participation that the submitter agreed to, known by their bytes."""

    sha256: Hex64
    by: Name
    when: Moment


class SubmissionManifest(SignedManifest):
    """The signed head of a bundle."""

    format: Literal["rosetta-submission/1"] = FORMAT
    name: Name
    release: Short
    """Which version of the method it is, as its maker counts."""
    submitter: Name
    licence: Name
    """Of code and data, as SPDX names it."""
    source_language: Name
    target_language: Name
    """BCP 47 tags."""
    method: Lane
    costs: CostReport
    development: Annotated[tuple[DevelopmentUse, ...], Field(min_length=1, max_length=50)]
    terms: AcceptedTerms | None = None
    """None: not accepted yet; no keeper is asked for such a bundle."""
    rosetta: Short
    """Version of the program that packed it."""
    packed: Moment
    by: Hex64
    """Key under which it is signed."""

    @property
    def signer(self) -> str:
        return self.by
