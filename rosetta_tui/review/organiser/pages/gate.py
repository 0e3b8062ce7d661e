"""The gate and the certificate: verdict, what was needed and found, why, and what holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from harness.core.failures import HarnessError
from review.office.results.progress import WaitingLaptop
from review.office.store.store import IssuedCertificate
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.certify import EvidenceReading
from review.verdict.gate.verdict import OUTCOMES
from rosetta_tui.review.organiser.export_files import write_export
from rosetta_tui.review.organiser.pages import parts
from rosetta_tui.review.organiser.pages.batches import minute, title
from rosetta_tui.review.organiser.service import OrganiserService, ReviewNow, RunNow
from rosetta_tui.review.organiser.words import gate as gate_words
from rosetta_tui.review.organiser.words.gate import check_lines, has_numbers, standing_lines, verdict_name
from rosetta_tui.review.organiser.words.imported import report_lines
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import Field, show
from rosetta_tui.toolkit.dialogs.choose import choose, confirm

BAR = 41  # cells from a share of 0 to one of 1


def gate(now: ReviewNow, run: RunNow) -> Iterator[Widget]:
    """Yield the section for one run; no number of it where looking would be a new look."""
    reading = run.reading
    if reading is None:
        yield from parts.hidden(now, run)
        return
    outcome = reading.verdict.outcome
    name = f"{parts.SIGNS[outcome]} {gate_words.verdict_name(outcome)}"
    content = show(OUTCOMES[outcome])
    verdict = Field(
        "Verdict", Content.assemble((name, f"bold ${parts.TONES[outcome]}"), "\n", content), classes="-apart"
    )
    yield verdict
    if words := parts.not_counted(now):
        yield Field("Not counted", show(words, "$warn"))
    if gate_words.has_numbers(reading):
        yield Field("Needed", show(gate_words.needed_words(reading)))
        yield Field("Found", _found(reading), classes="-apart")
    for line in (*gate_words.why(now.review, reading), *gate_words.harm_words(reading)):
        yield Field(line.about, show(line.words))
    if gate_words.has_numbers(reading):
        # What to do about it, and what is next to the verdict.
        if run.settling:
            yield Field("To settle it", show(run.settling))
        split = gate_words.split_words(now.review, reading)
        if split:
            what = "it" if split.startswith("entry ") else "them"
            yield Field("Split", Content.assemble(show(split), (f" (key 5 shows {what})", "$quiet")))
        hints = {"Agreement": (" (key 3 shows more)", "$quiet")}
        for line in gate_words.beside_lines(now.review, reading):
            text = show(line.words, "$quiet" if line.about == "Policy" else "")
            yield Field(line.about, Content.assemble(text, hints.get(line.about, "")))
    else:
        words = "no share and no bounds are shown while too little is rated"
        yield Field("Numbers", show(words, "$quiet"))
    yield from (Field("For you alone", show(words)) for words in run.advice)


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


_COLUMNS = (
    Column("issued", "issued", 16),
    Column("outcome", "verdict", 14),
    Column("hash", "certificate", 17),
    Column("state", "", 20, share=1),
)


def certificate(run: RunNow) -> Iterator[Widget]:
    done = run.verification
    if done is None:
        yield _none(run)
        return
    stated = done.certificate
    outcome = f"{parts.SIGNS[stated.outcome]} {verdict_name(stated.outcome)}"
    yield Field("Certificate", show(outcome, f"bold ${parts.TONES[stated.outcome]}"))
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
    yield title("It was checked just now")
    yield Static(Content("\n").join([*map(show, check_lines(done)), show(done.words, "bold")]))
    yield title("Its run")
    yield Static(_run(run))
    if len(run.certificates) > 1:
        yield title("All certificates of this run")
        yield parts.PlainTable(_COLUMNS, [_row(run, certificate) for certificate in reversed(run.certificates)])


def _none(run: RunNow) -> Static:
    if run.reading is None:
        return _words("No certificate was issued.", "Look at the gate first (4): it says what the gate says.")
    if not has_numbers(run.reading):
        return _words("No certificate was issued.", "Too little is rated to certify anything; the gate (4) says what is missing.")  # fmt: skip
    return Static(
        Content.assemble(
            ("No certificate was issued.\n\n", "bold"), ("c", "bold $mark"), "  issue one, and write its files"
        )
    )  # fmt: skip


def _words(what: str, more: str) -> Static:
    return Static(Content.assemble((f"{what}\n\n", "bold"), more))


def _run(run: RunNow) -> Content:
    newest = run.newest
    beside = newest is not None and any(a.sha256 == newest.sha256 for a in run.attached)
    lines = [] if run.standing is None else standing_lines(run.standing)
    if beside:
        return Content("\n").join([show("This certificate is attached to it.", "bold"), *map(show, lines)])
    words = "This certificate is not attached to it, so it changes nothing there."
    return Content("\n").join([Content.assemble(words, "  ", ("t", "bold $mark"), "  attach it"), *map(show, lines)])


def _row(run: RunNow, issued: IssuedCertificate) -> tuple[Cell, ...]:
    certificate = read_certificate(issued.certificate, "the certificate")
    state = "rests on what was taken back" if issued.recompute else ""
    attached = "attached" if any(attached.sha256 == certificate.sha256 for attached in run.attached) else ""
    return (
        Cell(minute(certificate.issued), "quiet"),
        Cell(
            f"{parts.SIGNS[certificate.outcome]} {verdict_name(certificate.outcome)}", parts.TONES[certificate.outcome]
        ),
        Cell(f"{certificate.sha256[:16]}…", "quiet"),
        Cell(" · ".join(filter(None, (attached, state))), "warn" if state else "plain"),
    )


# ---- What an organiser does with a review: each act asks what it must, works in a thread, and
# reports.


class ReportScreen(ModalScreen[None]):
    """Stays until it is closed: a path or a warning must not vanish on its own."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss(None)", "Back")]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide"):
            yield Static(show(self._title, "bold"))
            yield Static(Content("\n").join(map(show, self._lines)), classes="about")
            yield Static(Content.styled("esc goes back", "$quiet"))


def choices(now: ReviewNow, run: RunNow) -> dict[str, str]:
    """Return what can be exported now, with words; comments of secret reviews and pages of nothing are left out."""
    offered = {
        "sealed": "Everything, sealed for the review's recipients",
        "page": "The page for the speakers, from the newest certificate",
        "csv": "The ratings as a table (CSV), people as letters",
        "comments": "The table with what people wrote",
        "mtme": "A folder as in the metrics shared tasks",
    }
    if now.secret:
        del offered["comments"]
    if run.newest is None:
        del offered["page"]
    return offered


_FOLDER = "A folder; it is made where there is none. Files that are there are not replaced."


class ReadAgain(Screen[None]):
    def action_read(self) -> None:
        raise NotImplementedError


class ReviewActions:
    """Belongs to the screen of one review, which reads it again after each of them."""

    def __init__(self, screen: ReadAgain, desk: OrganiserService) -> None:
        self._screen, self._desk = screen, desk

    def look(self, now: ReviewNow, run: RunNow) -> None:
        """Read the numbers of a run, after one question."""
        look = partial(self._desk.look, now.review.name, run.key.run_id)
        self._ask_look(parts.question(now, run), look)

    def look_at_ratings(self, now: ReviewNow) -> None:
        """Read the ratings of what was flagged or split the panel, after one question."""
        asked = parts.question(now, now.most_looked, "ratings")
        self._ask_look(asked, partial(self._desk.look_at_ratings, now.review.name))

    def _ask_look(self, asked: Content, look: Callable[[], object]) -> None:
        def looked() -> Sequence[str]:
            look()
            return ()

        confirm(self._screen.app, asked, "Look", partial(self._run, "Look", looked))

    def enrol(self, now: ReviewNow) -> None:
        """Vouch for a laptop that waits; where several do, ask which."""
        waiting = {waiting_laptop.signing_key: waiting_laptop for waiting_laptop in now.waiting}
        if len(waiting) == 1:
            self._compare(next(iter(waiting.values())))
            return
        words = {key: laptop.file_phrases[-1] or laptop.phrase for key, laptop in waiting.items()}
        first = next(iter(words))
        choose(self._screen.app, "Which laptop?", words, first, lambda key: self._compare(waiting[key]))

    def _compare(self, laptop: WaitingLaptop) -> None:
        def enrol() -> list[str]:
            reports = list(self._desk.enrol(laptop.signing_key))
            self._desk.reports = reports
            return [line for report in reports for line in report_lines(report)]

        last = laptop.file_phrases[-1]
        asked = Content.assemble(
            ("Did the speaker write down these six words, when the file was written?\n\n", "bold"),
            show(last or laptop.phrase, "bold $mark"),
            "\n\nThe laptop's own words do as well:\n",
            show(laptop.phrase),
            "\n\nThen its ratings are taken, and all later ones. If a word differs, somebody else made the file.",
        )
        confirm(self._screen.app, asked, "They are the same", partial(self._run, "Enrolled", enrol))

    def issue(self, now: ReviewNow, run: RunNow) -> None:
        """Issue a certificate and write its files into a folder that is asked for."""
        self._into_folder(
            "Issue a certificate",
            "Certificate issued",
            lambda folder: _written(self._desk.issue(now.review.name, run.key.run_id, folder)),
        )

    def write_again(self, now: ReviewNow, run: RunNow) -> None:
        """Write the files of the newest certificate once more."""
        issued = run.newest
        if issued is not None:
            self._into_folder(
                "Write the certificate's files",
                "Written",
                lambda folder: _written(self._desk.write_again(now.review.name, issued, folder)),
            )

    def _into_folder(self, title: str, done: str, act: Callable[[Path], Sequence[str]]) -> None:
        def answered(folder: str) -> None:
            self._run(done, partial(act, parts.typed_path(folder)))

        parts.ask(self._screen.app, title, _FOLDER, answered, str(Path.cwd()))

    def attach(self, now: ReviewNow, run: RunNow) -> None:
        """Attach the newest certificate to its run."""
        newest = run.newest
        if newest is not None:
            self._run("Attached", lambda: standing_lines(self._desk.attach(now.review.name, newest)))

    def export(self, now: ReviewNow, run: RunNow) -> None:
        """Pass on what is chosen, into a folder that is asked for."""

        def chosen(what: str) -> None:
            def export(folder: Path) -> list[str]:
                chosen_files = self._desk.export(now.review.name, what, run.key.run_id)
                return [*_written(write_export(chosen_files, folder, overwrite=False)), *chosen_files.notes]

            self._into_folder("Export into", "Exported", export)

        offered = choices(now, run)
        choose(self._screen.app, "Export", offered, next(iter(offered)), chosen)

    def _run(self, title: str, act: Callable[[], Sequence[str]]) -> None:
        """Work in a thread, then read the review again and say what came of it."""

        def work() -> None:
            try:
                lines = act()
            except HarnessError as error:
                bring(self._screen, self._done, "That did not work", [str(error)])
            else:
                bring(self._screen, self._done, title, lines)

        self._screen.run_worker(work, thread=True, group="act")

    def _done(self, title: str, lines: Sequence[str]) -> None:
        self._screen.action_read()
        if lines:
            self._screen.app.push_screen(ReportScreen(title, lines))


def _written(paths: Sequence[Path]) -> list[str]:
    return [f"Written: {path}" for path in paths]
