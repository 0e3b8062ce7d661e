"""The gate and the certificate: verdict, what was needed and found, why, and what holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from review.office.store.store import IssuedCertificate
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.certify import EvidenceReading
from review.verdict.gate.reasons import OUTCOMES
from rosetta_tui.review.organiser.pages.batches import minute, title
from rosetta_tui.review.organiser.pages.parts import SIGNS, TONES, PlainTable, hidden, not_counted
from rosetta_tui.review.organiser.words import gate as gate_words
from rosetta_tui.review.organiser.words.gate import (
    check_lines,
    has_numbers,
    standing_lines,
    verdict_name,
)
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.content import Field, show

if TYPE_CHECKING:
    from review.verdict.certificate.verifying import Verification
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
    yield from (_field(*labelled_line) for labelled_line in gate_words.why(now.review, reading))
    yield from (_field(*harm_word) for harm_word in gate_words.harm_words(reading))
    if gate_words.has_numbers(reading):
        yield from _more(now, run, reading)
    else:
        words = "no share and no bounds are shown while too little is rated"
        yield Field("Numbers", show(words, "$quiet"))
    yield from (Field("For you alone", show(words)) for words in run.advice)


def _field(about: str, words: str) -> Field:
    return Field(about, show(words))


def _verdict(reading: EvidenceReading) -> Field:
    outcome = reading.verdict.outcome
    name = f"{SIGNS[outcome]} {gate_words.verdict_name(outcome)}"
    content = show(OUTCOMES[outcome])
    return Field(
        "Verdict",
        Content.assemble((name, f"bold ${TONES[outcome]}"), "\n", content),
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
    """Return what to do about it, and what is next to the verdict."""
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
    yield Field("Looks", show(gate_words.looks_words(reading)))
    yield Field("Policy", show(gate_words.policy_words(now.review, reading), "$quiet"))


_COLUMNS = (
    Column("issued", "issued", 16),
    Column("outcome", "verdict", 14),
    Column("hash", "certificate", 17),
    Column("state", "", 20, share=1),
)


def certificate(run: RunNow) -> Iterator[Widget]:
    """Yield the section for one run."""
    done = run.verification
    if done is None:
        yield _none(run)
        return
    yield from _newest(run, done)
    yield title("It was checked just now")
    yield Static(Content("\n").join([*map(show, check_lines(done)), show(done.words, "bold")]))
    yield title("Its run")
    yield Static(_run(run))
    if len(run.certificates) > 1:
        yield title("All certificates of this run")
        yield PlainTable(
            _COLUMNS, [_row(run, certificate) for certificate in reversed(run.certificates)]
        )


def _none(run: RunNow) -> Static:
    if run.reading is None:
        return _words(
            "No certificate was issued.", "Look at the gate first (4): it says what the gate says."
        )
    if not has_numbers(run.reading):
        return _words("No certificate was issued.", "Too little is rated to certify anything; the gate (4) says what is missing.")  # fmt: skip
    return Static(
        Content.assemble(
            ("No certificate was issued.\n\n", "bold"), ("c", "bold $mark"), "  issue one, and write its files"
        )
    )  # fmt: skip


def _words(what: str, more: str) -> Static:
    return Static(Content.assemble((f"{what}\n\n", "bold"), more))


def _newest(run: RunNow, done: Verification) -> Iterator[Widget]:
    stated = done.certificate
    outcome = f"{SIGNS[stated.outcome]} {verdict_name(stated.outcome)}"
    yield Field("Certificate", show(outcome, f"bold ${TONES[stated.outcome]}"))
    yield Field("Issued", show(f"{minute(stated.issued)} by {stated.organisation.name}"))
    yield Field("Panel", show(f"{stated.panel.words}, of {stated.panel.invited} who were asked"))
    yield Field("SHA-256", show(stated.sha256, "$quiet"))
    newest = run.newest
    if newest is not None and newest.recompute:
        words = (
            "Something that it rests on was taken back since. The signature still holds; its numbers can no "
            "longer be computed. Look at the gate (4), then issue it again with c."
        )
        yield Field("Issue again", show(words, "$warn"))


def _run(run: RunNow) -> Content:
    newest = run.newest
    beside = newest is not None and any(
        attached.sha256 == newest.sha256 for attached in run.attached
    )
    lines = [] if run.standing is None else standing_lines(run.standing)
    if beside:
        return Content("\n").join([show("This certificate is attached to it.", "bold"), *map(show, lines)])  # fmt: skip
    words = "This certificate is not attached to it, so it changes nothing there."
    return Content("\n").join([Content.assemble(words, "  ", ("t", "bold $mark"), "  attach it"), *map(show, lines)])  # fmt: skip


def _row(run: RunNow, issued: IssuedCertificate) -> tuple[Cell, ...]:
    certificate = read_certificate(issued.certificate, "the certificate")
    state = "rests on what was taken back" if issued.recompute else ""
    attached = (
        "attached"
        if any(attached.sha256 == certificate.sha256 for attached in run.attached)
        else ""
    )
    return (
        Cell(minute(certificate.issued), "quiet"),
        Cell(
            f"{SIGNS[certificate.outcome]} {verdict_name(certificate.outcome)}",
            TONES[certificate.outcome],
        ),
        Cell(f"{certificate.sha256[:16]}…", "quiet"),
        Cell(" · ".join(filter(None, (attached, state))), "warn" if state else "plain"),
    )
