"""Deciding about one item after the other: two texts, what the panel said, no system and no names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Center, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from harness.core.failures import HarnessError, UsageError
from review.verdict.gate.adjudication import Case, Grounds, grounds
from rosetta_tui.review.mis_drawn import first_mis_drawn
from rosetta_tui.review.organiser.desk import OrganiserService
from rosetta_tui.review.organiser.facts import ReviewNow
from rosetta_tui.review.organiser.pages.parts import STYLES, ask
from rosetta_tui.review.organiser.words.cases import (
    around_words,
    flags_words,
    ratings_words,
    second_words,
    so_far,
    voice_words,
    why_words,
)
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import StatusBar, show, show_lines
from rosetta_tui.toolkit.key_line import KeyLine

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
        self._desk = desk
        self._now = now
        self._place = place
        self._cases = list(now.cases)
        """In the order in which the person came to them: a decision moves nothing."""
        self._saving = False
        """True while a decision goes to the disk; keys wait for it."""
        self._decider = ""
        """Who decided last, offered for the next decision."""

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
        """Show the first item."""
        self.query_one(".case").focus()
        self._show()

    @property
    def case(self) -> Case:
        """The item that is shown, as it is now."""
        return self._cases[self._place]

    def _show(self, said: str = "") -> None:
        case = self.case
        text = self._now.texts[case.item]
        where = f"{self._place + 1} of {len(self._cases)}"
        self.query_one(StatusBar).say(
            Content.assemble((where, "bold"), (f"   {said}" if said else "", "$good"))
        )
        voices = [*case.voices, *(case.second.voices if case.second else ())]
        written = [text for voice in voices for text in (voice.comment, voice.suggestion)]
        self._warn(text.source, text.candidate, *written)
        self.query_one("#source", Static).update(show_lines(text.source))
        self.query_one("#candidate", Static).update(show_lines(text.candidate, "bold"))
        self.query_one("#said", Static).update(
            show(f"{ratings_words(case)} · {flags_words(case)}", "$quiet")
        )
        self._fill("#around", around_words(text))
        self._fill("#voices", voice_words(case.voices))
        second = voice_words(case.second.voices) if case.second else ()
        self._fill("#second", [(line, "") for line in (second_words(case),) if line] + [*second])
        self.query_one("#decided", Static).update(_decided(case))

    def _fill(self, place: str, told: Iterable[tuple[str, str]]) -> None:
        """Show texts of others behind our names for them, a line each; nothing where there are none."""
        lines = [
            Content.assemble(show(name, "$quiet"), " " if text else "", show_lines(text))
            for name, text in told
        ]
        line = self.query_one(place, Static)
        line.display = bool(lines)
        line.update(Content("\n").join(lines))

    def _warn(self, *texts: str) -> None:
        """Show that the texts are secret, or that a terminal may draw them wrongly."""
        words = []
        if self._now.secret:
            words.append(
                "Secret: these texts are shown here and nowhere else, and cannot be copied."
            )
        if first_mis_drawn(texts) is not None:
            words.append(
                "A terminal may draw these letters wrongly. Read them elsewhere before you decide."
            )
        line = self.query_one("#secret", Static)
        line.display = bool(words)
        line.update(Content("\n").join(map(show, words)))

    def action_step(self, by: int) -> None:
        """Move to the item before or after; after the last one the list comes back."""
        place = self._place + by
        if place >= len(self._cases):
            self.dismiss(None)
        elif place >= 0:
            self._place = place
            self.query_one(".case").scroll_home(animate=False)
            self._show()

    def action_decide(self, harmful: bool) -> None:
        """Decide, after asking why and who, or take the same decision back."""
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
            try:
                why = grounds(reason, name, self._texts(place))
            except UsageError as error:
                self.notify(str(error), severity="warning", timeout=15, markup=False)
                self._ask_reason(place, harmful, reason)
                return
            self._decider, self._saving = why.by, True
            self._decide(place, harmful, why)

        ask(self.app, "Who decides?", _PUBLISHED, answered, self._decider)

    def _texts(self, place: int) -> list[str]:
        text = self._now.texts[self._cases[place].item]
        return [text.source, text.candidate]

    @work(thread=True, group="decide")
    def _decide(self, place: int, harmful: bool, why: Grounds | None) -> None:
        case = self._cases[place]
        self._keep(place, partial(self._desk.decide, self._review, case, harmful, why))

    def action_note(self) -> None:
        """Write a note beside the item."""
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


def _decided(case: Case) -> Content:
    """Return what was decided, and what the keys would do."""
    decision, note = so_far(case), "" if case.decided is None else case.decided.note
    asked = "Not decided: is it harmful or culturally wrong?"
    if not case.may_be_decided:
        asked = "Nobody flagged it, so there is nothing to decide. A note helps to talk about it."
    words = {
        "upheld": ("Upheld: it is harmful or culturally wrong.", "bold $warn"),
        "cleared": ("Cleared: it is not harmful.", "bold $good"),
        "": (asked, "bold"),
    }[decision]
    again = {"upheld": "  u takes it back", "cleared": "  c takes it back"}.get(decision, "")
    why = f"\n{why_words(case)}" if decision else ""
    beside = show(f"\n{note}" if note else "", "$quiet")
    return Content.assemble(words, (again, "$quiet"), show(why), beside)
