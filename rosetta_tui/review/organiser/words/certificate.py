"""What verifying and attaching a certificate came to, in words for whoever did it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from scoring.core.wording import counted

if TYPE_CHECKING:
    from review.verdict.certificate.attachment import Standing
    from review.verdict.certificate.certificate import Certificate
    from review.verdict.certificate.verifying import Verification

_MOST_DIFFERENCES = 10
_SIGNS = {True: "✓", False: "✗", None: "–"}


def verification_lines(done: Verification) -> Iterator[str]:
    """Say what was looked at, what differs, and the result in one sentence."""
    stated = done.certificate
    yield (
        f"{stated.review} · run {stated.run.run_id} · {stated.outcome} · {stated.panel.words} · "
        f"issued {stated.issued} by {stated.organisation.name}"
    )
    yield from check_lines(done)
    if done.not_shown:
        yield not_shown_words(done)
    yield done.words


def not_shown_words(done: Verification) -> str:
    """Say how many items a laptop could not show, and how many of these nobody rated."""
    unseen, unrated = len(done.not_shown), list(done.not_shown.values()).count(False)
    return (
        f"! not shown: {counted(unseen, 'item')} could not be shown on a laptop, so its person was not asked; {unrated} of "
        "them nobody rated, and these are in no share and no veto. A method whose worst outputs are in letters that "
        "laptops lack is spared by this."
    )


def check_lines(done: Verification) -> Iterator[str]:
    """Say each thing that was looked at, and what differs."""
    yield from (f"{_SIGNS[check.ok]} {check.name}: {check.words}" for check in done.every)
    yield from (f"  {difference}" for difference in done.differences[:_MOST_DIFFERENCES])


def together_words(done: Mapping[str, Verification]) -> str:
    """Say what several evidences of one certificate come to together, each by the place where it was found."""
    if broken := [place for place, each in done.items() if each.broken]:
        return f"Together: this does not hold with {' and '.join(broken)}."
    if not (missing := [place for place, each in done.items() if not each.ok]):
        return "Together: all evidence that was found agrees, and each gives the verdict again."
    again = " and ".join(place for place in done if place not in missing)
    shown = f"the verdict was computed again with {again}" if again else "nothing was changed"
    return (
        f"Together: {shown}, and cannot be with {' and '.join(missing)}: ratings were taken back since. "
        "The certificate is to be issued anew."
    )


def standing_lines(now: Standing) -> list[str]:
    """Say what may be claimed of a run now."""
    said: Certificate = now.certificate
    run = said.run.run_id[:8]
    if now.suspended:
        return [
            f"Run {run}: somebody took ratings back since, so nothing is lifted. Issue the certificate anew."
        ]
    if not now.passed:
        return [
            f"Run {run}: the newest certificate says {said.outcome}, so nothing is lifted any more."
        ]
    tier = now.verification_tier
    standing = f"It is {tier}." if tier else f"Not community-validated: {now.why_not_community}."
    return [
        f"Run {run}: go. What may be claimed is no longer capped at functional.",
        standing,
        f"`rosetta runs show {run}` shows it; `rosetta review attach --remove {run}` takes it back.",
    ]
