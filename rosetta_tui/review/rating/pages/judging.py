"""The page on which a person decides: two texts, four answers, and a key for everything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Static

from review.rating import CannotJudge, Rating, Reason
from review.session import position
from review.session.flow import AskSharing, AskWithdraw, AtSentences, ChooseReview, HandOver, ShowHelp
from review.session.view import ShownItem, TextField, View
from review.session.words import item as item_words
from review.session.words import keys
from review.session.words import page as page_words
from rosetta_tui.review.rating.pages.item_page import ItemPage, KeyMode, Texts, Writing
from rosetta_tui.review.rating.pages.page import Choices, HelpPage, TroubleLine, told, typed
from rosetta_tui.review.rating.pages.resting import PAUSES
from rosetta_tui.review.rating.pages.submit import HandOverPage, WithdrawPage
from rosetta_tui.review.rating.pages.welcome import SharingPage
from rosetta_tui.review.rating.sitting import TerminalSitting

SLOW_SECONDS = 0.3  # when saving takes longer than this, the page says that it goes on
_MOVES = frozenset({"up", "down", "pageup", "pagedown", "space"})


class JudgingScreen(ItemPage):
    """One key rates, saves and shows the next item; other pages lie above it, so that coming back costs one frame."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
    ]

    def __init__(self, sitting: TerminalSitting) -> None:
        super().__init__(sitting)
        self._busy = False  # true while the session works: keys typed meanwhile are ignored
        self._missed = False  # true where a key came meanwhile: what did nothing is said
        self._deeds: dict[keys.Act, Callable[[ShownItem], None]] = {
            keys.Act.SKIP: lambda item: self._do(partial(sitting.session.skip, item.id)),
            keys.Act.UNRATED: lambda _: self._do(sitting.session.go_to_unrated),
            keys.Act.CANNOT_JUDGE: self._ask_why,
            keys.Act.REASONS: self._ask_reasons,
            keys.Act.COMMENT: partial(self._write, TextField.COMMENT),
            keys.Act.WORDING: self._write_better,
            keys.Act.HARM: self._ask_harm,
        }

    def draw(self, view: View) -> None:
        """Show a view; one without an item leads to another page."""
        super().draw(view)
        if view.item is None:
            page = PAUSES.get(view.phase)
            if page is None:
                self.dismiss(None)
            else:
                self.app.push_screen(page(self.words, view), self._go)

    # Keys

    def on_key(self, event: events.Key) -> None:
        self.sitting.session.touched()
        if self.mode is KeyMode.WRITING:
            self.query_one(Writing).take(event)
            return
        if event.key in _MOVES:
            return
        character = typed(event)
        if event.key in {"enter", "escape"}:
            event.stop()
            self.action_enter() if event.key == "enter" else self.action_back()
        elif character:
            event.stop()
            self._typed(character)

    def action_enter(self) -> None:
        if self.mode is KeyMode.HARM:
            item = self.view.item
            if item is not None:
                self.enter(KeyMode.JUDGE)
                self._do(partial(self.sitting.session.flag_harm, item.id, not item.harmful))
        elif self.mode is KeyMode.WRITING:
            self._save(self.query_one(Writing).text)
        elif self.mode is KeyMode.JUDGE and self.view.lesson is not None:
            self._do(self.sitting.session.go_on)
        elif self.mode is KeyMode.JUDGE:
            self._leave_as_it_is()

    def _leave_as_it_is(self) -> None:
        """Return to where the person was before they came to look at words of theirs."""
        if self.view.item is not None and self.view.item.stands:
            self._do(partial(self.sitting.session.go_to, None))

    def action_back(self) -> None:
        """Return to the ratings; what was typed stays as a draft."""
        if self.mode is KeyMode.WRITING:
            self._put_away(self.query_one(Writing).text)
        elif self.mode is KeyMode.JUDGE:
            self._leave_as_it_is()
        else:
            self.enter(KeyMode.JUDGE)

    def action_start(self) -> None:
        self.query_one(Writing).begin_with_start()

    def action_act(self, name: str) -> None:
        if self.mode is KeyMode.JUDGE:
            self._act(keys.Act(name))

    def _typed(self, character: str) -> None:
        self._missed = self._missed or self._busy
        if self._busy:
            return
        if self.mode is KeyMode.REASONS:
            self._reason(keys.reason_of(character))
        elif self.mode is KeyMode.WHY:
            self._why(keys.cannot_judge_of(character))
        elif self.mode is KeyMode.JUDGE:
            self._act(keys.act_of(character))

    @on(Choices.Picked)
    def _picked(self, message: Choices.Picked) -> None:
        self.sitting.session.touched()
        if self.mode is KeyMode.REASONS:
            self._reason(list(Reason)[message.number])
        elif self.mode is KeyMode.WHY:
            self._why(list(CannotJudge)[message.number])
        elif self.mode is KeyMode.JUDGE:
            self._act(list(keys.RATING_OF)[message.number])

    # Doing

    def _do(self, call: Callable[[], View], then: Callable[[View], None] | None = None) -> None:
        """Call the session away from the page, and show what comes of it."""
        if not self._busy:
            self._busy = True
            self.run_worker(self._done(call, then or self.draw), group="session")

    async def _done(self, call: Callable[[], View], then: Callable[[View], None]) -> None:
        slow = self.set_timer(SLOW_SECONDS, lambda: self.say(self.words(item_words.SAVING)))
        try:
            view = await self.sitting.do(call)
        finally:
            slow.stop()
            self._busy = False
        then(view)
        missed, self._missed = self._missed, False
        if missed and view.item is not None:
            self.say(f"{view.said} {self.words(position.TOO_SOON)}".strip())

    def _act(self, act: keys.Act | None) -> None:
        item = self.view.item
        if act is None or item is None or self._busy:
            return
        if not item_words.allows(self.view, act):
            self.say(item_words.why_not_now(self.words, self.view))
        elif act in keys.RATING_OF:
            self._rate(item, keys.RATING_OF[act])
        elif act in keys.ONWARD_OF:
            self._go(keys.ONWARD_OF[act])
        elif act in self._deeds:
            self._deeds[act](item)
        else:
            self.say(self.words("For larger letters, hold Ctrl and press +."))

    def _rate(self, item: ShownItem, rating: Rating) -> None:
        """Rate what was seen: where a part of the translation is still below, read on."""
        texts, session = self.query_one(Texts), self.sitting.session
        # the session says what came too soon
        if texts.translation_seen or not session.time.takes_keys():
            override = self.sitting.overridden(item)
            self._do(partial(session.rate, item.id, rating, override=override))
        elif texts.has_room:
            self.action_page(1)
            self.say(self.words(item_words.READ_FIRST))
        else:
            self.say(self.words(item_words.MAKE_LARGER))

    def action_move(self, lines: int) -> None:
        self.query_one(Texts).scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        texts = self.query_one(Texts)
        texts.scroll_relative(y=pages * max(1, texts.size.height - 2), animate=False)

    # Asking once more

    def _ask_why(self, _: ShownItem) -> None:
        title = told(self.words(item_words.WHY_NOT), "bold")
        self.query_one("#why", Choices).ask(title)
        self.enter(KeyMode.WHY)

    def _why(self, why: CannotJudge | None) -> None:
        item = self.view.item
        if why is not None and item is not None:
            override = self.sitting.overridden(item)
            self.enter(KeyMode.JUDGE)
            self._do(partial(self.sitting.session.cannot_judge, item.id, why, override=override))

    def _ask_reasons(self, _: ShownItem) -> None:
        last = self.view.last
        if last is None or last.rating is None:
            self.say(self.words(item_words.ANSWER_FIRST))
            return
        given = [list(Reason).index(reason) for reason in last.item.reasons]
        question = item_words.last_question(self.words, last)
        self.query_one("#reasons", Choices).ask(told(question.said, "bold"), given)
        self.enter(KeyMode.REASONS)

    def _reason(self, reason: Reason | None) -> None:
        last = self.view.last
        if reason is not None and last is not None:
            self.enter(KeyMode.JUDGE)
            reasons = set(last.item.reasons) ^ {reason}
            self._do(partial(self.sitting.session.set_reasons, last.item.id, reasons))

    def _ask_harm(self, item: ShownItem) -> None:
        question = keys.harm_question(self.words, harmful=item.harmful)
        self.query_one("#harm", Static).update(told(question, "bold $warn"))
        self.enter(KeyMode.HARM)

    # Writing

    def _write_better(self, item: ShownItem) -> None:
        if self.sitting.session.asks_sharing:
            self._lead(keys.NextAction.WORDING)
        else:
            self._write(TextField.SUGGESTION, item)

    def _write(self, field: TextField, item: ShownItem) -> None:
        self.field = field
        comment = field is TextField.COMMENT
        self.enter(KeyMode.WRITING)
        self.query_one(Writing).begin(
            told(item_words.writing_title(self.words, field), "bold"),
            item.comment if comment else item.suggestion,
            start="" if comment else item.candidate,
        )

    @on(Writing.Paused)
    def _keep(self, message: Writing.Paused) -> None:
        self.run_worker(self.keep_draft(message.text), group="draft")

    async def keep_draft(self, text: str) -> None:
        """Store what is being typed; where that fails, say so and leave the text where it is."""
        item = self.view.item
        if item is not None:
            keep = partial(self.sitting.session.keep_draft, item.id, self.field, text)
            view = await self.sitting.tried(keep)
            self.query_one(TroubleLine).tell(self.words, view.trouble, view.detail)

    async def keep_what_is_typed(self) -> None:
        """Store an open box as a draft, before the page goes away."""
        if self.mode is KeyMode.WRITING:
            await self.keep_draft(self.query_one(Writing).text)

    @on(Writing.Saved)
    def _saved(self, message: Writing.Saved) -> None:
        self._save(message.text)

    def _save(self, text: str) -> None:
        def written(view: View) -> None:
            if not view.trouble:
                self.enter(KeyMode.JUDGE)
            self.draw(view)

        item = self.view.item
        if item is not None:
            self._do(partial(self.sitting.session.save_text, item.id, self.field, text), written)

    def _put_away(self, text: str) -> None:
        """Close the box; what was typed stays as a draft."""
        item = self.view.item
        if item is not None:
            kept = item_words.with_text(item, self.field, text)
            self.view = replace(self.view, item=kept)
            self.query_one(Texts).show_marks(item_words.marks(self.words, kept))
            self.run_worker(self.keep_draft(text), group="draft")
        self.enter(KeyMode.JUDGE)

    @on(Writing.GivenUp)
    def _left(self, message: Writing.GivenUp) -> None:
        self._put_away(message.text)

    # Other pages

    def _go(self, onward: keys.NextAction | None) -> None:
        """Close the page for where one without an item leads; the flow says which page follows."""
        if onward in {None, keys.NextAction.LEAVE}:
            self.dismiss(None)
        else:
            self._lead(onward)

    def _lead(self, answer: object) -> None:
        self._do(partial(self.sitting.lead, answer), self._follow)

    def _follow(self, view: View) -> None:
        match step := self.sitting.step:
            case HandOver():
                self.app.push_screen(HandOverPage(self.sitting, step.batch), self._lead)
            case AskWithdraw():
                self.app.push_screen(WithdrawPage(self.words), self._lead)
            case AskSharing(now=None):
                self.app.push_screen(SharingPage(self.words, step.session.manifest), self._lead)
            case AskSharing():
                self._lead(not step.now)
            case ShowHelp():
                page = HelpPage(self.words, page_words.guide(self.words, step.session.manifest))
                self.app.push_screen(page, self._lead)
            case ChooseReview():
                self.dismiss(None)
            case AtSentences(writes=True) if view.item is not None:
                self.draw(view)
                self._write(TextField.SUGGESTION, view.item)
            case _:
                self.draw(view)
