"""The numbers by which a gate decides, as the governance organisation sets them in a TOML file.

They are data and not code, because they are a community's choice: the hash of the file is in every certificate.
"""

from __future__ import annotations

from decimal import Decimal
from importlib import resources
from math import ceil, log
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from corpora.files.toml_text import first_problem, parse_toml
from harness.core.failures import UsageError
from harness.core.storage import read_bytes

MOST_BYTES = 64 * 1024  # A policy is a page of text


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number such as 0.70, without quotes")  # noqa: TRY004  pydantic words it
    return value


def _whole(value: Any) -> Any:
    if type(value) is not int:
        raise ValueError("must be a whole number such as 1")
    return value


# Six places, as verdicts have
Share = Annotated[Decimal, BeforeValidator(_number), Field(ge=0, le=1, decimal_places=6)]
Inside = Annotated[Decimal, BeforeValidator(_number), Field(gt=0, lt=1, decimal_places=6)]
Confidence = Annotated[Decimal, BeforeValidator(_number), Field(ge=0.5, le=0.9999, decimal_places=6)]
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
Words = Annotated[str, Field(strict=True, max_length=200)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Level(_Part):
    """What must be shown, and how surely."""

    share: Inside  # Share of acceptable or better that the method must reach (theta0)
    confidence: Confidence  # Of each one-sided bound at the first look
    later_confidence: Confidence  # Of each one-sided bound at every later look

    @model_validator(mode="after")
    def _no_easier_later(self) -> Self:
        if self.later_confidence < self.confidence:
            raise ValueError("later_confidence must not be below confidence: looking again is luck twice")
        return self


class Enough(_Part):
    """Below what there is no verdict."""

    items: Count
    per_stratum: Count
    # Two at least: one person's leniency cannot be told from the method's quality
    reviewers: Annotated[int, Field(strict=True, ge=2, le=1000)]
    # From how many valid reviewers on a panel may be called the community's
    community_reviewers: Count
    # Of the items that everybody was asked, what a reviewer must have rated to be valid
    core_share: Share

    @model_validator(mode="after")
    def _community_is_more(self) -> Self:
        if self.community_reviewers < self.reviewers:
            raise ValueError("community_reviewers must not be below reviewers")
        return self


class Stops(_Part):
    """How far below the level one stratum or one reviewer may lie."""

    weak_stratum_margin: Share
    reviewer_margin: Share


class Veto(_Part):
    reviewers: Count
    most: Share  # Largest upper bound of the share of such items
    confidence: Confidence


class Guidelines(_Part):
    alpha: Share
    within_one: Share


class CarelessRule(_Part):
    """When to advise looking at a reviewer's ratings together."""

    signs: Annotated[int, Field(strict=True, ge=1, le=4)]
    not_worse_p: Share
    bad_accepted: Share
    repeats_within_one: Share
    longest_run: Count
    fewest_controls: Count
    quick_share: Share
    control_failed: Share
    control_reviewers: Count
    spoilt_failed: Share


class GatePolicy(_Part):
    """The rule of a gate; every field is explained in ``policy.toml``, the proposal that is shipped."""

    format: Annotated[Literal[1], BeforeValidator(_whole)]
    status: Words  # Who set the numbers; the shipped ones say that they are proposed
    organisation: Words  # The governance organisation; empty while the numbers are only proposed
    # Whether secret sentences may be shown in a browser (`rosetta review create --page`)
    secret_pages: Annotated[bool, Field(strict=True)] = False
    level: Level
    enough: Enough
    stops: Stops
    veto: Veto
    guidelines: Guidelines
    careless: CarelessRule

    def confidence(self, look: int) -> Decimal:
        """Return the confidence of the bounds at the first, second, … look."""
        return self.level.confidence if look <= 1 else self.level.later_confidence


def proposed() -> tuple[GatePolicy, bytes]:
    """Return the policy that is shipped, a proposal, and its bytes."""
    name = "policy.toml"
    content = resources.files("review.verdict.gate").joinpath(name).read_bytes()
    return read_policy(content, name), content


def for_panel(reviewers: int, items: int) -> tuple[GatePolicy, bytes]:
    """Derive the rule for a panel of this size from the proposal; it is the proposal itself where the panel is large enough.

    Only what such a panel cannot reach, however good the method is, is lowered: the numbers of people, of sentences and
    of sentences of a difficulty. The level, its confidence and the size of a community's panel stay. A small panel cannot
    show that rejections are rare: where all of 20 sentences are accepted, the upper bound of the share rejected is
    1 − 0.05^(1/20) = 0.139 at a confidence of 0.95, so ``veto.most`` is 0.15.
    """
    policy, content = proposed()
    enough, level, veto = policy.enough, policy.level, policy.veto
    # where all are accepted, the lower bound of the share is (1 − confidence)^(1/items)
    least = ceil(log(1 - float(level.confidence)) / log(float(level.share)))
    size = max(least, min(items, enough.items))
    people = max(2, min(reviewers, enough.reviewers))
    if (people, size) == (enough.reviewers, enough.items):
        return policy, content
    unseen = ceil(20 * (1 - (1 - float(veto.confidence)) ** (1 / size))) / 20
    changes = (
        (f'status = "{policy.status}"', f'status = "derived for {reviewers} people and {items} sentences; to be set by the governance organisation"'),
        (f"items = {enough.items}", f"items = {size}"),
        (f"per_stratum = {enough.per_stratum}", "per_stratum = 1"),
        (f"reviewers = {enough.reviewers}", f"reviewers = {people}"),
        (f"most = {veto.most}", f"most = {max(float(veto.most), unseen):.2f}"),
    )  # fmt: skip
    text = content.decode()
    for old, new in changes:
        text = text.replace(f"\n{old}\n", f"\n{new}\n", 1)
    derived = text.encode()
    return read_policy(derived, "policy.toml"), derived


def read_policy_file(path: Path | None) -> tuple[GatePolicy, bytes]:
    """Read a policy that a user named, the proposal where none is, and its bytes, which are hashed."""
    if path is None:
        return proposed()
    content = read_bytes(path, "the gate's policy", MOST_BYTES)
    return read_policy(content, str(path)), content


def read_policy(content: bytes, name: str) -> GatePolicy:
    """Read a policy from the bytes of a TOML file; UsageError names file, line or field, and the fix."""
    if len(content) > MOST_BYTES:
        limit = f"{MOST_BYTES // 1024} KiB"
        raise UsageError(f"{name}: larger than {limit}, so it is not a gate policy. Name the right file.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}: line {line}: not UTF-8. Save the file as UTF-8.") from None
    try:
        return GatePolicy.model_validate(parse_toml(text, parse_float=_decimal))
    except ValidationError as error:
        raise UsageError(f"{name}: {first_problem(error, text)}") from error
    except (ValueError, ArithmeticError) as error:  # also of numbers that no machine holds
        raise UsageError(f"{name}: not valid TOML: {error}. Correct that line.") from error


def _decimal(text: str) -> Decimal:
    """Read a number as it is written: 0.7 shall be seven tenths, and not the nearest binary fraction."""
    number = Decimal(text.replace("_", ""))
    if number.is_finite() and number and not -20 <= number.adjusted() <= 20:
        raise ValueError(f"the number {text[:20]} is out of any range")
    return number
