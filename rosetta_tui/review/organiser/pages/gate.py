"""The gate: verdict, what was needed and found, why, and what would settle it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from rosetta_tui.review.organiser.pages.hidden import hidden, not_counted
from rosetta_tui.review.organiser.pages.looks import SIGNS, TONES
from rosetta_tui.review.organiser.words import gate as gate_words
from rosetta_tui.show import figures
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.field import Field

if TYPE_CHECKING:
    from review.verdict.certificate.certify import EvidenceReading
    from rosetta_tui.review.organiser.facts import ReviewNow, RunNow

BAR = 41
"""Cells from a share of 0 to one of 1."""


def gate(now: ReviewNow, run: RunNow) -> Iterator[Widget]:
    """Yield the section for one run; no number of it where looking would be a new look."""
    reading = run.reading
    if reading is None:
        yield from hidden(now, run)
        return
    yield _verdict(reading)
    if words := not_counted(now):
        yield Field("Not counted", show(words, "$warn"))
    if gate_words.has_numbers(reading):
        yield Field("Needed", show(gate_words.needed_words(reading)))
        yield Field("Found", _found(reading), classes="-apart")
    yield from (_field(*told) for told in gate_words.why(now.review, reading))
    yield from (_field(*told) for told in gate_words.harm_words(reading))
    if gate_words.has_numbers(reading):
        yield from _more(now, run, reading)
    else:
        words = "no share and no bounds are shown while too little is rated"
        yield Field("Numbers", show(words, "$quiet"))
    yield from (Field("For you alone", show(words)) for words in run.advice)


def _field(about: str, words: str) -> Field:
    return Field(about, show(words))


def _verdict(reading: EvidenceReading) -> Field:
    from review.verdict.gate.reasons import OUTCOMES

    outcome = reading.verdict.outcome
    name = f"{SIGNS[outcome]} {gate_words.verdict_name(outcome)}"
    said = show(OUTCOMES[outcome])
    return Field(
        "Verdict",
        Content.assemble((name, f"bold ${TONES[outcome]}"), "\n", said),
        classes="-apart",
    )


def _found(reading: EvidenceReading) -> Content:
    numbers = reading.verdict.numbers
    words = show(gate_words.share_words(reading))
    if numbers.share is None or numbers.lower is None or numbers.upper is None:
        return words
    bar = figures.interval_bar(
        float(numbers.share),
        (float(numbers.lower), float(numbers.upper)),
        top=1,
        width=BAR,
        floor=float(reading.verdict.level),
    )
    return Content.assemble(words, "\n", (bar, "$mark"), ("  ╿ needed", "$quiet"))


def _more(now: ReviewNow, run: RunNow, reading: EvidenceReading) -> Iterator[Field]:
    """Say what to do about it, and what stands beside the verdict."""
    if run.settling:
        yield Field("To settle it", show(run.settling))
    split = gate_words.split_words(now.review, reading)
    if split:
        what = "it" if split.startswith("entry ") else "them"
        yield Field("Split", Content.assemble(show(split), (f" (key 5 shows {what})", "$quiet")))
    strata = Content("   ").join(map(show, gate_words.strata_words(reading)))
    agreement = Content.assemble(
        show(gate_words.agreement_words(reading)), (" (key 3 shows more)", "$quiet")
    )
    yield Field("Agreement", agreement)
    yield Field("Strata", strata)
    yield Field("Near the method", show(gate_words.relations_words(reading)))
    yield Field("Policy", show(gate_words.policy_words(now.review, reading), "$quiet"))
