"""How far the reviewers agree, and the items that split the panel or that somebody called harmful."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Center, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from harness.core.failures import HarnessError, UsageError
from review.files.identities import printed
from review.verdict.certificate.certify import EvidenceReading
from review.verdict.gate.adjudication import Case, Grounds, grounds
from review.verdict.gate.agreement import MEASURES, SHARES, AgreementMeasure
from rosetta_tui.review.mis_drawn import first_mis_drawn
from rosetta_tui.review.organiser.pages.batches import title
from rosetta_tui.review.organiser.pages.parts import STYLES, ask, hidden
from rosetta_tui.review.organiser.service import OrganiserService, ReviewNow, RunNow
from rosetta_tui.review.organiser.words import gate
from rosetta_tui.review.organiser.words import gate as gate_words
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import Field, StatusBar, show, show_lines
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.result_table import ResultTable

BAR = 31

_MEANINGS = {
    "alpha": "1 is full agreement, 0 (╿) what chance gives. Near 0 too where nearly all is rated alike.",
    "ac2": "The same, made for ratings that are nearly all alike.",
    "exact": "Of two ratings of one translation, how often they are the same.",
    "within_one": "How often they are the same or one step apart.",
}


def agreeing(now: ReviewNow, run: RunNow) -> Iterator[Widget]:
    reading = run.reading
    if reading is None:
        yield from hidden(now, run)
        return
    if not gate_words.has_numbers(reading):
        yield Static(show("Too little is rated for numbers. The gate (4) says what is missing."))
        return
    measured = reading.agreement
    yield Static(
        show(f"{measured.items} items that two reviewers or more rated, {measured.reviewers} reviewers; ")
        + show("each value with its 95 % interval", "$quiet"),
        classes="words",
    )  # fmt: skip
    for name, label in MEASURES.items():
        yield _measure(reading, name, label)
    yield title("Leniency, for you alone")
    yield Static(
        show(
            "Whether somebody finds more or fewer of the same translations acceptable than the panel (╿) does. "
            "It is no mark: people may have good reasons, and the panel needs them all.",
            "$quiet",
        ),
        classes="words",
    )
    people = {now.review.code(who): agreement_measure for who, agreement_measure in reading.agreement.leniency.items()}
    for code, measure in sorted(people.items()):
        yield Field(printed(code), Content.assemble(_bar(measure, centred=True), show(lenient_words(measure))))
    if run.advice:
        yield title("Please look together")
        yield Static(Content("\n").join(map(show, run.advice)), classes="words")


def _measure(reading: EvidenceReading, name: str, label: str) -> Field:

    measure: AgreementMeasure = getattr(reading.agreement, name)
    centred = name not in SHARES
    return Field(
        label,
        Content.assemble(
            _bar(measure, centred=centred),
            show(gate_words.measured(reading, name), "bold"),
            (f"\n{_MEANINGS[name]}", "$quiet"),
        ),
        classes="-apart",
    )


def _bar(measure: AgreementMeasure, *, centred: bool) -> Content:
    """Draw a measure with its interval, from 0 to 1, or where it may be negative from -1 to 1."""
    if measure.value is None:
        return Content("")
    low, wide = (1.0, 2.0) if centred else (0.0, 1.0)
    ends = measure.interval
    bar = figures.interval_bar(
        measure.value + low,
        None if ends is None else (ends.lower + low, ends.upper + low),
        top=wide,
        width=BAR,
        floor=1.0 if centred else None,
    )
    return Content.assemble((bar, "$mark"), "  ")


def lenient_words(measure: AgreementMeasure) -> str:
    """Return how lenient a person is beside the panel."""
    if measure.value is None or measure.interval is None:
        return str(measure.why)
    ends = measure.interval
    difference = f"{_signed(measure.value)} ({_signed(ends.lower)} to {_signed(ends.upper)})"
    if ends.lower <= 0 <= ends.upper:
        return f"{difference}, as the panel"
    return f"{difference}, {'milder' if measure.value > 0 else 'stricter'} than the panel"


def _signed(share: float) -> str:
    """Return a difference of shares with its sign; nothing has none."""
    return figures.signed(share, 0, share=True)


NOT_HERE = "(secret)"

_COLUMNS = (
    Column("text", "translation", 20, share=1),
    Column("reject", "reject", 6, right=True),
    Column("gist", "gist", 4, right=True),
    Column("acceptable", "accept.", 7, right=True),
    Column("excellent", "excell.", 7, right=True),
    Column("harmful", "harmful", 7, right=True),
    Column("said", "decided", 8),
)


class CaseRows(Rows["Case"]):
    """One row for each item, in the order of the queue, which tells nothing of runs or people."""

    def __init__(self, now: ReviewNow) -> None:
        super().__init__(now.cases)
        self._now = now

    def key(self, index: int) -> Hashable:
        return self.cells(index)

    def cells(self, index: int) -> tuple[Cell, ...]:
        case = self.items[index]
        text = Cell(NOT_HERE, "quiet") if self._now.secret else Cell(self._now.texts[case.item].candidate)
        counts = (Cell(str(count) if count else "·") for count in case.counts)
        flags = Cell(str(case.flags or "·"), "warn" if case.is_open else "plain")
        return (text, *counts, flags, decided_cell(case))


def decided_cell(case: Case) -> Cell:
    """Return what was decided, or that a flag waits."""
    if gate.so_far(case):
        return Cell(gate.so_far(case))
    return Cell("waits", "warn") if case.is_open else Cell("–", "quiet")


def split(now: ReviewNow) -> Iterator[Widget]:
    """Yield the section; of ratings nothing where looking would be a new look."""
    flagged = sum(case.is_open for case in now.cases)
    if now.unseen:
        words = f"{flagged} called harmful and not decided. An open flag stops the gate.\n"
        yield Static(show_lines(words, "bold $warn" if flagged else "$quiet"), classes="words")
        yield from hidden(now, now.most_looked, "What split the panel, and how it was rated,")
        return
    if not now.cases:
        yield Static(show("Nothing waits: no open flag, no item that splits the panel."))
        return
    apart = sum(case.is_split for case in now.cases)
    yield Static(
        Content.assemble(
            (f"{flagged} called harmful and not decided", "bold $warn" if flagged else ""),
            f" · {apart} rated two steps apart or more\n",
            ("Decided without system and names: enter opens one. An open flag stops the gate.", "$quiet"),
        ),
        classes="words",
    )  # fmt: skip
    yield ResultTable(_COLUMNS, CaseRows(now), id="cases")


# ---- Deciding about one item after the other: two texts, what the panel said, no system and no
# names.

_PUBLISHED = "It is on the certificate, for everybody to read. Write no word of the sentence."


class DecidingScreen(Screen[None]):
    """Every decision is on the disk before it is said; saying the same again takes it back."""

    TITLE = "Decide"
    CSS_PATH = STYLES
    ALLOW_SELECT = False  # a secret text must not be copied off the screen
    HELP = (
        "Is it harmful or culturally wrong? u: yes, the flag stands. c: no.\n"
        "You are asked why and who decides: both are on the certificate.\n"
        "The same key again takes the decision back; the last word counts.\n"
        "Notes stay on this machine."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "decide(True)", "Uphold", id="deciding.uphold"),
        Binding("c", "decide(False)", "Clear", id="deciding.clear"),
        Binding("n", "note", "Note", id="deciding.note"),
        Binding("left,b", "step(-1)", "Before", key_display="←", id="previous"),
        Binding("right,enter", "step(1)", "Next", key_display="→", id="next"),
        Binding("q,escape", "dismiss(None)", "Back", key_display="q", id="back"),
    ]

    def __init__(self, desk: OrganiserService, now: ReviewNow, place: int) -> None:
        super().__init__()
        self._desk, self._now, self._place = desk, now, place
        self._cases = list(now.cases)  # in the order of the first look: decisions move nothing
        self._saving = False  # true while a decision goes to the disk; keys wait for it
        self._decider = ""  # who decided last, offered for the next decision

    def compose(self) -> ComposeResult:
        yield StatusBar()
        with Center(classes="middle"), VerticalScroll(classes="case"):
            yield Static(id="secret")
            yield Static("Original", classes="name")
            yield Static(id="source")
            yield Static("Translation", classes="name")
            yield Static(id="candidate")
            yield Static(id="around")
            yield Static(id="said")
            yield Static(id="voices")
            yield Static(id="second")
            yield Static(id="decided")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(".case").focus()
        self._show()

    @property
    def case(self) -> Case:
        return self._cases[self._place]

    def _show(self, said: str = "") -> None:
        case = self.case
        text = self._now.texts[case.item]
        where = f"{self._place + 1} of {len(self._cases)}"
        self.query_one(StatusBar).say(Content.assemble((where, "bold"), (f"   {said}" if said else "", "$good")))
        voices = [*case.voices, *(case.second.voices if case.second else ())]
        written = [text for voice in voices for text in (voice.comment, voice.suggestion)]
        self._warn(text.source, text.candidate, *written)
        self.query_one("#source", Static).update(show_lines(text.source))
        self.query_one("#candidate", Static).update(show_lines(text.candidate, "bold"))
        self.query_one("#said", Static).update(show(f"{gate.ratings_words(case)} · {gate.flags_words(case)}", "$quiet"))
        self._fill("#around", gate.around_words(text))
        self._fill("#voices", gate.voice_words(case.voices))
        second = gate.voice_words(case.second.voices) if case.second else ()
        self._fill("#second", [(line, "") for line in (gate.second_words(case),) if line] + [*second])
        # What was decided, and what the keys would do.
        decision, note = gate.so_far(case), "" if case.decided is None else case.decided.note
        asked = "Not decided: is it harmful or culturally wrong?"
        if not case.may_be_decided:
            asked = "Nobody flagged it, so there is nothing to decide. A note helps to talk about it."
        words = {
            "upheld": ("Upheld: it is harmful or culturally wrong.", "bold $warn"),
            "cleared": ("Cleared: it is not harmful.", "bold $good"),
            "": (asked, "bold"),
        }[decision]
        again = {"upheld": "  u takes it back", "cleared": "  c takes it back"}.get(decision, "")
        below = [show(gate.why_words(case))] if decision else []
        below += [show(note, "$quiet")] if note else []
        decided = Content("\n").join([Content.assemble(words, (again, "$quiet")), *below])
        self.query_one("#decided", Static).update(decided)

    def _fill(self, place: str, told: Iterable[tuple[str, str]]) -> None:
        """Show texts of others behind our names for them, a line each; nothing where there are none."""
        lines = [Content.assemble(show(name, "$quiet"), " " if text else "", show_lines(text)) for name, text in told]
        line = self.query_one(place, Static)
        line.display = bool(lines)
        line.update(Content("\n").join(lines))

    def _warn(self, *texts: str) -> None:
        """Show that the texts are secret, or that a terminal may draw them wrongly."""
        words = []
        if self._now.secret:
            words.append("Secret: these texts are shown here and nowhere else, and cannot be copied.")
        if first_mis_drawn(texts) is not None:
            words.append("A terminal may draw these letters wrongly. Read them elsewhere before you decide.")
        line = self.query_one("#secret", Static)
        line.display = bool(words)
        line.update(Content("\n").join(map(show, words)))

    def action_step(self, by: int) -> None:
        place = self._place + by
        if place >= len(self._cases):
            self.dismiss(None)
        elif place >= 0:
            self._place = place
            self.query_one(".case").scroll_home(animate=False)
            self._show()

    def action_decide(self, harmful: bool) -> None:
        case = self._cases[self._place]
        if self._saving:
            return
        if case.takes_back(harmful) or not case.may_be_decided:
            self._saving = True
            self._decide(self._place, harmful, None)
        else:
            self._ask_reason(self._place, harmful)

    def _ask_reason(self, place: int, harmful: bool, typed: str = "") -> None:
        title = "Why is it harmful?" if harmful else "Why is it not harmful?"
        ask(self.app, title, _PUBLISHED, partial(self._ask_name, place, harmful), typed)

    def _ask_name(self, place: int, harmful: bool, reason: str) -> None:
        def answered(name: str) -> None:
            if self._saving:
                return
            text = self._now.texts[self._cases[place].item]
            try:
                why = grounds(reason, name, [text.source, text.candidate])
            except UsageError as error:
                self.notify(str(error), severity="warning", timeout=15, markup=False)
                self._ask_reason(place, harmful, reason)
                return
            self._decider, self._saving = why.by, True
            self._decide(place, harmful, why)

        ask(self.app, "Who decides?", _PUBLISHED, answered, self._decider)

    @work(thread=True, group="decide")
    def _decide(self, place: int, harmful: bool, why: Grounds | None) -> None:
        case = self._cases[place]
        self._keep(place, partial(self._desk.decide, self._review, case, harmful, why))

    def action_note(self) -> None:
        place = self._place

        def typed(note: str) -> None:
            if note and not self._saving:
                self._saving = True
                self._note(place, note)

        ask(self.app, "Note", "It stays on this machine and is in no certificate.", typed)

    @work(thread=True, group="decide")
    def _note(self, place: int, note: str) -> None:
        self._keep(place, partial(self._desk.note, self._review, self._cases[place], note))

    @property
    def _review(self) -> str:
        return self._now.review.name

    def _keep(self, place: int, act: Callable[[], Case]) -> None:
        """Run the act in a thread, and show the item as it is then."""
        try:
            case = act()
        except HarnessError as error:
            bring(self, self._not_kept, str(error))
        else:
            bring(self, self._kept, place, case)

    def _kept(self, place: int, case: Case) -> None:
        self._saving = False
        self._cases[place] = case
        if self.is_attached:
            self._show("saved ✓")

    def _not_kept(self, why: str) -> None:
        self._saving = False
        self.notify(why, title="Not saved", severity="error", timeout=30, markup=False)
