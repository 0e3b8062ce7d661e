"""The certificate of a run: whether there is one, whether it holds, and what it does for its run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from rosetta_tui.review.organiser.pages.batches import minute, title
from rosetta_tui.review.organiser.pages.looks import SIGNS, TONES
from rosetta_tui.review.organiser.pages.plain_table import PlainTable
from rosetta_tui.review.organiser.words.certificate import check_lines, standing_lines
from rosetta_tui.review.organiser.words.gate import has_numbers, verdict_name
from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import Column
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.field import Field

if TYPE_CHECKING:
    from review.office.store.store import IssuedCertificate
    from review.verdict.certificate.verifying import Verification
    from rosetta_tui.review.organiser.facts import RunNow

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
        yield PlainTable(_COLUMNS, [_row(run, each) for each in reversed(run.certificates)])


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
            "longer be computed. Look at the gate (4), then issue it anew with c."
        )
        yield Field("Issue anew", show(words, "$warn"))


def _run(run: RunNow) -> Content:
    newest = run.newest
    beside = newest is not None and any(each.sha256 == newest.sha256 for each in run.attached)
    lines = [] if run.standing is None else standing_lines(run.standing)
    if beside:
        return Content("\n").join([show("This certificate is attached to it.", "bold"), *map(show, lines)])  # fmt: skip
    words = "This certificate is not attached to it, so it changes nothing there."
    return Content("\n").join([Content.assemble(words, "  ", ("t", "bold $mark"), "  attach it"), *map(show, lines)])  # fmt: skip


def _row(run: RunNow, issued: IssuedCertificate) -> tuple[Cell, ...]:
    from review.verdict.certificate.certificate import read_certificate

    said = read_certificate(issued.certificate, "the certificate")
    state = "rests on what was taken back" if issued.recompute else ""
    attached = "attached" if any(each.sha256 == said.sha256 for each in run.attached) else ""
    return (
        Cell(minute(said.issued), "quiet"),
        Cell(f"{SIGNS[said.outcome]} {verdict_name(said.outcome)}", TONES[said.outcome]),
        Cell(f"{said.sha256[:16]}…", "quiet"),
        Cell(" · ".join(filter(None, (attached, state))), "warn" if state else "plain"),
    )
