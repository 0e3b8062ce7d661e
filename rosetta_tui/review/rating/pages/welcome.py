"""Which review: those on sticks and those kept here; and the page on which a code is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from review.files.batch import Batch
from review.files.manifests import BatchManifest
from review.rating import Relation
from review.session import choice as opening_words
from review.session.choice import Choice
from review.session.view import View
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.troubles import Trouble
from rosetta_tui.review.mis_drawn import WHY, MisDrawn, what_to_do
from rosetta_tui.review.rating.pages.page import NO_TROUBLE, Hint, Page, RatingKeyLine, Result, given_text, paragraph
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.toolkit.content import show, show_lines


class ChoosePage(Page[Choice | str]):
    """Gives the review to open; ``LOOK_AGAIN`` or ``LANGUAGE`` where the person asks for that first."""

    LOOK_AGAIN: ClassVar = "look again"
    LANGUAGE: ClassVar = "language"
    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "look", show=False),
        Binding("l", "language", show=False),
        Binding("enter", "open", show=False),
    ]

    def __init__(
        self, opening: TerminalOpening, choices: Sequence[Choice], trouble: Trouble = NO_TROUBLE, said: str = ""
    ) -> None:
        """``said`` is one quiet sentence about what led here."""
        super().__init__(opening.words, opening.words(opening_words.REVIEW_TRANSLATIONS), trouble)
        self._said = said
        self._choices = tuple(choices)

    def body(self) -> ComposeResult:
        words = self.words
        for damaged_word in opening_words.damaged_words(self.words):
            yield paragraph(damaged_word, "$warn")
        if self._said:
            yield paragraph(self._said)
        if self._choices:
            yield paragraph(words(opening_words.WHICH_SENTENCES), "bold")
            rows = [(show(choice.title, "bold"), show(opening_words.where(words, choice))) for choice in self._choices]
            yield OptionList(*(Option(Content.assemble(title, "\n  ", where)) for title, where in rows))
            return
        yield paragraph(words(opening_words.NOTHING_YET), "bold")
        yield paragraph(words("Put the stick that you were given into this computer, then press Enter."))
        yield paragraph(opening_words.what_it_is_called(words), "$quiet")

    def _row(self, choice: Choice) -> Content:
        return Content.assemble(show(choice.title, "bold"), "\n  ", show(opening_words.where(self.words, choice)))

    def on_mount(self) -> None:
        if self._choices:
            self.query_one(OptionList).highlighted = 0

    def hints(self) -> Sequence[Hint]:
        words = self.words
        first = words("open") if self._choices else words("look again")
        again = [Hint("r", words("look again"), "look")] if self._choices else []
        return [
            Hint(words("Enter"), first, "open"),
            *again,
            Hint("l", words("language"), "language"),
            Hint("q", words("stop"), "leave"),
        ]

    def action_open(self) -> None:
        at = self.query_one(OptionList).highlighted if self._choices else None
        self.dismiss(self.LOOK_AGAIN if at is None else self._choices[at])

    @on(OptionList.OptionSelected)
    def _chosen(self) -> None:
        self.action_open()

    def action_look(self) -> None:
        self.dismiss(self.LOOK_AGAIN)

    def action_language(self) -> None:
        self.dismiss(self.LANGUAGE)


class LanguagePage(Page[str]):
    """Gives the tag of a language, None where it stays."""

    AUTO_FOCUS = "OptionList"

    def __init__(self, opening: TerminalOpening) -> None:
        super().__init__(opening.words, opening.words("Language"))
        self._languages = opening.languages

    def body(self) -> ComposeResult:
        yield OptionList(*(Option(show(name)) for name in self._languages.values()))

    def on_mount(self) -> None:
        tags = list(self._languages)
        now = self.words.chosen
        self.query_one(OptionList).highlighted = tags.index(now) if now in tags else 0

    def hints(self) -> Sequence[Hint]:
        return [
            Hint(self.words("Enter"), self.words("choose"), "choose"),
            Hint(self.words("Esc"), self.words("back"), "leave"),
        ]

    def action_choose(self) -> None:
        at = self.query_one(OptionList).highlighted
        self.dismiss(None if at is None else list(self._languages)[at])

    @on(OptionList.OptionSelected)
    def _chosen(self) -> None:
        self.action_choose()


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the reviewer's language."""

    place: str
    asked: str
    about: str
    answer: str = ""  # the first text of the box
    trouble: str = ""  # why the answer before was none
    wide: bool = False  # true where the answer has several words


class AskPage(Page[str]):
    """Gives what was typed, None where the person went back."""

    AUTO_FOCUS = "Input"

    def __init__(self, words: Words, question: Question) -> None:
        super().__init__(words, question.place, Trouble(question.trouble, ""))
        self._question = question

    def body(self) -> ComposeResult:
        question = self._question
        yield paragraph(question.asked, "bold")
        box = Input(question.answer, max_length=400, select_on_focus=True)
        yield box.add_class("wide") if question.wide else box
        yield paragraph(question.about, "$quiet")

    def hints(self) -> Sequence[Hint]:
        words = self.words
        return [Hint(words("Enter"), words("continue"), "submit"), Hint(words("Esc"), words("back"), "leave")]

    def action_submit(self) -> None:
        self.dismiss(self.query_one(Input).value)

    @on(Input.Submitted)
    def _submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.action_submit()


# ---- Before the first item: the organisation, whether a terminal can show the writing, and what
# one agrees to.


class YesPage(Page[Result]):
    """A page that is agreed to; Enter reads on until the end was shown."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "agree", show=False)]

    def __init__(self, words: Words, place: str, trouble: Trouble = NO_TROUBLE) -> None:
        super().__init__(words, place, trouble)
        self._end_shown = False

    def on_mount(self) -> None:
        self.call_after_refresh(self._tell_more)

    def _tell_more(self) -> None:
        super()._tell_more()
        body = self.query_one(".body")
        if body.size and not self._end_shown and body.scroll_offset.y >= body.max_scroll_y:
            self._end_shown = True
            self.query_one(RatingKeyLine).offer(self.hints())

    def action_agree(self) -> None:
        if self._end_shown:
            self._agreed()
        else:
            self.query_one(".body").scroll_page_down(animate=False)

    def _agreed(self) -> None:
        raise NotImplementedError

    def _yes(self, said: str) -> Hint:
        """Return what Enter does now."""
        return Hint(self.words("Enter"), said if self._end_shown else self.words("read on"), "agree")

    def _back(self) -> Hint:
        return Hint(self.words("Esc"), self.words("not now"), "leave")


class OrganisationPage(YesPage[bool]):
    """Shows an organisation that this computer does not know, once, with the six words of its key."""

    def __init__(self, words: Words, batch: Batch) -> None:
        super().__init__(words, words(page_words.WHO_ASKS))
        self._batch = batch

    def body(self) -> ComposeResult:
        words = self.words
        yield Static(show(self._batch.manifest.organisation.name, "bold"))
        yield paragraph(words(page_words.ITS_SIX_WORDS))
        yield Static(show(f"    {self._batch.organisation_phrase}", "bold $mark"))
        yield paragraph(words(page_words.COMPARE_THEM))

    def hints(self) -> Sequence[Hint]:
        words = self.words
        return [self._yes(words("they are the same")), self._back()]

    def _agreed(self) -> None:
        self.dismiss(True)


class WarningPage(Page[bool]):
    """Refuses text that a terminal draws wrongly; going on all the same takes its own key."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "anyway", show=False), Binding("enter", "leave", show=False)]

    def __init__(self, words: Words, why: MisDrawn) -> None:
        super().__init__(words, words("This writing may be shown wrongly here"))
        self._why = why

    def body(self) -> ComposeResult:
        words = self.words
        yield paragraph(words(WHY[self._why]), "bold")
        yield paragraph(words("A wrong word could seem right, or a right word wrong."))
        yield paragraph(what_to_do(words))
        yield paragraph(
            words(
                "You can continue here all the same. With each answer it is noted that the writing "
                "may have been shown wrongly."
            ),
            "$quiet",
        )

    def hints(self) -> Sequence[Hint]:
        words = self.words
        return [Hint(words("Enter"), words("back"), "leave"), Hint("a", words("continue all the same"), "anyway")]

    def action_anyway(self) -> None:
        self.dismiss(True)


class NumberedPage(Page[Result]):
    """A question that a digit answers, and no answer is presumed; None where the person goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(str(number), f"say({number})", show=False) for number in range(1, 4)
    ]

    def __init__(self, words: Words, answers: Sequence[tuple[str, Result]], trouble: Trouble = NO_TROUBLE) -> None:
        """``answers``: each in words, and what the page gives for it."""
        super().__init__(words, words(page_words.BEFORE_YOU_BEGIN), trouble)
        self._answers = answers

    def body(self) -> ComposeResult:
        yield from self.question()
        for number, (answer, _) in enumerate(self._answers, 1):
            yield paragraph(f"{number}  {answer}", "bold")

    def question(self) -> ComposeResult:
        """Return the question, and what should be known about it."""
        raise NotImplementedError

    def hints(self) -> Sequence[Hint]:
        answers = enumerate(self._answers, 1)
        keys = [Hint(str(number), label, f"say({number})") for number, (label, _) in answers]
        return [*keys, Hint(self.words("Esc"), self.words("back"), "leave")]

    def action_say(self, number: int) -> None:
        """Choose the answer; a digit without one does nothing."""
        if number <= len(self._answers):
            self.dismiss(self._answers[number - 1][1])


class RelationPage(NumberedPage[Relation]):
    """How near the person is to the method."""

    def __init__(self, words: Words, trouble: Trouble = NO_TROUBLE) -> None:
        answers = list(zip(page_words.relations(words), Relation, strict=True))
        super().__init__(words, answers, trouble)

    def question(self) -> ComposeResult:
        yield paragraph(self.words(page_words.HOW_NEAR), "bold")
        yield paragraph(self.words(page_words.WHY_HOW_NEAR))


class SharingPage(NumberedPage[bool]):
    """Whether the better translations may be used."""

    def __init__(self, words: Words, manifest: BatchManifest, trouble: Trouble = NO_TROUBLE) -> None:
        yes, no = page_words.yes_or_no(words)
        super().__init__(words, [(yes, True), (no, False)], trouble)
        self._organisation = manifest.organisation.name

    def question(self) -> ComposeResult:
        yield paragraph(page_words.may_be_used(self.words, translating=False), "bold")
        for what_using_mean in page_words.what_using_means(self.words, self._organisation):
            yield Static(show(what_using_mean))


class ConsentAnswer(Enum):
    """What the person said to the consent text."""

    AGREED = auto()
    LANGUAGE = auto()  # another language is asked for first


class ConsentPage(YesPage[ConsentAnswer]):
    """What the person agrees to, in plain words; None where they do not agree now."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("m", "more", show=False), Binding("l", "language", show=False)]

    def __init__(self, words: Words, manifest: BatchManifest, view: View, trouble: Trouble = NO_TROUBLE) -> None:
        super().__init__(words, words(page_words.BEFORE_YOU_BEGIN), trouble)
        self._folded = any(page_words.read_more(words, manifest))
        self._manifest, self._view = manifest, view

    def body(self) -> ComposeResult:
        words, manifest = self.words, self._manifest
        yield Static(Content.assemble(show(manifest.title, "bold"), "\n", show(manifest.organisation.name, "$quiet")))
        yield paragraph(page_words.what_comes(words, manifest, self._view))
        yield from given_text(page_words.consent(words, manifest))
        yield paragraph("\n".join(f"• {promise}" for promise in page_words.promises(words, manifest)))
        if manifest.labels:
            yield Static(show(" · ".join(manifest.labels), "$quiet"))
        for heading, text in page_words.read_more(words, manifest):
            if heading:
                yield paragraph(heading, "bold").add_class("folded")
            yield Static(show_lines(text)).add_class("folded")

    def on_mount(self) -> None:
        super().on_mount()
        self.query(".folded").set(display=False)

    def hints(self) -> Sequence[Hint]:
        words = self.words
        more = [Hint("m", words("read more"), "more")] * self._folded
        return [self._yes(words("I agree")), *more, Hint("l", words("language"), "language"), self._back()]

    def action_more(self) -> None:
        """Show what is folded; it is to be read before the page is agreed to."""
        if self._folded:
            self._folded = self._end_shown = False
            self.query(".folded").set(display=True)
            self.query_one(RatingKeyLine).offer(self.hints())
            self.call_after_refresh(self._tell_more)

    def _tell_more(self) -> None:
        if self._folded or all(text.size for text in self.query(".folded")):  # else it has no place yet
            super()._tell_more()

    def action_language(self) -> None:
        self.dismiss(ConsentAnswer.LANGUAGE)

    def _agreed(self) -> None:
        self.dismiss(ConsentAnswer.AGREED)
